"""Which models are nearest, which are most different, and which is the most typical: exactly.

A search does not need every distance. A comparison is skipped only if a **proven bound** says that
it cannot change the answer:

- for each pair the two models disagree at least in ``|a - b|`` contexts, where a and b are the
  numbers of contexts in which each has the dependence; these are counted once per model, so the sum
  over pairs bounds the distance from below;
- the triangle inequality, where distances among the models are known already.

Sketches only decide in which order models are looked at, so that near ones come first and the
bounds bite early; they never decide what is skipped. A model's own counts cost a third of a
comparison: if they would not even skip models that seem far away, none are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Unpack

import numpy as np

from contextwise.comparison.compare import answer
from contextwise.comparison.confusion import Number
from contextwise.comparison.many import (
    DistanceMatrix,
    ManyOptions,
    compare_many,
    distance_matrix,
)
from contextwise.comparison.question import Restriction, pose
from contextwise.comparison.sketch import draw_assertions
from contextwise.counting import ObjectArray
from contextwise.counting.assertions import answers, differing
from contextwise.errors import ContextwiseError
from contextwise.execution.progress import Progress, progress_of
from contextwise.formats import ModelLike
from contextwise.models.features import IntArray
from contextwise.models.structure import Structure

ORDERING = 2**14
"""How many assertions the sketches have that order the models."""


@dataclass(frozen=True)
class Neighbours:
    """The models that are nearest to a query, nearest first.

    Attributes
    ----------
    places : of the models, as they were given
    distances : exact, in the same order
    compared : how many exact comparisons it took
    of : how many models there were
    total : the number of assertions, the largest distance there can be
    """

    places: tuple[int, ...]
    distances: tuple[Number, ...]
    compared: int
    of: int
    total: Number


def nearest(
    query: ModelLike,
    models: Iterable[ModelLike],
    k: int = 1,
    *,
    matrix: DistanceMatrix | None = None,
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> Neighbours:
    """The ``k`` models that are nearest to a query, with their exact distances.

    Parameters
    ----------
    query : model, path of a model file, or name of a bundled example
    models : the same, among which is searched
    k : int
        How many; of models at equal distance the first stays.
    matrix : DistanceMatrix, optional
        The distances of the models to each other, with the same restriction: the triangle
        inequality then saves comparisons.
    show_progress : bool or function
        A line on standard error, or a function of (models done, models in all).
    **restriction
        What is compared, with the keywords of `compare`.

    Returns
    -------
    Neighbours

    Raises
    ------
    ContextwiseError
        If there are no models, or ``k`` is not between 1 and their number.

    Examples
    --------
    >>> nearest("six", ["six-graph", "six-guess"])
    Neighbours(places=(1,), distances=(16,), compared=1, of=2, total=240)
    """
    given = list(models)
    if not given:
        raise ContextwiseError("there is no model to search among; give at least one")
    if not 1 <= k <= len(given):
        raise ContextwiseError(f"k is between 1 and the number of models, {len(given)}, not {k}")
    if matrix is not None and len(matrix.names) != len(given):
        raise ContextwiseError(
            f"the matrix is of {len(matrix.names)} models, and there are {len(given)}"
        )
    search = _Search([query, *given], restriction)
    best: list[tuple[Number, int]] = []
    known: dict[int, Number] = {}
    order = search.order()
    with progress_of(show_progress, "searching models") as progress:
        for done, place in enumerate(order, 1):
            limit = best[k - 1] if len(best) == k else None
            if limit is not None and done == k + 1:
                search.probe(order[k:], limit)
            bound = max(search.bound(place), _triangle(matrix, known, place))
            if limit is None or (bound, place) < limit:
                known[place] = search.distance(place)
                best = sorted([*best, (known[place], place)])[:k]
            if progress:
                progress(done, len(given))
    distances, places = zip(*best, strict=True)
    total = search.question.total()
    return Neighbours(tuple(places), tuple(distances), len(known), len(given), total)


def _triangle(matrix: DistanceMatrix | None, known: dict[int, Number], place: int) -> Number:
    """What the distances of others to the query and to this model prove of this model's."""
    if matrix is None or not known:
        return 0
    bounds: list[Number] = [
        abs(apart - matrix.distances[other, place]) for other, apart in known.items()
    ]
    return max(bounds)


