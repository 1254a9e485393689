"""Pictures of the pairs of one or two models: heat maps and graphs, as parts.

A comparison counts exactly, in numbers of hundreds of digits; pictures need floats. `Shares` has
them for all pairs. An `Edge` is one pair: ``tp`` is the share of its contexts in which both models
have the dependence, ``fp`` and ``fn`` those in which only the guess or only the true model has it.
`select_edges` chooses the edges that one graph can hold.

The heat map has n × n cells. Above the diagonal are the false positives of each pair, below it the
false negatives; of one model, both sides show where a pair depends. Shares are drawn in steps
(`STEPS`), so that one wrong context in a million still has a tint. ``static/heatmap.js`` draws it
on pages, `contextwise.report.plots.plot_pairs` for papers.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple
from zlib import compress

import numpy as np
import numpy.typing as npt

from contextwise.comparison.confusion import Number, ratio
from contextwise.comparison.question import Pair
from contextwise.comparison.roles import ALONE, TRUE_AND_GUESS, Agreement, Roles
from contextwise.comparison.two_models import Comparison
from contextwise.counting.pair_counts import CountArray
from contextwise.errors import TooLargeError
from contextwise.models.structure import Structure
from contextwise.report.graphs import Positions, graph_layout, graph_svg
from contextwise.report.html import Markup
from contextwise.report.parts import (
    COLOURS,
    DARK_COLOURS,
    DASHES,
    UNDECIDED,
    Legend,
    Mark,
    Note,
    Picture,
)
from contextwise.support.arrays import FloatArray, IntArray
from contextwise.support.formatting import capitalized
from contextwise.support.formatting import name as short
from contextwise.support.words import exact_percent

SMALLEST = float(np.finfo(np.float32).smallest_subnormal)
LARGEST = float(np.nextafter(np.float32(1), np.float32(0)))
"""The least share that is not 0 and the largest that is not 1 in the browser's short floats."""
Which = Literal["differences", "strongest"]  # the edges that a graph shows
MOST_EDGES = 40
MOST_NODES = 40  # the most edges and variables that can be read in one picture
STEPS = (0.01, 0.1, 0.25, 0.5, 0.75, LARGEST, 1.0)  # shares of contexts are drawn in these steps
STEP_TEXT = ("≤ 1 %", "≤ 10 %", "≤ 25 %", "≤ 50 %", "≤ 75 %", "< 100 %", "always")
OPACITIES = (0.1, 0.18, 0.28, 0.4, 0.54, 0.7, 1.0)
UNKNOWN = "#F0E442"  # the colour of a pair that a time limit left open
COVERED, COVERED_OPACITY = "#7f7f7f", 0.16
"""The colour of a pair that depends somewhere and has no error of this kind."""
BLANK, AGREED, FIRST_FP, FIRST_FN = 0, 1, 2, 2 + len(STEPS)
OPEN = FIRST_FN + len(STEPS)
"""The codes of a cell: never dependent, no error of this kind, the steps of each kind, open."""
GROUPED = 100  # above this many variables, heat maps group variables with similar errors by default
MOST_DRAWN = 3000  # the most variables of a heat map: its cells are as many as their square
GROUPED_TEXT = " Similar variables are next to each other."
LINE_TEXT = "A line is as wide as the share of contexts in which the two variables depend."


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

    @property
    def text(self) -> str:
        kinds = (
            f"{self.roles.only[kind]} in {exact_percent(share)} of contexts"
            for kind, share in self.kinds()
        )
        return f"{' – '.join(map(short, self.pair))}: {', '.join(kinds)}"


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


# -- the edges of a graph --------------------------------------------------------------------------


class Selection(NamedTuple):
    """The edges that a picture shows, largest shares first, ``of`` those to choose from."""

    edges: tuple[Edge, ...]
    of: int
    which: Which
    around: tuple[str, ...] = ()

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
        if count < self.of:
            text += f", {'the largest' if differ else 'those in the most contexts'} first"
        return text


def select_edges(
    edges: Sequence[Edge],
    *,
    which: Which | None = None,
    around: Collection[str] = (),
    most_edges: int = MOST_EDGES,
    most_nodes: int = MOST_NODES,
) -> Selection:
    """Choose the edges that a graph shows: the largest shares first, as many as can be read.

    ``which`` is by default "differences", or with ``around`` "strongest".

    - "differences" ranks edges by the share of contexts in which the models differ, and leaves out
      those on which they agree.
    - "strongest" ranks by the share of contexts in which either model depends.

    ``around`` keeps only edges of these variables. Of equal edges, those of variables with larger
    edges come first.
    """
    which = which or ("strongest" if around else "differences")
    ranked = [
        edge
        for share, edge in _ranked(edges, which)
        if share > 0 and (not around or {*around} & {*edge.pair})
    ]
    drawn: list[Edge] = []
    nodes: set[str] = set()
    for edge in ranked:
        if len(drawn) < most_edges and len(nodes.union(edge.pair)) <= most_nodes:
            drawn.append(edge)
            nodes.update(edge.pair)
    return Selection(tuple(drawn), len(ranked), which, tuple(around))


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


