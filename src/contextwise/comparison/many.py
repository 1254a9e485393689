"""Many models at once: a true one against several guesses, or each against each.

With dep(F) the number of dependencies that features F assert, over all pairs and contexts, the
distance of two models is 2 · dep(F ∪ G) - dep(F) - dep(G). A matrix of M models thus needs the M
models' own counts, made once, and one union for each two of them; equal unions, of whatever
models, are counted once (`contextwise.counting.joins`). The tasks run here, over processes, or on a
cluster (`contextwise.execution.maps`), with the same results.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations
from typing import Any, Literal, TypedDict, Unpack, cast, overload

import numpy as np

from contextwise.comparison.comparison import Comparison, distance_bounds
from contextwise.comparison.confusion import Number, ZeroDivision
from contextwise.comparison.matrix import DistanceMatrix
from contextwise.comparison.question import Question, Restriction, deadline_of, pose
from contextwise.comparison.sketch import (
    ASSERTIONS,
    EstimatedMatrix,
    estimate_matrix,
    sketch_many,
)
from contextwise.counting import DEFAULT, ObjectArray, PairCounts, get_engine
from contextwise.counting.extraction import contexts_of_pairs
from contextwise.counting.joins import Counted, Join, Plan, Task, count_task, plan
from contextwise.counting.pair_counts import count_rows, tighten
from contextwise.errors import ContextwiseError
from contextwise.execution.maps import Map, choose_map
from contextwise.execution.progress import Progress, progress_of
from contextwise.formats import ModelLike
from contextwise.models.features import IntArray, no_features

__all__ = ["DistanceMatrix", "compare_many", "distance_matrix"]


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
    **options: Unpack[ManyOptions],
) -> DistanceMatrix: ...


@overload
def distance_matrix(
    models: Iterable[ModelLike],
    *,
    names: Iterable[str] | None = None,
    approximate: int,
    rng: int | np.random.Generator = 0,
    **options: Unpack[ManyOptions],
) -> EstimatedMatrix: ...


def distance_matrix(
    models: Iterable[ModelLike],
    *,
    names: Iterable[str] | None = None,
    approximate: int = False,
    rng: int | np.random.Generator = 0,
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
            A line on standard error, or a function of (unions counted, unions in all).

    Returns
    -------
    DistanceMatrix, or EstimatedMatrix

    Raises
    ------
    ContextwiseError
        If there are more or fewer names than models, or an estimate is to be counted by an engine,
        on processes or in limited time.

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
        count = ASSERTIONS if approximate is True else approximate
        return _estimate(given, labels, count, rng, options)
    question, unions = _count(given, _each_two, None if names is None else labels, **options)
    lower = np.zeros((len(given), len(given)), dtype=object)
    upper = lower.copy()
    for m, k in _each_two(len(given)):
        low, high = unions.distance_bounds(m, k)
        lower[m, k] = lower[k, m] = low
        upper[m, k] = upper[k, m] = high
    return DistanceMatrix(
        labels,
        lower,
        upper,
        question.total(),
        rests_on_ganak="ganak" in unions.engines,
        by_position=question.align == "position",
    )


def _estimate(
    models: Sequence[ModelLike],
    names: Sequence[str],
    assertions: int,
    rng: int | np.random.Generator,
    options: ManyOptions,
) -> EstimatedMatrix:
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
        As equal unions are counted once, a union that was counted together with some of Ganak's is
        one of Ganak's in ``counted``.

    Examples
    --------
    >>> from contextwise import Structure
    >>> true = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=1"])
    >>> guesses = [Structure(true.domain, [text]) for text in ("A=1 & B=1", "B=1 & C=1")]
    >>> [comparison.distance for comparison in compare_many(true, guesses)]
    [3, 3]
    """
    engine = options.get("engine", DEFAULT)
    question, unions = _count([true, *guesses], _first_with_each, None, **options)
    comparisons = []
    for _, g in _first_with_each(len(question.structures)):
        pairs, counts = unions.of_pairs(0, g)
        about = question.about(0, g)
        comparisons.append(Comparison(about, pairs, counts, engine, zero_division))
    return comparisons


def _each_two(models: int) -> list[tuple[int, int]]:
    return list(combinations(range(models), 2))


def _first_with_each(models: int) -> list[tuple[int, int]]:
    return [(0, guess) for guess in range(1, models)]


