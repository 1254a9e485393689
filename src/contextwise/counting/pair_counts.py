"""The sizes of the three unions of each pair: exact counts, or proven bounds.

Every engine returns `PairCounts`. Counts of a pair over the variables that its features test are
small; they are kept in a common unit, and exact numbers of contexts are made on demand. Two
functions make one without an engine: `bound_pairs`, before
anything is counted, and `count_rows`, over observed rows instead of all contexts.

`bound_pairs` uses that a union is at least its largest cube and at most the sum of its cubes, and
that the union of both models lies between the larger of their unions and the sum. The size of a
cube is the product of its literals' shares. It is computed in floating point as a sum of
logarithms, and rounded outwards by a margin far above the error of the sum. The bounds themselves
are exact ints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import prod
from sys import getsizeof
from typing import Any

import numpy as np
import numpy.typing as npt

from contextwise.counting.contexts import UNIFORM, ContextSpace, ValueWeights
from contextwise.counting.extraction import covering_features, find_pairs, pair_features
from contextwise.models.features import Features, as_int, members
from contextwise.support.arrays import FloatArray, IntArray, ObjectArray
from contextwise.support.machine import require_memory

MARGIN = 1e-9
"""Relative; a sum of 1,000 logarithms errs by about 1e-12."""
SMALLEST_SHARE = 1e-100
"""Absolute; replaces shares of 0 and shares too small for a float."""

CELLS_IN_MEMORY = 2**26
"""The most (row, pair) cells in memory at once."""


CountArray = npt.NDArray[Any]
"""Exact counts: machine integers below 2^62 if all fit, otherwise Python ints or Fractions."""


@dataclass(frozen=True)
class PairCounts:
    """The sizes of three unions for each pair: of the first model, the second, and both.

    ``low`` and ``high`` have shape (pairs, 3) and are equal where the count is finished. They are
    in a common unit of ``unit`` contexts: variables that the features of a pair do not test only
    multiply its counts, so small numbers are enough. ``lower`` and ``upper`` are the exact numbers
    of contexts, made on demand. ``nodes`` is the number of nodes that the kernel's recursion
    visited.

    The last union of the second pair is known only within bounds.

    >>> low = np.array([[1, 2, 2], [3, 3, 4]])
    >>> high = np.array([[1, 2, 2], [3, 3, 6]])
    >>> counts = PairCounts(low, high, unit=2**100)
    >>> counts.open_places, counts.upper[1, 2] == 6 * 2**100
    (array([1]), True)
    """

    low: CountArray
    high: CountArray
    interrupted: bool = False
    nodes: int = 0
    unit: int | Fraction = 1

    @cached_property
    def open_places(self) -> IntArray:
        """Places of the pairs with an unfinished union, rising."""
        if self.low is self.high:
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero((self.low != self.high).any(axis=1))

    @cached_property
    def lower(self) -> ObjectArray:
        """The lower bounds as exact numbers of contexts."""
        return self.exact(self.low)

    @cached_property
    def upper(self) -> ObjectArray:
        """The upper bounds as exact numbers of contexts."""
        return self.lower if self.high is self.low else self.exact(self.high)

    def exact(self, numbers: CountArray) -> ObjectArray:
        """Return numbers of units as numbers of contexts."""
        self.require_memory(numbers.size)
        exact: ObjectArray = numbers.astype(object)
        return exact if self.unit == 1 else exact * self.unit

    def require_memory(
        self,
        numbers: int,
        instead: str = "use shares, totals or fewer pairs",
        what: str = "making the exact counts of all pairs",
    ) -> None:
        """Raise `TooLargeError` if there is no room for this many exact numbers of contexts."""
        size = sum(map(getsizeof, self.unit.as_integer_ratio())) + 12
        require_memory(numbers * size, what, instead)

    def total(self, numbers: CountArray) -> Any:
        """Add up numbers of units of all pairs, as numbers of contexts."""
        sums = exact_sum(numbers)
        if not len(numbers):
            return sums  # 0, even if the unit is a Fraction
        return [s * self.unit for s in sums] if isinstance(sums, list) else sums * self.unit

    @property
    def apart(self) -> CountArray:
        """The units of each pair in which the models differ, if no pair is open."""
        a, b, u = self.low.T
        apart: CountArray = 2 * u - a - b
        return apart

    @property
    def distances(self) -> ObjectArray:
        """The number of contexts of each pair in which the models differ, if no pair is open."""
        return self.exact(self.apart)

    def shares_of(
        self, space: ContextSpace, cardinalities: Sequence[int], pairs: IntArray
    ) -> PairCounts:
        """Divide the counts by the total weight of their pair's contexts, as exact rationals."""
        sizes = space.sizes(cardinalities)
        unit = Fraction(self.unit) / prod(sizes)
        if space.canonical:
            return replace(self, unit=unit)
        kind = self.low.dtype if max(sizes, default=0) < 2**62 else np.dtype(object)
        weights = np.array([*sizes, None], dtype=object)[:-1].astype(kind)[pairs]
        of_pairs = weights.prod(axis=1)[:, None]
        return replace(self, low=self.low * of_pairs, high=self.high * of_pairs, unit=unit)


