"""A matrix in blocks: each is counted on its own and stored as it ends.

A block is the distances of some models (its rows) to some others (its columns). It is one unit of
work for `contextwise.execution.runs`: it goes to processes and clusters as it is, a run that was
stopped goes on with the blocks that are missing, and memory is that of one block per process.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b
from itertools import product
from typing import Any

import numpy as np

from contextwise.comparison.confusion import Number
from contextwise.comparison.joint_counts import count_joins
from contextwise.comparison.matrix import DistanceMatrix
from contextwise.comparison.question import Question
from contextwise.counting import DEFAULT
from contextwise.errors import ContextwiseError
from contextwise.execution.maps import choose_map
from contextwise.execution.progress import Progress
from contextwise.execution.runs import Store, Unit, run_units

BLOCK = 32
"""How many rows and columns a block has: enough for its models to share unions."""

Two = tuple[int, int]


@dataclass(frozen=True)
class Distances:
    """The distances of some two models each.

    Attributes
    ----------
    two : their places
    lower, upper : exact numbers, equal unless a time limit left a distance open
    rests_on_ganak : whether the model counter Ganak had to do with it
    """

    two: Sequence[Two]
    lower: Sequence[Number]
    upper: Sequence[Number]
    rests_on_ganak: bool


def block_distances(question: Question, two: Sequence[Two], **effort: Any) -> Distances:
    """Count the distances of some two models each.

    Parameters
    ----------
    question : Question
        The models, and what is asked of them.
    two : places of two models each
    **effort
        How it is counted, with the keywords of `count_joins`.

    Returns
    -------
    Distances
    """
    unions = count_joins(question, two, **effort)
    bounds = [unions.distance_bounds(m, k) for m, k in two]
    lower, upper = [low for low, _ in bounds], [high for _, high in bounds]
    return Distances(two, lower, upper, "ganak" in unions.engines)


def assembled_matrix(
    question: Question, names: tuple[str, ...], blocks: Iterable[Distances]
) -> DistanceMatrix:
    """Put blocks together.

    Parameters
    ----------
    question : Question
        What was asked.
    names : of the models
    blocks : that make up the upper triangle

    Returns
    -------
    DistanceMatrix
    """
    lower = np.zeros((len(names), len(names)), dtype=object)
    upper = lower.copy()
    rests_on_ganak = False
    for block in blocks:
        rests_on_ganak = rests_on_ganak or block.rests_on_ganak
        for (m, k), low, high in zip(block.two, block.lower, block.upper, strict=True):
            lower[m, k] = lower[k, m] = low
            upper[m, k] = upper[k, m] = high
    by_position = question.align == "position"
    return DistanceMatrix(names, lower, upper, question.total(), rests_on_ganak, by_position)


def stored_matrix(
    question: Question,
    names: tuple[str, ...],
    store: str | os.PathLike[str],
    *,
    engine: str = DEFAULT,
    time_limit: float | None = None,
    n_jobs: int = 1,
    cluster: Any = None,
    show_progress: bool | Progress = False,
) -> DistanceMatrix:
    """Count a matrix block by block into a store, or what is missing of it.

    Parameters
    ----------
    question : Question
        The models, and what is asked of them.
    names : of the models
    store : path
        A folder, which gets one file.
    engine, n_jobs, cluster
        As in `contextwise.comparison.many.distance_matrix`.
    time_limit : None
        A stored matrix has none: stop it, and go on with the same call.
    show_progress : bool or function
        A line on standard error, or a function of (blocks done, blocks in all).

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
    map_units = choose_map(n_jobs=n_jobs, cluster=cluster)
    threads = None if n_jobs == 1 and cluster is None else 1
    units = [
        Unit(key, (question.about(*places), places, two, engine, threads))
        for key, places, two in _blocks(len(names))
    ]
    with Store(store, _configuration(question)) as open_store:
        done = run_units(open_store, units, _count_block, map_units, show_progress=show_progress)
        if done.failed:
            raise ContextwiseError(f"some blocks are missing: {done}")
        return assembled_matrix(question, names, map(_read, open_store.records()))


def _blocks(models: int) -> Iterator[tuple[str, list[int], list[Two]]]:
    """The upper triangle: of each block its key, its models and which two of them it sets apart."""
    starts = range(0, models, BLOCK)
    for a, b in product(starts, starts):
        rows, columns = range(a, min(a + BLOCK, models)), range(b, min(b + BLOCK, models))
        two = [(m, k) for m in rows for k in columns if m < k]
        if two:
            yield f"{a:09}-{b:09}", sorted({*rows, *columns}), two


def _count_block(
    parameters: tuple[Question, list[int], list[Two], str, int | None],
) -> list[dict[str, Any]]:
    question, places, two, engine, threads = parameters
    local = {place: k for k, place in enumerate(places)}
    inside = [(local[m], local[k]) for m, k in two]
    found = block_distances(question, inside, engine=engine, threads=threads)
    lower, upper = map(_written, found.lower), map(_written, found.upper)
    bounds = {"lower": list(lower), "upper": list(upper)}
    return [{"two": two, **bounds, "rests_on_ganak": found.rests_on_ganak}]


def _written(number: Number) -> int | str:
    return str(number) if isinstance(number, Fraction) else int(number)


def _read(record: Mapping[str, Any]) -> Distances:
    lower, upper = (
        [Fraction(value) if isinstance(value, str) else value for value in record[bound]]
        for bound in ("lower", "upper")
    )
    return Distances([(m, k) for m, k in record["two"]], lower, upper, record["rests_on_ganak"])


def _configuration(question: Question) -> dict[str, Any]:
    """What a store belongs to: models and questions that differ have another digest."""
    digest = blake2b(digest_size=16)
    domain = question.domain
    asked = None if question.asked is None else question.asked.tolist()
    rows = None if question.rows is None else question.rows.tolist()
    weights = None if question.value_weights is None else [list(w) for w in question.value_weights]
    about = (domain.names, domain.states, dict(question.context), asked, rows, weights)
    digest.update(repr(about).encode())
    for structure in question.structures:
        digest.update(repr(sorted(structure.features.literals())).encode())
    models = {"models": len(question.structures), "digest": digest.hexdigest()}
    return {**models, "contexts": question.contexts, "block": BLOCK}
