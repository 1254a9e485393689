"""Pseudo-likelihood: every variable given all the others, with no partition function.

Given the others, a feature matters to variable i only if all its other literals hold; then it adds
its weight to the values that its literal on i allows. So one sparse 0/1 matrix, with a row for each
(variable, distinct data row) and a column for each literal, holds all that the data has to say:
the log-potentials of all conditionals are that matrix times the weights spread over the values, and
the gradient is its transpose times the residuals. Potentials are taken relative to value 0, which
makes it a matrix-vector product for binary variables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from contextwise.errors import DomainError, require
from contextwise.features import Features, IntArray
from contextwise.loglinear.firing import FloatArray, allowed_values, blocks_of, firing
from contextwise.structure import LogLinear


@dataclass(frozen=True, eq=False)
class Conditionals:
    """The conditionals of every variable in every row, ready for any weights.

    A *case* is a variable in a row: cases are numbered variable by variable.

    Attributes
    ----------
    matrix : sparse array of shape (cases, literals)
        1 where all other literals of the literal's feature hold in the row.
    transposed : the same, the other way round; both are used at every step of a fit
    effect : shape (values - 1, literals): what a literal adds to a value, relative to value 0
    owners : the feature of each literal
    possible : shape (values - 1, cases), or (1, 1) if every variable has as many values
    chosen : shape (values - 1, cases): whether the row has this value (all 0: it has value 0)
    """

    matrix: Any
    transposed: Any
    effect: FloatArray
    owners: IntArray
    possible: FloatArray
    chosen: FloatArray
    features: int

    @classmethod
    def of(cls, features: Features, rows: IntArray) -> Conditionals:
        """Prepare the conditionals of these rows of positions."""
        allowed = allowed_values(features).T.astype(np.float64)
        values = np.arange(1, len(allowed))[:, None]
        real = (values < features.cardinalities).astype(np.float64)
        matrix = _hanging(features, rows)
        return cls(
            matrix,
            matrix.T.tocsr(),
            (allowed[1:] - allowed[:1]) * real[:, features.variables],
            features.owners,
            np.ones((1, 1)) if real.all() else np.repeat(real, len(rows), axis=1),
            (rows.T.ravel() == values).astype(np.float64),
            len(features),
        )

    def log_conditionals(self, weights: FloatArray) -> FloatArray:
        """log p(the value in the row | the others) of each case."""
        return self._evaluate(weights)[0]

    def value_and_gradient(
        self, share: FloatArray, weights: FloatArray
    ) -> tuple[float, FloatArray]:
        """The mean pseudo-log-likelihood of rows with these shares, and its gradient."""
        every = self._every(share)
        logs, probabilities = self._evaluate(weights)
        pull = self._gathered((self.chosen - probabilities) * every)
        return float((every * logs).sum()), pull

    def curvature_at(
        self, share: FloatArray, weights: FloatArray
    ) -> Callable[[FloatArray], FloatArray]:
        """The negative Hessian at these weights, as a function that multiplies a vector by it."""
        every = self._every(share)
        _, p = self._evaluate(weights)

        def times(direction: FloatArray) -> FloatArray:
            moved = self._relative(direction)
            return self._gathered(every * p * (moved - (p * moved).sum(axis=0)))

        return times

    def scale(self, share: FloatArray) -> FloatArray:
        """The diagonal of the negative Hessian at weights of 0, but for correlations in a case."""
        level = 1.0 / (1.0 + (self.possible * np.ones_like(self.chosen)).sum(axis=0))
        spread = self.transposed @ (self._every(share) * level * (1.0 - level))
        return self._by_feature(spread * (self.effect**2).sum(axis=0))

    def _every(self, share: FloatArray) -> FloatArray:
        """The share of each case."""
        return np.tile(share, self.chosen.shape[1] // max(1, len(share)))

    def _relative(self, weights: FloatArray) -> FloatArray:
        """The log-potential of every value of each case, relative to value 0."""
        relative = np.zeros_like(self.chosen)
        for value, own in enumerate(weights[self.owners] * self.effect):
            relative[value] = self.matrix @ own
        return relative

    def _gathered(self, residual: FloatArray) -> FloatArray:
        """The transpose of `_relative`: what the cases say, gathered by feature."""
        pull = np.zeros(len(self.owners))
        for own, left in zip(self.effect, residual, strict=True):
            pull += own * (self.transposed @ left)
        return self._by_feature(pull)

    def _by_feature(self, of_literals: FloatArray) -> FloatArray:
        total = np.bincount(self.owners, of_literals, minlength=self.features)
        return total.astype(np.float64)

    def _evaluate(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Of each case: log p of its own value, and p of every value but 0."""
        relative = self._relative(weights)
        top = relative.max(axis=0, initial=0.0)
        odds = np.exp(relative - top) * self.possible
        total = odds.sum(axis=0) + np.exp(-top)
        logs = (self.chosen * relative).sum(axis=0) - top - np.log(total)
        return logs, odds / total


def _hanging(features: Features, rows: IntArray) -> Any:
    """The matrix of `Conditionals`: which features hang on which variable, row by row."""
    sparse = require("scipy.sparse", "loglinear")
    variables, owners, count = features.variables.astype(np.int64), features.owners, len(rows)
    cases, literals, first = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)], 0
    for block in blocks_of(features, rows):
        found = firing(features, block)
        literal, row = np.nonzero(found.failing[owners] == found.fails)
        cases.append(variables[literal] * count + row + first)
        literals.append(literal)
        first += len(block)
    shape = (len(features.cardinalities) * count, len(variables))
    small = np.int32 if max(shape) < 2**31 else np.int64
    where = (np.concatenate(cases).astype(small), np.concatenate(literals).astype(small))
    return sparse.csr_array((np.ones(len(where[0])), where), shape=shape)


def conditional_log_probabilities(model: LogLinear, rows: Any) -> FloatArray:
    """log p(x_i | all the others) of every variable in every row: shape (rows, variables).

    The sum over variables is the pseudo-log-likelihood of a row.

    >>> from contextwise.structure import Structure
    >>> model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), [np.log(3)])
    >>> np.exp(conditional_log_probabilities(model, [[1, 1], [1, 0]])).round(3).tolist()
    [[0.75, 0.75], [0.5, 0.25]]
    """
    if not np.isfinite(model.weights).all():
        raise DomainError("conditionals of every variable need finite weights")
    encoded = model.domain.encode(rows)
    distinct, back = np.unique(encoded, axis=0, return_inverse=True)
    prepared = Conditionals.of(model.structure.features, distinct)
    own = prepared.log_conditionals(model.weights).reshape(len(model.domain), -1)
    return np.ascontiguousarray(own.T)[back.reshape(-1)]
