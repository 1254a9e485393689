"""What SVG pictures are made of: elements, tips, and squares of cells with names at their sides.

The pictures stand alone, and fit into a page: colours are attributes, which any style sheet of the
page overrides by classes, and texts have the colour of the text around them. The standard library's
ElementTree writes them, and escapes what it is given. The same input gives the same text.
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

MOST_CELLS = 60
"""Up to this many variables each cell is an element with a tip; above, the cells are an image."""
TIGHT, LOOSE = 9, 12
"""The pixels that a label needs along its side: where each cell has one, and where some do."""
SMALLEST_CELL = 3
"""In pixels: cells of an image are drawn together until they are seen, the worst for all."""
TICKS = 5
"""About so many marks along an axis."""
GREY = {"stroke": "#7f7f7f", "stroke_opacity": "0.4"}


def new_picture(kind: str, width: float, height: float, words: str) -> Element:
    """An empty picture.

    Parameters
    ----------
    kind : its class
    width, height : in pixels
    words : what it shows, for those who cannot see it

    Returns
    -------
    Element
    """
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
    """A new element.

    Parameters
    ----------
    parent : what it is in
    tag : its name
    **attributes : an underscore stands for a hyphen, as in ``stroke_width``

    Returns
    -------
    Element
    """
    return SubElement(
        parent, tag, {key.rstrip("_").replace("_", "-"): own for key, own in attributes.items()}
    )


def add_tip(parent: Element, words: str) -> None:
    """What a reader sees who points at an element."""
    add(parent, "title").text = printable(words)


def coordinate(value: float) -> str:
    """A coordinate: two places are plenty, and keep the text short and the same everywhere.

    >>> coordinate(12.0), coordinate(1 / 3)
    ('12', '0.33')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")


def add_line(
    parent: Element, start: tuple[float, float], stop: tuple[float, float], **style: str
) -> Element:
    """A straight line.

    Parameters
    ----------
    parent : what it is in
    start, stop : its ends
    **style : further attributes, as those of `add`

    Returns
    -------
    Element
    """
    ends = zip(("x1", "y1", "x2", "y2"), (*start, *stop), strict=True)
    places = {key: coordinate(value) for key, value in ends}
    return add(parent, "line", **style, **places)


def add_text(
    parent: Element, text: str, place: tuple[float, float], *, anchor: str, **style: str
) -> Element:
    """A text of a picture's usual size, in the colour of the text around it.

    Parameters
    ----------
    parent : what it is in
    text : what it says
    place : where it begins, has its middle or ends; its letters' middle in height
    anchor : "start", "middle" or "end"
    **style : further attributes, as those of `add`

    Returns
    -------
    Element
    """
    usual = {"font_size": "12", "fill": "currentColor", "dy": "0.35em", "text_anchor": anchor}
    x, y = map(coordinate, place)
    drawn = add(parent, "text", x=x, y=y, **usual, **style)
    drawn.text = printable(text)
    return drawn


def round_step(end: float) -> float:
    """A round distance between marks of an axis from 0 to ``end``, so that there are few.

    >>> [round_step(end) for end in (1.0, 100.0, 0.037, 0.26)]
    [0.2, 20.0, 0.01, 0.1]
    """
    power = 10.0 ** floor(log10(end / TICKS))
    return next(power * k for k in (1, 2, 5, 10) if end / TICKS <= power * k * 1.0001)


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
