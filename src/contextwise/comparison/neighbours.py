"""Which models are nearest, which are most different, and which is the most typical: exactly.

The distances of one model to many others are counted together, pair by pair
(`contextwise.counting.distances`): that costs a fraction of as many comparisons.

A search for the nearest need not count all of them to the end. A model is given up only if a
**proven bound** says that it cannot change the answer:

- a distance is a sum over pairs, so that over some of the pairs bounds it from below, and none of
  the work for it is lost;
- the triangle inequality, where distances among the models are known already.

So a few pairs are counted first, of all models. Those that may be among the nearest are then
counted to the end. Of the others as many pairs are counted as it takes until their bounds rule them
out. Where the first pairs say nothing, all models are counted to the end at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from contextwise.comparison.confusion import Number
from contextwise.comparison.matrix import (
    Block,
    DistanceMatrix,
    ManyOptions,
    count_block,
    count_row,
    counting_of,
    distance_matrix,
    pose_many,
)
from contextwise.comparison.question import Question, Restriction, pose
from contextwise.errors import ContextwiseError
from contextwise.formats import ModelLike
from contextwise.support.progress import Progress, part_of, progress_of

__all__ = ["Diverse", "Neighbours", "farthest_first", "medoid", "nearest"]

FIRST = 32
"""How many pairs are counted first."""
ENOUGH = 4 * FIRST
"""With fewer pairs, counting them all takes no longer than counting some first."""
FAR = 2
"""Who is so many times as far as the k-th on the first pairs may be ruled out before the end."""
MARGIN = 1.25
"""How many times the pairs are counted that it seems to take to rule a model out."""
LATE = 0.75
"""Who would only be ruled out after this share of the pairs is counted to the end."""


@dataclass(frozen=True)
class Neighbours:
    """The models that are nearest to a query, nearest first.

    Attributes
    ----------
    places : of the models, as they were given
    distances : exact, in the same order
    compared : how many distances were counted to the end; bounds ruled out the other models
    of : how many models there were
    total : the number of assertions, the largest distance there can be

    Examples
    --------
    >>> nearest("lung", ["survey", "lung-learned"][1:], k=1).places
    (0,)
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
    Neighbours(places=(1,), distances=(16,), compared=2, of=2, total=240)
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
    question = pose([query, *given], **restriction)
    with progress_of(show_progress, "searching models") as progress:
        search = _Search(question, k, matrix, progress)
        search.run()
    distances, places = zip(*search.best(), strict=True)
    return Neighbours(places, distances, len(search.known), len(given), question.total)


