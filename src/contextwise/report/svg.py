"""Draw SVG pictures with the standard library: elements, tips, axes, and the graph.

Colours are attributes, which a style sheet overrides by the classes ``fp``, ``fn``, ``tp``,
``node`` and ``halo``; texts have the colour of the text around them. ElementTree escapes every
text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import floor, log10
from xml.etree.ElementTree import Element, SubElement, tostring

from contextwise.report.colours import COLOURS, DASHES
from contextwise.report.drawing import DISC, Drawing, Point, arrange, edge_lines, widest_of
from contextwise.report.layout import Positions
from contextwise.report.shares import Edge, View, edge_words
from contextwise.support.formatting import name as shown
from contextwise.support.formatting import printable

TICKS = 5
"""The approximate number of ticks of an axis."""


def new_picture(kind: str, width: float, height: float, words: str) -> Element:
    """Return an empty picture of a class; ``words`` describe it to screen readers."""
    picture = Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "class": kind,
            "role": "img",
            "viewBox": f"0 0 {coordinate(width)} {coordinate(height)}",
            "width": coordinate(width),
            "height": coordinate(height),
            "font-family": "sans-serif",
        },
    )
    add_tip(picture, words)
    return picture


def add(parent: Element, tag: str, **attributes: str) -> Element:
    """Add an element; underscores in the names of attributes become hyphens."""
    hyphened = {key.rstrip("_").replace("_", "-"): text for key, text in attributes.items()}
    return SubElement(parent, tag, hyphened)


def add_tip(parent: Element, words: str) -> None:
    """Add a tip, which a browser shows when the reader points at the element."""
    add(parent, "title").text = printable(words)


def coordinate(value: float) -> str:
    """Return a coordinate with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def add_line(parent: Element, start: Point, stop: Point, **style: str) -> Element:
    """Add a straight line."""
    x1, y1, x2, y2 = map(coordinate, (*start, *stop))
    return add(parent, "line", **style, x1=x1, y1=y1, x2=x2, y2=y2)


def add_text(parent: Element, text: str, place: Point, *, anchor: str, **style: str) -> Element:
    """Add a text; ``anchor`` is "start", "middle" or "end"."""
    usual = {"font_size": "12", "fill": "currentColor", "dy": "0.35em", "text_anchor": anchor}
    x, y = map(coordinate, place)
    drawn = add(parent, "text", x=x, y=y, **(usual | style))
    drawn.text = printable(text)
    return drawn


def round_step(end: float) -> float:
    """Return a round distance between the ticks of an axis from 0 to ``end``.

    >>> [round_step(end) for end in (1.0, 100.0, 0.037, 0.26)]
    [0.2, 20.0, 0.01, 0.1]
    """
    power = 10.0 ** floor(log10(end / TICKS))
    return next(power * k for k in (1, 2, 5, 10) if end / TICKS <= power * k * 1.0001)


FONTS = (12.0, 11.0, 10.0, 9.0, 8.0, 7.0)
"""Sizes of the labels of a graph, the largest first."""


def graph_svg(
    edges: Iterable[Edge],
    positions: Positions,
    *,
    view: View = "both",
    fixed: Mapping[str, str] | None = None,
    size: int = 480,
    whole: bool = False,
) -> str:
    """Draw a graph, ``size`` pixels wide; no label covers a node or another label.

    ``view`` is both graphs in one or the edges of one model. Variables in ``fixed`` are hollow and
    show their states. ``whole`` is as in `contextwise.report.drawing.arrange`.
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
        for line in edge_lines(edge, drawing.places, view=view, widest=widest):
            dashed, dashes = {}, DASHES[line.kind]
            if dashes is not None:
                dashed["stroke_dasharray"] = f"{dashes[0]} {dashes[1]}"
                dashed["stroke_dashoffset"] = coordinate(line.dash_offset)
            style = {"stroke": COLOURS[line.kind], "stroke_width": coordinate(line.width), **dashed}
            element = add_line(picture, line.start, line.end, class_=line.kind, **style)
            add_tip(element, edge_words(edge))
    for name in positions:
        _add_node(picture, name, drawing, hollow=name in (fixed or {}))
    return tostring(picture, encoding="unicode")


def _text_size(text: str, font: float) -> tuple[float, float]:
    """Estimate the width and height of a text in a browser's font."""
    width = 0.0
    for letter in text:  # shares of the font size, a little more than in most fonts
        if letter in "mwMW@%—…":
            width += 0.92
        elif letter in "ijlt.,:;'|!() ":
            width += 0.36
        else:
            width += 0.72 if letter.isupper() else 0.6
    return font * width + 4, 1.25 * font


def _add_node(parent: Element, name: str, drawing: Drawing, *, hollow: bool) -> None:
    """Add a dot, its name, and a line between them if the name is far away."""
    x, y = drawing.places[name]
    paint = {"fill": "none", "stroke": "currentColor"} if hollow else {"fill": "currentColor"}
    place = {"cx": coordinate(x), "cy": coordinate(y), "r": coordinate(1.4 * DISC)}
    dot = add(parent, "circle", class_="node", **place, **paint)
    add_tip(dot, shown(name))
    label = drawing.labels.get(name)
    if label is None:
        return
    if label.leader is not None:
        start, stop = (" ".join(map(coordinate, end)) for end in ((x, y), label.leader))
        line = {"stroke": "#7f7f7f", "stroke_width": "0.7"}
        add(parent, "path", class_="leader", d=f"M{start}L{stop}", **line)
    halo = {"stroke": "#ffffff", "stroke_width": "3", "stroke_opacity": "0.8"}
    style = {"class_": "halo", "paint_order": "stroke", "font_size": coordinate(drawing.font)}
    add_text(parent, label.text, label.middle, anchor="middle", **style, **halo)
