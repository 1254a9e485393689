"""One call in a process of its own, so that the page stays alive and can stop it.

A `Job` calls a function in a new process, with its arguments and a function that tells how far it
is. It can be *interrupted*, which is Ctrl-C to it: a comparison then ends at once with the bounds
it has proven. It is *killed* when nobody wants its result any more, and when it does not end in
time.

This module knows nothing of the page: what runs in a job need not load what draws it.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Generic, TypeVar

from contextwise.errors import ContextwiseError

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Tell = Callable[[str, int, int], None]
"""What a job calls to say what it does, and how much of it is done: (words, done, in all)."""

POLL = 0.03  # seconds between two looks at a job
GRACE = 3.0  # seconds that an interrupted job has to end by itself
PAUSE = 0.1  # seconds between two reports of progress

# A server that forks has the package loaded already: a job starts in a few milliseconds.
_FORKS = "forkserver" in multiprocessing.get_all_start_methods()
_PROCESSES: Any = multiprocessing.get_context("forkserver" if _FORKS else "spawn")


def prepare() -> None:
    """Start what jobs are started from, so that the first one need not wait for it."""
    if _FORKS:
        from multiprocessing import forkserver

        preloaded = ["__main__", __name__, "contextwise.explorer.computations"]
        _PROCESSES.set_forkserver_preload(preloaded)
        forkserver.ensure_running()


# -- what is known of a piece of work ------------------------------------------------------------


@dataclass(frozen=True)
class Working:
    """Work that is under way: what it does, and how much of it is done (of 0: nobody knows)."""

    words: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True)
class Failed:
    """Work that ended without a result, and why."""

    why: str


@dataclass(frozen=True)
class Done(Generic[T_co]):
    """Work that is done, and what it gave."""

    value: T_co


Outcome = Working | Failed | Done[T_co] | None
"""None is work that nobody has asked for."""


def value_of(outcome: Outcome[T], missing: str) -> T:
    """What work gave, for a download; an error in these words while there is nothing.

    >>> value_of(Done(7), "nothing was counted yet")
    7
    """
    if not isinstance(outcome, Done):
        raise ContextwiseError(missing)
    return outcome.value


class WorkError(ContextwiseError):
    """Why there is no result, in words for the page."""


# -- one call in a process of its own ------------------------------------------------------------


class Job:
    """One call of a function in a process of its own.

    Parameters
    ----------
    function : of the arguments and of a `Tell`
    arguments : what it is called with
    seconds : after so many it is killed

    Attributes
    ----------
    told : what it does and how far it is, as last reported
    """

    def __init__(self, function: Callable[..., Any], *arguments: Any, seconds: float) -> None:
        self.told = Working("Starting")
        self._seconds = seconds
        self._receiving, sending = _PROCESSES.Pipe(duplex=False)
        self._process = _PROCESSES.Process(target=_work, args=(sending, function, arguments))
        self._sending = sending
        self._starting = threading.Lock()
        self._begun = self._interrupted = False

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
        self._interrupted = True
        if not self._begun:
            return  # a process that is still being set up would only make a noise; see `_answer`
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
                answer = await asyncio.to_thread(self._receiving.recv)
            except EOFError:
                raise WorkError(
                    "the computation ended without a result; perhaps memory ran out"
                ) from None
            if not self._begun:
                self._begun = True
                if self._interrupted:
                    self.interrupt()
            if isinstance(answer, Done):
                return answer.value
            if isinstance(answer, Failed):
                raise WorkError(answer.why)
            self.told = answer

    def _end(self) -> None:
        """Make sure that the process is gone; its own helpers end with an interrupt."""
        with self._starting:
            if self._process.pid is None:
                return
        self._process.join(POLL)
        if self._process.is_alive() and self._begun:
            self.interrupt()
            self._process.join(GRACE)
        if self._process.is_alive():
            self._process.kill()
        # The pipe is closed with its last user: a thread may be reading from it, and would go on
        # with whatever is opened next under the same number.


def _work(sending: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """What runs in the new process."""
    last, words_before = 0.0, ""

    def tell(words: str, done: int, total: int) -> None:
        nonlocal last, words_before
        if words != words_before or time.monotonic() - last > PAUSE:
            last, words_before = time.monotonic(), words
            sending.send(Working(words, done, total))

    _let_through(False)  # an interrupt waits until it has something to end
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.set_int_max_str_digits(0)  # counts are exact, whatever their size
    with suppress(BrokenPipeError):
        tell("Starting", 0, 0)  # from now on it can be interrupted
        sending.send(_outcome(function, arguments, tell))


def _let_through(interrupts: bool) -> None:
    """Let interrupts end what runs, or hold them back until then."""
    if sys.platform != "win32":
        how = signal.SIG_UNBLOCK if interrupts else signal.SIG_BLOCK
        signal.pthread_sigmask(how, {signal.SIGINT})


def _outcome(
    function: Callable[..., Any], arguments: tuple[Any, ...], tell: Tell
) -> Done[Any] | Failed:
    try:
        _let_through(True)
        try:
            return Done(function(*arguments, tell))
        finally:
            _let_through(False)  # what was found is sent whole
    except ContextwiseError as error:
        return Failed(str(error))
    except KeyboardInterrupt:
        return Failed("stopped before anything was known")
    except MemoryError:
        return Failed("there is not enough memory for this")
    except Exception as error:
        traceback.print_exc()  # a mistake of ours: the terminal says where, the page says that
        return Failed(f"this went wrong, which it should not: {type(error).__name__}: {error}")
