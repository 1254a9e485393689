"""The unions of many models, counted: each distinct one once, here, on processes or on a cluster.

`contextwise.counting.joins` finds the distinct unions and puts them into tasks; this runs the tasks
and puts their counts together again, for `contextwise.comparison.many` to read distances and
comparisons off.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np

from contextwise.comparison.comparison import distance_bounds
from contextwise.comparison.confusion import Number
from contextwise.comparison.question import Question, deadline_of
from contextwise.counting import DEFAULT, ObjectArray, PairCounts, get_engine
from contextwise.counting.extraction import contexts_of_pairs
from contextwise.counting.joins import Counted, Join, Plan, Task, count_task, plan
from contextwise.counting.pair_counts import count_rows, tighten
from contextwise.errors import ContextwiseError
from contextwise.execution.maps import Map, choose_map
from contextwise.execution.progress import Progress, progress_of
from contextwise.models.features import IntArray, no_features


@dataclass(frozen=True)
class Unions:
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
            apart = self._distance(m, k)
            return apart, apart
        _, counts = self.of_pairs(m, k)
        return distance_bounds(counts)

    def _distance(self, m: int, k: int) -> Number:
        """The distance of two models, over the pairs on which they differ."""
        unions = self.plan.unions
        pairs = np.flatnonzero(unions[m,] != unions[k,])
        a, b, u = (self.lower[unions[join][pairs]] for join in ((m,), (k,), (m, k)))
        apart = 2 * u - a - b
        found: Number = (apart if self.whole is None else apart / self.whole[pairs]).sum()
        return found

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


def count_joins(
    question: Question,
    two: Iterable[tuple[int, int]],
    *,
    engine: str = DEFAULT,
    time_limit: float | None = None,
    n_jobs: int = 1,
    cluster: Any = None,
    threads: int | None = None,
    show_progress: bool | Progress = False,
) -> Unions:
    """Count the unions that say how far some two models are apart, wherever the tasks are to run.

    Parameters
    ----------
    question : Question
        The models, and what is asked of them.
    two : places of two models each
        Those that are set against each other.
    engine, time_limit, n_jobs, cluster, show_progress
        As in `contextwise.comparison.many.distance_matrix`.
    threads : int, optional
        How many count, if they count here; by default all cores.

    Returns
    -------
    Unions
        Of each model alone, and of these two together.
    """
    deadline_of(time_limit)  # a limit that is none is an error now
    ends = None if time_limit is None else time.time() + time_limit
    map_tasks = choose_map(n_jobs=n_jobs, cluster=cluster)
    threads = threads if n_jobs == 1 and cluster is None else 1
    get_engine(engine).count_pairs  # noqa: B018  (an engine that cannot be used is an error now)
    weights, features = question.value_weights, [s.features for s in question.structures]
    joins: list[Join] = [*((m,) for m in range(len(features))), *two]
    if question.rows is not None:
        return _observed(question, question.rows, joins)
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
    return Unions(
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


def _observed(question: Question, rows: IntArray, joins: Iterable[Join]) -> Unions:
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
    return Unions(Plan(pairs, unions, ()), every, every, ["", *["rows"] * last], None)