class _Search:
    """The distances of a query to models, as far as they are counted.

    ``apart`` has the sums over the pairs counted so far, ``known`` the distances counted to the
    end, by the places of the models.
    """

    def __init__(
        self,
        question: Question,
        k: int,
        matrix: DistanceMatrix | None,
        progress: Progress | None,
    ) -> None:
        self.question, self.k, self.progress = question, k, progress
        self.among = None if matrix is None else matrix.distances
        self.models = len(question.structures) - 1
        self.pairs = question.active_pairs()
        # Mixed, so that some of them stand for all.
        self.order = np.random.default_rng(0).permutation(len(self.pairs))
        self.apart: list[Number] = [0] * self.models
        self.known: dict[int, Number] = {}
        self.counting, _ = counting_of()

    def run(self) -> None:
        """Count what is needed to know the nearest."""
        left = list(range(self.models))
        # Observed rows are looked up for whole comparisons.
        look = self.question.rows is None and len(self.pairs) >= ENOUGH and self.k < self.models
        begun = FIRST if look else 0
        self._add(left, 0, begun)
        left.sort(key=self._bound)
        batch = self.k if self.among is not None else self._seem_near()
        while left:
            self._finish(left[:batch], begun)
            left = self._not_ruled_out(left[batch:])
            # Each distance sharpens the triangle inequality; without it, all that are left go on.
            batch = 2 * batch if self.among is not None else len(left)
        if self.progress:
            self.progress(self.models, self.models)

    def best(self) -> list[tuple[Number, int]]:
        """The nearest of those that are known, with their places."""
        return sorted((apart, place) for place, apart in self.known.items())[: self.k]

    def _seem_near(self) -> int:
        """How many models may be among the nearest, as far as the first pairs say."""
        limit = sorted(self.apart)[self.k - 1]
        near = sum(apart <= FAR * limit for apart in self.apart)
        # If more than k models do not differ there at all, these pairs say nothing.
        return near if limit or near == self.k else self.models

    def _finish(self, places: list[int], begun: int) -> None:
        """Count the distances of some models to the end, unless bounds rule them out."""
        while places and begun < len(self.pairs):
            end = self._next_end(places, begun)
            self._add(places, begun, end)
            begun = end
            if begun < len(self.pairs):
                places = self._not_ruled_out(places)
        self.known.update((place, self.apart[place]) for place in places)

    def _next_end(self, places: Sequence[int], begun: int) -> int:
        """How many pairs it seems to take until bounds rule out half of these models, or all."""
        middle = sorted(self.apart[place] for place in places)[(len(places) - 1) // 2]
        if len(self.known) < self.k or not middle:
            return len(self.pairs)
        seems = begun * self.best()[-1][0] / middle
        end = int(seems * MARGIN) + 1
        return end if end < LATE * len(self.pairs) else len(self.pairs)

    def _add(self, places: Sequence[int], begin: int, end: int) -> None:
        """Count some models on some of the pairs."""
        if begin == end:
            return
        models = 0, *(place + 1 for place in places)
        pairs = self.pairs[np.sort(self.order[begin:end])]
        block = Block(self.question.about(*models), 1, models, pairs)
        found = count_block(block, self.counting, self._tell(len(places), end))
        for place, apart in zip(places, found.lower, strict=True):
            self.apart[place] += apart

    def _tell(self, models: int, end: int) -> Progress | None:
        """Progress in models whose distances are known, while some are counted to the end."""
        if end < len(self.pairs):
            return None
        return part_of(self.progress, len(self.known), models, self.models)

    def _not_ruled_out(self, places: Sequence[int]) -> list[int]:
        """Those of some models that may still be among the nearest, by their bounds."""
        limit = self.best()[-1]
        bounds = {place: (self._bound(place), place) for place in places}
        return sorted((place for place in places if bounds[place] < limit), key=bounds.__getitem__)

    def _bound(self, place: int) -> Number:
        """What a distance is at least: by the pairs counted so far, and by the triangle."""
        bounds = [self.apart[place]]
        if self.among is not None:
            among = self.among[place]
            bounds += [abs(apart - among[other]) for other, apart in self.known.items()]
        return max(bounds)


@dataclass(frozen=True)
class Diverse:
    """Models that are far from each other, in the order in which they were chosen.

    Attributes
    ----------
    places : of the models, as they were given
    distances : of each to the nearest of those before it; the first has none before it, and 0
    compared : how many exact comparisons it took

    Examples
    --------
    >>> farthest_first(["six", "six-guess", "six-graph"], 2).places
    (0, 2)
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
    question, effort = pose_many(given, None, options)
    counting, map_blocks = counting_of(**effort)
    pairs = question.active_pairs()
    chosen: list[int] = [first]
    apart: list[Number] = [0]
    least: dict[int, Number] = {}
    steps = [len(given) - step for step in range(1, k)]
    with progress_of(effort.get("show_progress", False), "comparing models") as progress:
        for step, count in enumerate(steps):
            others = [place for place in range(len(given)) if place not in chosen]
            row = count_row(
                question,
                [chosen[-1], *others],
                pairs=pairs,
                counting=counting,
                map_blocks=map_blocks,
                progress=part_of(progress, sum(steps[:step]), count, sum(steps)),
            )
            least = {m: min(least.get(m, d), d) for m, d in zip(others, row, strict=True)}
            chosen.append(max(others, key=lambda place: (least[place], -place)))
            apart.append(least[chosen[-1]])
    return Diverse(tuple(chosen), tuple(apart), sum(steps))


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
