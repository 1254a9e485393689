"""Estimate |A ∖ B| by sampling from A, for pairs whose unions are too hard to count in time.

The difference of two estimated unions would be worthless: its error is as large as the unions.
Instead, contexts are drawn from the cubes of A and tested against B (Karp and Luby, 1983). A cube
is drawn with probability proportional to its size, then a context inside it. The draw counts if the
cube is the first one of A that contains the context, so that a context in many cubes counts once. A
draw that counts and lies outside B is a **hit**. With W the sum of the sizes of the cubes of A::

    |A ∖ B| = W · P(hit)

The number of hits is binomial. The error of the estimate is relative to W, not to the difference,
and zero hits only give an upper limit. Draws can be spread over many pairs; W and the difference
are then sums over these pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from contextwise.counting.assertions import Assertions, answers, hold_bits
from contextwise.counting.extraction import ValueWeights
from contextwise.counting.pair_counts import PairShares
from contextwise.models.features import Features, IntArray, as_int, members

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class UnionDraws:
    """Contexts drawn from the unions of some pairs."""

    shares: FloatArray
    """The summed sizes of the cubes of each pair, divided by its contexts."""
    pair: IntArray
    """The place of the pair of each draw."""
    hits: npt.NDArray[np.bool_]


def draw_difference(
    a: Features,
    b: Features,
    pairs: IntArray,
    sizes: FloatArray,
    draws: int,
    rng: np.random.Generator,
    *,
    canonical: bool = False,
    value_weights: ValueWeights | None = None,
) -> UnionDraws:
    """Draw contexts from the unions of ``a`` and find those outside the unions of ``b``."""
    weights = value_weights or [[1] * c for c in a.cardinalities.tolist()]
    cubes = PairShares(a, canonical, value_weights)
    place_of = {(i, j): k for k, (i, j) in enumerate(pairs.tolist())}
    place = np.array([place_of.get((i, j), -1) for i, j in cubes.pairs.tolist()], dtype=np.int64)
    places = np.repeat(place, np.diff(cubes.starts))
    owners, covered = cubes.owners[places >= 0], cubes.shares[places >= 0]
    places = places[places >= 0]
    shares: FloatArray = np.zeros(len(pairs))
    np.add.at(shares, places, covered)
    chance = covered * sizes[places]
    if not chance.sum():
        return UnionDraws(shares, np.zeros(0, np.int64), np.zeros(0, bool))
    drawn = np.sort(rng.choice(len(owners), draws, p=chance / chance.sum()))
    drawn = drawn[np.argsort(places[drawn], kind="stable")]
    states = _contexts(a, owners[drawn], weights, rng)
    pair, starts = np.unique(places[drawn], return_index=True)
    sample = Assertions(
        a.cardinalities,
        pairs[pair],
        np.append(starts, draws).astype(np.int64),
        hold_bits(a.cardinalities, states),
        canonical,
    )
    counts = answers(a, sample)[1] == owners[drawn]
    in_b = np.unpackbits(answers(b, sample)[0].astype("<u8").view(np.uint8), bitorder="little")
    return UnionDraws(shares, places[drawn], counts & ~in_b[:draws].astype(bool))


def _contexts(
    features: Features, owners: IntArray, weights: ValueWeights, rng: np.random.Generator
) -> IntArray:
    """Draw for each feature a context in which its literals hold: shape (draws, variables)."""
    states = np.stack([_states(of_values, len(owners), rng) for of_values in weights], axis=1)
    order = np.argsort(owners, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(owners[order])) + 1):
        feature = int(owners[rows[0]])
        for k in range(int(features.starts[feature]), int(features.starts[feature + 1])):
            v, inside = int(features.variables[k]), members(as_int(features.values[k]))
            drawn = _states([weights[v][state] for state in inside], len(rows), rng)
            states[rows, v] = np.array(inside)[drawn]
    return states


def _states(weights: Sequence[int], draws: int, rng: np.random.Generator) -> IntArray:
    """Draw values with probabilities proportional to their weights."""
    if len(set(weights)) == 1 or not any(weights):
        return rng.integers(0, len(weights), draws)
    total = sum(weights)
    return rng.choice(len(weights), draws, p=[weight / total for weight in weights])