class _Search:
    """A query and the models that are searched, over one domain, with what bounds need."""

    def __init__(self, models: Sequence[ModelLike], restriction: Restriction) -> None:
        self.question = pose(models, **restriction)
        self._counts: dict[int, ObjectArray] = {}
        self._bounds_pay = False

    @cached_property
    def _codes(self) -> IntArray:
        """The pairs that some model covers, as numbers that rise."""
        return self.question.active_pairs() @ (len(self.question.domain), 1)

    def _own_counts(self, place: int) -> ObjectArray:
        """In how many contexts each pair depends in one model; the query's place is 0."""
        if place not in self._counts:
            two = self.question.structures[place], Structure(self.question.domain)
            own = answer(replace(self.question, structures=two))
            counts = np.zeros(len(self._codes), dtype=object)
            where = np.searchsorted(self._codes, own.pairs @ (len(self.question.domain), 1))
            counts[where] = own.unions.lower[:, 0]
            self._counts[place] = counts
        return self._counts[place]

    def probe(self, left: Sequence[int], limit: tuple[Number, int]) -> None:
        """Find out on a few of the models that are left whether bounds would skip any."""
        some = {left[-1], left[len(left) * 3 // 4], left[len(left) // 2]}
        self._bounds_pay = any((self._bound(place), place) >= limit for place in some)

    def order(self) -> list[int]:
        """The places of the models, those that seem nearest first."""
        sample = draw_assertions(self.question, ORDERING)
        bits = np.stack([answers(s.features, sample) for s in self.question.structures])
        order: list[int] = np.argsort(differing(bits[:1], bits[1:])[0], kind="stable").tolist()
        return order

    def bound(self, place: int) -> Number:
        """Proven from below, if bounds pay."""
        return self._bound(place) if self._bounds_pay else 0

    def _bound(self, place: int) -> Number:
        """The sum over pairs of how differently often they depend."""
        apart: Number = np.abs(self._own_counts(0) - self._own_counts(place + 1)).sum()
        return apart

    def distance(self, place: int) -> Number:
        """The exact distance of the query and one model."""
        return answer(self.question.about(0, place + 1)).distance


@dataclass(frozen=True)
class Diverse:
    """Models that are far from each other, in the order in which they were chosen.

    Attributes
    ----------
    places : of the models, as they were given
    distances : of each to the nearest of those before it; the first has none before it, and 0
    compared : how many exact comparisons it took
    """

    places: tuple[int, ...]
    distances: tuple[Number, ...]
    compared: int


def farthest_first(
    models: Iterable[ModelLike],
    k: int,
    *,
    first: int = 0,
    **options: Unpack[ManyOptions],
) -> Diverse:
    """A diverse subset: begin with one model, then always take the one farthest from those taken.

    The least distance among the chosen is at least half of what any ``k`` of the models could have
    (Gonzalez 1985).

    Parameters
    ----------
    models : models, paths of model files, or names of bundled examples
    k : int
        How many.
    first : int
        The place of the model to begin with.
    **options
        What is compared and how it is counted, with the keywords of `distance_matrix`.

    Returns
    -------
    Diverse

    Raises
    ------
    ContextwiseError
        If ``k`` is not between 1 and the number of models, or there is no such first model.

    Examples
    --------
    >>> farthest_first(["six", "six-guess", "six-graph"], 2)
    Diverse(places=(0, 2), distances=(0, 80), compared=2)
    """
    given = list(models)
    if not 1 <= k <= len(given):
        raise ContextwiseError(f"k is between 1 and the number of models, {len(given)}, not {k}")
    if not 0 <= first < len(given):
        raise ContextwiseError(f"first is the place of a model, 0 to {len(given) - 1}, not {first}")
    chosen: list[int] = [first]
    apart: list[Number] = [0]
    least: dict[int, Number] = {}
    compared = 0
    while len(chosen) < k:
        others = [place for place in range(len(given)) if place not in chosen]
        found = compare_many(given[chosen[-1]], [given[place] for place in others], **options)
        compared += len(others)
        for place, comparison in zip(others, found, strict=True):
            least[place] = min(least.get(place, comparison.distance), comparison.distance)
        farthest = max(others, key=lambda place: (least[place], -place))
        chosen.append(farthest)
        apart.append(least[farthest])
    return Diverse(tuple(chosen), tuple(apart), compared)


def medoid(models: Iterable[ModelLike], **options: Unpack[ManyOptions]) -> int:
    """The place of the model with the least sum of distances to the others: the most typical one.

    Parameters
    ----------
    models : models, paths of model files, or names of bundled examples
    **options
        What is compared and how it is counted, with the keywords of `distance_matrix`.

    Returns
    -------
    int
        The first of them, if several have the least sum.

    Examples
    --------
    >>> medoid(["six-graph", "six", "six-guess"])
    1
    """
    return distance_matrix(models, **options).medoid
