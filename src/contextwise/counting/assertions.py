"""Random samples of assertions, and the answers of models to them: one bit per assertion.

An assertion is a pair of variables and a context. Any number of models over the same variables can
answer one sample. The share of the sample on which two models' answers differ is an unbiased
estimate of their normalized distance. `draw` draws a sample, and `answers` evaluates the
features.

Assertions are sorted by pair. For each value of each variable, a row of bits marks the assertions
where the variable has this value. So a feature answers for a pair by the conjunction of a few rows,
over the bits of that pair. `ask_in_python` is the twin of the kernel.

`draw_union` estimates |A ∖ B| by sampling from A, for pairs whose unions are too hard to count
in time. The difference of two estimated unions would be worthless: its error is as large as the
unions. Instead, contexts are drawn from the cubes of A and tested against B (Karp and Luby, 1983).
A cube is drawn with probability proportional to its size, then a context inside it. The draw counts
if the cube is the first one of A that contains the context, so that a context in many cubes counts
once. A draw that counts and lies outside B is a **hit**. With W the sum of the sizes of the cubes
of A, |A ∖ B| = W · P(hit). The number of hits is binomial. The error of the estimate is relative to
W, not to the difference, and zero hits only give an upper limit. Draws can be spread over many
pairs; W and the difference are then sums over these pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from contextwise.counting import native
from contextwise.counting.contexts import UNIFORM, ContextSpace, ValueWeights
from contextwise.counting.extraction import find_pairs
from contextwise.counting.pair_counts import PairShares
from contextwise.models.features import WORD, Features, as_int, members
from contextwise.support.arrays import FloatArray, IntArray, WordArray

PART = 2**18
"""Numbers that are drawn at a time."""


@dataclass(frozen=True, eq=False)
class Assertions:
    """A sample of assertions over variables with the given cardinalities."""

    cardinalities: IntArray
    pairs: IntArray  # those that were drawn, rising: shape (p, 2)
    starts: IntArray  # pair k has the assertions starts[k]:starts[k + 1]
    holds: WordArray  # rows of bits for each value of each variable: shape (values, words)
    canonical: bool = False  # contexts are full assignments, and a pair's own literals count too

    def __len__(self) -> int:
        return int(self.starts[-1])

    @property
    def offsets(self) -> IntArray:
        """The first row of each variable in ``holds``."""
        return np.concatenate([[0], np.cumsum(self.cardinalities)[:-1]]).astype(np.int64)


def draw(
    cardinalities: Sequence[int],
    count: int,
    rng: np.random.Generator,
    *,
    pairs: IntArray,
    space: ContextSpace = UNIFORM,
    rows: IntArray | None = None,
) -> Assertions:
    """Draw assertions with equal probability.

    A pair has as many assertions as contexts, so its probability is proportional to one over the
    product of its two cardinalities. With full assignments, observed rows or weights, every pair
    has the same probability.
    """
    cards = np.asarray(cardinalities, dtype=np.int64)
    chance = np.ones(len(pairs))
    if space == UNIFORM and rows is None:
        # A pair has 1 / (its two cardinalities) of all assignments as its contexts.
        chance /= cards[pairs].prod(axis=1)
    drawn = rng.multinomial(count, chance / chance.sum())
    starts = np.concatenate([[0], np.cumsum(drawn[drawn > 0])]).astype(np.int64)
    chosen = None if rows is None else rng.integers(0, len(rows), count)
    holds = []
    for v, cardinality in enumerate(cards.tolist()):
        if rows is not None:
            states = rows[chosen, v]
        elif space.weights is None:
            states = rng.integers(0, cardinality, count)
        else:
            # Weights are exact and may exceed 64 bits.
            shares = np.array(space.weights[v], dtype=object) / sum(space.weights[v])
            states = rng.choice(cardinality, count, p=shares.astype(np.float64))
        holds.append(hold_bits([cardinality], states[:, None]))
    bits = np.concatenate(holds) if holds else np.zeros((0, -(-count // WORD)), dtype=np.uint64)
    return Assertions(cards, pairs[drawn > 0], starts, bits, space.canonical)


def hold_bits(cardinalities: Sequence[int] | IntArray, states: IntArray) -> WordArray:
    """Return for each value of each variable the bits of the rows where the variable has it.

    >>> hold_bits([2], np.array([[0], [1], [1]]))
    array([[1], [6]], dtype=uint64)
    """
    cards = np.asarray(cardinalities, dtype=np.int64)
    first = np.cumsum(cards) - cards  # the row of the first value of each variable
    most = int(cards.max(initial=0))
    kind = np.uint8 if most <= 256 else np.int64  # bytes compare faster
    columns = states.T.astype(kind, copy=False)
    packed = np.zeros((int(cards.sum()), -(-len(states) // WORD) * 8), dtype=np.uint8)
    for k in range(most):
        # One comparison per value for all variables, instead of one per variable and value.
        having = np.flatnonzero(cards > k)
        bits = np.packbits(columns[having] == k, axis=1, bitorder="little")
        packed[first[having] + k, : bits.shape[1]] = bits
    return packed.view("<u8").astype(np.uint64)


def answers(features: Features, sample: Assertions) -> tuple[WordArray, IntArray]:
    """Return one bit per assertion, whether the features make it a dependence.

    Also return the first feature that does so, or -1.
    """
    if native.missing() is not None:
        return ask_in_python(features, sample)
    return native.kernel.ask(
        features.cardinalities.tolist(),
        sample.pairs,
        sample.starts,
        sample.holds,
        sample.canonical,
        native.arrays(features),
    )


def ask_in_python(features: Features, sample: Assertions) -> tuple[WordArray, IntArray]:
    """The readable twin of the kernel's `ask`: feature by feature, pair by pair."""
    dependent = np.zeros(sample.holds.shape[1], dtype=np.uint64)
    first = np.full(len(sample), -1, dtype=np.int64)
    ranges = {
        (i, j): slice(*sample.starts[k : k + 2]) for k, (i, j) in enumerate(sample.pairs.tolist())
    }
    offsets = sample.offsets
    literals_and_scopes = zip(features.literals(), features.covered_scopes(), strict=True)
    for feature, (literals, scope) in enumerate(literals_and_scopes):
        rows = {
            v: np.bitwise_or.reduce(sample.holds[offsets[v] + members(values)])
            for v, values in literals
        }
        for pair in combinations(scope, 2):
            if pair in ranges:
                inside = ranges[pair]
                begin, end = inside.start // WORD, -(-inside.stop // WORD)
                part = np.full(end - begin, ~np.uint64(0))
                for v, row in rows.items():
                    if sample.canonical or v not in pair:
                        part &= row[begin:end]
                # The first and the last word also hold assertions of the neighbouring pairs.
                part[0] &= ~np.uint64(0) << np.uint64(inside.start % WORD)
                part[-1] &= ~np.uint64(0) >> np.uint64(-inside.stop % WORD)
                holding = np.zeros_like(dependent)
                holding[begin:end] = part
                # An assertion keeps the first feature that makes it dependent.
                fresh = np.unpackbits((holding & ~dependent).view(np.uint8), bitorder="little")
                first[np.flatnonzero(fresh)] = feature
                dependent |= holding
    return dependent, first


