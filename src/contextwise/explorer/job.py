"""Run one function call in its own process, and let a session wait for it.

A `Job` calls a function with its arguments and a `Tell`, which reports progress. It can be
interrupted like Ctrl-C: a comparison then ends at once with the bounds it has proven. It is killed
when its time is up or its session has ended. A `Background` is one kind of work of a
session; its `Outcome` is a reactive value that the views show.
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
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Generic, TypeVar

from contextwise.errors import ContextwiseError

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Tell = Callable[[str, int, int], None]
"""Reports progress: what the job does, how many steps are done, and how many there are."""

POLL = 0.03  # seconds between two looks at a job
LOOK = 0.25  # seconds between two updates of the page
SECONDS_BEYOND_LIMIT = 10.0  # seconds that a job with a time limit may take beyond that
SECONDS_TO_END = 3.0  # seconds that an interrupted job has to end
STOPPED = "stopped before there was a result"
STOPPING = 10.0  # seconds that it has to send what it knows
PAUSE = 0.1  # seconds between two reports of progress

# A fork server has the package loaded already: a job starts in a few milliseconds.
_FORKS = "forkserver" in multiprocessing.get_all_start_methods()
_PROCESSES: Any = multiprocessing.get_context("forkserver" if _FORKS else "spawn")


def prepare() -> None:
    """Start the fork server, so that the first job need not wait for it."""
    if _FORKS:
        from multiprocessing import forkserver

        preloaded = ["__main__", __name__, "contextwise.explorer.computations"]
        _PROCESSES.set_forkserver_preload(preloaded)
        forkserver.ensure_running()


@dataclass(frozen=True)
class Upload:
    """A file of a session: its path here, and its name on the user's machine."""

    path: str
    name: str


@dataclass(frozen=True)
class Working:
    """Work in progress; a total of 0 means that the number of steps is unknown."""

    text: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True)
class Failed:
    why: str


@dataclass(frozen=True)
class Done(Generic[T_co]):
    value: T_co


Outcome = Working | Failed | Done[T_co] | None  # None: work that was not requested


def value_of(outcome: Outcome[T], missing: str) -> T:
    """Return the result, or raise `ContextwiseError` with this message."""
    if not isinstance(outcome, Done):
        raise ContextwiseError(missing)
    return outcome.value


class WorkError(ContextwiseError):
    """Why a job has no result, as a message for the page."""


class Job:
    """A call of ``function(*arguments, tell)`` in its own process, killed after some seconds."""

    def __init__(self, function: Callable[..., Any], *arguments: Any, seconds: float) -> None:
        self.progress = Working("Starting")
        self._seconds, self._created = seconds, time.monotonic()
        self._receiving, self._sending = _PROCESSES.Pipe(duplex=False)
        self._process = _PROCESSES.Process(target=_work, args=(self._sending, function, arguments))
        self._starting = threading.Lock()
        self._begun = self._interrupted = False

    async def result(self) -> Any:
        """Return the result or raise `WorkError`; if this is cancelled, the process is killed."""
        try:
            await asyncio.to_thread(self._start)
            return await self._answer()
        finally:
            threading.Thread(target=self._end).start()

    def interrupt(self) -> None:
        """Ask the job to end with what it has, as Ctrl-C does."""
        if not self._interrupted:
            self._seconds = min(self._seconds, time.monotonic() - self._created + STOPPING)
        self._interrupted = True
        if not self._begun:
            return  # the process is still being set up; `_answer` interrupts it later
        with suppress(ProcessLookupError):
            # Windows cannot send Ctrl-C to one process.
            if sys.platform == "win32":
                self._process.terminate()
            else:
                os.kill(self._process.pid, signal.SIGINT)

    def _start(self) -> None:
        with self._starting:
            self._process.start()
            self._sending.close()  # only the job writes: if it dies, reading ends

    async def _answer(self) -> Any:
        while True:
            if not self._receiving.poll():
                if time.monotonic() > self._created + self._seconds:
                    why = f"this was not done within {self._seconds:g} seconds"
                    raise WorkError(STOPPED if self._interrupted else why)
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
            self.progress = answer

    def _end(self) -> None:
        """Make sure that the process is gone; an interrupt also ends its own helpers."""
        with self._starting:
            if self._process.pid is None:
                return
        self._process.join(POLL)
        if self._process.is_alive() and self._begun:
            self.interrupt()
            self._process.join(SECONDS_TO_END)
        if self._process.is_alive():
            self._process.kill()
        # The pipe stays open: a thread may still read from it, and its number could be reused.


