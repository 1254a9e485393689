"""CSPC: one graph per context, by tests on the rows that agree with the context (Edera et al.).

Edera, Schlüter and Bromberg (2014), "Learning Markov networks structures with context-specific
independences". The contexts are the distinct rows x. Each starts with a complete graph; then for
k = 0, 1, 2, … an edge a–b of the graph of x is deleted if some set S of k neighbours of a, or of b,
makes a and b independent given x_S: a test on the rows that equal x in S. Rows that equal each
other in S share the test, so a test is made once for all values of S. Neighbours are those at the
beginning of step k, so the result does not depend on the order of variables.

**Features** are x_C for each maximal clique C of the graph of each row x (`from_row_graphs`). A
feature makes its pairs depend wherever its other literals hold, which can be more than the graphs
say; `added_dependencies` counts how much more, over the rows. So a missed edge costs twice: where
the graph of a row lacks one, its cliques are smaller, its features have fewer literals, and they
claim dependencies in contexts whose own graphs have none.

The test is that of `independence_test`; a silent test deletes nothing. With k as
large as needed and the level falling, the graph of every context that keeps occurring tends to the
right one, if no dependency of the truth is invisible to the test (faithfulness). That takes many
rows: an edge goes as soon as one of many tests does not reject. With few variables given, contexts
are mixed in which a dependence differs, and it can nearly cancel; with many given, rows are few.

Cost: one pass over the distinct rows per pair and set S that is tested. Sets are tested only while
some group of rows is large enough; 30 variables and 10,000 rows are for minutes, not more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from contextwise.comparison.compare import compare
from contextwise.convert.undirected import maximal_cliques
from contextwise.data.rows import Data, by_position
from contextwise.errors import DomainError
from contextwise.learning.base import Learner
from contextwise.learning.gssl import conjunctions
from contextwise.learning.independence_test import (
    BoolArray,
    Rule,
    Table,
    pairs_of,
    rule_for,
    table_of,
)
from contextwise.models.domain import Domain
from contextwise.models.features import IntArray, PairIndex
from contextwise.models.structure import Structure
from contextwise.support.progress import Progress, progress_of

SMALLEST = 4
"""How many cells the smallest table has that can say anything."""


class ContextGraphs(Learner):
    """What learners of one graph per row share: from graphs to features, and what that adds."""

    level: float
    min_count: float
    show_progress: bool | Progress

    table_: Table
    graphs_: BoolArray

    def learn(self, data: Data) -> Structure:
        """Find the graphs, and make features of their cliques."""
        rule = rule_for(len(data), self.level, self.min_count)
        self.table_ = table_of(data)
        self.graphs_ = self.find_graphs(self.table_, rule)
        return from_row_graphs(data.domain, self.table_.rows, self.graphs_)

    def find_graphs(self, table: Table, rule: Rule) -> BoolArray:
        """The adjacency matrix of each distinct row: what a subclass writes."""
        raise NotImplementedError

    @property
    def added_(self) -> int:
        """How many dependencies the features add to those of the graphs, over the distinct rows."""
        return added_dependencies(self._learned("structure_"), self.table_.rows, self.graphs_)


class CSPC(ContextGraphs):
    """One graph per distinct row, by tests on the rows that agree with it; cliques are features.

    Dependencies that hold in some contexts only are found; the features can claim some more.

    Parameters
    ----------
    level : float
        The level of the tests; with more than 1/level² rows it is 1/√rows.
    min_count : float
        How many rows per cell a test needs; one with fewer says nothing and deletes nothing.
    max_size : int, optional
        The largest set of variables that tests condition on; no limit if it is not given.
    show_progress : bool or function
        A line on standard error, or a function of (sets tested, sets in all) for each size in turn.

    Attributes
    ----------
    table_ : Table
        The distinct rows.
    graphs_ : bool array of shape (distinct rows, variables, variables)
        The adjacency matrix of each distinct row.
    added_ : int
        In how many (row, pair) the features make a pair depend that has no edge in the row's graph.

    Examples
    --------
    B and C are equal where A=0, and independent where A=1, where both are 1 more often:

    >>> ones = [[1, b, c] for b in (0, 1, 1, 1) for c in (0, 1, 1, 1)]
    >>> rows = [[0, 0, 0], [0, 1, 1]] * 80 + ones * 10
    >>> found = CSPC().fit(rows, domain={"A": 2, "B": 2, "C": 2}).structure_
    >>> found.restrict("A=0").pairs(), found.restrict("A=1").pairs()
    ([('B', 'C')], [])
    """

    name = "cspc"

    def __init__(
        self,
        *,
        level: float = 0.05,
        min_count: float = 5.0,
        max_size: int | None = None,
        show_progress: bool | Progress = False,
    ) -> None:
        self.level = level
        self.min_count = min_count
        self.max_size = max_size
        self.show_progress = show_progress

    def find_graphs(self, table: Table, rule: Rule) -> BoolArray:
        """Delete edges, with larger and larger sets of neighbours given."""
        if self.max_size is not None and self.max_size < 0:
            raise DomainError(f"max_size is a number from 0 up, not {self.max_size}")
        graphs = complete_graphs(table)
        sets: list[tuple[int, ...]] = [()]
        while sets and (graphs.sum(axis=2) > len(sets[0])).any():
            size = len(sets[0])
            if self.max_size is not None and size > self.max_size:
                break
            with progress_of(self.show_progress, f"testing, {size} given") as progress:
                sets = delete_edges(table, sets, graphs, rule, progress)
            sets = [
                (*given, v) for given in sets for v in table.varying if v > max(given, default=-1)
            ]
        return graphs


def complete_graphs(table: Table) -> BoolArray:
    """The complete graph over the variables that vary, for each distinct row."""
    size = len(table.cardinalities)
    varies = np.zeros(size, dtype=bool)
    varies[table.varying] = True
    graph = varies[:, None] & varies & ~np.eye(size, dtype=bool)
    return np.repeat(graph[None], len(table.rows), axis=0)


def delete_edges(
    table: Table,
    sets: Sequence[tuple[int, ...]],
    graphs: BoolArray,
    rule: Rule,
    progress: Progress | None = None,
) -> list[tuple[int, ...]]:
    """Delete, in place, the edges between variables that are independent given one of the sets.

    Parameters
    ----------
    table : Table
    sets : sets of variables, rising, of one size
    graphs : bool array
        The adjacency matrix of each distinct row.
    rule : Rule
    progress : function of (sets done, sets in all), optional

    Returns
    -------
    list of tuple of int
        The sets that lie beside a variable in some row whose group is large enough to say anything;
        as sets grow and edges go, no others will.
    """
    before, useful = graphs.copy(), []
    for done, given in enumerate(sets):
        groups, count = table.groups(given)
        sizes = np.bincount(groups, weights=table.counts, minlength=count)
        large = sizes[groups] >= max(SMALLEST, SMALLEST * rule.min_count)
        beside = before[:, :, list(given)].all(axis=2) & large[:, None]
        if beside.any():
            useful.append(given)
            others = [v for v in table.varying if v not in given]
            _delete_given(table, pairs_of(others), beside, (groups, count), graphs, rule)
        if progress:
            progress(done + 1, len(sets))
    return useful


def _delete_given(
    table: Table,
    pairs: Sequence[PairIndex],
    beside: BoolArray,
    grouped: tuple[IntArray, int],
    graphs: BoolArray,
    rule: Rule,
) -> None:
    """Delete edges given the groups; ``beside`` says which ends have the given as neighbours."""
    wanted = {(a, b): (beside[:, a] | beside[:, b]) & graphs[:, a, b] for a, b in pairs}
    tested = [pair for pair, rows in wanted.items() if rows.any()]
    if not tested:
        return
    independent = table.test(tested, *grouped).independent(rule)
    for (a, b), own in zip(tested, independent, strict=True):
        gone = own[grouped[0]] & wanted[a, b]
        graphs[gone, a, b] = graphs[gone, b, a] = False


# -- from graphs to features -----------------------------------------------------------------------


def from_row_graphs(domain: Domain, rows: IntArray, graphs: BoolArray) -> Structure:
    """The features x_C for each maximal clique C of the graph of each row x.

    Parameters
    ----------
    domain : Domain
    rows : int array
        Positions of states, one row per context.
    graphs : bool array of shape (rows, variables, variables)

    Examples
    --------
    >>> graph = np.array([[[False, True], [True, False]], [[False, False], [False, False]]])
    >>> from_row_graphs(Domain({"A": 2, "B": 2}), np.array([[0, 1], [1, 1]]), graph)
    Structure(2 variables, 3 features: A=1; A=0 & B=1; B=1)
    """
    parts = [np.zeros((0, len(domain)), dtype=np.int64)]
    for clique, own in _cliques(graphs):
        table = np.full((len(own), len(domain)), -1, dtype=np.int64)
        table[:, clique] = rows[own][:, clique]
        parts.append(np.unique(table, axis=0))
    return conjunctions(domain, np.concatenate(parts))


def _cliques(graphs: BoolArray) -> Iterator[tuple[list[int], IntArray]]:
    """Each maximal clique, and the rows in whose graph it is one."""
    own: dict[tuple[int, ...], list[IntArray]] = {}
    flat = np.packbits(graphs.reshape(len(graphs), graphs.shape[1] ** 2), axis=1)
    _, first, graph = np.unique(flat, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(graph, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(graph))[:-1]) if len(graph) else []
    for example, rows in zip(first.tolist(), members, strict=True):
        edges: list[PairIndex] = [(a, b) for a, b in np.argwhere(graphs[example]).tolist() if a < b]
        for clique in maximal_cliques(range(graphs.shape[1]), edges):
            own.setdefault(clique, []).append(rows)
    for clique, parts in sorted(own.items()):
        yield list(clique), np.concatenate(parts)


def added_dependencies(structure: Structure, rows: IntArray, graphs: BoolArray) -> int:
    """How many dependencies a structure has beyond the graphs it was made of, over their rows.

    Parameters
    ----------
    structure : Structure
        Made of the graphs, so that it has all their dependencies.
    rows : int array
        The row of each graph.
    graphs : bool array of shape (rows, variables, variables)
    """
    plain = by_position(structure)
    claimed = compare(plain, Structure(plain.domain), data=rows).fn
    edges = sum(int(graphs[:, a, b].sum()) for a, b in pairs_of(range(graphs.shape[1])))
    return int(claimed) - edges
