"""Shares of contexts in which pairs depend, as floats, and the edges that a graph shows.

A comparison counts exactly, in numbers of hundreds of digits; pictures need floats. `Shares` has
them for all pairs. An `Edge` is one pair: ``tp`` is the share of its contexts in which both models
have the dependence, ``fp`` and ``fn`` those in which only the guess or only the true model has it.
`select_edges` chooses the edges that one picture can hold.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np

from contextwise.comparison.compare import Comparison
from contextwise.comparison.confusion import Number, ratio
from contextwise.comparison.question import Pair
from contextwise.comparison.roles import ALONE, TRUE_AND_GUESS, Agreement, Roles
from contextwise.counting.pair_counts import CountArray
from contextwise.errors import TooLargeError
from contextwise.report.layout import Positions, graph_layout
from contextwise.support.arrays import FloatArray, IntArray
from contextwise.support.formatting import name as short
from contextwise.support.formatting import percent

SMALLEST = float(np.finfo(np.float32).smallest_subnormal)
LARGEST = float(np.nextafter(np.float32(1), np.float32(0)))
"""The least share that is not 0 and the largest that is not 1 in the browser's short floats."""
Which = Literal["differences", "strongest", "all"]  # the edges that a graph shows
MOST_EDGES = 40
MOST_NODES = 40  # the most edges and variables that can be read in one picture


class Edge(NamedTuple):
    """A pair that depends somewhere, with the share of its contexts of each kind."""

    pair: Pair
    tp: float
    fp: float
    fn: float
    roles: Roles = TRUE_AND_GUESS

    @property
    def errors(self) -> float:
        return self.fp + self.fn

    def kinds(self) -> list[tuple[Agreement, float]]:
        shares: dict[Agreement, float] = {"tp": self.tp, "fp": self.fp, "fn": self.fn}
        return [(kind, share) for kind, share in shares.items() if share]


@dataclass(frozen=True, eq=False)
class Shares:
    """The shares of the pairs that a feature covers; NaN where a time limit left a pair open."""

    names: tuple[str, ...]
    pairs: IntArray  # positions of the variables, shape (p, 2)
    tp: FloatArray
    fp: FloatArray
    fn: FloatArray
    roles: Roles = TRUE_AND_GUESS

    def edge(self, k: int) -> Edge:
        first, second = self.pairs[k].tolist()
        names = (self.names[first], self.names[second])
        tp, fp, fn = (float(values[k]) for values in (self.tp, self.fp, self.fn))
        return Edge(names, tp, fp, fn, self.roles)

    def edges(self) -> list[Edge]:
        """Return the finished pairs that depend somewhere, in the order of the domain."""
        somewhere = np.nan_to_num(self.tp + self.fp + self.fn) > 0
        return [self.edge(k) for k in np.flatnonzero(somewhere).tolist()]

    def open_pairs(self) -> int:
        return int(np.isnan(self.tp).sum())


def _inside(count: Number, size: Number) -> float:
    """Divide exact numbers; only none is 0, and only all are 1."""
    if count in (0, size):
        return float(count == size != 0)
    return min(max(ratio(count, size), SMALLEST), LARGEST)


def shares_of(comparison: Comparison, roles: Roles | None = None) -> Shares:
    """Divide the counts of each pair by its contexts.

    With the roles `ALONE`, the second model has no features, and the first one is shown.
    """

    def divided(counts: CountArray) -> FloatArray:
        both = zip(counts.tolist(), comparison.unit_sizes.tolist(), strict=True)
        shares = np.fromiter((_inside(*each) for each in both), np.float64, len(counts))
        shares[comparison.unions.open_places] = np.nan
        return shares

    tp, fn, fp = (divided(comparison.unit_counts[:, k]) for k in range(3))
    words = comparison.roles if roles is None else roles
    if words == ALONE:
        tp, fn = fn, tp
    return Shares(comparison.domain.names, comparison.pairs, tp, fp, fn, words)


def edges_of(comparison: Comparison, roles: Roles | None = None) -> list[Edge]:
    return shares_of(comparison, roles).edges()


def neighbours(shares: Shares, name: str) -> list[Edge]:
    """Return the pairs of one variable, which comes first in each, the largest errors first."""
    places = np.flatnonzero((shares.pairs == shares.names.index(name)).any(axis=1)).tolist()
    edges = [
        edge if edge.pair[0] == name else edge._replace(pair=(name, edge.pair[0]))
        for edge in map(shares.edge, places)
        if edge.tp + edge.errors > 0
    ]
    return sorted(edges, key=lambda edge: (-edge.errors, -edge.tp))


# -- the edges of a graph ------------------------------------------------------------------------


