"""Compare many models: all pairwise distances, or one true model with several guesses.

A matrix is counted in blocks of models, so memory is that of one block, blocks can be counted on
other machines, and a stored matrix resumes where it was interrupted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations, combinations_with_replacement, product
from math import ceil, inf, sqrt
from sys import getsizeof
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from contextwise.comparison.confusion import Number, digits, ratio
from contextwise.comparison.question import Question, Restriction, listed_models, pose
from contextwise.comparison.two_models import Comparison, answer, comparison_record
from contextwise.counting.contract import DEFAULT, get_engine
from contextwise.counting.native import count_distances
from contextwise.errors import ContextwiseError, OpenResult, require
from contextwise.formats import ModelLike
from contextwise.support.arrays import ObjectArray
from contextwise.support.effort import QUIET, Deadline, Effort, Progress
from contextwise.support.formatting import Shown, number
from contextwise.support.machine import cores, require_memory

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False)
class DistanceMatrix(Shown):
    """The exact pairwise distances of models: symmetric, with zeros on the diagonal.

    Attributes
    ----------
    names : of the models, in the order of rows and columns
    lower, upper : object arrays of exact numbers, one row and one column per model
        The distances, or bounds of those that a time limit left unfinished.
    total : the number of assertions, which is the largest possible distance
    by_position : whether the models were aligned by position instead of by names

    Examples
    --------
    >>> from contextwise import distance_matrix
    >>> matrix = distance_matrix(["six", "six-guess", "six-graph"])
    >>> matrix.distances[0].tolist(), matrix.medoid
    ([0, 16, 80], 0)
    """

    names: tuple[str, ...]
    lower: ObjectArray
    upper: ObjectArray
    total: Number
    by_position: bool = False

    @property
    def open_distances(self) -> int:
        """The number of unfinished distances."""
        return int((self.lower != self.upper).sum()) // 2

    @property
    def distances(self) -> ObjectArray:
        """The exact distances; raises `OpenResult` if some are unfinished."""
        if self.open_distances:
            each = len(self.names) * (len(self.names) - 1) // 2
            raise OpenResult(
                f"{self.open_distances} of {each} distances are unfinished; use lower and "
                "upper, or allow more time"
            )
        return self.lower

    @property
    def medoid(self) -> int:
        """The place of the model with the least sum of distances; the first of several."""
        sums: list[Number] = self.distances.sum(axis=1).tolist()
        return sums.index(min(sums))

    @cached_property
    def normalized(self) -> npt.NDArray[np.float64]:
        """The distances divided by the number of assertions, in [0, 1]."""
        return self.shares(self.distances)

    def shares(self, distances: ObjectArray) -> npt.NDArray[np.float64]:
        """Divide distances by the number of assertions."""
        total = self.total or 1  # without assertions, every distance is 0
        shares = [[ratio(d, total) for d in row] for row in distances.tolist()]
        return np.array(shares, dtype=np.float64)

    def to_frame(self, *, normalized: bool = False) -> pandas.DataFrame:
        """Return exact distances, or shares, as a DataFrame (``pip install '.[frames]'``).

        It has one row and one column per model, under their names.
        """
        cells = self.normalized if normalized else self.distances
        frame: pandas.DataFrame = require("pandas", "frames").DataFrame(
            cells, index=list(self.names), columns=list(self.names), dtype=cells.dtype
        )
        return frame

    def __repr__(self) -> str:
        return f"DistanceMatrix({len(self.names)} models, total={number(self.total)})"


# -- blocks --------------------------------------------------------------------------------------

HERE = 256
"""Rows and columns of a block that this process counts on all its threads."""
MOST_MODELS_OF_A_BLOCK = 64
"""The most rows and columns of a block for another process or for a store: a minute of work."""
WORKERS = 8
"""Workers of a cluster, or of a store that may resume with others, as far as blocks are sized."""


Two = tuple[int, int]


@dataclass(frozen=True)
class Block:
    """A part of a matrix."""

    question: Question  # about the models of this block, the rows first
    rows: int  # 0 compares all models with each other
    places: tuple[int, ...]  # of the models in the whole matrix

    @property
    def key(self) -> str:
        """The key in a store: the first row and the first column."""
        return f"{self.places[0]:09}-{self.places[self.rows]:09}"

    @property
    def inside(self) -> list[Two]:
        """The two models of each distance, as places in the question."""
        count = len(self.places)
        if not self.rows:
            return list(combinations(range(count), 2))
        return list(product(range(self.rows), range(self.rows, count)))

    @property
    def two(self) -> list[Two]:
        """The two models of each distance, as places in the whole matrix."""
        return [(self.places[m], self.places[k]) for m, k in self.inside]


SECONDS_FOR_BOUNDS = 0.5
"""Seconds after a deadline in which models still get bounds of their own."""


@dataclass(frozen=True)
class Distances:
    """The distances of a block, in the order of ``two``, or bounds of them."""

    two: Sequence[Two]
    lower: Sequence[Number]
    upper: Sequence[Number]


def block_size(models: int, workers: int) -> int:
    """Return the number of models along a side of a block.

    Blocks are large, since each one counts its models alone again. There are two for each worker:
    a side has the square root of this number, and half of the square is counted.
    """
    if workers == 1:
        return HERE
    side = ceil(sqrt(2 * workers))
    return min(MOST_MODELS_OF_A_BLOCK, max(2, -(-models // side)))


def _workers(effort: Effort) -> int:
    if effort.cluster is not None:
        return WORKERS
    return cores() if effort.n_jobs < 0 else effort.n_jobs


def _on_threads(question: Question, engine: str, effort: Effort) -> Effort:
    """Return an effort with threads for processes if the engine can: it starts and counts less."""
    if effort.is_here or effort.cluster is not None or not _counts_at_once(question, engine):
        return effort
    return replace(effort.alone(), threads=_workers(effort))


def _counts_at_once(question: Question, engine: str) -> bool:
    return question.rows is None and get_engine(engine).name == "native"


def _count_blocks(blocks: Sequence[Block], engine: str, effort: Effort) -> Iterator[Distances]:
    """Count blocks here or on other workers; report finished distances."""
    done, total = 0, sum(len(block.two) for block in blocks)
    if effort.is_here:
        for block in blocks:
            size = len(block.two)
            yield count_block(block, effort.part(done, size, total), engine)
            done += size
        return
    count = partial(count_block, effort=effort.of_worker(), engine=engine)
    for _, distances in effort.each("counting", count, blocks):
        done += len(distances.two)
        effort.report(done, total)
        yield distances


def blocks_of(question: Question, size: int) -> Iterator[Block]:
    """Yield the blocks of the upper triangle of the matrix."""
    models = len(question.structures)
    for a, b in combinations_with_replacement(range(0, models, size), 2):
        rows, columns = range(a, min(a + size, models)), range(b, min(b + size, models))
        places = tuple(rows) if a == b else (*rows, *columns)
        if len(places) > 1:
            yield Block(question.about(*places), 0 if a == b else len(rows), places)


def count_block(block: Block, effort: Effort, engine: str = DEFAULT) -> Distances:
    """Count one block: at once if the kernel can, otherwise one pair of models at a time."""
    question, left = block.question, effort.deadline.left()
    # The other half of the time is for the bounds of single pairs of models.
    soon = effort.deadline.sooner(inf if left is None else left / 2)
    if _counts_at_once(question, engine):
        try:
            exact = count_distances(
                [structure.features for structure in question.structures],
                question.active_pairs(),
                replace(effort, deadline=soon),
                rows=block.rows,
                space=question.space,
            )
        except soon.out_of_time:
            pass
        else:
            return Distances(block.two, exact, exact)
    lower, upper = [], []
    late = Deadline(effort.deadline.instant + SECONDS_FOR_BOUNDS)
    for done, (m, k) in enumerate(block.inside, 1):
        low: Number = 0
        high: Number = question.total
        if not late.passed:  # else not even bounds are counted
            comparison = compare_two(question.about(m, k), effort.of_worker(), engine)
            low, high = comparison.distance_bounds
        lower.append(low)
        upper.append(high)
        effort.report(done, len(block.inside))
    return Distances(block.two, lower, upper)


def compare_two(question: Question, effort: Effort, engine: str) -> Comparison:
    """Compare the two models of a question, the true one first."""
    comparison = answer(question, effort, engine=engine)
    if comparison.unions.interrupted:
        raise KeyboardInterrupt
    return comparison


def assemble(
    question: Question, names: tuple[str, ...], blocks: Iterable[Distances]
) -> DistanceMatrix:
    """Assemble the blocks of the upper triangle."""
    # Two pointers per cell; both triangles share their numbers.
    size = 16 + sum(map(getsizeof, question.total.as_integer_ratio())) // 2
    require_memory(size * len(names) ** 2, "the matrix of these models", "compare fewer models")
    lower = np.zeros((len(names), len(names)), dtype=object)
    upper = lower.copy()
    for block in blocks:
        for (m, k), low, high in zip(block.two, block.lower, block.upper, strict=True):
            lower[m, k] = lower[k, m] = low
            upper[m, k] = upper[k, m] = high
    return DistanceMatrix(names, lower, upper, question.total, question.align == "position")


# -- stored blocks -------------------------------------------------------------------------------

FINGERPRINT = "fingerprint of models and question"


def count_stored(
    question: Question,
    names: tuple[str, ...],
    folder: str | os.PathLike[str],
    engine: str,
    effort: Effort,
) -> DistanceMatrix:
    """Count the blocks that are not in the store yet, and assemble the matrix."""
    from contextwise.support.store import Store, Unit, run_units  # loads sqlite3

    if effort.deadline.left() is not None:
        raise ContextwiseError(
            "a stored matrix has no time limit; interrupt it, and the same call resumes it"
        )
    effort = _on_threads(question, engine, effort)
    size = block_size(len(names), WORKERS)
    units = [Unit(block.key, block) for block in blocks_of(question, size)]
    with Store(folder, _configuration(question, size)) as store:
        work = partial(_record, effort=effort.of_worker(), engine=engine)
        done = run_units(store, units, work, effort)
        if done.failed:
            text = f"some blocks are missing: {done}"
            raise ContextwiseError(text) from done.failed[0].problem
        blocks = (
            Distances(
                [(m, k) for m, k in record["two"]],
                _from_json(record["lower"]),
                _from_json(record["upper"]),
            )
            for record in store.records()
        )
        return assemble(question, names, blocks)


def _record(block: Block, effort: Effort, engine: str) -> list[dict[str, Any]]:
    distances = count_block(block, effort, engine)
    bounds = {"lower": _as_json(distances.lower), "upper": _as_json(distances.upper)}
    return [{"two": distances.two, **bounds}]


def _as_json(numbers: Iterable[Number]) -> list[list[str]]:
    """Write numbers as hexadecimal digits: Python refuses to write very long ints as decimals."""
    return [list(map(hex, n.as_integer_ratio())) for n in numbers]


def _from_json(numbers: Iterable[Any]) -> list[Number]:
    """Read numbers: the inverse of `_as_json`."""
    ratios = ((int(above, 16), int(below, 16)) for above, below in numbers)
    return [above if below == 1 else Fraction(above, below) for above, below in ratios]


def _configuration(question: Question, size: int) -> dict[str, Any]:
    """Return the settings of a store, with a fingerprint of the models and the question."""
    from hashlib import blake2b  # here, as it loads OpenSSL

    digest = blake2b(digest_size=16)
    domain = question.domain
    pairs = None if question.asked is None else question.asked.tolist()
    rows = None if question.rows is None else question.rows.tolist()
    weights = None if question.space.weights is None else list(map(list, question.space.weights))
    about = (domain.names, domain.states, question.box.states, pairs, rows, weights)
    digest.update(repr(about).encode())
    for structure in question.structures:
        features = structure.features
        rows_of = features.take(np.arange(len(features))).rows  # of a copy, which keeps no rows
        digest.update(len(rows_of).to_bytes(8, "little"))
        # The order of features does not change a model.
        for row in sorted(rows_of):
            # With its length in front, no two lists of rows give the same bytes.
            digest.update(len(row).to_bytes(8, "little") + row)
    models = {"models": len(question.structures), FINGERPRINT: digest.hexdigest()}
    return {**models, "contexts": question.contexts, "block": size}


# -- distance_matrix and compare_many ------------------------------------------------------------


class ManyOptions(Restriction, total=False):
    """The keywords that comparisons of many models share; `distance_matrix` explains them."""

    engine: str
    time_limit: float | None
    n_jobs: int
    cluster: Any
    show_progress: bool | Progress


def distance_matrix(
    models: Iterable[ModelLike] | Mapping[str, ModelLike],
    *,
    names: Iterable[str] | None = None,
    folder: str | os.PathLike[str] | None = None,
    **options: Unpack[ManyOptions],
) -> DistanceMatrix:
    """Compute the matrix of pairwise distances, exactly.

    Parameters
    ----------
    models : models, paths of model files, or names of bundled examples; or a dict by name
    names : one for each model, optional
        By default the path of a model file, or the place of a model.
    folder : path of a folder, optional
        Store each block of models when it is finished: the same call resumes an interrupted run.
        For many hundreds of models.
    **options
        The keywords of `compare` that restrict it (pairs, variables, context, data, weights,
        contexts, align, zero_weights), and:

        - ``engine``: name of an engine; see ``contextwise info``.
        - ``time_limit``: seconds. Unfinished distances keep proven bounds.
        - ``n_jobs``: number of threads if the engine can count on several, else of processes; -1
          means one per core. 1 counts in this process, on all cores if the engine can.
        - ``cluster``: address of a Dask scheduler, or a Dask client. Takes precedence over
          ``n_jobs``.
        - ``show_progress``: True shows a line on standard error; a function is called with
          (comparisons done, number of comparisons).

    Examples
    --------
    >>> from contextwise import Structure
    >>> domain = {"A": 2, "B": 2, "C": 2}
    >>> texts = [], ["A=1 & B=1"], ["A=1 & B=1", "A=1 & B=1 & C=1"]
    >>> matrix = distance_matrix([Structure(domain, features) for features in texts])
    >>> matrix.distances
    array([[0, 2, 4],
           [2, 0, 2],
           [4, 2, 0]], dtype=object)
    >>> matrix.normalized[0].tolist()
    [0.0, 0.3333333333333333, 0.6666666666666666]
    """
    chosen, labels = label_models(models, names)
    has_names = names is not None or isinstance(models, Mapping)
    question, engine, effort = _prepare(chosen, labels if has_names else None, options)
    if folder is not None:
        return count_stored(question, labels, folder, engine, effort)
    return matrix_of(question, labels, effort, engine)


def matrix_of(
    question: Question, names: tuple[str, ...], effort: Effort = QUIET, engine: str = DEFAULT
) -> DistanceMatrix:
    """Compute the distances between all models of a question."""
    effort = _on_threads(question, engine, effort)
    blocks = list(blocks_of(question, block_size(len(names), _workers(effort))))
    with effort.showing("comparing models") as shown:
        return assemble(question, names, _count_blocks(blocks, engine, shown))


def compare_many(
    true: ModelLike,
    guesses: Iterable[ModelLike] | Mapping[str, ModelLike],
    **options: Unpack[ManyOptions],
) -> Comparisons:
    """Compare several guesses with one true model.

    The results are those of `compare`; the dependencies of the true model are counted once.

    Parameters
    ----------
    true : model, path of a model file, or name of a bundled example
    guesses : the same, several; or a dict from names to them
    **options
        The keywords of `distance_matrix`.

    Returns
    -------
    a list of `Comparison` with an HTML view and ``to_frame()``

    Examples
    --------
    >>> from contextwise import Structure
    >>> true = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=1"])
    >>> guesses = [Structure(true.domain, [text]) for text in ("A=1 & B=1", "B=1 & C=1")]
    >>> [comparison.distance for comparison in compare_many(true, guesses)]
    [3, 3]
    """
    chosen = listed_models("guesses", guesses)
    question, engine, effort = _prepare([true, *chosen], None, options)
    effort = _on_threads(question, engine, effort)
    places = range(1, len(question.structures))
    size = 1 if effort.is_here else max(1, -(-len(places) // (4 * _workers(effort))))
    units = [(part, question.about(0, *part)) for part in _parts(places, size)]
    results: dict[int, Comparison] = {}
    count = partial(_compare_unit, effort=effort.of_worker(), engine=engine)
    with effort.showing("comparing models") as shown:
        for (part, _), comparisons in shown.each("counting", count, units):
            for place, comparison in zip(part, comparisons, strict=True):
                results[place] = replace(comparison, question=question.about(0, place))
            shown.report(len(results), len(places))
    names = guesses if isinstance(guesses, Mapping) else map(_name, places, chosen)
    return Comparisons((results[place] for place in places), list(names))


def farthest_first(
    models: Iterable[ModelLike],
    k: int,
    *,
    first: int = 0,
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> list[tuple[int, Number]]:
    """Choose a diverse subset of k models: start with one, add the farthest from those chosen.

    The least distance among the chosen models is at least half of the best possible
    (Gonzalez 1985). Returns their places, each with its distance to the nearest one chosen before.

    >>> farthest_first(["six", "six-guess", "six-graph"], 2)
    [(0, 0), (2, 80)]
    """
    everything = listed_models("models", models)
    n = len(everything)
    if not 1 <= k <= n:
        raise ContextwiseError(f"k must be between 1 and the number of models ({n}), got {k}")
    if not 0 <= first < n:
        raise ContextwiseError(f"first must be between 0 and {n - 1}, got {first}")
    question = pose(everything, **restriction)
    chosen: dict[int, Number] = {first: 0}
    least: dict[int, Number] = {}
    last, done, total = first, 0, sum(n - step for step in range(1, k))
    with Effort(show_progress=show_progress).showing("comparing models") as effort:
        while len(chosen) < k:
            others = [place for place in range(n) if place not in chosen]
            part = effort.part(done, len(others), total)
            places = (last, *others)
            row = count_block(Block(question.about(*places), 1, places), part).lower
            least = {m: min(least.get(m, d), d) for m, d in zip(others, row, strict=True)}
            last = max(others, key=least.__getitem__)  # the first of models equally far away
            chosen[last] = least[last]
            done += len(others)
    return list(chosen.items())


class Comparisons(Shown, list[Comparison]):
    """The comparisons of several guesses with one true model, in a list."""

    def __init__(self, comparisons: Iterable[Comparison], names: Sequence[str]) -> None:
        super().__init__(comparisons)
        self.names = tuple(names)

    def records(self) -> list[dict[str, Any]]:
        """Return one flat mapping per guess."""
        return [
            {"guess": name, **comparison_record(comparison)}
            for name, comparison in zip(self.names, self, strict=True)
        ]

    def __repr__(self) -> str:
        distances = ", ".join("open" if c.open_pairs else digits(c.distance) for c in self)
        return f"Comparisons({len(self)} guesses, distances {distances})"


def _compare_unit(
    unit: tuple[Sequence[int], Question], effort: Effort, engine: str
) -> list[Comparison]:
    places, question = unit
    return [compare_two(question.about(0, k + 1), effort, engine) for k in range(len(places))]


def _parts(places: Sequence[int], size: int) -> list[Sequence[int]]:
    return [places[at : at + size] for at in range(0, len(places), size)]


def _prepare(
    models: Sequence[ModelLike], names: Sequence[str] | None, options: ManyOptions
) -> tuple[Question, str, Effort]:
    """Pose the question about many models; also return the engine and the effort."""
    restriction: Any = dict(options)
    engine = restriction.pop("engine", DEFAULT)
    how = ("time_limit", "n_jobs", "cluster", "show_progress")
    effort = Effort.of(**{key: restriction.pop(key) for key in how if key in restriction})
    question = pose(models, names=names, **restriction)
    get_engine(engine)  # raises if it is not available
    return question, engine, effort


def label_models(
    models: Iterable[ModelLike] | Mapping[str, ModelLike], names: Iterable[str] | None
) -> tuple[list[ModelLike], tuple[str, ...]]:
    """Return the models and their names: those given, the keys, the paths, or the places."""
    chosen = listed_models("models", models)
    names = models if names is None and isinstance(models, Mapping) else names
    labels = tuple(map(_name, range(len(chosen)), chosen) if names is None else names)
    if len(labels) != len(chosen):
        raise ContextwiseError(f"{len(chosen)} models need as many names, got {len(labels)}")
    return chosen, labels


def _name(place: int, model: ModelLike) -> str:
    return os.fspath(model) if isinstance(model, str | os.PathLike) else str(place)