# -- draws from unions -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class UnionDraws:
    """Contexts drawn from the unions of some pairs."""

    shares: FloatArray  # the summed sizes of the cubes of each pair, divided by its contexts
    pair: IntArray  # the place of the pair of each draw
    states: IntArray  # the context of each draw, with any states of the pair itself
    first: npt.NDArray[np.bool_]  # the cube of the draw is the first that contains its context
    in_other: npt.NDArray[np.bool_]  # the other model's union contains the context, too

    @property
    def hits(self) -> npt.NDArray[np.bool_]:
        """The draws that count and lie outside the other model's union."""
        return self.first & ~self.in_other


def draw_union(
    cubes: PairShares,
    other: Features,
    pairs: IntArray,
    sizes: FloatArray,
    draws: int,
    rng: np.random.Generator,
) -> UnionDraws:
    """Draw contexts from the unions of the cubes and find those in the unions of ``other``.

    Draws that are ``first`` are contexts of the unions of cubes, each with the same probability.
    """
    a, space = cubes.features, cubes.space
    weights = space.weights or [[1] * c for c in a.cardinalities.tolist()]
    n = len(a.cardinalities)
    order = np.argsort(pairs @ (n, 1), kind="stable")
    place = find_pairs(pairs[order], cubes.pairs, n)
    # `find_pairs` needs rising pairs; translate back to the order of the caller.
    place[place >= 0] = order[place[place >= 0]]
    places = np.repeat(place, np.diff(cubes.starts))
    owners, covered = cubes.owners[places >= 0], cubes.shares[places >= 0]
    places = places[places >= 0]
    shares: FloatArray = np.zeros(len(pairs))
    np.add.at(shares, places, covered)
    chance = covered * sizes[places]
    if not chance.sum():
        none = np.zeros(0, dtype=bool)
        return UnionDraws(shares, np.zeros(0, np.int64), np.zeros((0, 0), np.int64), none, none)
    drawn = np.sort(rng.choice(len(owners), draws, p=chance / chance.sum()))
    # `Assertions` keeps those of one pair together.
    drawn = drawn[np.argsort(places[drawn], kind="stable")]
    states = _contexts(a, owners[drawn], weights, rng)
    pair, starts = np.unique(places[drawn], return_index=True)
    sample = Assertions(
        a.cardinalities,
        pairs[pair],
        np.append(starts, draws).astype(np.int64),
        hold_bits(a.cardinalities, states),
        space.canonical,
    )
    # Cubes overlap: a context counts only if its first feature drew it, so none counts twice.
    first = answers(a, sample)[1] == owners[drawn]
    return UnionDraws(shares, places[drawn], states, first, answers(other, sample)[1] >= 0)


