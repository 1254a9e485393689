"""Counting over observed rows instead of all contexts: one vectorised pass.

Most of the contexts of a large domain never occur. A row supports a pair through a feature when
every literal of the feature holds in the row, those of the pair apart.
"""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from contextwise.counting.contract import PairCounts
from contextwise.counting.extraction import pair_features
from contextwise.models.features import Features, IntArray

CELLS = 2**26
"""How many (row, pair) cells are held at once."""


def count_rows(
    a: Features, b: Features, pairs: IntArray, rows: IntArray, *, canonical: bool = False
) -> PairCounts:
    """For each pair, in how many rows it depends: in the first model, the second, and either."""
    began = time.perf_counter()
    counts = np.zeros((len(pairs), 3), dtype=np.int64)
    step = max(1, CELLS // max(1, len(pairs)))
    for first in range(0, len(rows), step):
        block = rows[first : first + step]
        in_a = _dependent(a, pairs, block, canonical)
        in_b = _dependent(b, pairs, block, canonical)
        counts[:, 0] += in_a.sum(axis=1)
        counts[:, 1] += in_b.sum(axis=1)
        counts[:, 2] += (in_a | in_b).sum(axis=1)
    exact = counts.astype(object)
    seconds = {"counting": time.perf_counter() - began}
    return PairCounts(exact, exact, {"rows": 3 * len(pairs)}, seconds)


def _dependent(
    features: Features, pairs: IntArray, rows: IntArray, canonical: bool
) -> npt.NDArray[np.bool_]:
    """Whether each pair depends in each row: shape (pairs, rows)."""
    n = len(features.cardinalities)
    place = {(i, j): k for k, (i, j) in enumerate(pairs.tolist())}
    dependent = np.zeros((len(pairs), len(rows)), dtype=bool)
    known, starts, owners = pair_features(features)
    speaks: dict[int, list[tuple[int, int, int]]] = {}
    for k, (i, j) in enumerate(known.tolist()):
        if (i, j) in place:
            for f in owners[starts[k] : starts[k + 1]].tolist():
                speaks.setdefault(f, []).append((place[i, j], i, j))
    columns = np.ascontiguousarray(rows.T) if n else rows
    for f, its_pairs in speaks.items():
        literals = range(features.starts[f], features.starts[f + 1])
        fails = {
            int(features.variables[k]): ~_holds(features.values[k], columns, features.variables[k])
            for k in literals
        }
        failing = sum(mask.astype(np.int16) for mask in fails.values())
        for p, i, j in its_pairs:
            dependent[p] |= failing == (0 if canonical else fails[i].astype(np.int16) + fails[j])
    return dependent


def _holds(
    words: npt.NDArray[np.uint64], columns: IntArray, variable: int
) -> npt.NDArray[np.bool_]:
    bits = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little").astype(bool)
    holds: npt.NDArray[np.bool_] = bits[columns[variable]]
    return holds
