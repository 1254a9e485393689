"""Which edges a graph shows, and an edge in words.

A graph of hundreds of edges cannot be read. `select_edges` takes the strongest, as many as one
picture can hold, and says how many of how many these are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from contextwise.errors import TooLargeError
from contextwise.report.colours import WORDS, Agreement
from contextwise.report.layout import Positions, graph_layout
from contextwise.report.shares import Edge
from contextwise.support.formatting import name as shown
from contextwise.support.formatting import percent

Which = Literal["differences", "strongest", "all"]
"""Which edges a graph shows."""
MOST_EDGES = 40
"""The most edges that can be told apart in one picture."""
MOST_NODES = 40
"""The most variables whose names can be read in one picture."""


def edges_between(edges: Iterable[Edge], names: Collection[str]) -> list[Edge]:
    """The edges whose two variables are both among these."""
    inside = set(names)
    return [edge for edge in edges if inside.issuperset(edge.pair)]


def worst_variables(names: Sequence[str], edges: Iterable[Edge], most: int) -> tuple[str, ...]:
    """The variables with the most errors, each pair counting the same, in the order given.

    Parameters
    ----------
    names : of all variables
    edges : between them
    most : how many are wanted

    Returns
    -------
    tuple of str
    """
    errors = dict.fromkeys(names, 0.0)
    for edge in edges:
        for name in edge.pair:
            errors[name] += edge.errors
    worst = set(sorted(names, key=lambda name: -errors[name])[:most])
    return tuple(name for name in names if name in worst)


# -- what can be read in one picture ---------------------------------------------------------------


def select_edges(
    edges: Sequence[Edge],
    *,
    which: Which | None = None,
    around: Collection[str] = (),
    min_share: float = 0.0,
    most_edges: int = MOST_EDGES,
    most_nodes: int = MOST_NODES,
) -> Selection:
    """The edges that a graph shows: the strongest first, as many as can be read.

    Parameters
    ----------
    edges : of a comparison; see `edges_of`
    which : "differences" ranks edges by the share of contexts in which the models differ and leaves
        out those on which they agree; "strongest" ranks by the share in which either depends; "all"
        takes every edge. By default the differences, or with ``around`` the strongest.
    around : only edges of these variables
    min_share : only edges whose share, as ranked, is at least this
    most_edges, most_nodes : how much one picture can hold

    Returns
    -------
    Selection

    Raises
    ------
    TooLargeError
        If all edges are asked for, and they are too many to be read.

    Examples
    --------
    >>> same, small, large = ("A", "B"), ("B", "C"), ("C", "D")
    >>> edges = [Edge(same, 1.0, 0, 0), Edge(small, 0, 0.25, 0), Edge(large, 0, 0, 1.0)]
    >>> [edge.pair for edge in select_edges(edges, most_edges=1).edges]
    [('C', 'D')]
    >>> select_edges(edges, most_edges=1).words
    'the largest of 2 differences'
    >>> select_edges(edges, around=["B"]).words
    'both dependencies of B'
    """
    which = which or ("strongest" if around else "differences")
    strength = _errors if which == "differences" else _dependence
    centre = set(around)
    found = [
        edge
        for edge in edges
        if strength(edge) > 0
        and strength(edge) >= min_share
        and (not centre or centre.intersection(edge.pair))
    ]
    found.sort(key=strength, reverse=True)
    drawn = _legible(found, most_edges, most_nodes)
    if which == "all" and len(drawn) < len(found):
        nodes = len({name for edge in found for name in edge.pair})
        raise TooLargeError(
            f"{len(found):,} edges between {nodes:,} variables cannot be read in one graph, which "
            f"holds {most_edges} between {most_nodes}; draw the matrix of pairs instead (plot "
            "pairs), the neighbours of one variable (plot neighbours), or fewer edges"
        )
    return Selection(tuple(drawn), len(found), which, tuple(around), min_share)


def _errors(edge: Edge) -> float:
    return edge.errors


def _dependence(edge: Edge) -> float:
    return edge.tp + edge.errors


def _legible(found: Iterable[Edge], most_edges: int, most_nodes: int) -> list[Edge]:
    """The first edges that together need no more nodes than these; later ones may still fit."""
    drawn: list[Edge] = []
    nodes: set[str] = set()
    for edge in found:
        if len(drawn) == most_edges:
            break
        if len(nodes.union(edge.pair)) <= most_nodes:
            drawn.append(edge)
            nodes.update(edge.pair)
    return drawn


@dataclass(frozen=True)
class Selection:
    """The edges that a picture shows, out of how many, and why these."""

    edges: tuple[Edge, ...]
    of: int
    which: Which
    around: tuple[str, ...] = ()
    min_share: float = 0.0

    @property
    def nodes(self) -> tuple[str, ...]:
        """The variables of the edges and those they are drawn around, by name."""
        return tuple(dict.fromkeys([*self.around, *(n for e in self.edges for n in e.pair)]))

    @property
    def words(self) -> str:
        """What is shown, for a caption."""
        count, differ = len(self.edges), self.which == "differences"
        noun = "difference" if differ else "dependency"
        nouns = "differences" if differ else "dependencies"
        if not self.of:
            text = f"no {noun}"
        elif count == self.of:
            text = {1: f"the only {noun}", 2: f"both {nouns}"}.get(count, f"all {count:,} {nouns}")
        else:
            first = "largest" if differ else "strongest"
            text = f"the {f'{count} ' if count > 1 else ''}{first} of {self.of:,} {nouns}"
        if self.around:
            text += f" of {' and '.join(shown(name) for name in self.around)}"
        if self.min_share:
            text += f" in at least {percent(Fraction(self.min_share), 1)} of contexts"
        return text


@dataclass(frozen=True)
class Graph:
    """A graph ready to be drawn.

    Attributes
    ----------
    selection : the edges, and out of how many
    positions : the place of each variable; see `contextwise.report.layout.graph_layout`
    """

    selection: Selection
    positions: Positions

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges that are drawn."""
        return self.selection.edges


def graph_of(selection: Selection) -> Graph:
    """The selected edges with places for their variables."""
    return Graph(selection, graph_layout(selection.nodes, [e.pair for e in selection.edges]))


# -- an edge in words -----------------------------------------------------------------------------


def edge_words(edge: Edge) -> str:
    """An edge as a line of text.

    >>> edge_words(Edge(("A", "B"), tp=0.5, fp=0.25, fn=0.0))
    'A – B: in both in 50 % of contexts, only in guess in 25 % of contexts'
    """
    between = " – ".join(shown(name) for name in edge.pair)
    return f"{between}: {', '.join(share_words(*kind) for kind in edge.kinds())}"


def share_words(kind: Agreement, share: float) -> str:
    """A share of contexts in words.

    >>> share_words("fp", 0.875)
    'only in guess in 87.5 % of contexts'
    """
    return f"{WORDS[kind]} in {percent(Fraction(share), 1)} of contexts"
