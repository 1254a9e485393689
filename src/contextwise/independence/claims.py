"""The claims of a structure, and which rows belong to them.

A **claim** says that a pair of variables is independent, or dependent, throughout one **region** of
contexts. The **blanket** of a variable in a region is the set of variables that share a feature
with it there. Given its blanket, a variable is independent of everything else in the region.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from contextwise.counting.extraction import CoverSource
from contextwise.counting.regions import (
    MOST_BOXES_OF_A_COVER,
    Literals,
    Regions,
    complement,
    difference,
    union,
)
from contextwise.independence.separation import minimal_d_separator
from contextwise.models.features import PairIndex, as_words
from contextwise.models.pair_regions import Claim, Kind
from contextwise.models.structure import Structure
from contextwise.support.arrays import IntArray
from contextwise.support.effort import NEVER, Deadline

REGIONS = 3
"""Regions of each kind per pair that are tested, and that pages show."""
AGREEMENT_BOXES = 2_000
"""Limit of the search for a context in which a structure disagrees with a claim."""
LARGEST_CODE = 2**62


@dataclass(frozen=True)
class PairClaims:
    """The claims about one pair: disjoint regions of contexts, the most general ones first."""

    pair: tuple[str, str]
    contexts: int  # of the pair
    independent: tuple[Claim, ...] = ()
    dependent: tuple[Claim, ...] = ()
    independent_contexts: int = 0  # those in which the pair is independent, listed or not
    undecided: int = 0  # contexts that were not decided within the limits
    unlisted: Mapping[Kind, int] = field(default_factory=dict)  # regions beyond those listed


@dataclass(frozen=True, eq=False)
class ClaimLister:
    """Lists the claims of a structure about pairs, and the blankets of its variables.

    Explanations, tests, resamples and pages all list with it, so a region that one of them shows is
    one that the others know.
    """

    structure: Structure

    @cached_property
    def _covers(self) -> CoverSource:
        return CoverSource(self.structure.features)

    def about(
        self, pair: PairIndex, most: int | None = None, deadline: Deadline = NEVER
    ) -> PairClaims:
        """List where a pair is independent, and where it depends: up to ``most`` regions each.

        Regions with most contexts come first. What is not decided by the deadline is counted.

        >>> model = Structure({"A": 2, "B": 2, "C": 3}, ["A=1 & B=1 & C=0"])
        >>> claims = ClaimLister(model).about((0, 1))
        >>> [(claim.sentence, claim.size) for claim in claims.independent]
        [('A–B are independent when C≠0', 2)]
        """
        cubes = self._covers.cubes(0, pair)
        space = self._covers.space(pair, cubes)
        depends = union(space, cubes, boxes=MOST_BOXES_OF_A_COVER, deadline=deadline)
        apart = complement(space, cubes, boxes=MOST_BOXES_OF_A_COVER, deadline=deadline)
        domain = self.structure.domain
        listed: dict[Kind, tuple[Claim, ...]] = {}
        names = domain.names[pair[0]], domain.names[pair[1]]
        found: tuple[tuple[Kind, Regions], ...] = (("independent", apart), ("dependent", depends))
        for kind, regions in found:
            listed[kind] = tuple(
                Claim(names, tuple(domain.literal(*x) for x in one.literals), one.size, claim=kind)
                for one in regions.regions[:most]
            )
        return PairClaims(
            names,
            prod(c for v, c in enumerate(domain.cardinalities) if v not in pair),
            listed["independent"],
            listed["dependent"],
            apart.size,
            apart.undecided,
            {kind: len(regions) - len(listed[kind]) for kind, regions in found},
        )

    def tested(self, pair: PairIndex, most: int, deadline: Deadline) -> PairClaims:
        """Return `about`, or raise `OutOfTime`."""
        deadline.check()
        claims = self.about(pair, most, deadline)
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
        features = self.structure.features
        if not self.structure.separation_holds:
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


def separations(structure: Structure, pairs: Iterable[Sequence[int]]) -> list[Claim]:
    """Return one d-separation for each pair without an edge: given the parents of the later one.

    With hidden causes it is given a minimal set, if any set separates the pair.
    """
    directions = structure.directions
    assert directions is not None
    place = {variable: k for k, variable in enumerate(directions.order)}
    adjacent = {*map(frozenset, directions.arcs), *map(frozenset, directions.confounded)}
    claims = []
    for i, j in pairs:
        if frozenset((i, j)) not in adjacent:
            earlier, later = sorted((int(i), int(j)), key=place.__getitem__)
            given: Iterable[int] | None = directions.parents[later]
            if directions.confounded:
                others = set(place).difference((i, j))
                hidden = directions.with_hidden
                given = minimal_d_separator(hidden, [earlier], [later], others)
            if given is not None:
                claims.append(_given(structure, (earlier, later), "d-separated", given))
    return claims


def arc_claims(structure: Structure, pairs: Iterable[Sequence[int]]) -> list[Claim]:
    """Return one dependence for each arc: given the other parents of its child."""
    directions = structure.directions
    assert directions is not None
    asked = {frozenset(map(int, pair)) for pair in pairs}
    return [
        _given(structure, arc, "dependent", (p for p in directions.parents[arc[1]] if p != arc[0]))
        for arc in directions.arcs
        if frozenset(arc) in asked
    ]


def _given(structure: Structure, pair: PairIndex, kind: Kind, given: Iterable[int]) -> Claim:
    names = structure.domain.names
    first, second = (names[v] for v in sorted(pair))
    return Claim((first, second), claim=kind, given=tuple(names[v] for v in given))


def agrees(covers: CoverSource, pair: PairIndex, literals: Literals, dependent: bool) -> bool:
    """Return whether in every context of a region a structure makes the pair depend, or not."""
    cubes = covers.cubes(0, pair)
    if not dependent:
        allowed = dict(literals)
        return not any(all(values & allowed.get(v, values) for v, values in cube) for cube in cubes)
    if not all(cubes) or not cubes:  # it depends in every context, or in none
        return bool(cubes)
    space = covers.space(pair, [*cubes, literals])
    rest = difference(space, [literals], cubes, boxes=AGREEMENT_BOXES, deadline=NEVER)
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