def _work(sending: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    last, last_text = 0.0, ""

    def tell(text: str, done: int, total: int) -> None:
        nonlocal last, last_text
        if text != last_text or time.monotonic() - last > PAUSE:
            last, last_text = time.monotonic(), text
            sending.send(Working(text, done, total))

    _allow_interrupts(False)  # until there is something to interrupt
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.set_int_max_str_digits(0)  # counts are exact, whatever their size
    with suppress(BrokenPipeError):
        tell("Starting", 0, 0)  # from now on the job can be interrupted
        sending.send(_outcome(function, arguments, tell))


def _allow_interrupts(allowed: bool) -> None:
    if sys.platform != "win32":
        how = signal.SIG_UNBLOCK if allowed else signal.SIG_BLOCK
        signal.pthread_sigmask(how, {signal.SIGINT})


def _outcome(
    function: Callable[..., Any], arguments: tuple[Any, ...], tell: Tell
) -> Done[Any] | Failed:
    try:
        _allow_interrupts(True)
        try:
            return Done(function(*arguments, tell))
        finally:
            _allow_interrupts(False)  # the result is sent whole
    except ContextwiseError as error:
        return Failed(str(error))
    except KeyboardInterrupt:
        return Failed(STOPPED)
    except MemoryError:
        return Failed("there is not enough memory for this")
    except Exception as error:
        traceback.print_exc()
        return Failed(f"internal error; please report it: {type(error).__name__}: {error}")


class Background(Generic[T]):
    """One kind of work of a session, which ends it; starting it again ends the job before."""

    def __init__(self, function: Callable[..., T]) -> None:
        from shiny import reactive  # jobs load this module, and need not load Shiny
        from shiny.session import require_active_session

        self._function = function
        self._job: Job | None = None
        self._task: asyncio.Task[None] | None = None
        nothing: tuple[Hashable, Outcome[T]] = (None, None)
        self._known = reactive.value(nothing, name=function.__name__)
        require_active_session(None).on_ended(self.drop)

    def start(self, key: Hashable, *arguments: Any, seconds: float) -> None:
        """Start a job; ``outcome(key)`` is its outcome."""
        self._cancel()
        self._known.set((key, Working("Starting")))
        self._job = Job(self._function, *arguments, seconds=seconds)
        self._task = asyncio.create_task(self._follow(key, self._job))

    def interrupt(self) -> None:
        if self._job is not None:
            self._job.interrupt()

    def drop(self) -> None:
        """End the work and forget its result."""
        self._cancel()
        self._known.set((None, None))

    def key(self) -> Hashable:
        """Return the key of the last start, as a reactive read."""
        return self._known()[0]

    def outcome(self, key: Hashable) -> Outcome[T]:
        """Return the outcome of the work with this key, as a reactive read."""
        known, outcome = self._known()
        return outcome if key is not None and known == key else None

    def latest(self) -> Outcome[T]:
        """Return the outcome of the last start, as a reactive read."""
        return self._known()[1]

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
        self._job = self._task = None

    async def _follow(self, key: Hashable, job: Job) -> None:
        task = asyncio.ensure_future(job.result())
        try:
            while not (await asyncio.wait([task], timeout=LOOK))[0]:
                await self._set(key, job.progress)
        finally:
            task.cancel()  # no effect if it is done
        try:
            outcome: Outcome[T] = Done(task.result())
        except WorkError as error:
            outcome = Failed(str(error))
        await self._set(key, outcome)

    async def _set(self, key: Hashable, outcome: Outcome[T]) -> None:
        from shiny import reactive

        async with reactive.lock():
            with reactive.isolate():
                changed = self._known() != (key, outcome)
            if changed:
                self._known.set((key, outcome))
                await reactive.flush()
