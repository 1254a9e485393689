"""Work in processes of their own: the page stays alive, and whatever takes too long is ended.

A job is a function of this package that is called in a new process with its arguments and a
function that reports progress. It can be *interrupted*, which is Ctrl-C to it: a comparison then
ends at once with the bounds it has proven. It is *killed* when nobody wants its result any more,
and when it does not end in time.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from contextwise.errors import ContextwiseError

POLL = 0.03  # seconds between two looks at a job
GRACE = 3.0  # seconds that an interrupted job has to end by itself
TELL = 0.1  # seconds between two reports of progress

# A server that forks has the package loaded already: a job starts in a few milliseconds.
_FORKS = "forkserver" in multiprocessing.get_all_start_methods()
_PROCESSES: Any = multiprocessing.get_context("forkserver" if _FORKS else "spawn")


def prepare() -> None:
    """Start what jobs are started from, so that the first one need not wait for it."""
    if _FORKS:
        from multiprocessing import forkserver

        _PROCESSES.set_forkserver_preload(["__main__", __name__, "contextwise.explorer.jobs"])
        forkserver.ensure_running()


class WorkError(ContextwiseError):
    """Why there is no result, in words for the page."""


class Job:
    """One call of a function in a process of its own.

    Attributes
    ----------
    done : (done, in all), as last reported
    """

    def __init__(self, function: Callable[..., Any], *arguments: Any, seconds: float) -> None:
        self.done = (0, 0)
        self._seconds = seconds
        self._receiving, sending = _PROCESSES.Pipe(duplex=False)
        self._process = _PROCESSES.Process(target=_work, args=(sending, function, arguments))
        self._sending = sending
        self._starting = threading.Lock()

    async def result(self) -> Any:
        """What the function returns, or a `WorkError`; if nobody waits any more, it is killed."""
        try:
            await asyncio.to_thread(self._start)
            return await self._answer()
        finally:
            threading.Thread(target=self._end).start()

    def _start(self) -> None:
        with self._starting:
            self._process.start()
            self._sending.close()  # only the job writes: if it dies, reading ends

    def interrupt(self) -> None:
        """Ask the job to end with what it has, as Ctrl-C does."""
        if self._process.pid is None:
            return
        with suppress(ProcessLookupError):
            if sys.platform == "win32":
                self._process.terminate()
            else:
                os.kill(self._process.pid, signal.SIGINT)

    async def _answer(self) -> Any:
        deadline = time.monotonic() + self._seconds
        while True:
            if not self._receiving.poll():
                if time.monotonic() > deadline:
                    raise WorkError(f"this was not done within {self._seconds:g} seconds")
                await asyncio.sleep(POLL)
                continue
            try:
                kind, value = await asyncio.to_thread(self._receiving.recv)
            except EOFError:
                raise WorkError(
                    "the computation ended without a result; perhaps memory ran out"
                ) from None
            if kind == "progress":
                self.done = value
            elif kind == "done":
                return value
            else:
                raise WorkError(value)

    def _end(self) -> None:
        """Make sure that the process is gone; its own helpers end with an interrupt."""
        with self._starting:
            if self._process.pid is None:
                return
        self._process.join(POLL)
        if self._process.is_alive():
            self.interrupt()
            self._process.join(GRACE)
        if self._process.is_alive():
            self._process.kill()
        self._receiving.close()


def _work(sending: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """What runs in the new process."""
    told = 0.0

    def progress(done: int, total: int) -> None:
        nonlocal told
        if time.monotonic() - told > TELL:
            told = time.monotonic()
            sending.send(("progress", (done, total)))

    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.set_int_max_str_digits(0)  # counts are exact, whatever their size
    with suppress(KeyboardInterrupt, BrokenPipeError):
        sending.send(_outcome(function, arguments, progress))


def _outcome(
    function: Callable[..., Any], arguments: tuple[Any, ...], progress: Callable[[int, int], None]
) -> tuple[str, Any]:
    try:
        return "done", function(*arguments, progress)
    except ContextwiseError as error:
        return "failed", str(error)
    except KeyboardInterrupt:
        return "failed", "stopped"
    except MemoryError:
        return "failed", "there is not enough memory for this"
