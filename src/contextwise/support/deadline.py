"""Time limits: one deadline for a call and for everything that it calls."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf, isinf

from contextwise.errors import ContextwiseError

AGAIN = 0.5
"""Seconds until an enforced deadline raises again, should something swallow its exception."""


class OutOfTime(BaseException):
    """The deadline has passed. Only the code that set the deadline catches this.

    It is no `Exception`, so that other packages do not mistake it for an error of theirs.
    """


class Deadline:
    """The moment when work must stop; nested calls pass on the same one.

    Public functions take ``time_limit`` in seconds and make a deadline of it, inner functions take
    ``deadline``. A deadline can be pickled and sent to another machine: it then refers to the wall
    clock, so the time spent in a queue counts.
    """

    def __init__(self, instant: float = inf) -> None:
        self.instant = instant
        """On the clock of `time.monotonic`; infinite if there is no limit."""

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Return the deadline ``seconds`` from now, or one that never passes for None."""
        if seconds is None:
            return NEVER
        if not seconds >= 0:
            raise ContextwiseError(f"time limit must be >= 0 seconds, got {seconds}")
        return cls(time.monotonic() + seconds)

    def left(self) -> float | None:
        """Return the seconds that are left, at least 0, or None if there is no limit."""
        return None if isinf(self.instant) else max(0.0, self.instant - time.monotonic())

    @property
    def passed(self) -> bool:
        """True if no time is left."""
        return time.monotonic() >= self.instant

    def check(self) -> None:
        """Raise `OutOfTime` if no time is left."""
        if self.instant < inf and time.monotonic() >= self.instant:
            raise OutOfTime

    @contextmanager
    def enforced(self, grace: float = 0.0) -> Iterator[None]:
        """Raise `OutOfTime` in a block ``grace`` seconds after the deadline, wherever it is.

        For code that does not check the deadline, such as other packages. It needs the main thread
        and a system with ``setitimer``; elsewhere the deadline is checked at the start only. Code
        that is not Python stops when it looks for signals, as this project's does, or returns. If
        the exception falls into a destructor, Python drops it, and it is raised again soon.
        """
        left = self.left()
        if left is None or left + grace == 0 or not can_enforce():
            self.check()
            yield
            return
        hook = sys.unraisablehook
        sys.unraisablehook = lambda raised: None if raised.exc_type is OutOfTime else hook(raised)
        handler = signal.signal(signal.SIGALRM, _raise_out_of_time)
        outer, _ = signal.setitimer(signal.ITIMER_REAL, left + grace, AGAIN)
        rings = time.monotonic() + outer  # when the timer around this one rings, if there is one
        try:
            yield
        finally:
            again = max(rings - time.monotonic(), 1e-3) if outer else 0
            signal.setitimer(signal.ITIMER_REAL, again, AGAIN)
            signal.signal(signal.SIGALRM, handler)
            sys.unraisablehook = hook

    def sooner(self, seconds: float) -> Deadline:
        """Return this deadline, or the one ``seconds`` from now if that is earlier."""
        return Deadline(min(self.instant, time.monotonic() + seconds))

    def __reduce__(self) -> tuple[object, ...]:
        return _from_wall_clock, (self.instant - time.monotonic() + time.time(),)


def can_enforce() -> bool:
    """Return whether `Deadline.enforced` can stop a block here."""
    main = threading.current_thread() is threading.main_thread()
    return main and hasattr(signal, "setitimer")


def _raise_out_of_time(*_: object) -> None:
    raise OutOfTime


def _from_wall_clock(instant: float) -> Deadline:
    return Deadline(instant - time.time() + time.monotonic())


NEVER = Deadline()
