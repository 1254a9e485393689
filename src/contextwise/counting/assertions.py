"""Samples of assertions, and what features answer to each: one bit per assertion.

An assertion is a pair of variables and a context. A sample of them, drawn once, can be put to any
number of models over the same variables; two models' answers then differ in about as large a share
of the sample as the models do of all assertions. `draw` says how assertions are drawn so that this
estimate has no bias, `answers` asks the features, and `differing` counts where answers differ.

The assertions of a sample are sorted by pair. For each value of each variable a row of bits says in
which assertions the variable has this value. A feature thus answers for a pair of its scope by the
conjunction of a few rows, over the bits of that pair alone.

`ask_in_python` and `differing_in_python` are the readable twins of the kernel's functions, which
are used where the kernel was built.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from contextwise.counting import native
from contextwise.counting.extraction import ValueWeights
from contextwise.models.features import WORD, Features, IntArray, WordArray, members


@dataclass(frozen=True, eq=False)
class Assertions:
    """A sample of assertions over variables with the given cardinalities.

    Attributes
    ----------
    cardinalities : how many values each variable has
    pairs : the pairs that were drawn, rising: shape (p, 2)
    starts : pair ``k`` owns the assertions ``starts[k]:starts[k + 1]``
    holds : bits, one row per value of each variable in turn: shape (values, words); the bit of an
        assertion says whether the variable has the value in its context
    canonical : whether contexts are full assignments, so that a pair's own literals count, too
    """

    cardinalities: IntArray
    pairs: IntArray
    starts: IntArray
    holds: WordArray
    canonical: bool = False

    def __len__(self) -> int:
        return int(self.starts[-1])

    @property
    def offsets(self) -> IntArray:
        """Where the rows of each variable begin in ``holds``."""
        return np.concatenate([[0], np.cumsum(self.cardinalities)[:-1]]).astype(np.int64)


def draw(
    cardinalities: Sequence[int],
    count: int,
    rng: np.random.Generator,
    *,
    pairs: IntArray,
    canonical: bool = False,
    rows: IntArray | None = None,
    value_weights: ValueWeights | None = None,
) -> Assertions:
    """Draw assertions so that every share of a sample estimates the share of all of them.

    All assertions are alike: a pair has as many as it has contexts, so it is drawn with a
    probability in proportion to one over the product of its two cardinalities. With full
    assignments, observed rows or weights every pair counts the same.

    >>> sample = draw([2, 3, 2], 1000, np.random.default_rng(1), pairs=np.array([[0, 1], [0, 2]]))
    >>> len(sample), np.diff(sample.starts)  # two contexts against three
    (1000, array([394, 606]))
    """
    cards = np.asarray(cardinalities, dtype=np.int64)
    chance = np.ones(len(pairs))
    if not canonical and rows is None and value_weights is None:
        chance /= cards[pairs].prod(axis=1)
    drawn = rng.multinomial(count, chance / chance.sum())
    starts = np.concatenate([[0], np.cumsum(drawn[drawn > 0])]).astype(np.int64)
    chosen = None if rows is None else rng.integers(0, len(rows), count)
    holds = []
    for v, cardinality in enumerate(cards.tolist()):
        if rows is not None:
            states = rows[chosen, v]
        elif value_weights is None:
            states = rng.integers(0, cardinality, count)
        else:
            shares = np.array(value_weights[v], dtype=object) / sum(value_weights[v])
            states = rng.choice(cardinality, count, p=shares.astype(np.float64))
        holds.append(hold_bits([cardinality], states[:, None]))
    bits = np.concatenate(holds) if holds else np.zeros((0, -(-count // WORD)), dtype=np.uint64)
    return Assertions(cards, pairs[drawn > 0], starts, bits, canonical)


def hold_bits(cardinalities: Sequence[int] | IntArray, states: IntArray) -> WordArray:
    """For each value of each variable, in which rows the variable has it, as bits.

    >>> hold_bits([2], np.array([[0], [1], [1]]))
    array([[1], [6]], dtype=uint64)
    """
    cards = np.asarray(cardinalities).tolist()
    rows = [_packed(states[:, v] == k) for v, c in enumerate(cards) for k in range(c)]
    return np.stack(rows) if rows else np.zeros((0, -(-len(states) // WORD)), dtype=np.uint64)


def _packed(bits: npt.NDArray[np.bool_]) -> WordArray:
    """Bits as words: bit ``k`` of the whole is bit ``k % 64`` of word ``k // 64``."""
    packed = np.packbits(bits, bitorder="little")
    whole = np.zeros(-(-len(bits) // WORD) * 8, dtype=np.uint8)
    whole[: len(packed)] = packed
    return whole.view("<u8").astype(np.uint64)


def answers(features: Features, sample: Assertions) -> WordArray:
    """Whether the features make each assertion a dependence, one bit each.

    >>> from contextwise.models.structure import Structure
    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=1"])
    >>> ask = draw([2, 2, 2], 1000, np.random.default_rng(1), pairs=np.array([[0, 1], [1, 2]]))
    >>> said = answers(model.features, ask)
    >>> sum(int(word).bit_count() for word in said)  # in about half of the contexts
    499
    """
    return _ask(features, sample)[0]


def first_features(features: Features, sample: Assertions) -> IntArray:
    """The first feature that makes each assertion a dependence, or -1 if none does."""
    return _ask(features, sample)[1]


def _ask(features: Features, sample: Assertions) -> tuple[WordArray, IntArray]:
    if native.missing() is not None:
        return ask_in_python(features, sample)
    return native.ask(
        features, sample.pairs, sample.starts, sample.holds, canonical=sample.canonical
    )


def ask_in_python(features: Features, sample: Assertions) -> tuple[WordArray, IntArray]:
    """The readable twin of the kernel's `ask`: feature by feature, pair by pair."""
    said = np.zeros(sample.holds.shape[1], dtype=np.uint64)
    first = np.full(len(sample), -1, dtype=np.int64)
    ranges = {
        (i, j): slice(*sample.starts[k : k + 2]) for k, (i, j) in enumerate(sample.pairs.tolist())
    }
    offsets = sample.offsets
    for feature, literals in enumerate(features.literals()):
        rows = {
            v: np.bitwise_or.reduce(sample.holds[offsets[v] + members(values)])
            for v, values in literals
        }
        for pair in combinations(rows, 2):
            if pair in ranges:
                tested = [row for v, row in rows.items() if sample.canonical or v not in pair]
                found = _conjunction(tested, ranges[pair], len(said))
                fresh = np.unpackbits((found & ~said).view(np.uint8), bitorder="little")
                first[np.flatnonzero(fresh)] = feature
                said |= found
    return said, first


def _conjunction(rows: Sequence[WordArray], inside: slice, words: int) -> WordArray:
    """The bits that all rows have, inside a range of bits."""
    found = np.zeros(words, dtype=np.uint64)
    first, last = inside.start // WORD, -(-inside.stop // WORD)
    part = np.full(last - first, ~np.uint64(0))
    for row in rows:
        part &= row[first:last]
    part[0] &= ~np.uint64(0) << np.uint64(inside.start % WORD)
    part[-1] &= ~np.uint64(0) >> np.uint64(-inside.stop % WORD)
    found[first:last] = part
    return found


def differing(first: WordArray, second: WordArray) -> IntArray:
    """In how many bits each row of ``first`` differs from each row of ``second``.

    >>> differing(np.array([[0b101], [0]], dtype=np.uint64), np.array([[0b110]], dtype=np.uint64))
    array([[2], [2]])
    """
    if native.missing() is None:
        return native.differing(first, second)
    return differing_in_python(first, second)


def differing_in_python(first: WordArray, second: WordArray) -> IntArray:
    """The readable twin of the kernel's `differing`."""
    counts = np.empty((len(first), len(second)), dtype=np.int64)
    for k, row in enumerate(first):
        counts[k] = _ones(row ^ second)
    return counts


_ONES = np.array([n.bit_count() for n in range(2**16)], dtype=np.uint8)


def _ones(words: WordArray) -> IntArray:
    """The number of bits that are set in each row."""
    sums: IntArray = _ONES[np.ascontiguousarray(words).view(np.uint16)].sum(axis=-1, dtype=np.int64)
    return sums
