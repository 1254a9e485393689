"""Compute sums of multinomial logistic losses, with gradient, curvature and a lower bound.

A *setting* is a choice among K values, of which value 0 has potential 0 and the other K - 1, the
*options*, have potentials that are linear in the weights. The loss of a setting in which value k
was chosen n_k times is ::

    Σ_k n_k · (log Σ_j exp(z_j) - z_k)

Pseudo-likelihood is such a sum, over the settings of all variables, and so is the regression of one
variable on the others. A binary setting has one option, and its loss is the logistic one.

**The lower bound** is a value of the dual problem. Any distribution q_s for each setting bounds the
penalised optimum by the entropy Σ n_s H(q_s), if no group's gradient under q exceeds its price. We
use the last such mixture between the shares of the data (gradient 0) and the fitted probabilities.
At the optimum it is the fit, and the bound is tight. With an L2 penalty ridge/2 · Σ w² a larger
gradient is allowed and costs its squared excess over twice the ridge.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from contextwise.distributions.descent import gram
from contextwise.distributions.potentials import FloatArray
from contextwise.models.features import IntArray


@dataclass(frozen=True, eq=False)
class Options:
    """All options of all settings, and what each feature adds to them."""

    matrix: Any
    starts: IntArray

    @cached_property
    def transposed(self) -> Any:
        """The transposed matrix; each step of a fit uses both."""
        turned = self.matrix.T
        return turned if isinstance(turned, np.ndarray) else turned.tocsr()

    @cached_property
    def transposed_for_gram(self) -> Any:
        """The transposed matrix; if it is dense, as 32-bit floats row by row."""
        if isinstance(self.matrix, np.ndarray):
            return np.ascontiguousarray(self.matrix.T, dtype=np.float32)
        return self.transposed

    @cached_property
    def owners(self) -> IntArray:
        """The setting of each option."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @cached_property
    def binary(self) -> bool:
        """True if every setting has one option."""
        return bool((np.diff(self.starts) == 1).all())

    def at(self, weights: FloatArray) -> Chances:
        """Return the probabilities of all options with these weights."""
        potentials = self.matrix @ weights
        top = np.maximum(self.reduce(np.maximum, potentials), 0.0)
        odds = np.exp(potentials - self.spread(top))
        total = np.exp(-top) + self.reduce(np.add, odds)
        return Chances(potentials, top + np.log(total), odds / self.spread(total))

    def spread(self, of_settings: FloatArray) -> FloatArray:
        """Repeat a value per setting for each of its options."""
        return of_settings if self.binary else of_settings[self.owners]

    def reduce(self, function: np.ufunc, of_options: FloatArray) -> FloatArray:
        """Reduce over the options of each setting; 0 without options."""
        if self.binary:
            return of_options
        found = np.zeros(len(self.starts) - 1)
        some = np.flatnonzero(np.diff(self.starts))
        if len(some):
            found[some] = function.reduceat(of_options, self.starts[some])
        return found


@dataclass(frozen=True, eq=False)
class Chances:
    """Potential and probability of each option, and the log total of each setting."""

    potentials: FloatArray
    log_totals: FloatArray
    probabilities: FloatArray


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
        return LossAt(self, self.options.at(weights))


@dataclass(frozen=True, eq=False)
class LossAt:
    """A loss at some weights."""

    loss: LogisticLoss
    chances: Chances

    @property
    def value(self) -> float:
        """The loss, >= 0."""
        own, chances = self.loss, self.chances
        return float(own.totals @ chances.log_totals - own.chosen @ chances.potentials)

    @cached_property
    def expected(self) -> FloatArray:
        """The expected number of choices of each option."""
        return self.loss.options.spread(self.loss.totals) * self.chances.probabilities

    @cached_property
    def gradient(self) -> FloatArray:
        """The gradient: expected minus observed count of each feature."""
        found: FloatArray = self.loss.options.transposed @ (self.expected - self.loss.chosen)
        return found

    def curvature(self, features: IntArray) -> Any:
        """Return the Hessian over some of the features as a sparse array."""
        options, p = self.loss.options, self.chances.probabilities
        if options.binary:
            scale = self.expected * (1.0 - p)
            return gram(options.matrix, options.transposed_for_gram, scale, features)
        whole = gram(options.matrix, options.transposed, self.expected, features)
        mean = self._means() @ options.matrix
        return whole - gram(mean, mean.T.tocsr(), self.loss.totals, features)

    def _means(self) -> Any:
        """Return the matrix that averages over the options of each setting."""
        options = self.loss.options
        shape = (len(options.starts) - 1, len(options.owners))
        own = np.arange(len(options.owners))
        kind = type(options.matrix)
        return kind((self.chances.probabilities, own, options.starts), shape=shape)

    def entropy(self, share: float) -> float:
        """Return the total entropy of the mixture with a share of the fitted probabilities."""
        loss = self.loss
        mixed = (1.0 - share) * loss.chosen + share * self.expected
        first = np.maximum(loss.totals - loss.options.reduce(np.add, mixed), 0.0)
        return float(_x_log_x(loss.totals) - _x_log_x(mixed) - _x_log_x(first))


def _x_log_x(x: FloatArray) -> float:
    return float((x * np.log(np.where(x > 0, x, 1.0))).sum())