ROWS_ADDED_IN_PYTHON = 32
"""Rows that Python adds up faster than NumPy."""


def exact_sum(numbers: CountArray) -> Any:
    """Add up along the first axis, as Python ints of any size.

    >>> exact_sum(np.full((4, 2), 2**62))
    [18446744073709551616, 18446744073709551616]
    """
    if numbers.ndim == 2 and 0 < len(numbers) <= ROWS_ADDED_IN_PYTHON:
        return [sum(column) for column in zip(*numbers.tolist(), strict=True)]
    if numbers.dtype == object:
        total = numbers.sum(axis=0)
        return total.tolist() if isinstance(total, np.ndarray) else total
    largest = max(int(numbers.max(initial=0)), -int(numbers.min(initial=0)))
    if largest.bit_length() + len(numbers).bit_length() < 64:  # the sum fits into 63 bits
        return numbers.sum(axis=0).tolist()
    # Sums of 64-bit numbers could overflow; those of their halves cannot.
    parts = (numbers >> 31, numbers & (2**31 - 1))
    high, low = (np.asarray(part.sum(axis=0)).astype(object) for part in parts)
    total = high * 2**31 + low
    return total.tolist() if isinstance(total, np.ndarray) else total


# -- before anything is counted ------------------------------------------------------------------


def bound_pairs(
    a: Features,
    b: Features,
    pairs: IntArray,
    *,
    space: ContextSpace = UNIFORM,
) -> PairCounts:
    """Bound the three unions of each pair by the sizes of their cubes.

    A and B depend where C=1 or D=1: at least in the larger cube, 2 contexts, at most in 2 + 2 (the
    bounds are rounded outwards).

    >>> from contextwise import Structure
    >>> two = Structure(dict.fromkeys("ABCD", 2), ["A=1 & B=1 & C=1", "A=1 & B=1 & D=1"])
    >>> none = Structure(two.domain)
    >>> bounds = bound_pairs(two.features, none.features, np.array([[0, 1]]))
    >>> bounds.lower.tolist(), bounds.upper.tolist()
    ([[1, 0, 1]], [[4, 0, 4]])
    """
    largest, summed = np.zeros((len(pairs), 3)), np.zeros((len(pairs), 3))
    for column, features in enumerate((a, b)):
        shares = PairShares(covering_features(features, pairs), space)
        largest[:, column], summed[:, column] = shares.of(pairs)
    largest[:, 2] = largest[:, :2].max(axis=1)
    summed[:, 2] = summed[:, :2].sum(axis=1)
    contexts = space.of_pairs(a.cardinalities.tolist(), pairs)
    at_least = np.maximum(largest * (1 - MARGIN) - SMALLEST_SHARE, 0.0)
    at_most = np.where(summed > 0, np.minimum(summed * (1 + MARGIN) + SMALLEST_SHARE, 1.0), 0.0)
    return PairCounts(_of_contexts(at_least, contexts, 0), _of_contexts(at_most, contexts, 1))


def tighten(lower: CountArray, upper: CountArray) -> tuple[CountArray, CountArray]:
    """Tighten bounds on three unions by each other: |A|, |B| ≤ |A ∪ B| ≤ |A| + |B|.

    >>> lower, upper = tighten(np.array([[3, 2, 0]], object), np.array([[3, 9, 4]], object))
    >>> lower.tolist(), upper.tolist()
    ([[3, 2, 3]], [[3, 4, 4]])
    """
    (a, b, u), (a_most, b_most, u_most) = lower.T, upper.T
    u = np.maximum(u, np.maximum(a, b))
    u_most = np.minimum(u_most, a_most + b_most)
    # What the union has and B cannot have must be in A, and the other way round.
    a, b = np.maximum(a, u - b_most), np.maximum(b, u - a_most)
    a_most, b_most = np.minimum(a_most, u_most), np.minimum(b_most, u_most)
    return np.stack([a, b, u], axis=1), np.stack([a_most, b_most, u_most], axis=1)


