"""Limits of time (an instant of `time.monotonic`) and of work, and what is raised beyond them.

An engine that counts cover by cover calls `check` inside its work, so that one hard cover cannot
overrun the limit; the loop over pairs catches `OutOfTime` and gives bounds for what is left.
"""

from __future__ import annotations

import time


class OutOfTime(Exception):
    """The deadline has passed; only for the loop that set it."""


class OverBudget(Exception):
    """One cover takes more work than it was given; the next one may well not."""


def check(deadline: float | None) -> None:
    """Raise `OutOfTime` once the deadline has passed.

    >>> check(None)
    >>> check(time.monotonic() - 1)
    Traceback (most recent call last):
    contextwise.counting.limits.OutOfTime
    """
    if deadline is not None and time.monotonic() > deadline:
        raise OutOfTime
