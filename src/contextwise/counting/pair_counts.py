"""The sizes of the three unions of each pair: exact counts, or proven bounds.

Every engine returns `PairCounts`. Two functions make one without an engine: `bound_pairs`, before
anything is counted, and `count_rows`, over observed rows instead of all contexts.

`bound_pairs` uses that a union is at least its largest cube and at most the sum of its cubes, and
that the union of both models lies between the larger of their unions and the sum. The size of a
cube is the product of its literals' shares. It is computed in floating point as a sum of
logarithms, and rounded outwards by a margin far above the error of the sum. The bounds themselves
are exact ints.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from contextwise.counting.contexts import UNIFORM, ContextSpace, ValueWeights
from contextwise.counting.extraction import covering_features, pair_features
from contextwise.models.features import Features, as_int, members
from contextwise.support.arrays import IntArray, ObjectArray

MARGIN = 1e-9
"""Relative; a sum of 1,000 logarithms errs by about 1e-12."""
TINY = 1e-100
"""Absolute; replaces shares of 0 and shares too small for a float."""

CELLS = 2**26
"""The most (row, pair) cells in memory at once."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PairCounts:
    """The sizes of three unions for each pair: of the first model, the second, and both.

    ``lower`` and ``upper`` are exact ints in object arrays of shape (pairs, 3), equal where the
    count is finished. ``counted`` is the number of unions that each engine counted, ``nodes`` how
    many nodes the recursion of the kernel visited.

    The last union of the second pair is known only within bounds.

    >>> lower = np.array([[1, 2, 2], [3, 3, 4]], dtype=object)
    >>> upper = np.array([[1, 2, 2], [3, 3, 6]], dtype=object)
    >>> PairCounts(lower, upper).open
    array([1])
    """

    lower: ObjectArray
    upper: ObjectArray
    counted: Mapping[str, int] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    interrupted: bool = False
    nodes: int = 0

    @cached_property
    def open(self) -> IntArray:
        """Places of the pairs with an unfinished union, rising."""
        if self.lower is self.upper:
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero((self.lower != self.upper).any(axis=1))

    @property
    def distances(self) -> ObjectArray:
        """The number of contexts of each pair in which the models differ, if no pair is open."""
        a, b, u = self.lower.T
        distances: ObjectArray = 2 * u - a - b
        return distances

    def shares_of(self, sizes: Sequence[int]) -> PairCounts:
        """Divide the counts by the sizes of the pairs, as exact rationals."""
        whole = np.array([Fraction(size) for size in sizes], dtype=object)[:, None]
        return replace(self, lower=self.lower / whole, upper=self.upper / whole)

    def refine(self, places: IntArray, later: PairCounts) -> PairCounts:
        """Combine with later counts of the pairs at ``places``."""
        again = int((self.lower[places] == self.upper[places]).sum())
        counted, seconds = {**self.counted}, {**self.seconds}
        for name, count in later.counted.items():
            counted[name] = counted.get(name, 0) + count - again
        for name, more in later.seconds.items():
            seconds[name] = seconds.get(name, 0.0) + more
        lower, upper = self.lower.copy(), self.upper.copy()
        lower[places] = np.maximum(lower[places], later.lower)
        upper[places] = np.minimum(upper[places], later.upper)
        return PairCounts(
            lower,
            upper,
            counted,
            seconds,
            self.interrupted or later.interrupted,
            self.nodes + later.nodes,
        )


# -- before anything is counted ------------------------------------------------------------------


def bound_pairs(
    a: Features,
    b: Features,
    pairs: IntArray,
    *,
    space: ContextSpace = UNIFORM,
) -> PairCounts:
    """Bound the three unions of each pair by the sizes of their cubes."""
    largest, summed = np.zeros((len(pairs), 3)), np.zeros((len(pairs), 3))
    for column, features in enumerate((a, b)):
        shares = PairShares(covering_features(features, pairs), space)
        largest[:, column], summed[:, column] = shares.of(pairs)
    largest[:, 2] = largest[:, :2].max(axis=1)
    summed[:, 2] = summed[:, :2].sum(axis=1)
    contexts = space.of_pairs(a.cardinalities.tolist(), pairs)
    at_least = np.maximum(largest * (1 - MARGIN) - TINY, 0.0)
    at_most = np.where(summed > 0, np.minimum(summed * (1 + MARGIN) + TINY, 1.0), 0.0)
    return PairCounts(_of_contexts(at_least, contexts, 0), _of_contexts(at_most, contexts, 1))


def tighten(lower: ObjectArray, upper: ObjectArray) -> tuple[ObjectArray, ObjectArray]:
    """Tighten bounds on three unions by each other: |A|, |B| ≤ |A ∪ B| ≤ |A| + |B|.

    >>> lower, upper = tighten(np.array([[3, 2, 0]], object), np.array([[3, 9, 4]], object))
    >>> lower.tolist(), upper.tolist()
    ([[3, 2, 3]], [[3, 4, 4]])
    """
    (a, b, u), (a_most, b_most, u_most) = lower.T, upper.T
    u = np.maximum(u, np.maximum(a, b))
    u_most = np.minimum(u_most, a_most + b_most)
    a, b = np.maximum(a, u - b_most), np.maximum(b, u - a_most)
    a_most, b_most = np.minimum(a_most, u_most), np.minimum(b_most, u_most)
    return np.stack([a, b, u], axis=1), np.stack([a_most, b_most, u_most], axis=1)


