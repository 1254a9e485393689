"""Time limits: one deadline for a call and for everything that it calls, whose loops look at it."""

from __future__ import annotations

import time
from math import inf, isinf

from contextwise.errors import ContextwiseError

SOON = 1e-3
"""Seconds by which compiled code, which measures a limit on its own, may stop early."""
LONGEST = 1e8
"""Seconds, about three years, from which on a limit is ignored."""


class OutOfTime(BaseException):
    """A deadline has passed. Code that set the deadline catches it with `Deadline.out_of_time`.

    It is not an `Exception`: code that reports failures must let it pass.
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
        if not _is_number(seconds):
            raise ContextwiseError(f"time limit must be a number of seconds, got {seconds!r}")
        if not seconds >= 0:
            raise ContextwiseError(f"time limit must be >= 0 seconds, got {seconds}")
        return NEVER if seconds >= LONGEST else cls(time.monotonic() + float(seconds))

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

    @property
    def out_of_time(self) -> tuple[type[OutOfTime], ...]:
        """The exceptions to catch for this deadline: none if it has not passed.

        Python looks at this only when something was raised. If this deadline has not passed then,
        `OutOfTime` is about the limit of a caller, who must get it::

            try:
                work(deadline)
            except deadline.out_of_time:
                return partial_result
        """
        return (OutOfTime,) if time.monotonic() >= self.instant - SOON else ()

    def sooner(self, seconds: float) -> Deadline:
        """Return this deadline, or the one ``seconds`` from now if that is earlier."""
        return Deadline(min(self.instant, time.monotonic() + seconds))

    def later(self, seconds: float) -> Deadline:
        """Return the deadline some seconds after this one."""
        return Deadline(self.instant + seconds)

    def __reduce__(self) -> tuple[object, ...]:
        return _from_wall_clock, (self.instant - time.monotonic() + time.time(),)


def _is_number(value: object) -> bool:
    from numbers import Real  # NumPy's numbers, too

    return isinstance(value, Real)


def _from_wall_clock(instant: float) -> Deadline:
    return Deadline(instant - time.time() + time.monotonic())


NEVER = Deadline()
