"""Sums of multinomial logistic losses, with value, gradient, curvature and a lower bound.

A *setting* is a choice among K values, of which value 0 has potential 0 and the other K - 1, the
*options*, have potentials that are linear in the weights. The loss of a setting in which value k
was chosen n_k times is ::

    Σ_k n_k · (log Σ_j exp(z_j) - z_k)

Pseudo-likelihood is such a sum, over the settings of all variables, and so is the regression of one
variable on the others. A binary setting has one option, and its loss is the logistic one.

**The lower bound** is a value of the dual problem. Any distribution q_s for each setting gives a
bound on the penalised optimum, namely the entropy Σ n_s H(q_s), if no group of features is pulled
harder by q than its price. Between the shares of the data (which pull at nothing) and the fitted
probabilities lies the last mixture for which that holds; at the optimum it is the fit itself, and
the bound is tight. With an L2 penalty ridge/2 · Σ w² a harder pull is allowed, and costs its excess
squared over twice the ridge.
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
    """All options of all settings, and what each feature adds to them.

    Attributes
    ----------
    matrix : array of shape (options, features), sparse, or dense if all settings are binary
    starts : where the options of each setting begin, and at the end their number
    """

    matrix: Any
    starts: IntArray

    @cached_property
    def transposed(self) -> Any:
        """The matrix the other way round; both are used at every step of a fit."""
        turned = self.matrix.T
        return turned if isinstance(turned, np.ndarray) else turned.tocsr()

    @cached_property
    def owners(self) -> IntArray:
        """The setting of each option."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @cached_property
    def binary(self) -> bool:
        """Whether every setting has one option."""
        return bool((np.diff(self.starts) == 1).all())

    def at(self, weights: FloatArray) -> Chances:
        """The probabilities of all options with these weights."""
        potentials = self.matrix @ weights
        top = np.maximum(self.reduce(np.maximum, potentials), 0.0)
        odds = np.exp(potentials - self.spread(top))
        total = np.exp(-top) + self.reduce(np.add, odds)
        return Chances(potentials, top + np.log(total), odds / self.spread(total))

    def spread(self, of_settings: FloatArray) -> FloatArray:
        """What a setting has, for each of its options."""
        return of_settings if self.binary else of_settings[self.owners]

    def reduce(self, function: np.ufunc, of_options: FloatArray) -> FloatArray:
        """The sum (or maximum) over the options of each setting; 0 where there are none."""
        if self.binary:
            return of_options
        found = np.zeros(len(self.starts) - 1)
        some = np.flatnonzero(np.diff(self.starts))
        if len(some):
            found[some] = function.reduceat(of_options, self.starts[some])
        return found


@dataclass(frozen=True, eq=False)
class Chances:
    """The potential and probability of each option, and the log of the total of each setting."""

    potentials: FloatArray
    log_totals: FloatArray
    probabilities: FloatArray


@dataclass(frozen=True, eq=False)
class LogisticLoss:
    """The loss of choices that were made so often.

    Attributes
    ----------
    options : the settings and their options
    totals : how often each setting occurs
    chosen : how often each option was chosen
    """

    options: Options
    totals: FloatArray
    chosen: FloatArray

    @property
    def size(self) -> int:
        """The number of weights."""
        return int(self.options.matrix.shape[1])

    def at(self, weights: FloatArray) -> LossAt:
        """The loss with these weights."""
        return LossAt(self, self.options.at(weights))


@dataclass(frozen=True, eq=False)
class LossAt:
    """A loss at some weights."""

    loss: LogisticLoss
    chances: Chances

    @property
    def value(self) -> float:
        """The loss itself: 0 or more."""
        own, chances = self.loss, self.chances
        return float(own.totals @ chances.log_totals - own.chosen @ chances.potentials)

    @cached_property
    def expected(self) -> FloatArray:
        """How often each option should have been chosen."""
        return self.loss.options.spread(self.loss.totals) * self.chances.probabilities

    @cached_property
    def gradient(self) -> FloatArray:
        """Of the loss: what is expected of each feature, less what was seen."""
        found: FloatArray = self.loss.options.transposed @ (self.expected - self.loss.chosen)
        return found

    def curvature(self, features: IntArray) -> Any:
        """The Hessian over some of the features, as a sparse array."""
        options, p = self.loss.options, self.chances.probabilities
        if options.binary:
            scale = self.expected * (1.0 - p)
            return gram(options.matrix, options.transposed, scale, features)
        whole = gram(options.matrix, options.transposed, self.expected, features)
        mean = self._means() @ options.matrix
        return whole - gram(mean, mean.T.tocsr(), self.loss.totals, features)

    def _means(self) -> Any:
        """The matrix that takes the mean over the options of each setting."""
        options = self.loss.options
        shape = (len(options.starts) - 1, len(options.owners))
        own = np.arange(len(options.owners))
        kind = type(options.matrix)
        return kind((self.chances.probabilities, own, options.starts), shape=shape)

    def entropy(self, share: float) -> float:
        """The total entropy of the mixture with so large a share of the fitted probabilities."""
        loss = self.loss
        mixed = (1.0 - share) * loss.chosen + share * self.expected
        first = np.maximum(loss.totals - loss.options.reduce(np.add, mixed), 0.0)
        return float(_x_log_x(loss.totals) - _x_log_x(mixed) - _x_log_x(first))


def _x_log_x(x: FloatArray) -> float:
    return float((x * np.log(np.where(x > 0, x, 1.0))).sum())
