"""In which shares of their contexts pairs depend: in both models, or in one alone.

A comparison counts exactly, in numbers of hundreds of digits. To look at 50,000 pairs, floats are
enough, made once: `Shares` has them for all pairs, and heat maps, graphs and neighbours are made of
them. `packed` sends them to a browser, which draws the heat map, zooms, and names what is under the
pointer without asking again.

An `Edge` is one pair with its three shares. A picture of one graph for all contexts cannot say when
two variables depend, but it can say how often: an edge has up to three parallel lines, as wide as
their share. ``tp`` is where both models have the dependence, ``fp`` where only the guess has it,
``fn`` where only the true one has. In a context that assigns all other variables, every edge has a
single line.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from contextwise.comparison.compare import Comparison
from contextwise.comparison.pairs import Pair
from contextwise.errors import TooLargeError
from contextwise.models.features import IntArray
from contextwise.report.colours import (
    COLOURS,
    COVERED,
    COVERED_OPACITY,
    DARK_COLOURS,
    OPACITIES,
    STEPS,
    UNKNOWN,
    WORDS,
    Agreement,
)
from contextwise.report.layout import Positions, graph_layout
from contextwise.support.formatting import name as shown
from contextwise.support.formatting import percent

FloatArray = npt.NDArray[np.float64]
SMALLEST = float(np.finfo(np.float32).smallest_subnormal)
"""A share that is not 0 is at least this, so that the browser's short floats do not lose it."""
View = Literal["both", "true", "guess"]
"""The two graphs in one, or the edges of one model."""

KINDS_SHOWN: Mapping[View, tuple[Agreement, ...]] = {
    "both": ("tp", "fp", "fn"),
    "true": ("tp", "fn"),
    "guess": ("tp", "fp"),
}


@dataclass(frozen=True)
class Edge:
    """A pair that depends somewhere, with the share of its contexts of each kind."""

    pair: Pair
    tp: float
    fp: float
    fn: float

    @property
    def errors(self) -> float:
        """The share of contexts in which the models differ."""
        return self.fp + self.fn

    def kinds(self, view: View = "both") -> list[tuple[Agreement, float]]:
        """The kinds that occur, and their shares.

        >>> Edge(("A", "B"), tp=0.5, fp=0.25, fn=0.0).kinds()
        [('tp', 0.5), ('fp', 0.25)]
        """
        shares: dict[Agreement, float] = {"tp": self.tp, "fp": self.fp, "fn": self.fn}
        return [(kind, shares[kind]) for kind in KINDS_SHOWN[view] if shares[kind]]


@dataclass(frozen=True, eq=False)
class Shares:
    """In which shares of its contexts each pair depends: in both models, or in one alone.

    Attributes
    ----------
    names : the variables
    pairs : positions of the pairs that a feature of either model covers: shape (p, 2)
    tp, fp, fn : the shares of each of these pairs; NaN where a time limit left it open
    """

    names: tuple[str, ...]
    pairs: IntArray
    tp: FloatArray
    fp: FloatArray
    fn: FloatArray

    def edge(self, k: int) -> Edge:
        """One of the pairs, with its names."""
        first, second = self.pairs[k].tolist()
        names = (self.names[first], self.names[second])
        return Edge(names, float(self.tp[k]), float(self.fp[k]), float(self.fn[k]))

    def edges(self) -> list[Edge]:
        """The pairs that depend somewhere in a model, in the order of the domain."""
        somewhere = np.nan_to_num(self.tp + self.fp + self.fn) > 0
        return [self.edge(k) for k in np.flatnonzero(somewhere).tolist()]

    def open_pairs(self) -> int:
        """How many pairs a time limit left open."""
        return int(np.isnan(self.tp).sum())


def shares_of(comparison: Comparison) -> Shares:
    """The shares of a comparison.

    >>> from contextwise import Structure, compare
    >>> domain = {"A": 2, "B": 2, "C": 2}
    >>> true, guess = Structure(domain, ["A=1 & B=1"]), Structure(domain, ["A=1 & B=1 & C=1"])
    >>> found = shares_of(compare(true, guess))
    >>> found.pairs.tolist(), found.tp.tolist(), found.fp.tolist(), found.fn.tolist()
    ([[0, 1], [0, 2], [1, 2]], [0.5, 0.0, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.0])
    """
    counts = comparison.known_counts
    tp, fn, fp = (_divided(counts[:, k].tolist(), comparison.sizes) for k in range(3))
    return Shares(comparison.domain.names, comparison.pairs, tp, fp, fn)


def _divided(counts: list[Any], sizes: Sequence[Any]) -> FloatArray:
    """Exact counts over what all contexts count; what is not known is NaN."""
    shares = (
        np.nan if count is None else max(count / size, SMALLEST) if count else 0.0
        for count, size in zip(counts, sizes, strict=True)
    )
    return np.fromiter(shares, np.float64, len(counts))


def edges_of(comparison: Comparison) -> list[Edge]:
    """The edges of the two structures' graphs, in the order of the domain.

    Pairs that a time limit left open are left out: their shares are not known.

    >>> from contextwise import Structure, compare
    >>> domain = {"A": 2, "B": 2, "C": 2}
    >>> edges_of(compare(Structure(domain, ["A=1 & B=1"]), Structure(domain, ["A=1 & C=1"])))
    [Edge(pair=('A', 'B'), tp=0.0, fp=0.0, fn=1.0), Edge(pair=('A', 'C'), tp=0.0, fp=1.0, fn=0.0)]
    """
    return shares_of(comparison).edges()


def neighbours(shares: Shares, name: str) -> list[Edge]:
    """The pairs of one variable, the largest errors first, then the most frequent dependences.

    The variable itself stands first in each of them.
    """
    places = np.flatnonzero((shares.pairs == shares.names.index(name)).any(axis=1)).tolist()
    found = [
        edge if edge.pair[0] == name else Edge((name, edge.pair[0]), edge.tp, edge.fp, edge.fn)
        for edge in map(shares.edge, places)
        if edge.tp + edge.errors > 0
    ]
    return sorted(found, key=lambda edge: (-edge.errors, -edge.tp))


def packed(shares: Shares, order: IntArray) -> dict[str, Any]:
    """The shares as JSON values for the browser, numbers as the bytes of little-endian arrays.

    Parameters
    ----------
    shares : what is sent
    order : in which the variables are drawn
    """
    return {
        "names": list(shares.names),
        "order": _text(order, "<u4"),
        "pairs": _text(shares.pairs, "<u4"),
        **{kind: _text(getattr(shares, kind), "<f4") for kind in ("tp", "fp", "fn")},
        "steps": list(STEPS),
        "opacities": list(OPACITIES),
        "covered": [COVERED, COVERED_OPACITY],
        "unknown": UNKNOWN,
        "light": COLOURS,
        "dark": DARK_COLOURS,
    }


def _text(values: npt.NDArray[Any], kind: str) -> str:
    return b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()


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
