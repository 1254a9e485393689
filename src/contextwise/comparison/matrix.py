"""The distances of many models: a symmetric matrix of exact numbers, or of bounds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from hashlib import blake2b
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, cast, overload

import numpy as np
import numpy.typing as npt

from contextwise.comparison.compare import Comparison, answer
from contextwise.comparison.confusion import Number, ZeroDivision, ratio
from contextwise.comparison.question import Question, Restriction, pose
from contextwise.counting import DEFAULT, ObjectArray, get_engine
from contextwise.counting.distances import Two, count_distances, two_models
from contextwise.errors import ContextwiseError, OpenResult, require
from contextwise.formats import ModelLike
from contextwise.models.features import IntArray
from contextwise.support.deadline import Deadline
from contextwise.support.formatting import number
from contextwise.support.maps import Map, choose_map
from contextwise.support.progress import Progress, part_of, progress_of
from contextwise.support.showing import Shown

if TYPE_CHECKING:
    import numpy as np
    import pandas

    from contextwise.comparison.sketch import EstimatedMatrix

__all__ = ["DistanceMatrix", "compare_many", "distance_matrix"]


@dataclass(frozen=True, eq=False)
class DistanceMatrix(Shown):
    """The distance of each two models, exact: symmetric, with zeros on the diagonal.

    Attributes
    ----------
    names : of the models, in the order of rows and columns
    lower, upper : object arrays of exact numbers, one row and one column per model
        The distances. Where a time limit left some open, they lie between the two.
    total : the number of assertions, the largest distance there can be
    rests_on_ganak : whether the model counter Ganak had to do with it; see `Comparison`
    by_position : whether the models were aligned by position instead of by names

    Examples
    --------
    >>> from contextwise import distance_matrix
    >>> found = distance_matrix(["six", "six-guess", "six-graph"])
    >>> found.distances[0].tolist(), found.medoid
    ([0, 16, 80], 0)
    """

    names: tuple[str, ...]
    lower: ObjectArray
    upper: ObjectArray
    total: Number
    rests_on_ganak: bool = False
    by_position: bool = False

    @property
    def open(self) -> int:
        """How many of the distances are not known exactly."""
        return int((self.lower != self.upper).sum()) // 2

    @property
    def distances(self) -> ObjectArray:
        """The exact distances; `OpenResult` if a time limit left some open."""
        if self.open:
            each = len(self.names) * (len(self.names) - 1) // 2
            raise OpenResult(
                f"{self.open} of {each} distances are open: they lie between lower and upper; "
                "allow more time to know them"
            )
        return self.lower

    @property
    def medoid(self) -> int:
        """The place of the model with the least sum of distances, the first of several."""
        sums: list[Number] = self.distances.sum(axis=1).tolist()
        return sums.index(min(sums))

    def submatrix(self, places: Sequence[int]) -> DistanceMatrix:
        """The distances of some of the models, by their places."""
        cells = np.ix_(places, places)
        names = tuple(self.names[place] for place in places)
        return replace(self, names=names, lower=self.lower[cells], upper=self.upper[cells])

    @cached_property
    def normalized(self) -> npt.NDArray[np.float64]:
        """The distances over the number of assertions, in [0, 1]."""
        return self.shares(self.distances)

    def shares(self, distances: ObjectArray) -> npt.NDArray[np.float64]:
        """Distances over the number of assertions, in [0, 1]."""
        total = self.total or 1  # without assertions every distance is 0
        shares = [[ratio(d, total) for d in row] for row in distances.tolist()]
        return np.array(shares, dtype=np.float64)

    def as_floats(self) -> npt.NDArray[np.float64]:
        """The distances as floats, for SciPy's ``squareform`` and scikit-learn's metrics.

        They are rounded beyond 2**53, and beyond 10**308 only `normalized` has floats.
        """
        try:
            return self.distances.astype(np.float64)
        except OverflowError:
            raise ContextwiseError(
                "these distances are too large for floats; use normalized"
            ) from None

    def to_frame(self, *, normalized: bool = False) -> pandas.DataFrame:
        """The distances as a pandas DataFrame (``pip install contextwise[frames]``).

        Parameters
        ----------
        normalized : whether to give shares of all assertions, as floats, instead of exact ints

        Returns
        -------
        pandas.DataFrame
            One row and one column per model, under their names.
        """
        cells = self.normalized if normalized else self.distances
        frame: pandas.DataFrame = require("pandas", "frames").DataFrame(
            cells, index=list(self.names), columns=list(self.names)
        )
        return frame

    def __repr__(self) -> str:
        return f"DistanceMatrix({len(self.names)} models, total={number(self.total)})"


# -- A matrix in blocks: memory is that of one block.


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
    """How models are compared: by which engine, on how many threads, and until when."""

    engine: str
    threads: int | None
    deadline: Deadline

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
    """Count a matrix block by block."""
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
    """The distances of the first of some models to each of the others."""
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
    """Count one block. Bounds and observed rows are counted two models at a time."""
    question, two = block.question, block.two
    if question.rows is None and counting.deadline.left() is None:
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
    """How comparisons are counted, and where; what cannot be is an error now."""
    deadline = Deadline.after(time_limit)
    get_engine(engine).count_pairs  # noqa: B018  (an engine that cannot be used)
    threads = None if n_jobs == 1 and cluster is None else 1
    return Counting(engine, threads, deadline), choose_map(n_jobs=n_jobs, cluster=cluster)


def compare_two(question: Question, counting: Counting) -> Comparison:
    """Compare the two models of a question, the true one first; Ctrl-C ends it."""
    comparison = answer(
        question, engine=counting.engine, deadline=counting.deadline, threads=counting.threads
    )
    if comparison.interrupted:
        raise KeyboardInterrupt
    return comparison


def assemble(
    question: Question, names: tuple[str, ...], blocks: Iterable[Distances]
) -> DistanceMatrix:
    """Put blocks together that make up the upper triangle."""
    lower = np.zeros((len(names), len(names)), dtype=object)
    upper = lower.copy()
    rests_on_ganak = False
    for block in blocks:
        rests_on_ganak = rests_on_ganak or block.rests_on_ganak
        for (m, k), low, high in zip(block.two, block.lower, block.upper, strict=True):
            lower[m, k] = lower[k, m] = low
            upper[m, k] = upper[k, m] = high
    by_position = question.align == "position"
    return DistanceMatrix(names, lower, upper, question.total, rests_on_ganak, by_position)


# -- A matrix whose blocks are kept: a run that was stopped or killed goes on where it was.


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
    """Count the blocks that a store lacks, and put all of them together."""
    from contextwise.support.store import Store, Unit, run_units  # loads sqlite3

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


# -- Many models at once: a true one against several guesses, or each against each.


class Effort(TypedDict, total=False):
    """How many models are counted: `distance_matrix` explains each keyword."""

    engine: str
    time_limit: float | None
    n_jobs: int
    cluster: Any
    show_progress: bool | Progress


class ManyOptions(Restriction, Effort, total=False):
    """All keywords that comparisons of many models share."""


@overload
def distance_matrix(  # type: ignore[overload-overlap]  # False is an int, too
    models: Iterable[ModelLike],
    *,
    names: Iterable[str] | None = None,
    approximate: Literal[False] = False,
    rng: int | np.random.Generator = 0,
    store: str | os.PathLike[str] | None = None,
    **options: Unpack[ManyOptions],
) -> DistanceMatrix: ...


@overload
def distance_matrix(
    models: Iterable[ModelLike],
    *,
    names: Iterable[str] | None = None,
    approximate: int,
    rng: int | np.random.Generator = 0,
    store: str | os.PathLike[str] | None = None,
    **options: Unpack[ManyOptions],
) -> EstimatedMatrix: ...


def distance_matrix(
    models: Iterable[ModelLike],
    *,
    names: Iterable[str] | None = None,
    approximate: int = False,
    rng: int | np.random.Generator = 0,
    store: str | os.PathLike[str] | None = None,
    **options: Unpack[ManyOptions],
) -> DistanceMatrix | EstimatedMatrix:
    """The distance of each two of some models, exactly; or an estimate of it, for very many.

    Parameters
    ----------
    models : models, paths of model files, or names of bundled examples
    names : one for each model, optional
        Without them a path is its own name, and a model is named by its place.
    approximate : bool or int
        Estimate the distances from the answers of all models to so many random assertions; True
        means 2^18 of them. Then only ``show_progress`` says how it is counted.
    rng : seed or numpy.random.Generator
        With ``approximate``: the same seed gives the same assertions.
    store : path of a folder, optional
        Count in blocks of models, and keep each block there as it ends: the same call goes on
        where a run was stopped or killed. For many hundreds of models.
    **options
        What is compared, with the keywords of `compare` (pairs, variables, context, data, weights,
        contexts, align, zero_weights), and how it is counted:

        engine : name of an engine
            One of those that ``contextwise engines`` lists.
        time_limit : seconds
            Distances that are not known by then have proven bounds.
        n_jobs : int
            How many processes; 1 counts here, on all cores where the engine can, -1 means one
            process per core.
        cluster : address of a Dask scheduler, or a Dask client
            Goes before ``n_jobs``.
        show_progress : bool or function
            A line on standard error, or a function of (comparisons done, comparisons in all).

    Returns
    -------
    DistanceMatrix, or EstimatedMatrix

    Raises
    ------
    ContextwiseError
        If there are more or fewer names than models; if an estimate is to be counted by an engine,
        on processes or in limited time; or if a store holds the matrix of other models.

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

    >>> matrix = distance_matrix(["six", "six-guess", "six-graph"], approximate=10_000)
    >>> matrix.normalized[0].round(2), round(matrix.widest(), 2)
    (array([0.  , 0.06, 0.33]), 0.01)
    """
    given = list(models)
    labels = tuple(map(_name, range(len(given)), given) if names is None else names)
    if len(labels) != len(given):
        raise ContextwiseError(f"{len(given)} models need as many names, not {len(labels)}")
    if approximate is not False:
        if store is not None:
            raise ContextwiseError("an estimate is quick, and is not stored")
        return _estimate(given, labels, approximate, rng, options)
    question, effort = pose_many(given, None if names is None else labels, options)
    if store is not None:
        from contextwise.comparison.matrix import count_stored  # it loads a database

        return count_stored(question, labels, store, **effort)
    return count_matrix(question, labels, **effort)


def _estimate(
    models: Sequence[ModelLike],
    names: Sequence[str],
    approximate: int,
    rng: int | np.random.Generator,
    options: ManyOptions,
) -> EstimatedMatrix:
    from contextwise.comparison.sketch import ASSERTIONS, estimate_matrix, sketch_many

    assertions = ASSERTIONS if approximate is True else approximate
    asked = {key: value for key, value in options.items() if key not in Effort.__annotations__}
    progress = options.get("show_progress", False)
    if given := sorted({*options} - {*asked} - {"show_progress"}):
        raise ContextwiseError(f"an estimate is not counted: {', '.join(given)} cannot be chosen")
    sketches = sketch_many(
        models, assertions=assertions, rng=rng, show_progress=progress, **cast(Restriction, asked)
    )
    found = estimate_matrix(sketches, names=names, show_progress=progress)
    return replace(found, by_position=asked.get("align") == "position")


def compare_many(
    true: ModelLike,
    guesses: Iterable[ModelLike],
    *,
    zero_division: ZeroDivision = "warn",
    **options: Unpack[ManyOptions],
) -> list[Comparison]:
    """Compare several guesses with one true model: the same as `compare` for each, counted at once.

    Parameters
    ----------
    true : model, path of a model file, or name of a bundled example
    guesses : the same, one or more
    zero_division : number or "warn"
        What a rate that would divide by zero is.
    **options
        Those of `distance_matrix`.

    Returns
    -------
    list of Comparison

    Examples
    --------
    >>> from contextwise import Structure
    >>> true = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=1"])
    >>> guesses = [Structure(true.domain, [text]) for text in ("A=1 & B=1", "B=1 & C=1")]
    >>> [comparison.distance for comparison in compare_many(true, guesses)]
    [3, 3]
    """
    question, effort = pose_many([true, *guesses], None, options)
    counting, map_units = counting_of(**effort)
    units = [(g, question.about(0, g)) for g in range(1, len(question.structures))]
    found: dict[int, Comparison] = {}
    with progress_of(effort.get("show_progress", False), "comparing models") as progress:
        for unit in map_units(partial(_compare_unit, counting=counting), units):
            if unit.value is None:
                raise ContextwiseError(f"counting failed {unit.tries} times: {unit.error}")
            place, about = unit.item
            found[place] = replace(unit.value, question=about, zero_division=zero_division)
            if progress:
                progress(len(found), len(units))
    return [found[place] for place, _ in units]


def _compare_unit(unit: tuple[int, Question], counting: Counting) -> Comparison:
    return compare_two(unit[1], counting)


def pose_many(
    models: Sequence[ModelLike], names: Sequence[str] | None, options: ManyOptions
) -> tuple[Question, Effort]:
    """What is asked of many models, and how it is to be counted."""
    effort = {key: value for key, value in options.items() if key in Effort.__annotations__}
    asked = {key: value for key, value in options.items() if key not in effort}
    return pose(models, names=names, **cast(Restriction, asked)), cast(Effort, effort)


def _name(place: int, model: ModelLike) -> str:
    return os.fspath(model) if isinstance(model, str | os.PathLike) else str(place)
