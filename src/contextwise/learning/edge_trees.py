"""`EdgeTrees`: for each edge a decision tree that says in which contexts it is there.

`contextwise.learning.contextual_mpl` says what a context of an edge is and how it is scored. There
each configuration of the common neighbours is judged by itself. Here each edge has a small tree of
tests over its common neighbours, and a leaf says whether the edge is present: all rows under a leaf
speak with one voice, which needs far fewer of them. A test compares a variable with one value
(v = k against the rest).

**Prior.** A node of a tree is a leaf or a test, with probability 1/2 each. A leaf says present or
absent, with probability 1/2 each; a test is any of the T that are left, with probability 1/T. So no
edge and an edge in all contexts are equally likely, and a first test costs ln 8T. Trees of
different pairs are independent.

**Search.** It starts with the graph of `MPL`. For each pair, joined or not, the best tree of up to
``depth`` tests on a path is sought while all others stay as they are; the change of the largest
gain is made, and pairs that share a variable with it are looked at again, until no change raises
the score. So edges come and go as well, and an edge that is there in some contexts only is found
even if it is too weak to be an edge everywhere.

**Only what features can say.** An edge i–j that is present where C=0 has features of i, j and C, so
C depends on both there. A tree is possible only if every context where some edge is present keeps a
feature that makes no pair depend where that pair is absent. So the features say exactly what the
trees say. (And rightly so: an interaction of i and j that depends on C is an interaction of all
three.) Greater gains come first and rule out what contradicts them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, log

import numpy as np

from contextwise.errors import DomainError
from contextwise.learning.contextual_mpl import (
    CONFIGURATIONS,
    EVERYWHERE,
    NOWHERE,
    Context,
    Edge,
    EdgeContexts,
    configurations_of,
    possible_cells,
)
from contextwise.learning.independence_test import BoolArray, Table, pairs_of
from contextwise.learning.mpl import LEAST, Classes
from contextwise.models.features import PairIndex
from contextwise.support.progress import Progress, progress_of

LEAF = -log(4)
"""The log of the prior of a leaf, with what it says."""


class EdgeTrees(EdgeContexts):
    """A graph whose edges have trees of contexts, by marginal pseudo-likelihood.

    A tree per edge says where it is present. All rows under a leaf decide together, so contexts
    are found from fewer rows than one by one. No edge, and an edge in every context, are equally
    likely beforehand; every test costs as much as there are tests to choose from.

    Parameters
    ----------
    prior : float
        How many rows the prior counts per variable, spread evenly over all cells of its table.
    depth : int
        How many tests a context of an edge has at most.
    show_progress : bool or function
        A line on standard error, or a function of (done, in all) of each part in turn.

    Attributes
    ----------
    edges_ : dict from pairs of positions to Edge
        Where each edge is present, and where it is absent.
    table_ : Table
        The distinct rows.
    added_ : int
        In how many (row, pair) the features make a pair depend whose edge is absent there.

    Examples
    --------
    B and C are equal where A=0, and independent where A=1, where both are 1 more often:

    >>> ones = [[1, b, c] for b in (0, 1, 1, 1) for c in (0, 1, 1, 1)]
    >>> rows = [[0, 0, 0], [0, 1, 1]] * 80 + ones * 10
    >>> found = EdgeTrees().fit(rows, domain={"A": 2, "B": 2, "C": 2}).structure_
    >>> found.restrict("A=0").pairs(), found.restrict("A=1").pairs()
    ([('B', 'C')], [])
    """

    name = "edge-trees"

    def __init__(
        self,
        *,
        prior: float = 1.0,
        depth: int = 3,
        show_progress: bool | Progress = False,
    ) -> None:
        self.prior = prior
        self.depth = depth
        self.show_progress = show_progress

    def find_edges(self, table: Table, graph: BoolArray) -> dict[PairIndex, Edge]:
        """Change the tree of one pair at a time, the best change first."""
        if self.depth < 0:
            raise DomainError(f"depth is a number of tests from 0 up, not {self.depth}")
        search = _Search(table, graph, self.prior, self.depth)
        pairs = pairs_of(table.varying)
        changes: dict[PairIndex, _Change] = {}
        with progress_of(self.show_progress, "finding contexts") as progress:
            waiting, made = set(pairs), False
            while waiting:
                for done, pair in enumerate(sorted(waiting)):
                    changes[pair] = search.best_change(pair)
                    if progress:
                        progress(len(pairs) - len(waiting) + done + 1, len(pairs))
                waiting, made = _make_best(search, changes, made)
        return dict(sorted(search.edges.items()))


def _make_best(
    search: _Search, changes: Mapping[PairIndex, _Change], made: bool
) -> tuple[set[PairIndex], bool]:
    """Make the best change; which pairs are to be looked at again, and whether one was made.

    A change can stand in the way of others, so at the end all pairs are looked at once more.
    """
    best = max(changes, key=lambda pair: changes[pair].gain)
    if changes[best].gain <= LEAST:
        return (set(changes), False) if made else (set(), False)
    if not search.is_possible(best, changes[best].tree.edge):
        return {best}, made
    search.make(best, changes[best].tree)
    return {pair for pair in changes if set(pair) & set(best)}, True


@dataclass(frozen=True)
class _Tree:
    """A tree: where its leaves say present or absent, what that gains, and the tree's prior."""

    edge: Edge
    gain: float
    prior: float

    @property
    def value(self) -> float:
        return self.gain + self.prior


IMPOSSIBLE = _Tree(Edge([], []), -inf, 0.0)


@dataclass(frozen=True)
class _Change:
    """Another tree for a pair, and by how much it is better."""

    gain: float
    tree: _Tree


