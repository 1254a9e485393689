"""CSGS and CSPC: one graph per distinct row, by tests of independence.

**CSGS** (Edera, Strappa and Bromberg 2014) finds a Markov blanket for each variable in each
distinct row x, as `contextwise.learning.gsmn` does, with tests on the rows that equal x in the
blanket. Rows that agree on the blanket so far take the same next step, so growing for all rows
grows one tree per variable: a node is a blanket with its values, and a step splits its rows by the
values of the added variable.

**CSPC** (Edera, Schlüter and Bromberg 2014) starts with a complete graph for each distinct row x.
For k = 0, 1, 2, … an edge a–b of the graph of x is deleted if a and b are independent given x_S for
some set S of k neighbours of a, or of b; the test uses the rows that equal x in S. All rows that
agree in S share the test. The neighbours are those at the start of step k, so the result does not
depend on the order of the variables. An undecided test deletes nothing. This needs many rows: one
test that fails to reject deletes an edge. Conditioning on few variables mixes contexts in which a
dependency differs, so that it can nearly cancel; conditioning on many leaves few rows.

**From graphs to a structure** there are two readings. ``"cliques"`` is that of the papers and their
results: x_C is a feature for each maximal clique C of the graph of each row x. A clique without the
variable whose value made the graph claims its dependencies for all values of it. On the model of
their experiments (``six``, two draws of 100,000 rows) the graphs are nearly right, and 70 to 79 of
the 80 possible false positives come from this step. ``"contexts"`` reads the graphs directly: an
edge that some of the graphs have gets the values of one context variable in which most rows have
it, if that variable explains at least half of the disagreement, and otherwise the vote of all rows.
Then CSGS has no errors there, CSPC 16 to 20 false positives and 4 to 8 false negatives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from math import comb
from typing import TYPE_CHECKING, Literal

import numpy as np

from contextwise.data.rows import Data
from contextwise.errors import DomainError
from contextwise.evidence.counted_rows import CountedRows
from contextwise.evidence.independence_test import (
    DecisionRule,
    evaluate_in_context,
    evaluate_on,
    most_dependent,
    most_independent,
)
from contextwise.learning.base import Learner, Run, threads_of
from contextwise.learning.graphs import (
    EdgeRule,
    check_edge_rule,
    claimed_dependencies,
    edges_of,
    from_edges,
    from_row_graphs,
)
from contextwise.models.domain import Domain
from contextwise.models.structure import Structure
from contextwise.support.arrays import BoolArray, IntArray
from contextwise.support.effort import progress_of

if TYPE_CHECKING:
    from contextwise.evidence import _count


Reading = Literal["cliques", "contexts"]


class RowGraphs(Learner):
    """Base class of learners of one graph per row."""

    decides_by_test = True
    level: float
    min_count: float
    reading: Reading
    table_: CountedRows
    graphs_: BoolArray

    def learn(self, data: Data, run: Run) -> Structure:
        """Find the graphs and make features of their cliques."""
        if self.reading not in ("cliques", "contexts"):
            raise DomainError(f"reading must be 'cliques' or 'contexts', got {self.reading!r}")
        rule = DecisionRule.of(len(data), self.level, self.min_count)
        self.table_ = CountedRows.of(data)
        left = run.deadline.left()
        if left is not None:  # the cliques need time too
            run.deadline = run.deadline.sooner(0.9 * left)
        self.graphs_ = self.find_graphs(self.table_, rule, run)
        if self.reading == "contexts":
            return by_context(data.domain, self.table_, self.graphs_)
        return from_row_graphs(data.domain, self.table_.rows, self.graphs_)

    def find_graphs(self, table: CountedRows, rule: DecisionRule, run: Run) -> BoolArray:
        """Return the adjacency matrix of each distinct row; subclasses implement this."""
        raise NotImplementedError

    @property
    def added_(self) -> int:
        """Number of dependencies the features add to the graphs, over the distinct rows."""
        claimed = claimed_dependencies(self._learned("structure_"), self.table_.rows)
        return claimed - int(np.triu(self.graphs_).sum())


def by_context(domain: Domain, table: CountedRows, graphs: BoolArray) -> Structure:
    """Read a graph per row directly: the tables of edges, in the contexts that have them.

    >>> table = CountedRows(np.array([[0, 0, 0], [1, 1, 1]]), np.array([9, 9]), (2, 2, 2))
    >>> graphs = np.zeros((2, 3, 3), dtype=bool)
    >>> graphs[0, [0, 1], [1, 0]] = True
    >>> made = by_context(Domain({"A": 2, "B": 2, "C": 2}), table, graphs)
    >>> made.restrict("C=0").pairs(), made.restrict("C=1").pairs()
    ([('A', 'B')], [])
    """
    names, parts = domain.names, []
    plain = np.zeros((len(names), len(names)), dtype=bool)
    for i, j in combinations(range(len(names)), 2):
        found = _context_of(table, graphs[:, i, j], [v for v in table.varying if v not in (i, j)])
        if found is None:
            plain[[i, j], [j, i]] = table.counts @ (2 * graphs[:, i, j] - 1) > 0
        elif found[1]:
            k, values = found
            context = {names[k]: [domain.states[k][value] for value in values]}
            parts += [
                {names[i]: a, names[j]: b, **context}
                for a, b in product(domain.states[i], domain.states[j])
            ]
    return from_edges(domain, plain) | Structure(domain, parts)


def _context_of(
    table: CountedRows, edge: BoolArray, variables: list[int]
) -> tuple[int, list[int]] | None:
    """Return the variable that explains an edge best, and its values in which most rows have it."""
    sign = np.where(edge, table.counts, -table.counts)
    best, least = None, min(table.counts[edge].sum(), table.counts[~edge].sum()) / 2
    for k in variables:
        votes = np.bincount(table.rows[:, k], sign, minlength=table.cardinalities[k])
        wrong = (table.counts.sum() - np.abs(votes).sum()) / 2
        if wrong < least or (wrong == least > 0 and best is None):
            best, least = (k, np.flatnonzero(votes > 0).tolist()), wrong
    return best


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

    reading : "cliques" or "contexts"
        How graphs become a structure: by features of cliques, as in the paper, or directly.

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
    >>> learned = CSGS().fit("berkeley").structure_
    >>> learned.restrict("Dept=A").pairs(), learned.restrict("Dept=B").pairs()
    ([('Admit', 'Gender')], [])
    """

    level: float = 0.05
    min_count: float = 5.0
    rule: EdgeRule = "and"
    reading: Reading = "cliques"

    def find_graphs(self, table: CountedRows, rule: DecisionRule, run: Run) -> BoolArray:
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


