"""Oracles for converted structures: joint tables, and all possible conjunctions.

A class of models draws random parameters and gives the table of log p; whether a pair interacts in
a context is read off the table. Nothing here shares code with the converters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product

import numpy as np

from contextwise.models.domain import Domain
from contextwise.models.structure import LogLinear, Structure
from contextwise.support.arrays import BoolArray, FloatArray

Pair = tuple[int, int]
Claims = dict[Pair, BoolArray]
"""For each pair, a table over the other variables: whether the pair depends in that context."""

ZERO = 1e-7


def random_domain(rng: np.random.Generator, n: int, most: int = 3) -> Domain:
    """Variables A, B, … of 2 to ``most`` states."""
    return Domain({"ABCDEFGH"[v]: int(rng.integers(2, most + 1)) for v in range(n)})


def random_edges(rng: np.random.Generator, domain: Domain, density: float) -> list[tuple[str, str]]:
    return [pair for pair in combinations(domain.names, 2) if rng.random() < density]


def random_context(rng: np.random.Generator, domain: Domain, names: Sequence[str]) -> str:
    """Literals for some of these variables."""
    chosen = [name for name in names if rng.random() < 0.6]
    return " & ".join(
        f"{name}={rng.integers(domain.cardinalities[domain.positions[name]])}" for name in chosen
    )


def holds(domain: Domain, context: str) -> BoolArray:
    """Return a table over all variables that is true where a context of single states holds."""
    where = np.ones(domain.cardinalities, dtype=bool)
    grid = np.indices(domain.cardinalities)
    for variable, state in domain.assignment(context).items():
        where &= grid[variable] == state
    return where


def random_table(rng: np.random.Generator, domain: Domain, names: Iterable[str]) -> FloatArray:
    """Random numbers that depend on these variables only, as a table over all variables."""
    chosen = set(names)
    shape = [
        c if name in chosen else 1
        for name, c in zip(domain.names, domain.cardinalities, strict=True)
    ]
    return np.broadcast_to(rng.normal(size=shape), domain.cardinalities)


def interactions(logs: FloatArray) -> Claims:
    """Find where each pair interacts in a table of log p: some log odds ratio is not 0."""
    found: Claims = {}
    for i, j in combinations(range(logs.ndim), 2):
        table = np.moveaxis(logs, (i, j), (0, 1))
        odds = table - table[:1] - table[:, :1] + table[:1, :1]
        found[i, j] = np.asarray((np.abs(odds) > ZERO).any(axis=(0, 1)))
    return found


def claims(structure: Structure) -> Claims:
    """Find the contexts in which each pair depends, from the rows of a structure."""
    domain = structure.domain
    grid = np.indices(domain.cardinalities)
    found = {
        pair: np.zeros([c for v, c in enumerate(domain.cardinalities) if v not in pair], bool)
        for pair in combinations(range(len(domain)), 2)
    }
    covered = structure.features.pairs
    for row, literals in enumerate(structure.features.literals()):
        scope = [v for v, _ in literals] if covered is None else covered[row].tolist()
        for pair in combinations(scope, 2):
            where = np.ones(domain.cardinalities, dtype=bool)
            for v, allowed in literals:
                if v not in pair:
                    where &= (allowed >> grid[v] & 1).astype(bool)
            found[pair] |= where.any(axis=pair)
    return found


def assert_equal(first: Claims, second: Claims) -> None:
    assert first.keys() == second.keys()
    for pair, where in first.items():
        np.testing.assert_array_equal(where, second[pair], err_msg=f"pair {pair}")


def constrained(
    rng: np.random.Generator,
    domain: Domain,
    independent: Callable[[Pair, Mapping[int, int]], bool],
) -> FloatArray:
    """A random table of log p among all in which the given pairs and contexts do not interact."""
    shape = domain.cardinalities
    cells = np.arange(int(np.prod(shape))).reshape(shape)
    rows = []
    for pair, context in pairs_and_contexts(domain):
        if not independent(pair, context):
            continue
        index = tuple(context.get(v, slice(None)) for v in range(len(shape)))
        table = cells[index]
        for a, b in product(range(1, table.shape[0]), range(1, table.shape[1])):
            row = np.zeros(cells.size)
            row[[table[a, b], table[0, 0]]] = 1
            row[[table[a, 0], table[0, b]]] = -1
            rows.append(row)
    point = rng.normal(size=cells.size)
    if rows:
        matrix = np.array(rows)
        point -= np.linalg.pinv(matrix, rcond=1e-9) @ (matrix @ point)
    return point.reshape(shape)


def pairs_and_contexts(domain: Domain) -> Iterator[tuple[Pair, dict[int, int]]]:
    """Every pair with each of its contexts, as positions."""
    n = len(domain)
    for pair in combinations(range(n), 2):
        others = [v for v in range(n) if v not in pair]
        for states in product(*(range(domain.cardinalities[v]) for v in others)):
            yield pair, dict(zip(others, states, strict=True))


def table_of(domain: Domain, independent: Callable[[Pair, Mapping[int, int]], bool]) -> Claims:
    """A target as a table: every pair and context that is not claimed independent."""
    found: Claims = {}
    for pair, context in pairs_and_contexts(domain):
        shape = [c for v, c in enumerate(domain.cardinalities) if v not in pair]
        where = found.setdefault(pair, np.zeros(shape, dtype=bool))
        where[tuple(context.values())] = not independent(pair, context)
    return found


def representable(target: Claims, domain: Domain) -> bool:
    """Return whether the conjunctions inside a target cover all of it."""
    covered = all_conjunctions(target, domain)
    return all(bool((covered[pair] == where).all()) for pair, where in target.items())


def all_conjunctions(target: Claims, domain: Domain) -> Claims:
    """Return the part of a target covered by conjunctions of single values inside it."""
    covered = {pair: np.zeros_like(where) for pair, where in target.items()}
    choices = [[None, *range(c)] for c in domain.cardinalities]
    for values in product(*choices):
        scope = [v for v, value in enumerate(values) if value is not None]
        places = {
            pair: tuple(
                slice(None) if values[v] is None else values[v]
                for v in range(len(domain))
                if v not in pair
            )
            for pair in combinations(scope, 2)
        }
        if all(target[pair][place].all() for pair, place in places.items()):
            for pair, place in places.items():
                covered[pair][place] = True
    return covered


def strength_in(table: FloatArray) -> float:
    """The definition for one context, of the logs of a table over the pair."""
    possible = table > -np.inf
    product_ = np.outer(possible.any(axis=1), possible.any(axis=0))
    if not np.array_equal(possible, product_):
        return np.inf
    table = table[possible.any(1)][:, possible.any(0)]
    ratios = [
        abs(table[a, c] + table[b, d] - table[a, d] - table[b, c])
        for a, b in combinations(range(len(table)), 2)
        for c, d in combinations(range(table.shape[1]), 2)
    ]
    return max(ratios, default=0.0)


def random_weights(
    rng: np.random.Generator, *, zeros: bool, domain: Domain | None = None
) -> LogLinear:
    """A model with set literals, cancelling weights and, if asked, impossible cells."""
    domain = random_domain(rng, int(rng.integers(2, 5))) if domain is None else domain
    features = []
    for _ in range(int(rng.integers(1, 8))):
        scope = rng.permutation(len(domain))[: int(rng.integers(1, len(domain) + 1))]
        features.append(
            {
                domain.names[v]: [
                    domain.states[v][k]
                    for k in np.flatnonzero(rng.integers(0, 2, domain.cardinalities[v]))
                ]
                or [domain.states[v][0]]
                for v in scope
            }
        )
    structure = Structure(domain, features)
    weights = rng.choice([-1.0, 0.0, 0.5, 1.0, *([-np.inf] * zeros)], len(structure))
    return LogLinear(structure, weights)
