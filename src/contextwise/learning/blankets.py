"""Markov blankets by growing and shrinking: GSMN over all rows, CSGS context by context.

The blanket of a variable t is the smallest set that makes t independent of everything else. It is
found in two phases. **Grow**: add the variable that depends most clearly on t given the blanket so
far (the smallest p-value, then the largest statistic), while one does. **Shrink**: take out the one
that depends least on t given the rest of the blanket, while a test finds it independent. A silent
test neither adds nor takes out. Two variables are joined if each is in the other's blanket
(``rule="and"``) or one is (``rule="or"``).

`GSMN` (Bromberg, Margaritis and Honavar 2009) tests on all rows, the values of the blanket being
groups: it gives one graph and cannot see contexts. `CSGS` (Edera, Strappa and Bromberg 2014) gives
one to every distinct row x, by tests on the rows that equal x in the blanket. Rows that agree on
the blanket so far have the same next step, so growing for all rows is growing one tree per
variable: a node is a blanket with its values, and a step splits its rows by the values of the
variable that was added. `independence_test` has the test, and why its level falls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from contextwise.data.rows import Data
from contextwise.errors import ContextwiseError
from contextwise.learning.base import Learner
from contextwise.learning.cspc import ContextGraphs
from contextwise.learning.independence_test import BoolArray, Rule, Table, Tests, rule_for, table_of
from contextwise.models.domain import Domain
from contextwise.models.factors import tables
from contextwise.models.features import IntArray
from contextwise.models.structure import Structure
from contextwise.support.progress import Progress, progress_of

Join = Literal["and", "or"]
Blanket = tuple[int, ...]


class GSMN(Learner):
    """One graph, by growing and shrinking a Markov blanket per variable; it cannot see contexts.

    The features are the tables of the edges, which make the same claims as those of the cliques.

    Parameters
    ----------
    level : float
        The level of the tests; with more than 1/level² rows it is 1/√rows.
    min_count : float
        How many rows per cell a test needs; one with fewer says nothing.
    rule : "and" or "or"
        Whether an edge must be in both blankets of its ends, or in one.
    show_progress : bool or function
        A line on standard error, or a function of (blankets found, variables).

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

    name = "gsmn"

    def __init__(
        self,
        *,
        level: float = 0.05,
        min_count: float = 5.0,
        rule: Join = "and",
        show_progress: bool | Progress = False,
    ) -> None:
        self.level = level
        self.min_count = min_count
        self.rule = rule
        self.show_progress = show_progress

    def learn(self, data: Data) -> Structure:
        """Find the blankets, and join what is in them."""
        check_join(self.rule)
        rule, table = rule_for(len(data), self.level, self.min_count), table_of(data)
        size = len(data.domain)
        self.blankets_: list[Blanket] = [()] * size
        with progress_of(self.show_progress, "finding blankets") as progress:
            for done, target in enumerate(table.varying):
                grown = _grow_everywhere(table, target, rule)
                self.blankets_[target] = tuple(sorted(_shrink(table, target, grown, rule)))
                if progress:
                    progress(done + 1, size)
        inside = np.zeros((size, size), dtype=bool)
        for target, blanket in enumerate(self.blankets_):
            inside[target, list(blanket)] = True
        return from_edges(data.domain, join(inside, self.rule))


class CSGS(ContextGraphs):
    """One graph per distinct row, by growing and shrinking blankets; cliques are features.

    Dependencies that hold in some contexts only are found; the features can claim some more.

    Parameters
    ----------
    level : float
        The level of the tests; with more than 1/level² rows it is 1/√rows.
    min_count : float
        How many rows per cell a test needs; one with fewer says nothing.
    rule : "and" or "or"
        Whether an edge must be in both blankets of its ends, or in one.
    show_progress : bool or function
        A line on standard error, or a function of (variables whose blankets are found, variables).

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
    >>> found = CSGS().fit(rows, domain={"A": 2, "B": 2, "C": 2}).structure_
    >>> found.restrict("A=0").pairs(), found.restrict("A=1").pairs()
    ([('B', 'C')], [])
    """

    name = "csgs"

    def __init__(
        self,
        *,
        level: float = 0.05,
        min_count: float = 5.0,
        rule: Join = "and",
        show_progress: bool | Progress = False,
    ) -> None:
        self.level = level
        self.min_count = min_count
        self.rule = rule
        self.show_progress = show_progress

    def find_graphs(self, table: Table, rule: Rule) -> BoolArray:
        """Blankets for each variable in each context, joined."""
        check_join(self.rule)
        size = len(table.cardinalities)
        inside = np.zeros((len(table.rows), size, size), dtype=bool)
        with progress_of(self.show_progress, "finding blankets") as progress:
            for done, target in enumerate(table.varying):
                for blanket, rows in _blankets_in_contexts(table, target, rule):
                    inside[rows[:, None], target, blanket] = True
                if progress:
                    progress(done + 1, size)
        return join(inside, self.rule)


