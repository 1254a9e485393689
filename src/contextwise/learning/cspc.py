"""CSPC: one graph per context by tests on the rows that agree with it (Edera et al. 2014).

Edera, Schlüter and Bromberg, "Learning Markov networks structures with context-specific
independences". The contexts are the distinct rows x, and each starts with a complete graph of the
variables that vary over all rows. For k = 0, 1, 2, … an edge a–b of the graph of x is deleted if a
and b are independent given x_S for some set S of k neighbours of a, or of b; the test uses the rows
that equal x in S. All rows that agree in S share the test. The neighbours are those at the start of
step k, so the result does not depend on the order of the variables.

An undecided test deletes nothing. If every dependency of the truth is visible to the tests
(faithfulness) and k is as large as needed, the graph of every frequent context tends to the true
one. This needs many rows: one test that fails to reject deletes an edge. Conditioning on few
variables mixes contexts in which a dependency differs, so that it can nearly cancel; conditioning
on many leaves few rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from contextwise.errors import DomainError
from contextwise.learning.base import Run, threads_of
from contextwise.learning.counted_rows import CountedRows
from contextwise.learning.graphs import RowGraphs
from contextwise.learning.independence_test import Rule, evaluate_pairs
from contextwise.support.arrays import BoolArray
from contextwise.support.effort import Progress, progress_of

if TYPE_CHECKING:
    from contextwise.learning import _count

SMALLEST = 4
"""Cells of the smallest table that can decide anything."""


@dataclass(eq=False, repr=False, kw_only=True)
class CSPC(RowGraphs):
    """One graph per distinct row, by tests on the rows that agree with it; cliques are features.

    It finds dependencies that hold in some contexts only. The features can claim a few more.

    Parameters
    ----------
    level : float
        Level of the tests; with more than 1/level² rows it is 1/√rows.
    min_count : float
        Rows per cell that a test needs; a test with fewer deletes nothing.
    max_size : int, optional
        Size of the largest set of variables to condition on; unlimited by default.
    n_jobs : int
        Number of threads; -1 means all cores.
    show_progress : bool or function
        Show a progress bar on standard error, or call a function of (sets tested, sets) per size.

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
    >>> learned = CSPC().fit(rows, domain={"A": 2, "B": 2, "C": 2}).structure_
    >>> learned.restrict("A=0").pairs(), learned.restrict("A=1").pairs()
    ([('B', 'C')], [])
    """

    level: float = 0.05
    min_count: float = 5.0
    max_size: int | None = None
    n_jobs: int = 1
    show_progress: bool | Progress = False

    def find_graphs(self, table: CountedRows, rule: Rule, run: Run) -> BoolArray:
        """Delete edges, conditioning on larger and larger sets of neighbours."""
        if self.max_size is not None and self.max_size < 0:
            raise DomainError(f"max_size must be >= 0, got {self.max_size}")
        if table.compiled is not None:
            search = table.compiled.context_graphs(table.varying, rule.level, rule.min_count)
            variables = len(table.varying)
            for size in range(variables if self.max_size is None else self.max_size + 1):
                if run.is_late() or not self._delete(search, size, variables, run):
                    break
            return search.graphs()
        edges = _complete_graphs(table)
        sets: list[tuple[int, ...]] = [()]
        while sets and (edges.sum(axis=1) > len(sets[0])).any():
            size = len(sets[0])
            if self.max_size is not None and size > self.max_size:
                break
            steps = run.steps(sets, f"testing, {size} given")
            sets = _delete_edges(table, steps, edges, rule)
            if not run.finished:
                break
            sets = [(*s, v) for s in sets for v in table.varying if v > max(s, default=-1)]
        return np.ascontiguousarray(edges.transpose(2, 0, 1))

    def _delete(self, search: _count.ContextGraphs, size: int, variables: int, run: Run) -> bool:
        """Do one step in compiled code; return whether another one can delete more."""
        total = comb(variables, size)
        with progress_of(run.show_progress, f"testing, {size} given") as progress:

            def watch(done: int) -> bool:
                """Report progress; return whether to continue."""
                if progress and done:
                    progress(total - comb(variables - done, size), total)
                return not run.is_late()

            more = search.delete_edges(size, threads_of(self.n_jobs), watch)
            if progress and run.finished:
                progress(total, total)
        return more


def _complete_graphs(table: CountedRows) -> BoolArray:
    """Return the complete graph over the variables that vary: (variables, variables, rows)."""
    size = len(table.cardinalities)
    varies = np.zeros(size, dtype=bool)
    varies[table.varying] = True
    graph = varies[:, None] & varies & ~np.eye(size, dtype=bool)
    return np.repeat(graph[:, :, None], len(table.rows), axis=2)


def _delete_edges(
    table: CountedRows, sets: Iterable[tuple[int, ...]], edges: BoolArray, rule: Rule
) -> list[tuple[int, ...]]:
    """Delete edges in place by tests given each of the sets.

    Return the sets that are neighbours of a variable in some row with enough rows to test; only
    their supersets can matter later.
    """
    # Neighbours as of now, so that the order of the sets does not matter.
    before, useful = edges.copy(), []
    for given in sets:
        groups, count = table.groups(given)
        sizes = np.bincount(groups, weights=table.counts, minlength=count)
        large = sizes[groups] >= max(SMALLEST, SMALLEST * rule.min_count)
        adjacent = before[:, list(given)].all(axis=1) & large
        if adjacent.any():
            useful.append(given)
            others = [v for v in table.varying if v not in given]
            wanted = {
                (a, b): (adjacent[a] | adjacent[b]) & edges[a, b]
                for a, b in combinations(others, 2)
            }
            tested = [pair for pair, rows in wanted.items() if rows.any()]
            if not tested:
                continue
            tests = evaluate_pairs(table, tested, groups, count).independent(rule)
            for (a, b), independent in zip(tested, tests, strict=True):
                if independent.any():
                    deleted = independent[groups] & wanted[a, b]
                    edges[a, b, deleted] = edges[b, a, deleted] = False
    return useful
