"""Pseudo-likelihood: every variable given all the others, with no partition function.

Given the others, a feature matters to variable i only if all its other literals hold; then it adds
its weight to the values that its literal on i allows. So one sparse 0/1 matrix, with a row for each
(variable, distinct data row) and a column for each literal, holds all that the data has to say:
the log-potentials of all conditionals are that matrix times the weights spread over the values, and
the gradient is its transpose times the residuals. Potentials are taken relative to value 0, which
makes it a matrix-vector product for binary variables.
"""

from __future__ import annotations

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
    effect : shape (literals, values - 1): what a literal adds to a value, relative to value 0
    owners : the feature of each literal
    possible : shape (cases, values - 1), or (1, 1) if every variable has as many values
    chosen : shape (cases, values - 1): whether the row has this value (all 0: it has value 0)
    """

    matrix: Any
    effect: FloatArray
    owners: IntArray
    possible: FloatArray
    chosen: FloatArray
    features: int

    @classmethod
    def of(cls, features: Features, rows: IntArray) -> Conditionals:
        """Prepare the conditionals of these rows of positions."""
        cards = features.cardinalities
        allowed = allowed_values(features).astype(np.float64)
        values = np.arange(1, allowed.shape[1])
        real = (values < cards[:, None]).astype(np.float64)
        effect = (allowed[:, 1:] - allowed[:, :1]) * real[features.variables]
        return cls(
            _hanging(features, rows),
            effect,
            features.owners,
            np.ones((1, 1)) if real.all() else np.repeat(real, len(rows), axis=0),
            (rows.T.reshape(-1, 1) == values).astype(np.float64),
            len(features),
        )

    def log_conditionals(self, weights: FloatArray) -> FloatArray:
        """log p(the value in the row | the others) of each case."""
        return self._evaluate(weights)[0]

    def value_and_gradient(
        self, weights: FloatArray, share: FloatArray
    ) -> tuple[float, FloatArray]:
        """The mean pseudo-log-likelihood of rows with these shares, and its gradient."""
        every = np.tile(share, len(self.chosen) // max(1, len(share)))
        logs, probabilities = self._evaluate(weights)
        residual = (self.chosen - probabilities) * every[:, None]
        pull = ((self.matrix.T @ residual) * self.effect).sum(axis=1)
        return float(every @ logs), np.bincount(self.owners, pull, minlength=self.features)

    def curvature(self, share: FloatArray) -> FloatArray:
        """The diagonal of the negative Hessian at weights of 0, but for correlations in a case."""
        every = np.tile(share, len(self.chosen) // max(1, len(share)))
        level = 1.0 / (1.0 + (self.possible * np.ones_like(self.chosen)).sum(axis=1))
        spread = self.matrix.T @ (every * level * (1.0 - level))
        own = spread * (self.effect**2).sum(axis=1)
        return np.bincount(self.owners, own, minlength=self.features)

    def _evaluate(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Of each case: log p of its own value, and p of every value but 0."""
        relative = self.matrix @ (weights[self.owners, None] * self.effect)
        top = np.maximum(relative.max(axis=1, initial=0.0), 0.0)
        odds = np.exp(relative - top[:, None]) * self.possible
        total = odds.sum(axis=1) + np.exp(-top)
        logs = (self.chosen * relative).sum(axis=1) - top - np.log(total)
        return logs, odds / total[:, None]


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
    where = (np.concatenate(cases), np.concatenate(literals))
    shape = (len(features.cardinalities) * count, len(variables))
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