class DrawnGraph(NamedTuple):
    """Edges with places for their variables in the unit square; ``arcs`` have arrows."""

    selection: Selection
    positions: Positions
    arcs: frozenset[Pair] = frozenset()

    @property
    def edges(self) -> tuple[Edge, ...]:
        return self.selection.edges

    def svg(self) -> Markup:
        return graph_svg(self.edges, self.positions, arcs=self.arcs)


def graph_of(selection: Selection, variables: Sequence[str] = ()) -> DrawnGraph:
    """Place the nodes of some edges, and ``variables`` without an edge if the graph has room."""
    nodes = tuple(dict.fromkeys([*selection.nodes, *variables]))
    if len(nodes) > MOST_NODES or len(selection.edges) < selection.of:
        nodes = selection.nodes
    return DrawnGraph(selection, graph_layout(nodes, [e.pair for e in selection.edges]))


def edges_between(edges: Iterable[Edge], names: Collection[str]) -> list[Edge]:
    inside = set(names)
    return [edge for edge in edges if inside.issuperset(edge.pair)]


# -- the heat map of pairs -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class HeatMap:
    """The shares of all pairs, in the order in which variables are drawn.

    False positives are above the diagonal, false negatives below it; NaN where no feature covers
    the pair, infinite where it is open.
    """

    names: tuple[str, ...]
    shares: FloatArray
    order: IntArray  # positions of the variables in the domain
    roles: Roles = TRUE_AND_GUESS

    @cached_property
    def codes(self) -> npt.NDArray[np.uint8]:
        below = np.tri(len(self.names), dtype=bool) | (self.roles == ALONE)
        codes = np.where(below, FIRST_FN, FIRST_FP) + np.searchsorted(STEPS, self.shares)
        codes[self.shares == 0] = AGREED
        codes[np.isnan(self.shares)] = BLANK
        codes[np.isinf(self.shares)] = OPEN
        return codes.astype(np.uint8)


def heat_map(shares: Shares, *, reorder: bool | None = None) -> HeatMap:
    """Return the heat map; ``reorder`` is by default above `GROUPED` variables."""
    n = len(shares.names)
    if n > MOST_DRAWN:
        raise TooLargeError(f"{too_many_drawn(n)}; choose some, such as --variables A,B,C")
    if reorder is None:
        reorder = n > GROUPED
    first, second = shares.pairs.T
    above, below = np.full((2, n, n), np.nan)
    for matrix, values in zip((above, below), _sides(shares), strict=True):
        # Of a covered pair nan means unfinished; nan stays for pairs that nothing covers.
        matrix[first, second] = matrix[second, first] = np.nan_to_num(values, nan=np.inf)
    order = group_similar(above + below) if reorder else np.arange(n)
    drawn = np.where(
        np.tri(n, dtype=bool), below[np.ix_(order, order)], above[np.ix_(order, order)]
    )
    return HeatMap(tuple(shares.names[v] for v in order), drawn, order, shares.roles)


def _sides(shares: Shares) -> tuple[FloatArray, FloatArray]:
    return (shares.tp, shares.tp) if shares.roles == ALONE else (shares.fp, shares.fn)


def too_many_drawn(variables: int) -> str:
    return f"a heat map shows at most {MOST_DRAWN:,} variables, and there are {variables:,}"


def group_similar(errors: FloatArray) -> IntArray:
    """Return an order of the variables with similar ones next to each other (average linkage)."""
    if len(errors) < 3:
        return np.arange(len(errors))
    from scipy.cluster import hierarchy
    from scipy.spatial import distance as spatial

    # The identity makes the rows of two variables similar that have errors with each other.
    apart = spatial.pdist(np.nan_to_num(errors, posinf=1.0) + np.eye(len(errors)))
    small = len(errors) <= 300  # the best order of leaves costs O(n³)
    tree = hierarchy.linkage(apart, "average", optimal_ordering=small)
    order: IntArray = hierarchy.leaves_list(tree).astype(np.int64)
    return order


def palette() -> list[tuple[str, float]]:
    return [
        ("#ffffff", 0.0),
        (COVERED, COVERED_OPACITY),
        *((COLOURS["fp"], opacity) for opacity in OPACITIES),
        *((COLOURS["fn"], opacity) for opacity in OPACITIES),
        (UNKNOWN, 1.0),
    ]


