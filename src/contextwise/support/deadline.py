"""Time limits: one deadline for a call and for everything that it calls."""

from __future__ import annotations

import time
from math import inf, isinf

from contextwise.errors import ContextwiseError


class OutOfTime(Exception):
    """The deadline has passed. Only the code that set the deadline catches this."""


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
        if time.monotonic() >= self.instant:
            raise OutOfTime

    def sooner(self, seconds: float) -> Deadline:
        """Return this deadline, or the one ``seconds`` from now if that is earlier."""
        return Deadline(min(self.instant, time.monotonic() + seconds))

    def __reduce__(self) -> tuple[object, ...]:
        return _from_wall_clock, (self.instant - time.monotonic() + time.time(),)


def _from_wall_clock(instant: float) -> Deadline:
    return Deadline(instant - time.time() + time.monotonic())


NEVER = Deadline()