class _Search:
    """The edges as they are now, and what a change of one of them would bring."""

    def __init__(self, table: Table, graph: BoolArray, prior: float, depth: int) -> None:
        self.table, self.prior, self.depth = table, prior, depth
        everywhere = [(a, b) for a, b in np.argwhere(np.triu(graph)).tolist()]
        self.edges = dict.fromkeys(everywhere, EVERYWHERE)
        self.priors = dict.fromkeys(pairs_of(range(len(graph))), LEAF)

    def make(self, pair: PairIndex, tree: _Tree) -> None:
        """Give a pair its new tree."""
        self.edges.pop(pair, None)
        if tree.edge.present:
            self.edges[pair] = tree.edge
        self.priors[pair] = tree.prior

    def edge(self, a: int, b: int) -> Edge:
        """The edge of two variables; what is not joined is absent everywhere."""
        return self.edges.get((min(a, b), max(a, b)), NOWHERE)

    def neighbours(self, variable: int) -> set[int]:
        """The variables that have an edge to this one."""
        return {v for pair in self.edges if variable in pair for v in pair} - {variable}

    def best_change(self, pair: PairIndex) -> _Change:
        """The tree of the largest value, and by how much it is better than what is there."""
        blankets = [sorted(self.neighbours(v) | {w}) for v, w in (pair, pair[::-1])]
        now = self.edge(*pair)
        if any(configurations_of(self.table, own) > CONFIGURATIONS for own in blankets):
            return _Change(0.0, IMPOSSIBLE)
        ends = [
            (self.classes(v, blanket, w), w)
            for v, w, blanket in zip(pair, pair[::-1], blankets, strict=True)
        ]
        tree = self.best_tree(pair, ends)
        if not self.is_possible(pair, tree.edge):  # each leaf is, but not all together
            return _Change(0.0, IMPOSSIBLE)
        return _Change(tree.value - _worth(ends, now.absent) - self.priors[pair], tree)

    def classes(self, variable: int, blanket: Sequence[int], but: int) -> Classes:
        """The classes of a variable, as if its edge to one of the blanket were everywhere."""
        found = Classes(self.table, variable, blanket, self.prior)
        for other in blanket:
            if other != but:
                for context in self.edge(variable, other).absent:
                    found.merge(found.lines(other, context))
        return found

    def best_tree(self, pair: PairIndex, ends: Ends) -> _Tree:
        """The tree of the largest value whose leaves can be said in features."""
        tests, known = self.tests(pair), dict[tuple[tuple[int, tuple[int, ...]], ...], _Tree]()

        def best(context: Context, depth: int) -> _Tree:
            key = tuple(sorted((v, tuple(values)) for v, values in context.items()))
            if key not in known:
                splits = list(_splits(tests, context)) if depth else []
                prior = -log(2) - log(max(1, len(splits)))
                trees = [
                    _join(ends, best(one, depth - 1), best(other, depth - 1), prior)
                    for one, other in splits
                ]
                known[key] = max([*self.leaves(pair, ends, context), *trees], key=_value)
            return known[key]

        return best({}, self.depth)

    def leaves(self, pair: PairIndex, ends: Ends, context: Context) -> list[_Tree]:
        """What a leaf can say: that the edge is absent, or that it is present."""
        absent, present = Edge([], [context]), Edge([context], [])
        found = [IMPOSSIBLE]
        if self.is_possible(pair, absent):
            found.append(_Tree(absent, _worth(ends, [context]), LEAF))
        if self.is_possible(pair, present):
            found.append(_Tree(present, 0.0, LEAF))
        return found

    def is_possible(self, pair: PairIndex, edge: Edge) -> bool:
        """Whether features can say where a pair is present and absent, and all others as well."""
        cards, edges = self.table.cardinalities, {**self.edges, pair: edge}
        concerned = [
            (other, context)
            for other, own in edges.items()
            for context in own.present
            if context and (other == pair or (edge.absent and set(pair) <= {*other, *context}))
        ]
        return all(
            any(True for _ in possible_cells(cards, other, context, edges))
            for other, context in concerned
        )

    def tests(self, pair: PairIndex) -> list[tuple[int, int, int]]:
        """The tests there are: a variable, its value, and its number of values."""
        common = sorted(self.neighbours(pair[0]) & self.neighbours(pair[1]))
        cards = self.table.cardinalities
        return [(v, k, cards[v]) for v in common for k in range(cards[v] if cards[v] > 2 else 1)]


Ends = Sequence[tuple[Classes, int]]
"""The classes of both variables of a pair, each with the other variable."""


def _value(tree: _Tree) -> float:
    return tree.value


def _worth(ends: Ends, contexts: Sequence[Context]) -> float:
    """By how much both scores rise if the edge is absent in these contexts."""
    if not contexts:
        return 0.0
    return sum(
        classes.gain(np.concatenate([classes.lines(other, context) for context in contexts]))
        for classes, other in ends
    )


def _join(ends: Ends, one: _Tree, other: _Tree, prior: float) -> _Tree:
    """The tree of a test and what is under it; of no use if all its leaves say the same."""
    edge = Edge(one.edge.present + other.edge.present, one.edge.absent + other.edge.absent)
    if not edge.present or not edge.absent:
        return IMPOSSIBLE
    gain = _worth(ends, edge.absent) if min(one.gain, other.gain) > -inf else -inf
    return _Tree(edge, gain, prior + one.prior + other.prior)


def _splits(
    tests: Sequence[tuple[int, int, int]], context: Context
) -> Iterator[tuple[Context, Context]]:
    """The two sides of each test that a context leaves open."""
    for v, k, card in tests:
        values = context.get(v, list(range(card)))
        rest = [value for value in values if value != k]
        if k in values and rest:
            yield {**context, v: [k]}, {**context, v: rest}
