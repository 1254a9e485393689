"""Report the progress of long work to a function of (done, total), or as a bar on a terminal.

The bar is click's. It appears only on a terminal and only after half a second, and is removed when
the work ends.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int], None]

PATIENCE = 0.5  # seconds before the bar appears
INTERVAL = 0.1  # seconds between two drawings
CLEAR = "\r\x1b[K\x1b[?25h"  # an empty line, and the cursor that click hides


@contextmanager
def progress_of(wanted: bool | Progress, label: str) -> Iterator[Progress | None]:
    """Yield the function to report to: the caller's, one that draws a bar, or None."""
    if callable(wanted):
        yield wanted
    elif not wanted or sys.stderr is None or not sys.stderr.isatty():
        yield None
    else:
        try:
            yield _bar(label)
        finally:
            sys.stderr.write(CLEAR)
            sys.stderr.flush()


def part_of(whole: Progress | None, before: int, share: int, total: int) -> Progress | None:
    """Return a function that reports progress of one part as progress of the whole.

    ``before`` units of the whole are done already, and this part is ``share`` of ``total`` units.
    """
    if whole is None:
        return None
    return lambda done, of: whole(before + share * done // max(of, 1), total)


def _bar(label: str) -> Progress:
    import click  # here, because work without a terminal does not need it

    # Click needs a length at once; the first call sets it.
    bar = click.progressbar(length=0, label=label, file=sys.stderr, show_pos=True)
    due = time.monotonic() + PATIENCE

    def draw(done: int, total: int) -> None:
        nonlocal due
        now = time.monotonic()
        if now >= due:
            due = now + INTERVAL
            bar.length = total
            bar.update(done - bar.pos)

    return draw
