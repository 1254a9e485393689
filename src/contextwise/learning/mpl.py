"""MPL: a graph by marginal pseudo-likelihood; `marginal_likelihood` has score and search."""

from __future__ import annotations

from dataclasses import dataclass

from contextwise.data.rows import Data
from contextwise.evidence.counted_rows import CountedRows
from contextwise.learning.base import Learner, Run, check_prior
from contextwise.learning.graphs import from_edges
from contextwise.learning.marginal_likelihood import best_graph
from contextwise.models.structure import Structure


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

    def learn(self, data: Data, run: Run) -> Structure:
        """Search for the best graph."""
        table, prior = CountedRows.of(data), check_prior(self.prior)
        self.graph_, self.score_ = best_graph(run, table, prior)
        return from_edges(data.domain, self.graph_)
