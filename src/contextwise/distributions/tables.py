"""Fill tables of log-potentials.

A table has one axis per variable. The cells where a feature holds form a box, so filling a table
takes one sliced addition per feature, and the probability of a feature is one sliced sum. The whole
state space is one such table, or, beyond `BLOCK` cells, several that fix the first variables.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from contextwise.distributions.potentials import FloatArray
from contextwise.errors import TooLargeError
from contextwise.models.domain import Domain
from contextwise.models.features import Features, IntArray, members
from contextwise.models.structure import LogLinear

STATES = 2**24
"""Largest state space to enumerate."""

BLOCK = 2**20
"""Largest number of states in memory."""

Index = tuple[slice | IntArray, ...]
Pinned = Mapping[int, int]
"""Variables that are fixed to a state, by position."""


@dataclass(frozen=True, eq=False)
class Pattern:
    """The rest of the features after some variables are fixed."""

    literals: tuple[dict[int, int] | None, ...]

    @classmethod
    def of(cls, features: Features, pinned: Pinned) -> Pattern:
        """Drop the literals that the fixed values satisfy and the features they contradict."""
        left: list[dict[int, int] | None] = []
        for literals in features.literals():
            refused = any(v in pinned and not s >> pinned[v] & 1 for v, s in literals)
            left.append(None if refused else {v: s for v, s in literals if v not in pinned})
        return cls(tuple(left))


@dataclass(frozen=True, eq=False)
class Table:
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
    ) -> Table:
        """Lay out the table over ``scope`` for features inside the scope."""
        shape = tuple(cardinalities[v] for v in scope)
        boxes = tuple(_box(pattern.literals[f] or {}, scope, shape) for f in features)
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


def _box(literals: Mapping[int, int], scope: Sequence[int], shape: Sequence[int]) -> Index:
    axes: list[slice | list[int]] = []
    for variable, size in zip(scope, shape, strict=True):
        values = members(literals[variable]) if variable in literals else list(range(size))
        runs = values[-1] - values[0] + 1 == len(values)
        axes.append(slice(values[0], values[-1] + 1) if runs else values)
    if all(isinstance(axis, slice) for axis in axes):
        return tuple(axis for axis in axes if isinstance(axis, slice))
    ranges = zip(axes, shape, strict=True)
    return np.ix_(*(np.arange(n)[a] if isinstance(a, slice) else a for a, n in ranges))


def states(domain: Domain) -> IntArray:
    """Return all states as encoded rows, the last variable fastest.

    Parameters
    ----------
    domain : Domain

    Returns
    -------
    array of int of shape (states, variables)

    Raises
    ------
    TooLargeError
        If there are more than 2**24 states.

    Examples
    --------
    >>> states(Domain({"A": 2, "B": 2})).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    count = state_count(domain)
    places = np.unravel_index(np.arange(count), domain.cardinalities) if len(domain) else ()
    return np.stack(places, axis=1) if places else np.zeros((1, 0), dtype=np.int64)


def state_count(domain: Domain, limit: int = STATES) -> int:
    """Return the number of states, or raise if it exceeds ``limit``."""
    count = prod(domain.cardinalities)
    if count > limit:
        raise TooLargeError(
            f"the {len(domain)} variables have {count:.3g} states, and at most {limit:,} can be "
            "visited"
        )
    return count


def log_potential_blocks(*models: LogLinear) -> Iterator[tuple[FloatArray, ...]]:
    """Yield the log-potentials of all states in blocks, in the order of `states`."""
    domain = models[0].domain
    state_count(domain)
    cards = domain.cardinalities
    lead = 0
    while prod(cards[lead:]) > BLOCK:
        lead += 1
    scope = range(lead, len(domain))
    for leading in itertools.product(*map(range, cards[:lead])):
        pinned = dict(enumerate(leading))
        yield tuple(_block(model, scope, pinned) for model in models)


def _block(model: LogLinear, scope: Sequence[int], pinned: Pinned) -> FloatArray:
    pattern = Pattern.of(model.structure.features, pinned)
    alive = [f for f, literals in enumerate(pattern.literals) if literals is not None]
    table = Table.of(scope, model.domain.cardinalities, pattern, alive).fill(model.weights)
    dead = np.ones(len(model), dtype=bool)
    dead[alive] = False
    if (model.weights[dead] == np.inf).any():
        table[...] = -np.inf
    return table.reshape(-1)
