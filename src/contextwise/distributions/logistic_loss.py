"""The loss of logistic regressions on many settings at once, with its gradient and curvature.

A *setting* is a choice among K values, of which value 0 has potential 0 and the other K - 1, the
*options*, have potentials that are linear in the weights. The loss of a setting in which value k
was chosen n_k times is ::

    Σ_k n_k · (log Σ_j exp(z_j) - z_k)

Pseudo-likelihood is such a sum, over the settings of all variables, and so is the regression of one
variable on the others. A binary setting has one option, and its loss is the logistic one.

The matrix of what each feature adds to each option is dense, sparse, or packed into bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from contextwise.distributions.potentials import Bytes
from contextwise.support.arrays import FloatArray, IntArray

_descent: Any
try:
    from contextwise.distributions import _descent
except ImportError:  # built without a compiler
    _descent = None

ENTRIES_IN_MEMORY = 2**21
"""About this many entries of the parts of a product are in memory before they are added up."""


# -- matrices of bits ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PackedBlock:
    """Some rows of a matrix: bits, eight columns to a byte, times a sign per column."""

    first: int
    bits: Bytes  # (columns / 8, rows)
    columns: IntArray
    signs: FloatArray

    @property
    def rows(self) -> slice:
        return slice(self.first, self.first + self.bits.shape[1])


@dataclass(frozen=True, eq=False)
class PackedMatrix:
    """A matrix of -1, 0 and 1 in blocks of rows, each with few columns that are not 0."""

    blocks: list[PackedBlock]
    shape: tuple[int, int]
    __array_ufunc__ = None

    def __matmul__(self, weights: FloatArray) -> FloatArray:
        product = np.zeros(self.shape[0])
        for block in self.blocks:
            of_bits = np.zeros(8 * len(block.bits))
            of_bits[: len(block.columns)] = weights[block.columns] * block.signs
            # One lookup per byte instead of eight additions.
            sums = of_bits.reshape(-1, 8) @ BITS  # of each byte
            # A view: what is added to it is added to the product.
            total = product[block.rows]
            for of_byte, values in zip(block.bits, sums, strict=True):
                total += values[of_byte]
        return product

    def __rmatmul__(self, of_rows: FloatArray) -> FloatArray:
        product = np.zeros(self.shape[1])
        for block in self.blocks:
            part = of_rows[block.rows]
            sums = [np.bincount(of_byte, part, minlength=256) for of_byte in block.bits]
            of_bits = (np.array(sums).reshape(-1, 256) @ BITS.T).ravel()[: len(block.columns)]
            product[block.columns] += of_bits * block.signs
        return product

    def gram(self, scale: FloatArray, chosen: IntArray) -> Any:
        """Return Aᵀ D A over some columns, with D diagonal, as a CSR array."""
        from scipy import sparse

        place = np.full(self.shape[1], -1, dtype=np.int32)
        place[chosen] = np.arange(len(chosen), dtype=np.int32)
        # With √D on both factors, Aᵀ D A is one symmetric product.
        roots = np.sqrt(scale).astype(np.float32)
        total = sparse.csr_array((len(chosen), len(chosen)))
        parts: list[tuple[Any, Any, Any]] = []
        for block in self.blocks:
            places = place[block.columns]
            ours = np.flatnonzero(places >= 0)
            places, signs = places[ours], block.signs[ours].astype(np.float32)
            bits = np.unpackbits(block.bits, axis=0, count=len(block.columns))[ours]
            part = bits * roots[block.rows]
            product = (part @ part.T) * signs * signs[:, None]
            i, j = np.nonzero(product)
            parts.append((product[i, j], places[i], places[j]))
            if block is self.blocks[-1] or sum(len(part[0]) for part in parts) > ENTRIES_IN_MEMORY:
                data, i, j = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
                total = total + sparse.csr_array((data.astype(np.float64), (i, j)), total.shape)
                parts.clear()
        return total


BITS: FloatArray = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).T.astype(float)
"""The bits of each byte: shape (8, 256)."""


# -- the loss --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Options:
    """All options of all settings, and what each feature adds to them."""

    matrix: Any
    starts: IntArray

    @cached_property
    def transposed(self) -> Any:
        """The transposed sparse matrix; each step of a fit uses both."""
        return self.matrix.T.tocsr()

    def gram(self, scale: FloatArray, chosen: IntArray) -> Any:
        """Return Aᵀ D A over some columns, with D diagonal, as a CSR array."""
        if isinstance(self.matrix, PackedMatrix):
            return self.matrix.gram(scale, chosen)
        if isinstance(self.matrix, np.ndarray):
            from scipy import sparse

            part = self.transposed_floats[chosen] * np.sqrt(scale).astype(np.float32)
            return sparse.csr_array((part @ part.T).astype(np.float64))
        return gram(self.matrix, self.transposed, scale, chosen)

    @cached_property
    def transposed_floats(self) -> Any:
        """The transposed dense matrix, row by row.

        Half the precision is twice the speed, and the model of a step needs no more.
        """
        return np.ascontiguousarray(self.matrix.T, dtype=np.float32)

    @cached_property
    def owners(self) -> IntArray:
        """The setting of each option."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @cached_property
    def binary(self) -> bool:
        """True if every setting has one option."""
        return bool((np.diff(self.starts) == 1).all())

    def at(self, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the potentials of all options, the log total of each setting, probabilities."""
        potentials = self.matrix @ weights
        # The 0 is the potential of value 0, which has no option.
        top = np.maximum(self.reduce(np.maximum, potentials), 0.0)
        odds = np.exp(potentials - self.spread(top))
        total = np.exp(-top) + self.reduce(np.add, odds)
        return potentials, top + np.log(total), odds / self.spread(total)

    def spread(self, of_settings: FloatArray) -> FloatArray:
        """Repeat a value per setting for each of its options."""
        return of_settings if self.binary else of_settings[self.owners]

    def reduce(self, function: np.ufunc, of_options: FloatArray) -> FloatArray:
        """Reduce over the options of each setting; 0 without options."""
        if self.binary:
            return of_options
        of_settings = np.zeros(len(self.starts) - 1)
        # `reduceat` would return a neighbour's value for an empty range.
        some = np.flatnonzero(np.diff(self.starts))
        if len(some):
            of_settings[some] = function.reduceat(of_options, self.starts[some])
        return of_settings


@dataclass(frozen=True, eq=False)
class LogisticLoss:
    """The loss of choices made ``chosen`` times out of ``totals``."""

    options: Options
    totals: FloatArray
    chosen: FloatArray

    @property
    def size(self) -> int:
        """The number of weights."""
        return int(self.options.matrix.shape[1])

    def at(self, weights: FloatArray) -> LossAt:
        """Return the loss with these weights."""
        return LossAt(self, *self.options.at(weights))


@dataclass(frozen=True, eq=False)
class LossAt:
    """A loss at some weights."""

    loss: LogisticLoss
    potentials: FloatArray
    log_totals: FloatArray
    probabilities: FloatArray

    @property
    def value(self) -> float:
        """The loss, >= 0."""
        return float(self.loss.totals @ self.log_totals - self.loss.chosen @ self.potentials)

    @cached_property
    def expected(self) -> FloatArray:
        """The expected number of choices of each option."""
        return self.loss.options.spread(self.loss.totals) * self.probabilities

    @cached_property
    def gradient(self) -> FloatArray:
        """The gradient: expected minus observed count of each feature."""
        options, excess = self.loss.options, self.expected - self.loss.chosen
        dense = isinstance(options.matrix, np.ndarray | PackedMatrix)
        gradient: FloatArray = excess @ options.matrix if dense else options.transposed @ excess
        return gradient

    def curvature(self, features: IntArray) -> Any:
        """Return the Hessian over some of the features as a sparse array."""
        options, p = self.loss.options, self.probabilities
        if options.binary:
            return options.gram(self.expected * (1.0 - p), features)
        part, every = options.matrix[:, features], np.arange(len(features))
        whole = gram(part, part.T.tocsr(), self.expected, every)
        # the matrix that averages over the options of each setting
        shape = (len(options.starts) - 1, len(options.owners))
        means = type(options.matrix)((p, np.arange(shape[1]), options.starts), shape=shape)
        mean = means @ part
        # The covariance: mean of products minus product of means.
        return whole - gram(mean, mean.T.tocsr(), self.loss.totals, every)

    def entropy(self, share: float) -> float:
        """Return the total entropy of the mixture with a share of the fitted probabilities."""
        loss = self.loss
        mixed = (1.0 - share) * loss.chosen + share * self.expected
        first = np.maximum(loss.totals - loss.options.reduce(np.add, mixed), 0.0)
        return float(_x_log_x(loss.totals) - _x_log_x(mixed) - _x_log_x(first))


def _x_log_x(x: FloatArray) -> float:
    return float((x * np.log(np.where(x > 0, x, 1.0))).sum())


def gram(matrix: Any, transposed: Any, scale: FloatArray, chosen: IntArray) -> Any:
    """Return Aᵀ D A over some columns of a sparse A, with D diagonal, as a CSR array."""
    if _descent is None:
        part = matrix[:, chosen]
        part.data = part.data * np.repeat(scale, np.diff(part.indptr))
        return transposed[chosen] @ part
    matrix.sort_indices()
    indptr, indices, data = _descent.gram(
        matrix.indptr,
        matrix.indices,
        matrix.data,
        transposed.indptr,
        transposed.indices,
        transposed.data,
        scale,
        chosen,
    )
    return type(matrix)((data, indices, indptr), shape=(len(chosen), len(chosen)))
