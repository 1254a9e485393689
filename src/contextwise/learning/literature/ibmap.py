"""IBMAP: the most probable graph by tests of independence (Schlüter, Bromberg and Edera 2014).

"The IBMAP approach for Markov network structure learning". The IB-score approximates the log
posterior of a graph by a sum over statements that determine it: for each variable x with
neighbours B, x depends on each y in B given the others of B, and x is independent of each other y
given B. The posterior of a statement is that of Margaritis' Bayesian test. In each group of rows
that agree on the given variables it compares two marginal likelihoods of the table of x and y, with
uniform priors: one distribution for all cells, or one for each variable. x and y are independent if
they are in each of the m observed groups; the prior of that is 1/2, so (1/2)^(1/m) for a group.

The search is the paper's hill climbing: from the empty graph, flip the pair whose two statements
have the smallest posterior, as long as the score grows. Here the next pairs in this order are tried
before the search gives up (``tries=1`` is the paper's); a flip changes the statements of two
variables only. It is readable, not fast: use it up to about 30 variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from contextwise.data.rows import Data
from contextwise.errors import DomainError
from contextwise.evidence.counted_rows import CountedRows
from contextwise.learning.base import Learner, Run
from contextwise.learning.graphs import from_edges
from contextwise.models.structure import Structure
from contextwise.support.arrays import BoolArray, FloatArray, IntArray
from contextwise.support.effort import progress_of

PRIOR = 0.5
"""The prior probability of an independence."""


@dataclass(eq=False, repr=False, kw_only=True)
class IBMAP(Learner):
    """The most probable graph by Bayesian tests of independence; it cannot see contexts.

    Hill climbing on the IB-score (Schlüter, Bromberg and Edera 2014). Slow beyond 30 variables.

    Parameters
    ----------
    tries : int, optional
        Number of pairs to flip on trial in each step, the least probable first; 1 is the paper's
        search. By default all pairs.

    Attributes
    ----------
    graph_ : bool array
        The adjacency matrix.
    score_ : float
        The IB-score of the graph, a log probability.

    Examples
    --------
    >>> rows = [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]] * 20
    >>> IBMAP().fit(rows).structure_.pairs()
    [('v0', 'v1')]
    """

    tries: int | None = None

    def learn(self, data: Data, run: Run) -> Structure:
        """Climb from the empty graph."""
        if self.tries is not None and self.tries < 1:
            raise DomainError(f"tries must be >= 1, got {self.tries}")
        size = len(data.domain)
        self.graph_ = np.zeros((size, size), dtype=bool)
        scores = StatementScores(CountedRows.of(data))
        run.best = lambda: from_edges(data.domain, self.graph_)
        with progress_of(run.show_progress, "flipping edges") as progress:
            while size > 1 and not run.is_late() and self._flip_one(scores, run):
                if progress:
                    progress(int(self.graph_.sum()) // 2, size * (size - 1) // 2)
        self.score_ = float(scores.of(self.graph_).sum())
        return run.best()

    def _flip_one(self, scores: StatementScores, run: Run) -> bool:
        """Flip the first pair that improves the score, the least probable first."""
        now = scores.of(self.graph_)
        x, y = np.triu_indices(len(now), 1)
        order = np.argsort((now + now.T)[x, y], kind="stable")[: self.tries]
        for a, b in zip(x[order].tolist(), y[order].tolist(), strict=True):
            if run.is_late():
                return False
            flipped = self.graph_.copy()
            flipped[[a, b], [b, a]] ^= True
            gain = sum(scores.of_variable(v, flipped[v]).sum() - now[v].sum() for v in (a, b))
            if gain > 1e-9:
                self.graph_ = flipped
                return True
        return False


class StatementScores:
    """The log posteriors of statements, each computed once."""

    def __init__(self, table: CountedRows) -> None:
        self.table = table
        self._known: dict[tuple[int, int, frozenset[int]], float] = {}

    def of(self, graph: BoolArray) -> FloatArray:
        """Return the log posterior of the statement of each (variable, other) of a graph."""
        return np.array([self.of_variable(v, graph[v]) for v in range(len(graph))])

    def of_variable(self, x: int, neighbours: BoolArray) -> FloatArray:
        """Return the log posteriors of the statements about a variable with these neighbours."""
        blanket = frozenset(np.flatnonzero(neighbours).tolist())
        result = np.zeros(len(neighbours))
        for y in range(len(neighbours)):
            if y != x:
                independent = self.independence(x, y, blanket - {y})
                result[y] = _log_complement(independent) if neighbours[y] else independent
        return result

    def independence(self, x: int, y: int, given: frozenset[int]) -> float:
        """Return the log posterior probability that x and y are independent given others."""
        key = (min(x, y), max(x, y), given)
        if key not in self._known:
            self._known[key] = log_independence(self.table, *key[:2], sorted(given))
        return self._known[key]


def log_independence(table: CountedRows, x: int, y: int, given: Sequence[int]) -> float:
    """Return the log posterior probability of x ⫫ y | given (Margaritis' Bayesian test).

    >>> from contextwise.data.rows import as_data
    >>> rows = CountedRows.of(as_data([[0, 0], [1, 1]] * 3 + [[0, 1]]))
    >>> round(float(np.exp(log_independence(rows, 0, 1, []))), 3)
    0.176
    """
    groups, number = table.groups(given)
    if not number:
        return float(np.log(PRIOR))
    of_x, of_y = table.rows[:, x], table.rows[:, y]
    cards = table.cardinalities[x], table.cardinalities[y]
    both = log_marginals(table.counts, groups, of_x * cards[1] + of_y, cards[0] * cards[1])
    apart = log_marginals(table.counts, groups, of_x, cards[0])
    apart += log_marginals(table.counts, groups, of_y, cards[1])
    prior = np.log(PRIOR) / number
    odds = _log_complement(prior) - prior + both - apart
    return float(-np.logaddexp(0.0, odds).sum())


def log_marginals(counts: IntArray, groups: IntArray, codes: IntArray, cells: int) -> FloatArray:
    """Return the log probability of the values of each group of rows, under a uniform prior.

    Only cells with rows matter, so there is no table of all cells.

    >>> log_marginals(np.array([2, 1]), np.array([0, 0]), np.array([0, 1]), 2).round(3).tolist()
    [-2.485]
    """
    from scipy.special import gammaln

    cell, places = np.unique(groups * cells + codes, return_inverse=True)
    filled = gammaln(1.0 + np.bincount(places, counts))
    return np.asarray(
        gammaln(cells)
        - gammaln(cells + np.bincount(groups, counts))
        + np.bincount(cell // cells, filled)
    )


def _log_complement(log_p: float) -> float:
    """Return log(1 - p); a certain statement leaves the smallest probability that exists."""
    return float(np.log(max(-np.expm1(log_p), np.finfo(float).tiny)))
