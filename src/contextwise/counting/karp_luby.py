"""How large A ∖ B is, by drawing from A: for pairs whose unions are too hard to count in time.

The difference of two estimated unions is worthless: both errors are as large as the unions, and the
difference may be small. So contexts are drawn from the cubes of A and put to B (Karp and Luby,
1983). A cube is drawn in proportion to its size, then a context inside it; the draw counts if the
cube is the first of A's that contains the context, so that a context of many cubes counts once. A
draw that counts and lies outside B is a **hit**. With W the sizes of all cubes of A added up::

    |A ∖ B| = W · P(hit)

The number of hits is binomial, and the error of the estimate is relative to W, not to the
difference. No hit proves nothing: it only gives an upper limit. Draws can be spread over many pairs
at once; W and the difference are then those of all of them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from contextwise.counting.assertions import Assertions, answers, first_features, hold_bits
from contextwise.counting.extraction import ValueWeights, scope_pairs
from contextwise.models.features import Features, IntArray, as_int, members

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class UnionDraws:
    """Contexts drawn from the unions of some pairs, and which of them are hits.

    Attributes
    ----------
    shares : what the cubes of each pair cover together, as a multiple of its contexts
    pair : for each draw the place of its pair
    hits : for each draw whether it counts and lies outside the other union
    """

    shares: FloatArray
    pair: IntArray
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
    """Draw contexts from the unions of ``a``, and see which lie outside those of ``b``.

    Given C, A and B depend under C=1 in one model, and in every context in the other.

    >>> from contextwise.models.structure import Structure
    >>> always = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1"])
    >>> sometimes = Structure(always.domain, ["A=1 & B=1 & C=1"])
    >>> pair, rng = np.array([[0, 1]]), np.random.default_rng(1)
    >>> found = draw_difference(always.features, sometimes.features, pair, np.ones(1), 1000, rng)
    >>> found.shares, int(found.hits.sum())
    (array([1.]), 526)
    """
    weights = value_weights or [[1] * c for c in a.cardinalities.tolist()]
    owners, places, covered = _entries(a, pairs, weights, canonical)
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
    counts = first_features(a, sample) == owners[drawn]
    outside = ~_unpacked(answers(b, sample), draws)
    return UnionDraws(shares, places[drawn], counts & outside)


def _entries(
    features: Features, pairs: IntArray, weights: ValueWeights, canonical: bool
) -> tuple[IntArray, IntArray, FloatArray]:
    """Every cube of the pairs: its feature, its pair, and the share of contexts it covers."""
    n = len(features.cardinalities)
    place_of = np.full(n * n, -1, dtype=np.int64)
    place_of[pairs[:, 0] * n + pairs[:, 1]] = np.arange(len(pairs))
    logs = np.log(_holding(features, weights))
    owners, places, covered = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    for mine, code, first, second in scope_pairs(features):
        literal = logs[features.starts[mine, None] + np.arange(int(features.lengths[mine[0]]))]
        cube = np.broadcast_to(literal.sum(axis=1, keepdims=True), code.shape)
        if not canonical:
            cube = cube - literal[:, first] - literal[:, second]
        place = place_of[code]
        owners.append(np.broadcast_to(mine[:, None], code.shape)[place >= 0])
        places.append(place[place >= 0])
        covered.append(np.exp(cube[place >= 0]))
    return np.concatenate(owners), np.concatenate(places), np.concatenate(covered)


def _holding(features: Features, weights: ValueWeights) -> FloatArray:
    """The share of its variable that each literal allows; one of weight 0 is next to nothing."""
    shares = np.empty(len(features.variables))
    known: dict[tuple[int, bytes], float] = {}
    for k, (v, words) in enumerate(zip(features.variables.tolist(), features.values, strict=True)):
        key = (v, words.tobytes())
        if key not in known:
            own = weights[v]
            known[key] = sum(own[state] for state in members(as_int(words))) / sum(own)
        shares[k] = known[key]
    return np.maximum(shares, np.finfo(np.float64).tiny)


def _contexts(
    features: Features, owners: IntArray, weights: ValueWeights, rng: np.random.Generator
) -> IntArray:
    """For each feature a context in which its literals hold: shape (draws, variables)."""
    states = np.stack([_states(own, len(owners), rng) for own in weights], axis=1)
    order = np.argsort(owners, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(owners[order])) + 1):
        feature = int(owners[rows[0]])
        for k in range(int(features.starts[feature]), int(features.starts[feature + 1])):
            v, inside = int(features.variables[k]), members(as_int(features.values[k]))
            own = _states([weights[v][state] for state in inside], len(rows), rng)
            states[rows, v] = np.array(inside)[own]
    return states


def _states(weights: Sequence[int], draws: int, rng: np.random.Generator) -> IntArray:
    """Values, each drawn in proportion to its weight."""
    if len(set(weights)) == 1 or not any(weights):
        return rng.integers(0, len(weights), draws)
    total = sum(weights)
    return rng.choice(len(weights), draws, p=[weight / total for weight in weights])


def _unpacked(words: npt.NDArray[np.uint64], count: int) -> npt.NDArray[np.bool_]:
    bits = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")
    return bits[:count].astype(bool)
