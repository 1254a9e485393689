"""Make the model of given claims about pairs; every converter uses this.

A representation claims, for each pair of variables and each context, whether the two interact. A
feature makes *every* pair of its scope depend wherever its other literals hold, so some claims have
no features: an edge A–B that exists only under C=0 needs a feature on A, B and C, which makes C
interact with both.

The rule: take the conjunctions that make no pair depend where it is claimed independent. If they
cover all claimed dependencies, they are the structure. Otherwise, or if the search for them is too
long, the model is given by the claims themselves.

The search looks for shortest conjunctions of single values, which suffice: a literal with several
values covers the union of its values, and a conjunction covers no more than its parts. It starts,
for each pair and each of its values, from these two literals. If some pair of the conjunction is
claimed independent where a cube Q holds, the conjunction needs a literal outside Q: the search
tries each variable of Q with each value outside Q, if the variable interacts with all others of the
conjunction. It does not extend a conjunction that satisfies the claims.

Cost: a pair that depends everywhere costs one step per pair of values; otherwise the search is
exponential in the number of variables that the claims around the pair mention, and ends at
`MOST_CONJUNCTIONS_TRIED`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import cleandoc
from itertools import combinations, product
from math import inf
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from contextwise.counting.contract import DEFAULT, get_engine
from contextwise.counting.cover import Cube, class_space, cover_of
from contextwise.counting.regions import complement
from contextwise.errors import DomainError, TooLargeError
from contextwise.models.claims import claims_of_cubes
from contextwise.models.domain import Domain, State, listed, value_sets_of
from contextwise.models.features import Features, PairIndex, members
from contextwise.models.notation import quoted
from contextwise.models.structure import Feature, Structure, features_of
from contextwise.support.effort import NEVER, Deadline

DomainLike = Domain | Mapping[str, Sequence[State] | int]
CubeMap = Mapping[int, int]
"""A cube as a mapping: for each variable it tests, the values it allows (as a bit set)."""
Conjunction = frozenset[tuple[int, int]]
"""A feature of single values: pairs of a variable and its state."""
F = TypeVar("F", bound=Callable[..., Structure])

MOST_CONJUNCTIONS_TRIED = 200_000
"""Largest number of conjunctions to try before giving up."""
MOST_BOXES_OF_A_PAIR = 1_000_000
"""Largest number of boxes in the search for the regions of a pair."""


def converter(convert: F) -> F:
    """Add the parameter that all converters share to the docstring of one."""
    shared = "domain : Domain, or a mapping that makes one\n\nExamples\n"
    convert.__doc__ = cleandoc(convert.__doc__ or "").replace("\nExamples\n", shared, 1)
    return convert


def domain_of(domain: DomainLike) -> Domain:
    """Return a domain, made from a mapping if necessary."""
    return domain if isinstance(domain, Domain) else Domain(domain)


def cubes_of(
    domain: Domain,
    contexts: Iterable[Feature],
    what: str,
    variables: Container[int],
    otherwise: str,
) -> Iterator[dict[int, int]]:
    """Yield written contexts as cubes; raise if one mentions a variable that is not allowed."""
    if isinstance(contexts, str | Mapping):
        raise DomainError(f"give {what} as a list of contexts, got {contexts!r}")
    for context in contexts:
        cube = value_sets_of(domain, context)
        others = [domain.names[v] for v in cube if v not in variables]
        if others:
            raise DomainError(f"{what} mentions {listed(others)}, which {otherwise}")
        yield cube


def cube_index(domain: Domain, axes: Sequence[int], cube: CubeMap) -> Any:
    """Return a cube as an index into a table with these axes."""
    everything = ((1 << domain.cardinalities[v]) - 1 for v in axes)
    return np.ix_(*(members(cube.get(v, e)) for v, e in zip(axes, everything, strict=True)))


def cubes_where(
    scope: Sequence[int], where: npt.NDArray[np.bool_], most: float = inf
) -> list[dict[int, int]]:
    """Return the true cells of a table as disjoint cubes; states with equal slices share one.

    Raises `TooLargeError` for more than ``most`` cubes.

    >>> cubes_where((0, 1), np.array([[True, True, True], [False, True, True]]))
    [{0: 1}, {0: 2, 1: 6}]
    """
    if where.all() or not where.any():
        return [{}] if where.all() else []
    slices: dict[bytes, int] = {}
    for state, part in enumerate(where):
        slices[part.tobytes()] = slices.get(part.tobytes(), 0) | 1 << state
    cubes: list[dict[int, int]] = []
    for allowed in slices.values():
        part = where[members(allowed)[0]]
        literal = {scope[0]: allowed} if len(slices) > 1 else {}
        inside = cubes_where(scope[1:], part, most - len(cubes))
        cubes += [{**literal, **cube} for cube in inside]
        if len(cubes) > most:
            raise TooLargeError(f"a pair has more than {most} regions")
    return cubes


@dataclass(frozen=True)
class WantedIndependence:
    """The contexts in which each pair is independent; an unlisted pair is independent everywhere.

    ``independent`` maps each pair that can interact to cubes whose union are the contexts where it
    does not. Below, A and B would interact where C=0, and C with neither of them.

    >>> domain = Domain({"A": 2, "B": 2, "C": 2})
    >>> model_for(WantedIndependence(domain, {(0, 1): [{2: 0b10}]}))
    Claims(3 variables, 1 region: A–B where C=0)
    """

    domain: Domain
    independent: Mapping[PairIndex, Sequence[CubeMap]]

    def pairs(self) -> list[PairIndex]:
        """List the pairs that may interact; a variable with one state interacts with nothing."""
        cards = self.domain.cardinalities
        return sorted((i, j) for i, j in self.independent if cards[i] > 1 and cards[j] > 1)


def model_for(
    wanted: WantedIndependence,
    *,
    dependent: Mapping[PairIndex, Iterable[CubeMap]] | None = None,
    deadline: Deadline = NEVER,
    **about: Any,
) -> Structure:
    """Return the model that makes exactly these claims: with features if they are found in time.

    ``dependent`` has the same claims the other way round, if they are known: for each pair the
    cubes where it depends. ``about`` are ``origin`` and ``directions`` of the model.
    """
    features = features_for(wanted, deadline)
    if features is not None:
        return Structure(wanted.domain, features, **about)
    if dependent is None:
        dependent = {pair: _dependent(wanted, pair) for pair in wanted.pairs()}
    return claims_of_cubes(wanted.domain, dependent, **about)


def _dependent(wanted: WantedIndependence, pair: PairIndex) -> Iterator[CubeMap]:
    """Yield disjoint cubes of the contexts in which a pair depends."""
    domain, cubes = wanted.domain, [list(cube.items()) for cube in wanted.independent[pair]]
    cardinalities = [1 if v in pair else c for v, c in enumerate(domain.cardinalities)]
    regions = complement(class_space(cardinalities, cubes), cubes, boxes=MOST_BOXES_OF_A_PAIR)
    if regions.undecided:
        first, second = (quoted(domain.names[v]) for v in pair)
        raise TooLargeError(
            f"too many regions in the contexts of {first} and {second}; "
            "convert a model over fewer variables"
        )
    for region in regions:
        yield dict(region.literals)


def features_for(claims: WantedIndependence, deadline: Deadline = NEVER) -> Features | None:
    """Return features that make exactly these claims; None if none do or none are found in time."""
    search = _Search(claims, deadline)
    features: dict[Conjunction, None] = {}
    for pair in claims.pairs():
        try:
            conjunctions = list(search.conjunctions(pair))
        except _TooLong:
            return None
        if not _make_all_dependent(claims, pair, conjunctions):
            return None
        features.update(dict.fromkeys(conjunctions))
    literals = ([(v, 1 << state) for v, state in conjunction] for conjunction in features)
    return features_of(claims.domain, literals)


class _TooLong(Exception):
    """The search for conjunctions has reached its limit."""


class _Search:
    """Search for conjunctions whose dependencies lie inside the claims."""

    def __init__(self, claims: WantedIndependence, deadline: Deadline) -> None:
        self.domain, self.deadline = claims.domain, deadline
        self.independent = {
            pair: [cube for cube in claims.independent[pair] if all(cube.values())]
            for pair in claims.pairs()
        }
        self.steps = 0

    def conjunctions(self, pair: PairIndex) -> Iterator[Conjunction]:
        """Yield the shortest conjunctions inside the claims with the pair in their scope."""
        cards = self.domain.cardinalities
        for values in product(*(range(cards[v]) for v in pair)):
            yield from _shortest(self.extensions(dict(zip(pair, values, strict=True))))

    def extensions(self, start: dict[int, int]) -> set[Conjunction]:
        seen, allowed = set(), set()
        waiting = [start]
        while waiting:
            conjunction = waiting.pop()
            key = frozenset(conjunction.items())
            if key in seen:
                continue
            seen.add(key)
            self.steps += 1
            if self.steps > MOST_CONJUNCTIONS_TRIED or self.deadline.passed:
                raise _TooLong
            cube = self.clash(conjunction)
            if cube is None:
                allowed.add(key)
            else:
                waiting.extend(self.repairs(conjunction, cube))
        return allowed

    def clash(self, conjunction: dict[int, int]) -> CubeMap | None:
        """Return a cube in the conjunction where one of its pairs must not interact."""
        for pair in combinations(sorted(conjunction), 2):
            for cube in self.independent[pair]:
                if all(
                    allowed >> conjunction[v] & 1 for v, allowed in cube.items() if v in conjunction
                ):
                    return cube
        return None

    def repairs(self, conjunction: dict[int, int], cube: CubeMap) -> Iterator[dict[int, int]]:
        """Yield the conjunction with one more literal that leaves the cube."""
        for variable, allowed in cube.items():
            pairs = ((min(variable, other), max(variable, other)) for other in conjunction)
            if variable not in conjunction and all(pair in self.independent for pair in pairs):
                everything = (1 << self.domain.cardinalities[variable]) - 1
                for state in members(everything & ~allowed):
                    yield {**conjunction, variable: state}


def _shortest(conjunctions: Iterable[Conjunction]) -> list[Conjunction]:
    """Return the conjunctions that contain no other."""
    kept: list[Conjunction] = []
    # Short ones first: only they can be part of another.
    for conjunction in sorted(conjunctions, key=lambda c: (len(c), sorted(c))):
        if not any(other <= conjunction for other in kept):
            kept.append(conjunction)
    return kept


def _make_all_dependent(
    claims: WantedIndependence, pair: PairIndex, conjunctions: Iterable[Conjunction]
) -> bool:
    """Return whether the conjunctions make the pair depend wherever it is claimed to."""
    cubes = [
        [(v, 1 << state) for v, state in conjunction if v not in pair]
        for conjunction in conjunctions
    ]
    return covers_all(
        claims.domain, pair, cubes + [list(cube.items()) for cube in claims.independent[pair]]
    )


def covers_all(domain: Domain, pair: PairIndex, cubes: Sequence[Cube]) -> bool:
    """Return whether every context of a pair is in some cube."""
    if not all(cubes):
        return True  # a cube without literals
    cover = cover_of([1 if v in pair else c for v, c in enumerate(domain.cardinalities)], cubes)
    return get_engine(DEFAULT).count_union(cover) == cover.total