def packed(shares: Shares, order: IntArray) -> dict[str, Any]:
    """Return what ``static/heatmap.js`` draws, as JSON values; arrays are little-endian bytes."""

    def text(values: npt.NDArray[Any], kind: str) -> str:
        return b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()

    alone = shares.roles == ALONE
    sides = zip(("fp", "fn"), _sides(shares), strict=True)
    themes = {"light": COLOURS, "dark": DARK_COLOURS}
    return {
        "kind": "one" if alone else "two",
        "names": list(shares.names),
        "order": text(order, "<u4"),
        "pairs": text(shares.pairs, "<u4"),
        "tp": text(shares.tp, "<f4"),
        **{kind: text(values, "<f4") for kind, values in sides},
        "steps": list(STEPS),
        "opacities": list(OPACITIES),
        "covered": [COVERED, COVERED_OPACITY],
        "unknown": UNKNOWN,
        "words": shares.roles.only,
        **{key: {**hues, "fp": hues["fn"]} if alone else hues for key, hues in themes.items()},
    }


def no_heat_map(variables: int) -> Note | None:
    if variables <= MOST_DRAWN:
        return None
    words = too_many_drawn(variables)
    return Note("no heat map", f"{capitalized(words)}. Choose some to see theirs.")


def pairs_picture(shares: Shares) -> Picture | Note:
    """Return the heat map, or the note that replaces it."""
    if note := no_heat_map(len(shares.names)):
        return note
    heat = heat_map(shares)
    caption = heat_text(heat.roles)
    if not np.array_equal(heat.order, np.arange(len(heat.order))):
        caption += GROUPED_TEXT
    return Picture(caption, tuple(heat_legends(heat)), packed=_deflated(packed(shares, heat.order)))


def heat_text(roles: Roles) -> str:
    if roles == ALONE:
        return "Colour is the share of contexts in which the two variables depend."
    fp, fn = ("", "") if roles.peers else (" (false positives)", " (false negatives)")
    return (
        "Colour is the share of contexts in which the models differ. Above the diagonal only "
        f"{roles.second} has the dependence{fp}, below it only {roles.first}{fn}."
    )


def _deflated(data: object) -> str:
    """Compress data as JSON, in base64, which a browser reads without a library."""
    return b64encode(compress(json.dumps(data).encode(), 9)).decode()


def heat_legends(heat: HeatMap) -> list[Legend]:
    """Return the meanings of the colours that occur."""
    off_diagonal = ~np.eye(len(heat.names), dtype=bool)
    used = set(np.unique(heat.codes[off_diagonal]).tolist())
    firsts: dict[Agreement, int] = {"fp": FIRST_FP, "fn": FIRST_FN}
    legends = []
    for kind, first in firsts.items():
        title = "share of contexts" if heat.roles == ALONE else heat.roles.only[kind]
        steps = [step for step in range(len(STEPS)) if first + step in used]
        if len(heat.names) > GROUPED and steps:
            steps = list(range(len(STEPS)))  # a cell with several pairs has their mean
        entries = tuple(
            (Mark("box", kind, COLOURS[kind], OPACITIES[step]), STEP_TEXT[step]) for step in steps
        )
        if entries:
            legends.append(Legend(title, entries))
    others = {
        AGREED: (Mark("box", "covered", COVERED, COVERED_OPACITY), "no such difference"),
        BLANK: (Mark("box", "blank", "#ffffff", 0.0), "never depends"),
        OPEN: (Mark("box", "open", UNKNOWN), UNDECIDED),
    }
    rest = tuple(entry for code, entry in others.items() if code in used)
    return [*legends, Legend("", rest)] if rest else legends


# -- graphs ----------------------------------------------------------------------------------------


def arcs_of(structure: Structure) -> frozenset[Pair]:
    """Return the arcs of a structure whose directions are known, as (parent, child)."""
    names, directions = structure.domain.names, structure.directions
    known = set(directions.arcs) - directions.undirected if directions else ()
    return frozenset((names[p], names[c]) for p, c in known)


def graph_picture(shares: Shares, arcs: frozenset[Pair] = frozenset()) -> Picture:
    """Return one graph of one or two models: all edges, or the largest differences of many."""
    edges, variables = shares.edges(), shares.names if shares.roles == ALONE else ()
    selection = select_edges(edges, which="strongest")
    if not variables and len(selection.edges) < selection.of:
        differing = select_edges(edges, which="differences")
        selection = differing if differing.edges else selection
    graph = graph_of(selection, variables)._replace(arcs=arcs)
    text = f"{capitalized(selection.description)}. {LINE_TEXT}"
    return Picture(text, (graph_legend(graph.edges),), graph)


def graph_legend(edges: Iterable[Edge]) -> Legend:
    text = {kind: edge.roles.only[kind] for edge in edges for kind, _ in edge.kinds()}
    entries = tuple(
        (Mark("line", kind, colour, dashes=DASHES[kind]), text[kind])
        for kind, colour in COLOURS.items()
        if kind in text
    )
    return Legend("", entries)
