"""`Claims`: a model given by its regions, for each pair the contexts in which it depends.

Features are one way to write regions, and not every family of regions has features: a feature
covers *every* pair of its scope. `Claims` writes any family, pair by pair. Comparing needs no more
than that, so everything that compares models takes them. What needs features (fitting, sampling,
other file formats, canonical contexts) refuses them and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from contextwise.errors import DomainError
from contextwise.models.domain import Domain, State, value_sets_of
from contextwise.models.features import Features, PairIndex, by_pairs, no_features, normalized
from contextwise.models.notation import between, write_literals
from contextwise.models.origin import NOT_RECORDED, Origin
from contextwise.models.structure import (
    Feature,
    Model,
    Structure,
    _repr,
    literal_arrays,
    structure_of,
)

if TYPE_CHECKING:
    from contextwise.models.directions import Directions
    from contextwise.models.evidence import Evidence

Region = bool | Iterable[Feature]
"""Everywhere (True), nowhere (False), or a list of contexts such as ``["C=0 & D=1", "E=2"]``."""

Cubes = Sequence[Sequence[tuple[int, int]]]
"""Cubes as lists of (variable, value set as an int)."""


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Claims(Structure):
    """A domain, and for each pair of variables the region of contexts in which it depends.

    Parameters
    ----------
    domain : Domain, or a mapping that makes one
    regions : mapping from pairs to regions
        A region is True (everywhere), False (nowhere), or a list of contexts over the *other*
        variables, as texts or mappings; the pair depends where any of them holds. A pair that is
        not listed is independent everywhere.
    origin : Origin, optional
        The origin of the claims; ignored by ``==``.
    directions : Directions, optional
        The arcs and tables, if these are claims of a Bayesian network; ignored by ``==``.
    tested : Evidence, optional
        The verdicts of rows; `evidence` returns them if they are about these claims.

    Attributes
    ----------
    features : the regions as arrays: each row has the pair that it covers

    Examples
    --------
    A and B depend only where C=0, and C depends on neither. No features claim that.

    >>> claims = Claims({"A": 2, "B": 2, "C": 2}, {("A", "B"): ["C=0"]})
    >>> claims
    Claims(3 variables, 1 region: A–B where C=0)
    >>> from contextwise import compare
    >>> compare(claims, Structure(claims.domain, ["A=1 & B=1"])).distance
    1
    """

    given_by_claims: ClassVar[bool] = True
    unit: ClassVar[str] = "region"

    def __init__(
        self,
        domain: Domain | Mapping[str, Sequence[State] | int],
        regions: Features | Mapping[tuple[str, str], Region] | None = None,
        *,
        origin: Origin = NOT_RECORDED,
        directions: Directions | None = None,
        tested: Evidence | None = None,
    ) -> None:
        domain = domain if isinstance(domain, Domain) else Domain(domain)
        if not isinstance(regions, Features):
            regions = _rows_of(domain, {} if regions is None else regions)
        super().__init__(domain, regions, origin=origin, directions=directions, tested=tested)

    @classmethod
    def of(cls, model: Model) -> Claims:
        """Return the claims that a model makes.

        >>> Claims.of(Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=0"]))
        Claims(3 variables, 3 regions: A–B where C=0; A–C where B=1; B–C where A=1)
        """
        structure = structure_of(model)
        if isinstance(structure, Claims):
            return structure
        return cls(structure.domain, by_pairs(structure.features), origin=structure.origin)

    def feature_text(self, feature: int) -> str:
        """Return one row as text: ``A–B where C=0``."""
        assert self.features.pairs is not None
        first, second = (self.domain.names[v] for v in self.features.pairs[feature].tolist())
        region = super().feature_text(feature)
        return f"{between((first, second))} {f'where {region}' if region else 'everywhere'}"

    def __repr__(self) -> str:
        shown = [self.feature_text(row) for row in range(min(len(self), 4))]
        return _repr("Claims", self, shown)

    def regions(self) -> dict[tuple[str, str], list[str]]:
        """Return for each pair the contexts in which it depends, as text; "" is every context.

        >>> Claims({"A": 2, "B": 2, "C": 3}, {("B", "A"): ["C=0", "C=2"]}).regions()
        {('A', 'B'): ['C=0', 'C=2']}
        """
        assert self.features.pairs is not None
        names, listed = self.domain.names, dict[tuple[str, str], list[str]]()
        for (i, j), literals in zip(
            self.features.pairs.tolist(), self.features.literals(), strict=True
        ):
            text = write_literals(self.domain.literal(*literal) for literal in literals)
            listed.setdefault((names[i], names[j]), []).append(text)
        return listed


def claims_of_cubes(
    domain: Domain,
    cubes: Mapping[PairIndex, Iterable[Mapping[int, int]]],
    **about: Any,
) -> Claims:
    """Make claims from cubes: for each variable they test, the value set as an int."""
    listed = {pair: [list(cube.items()) for cube in region] for pair, region in cubes.items()}
    return Claims(domain, _rows(domain, listed), **about)


def _rows(domain: Domain, cubes: Mapping[PairIndex, Cubes]) -> Features:
    pairs = [pair for pair, region in cubes.items() for _ in region]
    literals = [cube for region in cubes.values() for cube in region]
    if not pairs:
        empty = no_features(domain.cardinalities)
        return replace(empty, pairs=np.zeros((0, 2), dtype=np.int32))
    rows, places = normalized(
        domain.cardinalities, *literal_arrays(domain, literals), len(pairs), np.array(pairs, "i4")
    )
    if (places < 0).any():
        first, second = (domain.names[v] for v in pairs[int(np.argmin(places))])
        raise DomainError(f"a region of {first!r} and {second!r} allows no state of some variable")
    return rows


def _rows_of(domain: Domain, regions: Mapping[tuple[str, str], Region]) -> Features:
    """Make the rows of written regions."""
    if not isinstance(regions, Mapping):
        raise DomainError(
            f"give the regions as a mapping such as {{('A', 'B'): ['C=0']}}, got {regions!r}"
        )
    cubes: dict[PairIndex, Cubes] = {}
    for names, region in regions.items():
        pair, cubes_of_pair = read_region(domain, names, region)
        if pair in cubes:
            raise DomainError(f"the region of {names[0]!r} and {names[1]!r} is given twice")
        cubes[pair] = cubes_of_pair
    return _rows(domain, cubes)


def read_region(domain: Domain, names: tuple[str, str], region: Region) -> tuple[PairIndex, Cubes]:
    """Return a pair as positions, and the cubes of its written region."""
    pair = domain.pair(names)
    what = f"the region of {names[0]!r} and {names[1]!r}"
    for variable in pair:
        if domain.cardinalities[variable] == 1:
            name = domain.names[variable]
            raise DomainError(f"{what}: {name!r} has one state, so it depends on nothing")
    if isinstance(region, str | Mapping) or not isinstance(region, bool | Iterable):
        raise DomainError(f"{what} must be True, False or a list of contexts, got {region!r}")
    if isinstance(region, bool):
        return pair, [[]] if region else []
    cubes = []
    for context in region:
        cube = list(value_sets_of(domain, context).items())
        of_pair = [domain.names[v] for v, _ in cube if v in pair]
        if of_pair:
            raise DomainError(f"{what} mentions {of_pair[0]!r}, one of the two; leave it out")
        cubes.append(cube)
    return pair, cubes