@dataclass(frozen=True)
class _Unions:
    """The distinct unions of a plan, counted; each with the engine that had to do with it.

    ``whole`` is what the contexts of each pair of the plan count, if they have weights.
    """

    plan: Plan
    lower: ObjectArray
    upper: ObjectArray
    engines: Sequence[str]
    whole: ObjectArray | None

    @cached_property
    def exact(self) -> bool:
        """Whether every union is finished."""
        return bool((self.lower == self.upper).all())

    def distance_bounds(self, m: int, k: int) -> tuple[Number, Number]:
        """Between which numbers the distance of two models lies."""
        if self.exact:
            apart = 2 * self._sum((m, k)) - self._sum((m,)) - self._sum((k,))
            return apart, apart
        _, counts = self.of_pairs(m, k)
        return distance_bounds(counts)

    def _sum(self, join: Join) -> Number:
        """The dependencies of a join, over all pairs."""
        if join not in self._sums:
            sizes = self.lower[self.plan.unions[join]]
            self._sums[join] = (sizes if self.whole is None else sizes / self.whole).sum()
        return self._sums[join]

    @cached_property
    def _sums(self) -> dict[Join, Number]:
        return {}

    def of_pairs(self, m: int, k: int) -> tuple[IntArray, PairCounts]:
        """The pairs that two models cover, and the sizes of the three unions of each."""
        joins: list[Join] = [(m,), (k,), (m, k)]
        active = self.plan.unions[m, k] > 0
        which = np.stack([self.plan.unions[join][active] for join in joins], axis=1)
        counted = Counter(self.engines[union] for union in which.ravel().tolist() if union)
        lower = upper = self.lower[which]
        if not self.exact:
            lower, upper = tighten(lower, self.upper[which])
        counts = PairCounts(lower, upper, counted)
        if self.whole is not None:
            counts = counts.shares_of(self.whole[active].tolist())
        return self.plan.pairs[active], counts


def _count(
    models: Sequence[ModelLike],
    which: Callable[[int], list[tuple[int, int]]],
    names: Sequence[str] | None,
    *,
    engine: str = DEFAULT,
    time_limit: float | None = None,
    n_jobs: int = 1,
    cluster: Any = None,
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> tuple[Question, _Unions]:
    """Count the unions that say how far some two models are apart, wherever the tasks are to run.

    ``which`` gives the places of these models, from the number of all.
    """
    deadline_of(time_limit)  # a limit that is none is an error now
    ends = None if time_limit is None else time.time() + time_limit
    map_tasks = choose_map(n_jobs=n_jobs, cluster=cluster)
    threads = None if n_jobs == 1 and cluster is None else 1
    get_engine(engine).count_pairs  # noqa: B018  (an engine that cannot be used is an error now)
    question = pose(models, names=names, **restriction)
    weights, features = question.value_weights, [s.features for s in question.structures]
    joins: list[Join] = [*((m,) for m in range(len(features))), *which(len(features))]
    if question.rows is not None:
        return question, _observed(question, question.rows, joins)
    found = plan(
        features,
        joins,
        canonical=question.canonical,
        pairs=question.asked,
        value_weights=weights,
    )
    work = partial(
        _work,
        engine=engine,
        canonical=question.canonical,
        threads=threads,
        value_weights=weights,
        ends=ends,
    )
    counted = _run(found.tasks, map_tasks, work, show_progress)
    whole = None
    if weights is not None:
        of_pairs = contexts_of_pairs(list(map(sum, weights)), found.pairs, question.canonical)
        whole = np.array([Fraction(size) for size in of_pairs], dtype=object)
    return question, _Unions(
        found,
        np.concatenate([np.array([0], dtype=object), *(c.lower for c in counted)]),
        np.concatenate([np.array([0], dtype=object), *(c.upper for c in counted)]),
        ["", *(c.engine for c in counted for _ in c.lower)],
        whole,
    )


def _run(
    tasks: Sequence[Task],
    map_tasks: Map,
    work: Callable[[tuple[int, Task]], Counted],
    show_progress: bool | Progress,
) -> list[Counted]:
    """The counts of the tasks, in their order."""
    results: dict[int, Counted] = {}
    done, total = 0, sum(len(task.pairs) for task in tasks)
    with progress_of(show_progress, "counting unions") as progress:
        for unit in map_tasks(work, enumerate(tasks)):
            if unit.value is None:
                raise ContextwiseError(f"counting failed {unit.tries} times: {unit.error}")
            place, task = unit.item
            results[place] = unit.value
            done += len(task.pairs)
            if progress:
                progress(done, total)
    return [results[place] for place in range(len(tasks))]


def _work(numbered: tuple[int, Task], **options: Any) -> Counted:
    return count_task(numbered[1], **options)


def _observed(question: Question, rows: IntArray, joins: Iterable[Join]) -> _Unions:
    """The unions over observed rows: the first one is the empty one, as in every plan."""
    pairs = question.active_pairs()
    features = [structure.features for structure in question.structures]
    nothing = no_features(question.domain.cardinalities)
    unions, sizes, last = {}, [np.array([0], dtype=object)], 0
    for join in joins:
        first, second = features[join[0]], features[join[-1]] if len(join) > 1 else nothing
        counts = count_rows(first, second, pairs, rows, canonical=question.canonical)
        sizes.append(counts.lower[:, 2])
        unions[join] = np.arange(last + 1, last + 1 + len(pairs))
        last += len(pairs)
    every = np.concatenate(sizes)
    return _Unions(Plan(pairs, unions, ()), every, every, ["", *["rows"] * last], None)


def _name(place: int, model: ModelLike) -> str:
    return os.fspath(model) if isinstance(model, str | os.PathLike) else str(place)
