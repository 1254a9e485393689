"""How long work says how far it is: a function of (done, in all), or a bar on standard error.

The bar is click's, with its estimate of the time that is left. What is added here is when it
shows: only on a terminal, only for work that takes a while, and not after the work has ended.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int], None]

PATIENCE = 0.5  # seconds before the bar appears: short work stays silent
INTERVAL = 0.1  # seconds between two drawings: telling must not cost more than the work
CLEAR = "\r\x1b[K\x1b[?25h"  # an empty line, and the cursor that click hides


@contextmanager
def progress_of(wanted: bool | Progress, label: str) -> Iterator[Progress | None]:
    """The function to call: the caller's own, one that draws a bar, or None.

    The bar is drawn on standard error, only if that is a terminal, and is gone at the end. Who
    wants to know elsewhere (in a log file, on a page) gives a function.

    Parameters
    ----------
    wanted : bool or function of (done, total)
    label : str
        What is being done; it stands before the bar.

    Yields
    ------
    function of (done, total), or None if nobody wants to know

    Examples
    --------
    >>> with progress_of(lambda done, total: print(f"{done} of {total}"), "pairs") as progress:
    ...     progress(1, 2)
    1 of 2
    """
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


def part_of(whole: Progress | None, before: int, own: int, total: int) -> Progress | None:
    """What part of some work calls, in whatever it counts, so that the whole tells how far it is.

    Parameters
    ----------
    whole : function of (done, total), or None if nobody wants to know
    before : how much of the whole is done already
    own : how much of it this part is
    total : how much there is

    Returns
    -------
    function of (done, in all) of this part, or None

    Examples
    --------
    >>> half = part_of(lambda done, total: print(f"{done} of {total}"), 10, 10, 20)
    >>> half(50, 100)
    15 of 20
    """
    if whole is None:
        return None
    return lambda done, of: whole(before + own * done // max(of, 1), total)


def _bar(label: str) -> Progress:
    import click  # here, because what computes without a terminal does not need it

    # Click wants a length at once; the first call tells it.
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
