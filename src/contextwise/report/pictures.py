"""Pictures as parts: heat maps and graphs, with captions and legends.

The heat map has n × n cells. Above the diagonal are the false positives of each pair, below it the
false negatives, each as a share of the pair's contexts; of one model, both sides show where a pair
depends. Shares are drawn in steps (`STEPS`), so that one wrong context in a million still has a
tint. ``static/heatmap.js`` draws it on pages, `contextwise.report.plots.plot_pairs` for papers.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from zlib import compress

import numpy as np
import numpy.typing as npt

from contextwise.comparison.question import Pair
from contextwise.comparison.roles import ALONE, TRUE_AND_GUESS, Agreement, Roles
from contextwise.errors import TooLargeError
from contextwise.models.structure import Structure
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
from contextwise.report.shares import LARGEST, Edge, Shares, graph_of, select_edges
from contextwise.support.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    pass

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

# -- the heat map of pairs -----------------------------------------------------------------------


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
    return Note("no heat map", f"{words[:1].upper()}{words[1:]}. Choose some to see theirs.")


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
    titles: dict[Agreement, tuple[int, str]] = {"fn": (FIRST_FN, "share of contexts")}
    if heat.roles != ALONE:
        firsts: dict[Agreement, int] = {"fp": FIRST_FP, "fn": FIRST_FN}
        titles = {
            kind: (first, f"{heat.roles.only[kind]}, share of contexts")
            for kind, first in firsts.items()
        }
    legends = []
    for kind, (first, title) in titles.items():
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


# -- graphs --------------------------------------------------------------------------------------


def arcs_of(structure: Structure) -> frozenset[Pair]:
    """Return the arcs of a structure whose directions are known, as (parent, child)."""
    names, directions = structure.domain.names, structure.directions
    known = set(directions.arcs) - directions.undirected if directions else ()
    return frozenset((names[p], names[c]) for p, c in known)


def graph_picture(shares: Shares, arcs: frozenset[Pair] = frozenset()) -> Picture:
    """Return one graph of one or two models: all edges, or the largest of many."""
    edges, variables = shares.edges(), shares.names if shares.roles == ALONE else ()
    try:
        selection = select_edges(edges, which="strongest" if variables else "all")
    except TooLargeError:
        differ = any(edge.errors for edge in edges)
        selection = select_edges(edges, which="differences" if differ else "strongest")
    graph = graph_of(selection, variables)._replace(arcs=arcs)
    text = f"{selection.description[:1].upper()}{selection.description[1:]}. {LINE_TEXT}"
    return Picture(text, (graph_legend(graph.edges),), graph)


def graph_legend(edges: Iterable[Edge]) -> Legend:
    text = {kind: edge.roles.only[kind] for edge in edges for kind, _ in edge.kinds()}
    entries = tuple(
        (Mark("line", kind, colour, dashes=DASHES[kind]), text[kind])
        for kind, colour in COLOURS.items()
        if kind in text
    )
    return Legend("", entries)
