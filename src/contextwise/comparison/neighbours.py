"""Find the nearest and the most different models, exactly.

A search for the nearest models does not count every distance to the end. It drops a model if a
**proven bound** shows that it is not among the nearest: the sum over some pairs of variables, or
the triangle inequality if distances among the models are known. So it counts a few pairs for all
models first, then all pairs for the models that seem near. For the others it counts as many pairs
as their bounds need. If all models are equal on the first pairs, it counts everything at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from contextwise.comparison.confusion import Number, digits
from contextwise.comparison.matrix import DistanceMatrix, count_row
from contextwise.comparison.question import Question, Restriction, listed_models, pose
from contextwise.errors import ContextwiseError
from contextwise.formats import ModelLike
from contextwise.support.effort import QUIET, Effort
from contextwise.support.progress import Progress

__all__ = ["Neighbours", "farthest_first", "nearest"]

FIRST = 32
"""The number of pairs that are counted first."""
ENOUGH = 4 * FIRST
"""With fewer pairs, all are counted at once."""
FAR = 2
"""Models more than this many times as far as the k-th on the first pairs are counted later."""
MARGIN = 1.25
"""The pairs counted to rule out a model, as a multiple of the estimated number."""
LATE = 0.75
"""If ruling out a model takes more than this share of the pairs, all are counted."""


@dataclass(frozen=True, repr=False)
class Neighbours:
    """The models that a search chose, in its order.

    Attributes
    ----------
    places : places of the models in the argument
    distances : exact, in the same order
    compared : number of distances that were counted; bounds ruled out the others
    of : number of models
    total : number of assertions, which is the largest possible distance
    ties : number of other models exactly as near as the last one, in a search for the nearest

    Examples
    --------
    >>> nearest("six", ["six-graph", "six-guess"]).places
    (1,)
    """

    places: tuple[int, ...]
    distances: tuple[Number, ...]
    compared: int
    of: int
    total: Number
    ties: int = 0

    def __repr__(self) -> str:
        distances = ", ".join(map(digits, self.distances)) + "," * (len(self.distances) == 1)
        return (
            f"Neighbours(places={self.places}, distances=({distances}), "
            f"compared={self.compared}, of={self.of}, total={digits(self.total)}"
            f"{f', ties={self.ties}' if self.ties else ''})"
        )


def nearest(
    query: ModelLike,
    models: Iterable[ModelLike],
    k: int = 1,
    *,
    matrix: DistanceMatrix | None = None,
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> Neighbours:
    """Find the ``k`` models nearest to a query, with their exact distances.

    Parameters
    ----------
    query : model, path of a model file, or name of a bundled example
    models : the models to search
    k : int
        Number of models; of models at equal distance, the first is taken, and the attribute
        ``ties`` counts the others.
    matrix : DistanceMatrix, optional
        The distances among the models, with the same restriction; the triangle inequality then
        saves comparisons.
    show_progress : bool or function
        Show a line on standard error, or call a function of (models done, number of models).
    **restriction
        The keywords of `compare` that restrict it.

    Examples
    --------
    >>> nearest("six", ["six-graph", "six-guess"])
    Neighbours(places=(1,), distances=(16,), compared=2, of=2, total=240)
    """
    others = listed_models("models", models)
    if not others:
        raise ContextwiseError("no model to search; give at least one")
    _check_k(k, len(others))
    if matrix is not None and len(matrix.names) != len(others):
        raise ContextwiseError(
            f"the matrix has {len(matrix.names)} models, but {len(others)} models are given"
        )
    question = pose([query, *others], **restriction)
    with Effort(show_progress=show_progress).showing("searching models") as effort:
        search = _Search(question, k, matrix, effort)
        search.run()
    distances, places = zip(*search.best(), strict=True)
    ties = list(search.known.values()).count(distances[-1]) - distances.count(distances[-1])
    return Neighbours(places, distances, len(search.known), len(others), question.total, ties)


def _check_k(k: int, models: int) -> None:
    if not 1 <= k <= models:
        raise ContextwiseError(f"k must be between 1 and the number of models ({models}), got {k}")


class _Search:
    """The distances of a query to models, as far as they are counted.

    ``apart`` has the sums over the pairs counted so far, ``known`` the complete distances, by the
    places of the models.
    """

    def __init__(
        self,
        question: Question,
        k: int,
        matrix: DistanceMatrix | None,
        effort: Effort,
    ) -> None:
        self.question, self.k, self.effort = question, k, effort
        self.among = None if matrix is None else matrix.distances
        self.models = len(question.structures) - 1
        self.pairs = question.active_pairs()
        # In random order, so that some pairs represent all.
        self.order = np.random.default_rng(0).permutation(len(self.pairs))
        self.apart: list[Number] = [0] * self.models
        self.known: dict[int, Number] = {}

    def run(self) -> None:
        """Count as much as is needed to know the nearest models."""
        left = list(range(self.models))
        # Observed rows are counted for all pairs at once.
        partly = self.question.rows is None and len(self.pairs) >= ENOUGH and self.k < self.models
        begun = FIRST if partly else 0
        self._add(left, 0, begun)
        left.sort(key=self._bound)
        batch = self.k if self.among is not None else self._seem_near()
        while left:
            self._finish(left[:batch], begun)
            left = self._not_ruled_out(left[batch:])
            # Each distance sharpens the triangle inequality; without it, all others are next.
            batch = 2 * batch if self.among is not None else len(left)
        self.effort.report(self.models, self.models)

    def best(self) -> list[tuple[Number, int]]:
        """Return the nearest of the complete distances, with the places."""
        return sorted((apart, place) for place, apart in self.known.items())[: self.k]

    def _seem_near(self) -> int:
        """Return how many models seem to be among the nearest, judged by the first pairs."""
        limit = sorted(self.apart)[self.k - 1]
        near = sum(apart <= FAR * limit for apart in self.apart)
        # If more than k models are equal to the query there, these pairs decide nothing.
        return near if limit or near == self.k else self.models

    def _finish(self, places: list[int], begun: int) -> None:
        """Complete the distances of some models, unless bounds rule them out."""
        while places and begun < len(self.pairs):
            # Estimate the number of pairs by which bounds rule out half of these models.
            middle = sorted(self.apart[place] for place in places)[(len(places) - 1) // 2]
            end = len(self.pairs)
            if len(self.known) >= self.k and middle:
                needed = int(begun * self.best()[-1][0] / middle * MARGIN) + 1
                end = needed if needed < LATE * end else end
            self._add(places, begun, end)
            begun = end
            if begun < len(self.pairs):
                places = self._not_ruled_out(places)
        self.known.update((place, self.apart[place]) for place in places)

    def _add(self, places: Sequence[int], begin: int, end: int) -> None:
        """Count some models on some of the pairs."""
        if begin == end:
            return
        effort = QUIET
        if end == len(self.pairs):  # which completes the distances
            effort = self.effort.part(len(self.known), len(places), self.models)
        row = count_row(
            self.question,
            [0, *(place + 1 for place in places)],
            pairs=self.pairs[np.sort(self.order[begin:end])],
            effort=effort,
        )
        for place, apart in zip(places, row, strict=True):
            self.apart[place] += apart

    def _not_ruled_out(self, places: Sequence[int]) -> list[int]:
        """Return the models that may still be as near as the k-th, by their bounds."""
        limit, _ = self.best()[-1]
        bounds = {place: (self._bound(place), place) for place in places}
        near = (place for place in places if bounds[place][0] <= limit)
        return sorted(near, key=bounds.__getitem__)

    def _bound(self, place: int) -> Number:
        """Return a lower bound of a distance: by the pairs counted so far, or by the triangle."""
        bounds = [self.apart[place]]
        if self.among is not None:
            among = self.among[place]
            bounds += [abs(apart - among[other]) for other, apart in self.known.items()]
        return max(bounds)


def farthest_first(
    models: Iterable[ModelLike],
    k: int,
    *,
    first: int = 0,
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> Neighbours:
    """Choose a diverse subset: start with one model, then add the one farthest from those chosen.

    The least distance among the chosen models is at least half of the best possible
    (Gonzalez 1985).

    Parameters
    ----------
    models : models, paths of model files, or names of bundled examples
    k : int
        Number of models.
    first : int
        Place of the model to start with.
    show_progress : bool or function
        Show a line on standard error, or call a function of (comparisons done, number of them).
    **restriction
        The keywords of `compare` that restrict it.

    Returns
    -------
    Neighbours, each with its distance to the nearest model chosen before it; 0 for the first

    Examples
    --------
    >>> chosen = farthest_first(["six", "six-guess", "six-graph"], 2)
    >>> chosen.places, chosen.distances
    ((0, 2), (0, 80))
    """
    everything = listed_models("models", models)
    n = len(everything)
    _check_k(k, n)
    if not 0 <= first < n:
        raise ContextwiseError(f"first must be between 0 and {n - 1}, got {first}")
    question = pose(everything, **restriction)
    pairs = question.active_pairs()
    chosen: list[int] = [first]
    apart: list[Number] = [0]
    least: dict[int, Number] = {}
    steps = [n - step for step in range(1, k)]
    with Effort(show_progress=show_progress).showing("comparing models") as effort:
        for step, count in enumerate(steps):
            others = [place for place in range(n) if place not in chosen]
            part = effort.part(sum(steps[:step]), count, sum(steps))
            places = [chosen[-1], *others]
            row = count_row(question, places, pairs=pairs, effort=part)
            least = {m: min(least.get(m, d), d) for m, d in zip(others, row, strict=True)}
            # Of models equally far away, the first one given is chosen.
            chosen.append(max(others, key=lambda place: (least[place], -place)))
            apart.append(least[chosen[-1]])
    return Neighbours(tuple(chosen), tuple(apart), sum(steps), n, question.total)
