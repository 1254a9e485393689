"""The study of learners as a run: its units, in a store that survives a crash.

A unit is a learner on one data set: rows of a truth, of a size and a repeat, or a real data set.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Unpack

from contextwise.studies.configuration import RunOptions, run_study
from contextwise.studies.learners.configuration import TRUE_STRUCTURE, Configuration
from contextwise.studies.learners.real_data import DataTask, data_sets, learn_data
from contextwise.studies.learners.unit import Task, learn_unit
from contextwise.support.store import Outcome, Unit


def run_learners(
    configuration: Configuration,
    folder: str | os.PathLike[str],
    **options: Unpack[RunOptions],
) -> Outcome:
    """Run the study into a folder, or go on where it stopped.

    The folder gets ``results.sqlite`` and ``configuration.toml``;
    `contextwise.studies.learners.publication` says what the results show.

    Parameters
    ----------
    configuration : Configuration
        Everything that the results depend on.
    folder : path
        Where the results go; made if it is not there.
    **options : n_jobs, cluster and show_progress
        As in `contextwise.studies.configuration.run_study`.

    Returns
    -------
    Outcome
        How many units of work were done. A learner that fails is a result, not a failed unit.
    """
    return run_study(folder, configuration.record(), list(units(configuration)), do_unit, **options)


def units(configuration: Configuration) -> Iterator[Unit]:
    """The units of a run, learner by learner on the same rows, so that rows are drawn once."""
    for repeat in range(configuration.repeats):
        for truth in configuration.truths:
            for size in configuration.sizes:
                for label in configuration.learners:
                    task = Task(configuration, truth, size, repeat, label)
                    yield Unit(f"truth {truth} {size:07} {repeat:03} {label}", task)
    for name, parts in data_sets(configuration.data).items():
        for label, plan in configuration.learners.items():
            if plan.learner != TRUE_STRUCTURE:
                yield Unit(f"data {name} {label}", DataTask(configuration, name, parts, label))


def do_unit(task: Task | DataTask) -> list[dict[str, Any]]:
    """The records of a unit of either kind."""
    return learn_data(task) if isinstance(task, DataTask) else learn_unit(task)
