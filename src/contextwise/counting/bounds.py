"""Proven bounds on unions that nobody has counted, for all pairs at once.

The union of some cubes is at least its largest cube and at most the sum of all of them, and the
union of both models' cubes lies between the larger of the two unions and their sum. The size of a
cube is the product of its literals' shares of their variables, computed in floating point (as a sum
of logarithms) for all (pair, feature) entries together and rounded away from the truth by a margin
far above the error of the sums; the bounds themselves are exact ints.

Cost: one entry a pair of variables of a feature's scope, vectorised.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from contextwise.counting.extraction import ValueWeights, contexts_of_pairs, pair_features, sizes_of
from contextwise.models.features import Features, IntArray, as_int, members

MARGIN = 1e-9
"""Relative; a sum of 1,000 logarithms errs by about 1e-12."""
TINY = 1e-100
"""Absolute: stands for shares of 0, and covers what is too small for a float."""

Floats = npt.NDArray[np.float64]
ObjectArray = npt.NDArray[np.object_]


def union_bounds(
    a: Features,
    b: Features,
    pairs: IntArray,
    *,
    canonical: bool = False,
    value_weights: ValueWeights | None = None,
) -> tuple[ObjectArray, ObjectArray]:
    """Lower and upper bounds on the three unions of each pair: exact ints, shape (pairs, 3)."""
    largest, summed = np.zeros((len(pairs), 3)), np.zeros((len(pairs), 3))
    for column, features in enumerate((a, b)):
        shares = PairShares(features, canonical, value_weights)
        largest[:, column], summed[:, column] = shares.of(pairs)
    largest[:, 2] = largest[:, :2].max(axis=1)
    summed[:, 2] = summed[:, :2].sum(axis=1)
    sizes = sizes_of(a.cardinalities.tolist(), value_weights)
    contexts = contexts_of_pairs(sizes, pairs, canonical)
    return _rounded_down(largest, contexts), _rounded_up(summed, contexts)


def related(lower: ObjectArray, upper: ObjectArray) -> tuple[ObjectArray, ObjectArray]:
    """Tighter bounds on three unions from each other: |A|, |B| ≤ |A ∪ B| ≤ |A| + |B|.

    >>> lower, upper = related(np.array([[3, 2, 0]], object), np.array([[3, 9, 4]], object))
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
    """The share of a pair's contexts that each of its cubes has, for all pairs of some features.

    Parameters
    ----------
    features : whose cubes they are
    canonical : whether contexts are full assignments
    value_weights : how much each value of each variable counts, or None

    Attributes
    ----------
    pairs, starts, owners : as `pair_features` gives them
    shares : floats, one for each of ``owners``
    """

    def __init__(
        self, features: Features, canonical: bool, value_weights: ValueWeights | None
    ) -> None:
        n = len(features.cardinalities)
        literal = np.log(np.maximum(_literal_shares(features, value_weights), TINY))
        feature = np.bincount(features.owners, weights=literal, minlength=len(features))
        pairs, self.starts, owners = pair_features(features)
        self.pairs, self.owners = pairs, owners
        logs = feature[owners].astype(np.float64)  # bincount of nothing gives ints
        if not canonical:
            place = features.owners * n + features.variables
            for variable in np.repeat(pairs, np.diff(self.starts), axis=0).T:
                logs -= literal[np.searchsorted(place, owners * n + variable)]
        self.shares = np.maximum(np.exp(logs), TINY)
        self.position = {pair: k for k, pair in enumerate(map(tuple, pairs.tolist()))}

    def of(self, pairs: IntArray) -> tuple[Floats, Floats]:
        """The largest and the summed share of each pair; 0 where there is no cube."""
        largest, summed = np.zeros(len(pairs)), np.zeros(len(pairs))
        if self.position:
            at = np.array([self.position.get((i, j), -1) for i, j in pairs.tolist()], np.int64)
            known = at >= 0
            largest[known] = np.maximum.reduceat(self.shares, self.starts[:-1])[at[known]]
            summed[known] = np.add.reduceat(self.shares, self.starts[:-1])[at[known]]
        return largest, summed


def _literal_shares(features: Features, value_weights: ValueWeights | None) -> Floats:
    """Which share of its variable each literal allows."""
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


def _rounded_down(shares: Floats, contexts: Sequence[int]) -> ObjectArray:
    safe = np.maximum(shares * (1 - MARGIN) - TINY, 0.0)
    return _of_contexts(safe, contexts, 0)


def _rounded_up(shares: Floats, contexts: Sequence[int]) -> ObjectArray:
    safe = np.where(shares > 0, np.minimum(shares * (1 + MARGIN) + TINY, 1.0), 0.0)
    return _of_contexts(safe, contexts, 1)


def _of_contexts(shares: Floats, contexts: Sequence[int], up: int) -> ObjectArray:
    """Each share of its pair's contexts, as an exact int: rounded down, or up by one."""
    result = np.zeros(shares.shape, dtype=object)
    for k, column in zip(*map(np.ndarray.tolist, np.nonzero(shares)), strict=True):
        numerator, denominator = float(shares[k, column]).as_integer_ratio()
        whole = contexts[k] * numerator // denominator
        result[k, column] = min(whole + up, contexts[k])
    return result