class PairShares:
    """The share of its pair's contexts that each cube covers, for all pairs of some features.

    ``pairs``, ``starts`` and ``owners`` are those of `pair_features`; ``shares`` belong to the
    owners.
    """

    def __init__(self, features: Features, space: ContextSpace) -> None:
        n = len(features.cardinalities)
        literal = np.log(np.maximum(_literal_shares(features, space.weights), TINY))
        feature = np.bincount(features.owners, weights=literal, minlength=len(features))
        pairs, self.starts, owners = pair_features(features)
        self.pairs, self.owners = pairs, owners
        logs = feature[owners].astype(np.float64)  # bincount of nothing gives ints
        if not space.canonical and features.pairs is None:
            place = features.owners * n + features.variables
            for variable in np.repeat(pairs, np.diff(self.starts), axis=0).T:
                logs -= literal[np.searchsorted(place, owners * n + variable)]
        self.shares = np.maximum(np.exp(logs), TINY)
        self.position = {pair: k for k, pair in enumerate(map(tuple, pairs.tolist()))}

    def of(self, pairs: IntArray) -> tuple[Floats, Floats]:
        """Return the largest and the summed share of each pair; 0 if it has no cube."""
        largest, summed = np.zeros(len(pairs)), np.zeros(len(pairs))
        if self.position:
            at = np.array([self.position.get((i, j), -1) for i, j in pairs.tolist()], np.int64)
            known = at >= 0
            largest[known] = np.maximum.reduceat(self.shares, self.starts[:-1])[at[known]]
            summed[known] = np.add.reduceat(self.shares, self.starts[:-1])[at[known]]
        return largest, summed


def _literal_shares(features: Features, value_weights: ValueWeights | None) -> Floats:
    """Return the share of its variable that each literal allows."""
    table = np.column_stack([features.variables.astype(np.uint64), features.values])
    distinct, inverse = np.unique(table, axis=0, return_inverse=True)
    shares = np.empty(len(distinct))
    for k, (variable, *words) in enumerate(distinct):
        values = members(as_int(np.array(words, dtype=np.uint64)))
        if value_weights is None:
            shares[k] = len(values) / int(features.cardinalities[int(variable)])
        else:
            weights = value_weights[int(variable)]
            shares[k] = Fraction(sum(weights[v] for v in values), sum(weights))
    return shares[inverse.reshape(-1)]


def _of_contexts(shares: Floats, contexts: Sequence[int], up: int) -> ObjectArray:
    """Multiply each share by its pair's contexts and round to an int: down, or up by one."""
    result = np.zeros(shares.shape, dtype=object)
    for k, column in zip(*map(np.ndarray.tolist, np.nonzero(shares)), strict=True):
        numerator, denominator = float(shares[k, column]).as_integer_ratio()
        whole = contexts[k] * numerator // denominator
        result[k, column] = min(whole + up, contexts[k])
    return result


# -- over observed rows --------------------------------------------------------------------------


def count_rows(
    a: Features, b: Features, pairs: IntArray, rows: IntArray, *, space: ContextSpace = UNIFORM
) -> PairCounts:
    """Count for each pair the rows in which it depends: in the first model, the second, and either.

    A pair depends in a row if all literals of a covering feature hold there, except the pair's own.
    """
    began = time.perf_counter()
    counts = np.zeros((len(pairs), 3), dtype=np.int64)
    step = max(1, CELLS // max(1, len(pairs)))
    for first in range(0, len(rows), step):
        block = rows[first : first + step]
        in_a = _dependent(a, pairs, block, space.canonical)
        in_b = _dependent(b, pairs, block, space.canonical)
        counts[:, 0] += in_a.sum(axis=1)
        counts[:, 1] += in_b.sum(axis=1)
        counts[:, 2] += (in_a | in_b).sum(axis=1)
    exact = counts.astype(object)
    seconds = {"counting": time.perf_counter() - began}
    return PairCounts(exact, exact, {"rows": 3 * len(pairs)}, seconds)


def _dependent(
    features: Features, pairs: IntArray, rows: IntArray, canonical: bool
) -> npt.NDArray[np.bool_]:
    """Return whether each pair depends in each row: shape (pairs, rows)."""
    n = len(features.cardinalities)
    place = {(i, j): k for k, (i, j) in enumerate(pairs.tolist())}
    dependent = np.zeros((len(pairs), len(rows)), dtype=bool)
    known, starts, owners = pair_features(features)
    pairs_of: dict[int, list[tuple[int, int, int]]] = {}
    for k, (i, j) in enumerate(known.tolist()):
        if (i, j) in place:
            for f in owners[starts[k] : starts[k + 1]].tolist():
                pairs_of.setdefault(f, []).append((place[i, j], i, j))
    columns = np.ascontiguousarray(rows.T) if n else rows
    for f, its_pairs in pairs_of.items():
        literals = range(features.starts[f], features.starts[f + 1])
        fails = {}
        for k in literals:
            words, variable = features.values[k].astype("<u8"), int(features.variables[k])
            refused = np.unpackbits(words.view(np.uint8), bitorder="little") == 0
            fails[variable] = refused[columns[variable]]
        failing = sum((mask.astype(np.int16) for mask in fails.values()), np.zeros(len(rows), "i2"))
        own = None if canonical or features.pairs is not None else fails
        for p, i, j in its_pairs:
            dependent[p] |= failing == (0 if own is None else own[i].astype(np.int16) + own[j])
    return dependent
