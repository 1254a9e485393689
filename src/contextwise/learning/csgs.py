"""CSGS: one graph per context by growing and shrinking Markov blankets (Edera et al. 2014).

Every distinct row x gets a graph, by the phases of `contextwise.learning.gsmn` with tests on the
rows that equal x in the blanket. Rows that agree on the blanket so far take the same next step, so
growing for all rows grows one tree per variable: a node is a blanket with its values, and a step
splits its rows by the values of the added variable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from contextwise.learning.base import Run
from contextwise.learning.counted_rows import CountedRows
from contextwise.learning.graphs import EdgeRule, RowGraphs, check_edge_rule, edges_of
from contextwise.learning.independence_test import (
    Rule,
    evaluate_in_context,
    evaluate_on,
    most_dependent,
    most_independent,
)
from contextwise.support.arrays import BoolArray, IntArray
from contextwise.support.effort import Progress


@dataclass(eq=False, repr=False, kw_only=True)
class CSGS(RowGraphs):
    """One graph per distinct row, by growing and shrinking blankets; cliques are features.

    It finds dependencies that hold in some contexts only. The features can claim a few more.

    Parameters
    ----------
    level : float
        Level of the tests; with more than 1/level² rows it is 1/√rows.
    min_count : float
        Rows per cell that a test needs; a test with fewer is undecided.
    rule : "and" or "or"
        Whether an edge must be in both blankets of its ends, or in one.
    show_progress : bool or function
        Show a progress bar on standard error, or call a function of (variables done, variables).

    Attributes
    ----------
    table_ : CountedRows
        The distinct rows.
    graphs_ : bool array of shape (distinct rows, variables, variables)
        The adjacency matrix of each distinct row.
    added_ : int
        Number of (row, pair) where the features claim a dependency without an edge in the graph.

    Examples
    --------
    B and C are equal where A=0, and independent where A=1, where both are 1 more often:

    >>> ones = [[1, b, c] for b in (0, 1, 1, 1) for c in (0, 1, 1, 1)]
    >>> rows = [[0, 0, 0], [0, 1, 1]] * 80 + ones * 10
    >>> learned = CSGS().fit(rows, domain={"A": 2, "B": 2, "C": 2}).structure_
    >>> learned.restrict("A=0").pairs(), learned.restrict("A=1").pairs()
    ([('B', 'C')], [])
    """

    level: float = 0.05
    min_count: float = 5.0
    rule: EdgeRule = "and"
    show_progress: bool | Progress = False

    def find_graphs(self, table: CountedRows, rule: Rule, run: Run) -> BoolArray:
        """Find the blankets of each variable in each context and join them."""
        check_edge_rule(self.rule)
        size = len(table.cardinalities)
        inside = np.zeros((len(table.rows), size, size), dtype=bool)
        for target in run.steps(table.varying, "finding blankets"):
            for blanket, rows in _blankets(table, target, rule):
                inside[rows[:, None], target, blanket] = True
                if run.is_late():
                    break
        return edges_of(inside, self.rule)


def _blankets(table: CountedRows, target: int, rule: Rule) -> Iterator[tuple[list[int], IntArray]]:
    """Yield the blankets of a variable, each with the rows that have it."""
    every = [v for v in table.varying if v != target]
    waiting: list[tuple[list[int], IntArray]] = [([], np.arange(len(table.rows)))]
    while waiting:
        blanket, rows = waiting.pop()
        others = [v for v in every if v not in blanket]
        added = most_dependent(evaluate_on(table, rows, target, others), rule) if others else None
        if added is None:
            values = {v: int(table.rows[rows[0], v]) for v in blanket}
            yield _shrink(table, target, values, rule), rows
            continue
        variable = others[added]
        codes = table.rows[rows, variable]
        waiting += (([*blanket, variable], rows[codes == value]) for value in np.unique(codes))


def _shrink(table: CountedRows, target: int, blanket: dict[int, int], rule: Rule) -> list[int]:
    """Shrink a blanket with its values."""
    left = dict(blanket)
    while left:
        removed = most_independent(evaluate_in_context(table, target, left), rule)
        if removed is None:
            break
        del left[list(left)[removed]]
    return list(left)
