"""Pictures of a comparison for pages: the heat map of pairs and the graph of two structures.

A style sheet of the page overrides their colours by the classes ``fp``, ``fn``, ``tp``,
``covered``, ``open``, ``node`` and ``halo``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from xml.etree.ElementTree import Element, tostring

from contextwise.report.colours import COLOURS, DASHES
from contextwise.report.drawing import DISC, Drawing, Point, arrange, edge_lines, widest_of
from contextwise.report.edges import edge_words
from contextwise.report.layout import Positions
from contextwise.report.shares import Edge, View
from contextwise.report.svg_elements import (
    add,
    add_tip,
    coordinate,
    new_picture,
)
from contextwise.support.formatting import name as shown

FONTS = (12.0, 11.0, 10.0, 9.0, 8.0, 7.0)
"""Sizes of the labels of a graph, the first for which all find a place."""
WIDE, NARROW, CAPITAL, USUAL = 0.92, 0.36, 0.72, 0.6
"""The widths of letters, as shares of the size of the font: a little more than in most fonts."""


def graph_svg(
    edges: Iterable[Edge],
    positions: Positions,
    *,
    view: View = "both",
    fixed: Mapping[str, str] | None = None,
    size: int = 480,
    whole: bool = False,
) -> str:
    """The graph of the edges, ``size`` wide; no label covers a node or another label.

    Parameters
    ----------
    edges : what is drawn
    positions : the place of each variable; see `contextwise.report.layout.graph_layout`
    view : both graphs in one, or the edges of the true model or of the guess
    fixed : the variables that a context assigns, with their states; drawn hollow
    size : the width of the picture
    whole : whether a place in the unit square is the same place in the picture whatever is drawn

    Returns
    -------
    str
    """
    drawn, frame = list(edges), (float(size), 0.8 * size)
    drawing = arrange(
        {name: (x, 1 - y) for name, (x, y) in positions.items()},  # on a page, y grows downwards
        drawn,
        frame=frame,
        fonts=FONTS,
        measure=_text_size,
        fixed=fixed,
        whole=whole,
    )
    picture = new_picture("graph", *frame, f"Graph of {len(positions)} variables")
    widest = widest_of(len(drawn))
    for edge in drawn:
        _add_edge(picture, edge, drawing.places, view, widest)
    for name in positions:
        _add_node(picture, name, drawing, hollow=name in (fixed or {}))
    return tostring(picture, encoding="unicode")


# -- the graph -----------------------------------------------------------------------------------


def _text_size(text: str, font: float) -> tuple[float, float]:
    """About the width and height of a text in a browser's font for text."""
    letters = (
        WIDE
        if letter in "mwMW@%—…"
        else NARROW
        if letter in "ijlt.,:;'|!() "
        else CAPITAL
        if letter.isupper()
        else USUAL
        for letter in text
    )
    return font * sum(letters) + 4, 1.25 * font


def _add_edge(
    parent: Element, edge: Edge, places: Mapping[str, Point], view: View, widest: float
) -> None:
    for line in edge_lines(edge, places, view=view, widest=widest):
        (x1, y1), (x2, y2) = line.start, line.end
        dashes = DASHES[line.kind]
        dashed = {}
        if dashes is not None:
            dashed["stroke_dasharray"] = f"{dashes[0]} {dashes[1]}"
            dashed["stroke_dashoffset"] = coordinate(line.dash_offset)
        drawn = add(
            parent,
            "line",
            class_=line.kind,
            x1=coordinate(x1),
            y1=coordinate(y1),
            x2=coordinate(x2),
            y2=coordinate(y2),
            stroke=COLOURS[line.kind],
            stroke_width=coordinate(line.width),
            **dashed,
        )
        add_tip(drawn, edge_words(edge))


def _add_node(parent: Element, name: str, drawing: Drawing, *, hollow: bool) -> None:
    """A dot, its name, and a line between the two where the name stands away from it."""
    x, y = drawing.places[name]
    paint = {"fill": "none", "stroke": "currentColor"} if hollow else {"fill": "currentColor"}
    dot = add(
        parent,
        "circle",
        class_="node",
        cx=coordinate(x),
        cy=coordinate(y),
        r=coordinate(1.4 * DISC),
        **paint,
    )
    add_tip(dot, shown(name))
    label = drawing.labels.get(name)
    if label is None:
        return
    if label.leader is not None:
        start, stop = (" ".join(map(coordinate, end)) for end in ((x, y), label.leader))
        line = {"stroke": "#7f7f7f", "stroke_width": "0.7"}
        add(parent, "path", class_="leader", d=f"M{start}L{stop}", **line)
    text = add(
        parent,
        "text",
        x=coordinate(label.middle[0]),
        y=coordinate(label.middle[1]),
        dy="0.35em",
        font_size=coordinate(drawing.font),
        text_anchor="middle",
        fill="currentColor",
        class_="halo",
        paint_order="stroke",
        stroke="#ffffff",
        stroke_width="3",
        stroke_opacity="0.8",
    )
    text.text = label.text
