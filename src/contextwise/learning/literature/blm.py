"""BLM: features from rows, bottom up (Davis and Domingos 2010).

"Bottom-up learning of Markov network structure". A row is a feature of all its variables. It is
generalised step by step: for each of the nearest rows in which it does not hold, drop the literals
that differ; keep the best result, as long as it scores better. What is left of a row is added to
the model if it improves the score, which is the pseudo-log-likelihood minus a price per literal.
This goes over all rows until nothing is added. The model starts with all single literals.

The paper leaves open, or does otherwise: here the score of a candidate is its **gain**, by its best
weight while all other weights stay fixed; after each pass over the rows all weights are fitted
again, and features of weight 0 are dropped. The price of a literal is ``penalty`` · ln(rows)/2.
Rows are taken by how often they occur, and nearness is the number of literals of the feature that
hold. It is readable, not fast: use it up to about 30 variables and some thousand distinct rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from contextwise.data.rows import Data, by_position
from contextwise.distributions.fitting import fit as fit_weights
from contextwise.distributions.potentials import log_potential_of
from contextwise.errors import DomainError
from contextwise.evidence.counted_rows import CountedRows
from contextwise.learning.base import Learner, Run
from contextwise.models.factors import conjunctions, single_literals
from contextwise.models.structure import LogLinear, Model
from contextwise.support.arrays import FloatArray, IntArray

STEPS, LARGEST_WEIGHT = 30, 20.0


@dataclass(eq=False, repr=False, kw_only=True)
class BLM(Learner):
    """Features by generalising rows to their nearest rows (Davis and Domingos 2010).

    Slow beyond 30 variables.

    Parameters
    ----------
    neighbours : int
        Number of nearest rows to generalise to in each step.
    penalty : float
        Price of a literal, in units of ln(rows)/2.
    passes : int
        Most passes over the rows.
    l1, l2 : float
        Penalties of the fits.

    Attributes
    ----------
    passes_ : int
        Number of passes that were made.

    Examples
    --------
    >>> rows = [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]] * 20
    >>> BLM().fit(rows).structure_.pairs()
    [('v0', 'v1')]
    """

    neighbours: int = 5
    penalty: float = 1.0
    passes: int = 10
    l1: float = 1.0
    l2: float = 0.1

    def learn(self, data: Data, run: Run) -> Model:
        """Pass over the rows until no feature is added."""
        if self.neighbours < 1 or self.passes < 0 or self.penalty < 0:
            raise DomainError("blm needs neighbours >= 1, passes >= 0, penalty >= 0")
        table = CountedRows.of(data)
        order = np.argsort(-table.counts, kind="stable")
        rows, counts = table.rows[order], table.counts[order].astype(np.float64)
        self.passes_ = 0
        features = single_literals(data.domain)
        best: Model = conjunctions(data.domain, features)
        run.best = lambda: best
        price = self.penalty * log(max(len(data), 2)) / 2
        while len(data) and len(features):
            try:
                model = self._fitted(data, features, run)
            except run.deadline.out_of_time:
                run.is_late()
                break
            best = model.without_zero_weights()
            features = features[model.weights != 0]
            if run.is_late() or self.passes_ == self.passes:
                break
            score = Gain(best, rows, counts, price)
            added = list(self._pass(score, {*map(bytes, features)}, run))
            self.passes_ += 1
            if not added:
                break
            features = np.concatenate([features, added])
        return best

    def _fitted(self, data: Data, features: IntArray, run: Run) -> LogLinear:
        structure = conjunctions(data.domain, features)
        penalties = {"l1": self.l1, "l2": self.l2, "deadline": run.deadline}
        options: dict[str, Any] = penalties
        return LogLinear(
            structure, fit_weights(by_position(structure), data.coded, **options).weights
        )

    def _pass(self, score: Gain, known: set[bytes], run: Run) -> Iterator[IntArray]:
        """Generalise each row; add and yield the feature if it is new and gains."""
        several = np.array(score.cardinalities) > 1
        for row in run.steps(list(score.rows), "generalising rows"):
            feature, gain = self._generalised(np.where(several, row, -1), score)
            if gain > 0 and bytes(feature) not in known:
                known.add(bytes(feature))
                score.add(feature)
                yield feature

    def _generalised(self, row: IntArray, score: Gain) -> tuple[IntArray, float]:
        """Drop literals while a generalisation to a near row scores better."""
        feature, gain = row, score.of(row)
        while True:
            candidates = list(generalisations(feature, score.rows, self.neighbours))
            gains = [score.of(candidate) for candidate in candidates]
            if not gains or max(gains) <= gain:
                return feature, gain
            gain = max(gains)
            feature = candidates[gains.index(gain)]


def generalisations(feature: IntArray, rows: IntArray, count: int) -> Iterator[IntArray]:
    """Yield a feature without the literals that differ from each of its nearest rows.

    >>> rows = np.array([[0, 0, 0], [0, 0, 1], [1, 0, 1]])
    >>> [found.tolist() for found in generalisations(rows[0], rows, 2)]
    [[0, 0, -1], [-1, 0, -1]]
    """
    agrees = rows == feature
    scope = feature >= 0
    differing = (scope & ~agrees).sum(axis=1)
    usable = np.flatnonzero((differing > 0) & (differing < scope.sum()))
    nearest = usable[np.argsort(differing[usable], kind="stable")[:count]]
    seen = set()
    for place in nearest.tolist():
        shorter = np.where(agrees[place], feature, -1)
        if bytes(shorter) not in seen:
            seen.add(bytes(shorter))
            yield shorter


class Gain:
    """The gain of features in the pseudo-log-likelihood of some rows, less their price."""

    def __init__(self, model: LogLinear, rows: IntArray, counts: FloatArray, price: float) -> None:
        self.rows, self.counts, self.price = rows, counts, price
        self.cardinalities = model.domain.cardinalities
        self.log_odds = [self._conditional(by_position(model), v) for v in range(rows.shape[1])]

    def _conditional(self, model: LogLinear, v: int) -> FloatArray:
        """Return log p(value of v | the other variables of a row): shape (rows, values)."""
        columns = []
        for value in range(model.domain.cardinalities[v]):
            changed = self.rows.copy()
            changed[:, v] = value
            columns.append(log_potential_of(model, changed))
        logs = np.stack(columns, axis=1)
        return np.asarray(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))

    def of(self, feature: IntArray) -> float:
        """Return the gain of a feature at its best weight, less the price of its literals."""
        p, hits, counts = self._matter(feature)
        weight = best_weight(p, hits, counts)
        gained = counts @ (weight * hits - np.log1p(p * np.expm1(weight)))
        return float(gained) - self.price * int((feature >= 0).sum())

    def add(self, feature: IntArray) -> None:
        """Change the conditionals as if the feature were in the model with its best weight."""
        weight = best_weight(*self._matter(feature))
        for v, others in self._others_hold(feature):
            logs = self.log_odds[v]
            logs[others, feature[v]] += weight
            logs[others] -= np.logaddexp.reduce(logs[others], axis=1, keepdims=True)

    def _matter(self, feature: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return, where all other literals hold, p(the literal), whether it holds, and counts."""
        parts = [
            (np.exp(self.log_odds[v][o, feature[v]]), self.rows[o, v] == feature[v], self.counts[o])
            for v, o in self._others_hold(feature)
        ]
        p, hits, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
        return p, hits.astype(np.float64), counts

    def _others_hold(self, feature: IntArray) -> Iterator[tuple[int, IntArray]]:
        """Yield each variable of a feature with the rows in which all its other literals hold."""
        scope = np.flatnonzero(feature >= 0)
        misses = self.rows[:, scope] != feature[scope]
        number = misses.sum(axis=1)
        for place, v in enumerate(scope.tolist()):
            yield v, np.flatnonzero(number == misses[:, place])


def best_weight(p: FloatArray, hits: FloatArray, counts: FloatArray) -> float:
    """Return the weight with the largest gain, by Newton's method; at most 20 in size.

    >>> round(best_weight(np.array([0.5, 0.5]), np.array([1.0, 0.0]), np.array([3.0, 1.0])), 4)
    1.0986
    """
    weight = 0.0
    for _ in range(STEPS):
        chance = p * np.exp(weight) / (1 + p * np.expm1(weight))
        slope, bend = counts @ (hits - chance), counts @ (chance * (1 - chance))
        step = np.clip(slope / max(bend, 1e-12), -2, 2)
        weight = float(np.clip(weight + step, -LARGEST_WEIGHT, LARGEST_WEIGHT))
        if abs(step) < 1e-9:
            break
    return weight
