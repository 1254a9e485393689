"""Factors (tables over a few variables) to features and back.

A **factor** gives one number to each assignment (cell) of its scope; a distribution is the product
of its factors, up to a constant. In a log-linear model each cell is a feature, and the log of its
number is the weight: `log_linear` makes the model, `factors_of` the tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log10, prod
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from contextwise.errors import ContextwiseError, DomainError, TooLargeError
from contextwise.models.domain import Domain, listed
from contextwise.models.features import members, single_values, words_of
from contextwise.models.structure import LogLinear, Model, Structure, require_features
from contextwise.support.arrays import FloatArray, IntArray, WordArray

Scope = TypeVar("Scope", bound=Sequence[int])
T = TypeVar("T", bound=np.generic)

LITERALS, WORDS = 2**23, 2**25
"""The most literals (cells times variables) of all tables that are made at once, and the most words
of their value sets."""

AXES = 30
"""The most variables of one table; NumPy allows 32 axes."""


@dataclass(frozen=True, eq=False)
class Factor:
    """A table of logs: ``logs`` has one axis per variable of ``scope``, in its order."""

    scope: tuple[int, ...]
    logs: FloatArray


def check_scopes(domain: Domain, scopes: Iterable[Scope], advice: str = "") -> list[Scope]:
    """Return the scopes as a list; raise `TooLargeError` if tables over them need too much memory.

    The message ends with ``advice``.
    """
    taken: list[Scope] = []
    total, most = 0, min(LITERALS, WORDS // words_of(domain.cardinalities))
    for scope in scopes:
        cells = prod(domain.cardinalities[v] for v in scope)
        total += cells * len(scope)
        taken.append(scope)
        if cells * len(scope) > most or len(scope) > AXES:
            names = listed((domain.names[v] for v in scope), 3)
            reason = f"a table over {names} has {readable(cells)} cells, which is too large"
        elif total > most:
            reason = f"the tables have over {most:,} literals, which is too many"
        else:
            continue
        raise TooLargeError(f"{reason}; {advice}" if advice else reason)
    return taken


def readable(size: int) -> str:
    """Write a size for a message: all digits, or the order of magnitude."""
    return str(size) if size < 10**12 else f"about 10**{int(log10(size))}"


def tables(domain: Domain, scopes: Iterable[Sequence[int]]) -> Structure:
    """Make the structure with one feature for each cell of a table over each scope."""
    return Structure.from_literals(domain, *cells_of(domain, scopes))[0]


def conjunctions(domain: Domain, table: IntArray) -> Structure:
    """Return the structure of conjunctions, one per line: the position of a state, or -1.

    >>> conjunctions(Domain({"A": 2, "B": 3}), np.array([[1, 2], [-1, 0]]))
    Structure(2 variables, 2 features: A=1 & B=2; B=0)
    """
    owners, variables = np.nonzero(table >= 0)
    values = single_values(table[owners, variables], words_of(domain.cardinalities))
    return Structure.from_literals(domain, owners, variables, values, len(table))[0]


def single_literals(domain: Domain) -> IntArray:
    """Return the single literals of all variables with several states, as `conjunctions` takes.

    >>> single_literals(Domain({"A": 2, "B": 1})).tolist()
    [[0, -1], [1, -1]]
    """
    cards = domain.cardinalities
    literals = [(v, value) for v, c in enumerate(cards) if c > 1 for value in range(c)]
    table = np.full((len(literals), len(domain)), -1, dtype=np.int64)
    for line, (v, value) in enumerate(literals):
        table[line, v] = value
    return table


def log_linear(domain: Domain, factors: Sequence[Factor]) -> LogLinear:
    """Make a model of a product of factors: each cell is a feature, its log the weight."""
    owners, variables, values, _ = cells_of(domain, [factor.scope for factor in factors])
    weights = np.concatenate([np.zeros(0), *(factor.logs.ravel() for factor in factors)])
    return weighted(domain, owners, variables, values, weights)


def weighted(
    domain: Domain,
    owners: npt.ArrayLike,
    variables: npt.ArrayLike,
    values: WordArray,
    weights: npt.ArrayLike,
) -> LogLinear:
    """Make a model from arrays of literals (see `normalized`); weights of equal features add up."""
    raw = np.asarray(weights, dtype=np.float64)
    structure, places = Structure.from_literals(domain, owners, variables, values, len(raw))
    return merged(structure, places, raw)


def merged(structure: Structure, places: IntArray, weights: FloatArray) -> LogLinear:
    """Make a model of raw features: ``places`` has their indices, weights of equal ones add up."""
    total = np.zeros(len(structure))
    alive = places >= 0
    with np.errstate(invalid="ignore"):  # inf and -inf: an error below
        np.add.at(total, places[alive], weights[alive])
    for bad in np.flatnonzero(np.isnan(total))[:1].tolist():
        text = structure.feature_text(bad)
        raise DomainError(f"the weights inf and -inf of the feature {text!r} do not add up")
    return LogLinear(structure, total)


def factors_of(model: LogLinear, advice: str = "") -> list[Factor]:
    """Make one table for each scope: the sum of the weights that hold in each cell."""
    domain = model.domain
    by_scope: dict[tuple[int, ...], list[tuple[list[list[int]], float]]] = {}
    for literals, weight in zip(
        model.structure.features.literals(), model.weights.tolist(), strict=True
    ):
        scope = tuple(variable for variable, _ in literals)
        allowed = [members(value_set) for _, value_set in literals]
        by_scope.setdefault(scope, []).append((allowed, weight))
    check_scopes(domain, by_scope, advice)
    factors = []
    for scope, entries in by_scope.items():
        logs = np.zeros([domain.cardinalities[v] for v in scope])
        for allowed, weight in entries:
            logs[np.ix_(*allowed)] += weight
        factors.append(Factor(scope, logs))
    return factors


def factors_to_write(model: Model, what: str) -> list[Factor]:
    """Make the tables of a model for ``what``, such as ``"a .uai file"``."""
    if not isinstance(model, LogLinear):
        require_features(model, what)
        raise ContextwiseError(
            f"{what} needs weights, and this structure has none; fit them with: contextwise fit"
        )
    return factors_of(model, f"{what} holds whole tables; write .mn or .json instead")


def numbers(factor: Factor, what: str) -> FloatArray:
    """Return the numbers of a table; raise if one overflows or underflows."""
    with np.errstate(over="ignore", under="ignore"):
        values = np.exp(factor.logs)
    if not np.isfinite(values).all() or (values == 0)[factor.logs > -np.inf].any():
        raise ContextwiseError(
            f"a weight is too large or too small for {what}, which holds probabilities, not logs"
        )
    return np.asarray(values)


def spread(table: npt.NDArray[T], scope: Sequence[int], onto: Sequence[int]) -> npt.NDArray[T]:
    """Reshape a table over ``scope`` so that it broadcasts over the variables ``onto``."""
    order = sorted(range(len(scope)), key=lambda k: onto.index(scope[k]))
    sizes = dict(zip(scope, table.shape, strict=True))
    return table.transpose(order).reshape([sizes.get(v, 1) for v in onto])


def log_odds_ratio(logs: FloatArray) -> FloatArray:
    """Return the largest absolute log odds ratio of the first two axes, for each other cell.

    It is infinite if the cells above ``-inf`` are not a product of rows and columns, and 0 if all
    cells are ``-inf``.

    >>> tables = np.log([[0.2, 0.4], [0.4, 0.8]]), np.eye(2)
    >>> [round(float(log_odds_ratio(table)), 9) for table in tables]
    [0.0, 2.0]
    """
    possible = logs > -np.inf
    product = possible.any(axis=1, keepdims=True) & possible.any(axis=0, keepdims=True)
    largest = np.zeros(logs.shape[2:])
    for first, second in combinations(range(len(logs)), 2):
        both = possible[first] & possible[second]
        with np.errstate(invalid="ignore"):
            gap = logs[first] - logs[second]
        # The log odds ratio of two rows and two columns is the difference of two gaps.
        highest = np.where(both, gap, -np.inf).max(axis=0)
        lowest = np.where(both, gap, np.inf).min(axis=0)
        largest = np.maximum(largest, highest - lowest)
    # A cell that is impossible though its row and column are possible: infinitely strong.
    return np.where((possible == product).all(axis=(0, 1)), largest, np.inf)


def cells_of(
    domain: Domain, scopes: Iterable[Sequence[int]]
) -> tuple[IntArray, IntArray, WordArray, int]:
    """Return the cells of tables over these scopes, as arguments of `Structure.from_literals`."""
    words = words_of(domain.cardinalities)
    owners, variables, states = [], [], []
    count = 0
    for scope in check_scopes(domain, scopes):
        shape = [domain.cardinalities[v] for v in scope]
        cells = np.indices(shape).reshape(len(scope), prod(shape)).T
        owners.append(np.repeat(np.arange(count, count + len(cells)), len(scope)))
        variables.append(np.tile(np.array(scope, dtype=np.int64), len(cells)))
        states.append(cells.ravel())
        count += len(cells)
    empty = np.zeros(0, dtype=np.int64)
    values = single_values(np.concatenate([empty, *states]), words)
    return np.concatenate([empty, *owners]), np.concatenate([empty, *variables]), values, count
