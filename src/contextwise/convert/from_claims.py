"""The heart of every converter: from claims about pairs to features that make them.

Other representations say, for each pair of variables and each context (an assignment of all the
others), whether the two interact. These are the **claims**. A feature makes *every* pair of its
scope depend wherever its other literals hold, so not all claims have features: an edge between A
and B that is present only under C=0 needs a feature on A, B and C, and with it C interacts with
both.

The rule: take the conjunctions that make no pair depend where it is claimed independent. If they
cover all claimed dependencies, they are the structure; if not, `NotRepresentable` names a pair and
where it fails.

Not all of them are needed. A literal that allows several values covers what its single values
cover, and for a given pair a conjunction covers no more than a part of it that is allowed as well.
So the search starts, for each pair and each of its values, from these two literals. If some pair
(k, l) of the conjunction is claimed independent somewhere in it, say where a cube Q holds, then the
conjunction needs a literal that leaves Q: each variable of Q with each value outside Q is tried, as
long as the variable interacts with all others of the conjunction. What is found first on a way is
not extended further; what has a found part is dropped.

Cost: a pair that depends everywhere costs one step per pair of values; otherwise the search is
exponential in the number of variables that the claims around the pair mention, and stops with an
error at `STEPS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt

from contextwise.counting import deterministic_engine
from contextwise.counting.cover import class_space
from contextwise.counting.regions import complement
from contextwise.errors import DomainError, NotRepresentable, TooLargeError
from contextwise.models.domain import Domain, State
from contextwise.models.features import PairIndex, members
from contextwise.models.literals import Feature, features_of, literals_of
from contextwise.models.notation import quoted, write_literals
from contextwise.models.structure import Structure

DomainLike = Domain | Mapping[str, Sequence[State] | int]
CubeMap = Mapping[int, int]
"""A cube as a mapping: for each variable it tests, the values it allows (as a bit set)."""

STEPS = 200_000
"""How many conjunctions the search looks at before it gives up."""


def domain_of(domain: DomainLike) -> Domain:
    """A domain, from one or from the mapping that makes one."""
    return domain if isinstance(domain, Domain) else Domain(domain)


def pair_of(domain: Domain, names: Iterable[str]) -> PairIndex:
    """Two different variables as rising positions."""
    two = [names] if isinstance(names, str) else list(names)
    if len(two) != 2:
        raise DomainError(f"{names!r} is not an edge; give two variables, such as ('A', 'B')")
    i, j = sorted(map(domain.position, two))
    if i == j:
        raise DomainError(f"{two[0]!r} cannot have an edge to itself")
    return i, j


def cube_of(domain: Domain, context: Feature) -> dict[int, int]:
    """A context, as people write it, as a cube; a variable may have several values.

    >>> cube_of(Domain({"A": 2, "B": 3}), "A=1 & B!=0")
    {0: 2, 1: 6}
    """
    cube: dict[int, int] = {}
    for variable, allowed in literals_of(domain, context):
        cube[variable] = cube.get(variable, allowed) & allowed
        if not cube[variable]:
            raise DomainError(f"{context!r} allows no state of {domain.names[variable]!r}")
    return cube


def cubes_where(scope: Sequence[int], where: npt.NDArray[np.bool_]) -> list[dict[int, int]]:
    """The true cells of a table as disjoint cubes; states with equal slices stay together.

    >>> cubes_where((0, 1), np.array([[True, True, True], [False, True, True]]))
    [{0: 1}, {0: 2, 1: 6}]
    """
    if where.all() or not where.any():
        return [{}] if where.all() else []
    slices: dict[bytes, int] = {}
    for state, part in enumerate(where):
        slices[part.tobytes()] = slices.get(part.tobytes(), 0) | 1 << state
    cubes = []
    for allowed in slices.values():
        part = where[members(allowed)[0]]
        literal = {scope[0]: allowed} if len(slices) > 1 else {}
        cubes += [{**literal, **cube} for cube in cubes_where(scope[1:], part)]
    return cubes


@dataclass(frozen=True)
class Claims:
    """Where each pair is independent; a pair that is not listed is so everywhere.

    Attributes
    ----------
    domain : Domain
    independent : mapping
        For each pair that can interact, cubes whose union are the contexts where it does not.

    Examples
    --------
    A and B interact where C=0; C interacts with both everywhere.

    >>> domain = Domain({"A": 2, "B": 2, "C": 2})
    >>> features_for(Claims(domain, {(0, 1): [{2: 0b10}], (0, 2): [], (1, 2): []})).pairs()
    [('A', 'B'), ('A', 'C'), ('B', 'C')]

    If it does not interact with them, there is no such structure.

    >>> features_for(Claims(domain, {(0, 1): [{2: 0b10}]}))
    Traceback (most recent call last):
    contextwise.errors.NotRepresentable: no features make A and B depend where C=0 ...
    """

    domain: Domain
    independent: Mapping[PairIndex, Sequence[CubeMap]]

    def pairs(self) -> list[PairIndex]:
        """The pairs that may interact: a variable with one state interacts with nothing."""
        cards = self.domain.cardinalities
        return sorted((i, j) for i, j in self.independent if cards[i] > 1 and cards[j] > 1)


def features_for(claims: Claims, *, info: Mapping[str, Any] | None = None) -> Structure:
    """The structure that makes exactly these claims.

    Parameters
    ----------
    claims : Claims
    info : mapping, optional
        What to note in the structure's ``info``.

    Returns
    -------
    Structure

    Raises
    ------
    NotRepresentable
        If no features make these claims; the message names a pair and where it fails.
    TooLargeError
        If the search for features looks at more than `STEPS` conjunctions.
    """
    search = _Search(claims)
    found: dict[frozenset[tuple[int, int]], None] = {}
    for pair in claims.pairs():
        own = list(search.conjunctions(pair))
        _require_covered(claims, pair, own)
        found.update(dict.fromkeys(own))
    literals = ([(v, 1 << state) for v, state in conjunction] for conjunction in found)
    return Structure(claims.domain, features_of(claims.domain, literals), info=info)


class _Search:
    """The search for conjunctions whose dependencies lie inside the claims."""

    def __init__(self, claims: Claims) -> None:
        self.domain = claims.domain
        self.independent = {
            pair: [cube for cube in claims.independent[pair] if all(cube.values())]
            for pair in claims.pairs()
        }
        self.steps = 0

    def conjunctions(self, pair: PairIndex) -> Iterator[frozenset[tuple[int, int]]]:
        """The shortest conjunctions inside the claims that have the pair in their scope."""
        cards = self.domain.cardinalities
        for values in product(*(range(cards[v]) for v in pair)):
            found = self.extensions(dict(zip(pair, values, strict=True)))
            yield from _shortest(found)

    def extensions(self, start: dict[int, int]) -> set[frozenset[tuple[int, int]]]:
        seen, found = set(), set()
        waiting = [start]
        while waiting:
            conjunction = waiting.pop()
            key = frozenset(conjunction.items())
            if key in seen:
                continue
            seen.add(key)
            self.count_step(start)
            cube = self.clash(conjunction)
            if cube is None:
                found.add(key)
            else:
                waiting.extend(self.repairs(conjunction, cube))
        return found

    def count_step(self, start: dict[int, int]) -> None:
        self.steps += 1
        if self.steps > STEPS:
            first, second = (quoted(self.domain.names[v]) for v in start)
            raise TooLargeError(
                f"the claims about {first} and {second} need more than {STEPS} conjunctions; "
                "convert a model over fewer variables, or with simpler contexts"
            )

    def clash(self, conjunction: dict[int, int]) -> CubeMap | None:
        """A cube that the conjunction reaches and where one of its pairs must not interact.

        The cube never tests that pair, so whether it meets the conjunction says all.
        """
        for pair in combinations(sorted(conjunction), 2):
            for cube in self.independent[pair]:
                if all(
                    allowed >> conjunction[v] & 1 for v, allowed in cube.items() if v in conjunction
                ):
                    return cube
        return None

    def repairs(self, conjunction: dict[int, int], cube: CubeMap) -> Iterator[dict[int, int]]:
        """The conjunction with one more literal that leaves the cube."""
        for variable, allowed in cube.items():
            if variable in conjunction or not self.interacts(variable, conjunction):
                continue
            everything = (1 << self.domain.cardinalities[variable]) - 1
            for state in members(everything & ~allowed):
                yield {**conjunction, variable: state}

    def interacts(self, variable: int, others: Iterable[int]) -> bool:
        return all(
            ((variable, other) if variable < other else (other, variable)) in self.independent
            for other in others
        )


def _shortest(found: Iterable[frozenset[tuple[int, int]]]) -> list[frozenset[tuple[int, int]]]:
    """The conjunctions that contain no other one."""
    kept: list[frozenset[tuple[int, int]]] = []
    for conjunction in sorted(found, key=lambda c: (len(c), sorted(c))):
        if not any(other <= conjunction for other in kept):
            kept.append(conjunction)
    return kept


def _require_covered(
    claims: Claims, pair: PairIndex, conjunctions: Iterable[frozenset[tuple[int, int]]]
) -> None:
    """Raise `NotRepresentable` unless the conjunctions cover the dependencies of the pair."""
    cubes = [
        [(v, 1 << state) for v, state in conjunction if v not in pair]
        for conjunction in conjunctions
    ]
    if not all(cubes):
        return  # a conjunction of the pair alone covers every context
    cubes += [list(cube.items()) for cube in claims.independent[pair]]
    place = uncovered(claims.domain, pair, cubes)
    if place is not None:
        first, second = (quoted(claims.domain.names[v]) for v in pair)
        raise NotRepresentable(
            f"no features make {first} and {second} depend {place} without making a pair depend "
            "that must not"
        )


def uncovered(
    domain: Domain, pair: PairIndex, cubes: Sequence[Sequence[tuple[int, int]]]
) -> str | None:
    """Contexts of a pair that no cube allows, as text, or None if there are none.

    Parameters
    ----------
    domain : Domain
    pair : positions of two variables
    cubes : lists of (variable, allowed values)

    Examples
    --------
    >>> domain = Domain({"A": 2, "B": 2, "C": 3})
    >>> uncovered(domain, (0, 1), [[(2, 0b001)]]), uncovered(domain, (0, 1), [])
    ('where C!=0', 'in every context')
    """
    cardinalities = [1 if v in pair else c for v, c in enumerate(domain.cardinalities)]
    space = class_space(cardinalities, cubes)
    cover = space.cover(cubes)
    if deterministic_engine().count_union(cover) == cover.total:
        return None
    left = complement(space, cubes)
    for region in left:
        literals = write_literals(domain.literal(v, allowed) for v, allowed in region.literals)
        return f"where {literals}" if literals else "in every context"
    first, second = (quoted(domain.names[v]) for v in pair)
    raise TooLargeError(f"the contexts of {first} and {second} are too many to find one")
