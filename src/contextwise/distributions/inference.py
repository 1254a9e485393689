"""Compute probabilities, marginals and expectations exactly, by tables of log-potentials.

A table has one axis per variable. The cells where a feature holds form a box, so filling a table
takes one sliced addition per feature, and the probability of a feature is one sliced sum. The whole
state space is one such table, or, beyond `MOST_STATES_IN_MEMORY` cells, several that fix the first
variables.

**Variable elimination** needs no table of all states. Summing out a variable ``v`` needs a table
over ``v`` and its current neighbours, its **separator** S, and leaves a table over S. The same
tables give p(v | S) for every variable. A forward pass gives the log partition function, a backward
pass the marginals of all tables and the probability of every feature. Drawing each variable given
its separator, last one first, gives exact samples. The order is greedy: the variable with the
smallest table comes next. The cost, the number of cells of all tables, is known in advance, and
more than `MOST_CELLS_OF_TABLES` raises `TooLargeError` with that estimate.

A library's junction tree would need full tables of every scope; this one takes features with value
sets. The tests compare it with pyAgrum.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log10, prod
from typing import Any

import numpy as np

from contextwise.data.rows import as_data
from contextwise.distributions.potentials import log_potential_of
from contextwise.errors import DomainError, TooLargeError
from contextwise.formats import ModelLike, as_log_linear
from contextwise.models.box import Box
from contextwise.models.domain import Assignment, Domain
from contextwise.models.factors import spread
from contextwise.models.features import Features, members
from contextwise.models.structure import LogLinear, Structure
from contextwise.support.arrays import FloatArray, IntArray

MOST_STATES_VISITED = 2**24
"""Largest state space to enumerate."""
MOST_STATES_IN_MEMORY = 2**20
"""Largest number of states in memory."""
MOST_CELLS_OF_TABLES = 2**24
"""The largest number of cells of all tables of an elimination (each takes about 24 bytes)."""

Index = tuple[slice | IntArray, ...]
Pinned = Mapping[int, int]
"""Variables that are fixed to a state, by position."""
Pattern = list[dict[int, int] | None]
"""The rest of each feature after some variables are fixed; None if they contradict it."""


def log_partition(model: ModelLike, *, context: Assignment | None = None) -> float:
    """Compute log Z, over all states or those in a context."""
    restricted, box = in_context(as_log_linear(model), context)
    return exact_inference(restricted, pinned=box.fixed).log_partition


def in_context(model: LogLinear, context: Assignment | None) -> tuple[LogLinear, Box]:
    """Return a model without the states that a context excludes; fixed variables stay."""
    box = Box.of(model.domain, context)
    return (model.restrict(box.several) if box.several else model), box


def log_probability(model: ModelLike, rows: Any) -> FloatArray:
    """Compute log p(x) of each row; ``-inf`` where infinite weights exclude it.

    Parameters
    ----------
    model : LogLinear, path of a file, or name of an example
    rows : array, DataFrame, list of rows, or path of a file; see `Domain.encode`

    Examples
    --------
    >>> from contextwise import LogLinear, Structure
    >>> model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), [np.log(5)])
    >>> np.exp(log_probability(model, [[0, 1], [1, 1]])).round(3).tolist()
    [0.125, 0.625]
    """
    loaded = as_log_linear(model)
    encoded = as_data(rows, loaded.domain).expanded.rows
    return log_potential_of(loaded, encoded) - log_partition(loaded)


def probabilities(model: ModelLike) -> FloatArray:
    """Compute the probability of every state, of at most 2**24: one axis per variable.

    Parameters
    ----------
    model : LogLinear, path of a file, or name of an example

    Examples
    --------
    >>> from contextwise import LogLinear, Structure
    >>> model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), [np.log(5)])
    >>> probabilities(model).round(3).tolist()
    [[0.125, 0.125], [0.125, 0.625]]
    """
    loaded = as_log_linear(model)
    table = np.concatenate([block for (block,) in log_potential_blocks(loaded)])
    top = table.max()
    if top == -np.inf:
        raise DomainError("infinite weights exclude every state; use finite weights")
    np.exp(table - top, out=table)
    table /= table.sum()
    return table.reshape(loaded.domain.cardinalities)


def marginal(
    model: ModelLike, variables: str | Sequence[str], *, context: Assignment | None = None
) -> FloatArray:
    """Compute the distribution of some variables, one axis for each, in this order.

    Parameters
    ----------
    model : LogLinear, path of a file, or name of an example
    variables : a name, or several
    context : partial assignment, optional
        The marginal is conditional on these states of other variables.

    Examples
    --------
    >>> from contextwise import LogLinear, Structure
    >>> model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), [np.log(5)])
    >>> marginal(model, "A").round(3).tolist()
    [0.25, 0.75]
    >>> marginal(model, "A", context="B=1").round(3).tolist()
    [0.167, 0.833]
    """
    loaded = as_log_linear(model)
    names = [variables] if isinstance(variables, str) else list(variables)
    positions = [loaded.domain.position(name) for name in names]
    restricted, box = in_context(loaded, context)
    for name, position in zip(names, positions, strict=True):
        if position in box.allowed or names.count(name) > 1:
            raise DomainError(f"{name!r} must appear once, and not in the context")
    return exact_inference(restricted, pinned=box.fixed, together=[positions]).marginal(positions)


# -- tables ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TableShape:
    """The shape of a table over some variables, and the boxes of its features."""

    scope: tuple[int, ...]
    shape: tuple[int, ...]
    features: IntArray
    boxes: tuple[Index, ...]

    @classmethod
    def of(
        cls,
        scope: Sequence[int],
        cardinalities: Sequence[int],
        pattern: Pattern,
        features: Sequence[int],
    ) -> TableShape:
        """Lay out the table over ``scope`` for features inside the scope."""
        shape = tuple(cardinalities[v] for v in scope)
        boxes = tuple(_box(pattern[f] or {}, scope, shape) for f in features)
        return cls(tuple(scope), shape, np.array(features, dtype=np.int64), boxes)

    def fill(self, weights: FloatArray) -> FloatArray:
        """Return the log-potential of every cell; ``inf`` must hold, ``-inf`` must not."""
        table = np.zeros(self.shape)
        for weight, box in zip(weights[self.features].tolist(), self.boxes, strict=True):
            if weight == np.inf:
                outside = np.full(self.shape, -np.inf)
                outside[box] = 0.0
                table += outside
            else:
                table[box] += weight
        return table

    def sums(self, table: FloatArray) -> FloatArray:
        """Return the sum over the cells of each feature."""
        return np.array([table[box].sum() for box in self.boxes])


def pattern_of(features: Features, pinned: Pinned) -> Pattern:
    """Drop the literals that fixed values satisfy, and the features they contradict."""
    left: Pattern = []
    for literals in features.literals():
        refused = any(v in pinned and not s >> pinned[v] & 1 for v, s in literals)
        left.append(None if refused else {v: s for v, s in literals if v not in pinned})
    return left


def _box(literals: Mapping[int, int], scope: Sequence[int], shape: Sequence[int]) -> Index:
    axes: list[slice | list[int]] = []
    for variable, size in zip(scope, shape, strict=True):
        values = members(literals[variable]) if variable in literals else list(range(size))
        # Adjacent values become a slice, which NumPy adds to without a copy.
        runs = values[-1] - values[0] + 1 == len(values)
        axes.append(slice(values[0], values[-1] + 1) if runs else values)
    if all(isinstance(axis, slice) for axis in axes):
        return tuple(axis for axis in axes if isinstance(axis, slice))
    ranges = zip(axes, shape, strict=True)
    return np.ix_(*(np.arange(n)[a] if isinstance(a, slice) else a for a, n in ranges))


def states(domain: Domain) -> IntArray:
    """Return all states, at most 2**24, as encoded rows, the last variable fastest.

    >>> states(Domain({"A": 2, "B": 2})).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    count = state_count(domain)
    places = np.unravel_index(np.arange(count), domain.cardinalities) if len(domain) else ()
    return np.stack(places, axis=1) if places else np.zeros((1, 0), dtype=np.int64)


