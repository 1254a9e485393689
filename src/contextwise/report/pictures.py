"""Pictures of a comparison as parts to show: what is drawn, its caption and its legends."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable
from typing import Any
from zlib import compress

from contextwise.comparison.compare import Comparison
from contextwise.report.colours import (
    COLOURS,
    COVERED,
    COVERED_OPACITY,
    DASHES,
    OPACITIES,
    STEP_WORDS,
    UNDECIDED,
    UNKNOWN,
    WORDS,
    Agreement,
)
from contextwise.report.edges import graph_of, select_edges
from contextwise.report.elements import Legend, Mark, Picture
from contextwise.report.heatmap import AGREED, BLANK, FIRST_FN, FIRST_FP, OPEN, HeatMap, heat_map
from contextwise.report.shares import Edge, View, edges_of, packed, shares_of

ERRORS: tuple[Agreement, Agreement] = ("fp", "fn")


def pairs_picture(
    comparison: Comparison, *, cluster: bool = False, interactive: bool = False
) -> Picture:
    """The heat map of pairs.

    Parameters
    ----------
    comparison : what is drawn
    cluster : whether variables that err alike stand together
    interactive : whether readers can zoom into it in a browser

    Returns
    -------
    Picture
    """
    shares = shares_of(comparison)
    heat = heat_map(shares, cluster=cluster)
    caption = (
        "Each cell is a pair of variables: the share of its contexts in which the models differ. "
        "Above the diagonal only the guess has the dependence, below it only the true model."
    )
    sent = _deflated(packed(shares, heat.order)) if interactive else ""
    return Picture("pairs", heat, caption, tuple(heat_legends(heat)), sent)


def _deflated(data: object) -> str:
    """Data as compressed JSON in base64: a browser can read it without a library."""
    return b64encode(compress(json.dumps(data).encode(), 9)).decode()


def heat_legends(heat: HeatMap) -> list[Legend]:
    """What the colours of a heat map mean: only those that occur in it."""
    codes = set(heat.codes.ravel().tolist())
    legends = []
    for kind, first in zip(ERRORS, (FIRST_FP, FIRST_FN), strict=True):
        entries = tuple(
            (Mark("box", kind, COLOURS[kind], OPACITIES[step]), words)
            for step, words in enumerate(STEP_WORDS)
            if first + step in codes
        )
        if entries:
            legends.append(Legend(f"{WORDS[kind]}, share of contexts", entries))
    others = {
        AGREED: (Mark("box", "covered", COVERED, COVERED_OPACITY), "depends, without such errors"),
        BLANK: (Mark("box", "blank", "#ffffff", 0.0), "never depends"),
        OPEN: (Mark("box", "open", UNKNOWN), UNDECIDED),
    }
    rest = tuple(entry for code, entry in others.items() if code in codes)
    return [*legends, Legend("", rest)] if rest else legends


def graph_picture(comparison: Comparison, **options: Any) -> Picture:
    """The graph of both structures.

    Parameters
    ----------
    comparison : what is drawn
    **options : for `contextwise.report.edges.select_edges`

    Returns
    -------
    Picture
    """
    selection = select_edges(edges_of(comparison), **options)
    words = selection.words
    caption = (
        f"{words[:1].upper()}{words[1:]}. A line is as wide as the share of contexts in which "
        "the two variables depend."
    )
    return Picture("graph", graph_of(selection), caption, (graph_legend(selection.edges),))


def graph_legend(edges: Iterable[Edge], view: View = "both") -> Legend:
    """What the lines of a graph mean: only those that occur in it.

    Parameters
    ----------
    edges : those that are drawn
    view : both graphs in one, or one of them

    Returns
    -------
    Legend
    """
    kinds = {kind for edge in edges for kind, _ in edge.strands(view)}
    entries = tuple(
        (Mark("line", kind, colour, dashes=DASHES[kind]), WORDS[kind])
        for kind, colour in COLOURS.items()
        if kind in kinds
    )
    return Legend("", entries)