def check_join(rule: str) -> None:
    """Raise unless the rule is one that there is."""
    if rule not in ("and", "or"):
        raise ContextwiseError(f"rule is 'and' or 'or', not {rule!r}")


def join(inside: BoolArray, rule: Join) -> BoolArray:
    """The adjacency matrices of blankets, by one of the two rules.

    >>> join(np.array([[False, True], [False, False]]), "or")
    array([[False,  True],
           [ True, False]])
    """
    other = np.swapaxes(inside, -1, -2)
    return np.asarray(inside & other if rule == "and" else inside | other)


def from_edges(domain: Domain, graph: BoolArray) -> Structure:
    """The tables of a graph's edges, and of the variables that have none.

    >>> from_edges(Domain({"A": 2, "B": 2}), np.zeros((2, 2), dtype=bool))
    Structure(2 variables, 4 features: A=0; A=1; B=0; B=1)
    """
    edges = [(a, b) for a, b in np.argwhere(graph).tolist() if a < b]
    alone = [(v,) for v in np.flatnonzero(~graph.any(axis=1)).tolist()]
    return tables(domain, sorted([*edges, *alone]))


# -- one variable ----------------------------------------------------------------------------------


def _grow_everywhere(table: Table, target: int, rule: Rule) -> list[int]:
    """The blanket of a variable over all rows, before it is shrunk."""
    blanket: list[int] = []
    groups, count = table.groups([])
    while True:
        found = _next(table, target, blanket, groups, count, rule)
        if found is None:
            return blanket
        blanket.append(found)
        groups, count = table.groups(blanket)


def _next(
    table: Table, target: int, blanket: list[int], groups: IntArray, count: int, rule: Rule
) -> int | None:
    """The variable that depends most clearly on the target, or None if none does."""
    others = [v for v in range(len(table.cardinalities)) if v != target and v not in blanket]
    if not others or not count:
        return None
    tests = table.test([(target, v) for v in others], groups, count).together()
    able = tests.dependent(rule)
    if not able.any():
        return None
    order = np.lexsort((-(tests.statistic - tests.mean), tests.p_values(), ~able))
    return others[int(order[0])]


def _shrink(table: Table, target: int, blanket: list[int], rule: Rule) -> list[int]:
    """The blanket without what is independent of the target given the rest of it."""
    left = list(blanket)
    while left:
        tests = []
        for v in left:
            groups, count = table.groups([u for u in left if u != v])
            tests.append(table.test([(target, v)], groups, count).together())
        out = _weakest(tests, rule)
        if out is None:
            break
        del left[out]
    return left


def _weakest(tests: list[Tests], rule: Rule) -> int | None:
    """The test that finds independence most clearly, or None if none does."""
    able = [place for place, test in enumerate(tests) if test.independent(rule).all()]
    p_values = {place: float(tests[place].p_values()[0]) for place in able}
    return max(able, key=lambda place: p_values[place], default=None)


# -- one variable in every context -----------------------------------------------------------------


def _blankets_in_contexts(
    table: Table, target: int, rule: Rule
) -> Iterator[tuple[list[int], IntArray]]:
    """The blankets of a variable, each with the rows whose blanket it is."""
    waiting: list[tuple[list[int], IntArray]] = [([], np.arange(len(table.rows)))]
    shrunk: dict[tuple[tuple[int, int], ...], Tests] = {}
    while waiting:
        blanket, rows = waiting.pop()
        own = table.take(rows)
        groups, count = own.groups([])
        found = _next(own, target, blanket, groups, count, rule)
        if found is None:
            values = {v: int(own.rows[0, v]) for v in blanket}
            yield _shrink_in_context(table, target, values, rule, shrunk), rows
            continue
        codes = own.rows[:, found]
        waiting += (([*blanket, found], rows[codes == value]) for value in np.unique(codes))


def _shrink_in_context(
    table: Table,
    target: int,
    blanket: dict[int, int],
    rule: Rule,
    known: dict[tuple[tuple[int, int], ...], Tests],
) -> list[int]:
    """The blanket of a context, given with its values, without what is independent."""
    left = dict(blanket)
    while left:
        tests = []
        for v in left:
            given = {u: value for u, value in left.items() if u != v}
            key = ((v, -1), *sorted(given.items()))
            if key not in known:
                agree = (table.rows[:, list(given)] == list(given.values())).all(axis=1)
                own = table.take(agree)
                known[key] = own.test([(target, v)], *own.groups([])).together()
            tests.append(known[key])
        out = _weakest(tests, rule)
        if out is None:
            break
        del left[list(left)[out]]
    return list(left)
