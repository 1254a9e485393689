"""Find the features that hold in each row, and the log-potentials.

One pass over the literals counts the failing literals of every feature in every row. At 0 the
feature holds. At 1 it depends on the variable whose literal fails, which that variable's
conditional distribution needs. The log-potential of a row is the sum of the weights of the features
that hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from contextwise.models.features import Features
from contextwise.models.structure import LogLinear
from contextwise.support.arrays import BoolArray, FloatArray, IntArray, WordArray

MissArray = npt.NDArray[np.int16]
Bytes = npt.NDArray[np.uint8]
"""Truth values, eight to a byte."""

LITERAL_CELLS_IN_MEMORY = 2**23
"""Largest number of (literal, row) cells in memory."""


def allowed_values(features: Features) -> BoolArray:
    """Return whether each literal allows each value: shape (literals, largest cardinality)."""
    return _bits(features.values, int(features.cardinalities.max(initial=1)))


def _bits(values: WordArray, count: int) -> BoolArray:
    as_bytes = np.ascontiguousarray(values.astype("<u8")).view(np.uint8)
    return np.unpackbits(as_bytes, axis=1, bitorder="little")[:, :count].astype(bool)


def failures(features: Features, rows: IntArray) -> tuple[BoolArray, MissArray]:
    """Return the failing literals in encoded rows, and their number per feature."""
    refused = ~allowed_values(features)
    fails = np.empty((len(features.variables), len(rows)), dtype=bool)
    for variable in np.unique(features.variables).tolist():
        literals = np.flatnonzero(features.variables == variable)
        fails[literals] = refused[literals][:, rows[:, variable]]
    return fails, counts_of(features, fails)


def counts_of(features: Features, marked: BoolArray) -> MissArray:
    """Count the marked literals of each feature, row by row: shape (features, rows)."""
    counts = np.zeros((len(features), marked.shape[1]), dtype=np.int16)
    lengths = features.lengths
    for place in range(int(lengths.max(initial=0))):  # NumPy's reduceat is many times slower
        long = np.flatnonzero(lengths > place)
        counts[long] += marked[features.starts[long] + place]
    return counts


def literal_bits(features: Features, rows: IntArray) -> tuple[IntArray, Bytes]:
    """Return the kind of each literal, and the rows where each kind holds: (kinds, rows / 8)."""
    distinct_literals, kinds = features.distinct_literals()
    variables, values = distinct_literals[:, 0].tolist(), distinct_literals[:, 1:]
    allowed = _bits(values, int(features.cardinalities.max(initial=1)))
    holds = [np.packbits(a[rows[:, v]]) for v, a in zip(variables, allowed, strict=True)]
    return kinds, np.array(holds, dtype=np.uint8).reshape(len(holds), (len(rows) + 7) // 8)


def held(features: Features, rows: IntArray) -> Iterator[tuple[IntArray, BoolArray]]:
    """Yield blocks of features, with the rows in which each of them holds."""
    kinds, bits = literal_bits(features, rows)
    step = max(1, LITERAL_CELLS_IN_MEMORY // max(1, len(rows)))
    for first in range(0, len(features), step):
        block = np.arange(first, min(first + step, len(features)))
        holds = np.full((len(block), bits.shape[1]), 255, dtype=np.uint8)
        for place in range(int(features.lengths[block].max(initial=0))):
            long = np.flatnonzero(features.lengths[block] > place)
            holds[long] &= bits[kinds[features.starts[block[long]] + place]]
        # `count` drops the padding of the last byte.
        yield block, np.unpackbits(holds, axis=1, count=len(rows)).view(bool)


def frequencies(features: Features, rows: IntArray, share: FloatArray) -> FloatArray:
    """Return the weighted number of rows in which each feature holds."""
    total = np.zeros(len(features))
    for block, holds in held(features, rows):
        total[block] = holds @ share
    return total


def log_potential_of(model: LogLinear, rows: IntArray) -> FloatArray:
    """Return the sum of the weights that hold in each encoded row."""
    total = np.zeros(len(rows))
    for block, holds in held(model.structure.features, rows):
        weights = model.weights[block]
        total += np.where(np.isfinite(weights), weights, 0.0) @ holds
        total[holds[weights == -np.inf].any(axis=0)] = -np.inf
        total[~holds[weights == np.inf].all(axis=0)] = -np.inf
    return total


def distinct(table: npt.NDArray[Any]) -> tuple[IntArray, IntArray]:
    """Return the number of each row among the distinct ones, and the first row of each."""
    table = np.ascontiguousarray(table)
    size = table.shape[1] * table.itemsize
    padded = np.zeros((len(table), (size + 7) // 8 * 8), dtype=np.uint8)
    padded[:, :size] = table.view(np.uint8).reshape(len(table), size)
    words = padded.view(np.uint64)
    # Sorting one hash per row is much faster than sorting rows.
    keys = np.zeros(len(words), dtype=np.uint64)
    for word in words.T:
        keys = (keys ^ word) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
    _, first, numbers = np.unique(keys, return_index=True, return_inverse=True)
    # Two different rows have the same hash.
    if not np.array_equal(words[first[numbers]], words):
        _, first, numbers = np.unique(words, axis=0, return_index=True, return_inverse=True)
    return numbers.reshape(-1), first


def distinct_rows(
    rows: IntArray, multiplicity: IntArray | None = None
) -> tuple[IntArray, IntArray]:
    """Return the distinct rows, in a fixed order, and how often each occurs."""
    small = rows.astype(np.min_scalar_type(int(rows.max(initial=0))))  # less to look at
    numbers, first = distinct(small)
    counts = np.bincount(numbers, multiplicity, minlength=len(first))
    return rows[first], counts.astype(np.int64)
