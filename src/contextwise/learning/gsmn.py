"""GSMN: a graph by growing and shrinking Markov blankets (Bromberg et al. 2009).

A Markov blanket of a variable t is the smallest set given which t is independent of all others.
**Grow**: add the variable that depends most clearly on t given the blanket so far, while some
variable does: smallest p-value, then the statistic farthest above its mean, then the first
variable. **Shrink**: remove the variable that depends least on t given the rest of the blanket,
while a test accepts independence: largest p-value, then the variable that was added first. An
undecided test neither adds nor removes. An edge must be in both blankets of its ends
(``rule="and"``) or in one (``rule="or"``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from contextwise.data.rows import Data
from contextwise.evidence.counted_rows import CountedRows
from contextwise.evidence.independence_test import (
    DecisionRule,
    evaluate_given,
    evaluate_without_each,
    most_dependent,
    most_independent,
)
from contextwise.learning.base import Learner, Run
from contextwise.learning.graphs import (
    EdgeRule,
    check_edge_rule,
    edges_of,
    from_edges,
)
from contextwise.models.structure import Structure

if TYPE_CHECKING:
    pass


@dataclass(eq=False, repr=False, kw_only=True)
class GSMN(Learner):
    """One graph, by growing and shrinking a Markov blanket per variable; it cannot see contexts.

    The features are the tables of the edges, which claim the same as the tables of the cliques.

    Parameters
    ----------
    level : float
        Level of the tests; with more than 1/level² rows it is 1/√rows.
    min_count : float
        Rows per cell that a test needs; a test with fewer is undecided.
    rule : "and" or "or"
        Whether an edge must be in both blankets of its ends, or in one.

    Attributes
    ----------
    blankets_ : list of tuple of int
        The blanket of each variable, as positions.

    Examples
    --------
    >>> rows = [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]] * 20
    >>> GSMN().fit(rows).structure_.pairs()
    [('v0', 'v1')]
    """

    decides_by_test = True

    level: float = 0.05
    min_count: float = 5.0
    rule: EdgeRule = "and"

    def learn(self, data: Data, run: Run) -> Structure:
        """Find the blankets and join their members."""
        check_edge_rule(self.rule)
        test_rule, table = (
            DecisionRule.of(len(data), self.level, self.min_count),
            CountedRows.of(data),
        )
        size = len(data.domain)
        inside = np.zeros((size, size), dtype=bool)
        for target in run.steps(table.varying, "finding blankets"):
            inside[target, _blanket(run, table, target, test_rule)] = True
        self.blankets_ = [tuple(np.flatnonzero(row).tolist()) for row in inside]
        return from_edges(data.domain, edges_of(inside, self.rule))


def _blanket(run: Run, table: CountedRows, target: int, rule: DecisionRule) -> list[int]:
    """Grow and shrink the blanket of a variable."""
    blanket: list[int] = []
    others = [v for v in table.varying if v != target]
    while others and not run.is_late():
        added = most_dependent(evaluate_given(table, target, others, blanket), rule)
        if added is None:
            break
        blanket.append(others.pop(added))
    while blanket and not run.is_late():
        removed = most_independent(evaluate_without_each(table, target, blanket), rule)
        if removed is None:
            break
        del blanket[removed]
    return blanket