def state_count(domain: Domain) -> int:
    """Return the number of states, or raise if there are too many to visit."""
    count = prod(domain.cardinalities)
    if count > MOST_STATES_VISITED:
        raise TooLargeError(
            f"the {len(domain)} variables have {count:.3g} states, and at most "
            f"{MOST_STATES_VISITED:,} can be visited"
        )
    return count


def log_potential_blocks(*models: LogLinear) -> Iterator[tuple[FloatArray, ...]]:
    """Yield the log-potentials of all states in blocks, in the order of `states`."""
    domain = models[0].domain
    state_count(domain)
    cards = domain.cardinalities
    lead = 0
    while prod(cards[lead:]) > MOST_STATES_IN_MEMORY:
        lead += 1
    scope = range(lead, len(domain))
    for leading in itertools.product(*map(range, cards[:lead])):
        pinned = dict(enumerate(leading))
        yield tuple(_block(model, scope, pinned) for model in models)


def _block(model: LogLinear, scope: Sequence[int], pinned: Pinned) -> FloatArray:
    pattern = pattern_of(model.structure.features, pinned)
    alive = [f for f, literals in enumerate(pattern) if literals is not None]
    table = TableShape.of(scope, model.domain.cardinalities, pattern, alive).fill(model.weights)
    dead = np.ones(len(model), dtype=bool)
    dead[alive] = False
    # A feature that must hold cannot hold in this block.
    if (model.weights[dead] == np.inf).any():
        table[...] = -np.inf
    return table.reshape(-1)


# -- elimination -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Plan:
    """An elimination order and the layout of its tables, for any weights."""

    structure: Structure
    pinned: Pinned
    tables: tuple[TableShape, ...]
    parents: tuple[int, ...]
    constants: IntArray
    refused: IntArray


