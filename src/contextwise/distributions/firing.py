"""Which features hold in which rows, for many rows at once.

A feature holds in a row when none of its literals fails there. One pass over the literals gives the
number of failing literals of every feature in every row, and that number is all the rest needs: at
0 the feature holds; at 1 it hangs on the one variable whose literal fails, which is what a
conditional distribution of that variable has to know.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from contextwise.models.features import Features, IntArray
from contextwise.models.structure import LogLinear

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
CountArray = npt.NDArray[np.int16]

CELLS = 2**23
"""How many (literal, row) cells are held at once."""


def allowed_values(features: Features) -> BoolArray:
    """Whether each literal allows each value: shape (literals, largest cardinality)."""
    largest = int(features.cardinalities.max(initial=1))
    as_bytes = np.ascontiguousarray(features.values.astype("<u8")).view(np.uint8)
    bits = np.unpackbits(as_bytes, axis=1, bitorder="little")
    return bits[:, :largest].astype(bool)


@dataclass(frozen=True, eq=False)
class Firing:
    """Features over some rows: which literals fail, and how many of each feature's do.

    Attributes
    ----------
    fails : bool array of shape (literals, rows)
    failing : int array of shape (features, rows)
    """

    fails: BoolArray
    failing: CountArray


def firing(features: Features, rows: IntArray) -> Firing:
    """What fails where; ``rows`` holds positions of states, shape (rows, variables)."""
    refused = ~allowed_values(features)
    fails = np.empty((len(features.variables), len(rows)), dtype=bool)
    for variable in np.unique(features.variables).tolist():
        mine = np.flatnonzero(features.variables == variable)
        fails[mine] = refused[mine][:, rows[:, variable]]
    return Firing(fails, counts_of(features, fails))


def counts_of(features: Features, marked: BoolArray) -> CountArray:
    """How many literals of each feature are marked, row by row: shape (features, rows)."""
    counts = np.zeros((len(features), marked.shape[1]), dtype=np.int16)
    lengths = features.lengths
    for place in range(int(lengths.max(initial=0))):  # NumPy's reduceat is many times slower
        long = np.flatnonzero(lengths > place)
        counts[long] += marked[features.starts[long] + place]
    return counts


def blocks_of(features: Features, rows: IntArray) -> Iterator[IntArray]:
    """The rows in blocks that keep `firing` small."""
    step = max(1, CELLS // max(1, len(features.variables) + len(features)))
    for first in range(0, len(rows), step):
        yield rows[first : first + step]


def log_potential_of(model: LogLinear, rows: IntArray) -> FloatArray:
    """The sum of the weights that hold in each row of positions, not normalised.

    A feature of weight ``-inf`` must not hold and one of weight ``inf`` must: where that is
    violated the result is ``-inf``, and elsewhere such a weight adds nothing.
    """
    features, weights = model.structure.features, model.weights
    soft = np.where(np.isfinite(weights), weights, 0.0)
    parts = [np.zeros(0)]
    for block in blocks_of(features, rows):
        holds = firing(features, block).failing == 0
        total = soft @ holds
        violated = holds[weights == -np.inf].any(axis=0) | ~holds[weights == np.inf].all(axis=0)
        parts.append(np.where(violated, -np.inf, total))
    return np.concatenate(parts)


def frequencies(features: Features, rows: IntArray, share: FloatArray) -> FloatArray:
    """How often each feature holds in rows of the given shares: its empirical expectation."""
    total = np.zeros(len(features))
    first = 0
    for block in blocks_of(features, rows):
        holds = firing(features, block).failing == 0
        total += holds @ share[first : first + len(block)]
        first += len(block)
    return total


def distinct_rows(rows: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct rows, in a fixed order, and how often each occurs."""
    if not len(rows):
        return rows, np.zeros(0, dtype=np.int64)
    found, counts = np.unique(rows, axis=0, return_counts=True)
    return found, counts.astype(np.int64)
