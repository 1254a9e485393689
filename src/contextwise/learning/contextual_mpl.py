"""Graphs whose edges vanish in contexts, by marginal pseudo-likelihood: `ContextualMPL`.

An edge i–j of a graph may vanish in a context of the common neighbours of i and j. There the value
of i does not matter for j: configurations of the blanket of j that agree with the context and
differ in i alone are one **class**, and so are those of i that differ in j alone. The score of a
variable is that of `contextwise.learning.mpl` over classes: fewer classes, fewer
parameters. A context is worth having if the sum of the scores of i and j rises.

`ContextualMPL` (Pensar, Nyman and Corander 2017, "Structure learning of contextual Markov networks
using marginal pseudo-likelihood"): the graph is that of `MPL`; then contexts are added one by one,
each a configuration of all common neighbours, always the one that raises the score most. Prior: all
sets of contexts are equally likely.

`contextwise.learning.edge_trees` decides about many configurations together.

**Features.** An edge that never vanishes is a table of its two variables. One that vanishes is
cells of that table with the literals of each cube where it is there. Such a feature also makes the
context's variables depend on both ends and on each other, there; cells that make a pair depend
where its edge is absent are left out. Where no cell is left, all are taken, unless this adds more
dependencies, over the distinct rows, than the contexts of the edge save; then the edge is written
without them. `added_` of the learners counts what features add, over the distinct rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from contextwise.comparison.compare import compare
from contextwise.data.rows import Data, by_position
from contextwise.learning.base import Learner
from contextwise.learning.chow_liu import check_prior
from contextwise.learning.independence_test import BoolArray, Table, pairs_of, table_of
from contextwise.learning.mpl import LEAST, Classes, best_graph
from contextwise.models.domain import Domain
from contextwise.models.features import IntArray, PairIndex
from contextwise.models.literals import features_of
from contextwise.models.structure import Structure
from contextwise.support.progress import Progress, progress_of

Context = dict[int, list[int]]
"""For each variable it tests, the values it allows."""

CONFIGURATIONS = 2**12
"""An edge gets contexts only while the blankets of its ends have no more configurations."""


@dataclass(frozen=True)
class Edge:
    """Where an edge is, and where it is not: contexts that are disjoint and cover everything."""

    present: list[Context]
    absent: list[Context]


EVERYWHERE, NOWHERE = Edge([{}], []), Edge([], [{}])


class EdgeContexts(Learner):
    """What learners of edges with contexts share: from edges to features, and what that adds."""

    prior: float
    show_progress: bool | Progress
    table_: Table
    edges_: dict[PairIndex, Edge]

    def learn(self, data: Data) -> Structure:
        """Find the edges and their contexts, and make features of them."""
        self.table_ = table_of(data)
        graph, _ = best_graph(self.table_, check_prior(self.prior), self.show_progress)
        self.edges_ = self.find_edges(self.table_, graph)
        return from_edge_contexts(data.domain, self.edges_, self.table_.rows)

    def find_edges(self, table: Table, graph: BoolArray) -> dict[PairIndex, Edge]:
        """The edges with their contexts, from those of a graph: what a subclass writes."""
        raise NotImplementedError

    @property
    def added_(self) -> int:
        """How many dependencies the features add to those of the edges, over the distinct rows."""
        plain, rows = by_position(self._learned("structure_")), self.table_.rows
        claimed = compare(plain, Structure(plain.domain), data=rows).fn
        own = sum(int(_holds(rows, c).sum()) for e in self.edges_.values() for c in e.present)
        return int(claimed) - own


class ContextualMPL(EdgeContexts):
    """A graph by marginal pseudo-likelihood, then contexts in which edges vanish (Pensar et al.).

    Every set of contexts is equally likely beforehand; a context is a configuration of all common
    neighbours of an edge.

    Parameters
    ----------
    prior : float
        How many rows the prior counts per variable, spread evenly over all cells of its table.
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
    >>> found = ContextualMPL().fit(rows, domain={"A": 2, "B": 2, "C": 2}).structure_
    >>> found.restrict("A=0").pairs(), found.restrict("A=1").pairs()
    ([('B', 'C')], [])
    """

    name = "contextual-mpl"

    def __init__(self, *, prior: float = 1.0, show_progress: bool | Progress = False) -> None:
        self.prior = prior
        self.show_progress = show_progress

    def find_edges(self, table: Table, graph: BoolArray) -> dict[PairIndex, Edge]:
        """Add contexts to the edges of the graph, the best one first."""
        nodes = _node_classes(table, graph, self.prior)
        pairs = [(a, b) for a, b in np.argwhere(np.triu(graph)).tolist()]
        left = {pair: _configurations(table, graph, pair) for pair in pairs}
        absent: dict[PairIndex, list[Context]] = {pair: [] for pair in pairs}
        total = sum(map(len, left.values()))
        gains = {pair: _gains(nodes, pair, left[pair]) for pair in pairs}
        with progress_of(self.show_progress, "finding contexts") as progress:
            while True:
                pair = max(pairs, key=lambda p: max(gains[p], default=0.0), default=None)
                if pair is None or max(gains[pair], default=0.0) <= LEAST:
                    break
                context = left[pair].pop(int(np.argmax(gains[pair])))
                absent[pair].append(context)
                for v, other in (pair, pair[::-1]):
                    nodes[v].merge(nodes[v].lines(other, context))
                near = [p for p in pairs if set(p) & set(pair)]
                gains |= {p: _gains(nodes, p, left[p]) for p in near}
                if progress:
                    progress(sum(map(len, absent.values())), total)
        for pair in pairs:
            absent[pair] += (own for own in left[pair] if _vanishes(nodes, pair, own))
        return {pair: _edge(table, graph, pair, absent[pair]) for pair in pairs}


def _node_classes(table: Table, graph: BoolArray, prior: float) -> list[Classes]:
    """The classes of each variable, one per configuration of its neighbours."""
    blankets = [np.flatnonzero(own).tolist() for own in graph]
    small = [b if configurations_of(table, b) <= CONFIGURATIONS else [] for b in blankets]
    return [Classes(table, v, blanket, prior) for v, blanket in enumerate(small)]


def configurations_of(table: Table, variables: Sequence[int]) -> int:
    """How many configurations some variables have."""
    return prod(table.cardinalities[v] for v in variables)


def _common(graph: BoolArray, pair: PairIndex) -> list[int]:
    return np.flatnonzero(graph[pair[0]] & graph[pair[1]]).tolist()


def _configurations(table: Table, graph: BoolArray, pair: PairIndex) -> list[Context]:
    """The configurations of the common neighbours, if there are any and not too many."""
    common = _common(graph, pair)
    blankets = [np.flatnonzero(graph[v]).tolist() for v in pair]
    if not common or any(
        configurations_of(table, blanket) > CONFIGURATIONS for blanket in blankets
    ):
        return []
    values = product(*(range(table.cardinalities[v]) for v in common))
    return [{v: [k] for v, k in zip(common, own, strict=True)} for own in values]


def _gains(nodes: Sequence[Classes], pair: PairIndex, contexts: Sequence[Context]) -> list[float]:
    """By how much the two scores rise together if the edge vanishes in each context."""
    return [
        sum(nodes[v].gain(nodes[v].lines(other, context)) for v, other in (pair, pair[::-1]))
        for context in contexts
    ]


def _vanishes(nodes: Sequence[Classes], pair: PairIndex, context: Context) -> bool:
    """Whether the classes say already that an edge is absent: contexts of others can imply it."""
    return all(
        (lines == lines[:, :1]).all()
        for lines in (nodes[v].lines(other, context) for v, other in (pair, pair[::-1]))
    )


def _edge(table: Table, graph: BoolArray, pair: PairIndex, absent: Sequence[Context]) -> Edge:
    """The edge that is absent in these configurations of the common neighbours, as few cubes."""
    common = _common(graph, pair)
    if not absent:
        return EVERYWHERE
    present = np.ones([table.cardinalities[v] for v in common], dtype=bool)
    for context in absent:
        present[tuple(context[v][0] for v in common)] = False
    everything = {v: list(range(table.cardinalities[v])) for v in common}
    found = Edge([], [])
    for context, there in _cubes(present, common, everything):
        (found.present if there else found.absent).append(context)
    return found


def _cubes(
    where: BoolArray, axes: Sequence[int], inside: Context
) -> Iterator[tuple[Context, bool]]:
    """Disjoint contexts in which all cells are equal, by splits that leave few exceptions."""
    part = where[np.ix_(*(np.array(inside[v]) for v in axes))]
    if part.all() or not part.any():
        full = dict(zip(axes, where.shape, strict=True))
        yield {v: own for v, own in inside.items() if len(own) < full[v]}, bool(part.all())
        return
    splits = [(v, _slices(part, axis, inside[v])) for axis, v in enumerate(axes)]
    v, slices = min((s for s in splits if len(s[1]) > 1), key=lambda s: _exceptions(s[1]))
    for values, _ in slices:
        yield from _cubes(where, axes, {**inside, v: values})


def _slices(part: BoolArray, axis: int, values: Sequence[int]) -> list[tuple[list[int], BoolArray]]:
    """The values of one axis, those with equal slices together, and the slice."""
    found: dict[bytes, tuple[list[int], BoolArray]] = {}
    for place, value in enumerate(values):
        own = np.asarray(part.take(place, axis=axis))
        found.setdefault(own.tobytes(), ([], own))[0].append(value)
    return list(found.values())


def _exceptions(slices: Sequence[tuple[list[int], BoolArray]]) -> int:
    """How many cells differ from most of their slice."""
    return sum(len(v) * min(int(own.sum()), int((~own).sum())) for v, own in slices)


# -- from edges to features ------------------------------------------------------------------------


def from_edge_contexts(
    domain: Domain, edges: Mapping[PairIndex, Edge], rows: IntArray
) -> Structure:
    """The cells of each edge, where it is present; variables without an edge have their own.

    Parameters
    ----------
    domain : Domain
    edges : mapping from pairs of positions to Edge
    rows : int array
        Over these rows it is counted whether the contexts of an edge add less than they save.

    Examples
    --------
    >>> edges = {(0, 1): Edge([{2: [0]}], [{2: [1]}]), (0, 2): EVERYWHERE, (1, 2): EVERYWHERE}
    >>> rows = np.array([[0, 0, 0], [0, 0, 1]])
    >>> found = from_edge_contexts(Domain({"A": 2, "B": 2, "C": 2}), edges, rows)
    >>> found.restrict("C=0").pairs(), found.restrict("C=1").pairs()
    ([('A', 'B')], [])
    """
    joined = {v for pair in edges for v in pair}
    features: list[Context] = [
        {v: [k]}
        for v, card in enumerate(domain.cardinalities)
        if v not in joined
        for k in range(card)
    ]
    for pair in edges:
        features += _edge_features(domain.cardinalities, pair, edges, rows)
    return Structure(domain, features_of(domain, map(_literals, features)))


def _edge_features(
    cards: Sequence[int], pair: PairIndex, edges: Mapping[PairIndex, Edge], rows: IntArray
) -> list[Context]:
    """The features of an edge: with its contexts, or without if that adds fewer dependencies."""
    saved = sum(int(_holds(rows, context).sum()) for context in edges[pair].absent)
    features: list[Context] = []
    added = 0
    for context in edges[pair].present:
        cells = list(possible_cells(cards, pair, context, edges))
        if not cells:
            cells = [{**context, **cell} for cell in _cells(cards, pair)]
            added += _added(pair, context, edges, rows)
        features += cells
    return features if added <= saved else list(_cells(cards, pair))


def possible_cells(
    cards: Sequence[int], pair: PairIndex, context: Context, edges: Mapping[PairIndex, Edge]
) -> Iterator[Context]:
    """The features of an edge in a context that make no pair depend where it is absent.

    Parameters
    ----------
    cards : sequence of int
        How many values each variable has.
    pair : the ends of the edge
    context : where it is present
    edges : mapping from pairs of positions to Edge
    """
    others = [two for two in pairs_of({*pair, *context}) if two != pair]
    absent = [(two, where) for two in others for where in edges.get(two, NOWHERE).absent]
    for cell in _cells(cards, pair):
        feature = {**context, **cell}
        if not any(_meet(feature, where, two) for two, where in absent):
            yield feature


def _cells(cards: Sequence[int], pair: PairIndex) -> Iterator[Context]:
    a, b = pair
    return ({a: [k], b: [m]} for k in range(cards[a]) for m in range(cards[b]))


def _meet(one: Context, other: Context, but: PairIndex) -> bool:
    """Whether two contexts can hold together, whatever the values of a pair."""
    return all(
        not set(values).isdisjoint(other[v])
        for v, values in one.items()
        if v in other and v not in but
    )


def _added(
    pair: PairIndex, context: Context, edges: Mapping[PairIndex, Edge], rows: IntArray
) -> int:
    """How many dependencies all features of an edge in a context add, over rows."""
    added = 0
    for two in pairs_of({*pair, *context}):
        if two != pair:
            reached = _holds(rows, {v: own for v, own in context.items() if v not in two})
            absent = edges.get(two, NOWHERE).absent
            added += sum(int((reached & _holds(rows, other)).sum()) for other in absent)
    return added


def _literals(context: Context) -> list[tuple[int, int]]:
    return [(v, sum(1 << k for k in values)) for v, values in context.items()]


def _holds(rows: IntArray, context: Context) -> BoolArray:
    """In which rows a context holds."""
    found = np.ones(len(rows), dtype=bool)
    for v, values in context.items():
        found &= np.isin(rows[:, v], values)
    return found
