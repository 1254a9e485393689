"""ContextualMPL: edges of a graph by marginal pseudo-likelihood vanish in contexts.

From Pensar, Nyman and Corander (2017), "Structure learning of contextual Markov networks
using marginal pseudo-likelihood". An edge i–j may vanish in a context of the common
neighbours of i and j. There the value of i does not matter for j: configurations of the blanket of
j that agree with the context and differ in i alone form one **class**, and likewise for i. The
score of a variable is that of `contextwise.learning.marginal_likelihood`, over classes. Fewer
classes have fewer parameters.

The search starts from the graph of `MPL` and adds contexts one by one, always the one that raises
the sum of the scores of both ends most. Each context is a configuration of all common neighbours,
and all sets of contexts have the same prior probability. At the end, an edge is also absent in the
configurations where the contexts of other edges have merged its classes at both ends.

An edge that never vanishes is a table of its two variables. For any other edge, the features are
the cells of that table, combined with the literals of each cube where the edge is present. Such a
feature also makes the context's variables depend on both ends and on each other, so cells that make
a pair depend where its edge is absent are left out. If no cell remains, all are taken, unless this
adds more dependencies over the distinct rows than the contexts of the edge save; then the edge is
written without contexts. `added_` counts the added dependencies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

from contextwise.data.rows import Data
from contextwise.evidence.counted_rows import CountedRows
from contextwise.learning.base import Learner, Run, check_prior
from contextwise.learning.graphs import claimed_dependencies
from contextwise.models.domain import Domain
from contextwise.models.factors import tables
from contextwise.models.features import PairIndex
from contextwise.models.structure import Structure, features_of
from contextwise.support.arrays import BoolArray, IntArray
from contextwise.support.effort import progress_of

if TYPE_CHECKING:
    from contextwise.evidence import _count

from contextwise.learning.marginal_likelihood import (
    LEAST_GAIN_IN_NATS,
    best_graph,
    configurations_of,
    scale_of,
)

Context = dict[int, list[int]]
"""The allowed values of each variable it restricts."""
Configuration = dict[int, int]
"""The value of each common neighbour of an edge."""

CONFIGURATIONS = 2**12
"""An edge gets contexts only if the blankets of its ends have at most this many configurations."""


@dataclass(frozen=True)
class EdgeContexts:
    """Disjoint contexts that cover everything: where an edge is present, and where it is absent."""

    present: list[Context]
    absent: list[Context]


EVERYWHERE, NOWHERE = EdgeContexts([{}], []), EdgeContexts([], [{}])


@dataclass(eq=False, repr=False, kw_only=True)
class ContextualMPL(Learner):
    """A graph by marginal pseudo-likelihood, then contexts in which edges vanish (Pensar et al.).

    A context is a configuration of all common neighbours of an edge. All sets of contexts have the
    same prior probability.

    Parameters
    ----------
    prior : float
        Weight of the prior per variable, in rows, spread evenly over all cells of its table.

    Attributes
    ----------
    edges_ : dict from pairs of positions to EdgeContexts
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

    def learn(self, data: Data, run: Run) -> Structure:
        """Find the edges and their contexts, and make features of them."""
        self.table_ = CountedRows.of(data)
        graph, _ = best_graph(run, self.table_, check_prior(self.prior))
        self.edges_ = self._find_edges(self.table_, graph, run)
        return from_edge_contexts(data.domain, self.edges_, self.table_.rows)

    def _find_edges(
        self, table: CountedRows, graph: BoolArray, run: Run
    ) -> dict[PairIndex, EdgeContexts]:
        """Add contexts to the edges of the graph, the best first."""
        blankets = [np.flatnonzero(row).tolist() for row in graph]
        small = [configurations_of(table, blanket) <= CONFIGURATIONS for blanket in blankets]
        counted, scale = table.need_compiled("contextual-mpl"), scale_of(table)
        nodes = [
            counted.classes(v, blankets[v] if small[v] else [], self.prior, scale)
            for v in range(len(graph))
        ]
        pairs = [(a, b) for a, b in np.argwhere(np.triu(graph)).tolist()]
        common = {(a, b): np.flatnonzero(graph[a] & graph[b]).tolist() for a, b in pairs}
        left = {
            (a, b): _configurations(table, common[a, b]) if small[a] and small[b] else []
            for a, b in pairs
        }
        absent: dict[PairIndex, list[Configuration]] = {pair: [] for pair in pairs}
        total = sum(map(len, left.values()))
        gains = {pair: _gains(nodes, pair, left[pair]) for pair in pairs}
        with progress_of(run.show_progress, "finding contexts") as progress:
            while pairs and not run.is_late():
                pair = max(pairs, key=lambda p: max(gains[p], default=0))
                if max(gains[pair], default=0) <= LEAST_GAIN_IN_NATS * scale:
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
        claimed = claimed_dependencies(self._learned("structure_"), self.table_.rows)
        present = (context for edge in self.edges_.values() for context in edge.present)
        return claimed - sum(int(_holds(self.table_.rows, context).sum()) for context in present)


def _configurations(table: CountedRows, common: Sequence[int]) -> list[Configuration]:
    if not common:
        return []
    values = product(*(range(table.cardinalities[v]) for v in common))
    return [dict(zip(common, codes, strict=True)) for codes in values]


def _gains(
    nodes: Sequence[_count.Classes], pair: PairIndex, contexts: Sequence[Configuration]
) -> list[int]:
    """Return how much both scores rise together if the edge vanishes in each context."""
    a, b = pair
    return [nodes[a].gain(b, context) + nodes[b].gain(a, context) for context in contexts]


def _edge(
    table: CountedRows, common: Sequence[int], absent: Sequence[Configuration]
) -> EdgeContexts:
    """Return the edge that is absent in these configurations of the common neighbours."""
    if not absent:
        return EVERYWHERE
    present = np.ones([table.cardinalities[v] for v in common], dtype=bool)
    for configuration in absent:
        present[tuple(configuration[v] for v in common)] = False
    everything = {v: list(range(table.cardinalities[v])) for v in common}
    edge = EdgeContexts([], [])
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


# -- from edges to features ------------------------------------------------------------------------


def from_edge_contexts(
    domain: Domain, edges: Mapping[PairIndex, EdgeContexts], rows: IntArray
) -> Structure:
    """Return the features of edges, and of the variables without an edge in all contexts.

    Rows decide whether the contexts of an edge add fewer dependencies than they save.

    >>> switched = EdgeContexts([{2: [0]}], [{2: [1]}])
    >>> edges = {(0, 1): switched, (0, 2): EVERYWHERE, (1, 2): EVERYWHERE}
    >>> rows = np.array([[0, 0, 0], [0, 0, 1]])
    >>> structure = from_edge_contexts(Domain({"A": 2, "B": 2, "C": 2}), edges, rows)
    >>> structure.restrict("C=0").pairs(), structure.restrict("C=1").pairs()
    ([('A', 'B')], [])
    """
    if all(edge == EVERYWHERE for edge in edges.values()):  # or refuse tables that are too large
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
    cards: Sequence[int], pair: PairIndex, edges: Mapping[PairIndex, EdgeContexts], rows: IntArray
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
    cards: Sequence[int], pair: PairIndex, context: Context, edges: Mapping[PairIndex, EdgeContexts]
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
    pair: PairIndex, context: Context, edges: Mapping[PairIndex, EdgeContexts]
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