def _contexts(
    features: Features, owners: IntArray, weights: ValueWeights, rng: np.random.Generator
) -> IntArray:
    """Draw for each feature a context in which its literals hold: shape (draws, variables)."""
    small = features.cardinalities.max(initial=0) <= 256
    states = np.empty((len(weights), len(owners)), dtype=np.uint8 if small else np.int64)
    alike: dict[tuple[int, ...], list[int]] = {}
    for v, of_values in enumerate(weights):
        alike.setdefault(tuple(of_values), []).append(v)
    for of_values, variables in alike.items():
        # in parts, as the pages of a large array cost more time than its numbers
        step = 1 + PART // max(len(owners), 1)
        for part in (variables[at : at + step] for at in range(0, len(variables), step)):
            states[part] = _states(of_values, (len(part), len(owners)), rng)
    distinct, kinds = features.distinct_literals()
    lengths = features.lengths[owners]
    drawn = np.repeat(np.arange(len(owners)), lengths)  # for each literal of each draw
    # Minus the literals of earlier draws, so that adding a running number gives the place.
    literal = np.repeat(features.starts[owners] + lengths - np.cumsum(lengths), lengths)
    kind = kinds[literal + np.arange(len(drawn))]
    # Most literals allow one state; draw once for all equal ones of the others.
    allowed = distinct[:, 1:]
    word = np.argmax(allowed != 0, axis=1)
    only = allowed[np.arange(len(distinct)), word]  # its first word that is not 0
    # x & (x - 1) clears the lowest bit, so 0 means that there is only one.
    is_single = ((allowed != 0).sum(axis=1) == 1) & (only & (only - np.uint64(1)) == 0)
    bit = np.log2(np.where(is_single, only, 1)).astype(np.int64)
    at = is_single[kind]
    states[distinct[kind[at], 0].astype(np.int64), drawn[at]] = (64 * word + bit)[kind[at]]
    kind, drawn = kind[~at], drawn[~at]
    if not len(kind):
        return states.T
    ends = np.cumsum(np.bincount(kind, minlength=len(distinct)))
    of_kinds = np.split(drawn[np.argsort(kind, kind="stable")], ends[:-1])
    for (variable, *words), rows in zip(distinct, of_kinds, strict=True):
        if len(rows):
            inside = members(as_int(np.array(words)))
            of_inside = [weights[int(variable)][state] for state in inside]
            states[int(variable), rows] = np.array(inside)[_states(of_inside, len(rows), rng)]
    return states.T


def _states(
    weights: Sequence[int], draws: int | tuple[int, int], rng: np.random.Generator
) -> IntArray:
    """Draw values with probabilities proportional to their weights."""
    if len(set(weights)) == 1 or not any(weights):
        return rng.integers(0, len(weights), draws)
    total = sum(weights)
    return rng.choice(len(weights), draws, p=[weight / total for weight in weights])
