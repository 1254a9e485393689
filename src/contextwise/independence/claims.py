"""The claims of a structure, and which rows belong to them.

A **claim** says that a pair of variables is independent, or dependent, throughout one **region** of
contexts. The **blanket** of a variable in a region is the set of variables that share a feature
with it there. Given its blanket, a variable is independent of everything else in the region.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from contextwise.counting.extraction import CoverSource
from contextwise.counting.regions import Literals, complement, difference, union
from contextwise.independence.separation import minimal_d_separator
from contextwise.models.directions import Directions
from contextwise.models.features import Features, as_words
from contextwise.support.arrays import IntArray
from contextwise.support.effort import NEVER, Deadline

MOST_BOXES_OF_A_CLAIM = 1_000
"""Limit of the search for the regions of a pair; it finds large regions first."""
AGREEMENT_BOXES = 2_000
"""Limit of the search for a context in which a structure disagrees with a claim."""
LARGEST_CODE = 2**62


@dataclass(frozen=True)
class Claim:
    """A claim by positions; a literal is a variable and its value set as an int."""

    pair: tuple[int, int]
    dependent: bool
    literals: Literals
    given: tuple[int, ...] | None = None  # in a network: other parents; else all other variables


@dataclass(frozen=True, eq=False)
class ClaimSource:
    """Finds the claims of a structure, and the blankets of its variables."""

    features: Features
    separation_holds: bool = True  # of the structure; otherwise a blanket is all other variables

    @cached_property
    def _covers(self) -> CoverSource:
        return CoverSource(self.features)

    def claims(self, pair: tuple[int, int], deadline: Deadline = NEVER) -> Iterator[Claim]:
        """Yield the claims about a pair, largest regions of each kind first.

        Regions beyond the limit `MOST_BOXES_OF_A_CLAIM` are left out.
        """
        cubes = self._covers.cubes(0, pair)
        if not all(cubes) or not cubes:  # a feature over the pair alone: it depends everywhere
            yield Claim(pair, bool(cubes), ())
            return
        space = self._covers.space(pair, cubes)
        for region in complement(space, cubes, boxes=MOST_BOXES_OF_A_CLAIM, deadline=deadline):
            yield Claim(pair, False, region.literals)
        for region in union(space, cubes, boxes=MOST_BOXES_OF_A_CLAIM, deadline=deadline):
            yield Claim(pair, True, region.literals)

    def listed(self, pair: tuple[int, int], deadline: Deadline) -> list[Claim]:
        """Return all claims about a pair, or raise `OutOfTime`."""
        deadline.check()
        claims = list(self.claims(pair, deadline))
        deadline.check()  # regions found too late may be missing
        return claims

    @cached_property
    def _blankets(self) -> dict[tuple[int, Literals], IntArray]:
        return {}

    def blanket(self, variable: int, literals: Literals) -> IntArray:
        """Return the variables that share a feature with this one somewhere in a region."""
        key = variable, literals
        if key not in self._blankets:
            self._blankets[key] = self._find_blanket(variable, literals)
        return self._blankets[key]

    def _find_blanket(self, variable: int, literals: Literals) -> IntArray:
        features = self.features
        if not self.separation_holds:
            return np.delete(np.arange(len(features.cardinalities)), variable)
        owners, variables = features.covered
        compatible = np.zeros(len(features), dtype=bool)
        compatible[owners[variables == variable]] = True
        for other, allowed in literals:
            words = as_words(allowed, features.values.shape[1])
            tested = np.flatnonzero(features.variables == other)
            # A literal without a value in common with the region never holds there.
            never = ~(features.values[tested] & words).any(axis=1)
            compatible[features.owners[tested[never]]] = False
        blanket = np.unique(variables[compatible[owners]])
        others: IntArray = blanket[blanket != variable].astype(np.int64)
        return others


def separations(directions: Directions, pairs: Iterable[Sequence[int]]) -> list[Claim]:
    """Return one d-separation for each pair without an edge: given the parents of the later one.

    With hidden causes it is given a minimal set, if any set separates the pair.
    """
    place = {variable: k for k, variable in enumerate(directions.order)}
    adjacent = {*map(frozenset, directions.arcs), *map(frozenset, directions.confounded)}
    claims = []
    for i, j in pairs:
        if frozenset((i, j)) not in adjacent:
            earlier, later = sorted((int(i), int(j)), key=place.__getitem__)
            given: Sequence[int] | None = directions.parents[later]
            if directions.confounded:
                others = set(place).difference((i, j))
                hidden = directions.with_hidden
                given = minimal_d_separator(hidden, [earlier], [later], others)
            if given is not None:
                claims.append(Claim((earlier, later), False, (), tuple(given)))
    return claims


def arc_claims(directions: Directions, pairs: Iterable[Sequence[int]]) -> list[Claim]:
    """Return one dependence for each arc: given the other parents of its child."""
    asked = {frozenset(map(int, pair)) for pair in pairs}
    return [
        Claim((parent, child), True, (), tuple(p for p in directions.parents[child] if p != parent))
        for parent, child in directions.arcs
        if frozenset((parent, child)) in asked
    ]


def agrees(covers: CoverSource, claim: Claim) -> bool:
    """Return whether a structure makes the claim in every context of its region."""
    cubes = covers.cubes(0, claim.pair)
    if not claim.dependent:
        allowed = dict(claim.literals)
        return not any(all(values & allowed.get(v, values) for v, values in cube) for cube in cubes)
    if not all(cubes) or not cubes:  # it depends in every context, or in none
        return bool(cubes)
    space = covers.space(claim.pair, [*cubes, claim.literals])
    rest = difference(space, [claim.literals], cubes, boxes=AGREEMENT_BOXES, deadline=NEVER)
    return not rest.regions and not rest.undecided


def group_rows(rows: npt.NDArray[Any], variables: Iterable[int]) -> IntArray:
    """Number the rows by their states of these variables; equal states get equal numbers.

    >>> group_rows(np.array([[0, 1], [2, 1], [0, 0], [0, 1]]), [0, 1]).tolist()
    [1, 2, 0, 1]
    """
    codes, span = np.zeros(len(rows), dtype=np.int64), 1
    for variable in variables:
        column = rows[:, variable].astype(np.int64)
        states = int(column.max(initial=0)) + 1
        # Renumber before the codes overflow.
        if span * states > LARGEST_CODE:
            codes = np.unique(codes, return_inverse=True)[1]
            span = int(codes.max(initial=0)) + 1
        codes, span = codes * states + column, span * states
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)
