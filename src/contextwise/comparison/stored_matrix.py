"""A matrix whose blocks are kept: a run that was stopped or killed goes on where it was.

Each block is a unit of work of a store (`contextwise.execution.runs`), which belongs to the models
and to what is asked of them: a store of other models is an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np

from contextwise.comparison.blocks import (
    Block,
    Counting,
    Distances,
    assemble,
    block_size,
    blocks_of,
    count_block,
    counting_of,
)
from contextwise.comparison.confusion import Number
from contextwise.comparison.matrix import DistanceMatrix
from contextwise.comparison.question import Question
from contextwise.counting import DEFAULT
from contextwise.errors import ContextwiseError
from contextwise.execution.progress import Progress
from contextwise.execution.runs import Store, Unit, run_units

FINGERPRINT = "fingerprint of models and question"


def count_stored(
    question: Question,
    names: tuple[str, ...],
    folder: str | os.PathLike[str],
    *,
    engine: str = DEFAULT,
    time_limit: float | None = None,
    n_jobs: int = 1,
    cluster: Any = None,
    show_progress: bool | Progress = False,
) -> DistanceMatrix:
    """Count the blocks that a store lacks, and put all of them together.

    Parameters
    ----------
    question : Question
        The models, and what is asked of them.
    names : of the models
    folder : path of the store, which is one file there
    engine, n_jobs, cluster
        As in `contextwise.comparison.many.distance_matrix`.
    time_limit : None
        There is none: the run can be stopped, and goes on later.
    show_progress : bool or function
        A line on standard error, or a function of (blocks done, blocks that were missing).

    Returns
    -------
    DistanceMatrix

    Raises
    ------
    ContextwiseError
        If there is a time limit, the store is that of other models, or a block failed.
    """
    if time_limit is not None:
        raise ContextwiseError("a stored matrix has no time limit: stop it, and it goes on later")
    counting, map_blocks = counting_of(engine=engine, n_jobs=n_jobs, cluster=cluster)
    size = block_size(len(names), here=False)
    units = [Unit(block.key, block) for block in blocks_of(question, size)]
    with Store(folder, _configuration(question, size)) as store:
        work = partial(_record, counting=counting)
        done = run_units(store, units, work, map_blocks, show_progress=show_progress)
        if done.failed:
            raise ContextwiseError(f"some blocks are missing: {done}")
        return assemble(question, names, map(_read, store.records()))


def _record(block: Block, counting: Counting) -> list[dict[str, Any]]:
    found = count_block(block, counting)
    bounds = {"lower": _as_json(found.lower), "upper": _as_json(found.upper)}
    return [{"two": found.two, **bounds, "rests_on_ganak": found.rests_on_ganak}]


def _as_json(numbers: Iterable[Number]) -> list[int | str]:
    return [str(value) if isinstance(value, Fraction) else int(value) for value in numbers]


def _read(record: Mapping[str, Any]) -> Distances:
    lower, upper = (
        [Fraction(value) if isinstance(value, str) else value for value in record[bound]]
        for bound in ("lower", "upper")
    )
    return Distances([(m, k) for m, k in record["two"]], lower, upper, record["rests_on_ganak"])


def _configuration(question: Question, size: int) -> dict[str, Any]:
    """What a store belongs to: models and questions that differ have another fingerprint."""
    digest = blake2b(digest_size=16)
    domain = question.domain
    asked = None if question.asked is None else question.asked.tolist()
    rows = None if question.rows is None else question.rows.tolist()
    weights = None if question.value_weights is None else [list(w) for w in question.value_weights]
    about = (domain.names, domain.states, dict(question.context), asked, rows, weights)
    digest.update(repr(about).encode())
    for structure in question.structures:
        own = structure.features
        rows_of = own.take(np.arange(len(own))).rows  # a copy, so that the rows are not kept
        digest.update(len(rows_of).to_bytes(8, "little"))
        for row in sorted(rows_of):
            digest.update(len(row).to_bytes(8, "little") + row)
    models = {"models": len(question.structures), FINGERPRINT: digest.hexdigest()}
    return {**models, "contexts": question.contexts, "block": size}
