"""How long work says how far it is: a function of (done, in all), or a line on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int], None]

PATIENCE = 0.5  # seconds before the line appears: short work stays silent
INTERVAL = 0.1  # seconds between two drawings: telling must not cost more than the work
CLEAR = "\r\x1b[K"


@contextmanager
def progress_of(wanted: bool | Progress, label: str) -> Iterator[Progress | None]:
    """The function to call: the caller's own, one that draws a line, or None.

    The line is drawn on standard error, only if that is a terminal, and is gone at the end.
    """
    if callable(wanted):
        yield wanted
    elif not wanted or sys.stderr is None or not sys.stderr.isatty():
        yield None
    else:
        try:
            yield _line(label)
        finally:
            sys.stderr.write(CLEAR)
            sys.stderr.flush()


def _line(label: str) -> Progress:
    due = time.monotonic() + PATIENCE

    def draw(done: int, total: int) -> None:
        nonlocal due
        now = time.monotonic()
        if now < due:
            return
        due = now + INTERVAL
        share = 100 * done // max(total, 1)
        sys.stderr.write(f"{CLEAR}{label}: {done:,} of {total:,} ({share} %)")
        sys.stderr.flush()

    return draw
