"""Time limits: one deadline for a call and for everything that it calls."""

from __future__ import annotations

import signal
import sys
import threading
import time
from math import inf, isinf
from types import CodeType, FrameType
from typing import Any

from contextwise.errors import ContextwiseError

AGAIN = 0.5
"""Seconds until an enforced deadline raises again, should something swallow its exception."""
SOON = 1e-3
"""Seconds until the alarm rings again if it cannot raise now."""
LONGEST = 1e8
"""Limits from this number of seconds on, three years, are none: timers cannot count so far."""


class OutOfTime(BaseException):
    """A deadline has passed. Code that set the deadline catches it with `Deadline.out_of_time`.

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
        # The kernel measures the limit on its own; it may stop a moment early.
        return (OutOfTime,) if time.monotonic() >= self.instant - SOON else ()

    def enforced(self, grace: float = 0.0) -> _Enforced:
        """Raise `OutOfTime` in a block ``grace`` seconds after the deadline, wherever it is.

        For code that does not check the deadline, such as other packages. It needs the main thread
        and a system with ``setitimer``; elsewhere the deadline is checked at the start only. Code
        that is not Python stops when it looks for signals, as this project's does, or returns. If
        the exception falls into a destructor, Python drops it, and it is raised again soon.
        """
        return _Enforced(self, grace)

    def sooner(self, seconds: float) -> Deadline:
        """Return this deadline, or the one ``seconds`` from now if that is earlier."""
        return Deadline(min(self.instant, time.monotonic() + seconds))

    def __reduce__(self) -> tuple[object, ...]:
        return _from_wall_clock, (self.instant - time.monotonic() + time.time(),)


def can_enforce() -> bool:
    """Return whether `Deadline.enforced` can stop a block here."""
    return (
        threading.current_thread() is threading.main_thread()
        and hasattr(signal, "setitimer")
        and signal.getsignal(signal.SIGALRM) is not None  # a handler in C could not be put back
    )


def _is_number(value: object) -> bool:
    from numbers import Real  # NumPy's numbers, too

    return isinstance(value, Real)


def _from_wall_clock(instant: float) -> Deadline:
    return Deadline(instant - time.time() + time.monotonic())


NEVER = Deadline()


# -- the alarm -------------------------------------------------------------------------------------


class _Alarm:
    """The timer of the process, which has only one: it rings for the earliest open block.

    The program may use the timer, too. Its timer goes on while blocks are open, and it gets back
    its handler and what is left of its time after the last one.
    """

    def __init__(self) -> None:
        self.blocks: list[_Enforced] = []
        self.theirs: Any = None  # the handler of the program
        self.rings, self.interval = inf, 0.0  # when the timer of the program rings
        self.hook: Any = None

    def take(self) -> None:
        """Take the timer from the program."""
        left, self.interval = signal.getitimer(signal.ITIMER_REAL)
        self.rings = time.monotonic() + left if left else inf
        self.hook, sys.unraisablehook = sys.unraisablehook, self._drop
        self.theirs = signal.signal(signal.SIGALRM, self._ring)

    def give_back(self) -> None:
        """Give the timer back to the program."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.theirs)
        sys.unraisablehook = self.hook
        if self.rings < inf:
            left = max(self.rings - time.monotonic(), SOON)
            signal.setitimer(signal.ITIMER_REAL, left, self.interval)

    def set(self) -> None:
        """Set the timer to the earliest block."""
        first = min(self.rings, *(block.rings for block in self.blocks))
        # A time of 0 would switch the timer off.
        signal.setitimer(signal.ITIMER_REAL, max(first - time.monotonic(), SOON), AGAIN)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        now, caller = time.monotonic(), frame
        while caller is not None:
            if caller.f_code in _KEEPERS:  # wait until the list of blocks is in order again
                if self.blocks:  # else the timer is about to be given back
                    signal.setitimer(signal.ITIMER_REAL, SOON, AGAIN)
                return
            caller = caller.f_back
        if now >= self.rings:
            self.rings = max(now, self.rings + self.interval) if self.interval else inf
            if callable(self.theirs):
                self.theirs(number, frame)
            else:
                # SIG_DFL and SIG_IGN cannot be called; the system must apply them.
                signal.signal(signal.SIGALRM, self.theirs)
                signal.raise_signal(signal.SIGALRM)
                signal.signal(signal.SIGALRM, self._ring)
        if any(now >= block.rings for block in self.blocks):
            raise OutOfTime
        if self.blocks:
            self.set()

    def _drop(self, raised: Any) -> None:
        if raised.exc_type is not OutOfTime:
            self.hook(raised)


class _Enforced:
    """A block that a deadline stops."""

    def __init__(self, deadline: Deadline, grace: float) -> None:
        self._deadline, self._grace = deadline, grace
        self.rings = deadline.instant + grace

    def __enter__(self) -> None:
        if isinf(self.rings) or self.rings <= time.monotonic() or not can_enforce():
            self._deadline.check()
            return
        if not _ALARM.blocks:
            _ALARM.take()
        _ALARM.blocks.append(self)
        _ALARM.set()

    def __exit__(self, *_: object) -> None:
        if self not in _ALARM.blocks:
            return
        _ALARM.blocks.remove(self)
        if _ALARM.blocks:
            _ALARM.set()
        else:
            _ALARM.give_back()


_ALARM = _Alarm()
_KEEPERS: frozenset[CodeType] = frozenset(
    function.__code__
    for function in (
        *(_Enforced.__enter__, _Enforced.__exit__),
        *(_Alarm.take, _Alarm.give_back, _Alarm.set),
    )
)
"""The code in which the alarm must not raise, or the list of blocks would be wrong."""
