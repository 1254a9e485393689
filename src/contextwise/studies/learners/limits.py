"""How long a learner may take, and how much memory it took.

Time is processor time of this process: what else the machine does must not decide which learner is
too slow. The limit rests on an alarm of the operating system, which only the main thread of a
process can have. Where there is none (in a thread of a cluster's worker, on Windows), a learner
that took too long is found out when it ends.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from contextwise.errors import ContextwiseError

T = TypeVar("T")
KIBI = 1024


class TooSlowError(ContextwiseError):
    """A learner took longer than it may."""


@contextmanager
def time_limited(seconds: float) -> Iterator[None]:
    """Raise `TooSlowError` if what is inside takes more seconds of processor time.

    Parameters
    ----------
    seconds : float

    Examples
    --------
    >>> with time_limited(60):
    ...     print("in time")
    in time
    """
    message = f"took longer than {seconds:g} seconds"

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlowError(message)

    alarmed = hasattr(signal, "SIGPROF") and threading.current_thread() is threading.main_thread()
    began = time.process_time()
    before = signal.signal(signal.SIGPROF, ring) if alarmed else None
    try:
        if alarmed:
            signal.setitimer(signal.ITIMER_PROF, seconds)
        yield
    finally:
        if alarmed:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)
    if time.process_time() - began > seconds:
        raise TooSlowError(message)


def within(seconds: float, function: Callable[[], T]) -> T | None:
    """What a function gives; None if it takes longer, or refuses because it is too large.

    Parameters
    ----------
    seconds : float
    function : function of nothing

    Examples
    --------
    >>> within(60, lambda: 7)
    7
    """
    try:
        with time_limited(seconds):
            return function()
    except ContextwiseError:
        return None


def attempt(seconds: float, learn: Callable[[], T]) -> tuple[T | None, dict[str, Any]]:
    """What a learner gives, and a record of what it took; or None, and a record of what went wrong.

    Parameters
    ----------
    seconds : float
    learn : function of nothing

    Returns
    -------
    what was learned, or None
    dict
        ``status`` ("done", "too slow" or "failed"), and ``seconds`` and ``memory``, or ``error``.

    Examples
    --------
    >>> attempt(60, lambda: 1 / 0)
    (None, {'status': 'failed', 'error': 'ZeroDivisionError: division by zero'})
    """
    try:
        memory, began = Memory(), time.process_time()
        with time_limited(seconds):
            found = learn()
        took = time.process_time() - began
        return found, {"status": "done", "seconds": took, "memory": memory.grown()}
    except TooSlowError as problem:
        return None, {"status": "too slow", "error": str(problem)}
    except Exception as problem:  # whatever a learner raises is a result of the study
        return None, {"status": "failed", "error": f"{type(problem).__name__}: {problem}"}


class Memory:
    """The largest memory of this process since the object was made, where Linux tells it."""

    def __init__(self) -> None:
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")  # begin a new maximum
        self._before = _memory("VmRSS")

    def grown(self) -> float | None:
        """By how many megabytes the memory had grown at most; None where nobody knows."""
        now = _memory("VmHWM")
        if now is None or self._before is None:
            return None
        return max(0.0, (now - self._before) / KIBI)


def _memory(field: str) -> int | None:
    """A field of the process's status, in kilobytes."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith(f"{field}:")]
    return int(found[0]) if found else None
