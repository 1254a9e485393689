"""The marginal pseudo-likelihood of graphs, and the search for the best one.

From Pensar, Nyman, Niiranen and Corander (2017), "Marginal pseudo-likelihood learning of discrete
Markov network structures". The pseudo-likelihood of a graph is a product over variables t of the
probability of t given its neighbours, the blanket. Integrated over Dirichlet priors it has a closed
form: for each configuration of the blanket a Dirichlet-multinomial of the counts n_k of t,

    ln Γ(A) - ln Γ(A + n) + Σ_k [ln Γ(A/K + n_k) - ln Γ(A/K)],        A = prior / configurations.

There is no penalty to choose, and with more and more rows the best graph is the true one. All
graphs have the same prior probability.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, log, log2, prod

import numpy as np

from contextwise.evidence.counted_rows import CountedRows
from contextwise.learning.base import Run
from contextwise.learning.graphs import edges_of
from contextwise.models.features import PairIndex
from contextwise.support.arrays import BoolArray, IntArray

LEAST_GAIN_IN_NATS = 1e-9
"""Gains up to this are rounding errors."""
SMALLEST_CELL_WEIGHT = 1e-300
"""The smallest weight of a cell; there may be more cells than numbers of this size can count."""


def best_graph(run: Run, table: CountedRows, prior: float) -> tuple[BoolArray, float]:
    """Search for the graph with the largest marginal pseudo-likelihood; return it and its score."""
    scores = BlanketScores(table, prior)
    size, varying = len(table.cardinalities), table.varying
    inside = np.zeros((size, size), dtype=bool)
    for target in run.steps(varying, "finding blankets"):
        others = [v for v in varying if v != target]
        inside[target, list(_best_blanket(run, target, others, scores))] = True
    graph = edges_of(inside, "and")
    candidates = np.argwhere(np.triu(edges_of(inside, "or"))).tolist()
    _improve(run, graph, [(a, b) for a, b in candidates], scores)
    blankets = (frozenset(np.flatnonzero(row).tolist()) for row in graph)
    return graph, sum(scores.of(v, blanket) for v, blanket in enumerate(blankets))


def _best_blanket(
    run: Run, target: int, others: Sequence[int], scores: BlanketScores
) -> frozenset[int]:
    """Add or remove one variable at a time, always the best, while the score rises."""
    blanket = frozenset[int]()
    while others and not run.is_late():
        changed = scores.changed(target, blanket, others)
        best = int(np.argmax(changed))
        if changed[best] <= scores.of(target, blanket) + LEAST_GAIN_IN_NATS:
            break
        blanket ^= {others[best]}
    return blanket


def _improve(run: Run, graph: BoolArray, edges: Sequence[PairIndex], scores: BlanketScores) -> None:
    """Add or delete one edge at a time, in place, while the sum of the scores rises."""

    def gain(edge: PairIndex) -> float:
        change = 0.0
        for v, other in (edge, edge[::-1]):
            blanket = frozenset(np.flatnonzero(graph[v]).tolist())
            # ^ adds the edge if it is absent and deletes it if it is present.
            change += scores.of(v, blanket ^ {other}) - scores.of(v, blanket)
        return change

    gains = {edge: gain(edge) for edge in edges}
    while gains and not run.is_late():
        a, b = max(gains, key=lambda edge: gains[edge])
        if gains[a, b] <= LEAST_GAIN_IN_NATS:
            return
        graph[a, b] = graph[b, a] = not graph[a, b]
        gains |= {edge: gain(edge) for edge in edges if {a, b} & set(edge)}


class BlanketScores:
    """Scores of variables given blankets: logs of marginal likelihoods, remembered.

    Two rows of a fair coin: 1/2 for the first, and with one row of prior 1/4 for the other value.

    >>> from contextwise.data.rows import as_data
    >>> scores = BlanketScores(CountedRows.of(as_data([[0], [1]])), 1.0)
    >>> round(float(np.exp(scores.of(0, frozenset()))), 4)
    0.125
    """

    def __init__(self, table: CountedRows, prior: float) -> None:
        self.table, self.prior = table, prior
        self.scale = scale_of(table)
        self.known: dict[tuple[int, frozenset[int]], float] = {}

    def of(self, target: int, blanket: frozenset[int]) -> float:
        """Return the score of a variable given a blanket."""
        key = target, blanket
        if key not in self.known:
            self.known[key] = self._score(target, sorted(blanket))
        return self.known[key]

    def changed(self, target: int, blanket: frozenset[int], others: Sequence[int]) -> list[float]:
        """Return the scores after adding or removing each of some variables."""
        added = [v for v in others if v not in blanket]
        if self.table.compiled is not None:
            cells = configurations_of(self.table, blanket)
            scores = self.table.compiled.scores(
                target, sorted(blanket), added, self.prior, cells, self.scale
            )
            self.known |= {
                (target, blanket | {v}): score for v, score in zip(added, scores, strict=True)
            }
        return [self.of(target, blanket ^ {v}) for v in others]

    def _score(self, target: int, blanket: list[int]) -> float:
        table = self.table
        weight = self.prior / configurations_of(table, blanket)
        if table.compiled is not None:
            return table.compiled.score(target, blanket, weight, self.scale)
        groups, count = table.groups(blanket)
        codes = groups * table.cardinalities[target] + table.rows[:, target]
        # Only cells that occur: an empty one adds 0 to the score.
        cells = np.bincount(np.unique(codes, return_inverse=True)[1], table.counts)
        totals = np.bincount(groups, table.counts, count)
        share = weight / table.cardinalities[target]
        return float(self._rising(share, cells) - self._rising(weight, totals)) / self.scale

    def _rising(self, start: float, counts: IntArray) -> int:
        """Return Σ ln Γ(start + n) - ln Γ(start) over the counts n, in units of 1 / `scale`."""
        from scipy.special import gammaln

        first = max(start, SMALLEST_CELL_WEIGHT)
        exact = (gammaln(first + counts) - gammaln(first)) * self.scale
        return int(np.rint(exact).astype(np.int64).sum())


def configurations_of(table: CountedRows, variables: Iterable[int]) -> float:
    """Return the number of configurations of some variables."""
    return prod(float(table.cardinalities[v]) for v in variables)


def scale_of(table: CountedRows) -> float:
    """Return the scale at which scores are whole numbers.

    Terms are rounded and added as integers of 64 bits, so that the order does not matter and equal
    tables have equal scores.
    """
    rows = float(table.counts.sum())
    largest = (rows + 1) * (log(rows + 1) + 710)  # 710 > -ln(SMALLEST_CELL_WEIGHT)
    return 2.0 ** (62 - ceil(log2(largest)))
