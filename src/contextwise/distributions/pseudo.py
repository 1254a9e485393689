"""Pseudo-likelihood: every variable given all the others, with no partition function.

Given the others, a feature matters to variable i only if all its other literals hold; then it adds
its weight to the values that its literal on i allows. Which literals on i matter is all that a row
has to say about i: rows that agree on that are one *setting* of i, and learned structures have far
fewer settings than data have rows. So one sparse 0/1 matrix, with a row for each setting and a
column for each literal, holds all conditionals: their log-potentials are that matrix times the
weights spread over the values, and the gradient is its transpose times the residuals. Potentials
are taken relative to value 0, which makes it a matrix-vector product for binary variables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from contextwise.distributions.firing import FloatArray, allowed_values, blocks_of, firing
from contextwise.errors import DomainError, require
from contextwise.models.features import Features, IntArray
from contextwise.models.structure import LogLinear


@dataclass(frozen=True, eq=False)
class Conditionals:
    """The conditionals of every variable in every row, ready for any weights.

    A *case* is a variable in a row: cases are numbered variable by variable.

    Attributes
    ----------
    matrix : sparse array of shape (settings, literals)
        1 where all other literals of the literal's feature hold.
    transposed : the same, the other way round; both are used at every step of a fit
    effect : shape (values - 1, literals): what a literal adds to a value, relative to value 0
    owners : the feature of each literal
    possible : shape (values - 1, settings), or (1, 1) if every variable has as many values
    settings : the setting of each case
    values : the value of each case
    """

    matrix: Any
    transposed: Any
    effect: FloatArray
    owners: IntArray
    possible: FloatArray
    settings: IntArray
    values: IntArray
    features: int

    @classmethod
    def of(cls, features: Features, rows: IntArray) -> Conditionals:
        """Prepare the conditionals of these rows of positions."""
        allowed = allowed_values(features).T.astype(np.float64)
        real = np.arange(1, len(allowed))[:, None] < features.cardinalities
        hanging = _hanging(features, rows)
        settings, first = _distinct(hanging, len(rows))
        matrix = hanging[first]
        variables = first // max(1, len(rows))
        return cls(
            matrix,
            matrix.T.tocsr(),
            (allowed[1:] - allowed[:1]) * real[:, features.variables],
            features.owners,
            np.ones((1, 1)) if real.all() else real[:, variables].astype(np.float64),
            settings,
            rows.T.ravel(),
            len(features),
        )

    def log_conditionals(self, weights: FloatArray) -> FloatArray:
        """log p(the value in the row | the others) of each case."""
        logs, _ = self._evaluate(weights)
        return np.asarray(logs[self.values, self.settings])

    def tally(self, share: FloatArray) -> FloatArray:
        """What each value counts in each setting, in rows of these shares: (values, settings)."""
        count, values = self.matrix.shape[0], 1 + len(self.effect)
        every = np.tile(share, len(self.settings) // max(1, len(share)))
        places = self.values * count + self.settings
        total = np.bincount(places, every, minlength=values * count).astype(np.float64)
        return total.reshape(values, count)

    def value_and_gradient(
        self, tally: FloatArray, weights: FloatArray
    ) -> tuple[float, FloatArray]:
        """The mean pseudo-log-likelihood of rows with this tally, and its gradient."""
        logs, probabilities = self._evaluate(weights)
        pull = self._gathered(tally[1:] - tally.sum(axis=0) * probabilities)
        return float((tally * logs).sum()), pull

    def curvature_at(
        self, tally: FloatArray, weights: FloatArray
    ) -> Callable[[FloatArray], FloatArray]:
        """The negative Hessian at these weights, as a function that multiplies a vector by it."""
        _, p = self._evaluate(weights)
        counted = tally.sum(axis=0) * p

        def times(direction: FloatArray) -> FloatArray:
            moved = self._relative(direction)
            return self._gathered(counted * (moved - (p * moved).sum(axis=0)))

        return times

    def scale(self, tally: FloatArray) -> FloatArray:
        """The diagonal of the negative Hessian at weights of 0, but for correlations in a case."""
        level = 1.0 / (1.0 + (self.possible * np.ones_like(tally[1:])).sum(axis=0))
        spread = self.transposed @ (tally.sum(axis=0) * level * (1.0 - level))
        return self._by_feature(spread * (self.effect**2).sum(axis=0))

    def _relative(self, weights: FloatArray) -> FloatArray:
        """The log-potential of every value of each setting, relative to value 0."""
        relative = np.zeros((len(self.effect), self.matrix.shape[0]))
        for value, own in enumerate(weights[self.owners] * self.effect):
            relative[value] = self.matrix @ own
        return relative

    def _gathered(self, residual: FloatArray) -> FloatArray:
        """The transpose of `_relative`: what the settings say, gathered by feature."""
        pull = np.zeros(len(self.owners))
        for own, left in zip(self.effect, residual, strict=True):
            pull += own * (self.transposed @ left)
        return self._by_feature(pull)

    def _by_feature(self, of_literals: FloatArray) -> FloatArray:
        total = np.bincount(self.owners, of_literals, minlength=self.features)
        return total.astype(np.float64)

    def _evaluate(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Of each setting: log p of every value, and p of every value but 0."""
        relative = self._relative(weights)
        top = relative.max(axis=0, initial=0.0)
        odds = np.exp(relative - top) * self.possible
        total = odds.sum(axis=0) + np.exp(-top)
        first = -top - np.log(total)
        return np.concatenate([first[None], relative + first]), odds / total


def _hanging(features: Features, rows: IntArray) -> Any:
    """Which literals matter in which case: a sparse array of shape (cases, literals)."""
    sparse = require("scipy.sparse", "distributions")
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


def _distinct(hanging: Any, count: int) -> tuple[IntArray, IntArray]:
    """The setting of each case, and the first case of each setting."""
    hanging.sort_indices()
    data, size = hanging.indices.tobytes(), hanging.indices.itemsize
    bounds = (hanging.indptr.astype(np.int64) * size).tolist()
    seen: dict[tuple[int, bytes], int] = {}
    first: list[int] = []
    settings = np.empty(hanging.shape[0], dtype=np.int64)
    for case, (begin, end) in enumerate(pairwise(bounds)):
        setting = seen.setdefault((case // count, data[begin:end]), len(seen))
        if setting == len(first):
            first.append(case)
        settings[case] = setting
    return settings, np.array(first, dtype=np.int64)


def conditional_log_probabilities(model: LogLinear, rows: Any) -> FloatArray:
    """log p(x_i | all the others) of every variable in every row: shape (rows, variables).

    The sum over variables is the pseudo-log-likelihood of a row.

    >>> from contextwise.models.structure import Structure
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
