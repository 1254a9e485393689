"""EdgeTrees: for each edge a decision tree of the contexts in which it is present.

`contextwise.learning.edge_contexts` defines contexts of edges and their scores. `ContextualMPL`
judges each configuration of the common neighbours by itself. Here each edge has a small tree of
tests over its common neighbours, and a leaf is present or absent. All rows under a leaf decide
together, which needs far fewer rows. A test compares a variable with one value (v = k against the
rest).

**Prior.** A node of a tree is a leaf or a test, with probability 1/2 each. A leaf is present or
absent, with probability 1/2 each; a test is any of the T that are left, with probability 1/T. So no
edge and an edge in all contexts have the same probability, and a first test costs ln 8T. Trees of
different pairs are independent.

**Search.** It starts with the graph of `MPL`. For each pair, joined or not, it looks for the best
tree of up to ``depth`` tests on a path, with all other trees fixed. The tree of a context is the
best of an absent leaf, a present leaf, and each test with the trees of its two sides, which are
found the same way, each as if the edge were present everywhere else. The search makes the change
with the largest gain and looks again at the pairs that share a variable with it. When no change
raises the score, it looks at all pairs once more, because a change can make trees of other pairs
possible. So edges come and go, and an edge that is present in some contexts only is found even if
it is too weak to be an edge everywhere.

**Restriction.** An edge i–j that is present where C=0 has features of i, j and C, so C depends on
both there. A tree is possible only if every context where some edge is present keeps a feature that
makes no pair depend where that pair is absent. So the features claim exactly what the trees do.
Leaves are checked while the tree is built. If they are possible one by one but not together, the
pair keeps its current tree.
(An interaction of i and j that depends on C is an interaction of all three.) Larger gains come
first and exclude what contradicts them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf, log
from typing import Any

import numpy as np

from contextwise.errors import DomainError
from contextwise.learning.counted_rows import CountedRows
from contextwise.learning.edge_contexts import (
    CONFIGURATIONS,
    EVERYWHERE,
    NOWHERE,
    Context,
    Edge,
    EdgeContexts,
    classes_of,
    possible_cells,
)
from contextwise.learning.marginal_likelihood import LEAST, configurations_of, scale_of
from contextwise.learning.run import Run
from contextwise.models.features import PairIndex
from contextwise.support.arrays import BoolArray
from contextwise.support.deadline import Deadline
from contextwise.support.progress import Progress, progress_of

LEAF = -log(4)
"""Log prior of a leaf, present or absent."""


@dataclass(eq=False, repr=False, kw_only=True)
class EdgeTrees(EdgeContexts):
    """A graph whose edges have trees of contexts, by marginal pseudo-likelihood.

    A tree per edge decides where it is present. All rows under a leaf decide together, so it finds
    contexts from fewer rows than `ContextualMPL`. No edge and an edge in every context have the
    same prior probability; a test costs more the more tests there are to choose from.

    Parameters
    ----------
    prior : float
        Weight of the prior per variable, in rows, spread evenly over all cells of its table.
    depth : int
        Largest number of tests in a context of an edge.
    show_progress : bool or function
        Show a progress bar on standard error, or call a function of (done, total) for each phase.

    Attributes
    ----------
    edges_ : dict from pairs of positions to Edge
        Where each edge is present, and where it is absent.
    table_ : CountedRows
        The distinct rows.
    added_ : int
        Number of (row, pair) where the features claim a dependency whose edge is absent.

    Examples
    --------
    B and C are equal where A=0, and independent where A=1, where both are 1 more often:

    >>> ones = [[1, b, c] for b in (0, 1, 1, 1) for c in (0, 1, 1, 1)]
    >>> rows = [[0, 0, 0], [0, 1, 1]] * 80 + ones * 10
    >>> learned = EdgeTrees().fit(rows, domain={"A": 2, "B": 2, "C": 2}).structure_
    >>> learned.restrict("A=0").pairs(), learned.restrict("A=1").pairs()
    ([('B', 'C')], [])
    """

    prior: float = 1.0
    depth: int = 3
    show_progress: bool | Progress = False

    def find_edges(self, table: CountedRows, graph: BoolArray, run: Run) -> dict[PairIndex, Edge]:
        """Change the tree of one pair at a time, the best change first."""
        if self.depth < 0:
            raise DomainError(f"depth must be >= 0, got {self.depth}")
        search = _Search(table, graph, self.prior, self.depth, run.deadline)
        pairs = list(combinations(table.varying, 2))
        changes: dict[PairIndex, _Change] = {}
        with progress_of(run.show_progress, "finding contexts") as progress:
            waiting, made = set(pairs), False
            while waiting:
                for done, pair in enumerate(sorted(waiting)):
                    try:
                        changes[pair] = search.best_change(pair)
                    except run.deadline.out_of_time:
                        run.is_late()  # marks the result as unfinished
                        return dict(sorted(search.edges.items()))
                    if progress:
                        progress(len(pairs) - len(waiting) + done + 1, len(pairs))
                waiting, made = _make_best(search, changes, made)
        return dict(sorted(search.edges.items()))


def _make_best(
    search: _Search, changes: Mapping[PairIndex, _Change], made: bool
) -> tuple[set[PairIndex], bool]:
    """Make the best change; return the pairs to look at again, and whether a change was made.

    A change can block others, so at the end all pairs are looked at once more.
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
    """The leaves of a tree, its gain in score, and its log prior."""

    edge: Edge
    gain: float
    prior: float

    @property
    def value(self) -> float:
        return self.gain + self.prior


