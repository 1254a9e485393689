"""ContextualMPL: a graph whose edges vanish in contexts, by marginal pseudo-likelihood.

Pensar, Nyman and Corander (2017), "Structure learning of contextual Markov networks using marginal
pseudo-likelihood". An edge i–j may vanish in a context of the common neighbours of i and j. There
the value of i does not matter for j: configurations of the blanket of j that agree with the context
and differ in i alone form one **class**, and likewise for i. The score of a variable is the score
of `contextwise.learning.mpl` over classes. Fewer classes have fewer parameters.

**Search.** It starts from the graph of `MPL` and adds contexts one by one, always the one that
raises the sum of the scores of both ends most. Each context is a configuration of all common
neighbours, and all sets of contexts have the same prior probability. At the end, an edge is also
absent in the configurations where the contexts of other edges have merged its classes at both ends.

**Features.** An edge that never vanishes is a table of its two variables. For any other edge, the
features are the cells of that table, combined with the literals of each cube where the edge is
present. Such a feature also makes the context's variables depend on both ends and on each other, so
cells that make a pair depend where its edge is absent are left out. If no cell remains, all are
taken, unless this adds more dependencies over the distinct rows than the contexts of the edge save;
then the edge is written without contexts. `added_` counts the added dependencies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from contextwise.comparison.compare import compare
from contextwise.data.rows import Data, by_position
from contextwise.learning.base import Learner, Run, check_prior
from contextwise.learning.counted_rows import CountedRows, not_compiled
from contextwise.learning.mpl import LEAST, best_graph, configurations_of, log_rising, scale_of
from contextwise.models.domain import Domain
from contextwise.models.factors import tables
from contextwise.models.features import PairIndex
from contextwise.models.structure import Structure, features_of
from contextwise.support.arrays import BoolArray, IntArray
from contextwise.support.effort import Progress, progress_of

if TYPE_CHECKING or not not_compiled:
    import contextwise.learning._count as _count

Context = dict[int, list[int]]
"""The allowed values of each variable it restricts."""

CONFIGURATIONS = 2**12
"""An edge gets contexts only if the blankets of its ends have at most this many configurations."""


@dataclass(frozen=True)
class Edge:
    """Disjoint contexts that cover everything: where an edge is present, and where it is absent."""

    present: list[Context]
    absent: list[Context]


EVERYWHERE, NOWHERE = Edge([{}], []), Edge([], [{}])


@dataclass(eq=False, repr=False, kw_only=True)
class ContextualMPL(Learner):
    """A graph by marginal pseudo-likelihood, then contexts in which edges vanish (Pensar et al.).

    A context is a configuration of all common neighbours of an edge. All sets of contexts have the
    same prior probability.

    Parameters
    ----------
    prior : float
        Weight of the prior per variable, in rows, spread evenly over all cells of its table.
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
    >>> learned = ContextualMPL().fit(rows, domain={"A": 2, "B": 2, "C": 2}).structure_
    >>> learned.restrict("A=0").pairs(), learned.restrict("A=1").pairs()
    ([('B', 'C')], [])
    """

    prior: float = 1.0
    show_progress: bool | Progress = False

    def learn(self, data: Data, run: Run) -> Structure:
        """Find the edges and their contexts, and make features of them."""
        self.table_ = CountedRows.of(data)
        graph, _ = best_graph(run, self.table_, check_prior(self.prior))
        self.edges_ = self._find_edges(self.table_, graph, run)
        return from_edge_contexts(data.domain, self.edges_, self.table_.rows)

    def _find_edges(self, table: CountedRows, graph: BoolArray, run: Run) -> dict[PairIndex, Edge]:
        """Add contexts to the edges of the graph, the best first."""
        blankets = [np.flatnonzero(row).tolist() for row in graph]
        small = [configurations_of(table, blanket) <= CONFIGURATIONS for blanket in blankets]
        nodes = [
            classes_of(table, v, blankets[v] if small[v] else [], self.prior)
            for v in range(len(graph))
        ]
        pairs = [(a, b) for a, b in np.argwhere(np.triu(graph)).tolist()]
        common = {(a, b): np.flatnonzero(graph[a] & graph[b]).tolist() for a, b in pairs}
        left = {
            (a, b): _configurations(table, common[a, b]) if small[a] and small[b] else []
            for a, b in pairs
        }
        absent: dict[PairIndex, list[Context]] = {pair: [] for pair in pairs}
        total, scale = sum(map(len, left.values())), scale_of(table)
        gains = {pair: _gains(nodes, pair, left[pair]) for pair in pairs}
        with progress_of(run.show_progress, "finding contexts") as progress:
            while pairs and not run.is_late():
                pair = max(pairs, key=lambda p: max(gains[p], default=0))
                if max(gains[pair], default=0) <= LEAST * scale:
                    break
                context = left[pair].pop(int(np.argmax(gains[pair])))
                absent[pair].append(context)
                for v, other in (pair, pair[::-1]):
                    nodes[v].merge(other, context)
                # Only the two variables of this pair have new classes.
                gains |= {p: _gains(nodes, p, left[p]) for p in pairs if set(p) & set(pair)}
                if progress:
                    progress(sum(map(len, absent.values())), total)
        for a, b in pairs:  # contexts of other edges can imply that this one is absent
            absent[a, b] += (
                context
                for context in left[a, b]
                if nodes[a].is_merged(b, context) and nodes[b].is_merged(a, context)
            )
        return {pair: _edge(table, common[pair], absent[pair]) for pair in pairs}

    @property
    def added_(self) -> int:
        """Number of dependencies the features add to the edges, over the distinct rows."""
        plain, rows = by_position(self._learned("structure_")), self.table_.rows
        claimed = compare(plain, Structure(plain.domain), data=rows).fn
        present = (context for edge in self.edges_.values() for context in edge.present)
        return int(claimed) - sum(int(_holds(rows, context).sum()) for context in present)


# -- contexts --------------------------------------------------------------------------------------


def _configurations(table: CountedRows, common: Sequence[int]) -> list[Context]:
    if not common:
        return []
    values = product(*(range(table.cardinalities[v]) for v in common))
    return [{v: [k] for v, k in zip(common, codes, strict=True)} for codes in values]


def _gains(nodes: Sequence[Any], pair: PairIndex, contexts: Sequence[Context]) -> list[int]:
    """Return how much both scores rise together if the edge vanishes in each context."""
    a, b = pair
    return [nodes[a].gain(b, [context]) + nodes[b].gain(a, [context]) for context in contexts]


def _edge(table: CountedRows, common: Sequence[int], absent: Sequence[Context]) -> Edge:
    """Return the edge that is absent in these configurations of the common neighbours."""
    if not absent:
        return EVERYWHERE
    present = np.ones([table.cardinalities[v] for v in common], dtype=bool)
    for context in absent:
        present[tuple(context[v][0] for v in common)] = False
    everything = {v: list(range(table.cardinalities[v])) for v in common}
    edge = Edge([], [])
    for context, is_present in _cubes(present, common, everything):
        (edge.present if is_present else edge.absent).append(context)
    return edge


def _cubes(
    where: BoolArray, axes: Sequence[int], inside: Context
) -> Iterator[tuple[Context, bool]]:
    """Yield disjoint contexts of equal cells, by splits that leave few exceptions."""
    part = where[np.ix_(*(np.array(inside[v]) for v in axes))]
    if part.all() or not part.any():
        full = dict(zip(axes, where.shape, strict=True))
        yield {v: k for v, k in inside.items() if len(k) < full[v]}, bool(part.all())
        return
    splits = []
    for axis, v in enumerate(axes):
        slices: dict[bytes, list[int]] = {}  # the values with equal cells
        exceptions = 0  # cells that differ from the majority of their slice
        for place, value in enumerate(inside[v]):
            cells = part.take(place, axis=axis)
            slices.setdefault(cells.tobytes(), []).append(value)
            exceptions += min(int(cells.sum()), int((~cells).sum()))
        if len(slices) > 1:
            splits.append((exceptions, axis, list(slices.values())))
    _, axis, groups = min(splits)
    for values in groups:
        yield from _cubes(where, axes, {**inside, axes[axis]: values})


# -- classes of configurations ---------------------------------------------------------------------


class Classes:
    """The configurations of a blanket in classes, with the counts of the target in each.

    A line is a set of configurations that differ in one variable only. Scores are whole numbers, in
    units of 1 / `scale_of`.
    """

    def __init__(
        self, table: CountedRows, target: int, blanket: Sequence[int], prior: float
    ) -> None:
        self.blanket, self.scale = tuple(blanket), scale_of(table)
        self.values = table.cardinalities[target]
        shape = [table.cardinalities[v] for v in blanket]
        size = prod(shape)
        columns = table.rows[:, [*blanket, target]].T
        codes = np.ravel_multi_index(tuple(columns), (*shape, self.values))
        cells = np.bincount(codes, table.counts, size * self.values)
        self.labels: IntArray = np.arange(size).reshape(shape)
        self.counts: IntArray = cells.reshape(size, self.values).astype(np.int64)
        self.sizes = np.ones(size, dtype=np.int64)
        # Each configuration has an equal part of the prior.
        self.weight = prior / size
        self.scores = self._scores(self.counts, self.sizes)

    def gain(self, other: int, contexts: Sequence[Context]) -> int:
        """Return how much the score rises if lines along ``other`` inside contexts are merged."""
        lines = np.concatenate([self._lines(other, context) for context in contexts])
        members, groups = _joined(lines)
        if not len(members):
            return 0
        return int(self._scores(*self._sums(members, groups)).sum() - self.scores[members].sum())

    def merge(self, other: int, context: Context) -> None:
        """Merge each line along ``other`` inside a context into one class."""
        members, groups = _joined(self._lines(other, context))
        if not len(members):
            return
        counts, sizes = self._sums(members, groups)
        firsts = members[np.unique(groups, return_index=True)[1]]
        to = np.arange(len(self.sizes))
        to[members] = firsts[groups]
        self.labels = to[self.labels]
        self.counts[members], self.sizes[members], self.scores[members] = 0, 0, 0
        self.counts[firsts], self.sizes[firsts] = counts, sizes
        self.scores[firsts] = self._scores(counts, sizes)

    def is_merged(self, other: int, context: Context) -> bool:
        """Return whether each line along ``other`` inside a context is one class."""
        lines = self._lines(other, context)
        return bool((lines == lines[:, :1]).all())

    def total(self) -> int:
        """Return the score of the target given the classes."""
        return int(self.scores.sum())

    def _lines(self, other: int, context: Context) -> IntArray:
        """Return the classes of each line, one row per line; ignore other variables."""
        labels = self.labels
        for axis, v in enumerate(self.blanket):
            if v in context:
                labels = labels.take(context[v], axis=axis)
        moved = np.moveaxis(labels, self.blanket.index(other), -1)
        return np.asarray(moved.reshape(-1, moved.shape[-1]))

    def _scores(self, counts: IntArray, sizes: IntArray) -> IntArray:
        weights = self.weight * sizes
        parts = log_rising(weights[:, None] / self.values, counts, self.scale).sum(axis=1)
        return np.asarray(parts - log_rising(weights, counts.sum(axis=1), self.scale))

    def _sums(self, members: IntArray, groups: IntArray) -> tuple[IntArray, IntArray]:
        counts = np.zeros((int(groups.max()) + 1, self.values), dtype=np.int64)
        np.add.at(counts, groups, self.counts[members])
        return counts, np.bincount(groups, self.sizes[members]).astype(np.int64)


def _joined(lines: IntArray) -> tuple[IntArray, IntArray]:
    """Return the labels that lines connect with others, and the group of each."""
    parent: dict[int, int] = {}

    def root(label: int) -> int:
        while parent.setdefault(label, label) != label:
            # Path halving; Python assigns the left target first, with the old label.
            parent[label] = label = parent[parent[label]]
        return label

    for line in lines.tolist():
        first = root(line[0])
        for label in line[1:]:
            parent[root(label)] = first
    members = np.array(sorted(parent), dtype=np.int64)
    roots = np.array([root(label) for label in members.tolist()], dtype=np.int64)
    _, groups, sizes = np.unique(roots, return_inverse=True, return_counts=True)
    joined = sizes[groups] > 1
    return members[joined], np.unique(groups[joined], return_inverse=True)[1]


def classes_of(
    table: CountedRows, target: int, blanket: Sequence[int], prior: float
) -> Classes | _count.Classes:
    """Return one class per configuration of a blanket, compiled where that is available."""
    if table.compiled is None:
        return Classes(table, target, blanket, prior)
    return _count.Classes(table.compiled, target, list(blanket), prior, scale_of(table))


# -- from edges to features ------------------------------------------------------------------------


def from_edge_contexts(
    domain: Domain, edges: Mapping[PairIndex, Edge], rows: IntArray
) -> Structure:
    """Return the features of edges, and of the variables without an edge in all contexts.

    Rows decide whether the contexts of an edge add fewer dependencies than they save.

    >>> edges = {(0, 1): Edge([{2: [0]}], [{2: [1]}]), (0, 2): EVERYWHERE, (1, 2): EVERYWHERE}
    >>> rows = np.array([[0, 0, 0], [0, 0, 1]])
    >>> structure = from_edge_contexts(Domain({"A": 2, "B": 2, "C": 2}), edges, rows)
    >>> structure.restrict("C=0").pairs(), structure.restrict("C=1").pairs()
    ([('A', 'B')], [])
    """
    if all(edge == EVERYWHERE for edge in edges.values()):
        joined = {v for pair in edges for v in pair}
        alone = [(v,) for v in range(len(domain)) if v not in joined]
        return tables(domain, [*alone, *edges])
    free = {v for pair, edge in edges.items() if edge == EVERYWHERE for v in pair}
    features: list[Context] = [
        {v: [k]}
        for v, card in enumerate(domain.cardinalities)
        if v not in free
        for k in range(card)
    ]
    for pair in edges:
        features += _edge_features(domain.cardinalities, pair, edges, rows)
    literals = (
        [(v, sum(1 << k for k in values)) for v, values in feature.items()] for feature in features
    )
    return Structure(domain, features_of(domain, literals))


def _edge_features(
    cards: Sequence[int], pair: PairIndex, edges: Mapping[PairIndex, Edge], rows: IntArray
) -> list[Context]:
    """Return the features of an edge, without its contexts if those add too many dependencies."""
    saved = sum(int(_holds(rows, context).sum()) for context in edges[pair].absent)
    features: list[Context] = []
    added = 0
    for context in edges[pair].present:
        cells = list(possible_cells(cards, pair, context, edges))
        if not cells:  # count the dependencies that all cells add, over rows
            cells = [{**context, **cell} for cell in _cells(cards, pair)]
            for other, where in _other_absent(pair, context, edges):
                rest = {v: values for v, values in context.items() if v not in other}
                added += int((_holds(rows, rest) & _holds(rows, where)).sum())
        features += cells
    return features if added <= saved else list(_cells(cards, pair))


def possible_cells(
    cards: Sequence[int], pair: PairIndex, context: Context, edges: Mapping[PairIndex, Edge]
) -> Iterator[Context]:
    """Yield the features of an edge in a context that claim no dependency where it is absent."""
    absent = list(_other_absent(pair, context, edges))
    if any(not where for _, where in absent):  # a pair without an edge: nothing is possible
        return
    for cell in _cells(cards, pair):
        feature = {**context, **cell}
        if not any(_meet(feature, where, other) for other, where in absent):
            yield feature


def _other_absent(
    pair: PairIndex, context: Context, edges: Mapping[PairIndex, Edge]
) -> Iterator[tuple[PairIndex, Context]]:
    """Yield where the other pairs of an edge's ends and its context are absent."""
    for other in combinations(sorted({*pair, *context}), 2):
        if other != pair:
            yield from ((other, where) for where in edges.get(other, NOWHERE).absent)


def _cells(cards: Sequence[int], pair: PairIndex) -> Iterator[Context]:
    a, b = pair
    return ({a: [k], b: [m]} for k in range(cards[a]) for m in range(cards[b]))


def _meet(first: Context, second: Context, ignored: PairIndex) -> bool:
    """Return whether two contexts can hold together, ignoring the variables of a pair."""
    return all(
        not set(values).isdisjoint(second[v])
        for v, values in first.items()
        if v in second and v not in ignored
    )


def _holds(rows: IntArray, context: Context) -> BoolArray:
    """Return in which rows a context holds."""
    holds = np.ones(len(rows), dtype=bool)
    for v, values in context.items():
        holds &= np.isin(rows[:, v], values)
    return holds
