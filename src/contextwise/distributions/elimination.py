"""Do exact inference by variable elimination, where the treewidth allows.

Summing out a variable ``v`` needs a table over ``v`` and its current neighbours, its **separator**
S, and leaves a table over S. The same tables give p(v | S) for every variable. A forward pass gives
the log partition function, a backward pass the marginals of all tables and the probability of every
feature. Drawing each variable given its separator, last one first, gives exact samples.

A library's junction tree would need full tables of every scope; this one takes features with value
sets. The tests compare it with pyAgrum.

The order is greedy: the variable with the smallest table comes next. The cost, the number of cells
of all tables, is known in advance, and more than `CELLS` raises an error with that estimate. On a
complete graph the cost is that of visiting all states.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log10, prod

import numpy as np

from contextwise.distributions.potentials import FloatArray
from contextwise.distributions.tables import Pattern, Pinned, Table
from contextwise.errors import DomainError, TooLargeError
from contextwise.models.features import IntArray
from contextwise.models.structure import LogLinear, Structure

CELLS = 2**24
"""The largest number of cells of all tables together (each takes about 24 bytes)."""


@dataclass(frozen=True, eq=False)
class Plan:
    """An elimination order and the layout of its tables, for any weights."""

    structure: Structure
    pinned: Pinned
    tables: tuple[Table, ...]
    parents: tuple[int, ...]
    constants: IntArray
    refused: IntArray

    @property
    def cells(self) -> int:
        """Return the number of cells of all tables."""
        return sum(prod(table.shape) for table in self.tables)


def plan(
    structure: Structure,
    *,
    pinned: Pinned | None = None,
    together: Iterable[Iterable[int]] = (),
    limit: int = CELLS,
) -> Plan:
    """Choose an order and lay out the tables."""
    pinned = {} if pinned is None else pinned
    cardinalities = structure.domain.cardinalities
    pattern = Pattern.of(structure.features, pinned)
    free = [v for v in range(len(structure.domain)) if v not in pinned]
    wanted = {frozenset(v for v in scope if v not in pinned) for scope in together}
    scopes = {frozenset(literals) for literals in pattern.literals if literals is not None}
    order = elimination_order(free, cardinalities, scopes | wanted, limit=limit)
    number = {scope[0]: k for k, scope in enumerate(order)}

    mine: list[list[int]] = [[] for _ in order]
    constants, refused = [], []
    for feature, literals in enumerate(pattern.literals):
        if literals is None:
            refused.append(feature)
        elif not literals:
            constants.append(feature)
        else:
            mine[min(number[v] for v in literals)].append(feature)
    return Plan(
        structure,
        pinned,
        tuple(
            Table.of(scope, cardinalities, pattern, features)
            for scope, features in zip(order, mine, strict=True)
        ),
        tuple(min((number[v] for v in scope[1:]), default=-1) for scope in order),
        np.array(constants, dtype=np.int64),
        np.array(refused, dtype=np.int64),
    )


def elimination_order(
    variables: Sequence[int],
    cardinalities: Sequence[int],
    scopes: Iterable[frozenset[int]],
    *,
    limit: int = CELLS,
) -> list[tuple[int, ...]]:
    """Return the scope of each table: a variable and its separator, smallest table first."""
    neighbours: dict[int, set[int]] = {v: set() for v in variables}
    for scope in scopes:
        for variable in scope:
            neighbours[variable] |= scope
    for variable in variables:
        neighbours[variable].discard(variable)

    def size(variable: int) -> int:
        return cardinalities[variable] * prod(cardinalities[u] for u in neighbours[variable])

    queue = [(size(v), v) for v in variables]
    heapq.heapify(queue)
    order, cells = [], 0
    while neighbours:
        cost, variable = heapq.heappop(queue)
        if variable not in neighbours or cost != size(variable):
            continue
        cells += cost
        if cells > limit:
            raise TooLargeError(
                f"exact inference needs tables of at least {_power(cells)} cells, the limit is "
                f"{_power(limit)}; use sampling, or fit by pseudo-likelihood"
            )
        separator = neighbours.pop(variable)
        order.append((variable, *sorted(separator)))
        for u in separator:
            neighbours[u] |= separator
            neighbours[u] -= {u, variable}
            heapq.heappush(queue, (size(u), u))
    return order


def _power(number: int) -> str:
    return str(number) if number < 10_000 else f"10^{log10(number):.1f}"


@dataclass(frozen=True, eq=False)
class Calibrated:
    """A plan with weights: each variable given its separator, and the log partition function."""

    plan: Plan
    conditionals: tuple[FloatArray, ...]
    log_partition: float

    @cached_property
    def beliefs(self) -> tuple[FloatArray, ...]:
        """Yield the marginal distribution over the scope of each table."""
        tables, found = self.plan.tables, list(self.conditionals)
        for k in reversed(range(len(tables))):
            found[k] = np.exp(self.conditionals[k])
            if self.plan.parents[k] >= 0:
                parent = self.plan.parents[k]
                separator = tables[k].scope[1:]
                above = project(found[parent], tables[parent].scope, separator)
                found[k] *= above[None]
        return tuple(found)

    def expectations(self) -> FloatArray:
        """Return the probability of each feature."""
        expected = np.zeros(len(self.plan.structure))
        expected[self.plan.constants] = 1.0
        for table, belief in zip(self.plan.tables, self.beliefs, strict=True):
            expected[table.features] = table.sums(belief)
        return expected

    def marginal(self, variables: Sequence[int]) -> FloatArray:
        """Return the distribution over variables that share a table."""
        wanted = set(variables)
        for table, belief in zip(self.plan.tables, self.beliefs, strict=True):
            if wanted <= set(table.scope):
                return project(belief, table.scope, variables)
        return np.ones(())

    def sample(self, count: int, rng: np.random.Generator) -> IntArray:
        """Draw independent exact samples as encoded rows."""
        rows = np.empty((count, len(self.plan.structure.domain)), dtype=np.int64)
        for variable, state in self.plan.pinned.items():
            rows[:, variable] = state
        steps = list(zip(self.plan.tables, self.conditionals, strict=True))
        for table, conditional in reversed(steps):
            own, separator = table.scope[0], table.scope[1:]
            up_to = np.cumsum(np.exp(conditional), axis=0)[:-1]
            given = np.moveaxis(up_to, 0, -1)[tuple(rows[:, v] for v in separator)]
            draws = rng.random(count)
            rows[:, own] = (draws[:, None] >= given).sum(axis=1)
        return rows


def calibrate(plan: Plan, weights: FloatArray) -> Calibrated:
    """Sum the variables out with these weights."""
    tables = [table.fill(weights) for table in plan.tables]
    log_partition = _constant(weights[plan.constants], weights[plan.refused])
    for k, table in enumerate(plan.tables):
        with np.errstate(invalid="ignore"):
            left = log_sum_exp(tables[k])
            # where nothing is possible below, the conditional is never asked for
            tables[k] = np.where(np.isneginf(left), -np.inf, tables[k] - left)
        if plan.parents[k] < 0:
            log_partition += float(left)
        else:
            above = plan.tables[plan.parents[k]].scope
            tables[plan.parents[k]] += spread(left, table.scope[1:], above)
    if log_partition == -np.inf:
        raise DomainError("infinite weights (or the evidence) exclude every state")
    return Calibrated(plan, tuple(tables), log_partition)


def _constant(satisfied: FloatArray, refused: FloatArray) -> float:
    if (satisfied == -np.inf).any() or (refused == np.inf).any():
        return -np.inf
    return float(satisfied[np.isfinite(satisfied)].sum())


def log_sum_exp(table: FloatArray) -> FloatArray:
    """Return log Σ exp over the first axis."""
    top = table.max(axis=0)
    safe = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        total: FloatArray = np.log(np.exp(table - safe).sum(axis=0)) + safe
    return total


def spread(table: FloatArray, scope: Sequence[int], onto: Sequence[int]) -> FloatArray:
    """Reshape a table to broadcast over a larger scope."""
    order = sorted(range(len(scope)), key=lambda k: onto.index(scope[k]))
    sizes: Mapping[int, int] = dict(zip(scope, table.shape, strict=True))
    return table.transpose(order).reshape([sizes.get(v, 1) for v in onto])


def project(table: FloatArray, scope: Sequence[int], onto: Sequence[int]) -> FloatArray:
    """Sum out axes and order the rest as requested."""
    kept = [v for v in scope if v in set(onto)]
    summed: FloatArray = table.sum(axis=tuple(k for k, v in enumerate(scope) if v not in kept))
    return summed.transpose([kept.index(v) for v in onto])


def exact_inference(
    model: LogLinear,
    *,
    pinned: Pinned | None = None,
    together: Iterable[Iterable[int]] = (),
    limit: int = CELLS,
) -> Calibrated:
    """Return all conditionals of a model, each variable given its separator."""
    made = plan(model.structure, pinned=pinned, together=together, limit=limit)
    return calibrate(made, model.weights)
