"""Compute each variable's conditional distribution given all others, and the pseudo-likelihood.

A feature matters to variable i only if all its other literals hold; then it adds its weight to the
values that its literal on i allows. Rows in which the same literals on i matter form one *setting*
of i. Learned structures have far fewer settings than data have rows. All conditionals become one
sparse matrix for `logistic_loss`: a row per setting and value (except value 0, the reference), a
column per feature.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from contextwise.distributions.logistic_loss import (
    BITS,
    LogisticLoss,
    Options,
    PackedBlock,
    PackedMatrix,
)
from contextwise.distributions.potentials import (
    Bytes,
    allowed_values,
    distinct,
    literal_bits,
)
from contextwise.errors import DomainError
from contextwise.models.features import Features
from contextwise.models.structure import LogLinear
from contextwise.support.arrays import BoolArray, FloatArray, IntArray

TURNED_CELLS_IN_MEMORY = 2**24
"""Largest number of (literal, row) cells in memory."""
DENSE, MANY = 0.1, 2**22
"""With a larger share of ones, and more of them, packed bits are faster than a sparse matrix."""
BIT_COUNTS = BITS.sum(axis=0).astype(np.int64)

Block = tuple[int, Bytes, npt.NDArray[np.int8], IntArray]
"""The settings of one variable: the first number, literals that matter, effects, features."""


@dataclass(frozen=True, eq=False)
class Conditionals:
    """The conditionals of every variable in every row, for any weights.

    ``settings`` and ``values`` have shape (variables, rows). A variable with one value has nothing
    to choose, and its setting is -1.
    """

    options: Options
    settings: IntArray
    values: IntArray

    @classmethod
    def of(cls, features: Features, rows: IntArray) -> Conditionals:
        """Prepare the conditionals of encoded rows."""
        blocks: list[Block] = []
        sizes = [np.zeros(1, dtype=np.int64)]
        settings = np.zeros((len(features.cardinalities), len(rows)), dtype=np.int64)
        before = 0
        allowed = allowed_values(features)
        for variable, literals, patterns in _patterns(features, rows):
            cardinality = int(features.cardinalities[variable])
            if cardinality == 1:
                # Such a variable has probability 1; `log_conditionals` finds an appended 0 at -1.
                settings[variable] = -1
                continue
            settings[variable], first = distinct(patterns)
            settings[variable] += before
            sizes.append(np.full(len(first), cardinality - 1))
            # Potentials are relative to value 0, so that value needs no option.
            effects = allowed[literals, 1:cardinality].astype(np.int8) - allowed[literals, :1]
            blocks.append((before, patterns[first], effects, features.owners[literals]))
            before += len(first)
        starts = np.cumsum(np.concatenate(sizes))
        matrix: Any = _packed(blocks, before, features)
        if matrix is None:
            from scipy import sparse

            parts = [sparse.csr_array((0, len(features)))]
            for _, patterns, effects, owners in blocks:
                speaks = np.unpackbits(patterns, axis=1, count=len(owners)).view(bool)
                parts.append(_matrix(speaks, effects, owners, len(features)))
            matrix = sparse.vstack(parts, format="csr")
        return cls(Options(matrix, starts), settings, np.ascontiguousarray(rows.T))

    def loss(self, counts: FloatArray) -> LogisticLoss:
        """Return minus the pseudo-log-likelihood of the rows, weighted by ``counts``."""
        real = self.settings >= 0
        every = np.broadcast_to(counts, real.shape)[real]
        settings, values = self.settings[real], self.values[real]
        starts = self.options.starts
        totals = np.bincount(settings, every, minlength=len(starts) - 1)
        others = values > 0
        places = starts[settings[others]] + values[others] - 1
        chosen = np.bincount(places, every[others], minlength=int(starts[-1]))
        return LogisticLoss(self.options, totals.astype(np.float64), chosen.astype(np.float64))

    def log_conditionals(self, weights: FloatArray) -> FloatArray:
        """Return log p(the value in the row | the others): shape (variables, rows)."""
        potentials, log_totals, _ = self.options.at(weights)
        places = self.options.starts[self.settings] + self.values - 1
        # Value 0 has potential 0, which is appended at place -1.
        chosen = np.append(potentials, 0.0)[np.where(self.values > 0, places, -1)]
        logs: FloatArray = chosen - np.append(log_totals, 0.0)[self.settings]
        return logs


def _patterns(features: Features, rows: IntArray) -> Iterator[tuple[int, IntArray, Bytes]]:
    """Yield each variable, its literals, and the rows where each matters: (rows, literals / 8).

    A literal matters in a row where all other literals of its feature hold.
    """
    kinds, holds = literal_bits(features, rows)
    owners, lengths = features.owners, features.lengths
    for variable in range(len(features.cardinalities)):
        literals = np.flatnonzero(features.variables == variable)
        features_with = owners[literals]
        matters = np.full((len(literals), holds.shape[1]), 255, dtype=np.uint8)
        for place in range(int(lengths[features_with].max(initial=0))):
            others = features.starts[features_with] + place
            # Not the literal itself, and short features have none at this place.
            concerned = np.flatnonzero((place < lengths[features_with]) & (others != literals))
            matters[concerned] &= holds[kinds[others[concerned]]]
        yield variable, literals, _turned(matters, len(rows))


def _turned(bits: Bytes, count: int) -> Bytes:
    """Transpose packed bits."""
    turned = np.zeros((count, (len(bits) + 7) // 8), dtype=np.uint8)
    # A multiple of 8, so that every block starts at a byte.
    step = max(8, TURNED_CELLS_IN_MEMORY // max(1, len(bits)) // 8 * 8)
    for first in range(0, count, step):
        block = np.unpackbits(bits[:, first // 8 : (first + step) // 8], axis=1)
        by_row = np.ascontiguousarray(block[:, : count - first].T)
        turned[first : first + step] = np.packbits(by_row, axis=1)
    return turned


def _packed(blocks: list[Block], settings: int, features: Features) -> PackedMatrix | None:
    """Return a matrix of bits if every variable is binary and very many of the bits are 1."""
    bits = sum(8 * patterns.size for _, patterns, _, _ in blocks)
    if features.cardinalities.max(initial=1) > 2 or bits <= MANY:
        return None
    ones = sum(int(BIT_COUNTS[patterns].sum()) for _, patterns, _, _ in blocks)
    if ones <= max(MANY, DENSE * bits):
        return None
    packed = [
        PackedBlock(first, np.ascontiguousarray(patterns.T), owners, effects[:, 0].astype(float))
        for first, patterns, effects, owners in blocks
    ]
    return PackedMatrix(packed, (settings, len(features)))


def _matrix(speaks: BoolArray, effects: npt.NDArray[np.int8], owners: IntArray, size: int) -> Any:
    """Return the matrix of what each feature adds to each option of each setting."""
    from scipy import sparse

    options = effects.shape[1]
    places = [np.nonzero(speaks & (effect != 0)) for effect in effects.T]
    data = [effect[literal] for effect, (_, literal) in zip(effects.T, places, strict=True)]
    rows = [setting * options + k for k, (setting, _) in enumerate(places)]
    columns = [owners[literal] for _, literal in places]
    joined = [np.concatenate([np.zeros(0, np.int64), *parts]) for parts in (data, rows, columns)]
    shape = (len(speaks) * options, size)
    return sparse.csr_array((joined[0].astype(np.float64), (joined[1], joined[2])), shape=shape)


def log_conditionals_of(model: LogLinear, rows: IntArray) -> FloatArray:
    """Return the log conditionals of encoded rows."""
    if not np.isfinite(model.weights).all():
        raise DomainError("conditional probabilities need finite weights")
    back, first = distinct(rows)
    prepared = Conditionals.of(model.structure.features, rows[first])
    return np.ascontiguousarray(prepared.log_conditionals(model.weights).T)[back]
