"""What a structure claims about each pair, region by region, and how rows can speak about it.

A claim is a pair of variables and a **region**: one cube of contexts in which the structure has the
pair independent throughout, or dependent throughout. In a region the features that can hold are
those compatible with it; the **blanket** of a variable there is whatever shares one of them with
it. Given its blanket, a variable is independent of everything else in the region, and so of the
other variable of a claimed independence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from contextwise.comparison.pairs import Pair
from contextwise.counting.extraction import CoverSource
from contextwise.counting.regions import Literals, complement, difference, union
from contextwise.models.domain import Domain
from contextwise.models.features import Features, IntArray, as_words
from contextwise.models.notation import Literal, between, where, write_literals

BOXES = 1_000
"""Where the search for the regions of a pair ends; it finds large regions first."""
AGREEMENT_BOXES = 2_000
"""Where the search for a context in which a structure does not agree ends."""
LARGEST_CODE = 2**62


@dataclass(frozen=True)
class Claim:
    """A pair that is independent, or dependent, in every context of a region.

    Attributes
    ----------
    pair : positions of the two variables
    dependent : what the structure says about them there
    literals : (variable, value set as an int) for each variable that the region tests
    """

    pair: tuple[int, int]
    dependent: bool
    literals: Literals


@dataclass(frozen=True)
class NamedClaim:
    """A claim with names for positions, as results of many kinds hold it.

    Attributes
    ----------
    pair : the names
    dependent : what the structure claims about them in this region
    literals : where the region is; none for every context
    """

    pair: Pair
    dependent: bool
    literals: tuple[Literal, ...]

    @property
    def when(self) -> str:
        """The region's literals as text, ``"C=yes & D!=old"``; empty for every context."""
        return write_literals(self.literals)

    @property
    def sentence(self) -> str:
        """The claim in words: ``"A–B depend when C=yes"``."""
        says = "depend" if self.dependent else "are independent"
        return f"{between(self.pair)} {says} {where(self.literals)}"

    def claim_record(self) -> dict[str, object]:
        """The claim alone as a flat mapping, with which records of what is known of it begin."""
        says = "dependent" if self.dependent else "independent"
        return {"first": self.pair[0], "second": self.pair[1], "claim": says, "when": self.when}


def name_claim(domain: Domain, claim: Claim) -> tuple[Pair, bool, tuple[Literal, ...]]:
    """The names of a claim's pair, what it says, and its literals: the parts of a `NamedClaim`."""
    first, second = claim.pair
    literals = tuple(domain.literal(v, allowed) for v, allowed in claim.literals)
    return (domain.names[first], domain.names[second]), claim.dependent, literals


@dataclass(frozen=True, eq=False)
class ClaimSource:
    """The claims of some features, and the blankets of variables in regions."""

    features: Features

    @cached_property
    def _covers(self) -> CoverSource:
        return CoverSource(self.features)

    def claims(self, pair: tuple[int, int]) -> Iterator[Claim]:
        """The claims about a pair: its regions of either kind, largest first.

        Regions that `BOXES` boxes do not reach are left out.
        """
        cubes = self._covers.cubes(0, pair)
        space = self._covers.space(pair, cubes)
        if not all(cubes):  # a feature of the pair alone: dependent everywhere
            yield Claim(pair, True, ())
            return
        for region in complement(space, cubes, boxes=BOXES):
            yield Claim(pair, False, region.literals)
        for region in union(space, cubes, boxes=BOXES):
            yield Claim(pair, True, region.literals)

    def largest(self, pair: tuple[int, int], most: int) -> list[Claim]:
        """The claims about a pair in its largest regions: so many of either kind."""
        claims = list(self.claims(pair))
        return [
            claim
            for kind in (True, False)
            for claim in [c for c in claims if c.dependent == kind][:most]
        ]

    def blanket(self, variable: int, literals: Literals) -> IntArray:
        """The variables that share a feature with this one somewhere in a region."""
        features = self.features
        mine = np.zeros(len(features), dtype=bool)
        mine[features.owners[features.variables == variable]] = True
        for other, allowed in literals:
            words = as_words(allowed, features.values.shape[1])
            tested = np.flatnonzero(features.variables == other)
            never = ~(features.values[tested] & words).any(axis=1)
            mine[features.owners[tested[never]]] = False
        found = np.unique(features.variables[mine[features.owners]])
        others: IntArray = found[found != variable].astype(np.int64)
        return others


def agrees(covers: CoverSource, claim: Claim) -> bool:
    """Whether a structure makes a claim in every context of its region."""
    cubes = covers.cubes(0, claim.pair)
    if not claim.dependent:
        return not meets(covers, claim)
    space = covers.space(claim.pair, [*cubes, claim.literals])
    rest = difference(space, [claim.literals], cubes, boxes=AGREEMENT_BOXES)
    return not rest.regions and not rest.open


def meets(covers: CoverSource, claim: Claim) -> bool:
    """Whether a structure has the pair of a claim depend in some context of its region."""
    allowed = dict(claim.literals)
    return any(
        all(values & allowed.get(v, values) for v, values in cube)
        for cube in covers.cubes(0, claim.pair)
    )


def rows_in(rows: npt.NDArray[Any], literals: Literals) -> npt.NDArray[np.bool_]:
    """Which rows lie in a region.

    >>> rows_in(np.array([[0, 1], [2, 1], [1, 0]]), ((0, 0b101), (1, 0b10))).tolist()
    [True, True, False]
    """
    inside = np.ones(len(rows), dtype=bool)
    for variable, allowed in literals:
        states = [k for k in range(allowed.bit_length()) if allowed >> k & 1]
        inside &= np.isin(rows[:, variable], states)
    return inside


def group_rows(rows: npt.NDArray[Any], variables: Iterable[int]) -> IntArray:
    """Numbers for rows: equal for rows that agree on these variables, from 0 up.

    >>> group_rows(np.array([[0, 1], [2, 1], [0, 0], [0, 1]]), [0, 1]).tolist()
    [1, 2, 0, 1]
    """
    codes, span = np.zeros(len(rows), dtype=np.int64), 1
    for variable in variables:
        column = rows[:, variable].astype(np.int64)
        states = int(column.max(initial=0)) + 1
        if span * states > LARGEST_CODE:
            codes = np.unique(codes, return_inverse=True)[1]
            span = int(codes.max(initial=0)) + 1
        codes, span = codes * states + column, span * states
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)