def plan(
    structure: Structure, *, pinned: Pinned | None = None, together: Iterable[Iterable[int]] = ()
) -> Plan:
    """Choose an order and lay out the tables."""
    pinned = {} if pinned is None else pinned
    cardinalities = structure.domain.cardinalities
    pattern = pattern_of(structure.features, pinned)
    free = [v for v in range(len(structure.domain)) if v not in pinned]
    wanted = {frozenset(v for v in scope if v not in pinned) for scope in together}
    scopes = {frozenset(literals) for literals in pattern if literals is not None}
    order = elimination_order(free, cardinalities, scopes | wanted)
    number = {scope[0]: k for k, scope in enumerate(order)}

    factors_of: list[list[int]] = [[] for _ in order]
    constants, refused = [], []
    for feature, literals in enumerate(pattern):
        if literals is None:
            refused.append(feature)
        elif not literals:
            constants.append(feature)
        else:
            # A feature goes into the table of its first variable to be summed out.
            factors_of[min(number[v] for v in literals)].append(feature)
    return Plan(
        structure,
        pinned,
        tuple(
            TableShape.of(scope, cardinalities, pattern, features)
            for scope, features in zip(order, factors_of, strict=True)
        ),
        tuple(min((number[v] for v in scope[1:]), default=-1) for scope in order),
        np.array(constants, dtype=np.int64),
        np.array(refused, dtype=np.int64),
    )


def elimination_order(
    variables: Sequence[int], cardinalities: Sequence[int], scopes: Iterable[frozenset[int]]
) -> list[tuple[int, ...]]:
    """Return the scope of each table: a variable and its separator, smallest table first.

    Summing out the ends of a chain 0–1–2–3 first needs tables of two variables alone; 1 first
    would link 0 and 2, a table of three.

    >>> elimination_order(range(4), [2] * 4, [frozenset({v, v + 1}) for v in range(3)])
    [(0, 1), (1, 2), (2, 3), (3,)]
    """
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
        if cells > MOST_CELLS_OF_TABLES:
            sizes = (
                str(n) if n < 10_000 else f"10^{log10(n):.1f}"
                for n in (cells, MOST_CELLS_OF_TABLES)
            )
            raise TooLargeError(
                "exact inference needs tables of at least {} cells, the limit is {}; Gibbs "
                "sampling and pseudo-likelihood do not need them".format(*sizes)
            )
        separator = neighbours.pop(variable)
        order.append((variable, *sorted(separator)))
        for u in separator:
            neighbours[u] |= separator
            neighbours[u] -= {u, variable}
            heapq.heappush(queue, (size(u), u))
    return order


@dataclass(frozen=True, eq=False)
class Calibrated:
    """A plan with weights: each variable given its separator, and the log partition function."""

    plan: Plan
    conditionals: tuple[FloatArray, ...]
    log_partition: float

    @cached_property
    def beliefs(self) -> tuple[FloatArray, ...]:
        """The marginal distribution over the scope of each table."""
        tables, beliefs = self.plan.tables, list(self.conditionals)
        for k in reversed(range(len(tables))):
            beliefs[k] = np.exp(self.conditionals[k])
            parent = self.plan.parents[k]
            if parent >= 0:
                separator = tables[k].scope[1:]
                beliefs[k] *= project(beliefs[parent], tables[parent].scope, separator)[None]
        return tuple(beliefs)

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
        # In reverse order, the variables that a table is conditioned on are already drawn.
        for table, conditional in reversed(steps):
            variable, *separator = table.scope
            # Without the last limit, which rounding may leave below the draw.
            up_to = np.cumsum(np.exp(conditional), axis=0)[:-1]
            limits = np.moveaxis(up_to, 0, -1)[tuple(rows[:, v] for v in separator)]
            rows[:, variable] = (rng.random(count)[:, None] >= limits).sum(axis=1)
        return rows


def calibrate(plan: Plan, weights: FloatArray) -> Calibrated:
    """Sum the variables out with these weights."""
    tables = [table.fill(weights) for table in plan.tables]
    satisfied = weights[plan.constants]
    # A feature of infinite weight that always holds changes nothing.
    log_partition = float(satisfied[np.isfinite(satisfied)].sum())
    if (satisfied == -np.inf).any() or (weights[plan.refused] == np.inf).any():
        log_partition = -np.inf
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


def log_sum_exp(table: FloatArray) -> FloatArray:
    """Return log Σ exp over the first axis."""
    top = table.max(axis=0)
    # -inf minus -inf would be nan.
    safe = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        total: FloatArray = np.log(np.exp(table - safe).sum(axis=0)) + safe
    return total


def project(table: FloatArray, scope: Sequence[int], onto: Sequence[int]) -> FloatArray:
    """Sum out axes and order the rest as requested."""
    kept = [v for v in scope if v in set(onto)]
    summed: FloatArray = table.sum(axis=tuple(k for k, v in enumerate(scope) if v not in kept))
    return summed.transpose([kept.index(v) for v in onto])


def exact_inference(
    model: LogLinear, *, pinned: Pinned | None = None, together: Iterable[Iterable[int]] = ()
) -> Calibrated:
    """Return all conditionals of a model, each variable given its separator."""
    return calibrate(plan(model.structure, pinned=pinned, together=together), model.weights)
