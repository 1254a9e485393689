"""Units of work into a store: what is done is skipped, what fails is reported, the rest goes on.

A unit is a name, a seed and whatever its function needs; it gives rows. Units are fixed by the
configuration of a run, so the rows are the same, bit for bit, whatever the number of workers and
however often the run was stopped on the way. So that they do not depend on the number of cores
either, matrices are multiplied on one thread: how BLAS shares out a sum decides its last bits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from contextwise.errors import require
from contextwise.execution.maps import Way
from contextwise.execution.progress import Progress, progress_of
from contextwise.execution.store import Finished, Row, Store


@dataclass(frozen=True)
class Unit:
    """A piece of work: everything that its result depends on."""

    name: str
    seed: str
    work: Any


@dataclass(frozen=True)
class Outcome:
    """How a run ended: units that were there before, that were done now, and that failed."""

    before: int
    done: int
    failed: tuple[Finished, ...]

    def __str__(self) -> str:
        text = f"{self.done} units done"
        if self.before:
            text += f", {self.before} were there before"
        for unit in self.failed:
            text += f"\nfailed {unit.tries} times: {unit.name} (seed {unit.seed}): {unit.error}"
        return text


def run(
    store: Store,
    units: Iterable[Unit],
    function: Callable[[Unit], Sequence[Row]],
    way: Way,
    *,
    show_progress: bool | Progress = False,
) -> Outcome:
    """Do every unit that the store does not have yet, and store each as it ends.

    Stopping (Ctrl-C included) loses what is in flight and nothing else.
    """
    listed = list(units)
    there = store.done()
    missing = [unit for unit in listed if unit.name not in there]
    before = len(listed) - len(missing)
    ended: list[Finished] = []
    with progress_of(show_progress, "units of work") as progress:
        for done in way(partial(_timed, function), missing):
            unit: Unit = done.item
            seconds, rows = done.value or (0.0, ())
            finished = Finished(unit.name, unit.seed, seconds, done.tries, rows, done.error)
            store.add(finished)
            ended.append(finished)
            if progress:
                progress(before + len(ended), len(listed))
    failed = tuple(unit for unit in ended if unit.error is not None)
    return Outcome(before, len(ended) - len(failed), failed)


def _timed(function: Callable[[Unit], Sequence[Row]], unit: Unit) -> tuple[float, Sequence[Row]]:
    began = time.perf_counter()
    with require("threadpoolctl", "studies").threadpool_limits(1):
        rows = function(unit)
    return time.perf_counter() - began, rows
