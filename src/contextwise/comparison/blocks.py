"""A matrix in blocks: memory is that of one block.

A block is the distances of some models (its rows) to some others (its columns), or of some models
to each other. It is one unit of work: it goes to processes and clusters as it is
(`contextwise.execution.maps`), and `contextwise.comparison.stored_matrix` keeps it as it ends.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from contextwise.comparison.compare import answer
from contextwise.comparison.comparison import Comparison
from contextwise.comparison.confusion import Number
from contextwise.comparison.matrix import DistanceMatrix
from contextwise.comparison.question import Question, deadline_of
from contextwise.counting import DEFAULT, get_engine
from contextwise.counting.distances import Two, count_distances, two_models
from contextwise.errors import ContextwiseError, OpenResult
from contextwise.execution.maps import Map, choose_map
from contextwise.execution.progress import Progress, part_of, progress_of
from contextwise.models.features import IntArray

HERE = 256
"""How many rows and columns a block has that is counted in this process, on all its threads."""
BLOCK = 64
"""How many it has at most that goes elsewhere or is stored: a minute of work for large models."""
SIDE = 8
"""Few models make smaller blocks, so many along a side, that all workers get some."""


@dataclass(frozen=True)
class Block:
    """Some models set against others.

    Attributes
    ----------
    question : about the models of this block alone, the rows first
    rows : how many of them are rows; 0 sets each against each
    places : of the models in the whole matrix
    pairs : those that count, rising; None if they are to be found
    """

    question: Question
    rows: int
    places: tuple[int, ...]
    pairs: IntArray | None = None

    @property
    def key(self) -> str:
        """What a store knows it by: its first row and its first column."""
        return f"{self.places[0]:09}-{self.places[self.rows]:09}"

    @property
    def two(self) -> list[Two]:
        """The places of the two models of each distance."""
        return [
            (self.places[m], self.places[k]) for m, k in two_models(len(self.places), self.rows)
        ]


@dataclass(frozen=True)
class Counting:
    """How models are compared: by which engine, on how many threads, and until when.

    ``ends`` is on the clock of `time.time`, which other machines have too.
    """

    engine: str
    threads: int | None
    ends: float | None

    @property
    def here(self) -> bool:
        """Whether this process counts, on all its threads."""
        return self.threads is None


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


def count_matrix(
    question: Question,
    names: tuple[str, ...],
    *,
    engine: str = DEFAULT,
    time_limit: float | None = None,
    n_jobs: int = 1,
    cluster: Any = None,
    show_progress: bool | Progress = False,
) -> DistanceMatrix:
    """Count a matrix block by block.

    Parameters
    ----------
    question : Question
        The models, and what is asked of them.
    names : of the models
    engine, time_limit, n_jobs, cluster
        As in `contextwise.comparison.many.distance_matrix`.
    show_progress : bool or function
        A line on standard error, or a function of (comparisons done, comparisons in all).

    Returns
    -------
    DistanceMatrix

    Raises
    ------
    ContextwiseError
        If a block failed.
    """
    counting, map_blocks = counting_of(
        engine=engine, time_limit=time_limit, n_jobs=n_jobs, cluster=cluster
    )
    blocks = list(blocks_of(question, block_size(len(names), here=counting.here)))
    with progress_of(show_progress, "comparing models") as progress:
        found = _count_blocks(blocks, counting, map_blocks, progress)
        return assemble(question, names, found)


def count_row(
    question: Question,
    places: Sequence[int],
    *,
    pairs: IntArray,
    counting: Counting,
    map_blocks: Map,
    progress: Progress | None = None,
) -> list[Number]:
    """The distances of the first of some models to each of the others.

    Parameters
    ----------
    question : Question
        The models, and what is asked of them.
    places : of the models that are meant, the first one first
    pairs : those that are asked for and that a feature of some model covers, rising
    counting, map_blocks
        As `counting_of` gives them.
    progress : called with the comparisons that are done and their number

    Returns
    -------
    list of exact numbers

    Raises
    ------
    OpenResult
        If a time limit left one of them open.
    """
    one, *others = places
    size = block_size(len(others), here=counting.here)
    columns = [others[at : at + size] for at in range(0, len(others), size)]
    blocks = [Block(question.about(one, *some), 1, (one, *some), pairs) for some in columns]
    row: dict[int, Number] = {}
    for found in _count_blocks(blocks, counting, map_blocks, progress):
        if found.lower != found.upper:
            raise OpenResult("some distances are open; allow more time to know them")
        row.update(zip((other for _, other in found.two), found.lower, strict=True))
    return [row[other] for other in others]


def block_size(models: int, *, here: bool) -> int:
    """How many models a block has along a side."""
    return HERE if here else min(BLOCK, max(2, -(-models // SIDE)))


def _count_blocks(
    blocks: Sequence[Block], counting: Counting, map_blocks: Map, progress: Progress | None
) -> Iterator[Distances]:
    if counting.here:
        return _one_by_one(blocks, counting, progress)
    return _by_map(blocks, counting, map_blocks, progress)


def blocks_of(question: Question, size: int) -> Iterator[Block]:
    """The upper triangle of the matrix."""
    models = len(question.structures)
    for a, b in combinations_with_replacement(range(0, models, size), 2):
        rows, columns = range(a, min(a + size, models)), range(b, min(b + size, models))
        places = tuple(rows) if a == b else (*rows, *columns)
        if len(places) > 1:
            yield Block(question.about(*places), 0 if a == b else len(rows), places)


def _one_by_one(
    blocks: Sequence[Block], counting: Counting, progress: Progress | None
) -> Iterator[Distances]:
    """The blocks counted here; progress tells of comparisons, inside of a block too."""
    before, total = 0, sum(len(block.two) for block in blocks)
    for block in blocks:
        own = len(block.two)
        yield count_block(block, counting, part_of(progress, before, own, total))
        before += own


def _by_map(
    blocks: Sequence[Block], counting: Counting, map_blocks: Map, progress: Progress | None
) -> Iterator[Distances]:
    """The blocks counted by others."""
    done, total = 0, sum(len(block.two) for block in blocks)
    for unit in map_blocks(partial(count_block, counting=counting), blocks):
        if unit.value is None:
            raise ContextwiseError(f"counting failed {unit.tries} times: {unit.error}")
        done += len(unit.value.two)
        if progress:
            progress(done, total)
        yield unit.value


def count_block(block: Block, counting: Counting, progress: Progress | None = None) -> Distances:
    """Count one block. Bounds and observed rows are counted two models at a time.

    Parameters
    ----------
    block : Block
    counting : Counting
    progress : called with how much is done, and how much there is

    Returns
    -------
    Distances
    """
    question, two = block.question, block.two
    if question.rows is None and counting.ends is None:
        found = count_distances(
            [structure.features for structure in question.structures],
            question.active_pairs() if block.pairs is None else block.pairs,
            rows=block.rows,
            engine=counting.engine,
            canonical=question.canonical,
            threads=counting.threads,
            value_weights=question.value_weights,
            progress=progress,
        )
        return Distances(two, found.values, found.values, found.rests_on_ganak)
    lower, upper, rests_on_ganak = [], [], False
    for done, (m, k) in enumerate(two_models(len(block.places), block.rows), 1):
        comparison = compare_two(question.about(m, k), counting)
        low, high = comparison.distance_bounds
        lower.append(low)
        upper.append(high)
        rests_on_ganak |= comparison.rests_on_ganak
        if progress:
            progress(done, len(two))
    return Distances(two, lower, upper, rests_on_ganak)


def counting_of(
    *,
    engine: str = DEFAULT,
    time_limit: float | None = None,
    n_jobs: int = 1,
    cluster: Any = None,
    show_progress: bool | Progress = False,
) -> tuple[Counting, Map]:
    """How comparisons are counted, and where; what cannot be is an error now.

    Parameters
    ----------
    engine, time_limit, n_jobs, cluster
        As in `contextwise.comparison.many.distance_matrix`.
    show_progress : anything
        Says nothing about how they are counted.

    Returns
    -------
    Counting, and a map as `choose_map` gives it
    """
    deadline_of(time_limit)
    get_engine(engine).count_pairs  # noqa: B018  (an engine that cannot be used)
    ends = None if time_limit is None else time.time() + time_limit
    threads = None if n_jobs == 1 and cluster is None else 1
    return Counting(engine, threads, ends), choose_map(n_jobs=n_jobs, cluster=cluster)


def compare_two(question: Question, counting: Counting) -> Comparison:
    """Compare the two models of a question, the true one first; Ctrl-C ends it."""
    deadline = None if counting.ends is None else time.monotonic() + counting.ends - time.time()
    comparison = answer(
        question, engine=counting.engine, deadline=deadline, threads=counting.threads
    )
    if comparison.interrupted:
        raise KeyboardInterrupt
    return comparison


def assemble(
    question: Question, names: tuple[str, ...], blocks: Iterable[Distances]
) -> DistanceMatrix:
    """Put blocks together that make up the upper triangle.

    Parameters
    ----------
    question : about all models
    names : of the models
    blocks : the distances of each

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
