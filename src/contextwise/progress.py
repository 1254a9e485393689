"""How long work says how far it is: a function of (done, in all), or a bar on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int], None]


@contextmanager
def progress_of(wanted: bool | Progress, label: str) -> Iterator[Progress | None]:
    """The function to call: the caller's own, one that draws a bar, or None.

    A bar is drawn on standard error, and only if that is a terminal.
    """
    if callable(wanted):
        yield wanted
    elif not wanted:
        yield None
    else:
        import click

        with click.progressbar(
            length=1, label=label, file=sys.stderr, update_min_steps=1, show_pos=True
        ) as bar:

            def advance(done: int, total: int) -> None:
                bar.length = total
                bar.update(done - bar.pos)

            yield advance
