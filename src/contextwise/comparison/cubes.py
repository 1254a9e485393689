"""The cubes of single pairs, and how much sets of contexts count: what an explanation asks.

A comparison counts all pairs at once. An explanation looks at a few of them, and asks of each how
much one cube counts beyond others, and in which regions the models differ. Both depend on the
question: contexts count alike, by their weights, or by the observed rows that agree with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt

from contextwise.comparison.confusion import Number
from contextwise.comparison.question import Question
from contextwise.counting import deterministic_engine
from contextwise.counting.cover import ClassSpace, Cube
from contextwise.counting.extraction import pair_space
from contextwise.counting.regions import Literals, Regions, difference
from contextwise.models.features import Features, IntArray, as_int, members

BOXES = 5_000
"""How many boxes a search for regions looks at, at most: each costs about a millisecond."""


class PairCubes:
    """The cubes of both models for single pairs of a question.

    Parameters
    ----------
    question : of two models
    deadline : when counting stops, on the clock of `time.monotonic`, optional
    """

    def __init__(self, question: Question, deadline: float | None = None) -> None:
        self.question = question
        self.deadline = deadline
        self.cardinalities = list(question.domain.cardinalities)
        self.features = [structure.features for structure in question.structures]
        # Ganak may err; what is said about single pairs and features never rests on it.
        self._count_union = deterministic_engine().count_union
        self.cubes = cache(self._cubes)
        self._holders = cache(self._find_holders)

    def whole(self, pair: tuple[int, int]) -> Number:
        """What all contexts of a pair count together."""
        return self.question.sizes(np.array([pair]))[0]

    # -- cubes -----------------------------------------------------------------------------------

    def _find_holders(self, model: int, variable: int) -> IntArray:
        """The features of a model that test a variable, rising."""
        features = self.features[model]
        literals = np.flatnonzero(features.variables == variable)
        return np.searchsorted(features.starts, literals, side="right") - 1

    def _cubes(self, model: int, pair: tuple[int, int]) -> list[Cube]:
        """The cubes of a pair in one model (0 is the true one)."""
        first, second = (self._holders(model, variable) for variable in pair)
        both = np.intersect1d(first, second, assume_unique=True).tolist()
        return [self.cube(literals_at(self.features[model], f), pair) for f in both]

    def cube(self, literals: Sequence[tuple[int, int]], pair: tuple[int, int]) -> Cube:
        """A feature as the cube of a pair."""
        if self.question.canonical:
            return list(literals)
        return [literal for literal in literals if literal[0] not in pair]

    def space(self, pair: tuple[int, int], cubes: Iterable[Cube]) -> ClassSpace:
        """The space in which these cubes of a pair can be set against each other."""
        return pair_space(
            self.cardinalities, pair, cubes, self.question.canonical, self.question.value_weights
        )

    # -- how much they count ---------------------------------------------------------------------

    def beyond(self, pair: tuple[int, int], cube: Cube, others: Sequence[Cube]) -> Number:
        """What the contexts of a cube count that none of the other cubes allows.

        Parameters
        ----------
        pair : positions
        cube : a cube of the pair
        others : more of them

        Returns
        -------
        int or Fraction

        Raises
        ------
        OutOfTime
            When the deadline has passed.
        """
        if self.question.rows is not None:
            inside = self._rows_in(cube)
            for other in others:
                inside &= ~self._rows_in(other)
            return int(inside.sum())
        met = [both for other in others if (both := _meet(cube, other)) is not None]
        space = self.space(pair, [cube, *met])
        cover = space.cover([cube])
        size = cover.size(cover.cubes[0]) * cover.scale
        if met:
            size -= self._count_union(space.cover(met), deadline=self.deadline)
        return self._scaled(size, cover.total)

    def _scaled(self, size: int, whole: int) -> Number:
        return size if self.question.value_weights is None else Fraction(size, whole)

    def _rows_in(self, cube: Cube | Literals) -> npt.NDArray[np.bool_]:
        """Which observed rows agree with a cube."""
        rows = self.question.rows
        assert rows is not None
        agrees = np.ones(len(rows), dtype=bool)
        for variable, allowed in cube:
            agrees &= np.isin(rows[:, variable], members(allowed))
        return agrees

    # -- where they differ -----------------------------------------------------------------------

    def only_in(
        self, model: int, pair: tuple[int, int], *, most: int, time_limit: float | None
    ) -> tuple[list[tuple[Literals, Number]], bool]:
        """The largest regions in which one model alone has the dependence.

        Parameters
        ----------
        model : 0 for the true model, 1 for the guess
        pair : positions
        most : about how many regions are wanted
        time_limit : seconds, optional

        Returns
        -------
        regions : literals and size of each, largest first
        complete : whether the search ended by itself
        """
        inside, outside = self.cubes(model, pair), self.cubes(1 - model, pair)
        space = self.space(pair, [*inside, *outside])
        observed = self.question.rows is not None
        found: Regions = difference(
            space,
            inside,
            outside,
            boxes=BOXES,
            time_limit=time_limit,
            most=most,
            size=(lambda literals: int(self._rows_in(literals).sum())) if observed else None,
        )
        whole = space.cover(()).total
        sized = [(r.literals, r.size if observed else self._scaled(r.size, whole)) for r in found]
        return sized, found.complete


def literals_at(features: Features, feature: int) -> list[tuple[int, int]]:
    """One feature as a list of (variable, value set as an int)."""
    first, last = features.starts[feature : feature + 2].tolist()
    return [
        (variable, as_int(words))
        for variable, words in zip(
            features.variables[first:last].tolist(), features.values[first:last], strict=True
        )
    ]


def _meet(first: Cube, second: Cube) -> Cube | None:
    """The cube of the contexts that both allow, if there is one."""
    both = dict(first)
    for variable, allowed in second:
        both[variable] = both.get(variable, allowed) & allowed
        if not both[variable]:
            return None
    return sorted(both.items())
