"""The study of learners as a run: its units, in a store that survives a crash.

A unit is a learner on one data set: rows of a truth, of a size and a repeat, or a real data set.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from contextwise.execution.progress import Progress
from contextwise.execution.runs import Outcome, Unit
from contextwise.studies.configuration import run_study
from contextwise.studies.learners.configuration import TRUE_STRUCTURE, Configuration, to_toml
from contextwise.studies.learners.real_data import DataTask, data_sets, learn_data
from contextwise.studies.learners.unit import Task, learn_unit


def run_learners(
    configuration: Configuration,
    folder: str | os.PathLike[str],
    *,
    n_jobs: int = 1,
    cluster: Any = None,
    show_progress: bool | Progress = False,
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
    n_jobs : int
        How many processes; -1 is one process per core.
    cluster : address such as ``tcp://host:8786``, or a Dask client
        Goes before ``n_jobs``.
    show_progress : bool or function of (done, total)

    Returns
    -------
    Outcome
        How many units of work were done. A learner that fails is a result, not a failed unit.
    """
    return run_study(
        folder,
        configuration.record(),
        to_toml(configuration),
        list(units(configuration)),
        do_unit,
        n_jobs=n_jobs,
        cluster=cluster,
        show_progress=show_progress,
    )


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