class Selection(NamedTuple):
    """The edges that a picture shows, largest shares first, ``of`` those to choose from."""

    edges: tuple[Edge, ...]
    of: int
    which: Which
    around: tuple[str, ...] = ()
    min_share: float = 0.0

    @property
    def nodes(self) -> tuple[str, ...]:
        """The variables of the edges and those they are drawn around."""
        return tuple(dict.fromkeys([*self.around, *(n for e in self.edges for n in e.pair)]))

    @property
    def description(self) -> str:
        count, differ = len(self.edges), self.which == "differences"
        one, several = ("difference", "differences") if differ else ("dependency", "dependencies")
        if count == self.of:
            few = {0: f"no {one}", 1: f"the only {one}", 2: f"both {several}"}
            text = few.get(count, f"all {count:,} {several}")
        else:
            text = f"{count} of {self.of:,} {several}"
        if self.around:
            text += f" of {' and '.join(map(short, self.around))}"
        if self.min_share:
            text += f" in at least {percent(Fraction(self.min_share), 1)} of contexts"
        if count < self.of:
            text += f", {'the largest' if differ else 'those in the most contexts'} first"
        return text


def select_edges(
    edges: Sequence[Edge],
    *,
    which: Which | None = None,
    around: Collection[str] = (),
    min_share: float = 0.0,
    most_edges: int = MOST_EDGES,
    most_nodes: int = MOST_NODES,
) -> Selection:
    """Choose the edges that a graph shows: the largest shares first, as many as can be read.

    ``which`` is by default "differences", or with ``around`` "strongest".

    - "differences" ranks edges by the share of contexts in which the models differ, and leaves out
      those on which they agree.
    - "strongest" ranks by the share of contexts in which either model depends.
    - "all" takes every edge, and raises `TooLargeError` if they are too many to be read.

    ``around`` keeps only edges of these variables, ``min_share`` only edges whose share, as ranked,
    is at least this. Of equal edges, those of variables with larger edges come first.
    """
    which = which or ("strongest" if around else "differences")
    ranked = [
        edge
        for share, edge in _ranked(edges, which)
        if share > 0 and share >= min_share and (not around or {*around} & {*edge.pair})
    ]
    drawn: list[Edge] = []
    nodes: set[str] = set()
    for edge in ranked:
        if len(drawn) < most_edges and len(nodes.union(edge.pair)) <= most_nodes:
            drawn.append(edge)
            nodes.update(edge.pair)
    if which == "all" and len(drawn) < len(ranked):
        variables = len({name for edge in ranked for name in edge.pair})
        raise TooLargeError(
            f"{len(ranked):,} edges between {variables:,} variables cannot be read in one "
            f"graph, which holds {most_edges} between {most_nodes}; draw the matrix of pairs "
            "(plot pairs), the edges of one variable (plot graph --around), or fewer edges"
        )
    return Selection(tuple(drawn), len(ranked), which, tuple(around), min_share)


def _ranked(edges: Iterable[Edge], which: Which) -> list[tuple[float, Edge]]:
    """Rank edges by their share; of equal ones, those of variables with larger edges come first."""
    shares = [
        (edge.errors if which == "differences" else edge.tp + edge.errors, edge) for edge in edges
    ]
    of_variable: dict[str, float] = defaultdict(float)
    for share, edge in shares:
        for name in edge.pair:
            of_variable[name] += share
    return sorted(
        shares,
        key=lambda each: (each[0], sum(of_variable[name] for name in each[1].pair)),
        reverse=True,
    )


class Graph(NamedTuple):
    """Edges with places for their variables in the unit square; ``arcs`` have arrows."""

    selection: Selection
    positions: Positions
    arcs: frozenset[Pair] = frozenset()

    @property
    def edges(self) -> tuple[Edge, ...]:
        return self.selection.edges


def graph_of(selection: Selection, variables: Sequence[str] = ()) -> Graph:
    """Place the nodes of some edges, and ``variables`` without an edge if the graph has room."""
    nodes = tuple(dict.fromkeys([*selection.nodes, *variables]))
    if len(nodes) > MOST_NODES or len(selection.edges) < selection.of:
        nodes = selection.nodes
    return Graph(selection, graph_layout(nodes, [e.pair for e in selection.edges]))


def edges_between(edges: Iterable[Edge], names: Collection[str]) -> list[Edge]:
    inside = set(names)
    return [edge for edge in edges if inside.issuperset(edge.pair)]


def edge_text(edge: Edge) -> str:
    kinds = (
        f"{edge.roles.only[kind]} in {percent(Fraction(share), 1)} of contexts"
        for kind, share in edge.kinds()
    )
    return f"{' – '.join(map(short, edge.pair))}: {', '.join(kinds)}"
