"""MPL: one graph by marginal pseudo-likelihood (Pensar et al. 2017).

Pensar, Nyman, Niiranen and Corander, "Marginal pseudo-likelihood learning of discrete Markov
network structures". The pseudo-likelihood of a graph is a product over variables t of the
probability of t given its neighbours, the blanket. Integrated over Dirichlet priors it has a closed
form: for each configuration of the blanket a Dirichlet-multinomial of the counts n_k of t,

    ln Γ(A) - ln Γ(A + n) + Σ_k [ln Γ(A/K + n_k) - ln Γ(A/K)],        A = prior / configurations.

There is no penalty to choose, and with more and more rows the best graph is the true one. All
graphs have the same prior probability.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, log, log2, pi, prod

import numpy as np
import numpy.typing as npt

from contextwise.data.rows import Data
from contextwise.learning.base import Learner, Run, check_prior
from contextwise.learning.counted_rows import CountedRows
from contextwise.learning.graphs import edges_of, from_edges
from contextwise.models.features import PairIndex
from contextwise.models.structure import Structure
from contextwise.support.arrays import BoolArray, FloatArray, IntArray
from contextwise.support.effort import Progress

LEAST = 1e-9
"""Gains up to this are rounding errors."""
TINY = 1e-300
"""The smallest weight of a cell; there may be more cells than numbers of this size can count."""


@dataclass(eq=False, repr=False, kw_only=True)
class MPL(Learner):
    """One graph, by marginal pseudo-likelihood (Pensar et al. 2017); it cannot see contexts.

    First a greedy search finds a blanket per variable. Then a second greedy search finds the best
    graph among the edges of the blankets, starting from the edges that are in the blankets of both
    ends. The features are the tables of the edges, which claim the same as those of the cliques.

    Parameters
    ----------
    prior : float
        Weight of the prior per variable, in rows, spread evenly over all cells of its table.
    show_progress : bool or function
        Show a progress bar on standard error, or call a function of (blankets found, variables).

    Attributes
    ----------
    graph_ : bool array
        The adjacency matrix.
    score_ : float
        The log marginal pseudo-likelihood of the graph.

    Examples
    --------
    >>> rows = [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]] * 20
    >>> MPL().fit(rows).structure_.pairs()
    [('v0', 'v1')]
    """

    prior: float = 1.0
    show_progress: bool | Progress = False

    def learn(self, data: Data, run: Run) -> Structure:
        """Search for the best graph."""
        table, prior = CountedRows.of(data), check_prior(self.prior)
        self.graph_, self.score_ = best_graph(run, table, prior)
        return from_edges(data.domain, self.graph_)


def best_graph(run: Run, table: CountedRows, prior: float) -> tuple[BoolArray, float]:
    """Search for the graph with the largest marginal pseudo-likelihood; return it and its score."""
    scores = Scores(table, prior)
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


def _best_blanket(run: Run, target: int, others: Sequence[int], scores: Scores) -> frozenset[int]:
    """Add or remove one variable at a time, always the best, while the score rises."""
    blanket = frozenset[int]()
    while others and not run.is_late():
        changed = scores.changed(target, blanket, others)
        best = int(np.argmax(changed))
        if changed[best] <= scores.of(target, blanket) + LEAST:
            break
        blanket ^= {others[best]}
    return blanket


def _improve(run: Run, graph: BoolArray, edges: Sequence[PairIndex], scores: Scores) -> None:
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
        if gains[a, b] <= LEAST:
            return
        graph[a, b] = graph[b, a] = not graph[a, b]
        gains |= {edge: gain(edge) for edge in edges if {a, b} & set(edge)}


class Scores:
    """Scores of variables given blankets: logs of marginal likelihoods, remembered.

    Two rows of a fair coin: 1/2 for the first, and with one row of prior 1/4 for the other value.

    >>> from contextwise.data.rows import as_data
    >>> round(float(np.exp(Scores(CountedRows.of(as_data([[0], [1]])), 1.0).of(0, frozenset()))), 4)
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
        score = log_rising(share, cells, self.scale).sum()
        return float(score - log_rising(weight, totals, self.scale).sum()) / self.scale


def configurations_of(table: CountedRows, variables: Iterable[int]) -> float:
    """Return the number of configurations of some variables."""
    return prod(float(table.cardinalities[v]) for v in variables)


def scale_of(table: CountedRows) -> float:
    """Return the scale at which scores are whole numbers.

    Terms are rounded and added as integers of 64 bits, so that the order does not matter and equal
    tables have equal scores.
    """
    rows = float(table.counts.sum())
    largest = (rows + 1) * (log(rows + 1) + 710)  # 710 > -ln(TINY)
    return 2.0 ** (62 - ceil(log2(largest)))


def log_rising(start: npt.ArrayLike, counts: npt.ArrayLike, scale: float) -> IntArray:
    """Return ln Γ(start + n) - ln Γ(start) for each count n, in units of 1/scale."""
    first, n = np.maximum(start, TINY), np.asarray(counts, dtype=np.float64)
    exact = log_gamma(first + n) - log_gamma(first)
    return np.rint(np.where(n > 0, exact, 0.0) * scale).astype(np.int64)


def log_gamma(x: FloatArray) -> FloatArray:
    """Return ln Γ(x) for x > 0, by Stirling's series; the C++ has the same formula.

    >>> round(float(log_gamma(np.float64(5))), 12) == round(log(24), 12)
    True
    """
    x = np.asarray(x, dtype=np.float64)
    # Γ(x + 8) = x (x + 1) … (x + 7) Γ(x): the series is accurate from 8 on.
    product = np.prod([np.where(x < 8, x + k, 1.0) for k in range(8)], axis=0)
    x = np.where(x < 8, x + 8, x)
    y = 1 / (x * x)
    series: FloatArray = np.full_like(y, -691 / 360360)
    for term in (1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12):
        series = term + y * series
    return np.asarray((x - 0.5) * np.log(x) - x + log(2 * pi) / 2 + series / x - np.log(product))