IMPOSSIBLE = _Tree(Edge([], []), -inf, 0.0)


@dataclass(frozen=True)
class _Change:
    """Another tree for a pair, and how much it gains."""

    gain: float
    tree: _Tree


Ends = Sequence[tuple[Any, int]]
"""The classes of both variables of a pair, each with the other variable."""


class _Search:
    """The current edges, and the best change of each."""

    def __init__(
        self, table: CountedRows, graph: BoolArray, prior: float, depth: int, deadline: Deadline
    ) -> None:
        self.table, self.prior, self.depth, self.deadline = table, prior, depth, deadline
        self.scale = scale_of(table)
        everywhere = [(a, b) for a, b in np.argwhere(np.triu(graph)).tolist()]
        self.edges = dict.fromkeys(everywhere, EVERYWHERE)
        self.neighbours = [set(np.flatnonzero(row).tolist()) for row in graph]
        self.involving: dict[PairIndex, list[tuple[PairIndex, Context]]] = {}
        """For each pair, the edges and their contexts whose features have both variables."""
        self.priors = dict.fromkeys(combinations(range(len(graph)), 2), LEAF)

    def make(self, pair: PairIndex, tree: _Tree) -> None:
        """Replace the tree of a pair."""
        self.edges.pop(pair, None)
        if tree.edge.present:
            self.edges[pair] = tree.edge
        for v, w in (pair, pair[::-1]):
            (self.neighbours[v].add if tree.edge.present else self.neighbours[v].discard)(w)
        self.priors[pair] = tree.prior
        self.involving = {}
        for other, edge in self.edges.items():
            for context in filter(None, edge.present):
                for implied in combinations(sorted({*other, *context}), 2):
                    if implied != other:
                        self.involving.setdefault(implied, []).append((other, context))

    def edge(self, a: int, b: int) -> Edge:
        """Return the edge of two variables, in any order."""
        return self.edges.get((min(a, b), max(a, b)), NOWHERE)

    def best_change(self, pair: PairIndex) -> _Change:
        """Return the best tree of a pair, and how much better it is than the current one."""
        blankets = [sorted(self.neighbours[v] | {w}) for v, w in (pair, pair[::-1])]
        current = self.edge(*pair)
        if any(configurations_of(self.table, b) > CONFIGURATIONS for b in blankets):
            return _Change(0.0, IMPOSSIBLE)
        ends = [
            (self.classes(v, blanket, w), w)
            for v, w, blanket in zip(pair, pair[::-1], blankets, strict=True)
        ]
        tree = self.best_tree(pair, ends)
        if not self.is_possible(pair, tree.edge):  # each leaf is, but not all together
            return _Change(0.0, IMPOSSIBLE)
        return _Change(tree.value - self.worth(ends, current.absent) - self.priors[pair], tree)

    def classes(self, variable: int, blanket: Sequence[int], other_end: int) -> Any:
        """Return the classes of a variable as if its edge to ``other_end`` were everywhere."""
        classes = classes_of(self.table, variable, blanket, self.prior)
        for other in blanket:
            if other != other_end:
                for context in self.edge(variable, other).absent:
                    classes.merge(other, context)
        return classes

    def best_tree(self, pair: PairIndex, ends: Ends) -> _Tree:
        """Return the best tree whose leaves features can express."""
        tests, known = self.tests(pair), dict[tuple[int, Any], _Tree]()

        def best(context: Context, depth: int) -> _Tree:
            # Several orders of tests lead to the same context.
            key = depth, tuple(sorted((v, tuple(values)) for v, values in context.items()))
            if key not in known:
                self.deadline.check()
                splits = list(_splits(tests, context)) if depth else []
                # A priori a node is split with probability 1/2, by each test alike.
                prior = -log(2) - log(max(1, len(splits)))
                trees = [
                    self.join(ends, best(holds, depth - 1), best(fails, depth - 1), prior)
                    for holds, fails in splits
                ]
                known[key] = self.leaf_or_best(pair, ends, context, trees)
            return known[key]

        return best({}, self.depth)

    def worth(self, ends: Ends, contexts: list[Context]) -> float:
        """Return how much both scores rise if the edge is absent in these contexts."""
        if not contexts:
            return 0.0
        gains: list[int] = [classes.gain(other, contexts) for classes, other in ends]
        return sum(gains) / self.scale

    def join(self, ends: Ends, holds: _Tree, fails: _Tree, prior: float) -> _Tree:
        """Return the tree of a test; IMPOSSIBLE if all its leaves are alike."""
        edge = Edge(holds.edge.present + fails.edge.present, holds.edge.absent + fails.edge.absent)
        if not edge.present or not edge.absent or min(holds.gain, fails.gain) == -inf:
            return IMPOSSIBLE
        return _Tree(edge, self.worth(ends, edge.absent), prior + holds.prior + fails.prior)

    def leaf_or_best(
        self, pair: PairIndex, ends: Ends, context: Context, trees: Sequence[_Tree]
    ) -> _Tree:
        """Return the best of an absent leaf, a present leaf and trees; leaves must be possible."""
        best = max([IMPOSSIBLE, *trees], key=lambda tree: tree.value)
        absent = _Tree(Edge([], [context]), self.worth(ends, [context]), LEAF)
        present = _Tree(Edge([context], []), 0.0, LEAF)
        for leaf in sorted((absent, present), key=lambda leaf: -leaf.value):
            if leaf.value >= best.value and self.is_possible(pair, leaf.edge):
                return leaf
        return best

    def is_possible(self, pair: PairIndex, edge: Edge) -> bool:
        """Return whether features can express this edge along with all others."""
        concerned = [(pair, context) for context in edge.present if context]
        if edge.absent:
            concerned += self.involving.get(pair, [])
        if not concerned:
            return True
        cards, edges = self.table.cardinalities, {**self.edges, pair: edge}
        return all(
            any(True for _ in possible_cells(cards, other, context, edges))
            for other, context in concerned
        )

    def tests(self, pair: PairIndex) -> list[tuple[int, int, int]]:
        """Return the tests of a pair: a variable, its value, and its number of values."""
        common = sorted(self.neighbours[pair[0]] & self.neighbours[pair[1]])
        cards = self.table.cardinalities
        return [(v, k, cards[v]) for v in common for k in range(cards[v] if cards[v] > 2 else 1)]


def _splits(
    tests: Sequence[tuple[int, int, int]], context: Context
) -> Iterator[tuple[Context, Context]]:
    """Yield the two sides of each test that a context leaves open."""
    for v, k, card in tests:
        values = context.get(v, list(range(card)))
        rest = [value for value in values if value != k]
        if k in values and rest:
            yield {**context, v: [k]}, {**context, v: rest}