def _blankets(
    table: CountedRows, target: int, rule: DecisionRule
) -> Iterator[tuple[list[int], IntArray]]:
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


def _shrink(
    table: CountedRows, target: int, blanket: dict[int, int], rule: DecisionRule
) -> list[int]:
    """Shrink a blanket with its values."""
    left = dict(blanket)
    while left:
        removed = most_independent(evaluate_in_context(table, target, left), rule)
        if removed is None:
            break
        del left[list(left)[removed]]
    return list(left)


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

    reading : "cliques" or "contexts"
        How graphs become a structure: by features of cliques, as in the paper, or directly.

    Attributes
    ----------
    table_, graphs_, added_ : as those of `CSGS`

    Examples
    --------
    >>> learned = CSPC().fit("berkeley").structure_
    >>> learned.restrict("Dept=A").pairs(), learned.restrict("Dept=B").pairs()
    ([('Admit', 'Gender')], [])
    """

    level: float = 0.05
    min_count: float = 5.0
    max_size: int | None = None
    n_jobs: int = 1
    reading: Reading = "cliques"

    def find_graphs(self, table: CountedRows, rule: DecisionRule, run: Run) -> BoolArray:
        """Delete edges, conditioning on larger and larger sets of neighbours."""
        if self.max_size is not None and self.max_size < 0:
            raise DomainError(f"max_size must be >= 0, got {self.max_size}")
        search = table.need_compiled("cspc").context_graphs(
            table.varying, rule.level, rule.min_count
        )
        variables = len(table.varying)
        for size in range(variables if self.max_size is None else self.max_size + 1):
            if run.is_late() or not self._delete(search, size, variables, run):
                break
        return search.graphs()

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