class PairShares:
    """The share of its pair's contexts that each cube covers, for all pairs of some features.

    ``pairs``, ``starts`` and ``owners`` are those of `pair_features`; ``shares`` belong to the
    owners.
    """

    def __init__(self, features: Features, space: ContextSpace) -> None:
        self.features, self.space = features, space
        n = len(features.cardinalities)
        # Sums of logs, because a product of many shares is too small for a float.
        literal = np.log(np.maximum(_literal_shares(features, space.weights), SMALLEST_SHARE))
        feature = np.bincount(features.owners, weights=literal, minlength=len(features))
        pairs, self.starts, owners = pair_features(features)
        self.pairs, self.owners = pairs, owners
        logs = feature[owners].astype(np.float64)  # bincount of nothing gives ints
        if not space.canonical and features.pairs is None:
            place = features.owners * n + features.variables
            of_variable = np.zeros(n)
            of_variable[features.variables] = literal
            alike = np.array_equal(of_variable[features.variables], literal)  # as single values are
            for variable in np.repeat(pairs, np.diff(self.starts), axis=0).T:
                if alike:
                    logs -= of_variable[variable]
                else:
                    logs -= literal[np.searchsorted(place, owners * n + variable)]
        self.shares = np.maximum(np.exp(logs), SMALLEST_SHARE)
        self.variables = n

    def of(self, pairs: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the largest and the summed share of each pair; 0 if it has no cube."""
        largest, summed = np.zeros(len(pairs)), np.zeros(len(pairs))
        if len(self.pairs):
            at = find_pairs(self.pairs, pairs, self.variables)
            known = at >= 0
            largest[known] = np.maximum.reduceat(self.shares, self.starts[:-1])[at[known]]
            summed[known] = np.add.reduceat(self.shares, self.starts[:-1])[at[known]]
        return largest, summed


def _literal_shares(features: Features, value_weights: ValueWeights | None) -> FloatArray:
    """Return the share of its variable that each literal allows."""
    distinct, inverse = features.distinct_literals()
    shares: FloatArray = np.empty(len(distinct))
    if value_weights is None:
        allowed = np.unpackbits(distinct[:, 1:].copy().view(np.uint8), axis=1).sum(axis=1)
        shares = allowed / features.cardinalities[distinct[:, 0].astype(np.int64)]
        return shares[inverse]
    for k, (variable, *words) in enumerate(distinct):
        values = members(as_int(np.array(words, dtype=np.uint64)))
        weights = value_weights[int(variable)]
        shares[k] = Fraction(sum(weights[v] for v in values), sum(weights))
    return shares[inverse]


def _of_contexts(shares: FloatArray, contexts: Sequence[int], up: int) -> ObjectArray:
    """Multiply each share by its pair's contexts and round to an int: down, or up by one."""
    result = np.zeros(shares.shape, dtype=object)
    for k, column in zip(*map(np.ndarray.tolist, np.nonzero(shares)), strict=True):
        # A float times a large number of contexts would overflow; this product is exact.
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
    counts = np.zeros((len(pairs), 3), dtype=np.int64)
    step = max(1, CELLS_IN_MEMORY // max(1, len(pairs)))
    for first in range(0, len(rows), step):
        block = rows[first : first + step]
        in_a = _dependent(a, pairs, block, space.canonical)
        in_b = _dependent(b, pairs, block, space.canonical)
        counts[:, 0] += in_a.sum(axis=1)
        counts[:, 1] += in_b.sum(axis=1)
        counts[:, 2] += (in_a | in_b).sum(axis=1)
    return PairCounts(counts, counts)


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
        ignored = None if canonical or features.pairs is not None else fails
        for p, i, j in its_pairs:
            in_pair = 0 if ignored is None else ignored[i].astype(np.int16) + ignored[j]
            # All literals that fail are those of the pair itself, which a context leaves open.
            dependent[p] |= failing == in_pair
    return dependent
