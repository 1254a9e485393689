"""MPL: one graph by marginal pseudo-likelihood (Pensar et al. 2017).

Pensar, Nyman, Niiranen and Corander, "Marginal pseudo-likelihood learning of discrete Markov
network structures". The pseudo-likelihood of a graph is a product over variables t of the
probability of t given its neighbours, the blanket. Integrated over Dirichlet priors it has a closed
form: for each configuration of the blanket a Dirichlet-multinomial of the counts n_k of t,

    ln Γ(A) - ln Γ(A + n) + Σ_k [ln Γ(A/K + n_k) - ln Γ(A/K)],        A = prior / configurations.

The score of a graph is the sum over variables. There is no penalty to choose, and with more and
more rows the best graph is the true one. All graphs have the same prior probability.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod

import numpy as np

from contextwise.data.rows import Data
from contextwise.errors import require
from contextwise.learning.base import Learner, check_prior
from contextwise.learning.gsmn import edges_of, from_edges
from contextwise.learning.table import BoolArray, FloatArray, Table
from contextwise.models.features import PairIndex
from contextwise.models.structure import Structure
from contextwise.support.progress import Progress, progress_of

LEAST = 1e-9
"""Gains up to this are rounding errors."""


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

    def learn(self, data: Data) -> Structure:
        """Search for the best graph."""
        table, prior = Table.of(data), check_prior(self.prior)
        self.graph_, self.score_ = best_graph(table, prior, self.show_progress)
        return from_edges(data.domain, self.graph_)


Score = Callable[[int, frozenset[int]], float]


def best_graph(
    table: Table, prior: float, show_progress: bool | Progress = False
) -> tuple[BoolArray, float]:
    """Search for the graph with the largest marginal pseudo-likelihood; return it and its score."""

    @cache
    def score(target: int, blanket: frozenset[int]) -> float:
        return blanket_score(table, target, sorted(blanket), prior)

    size, varying = len(table.cardinalities), table.varying
    inside = np.zeros((size, size), dtype=bool)
    with progress_of(show_progress, "finding blankets") as progress:
        for done, target in enumerate(varying):
            others = [v for v in varying if v != target]
            inside[target, list(_best_blanket(target, others, score))] = True
            if progress:
                progress(done + 1, len(varying))
    graph = edges_of(inside, "and")
    candidates = np.argwhere(np.triu(edges_of(inside, "or"))).tolist()
    _improve(graph, [(a, b) for a, b in candidates], score)
    return graph, sum(score(v, frozenset(np.flatnonzero(graph[v]).tolist())) for v in range(size))


def _best_blanket(target: int, others: Iterable[int], score: Score) -> frozenset[int]:
    """Add or remove one variable at a time, always the best, while the score rises."""
    blanket, value = frozenset[int](), score(target, frozenset())
    while True:
        changed = {v: score(target, blanket ^ {v}) for v in others}
        best = max(changed, key=lambda v: changed[v], default=None)
        if best is None or changed[best] <= value + LEAST:
            return blanket
        blanket, value = blanket ^ {best}, changed[best]


def _improve(graph: BoolArray, edges: Sequence[PairIndex], score: Score) -> None:
    """Add or delete one edge at a time, in place, while the sum of the scores rises."""

    def gain(edge: PairIndex) -> float:
        change = 0.0
        for v, other in (edge, edge[::-1]):
            blanket = frozenset(np.flatnonzero(graph[v]).tolist())
            change += score(v, blanket ^ {other}) - score(v, blanket)
        return change

    gains = {edge: gain(edge) for edge in edges}
    while gains:
        a, b = max(gains, key=lambda edge: gains[edge])
        if gains[a, b] <= LEAST:
            return
        graph[a, b] = graph[b, a] = not graph[a, b]
        gains |= {edge: gain(edge) for edge in edges if {a, b} & set(edge)}


def blanket_score(table: Table, target: int, blanket: Sequence[int], prior: float = 1.0) -> float:
    """Return the log marginal likelihood of a variable given its blanket.

    Two rows of a fair coin: 1/2 for the first, and with one row of prior 1/4 for the other value.

    >>> from contextwise.data.rows import as_data
    >>> round(float(np.exp(blanket_score(Table.of(as_data([[0], [1]])), 0, []))), 4)
    0.125
    """
    groups, count = table.groups(blanket)
    values = table.cardinalities[target]
    cells = np.bincount(groups * values + table.rows[:, target], table.counts, count * values)
    weight = prior / prod(table.cardinalities[v] for v in blanket)
    counts = cells.reshape(count, values).astype(np.float64)
    return float(class_scores(counts, np.full(count, weight)).sum())


def class_scores(counts: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the log Dirichlet-multinomial of each row of counts, with its weight of the prior."""
    gammaln = require("scipy.special", "statistics").gammaln
    share = weights[:, None] / counts.shape[1]
    total = gammaln(weights) - gammaln(weights + counts.sum(axis=1))
    return np.asarray(total + (gammaln(share + counts) - gammaln(share)).sum(axis=1))
