"""Dependency models: every assertion of a structure, listed (sections 2.4 and 3).

The complete dependency model has every pair, every context and every set of given variables. It is
exponential in three ways, so it is for small domains: at most a million assertions, as for nine
binary variables. The paper reduces it to the fully contextualized assertions, which
`contextwise.compare` counts without listing them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, product
from math import prod
from typing import NamedTuple

from contextwise.comparison.confusion import Confusion
from contextwise.formats import ModelLike, as_structure
from contextwise.models.domain import Domain
from contextwise.models.notation import quoted
from contextwise.models.structure import Structure
from contextwise.paper.features import Variables, domain_of, refuse_more

Roles = tuple[int, ...]
"""For each variable: a state, then `given` (any value), then `free`."""


class Assertion(NamedTuple):
    """The triplet I(X_i, X_j | x_U, X_W): a pair, a context, and given variables (Eq. 9).

    >>> print(Assertion("X0", "X1", (("X2", "0"),), ("X3",)))
    I(X0, X1 | X2=0, X3)
    """

    first: str
    second: str
    context: tuple[tuple[str, str], ...] = ()  #: x_U, the variables with a state
    given: tuple[str, ...] = ()  #: X_W, the variables with any value

    def __str__(self) -> str:
        condition = [f"{quoted(name)}={quoted(state)}" for name, state in self.context]
        condition += map(quoted, self.given)
        given = f" | {', '.join(condition)}" if condition else ""
        return f"I({quoted(self.first)}, {quoted(self.second)}{given})"


# -- the sets of triplets --------------------------------------------------------------------------


def triplets(domain: Variables) -> list[Assertion]:
    """List T, all assertions (section 2.4): other variables are absent, given, or have a state.

    >>> len(triplets(dict.fromkeys("ABCD", 2))), len(triplets(dict.fromkeys("ABCDEF", 2)))
    (96, 3840)
    """
    known = domain_of(domain)
    _refuse_large(known)
    return [
        assertion
        for roles in _all_roles(known.cardinalities)
        for assertion in _assertions(known, roles)
    ]


def assertions(domain: Variables) -> list[Assertion]:
    """List T_FC, the fully contextualized assertions (Eq. 15).

    >>> len(assertions(dict.fromkeys("ABCD", 2))), len(assertions(dict.fromkeys("ABCDEF", 2)))
    (24, 240)
    """
    known = domain_of(domain)
    return [
        assertion
        for _, roles in _fully_contextualized(known)
        for assertion in _assertions(known, roles)
    ]


# -- the models ------------------------------------------------------------------------------------


def dependency_model(model: ModelLike) -> set[Assertion]:
    """List D(F), the fully contextualized assertions that are dependencies (Eq. 16).

    Two variables depend in a context if some feature has both in its scope and the context has no
    other value of its other variables (Eqs. 4 and 5).

    >>> saturated_but_one = Structure({"X0": 2, "X1": 2, "X2": 2}, [
    ...     "X0=0 & X1=1 & X2=1", "X0=1 & X1=1", "X0=1 & X2=1"])
    >>> for assertion in sorted(dependency_model(saturated_but_one)):
    ...     print(assertion)
    I(X0, X1 | X2=0)
    I(X0, X1 | X2=1)
    I(X0, X2 | X1=0)
    I(X0, X2 | X1=1)
    I(X1, X2 | X0=0)
    """
    structure = as_structure(model)
    links = _links(structure)
    return {
        assertion
        for pair, roles in _fully_contextualized(structure.domain)
        for assertion in _assertions(structure.domain, roles, _instantiated(links, roles, pair))
    }


def complete_model(model: ModelLike) -> set[Assertion]:
    """List D_C(F), the complete dependency model (Eq. 9): all assertions that are dependencies.

    With every conditioning variable at a value, two variables depend if a path of features connects
    them in the graph of that context. With some variables given, they depend if they do for some of
    their values (Eq. 3). These are the answers of `contextwise.independence.query` by features.

    >>> chain = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "B=1 & C=1"])
    >>> independent = set(triplets(chain.domain)) - complete_model(chain)
    >>> [str(assertion) for assertion in sorted(independent)]
    ['I(A, C | B)', 'I(A, C | B=0)', 'I(A, C | B=1)']
    """
    structure = as_structure(model)
    return {
        assertion
        for roles, dependent in _complete(structure)
        for assertion in _assertions(structure.domain, roles, dependent)
    }


def confusion_complete(true: ModelLike, guess: ModelLike) -> Confusion:
    """Return the confusion matrix over the complete dependency models (Eqs. 11 to 14).

    >>> confusion_complete("six", Structure(as_structure("six").domain))
    Confusion(tp=0, fn=3200, fp=0, tn=640)
    """
    first = as_structure(true)
    second = as_structure(guess).aligned_to(first.domain)
    tp = fn = fp = 0
    for (_, a), (_, b) in zip(_complete(first), _complete(second), strict=True):
        tp += (a & b).bit_count()
        fn += (a & ~b).bit_count()
        fp += (b & ~a).bit_count()
    return Confusion(tp, fn, fp, _count(first.domain, 2) - tp - fn - fp)


def _complete(structure: Structure) -> Iterator[tuple[Roles, int]]:
    """Yield all roles with at least two free variables, and the pairs that depend, as bits.

    The states of a variable come before the role `given`, so its union is over known sets.
    """
    _refuse_large(structure.domain)
    cardinalities, links = structure.domain.cardinalities, _links(structure)
    known: dict[Roles, int] = {}
    for roles in _all_roles(cardinalities):
        given = next((v for v, role in enumerate(roles) if role == cardinalities[v]), None)
        if given is None:
            free = sum(1 << v for v in _free(structure.domain, roles))
            known[roles] = _instantiated(links, roles, free)
        else:
            known[roles] = 0
            for state in range(cardinalities[given]):
                known[roles] |= known[(*roles[:given], state, *roles[given + 1 :])]
        yield roles, known[roles]


def _links(structure: Structure) -> list[tuple[tuple[tuple[int, int], ...], int]]:
    """Return the literals of each feature, and its scope (or the pair of a claim) as bits."""
    pairs = structure.features.pairs
    literals = [tuple(literals) for literals in structure.features.literals()]
    if pairs is None:
        return [(feature, sum(1 << v for v, _ in feature)) for feature in literals]
    return [(f, 1 << i | 1 << j) for f, (i, j) in zip(literals, pairs.tolist(), strict=True)]


def _instantiated(
    links: list[tuple[tuple[tuple[int, int], ...], int]], roles: Roles, free: int
) -> int:
    """Return the connected pairs of free variables in the graph of a context, as bits."""
    components: list[int] = []
    for literals, scope in links:
        inside = scope & free
        if inside & inside - 1 and all(
            free >> v & 1 or allowed >> roles[v] & 1 for v, allowed in literals
        ):
            joined = [c for c in components if c & inside]
            components = [c for c in components if not c & inside]
            components.append(inside | sum(joined))
    return sum(map(_pairs_within, components))


@lru_cache(maxsize=4096)
def _pairs_within(variables: int) -> int:
    """Return the pairs of some variables, as bits."""
    within = [v for v in range(variables.bit_length()) if variables >> v & 1]
    return sum(1 << _place(i, j) for i, j in combinations(within, 2))


def _place(i: int, j: int) -> int:
    return j * (j - 1) // 2 + i


# -- roles -----------------------------------------------------------------------------------------


def _count(domain: Domain, extra: int) -> int:
    """Count the assertions whose other variables have one of their states or of ``extra`` roles."""
    sizes = [c + extra for c in domain.cardinalities]
    return sum(
        prod(size for v, size in enumerate(sizes) if v not in pair)
        for pair in combinations(range(len(sizes)), 2)
    )


def _refuse_large(domain: Domain) -> None:
    refuse_more(_count(domain, 2), "the complete dependency model over these variables")


def _all_roles(cardinalities: tuple[int, ...]) -> Iterator[Roles]:
    variables = range(len(cardinalities))
    for size in range(2, len(cardinalities) + 1):
        for free in combinations(variables, size):
            yield from _roles_of(cardinalities, free, extra=1)


def _roles_of(
    cardinalities: tuple[int, ...], free: tuple[int, ...], *, extra: int
) -> Iterator[Roles]:
    """Yield roles with these free variables; ``extra`` is 1 if others may be given."""
    return product(
        *([c + 1] if v in free else range(c + extra) for v, c in enumerate(cardinalities))
    )


def _free(domain: Domain, roles: Roles) -> tuple[int, ...]:
    return tuple(v for v, c in enumerate(domain.cardinalities) if roles[v] == c + 1)


def _fully_contextualized(domain: Domain) -> Iterator[tuple[int, Roles]]:
    """Yield each pair, as bits, with each of its contexts."""
    refuse_more(_count(domain, 0), "T_FC")
    for i, j in combinations(range(len(domain)), 2):
        for roles in _roles_of(domain.cardinalities, (i, j), extra=0):
            yield 1 << i | 1 << j, roles


def _assertions(domain: Domain, roles: Roles, wanted: int = -1) -> Iterator[Assertion]:
    """Yield the assertions of the pairs of free variables among the wanted ones, as bits."""
    named = list(zip(domain.names, domain.states, roles, strict=True))
    context = tuple((name, states[r]) for name, states, r in named if r < len(states))
    given = tuple(name for name, states, r in named if r == len(states))
    for i, j in combinations(_free(domain, roles), 2):
        if wanted >> _place(i, j) & 1:
            yield Assertion(domain.names[i], domain.names[j], context, given)
