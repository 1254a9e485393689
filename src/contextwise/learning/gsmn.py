"""GSMN: one graph by growing and shrinking Markov blankets (Bromberg et al. 2009).

The blanket of a variable t is the smallest set given which t is independent of all others. It is
found in two phases. **Grow**: add the variable that depends most clearly on t given the blanket so
far, while some variable does: smallest p-value, then the statistic farthest above its mean, then
the first variable. **Shrink**: remove the variable that depends least on t given the rest of the
blanket, while a test accepts independence: largest p-value, then the variable that was added first.
An undecided test neither adds nor removes. An edge must be in both blankets of its ends
(``rule="and"``) or in one (``rule="or"``).

The tests condition on the values of the blanket, over all rows. `contextwise.learning.csgs` does
the same separately for each context.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from contextwise.data.rows import Data
from contextwise.errors import ContextwiseError
from contextwise.learning.base import Learner
from contextwise.learning.pearson_test import (
    Rule,
    Tests,
    evaluate_given,
    evaluate_without_each,
)
from contextwise.learning.table import BoolArray, Table
from contextwise.models.domain import Domain
from contextwise.models.factors import tables
from contextwise.models.structure import Structure
from contextwise.support.progress import Progress

EdgeRule = Literal["and", "or"]


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
    show_progress : bool or function
        Show a progress bar on standard error, or call a function of (blankets found, variables).

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

    level: float = 0.05
    min_count: float = 5.0
    rule: EdgeRule = "and"
    show_progress: bool | Progress = False

    def learn(self, data: Data) -> Structure:
        """Find the blankets and join their members."""
        check_edge_rule(self.rule)
        test_rule, table = Rule.of(len(data), self.level, self.min_count), Table.of(data)
        size = len(data.domain)
        inside = np.zeros((size, size), dtype=bool)
        for target in self.steps(table.varying, "finding blankets"):
            inside[target, self._blanket(table, target, test_rule)] = True
        self.blankets_ = [tuple(np.flatnonzero(row).tolist()) for row in inside]
        return from_edges(data.domain, edges_of(inside, self.rule))

    def _blanket(self, table: Table, target: int, rule: Rule) -> list[int]:
        """Grow and shrink the blanket of a variable."""
        blanket: list[int] = []
        others = [v for v in table.varying if v != target]
        while others and not self.is_late():
            added = most_dependent(evaluate_given(table, target, others, blanket), rule)
            if added is None:
                break
            blanket.append(others.pop(added))
        while blanket and not self.is_late():
            removed = most_independent(evaluate_without_each(table, target, blanket), rule)
            if removed is None:
                break
            del blanket[removed]
        return blanket


ROUNDING = 1e-9
"""Relative difference below which two p-values or statistics are equal."""


def most_dependent(tests: Tests, rule: Rule) -> int | None:
    """Return the place of the test that rejects independence most clearly, if any does."""
    dependent = tests.dependent(rule)
    if not dependent.any():
        return None
    p_values = np.where(dependent, tests.p_values, np.inf)
    first = p_values <= p_values.min() * (1 + ROUNDING) + 1e-320  # smaller ones have no digits
    above = np.where(first, tests.statistic - tests.mean, -np.inf)
    return int(np.argmax(above >= above.max() - ROUNDING * abs(above.max())))


def most_independent(tests: Tests, rule: Rule) -> int | None:
    """Return the place of the test that accepts independence most clearly, if any does."""
    accepted = tests.independent(rule)
    if not accepted.any():
        return None
    p_values = np.where(accepted, tests.p_values, -1.0)
    return int(np.argmax(p_values >= p_values.max() * (1 - ROUNDING)))


def check_edge_rule(rule: str) -> None:
    """Raise unless the rule is "and" or "or"."""
    if rule not in ("and", "or"):
        raise ContextwiseError(f"rule must be 'and' or 'or', got {rule!r}")


def edges_of(inside: BoolArray, rule: EdgeRule) -> BoolArray:
    """Return adjacency matrices from blankets.

    >>> edges_of(np.array([[False, True], [False, False]]), "or")
    array([[False,  True],
           [ True, False]])
    """
    other = np.swapaxes(inside, -1, -2)
    return np.asarray(inside & other if rule == "and" else inside | other)


def from_edges(domain: Domain, graph: BoolArray) -> Structure:
    """Return the tables of a graph's edges, and of the variables without edges.

    >>> from_edges(Domain({"A": 2, "B": 2}), np.zeros((2, 2), dtype=bool))
    Structure(2 variables, 4 features: A=0; A=1; B=0; B=1)
    """
    edges = [(a, b) for a, b in np.argwhere(graph).tolist() if a < b]
    alone = [(v,) for v in np.flatnonzero(~graph.any(axis=1)).tolist()]
    return tables(domain, sorted([*edges, *alone]))
