"""Pictures for pages: the heat map of pairs and the graph of two structures, as SVG texts.

The pictures stand alone, and fit into a page: colours are attributes, which any style sheet of the
page overrides (by the classes ``fp``, ``fn``, ``tp``, ``covered``, ``open``, ``node``, ``halo``),
and texts have the colour of the text around them. The standard library's ElementTree writes them,
and escapes what it is given. The same input gives the same text.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from math import isinf
from xml.etree.ElementTree import Element, SubElement, tostring

from contextwise.models.notation import printable
from contextwise.models.numbers import name as shown
from contextwise.report.colours import COLOURS, DASHES, UNDECIDED, Agreement
from contextwise.report.drawing import DISC, Drawing, Point, arrange, strand_lines, widest_of
from contextwise.report.edges import edge_words, share_words
from contextwise.report.heatmap import AGREED, OPEN, HeatMap, heat_map_png, palette
from contextwise.report.labels import cut_names
from contextwise.report.layout import Positions
from contextwise.report.shares import Edge, View

MOST_CELLS = 60
"""Up to this many variables each cell is an element with a tip; above, the cells are an image."""
LABELS = 60
"""The most labels along a side."""
FONTS = (12.0, 11.0, 10.0, 9.0, 8.0, 7.0)
"""Sizes of the labels of a graph, the first for which all find a place."""
WIDE, NARROW, CAPITAL, USUAL = 0.92, 0.36, 0.72, 0.6
"""The widths of letters, as shares of the size of the font: a little more than in most fonts."""


def heat_map_svg(heat: HeatMap, *, size: int = 600) -> str:
    """The heat map, about ``size`` wide; false positives above the diagonal.

    The cells are in ``<g class="cells">``, which has the attributes ``data-variables`` and
    ``data-cell`` (the side of a cell); each cell that is not blank has ``data-row`` and
    ``data-column`` and a tip. Many variables make one image instead; a click's place divided by
    ``data-cell`` is its cell in both cases.

    Parameters
    ----------
    heat : what is drawn
    size : the width of the picture

    Returns
    -------
    str
    """
    n = max(len(heat.names), 1)
    labels = cut_names(heat.names, 20)
    margin = 12 + 6 * max(map(len, labels), default=0)
    cell = min((size - margin) / n, 48.0)
    side = cell * n
    words = (
        f"Errors of the pairs of {len(heat.names)} variables: "
        "only in guess above the diagonal, only in true below it"
    )
    picture = _picture("heat", margin + side + 4, margin + side + 4, words)
    _add_names(picture, labels, cell, margin)
    cells = _add(
        picture,
        "g",
        class_="cells",
        data_variables=str(n),
        data_cell=_f(cell),
        transform=f"translate({margin} {margin})",
    )
    grey = {"stroke": "#7f7f7f", "stroke_opacity": "0.4"}
    _add(cells, "rect", class_="frame", width=_f(side), height=_f(side), fill="none", **grey)
    if n <= MOST_CELLS:
        _add_cells(cells, heat, cell)
    else:
        _add_image(cells, heat, side)
    _add(cells, "path", d=f"M0 0L{_f(side)} {_f(side)}", **grey)
    return tostring(picture, encoding="unicode")


def graph_svg(
    edges: Iterable[Edge],
    positions: Positions,
    *,
    view: View = "both",
    fixed: Mapping[str, str] | None = None,
    size: int = 480,
) -> str:
    """The graph of the edges, ``size`` wide; no label covers a node or another label.

    Parameters
    ----------
    edges : what is drawn
    positions : the place of each variable; see `contextwise.report.layout.graph_layout`
    view : both graphs in one, or the edges of the true model or of the guess
    fixed : the variables that a context assigns, with their states; drawn hollow
    size : the width of the picture

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
    )
    picture = _picture("graph", *frame, f"Graph of {len(positions)} variables")
    widest = widest_of(len(drawn))
    for edge in drawn:
        _add_edge(picture, edge, drawing.places, view, widest)
    for name in positions:
        _add_node(picture, name, drawing, hollow=name in (fixed or {}))
    return tostring(picture, encoding="unicode")


def _picture(kind: str, width: float, height: float, words: str) -> Element:
    picture = Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "class": kind,
            "role": "img",
            "viewBox": f"0 0 {_f(width)} {_f(height)}",
            "width": _f(width),
            "height": _f(height),
            "font-family": "sans-serif",
        },
    )
    _add_tip(picture, words)
    return picture


def _add(parent: Element, tag: str, **attributes: str) -> Element:
    """A new element; an attribute's underscores are hyphens, as in ``stroke_width``."""
    return SubElement(
        parent, tag, {key.rstrip("_").replace("_", "-"): own for key, own in attributes.items()}
    )


def _add_tip(parent: Element, words: str) -> None:
    _add(parent, "title").text = printable(words)


def _f(value: float) -> str:
    """A coordinate: two places are plenty, and keep the text short and the same everywhere."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


# -- the heat map --------------------------------------------------------------------------------


def _add_cells(parent: Element, heat: HeatMap, cell: float) -> None:
    paint = palette()
    for row, column in zip(*heat.codes.nonzero(), strict=True):
        code, share = int(heat.codes[row, column]), float(heat.shares[row, column])
        kind: Agreement = "fn" if row > column else "fp"
        colour, opacity = paint[code]
        drawn = _add(
            parent,
            "rect",
            class_={AGREED: "covered", OPEN: "open"}.get(code, kind),
            x=_f(column * cell),
            y=_f(row * cell),
            width=_f(cell),
            height=_f(cell),
            fill=colour,
            fill_opacity=str(opacity),
            data_row=str(row),
            data_column=str(column),
        )
        words = UNDECIDED if isinf(share) else share_words(kind, share)
        _add_tip(drawn, f"{shown(heat.names[row])} – {shown(heat.names[column])}: {words}")


def _add_image(parent: Element, heat: HeatMap, side: float) -> None:
    """The cells as an image, and hidden beside it one that a style sheet shows on a dark page."""
    for name, dark in (("on-light", False), ("on-dark", True)):
        picture = b64encode(heat_map_png(heat, most=int(side), dark=dark)).decode()
        drawn = _add(
            parent,
            "image",
            class_=name,
            width=_f(side),
            height=_f(side),
            style="image-rendering:pixelated",
            href=f"data:image/png;base64,{picture}",
        )
        if dark:
            drawn.set("display", "none")


def _add_names(parent: Element, names: list[str], cell: float, margin: float) -> None:
    """Names along the left and the top; where they are many, every second, third, ... one."""
    every = max(1, -(-len(names) // LABELS), -int(-9 // cell))
    style = {"font_size": _f(min(11.0, max(8.0, cell))), "fill": "currentColor", "dy": "0.35em"}
    for k in range(0, len(names), every):
        at = margin + (k + 0.5) * cell
        beside = _add(parent, "text", **style, x=_f(margin - 5), y=_f(at), text_anchor="end")
        turned = f"translate({_f(at)} {_f(margin - 5)}) rotate(-90)"
        beside.text = _add(parent, "text", **style, transform=turned).text = names[k]


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
    for strand in strand_lines(edge, places, view=view, widest=widest):
        (x1, y1), (x2, y2) = strand.start, strand.end
        dashes = DASHES[strand.kind]
        dashed = {}
        if dashes is not None:
            dashed["stroke_dasharray"] = f"{dashes[0]} {dashes[1]}"
            dashed["stroke_dashoffset"] = _f(strand.dash_offset)
        line = _add(
            parent,
            "line",
            class_=strand.kind,
            x1=_f(x1),
            y1=_f(y1),
            x2=_f(x2),
            y2=_f(y2),
            stroke=COLOURS[strand.kind],
            stroke_width=_f(strand.width),
            **dashed,
        )
        _add_tip(line, edge_words(edge))


def _add_node(parent: Element, name: str, drawing: Drawing, *, hollow: bool) -> None:
    """A dot, its name, and a line between the two where the name stands away from it."""
    x, y = drawing.places[name]
    paint = {"fill": "none", "stroke": "currentColor"} if hollow else {"fill": "currentColor"}
    dot = _add(parent, "circle", class_="node", cx=_f(x), cy=_f(y), r=_f(1.4 * DISC), **paint)
    _add_tip(dot, shown(name))
    label = drawing.labels.get(name)
    if label is None:
        return
    if label.leader is not None:
        end = f"M{_f(x)} {_f(y)}L{_f(label.leader[0])} {_f(label.leader[1])}"
        _add(parent, "path", class_="leader", d=end, stroke="#7f7f7f", stroke_width="0.7")
    text = _add(
        parent,
        "text",
        x=_f(label.middle[0]),
        y=_f(label.middle[1]),
        dy="0.35em",
        font_size=_f(drawing.font),
        text_anchor="middle",
        fill="currentColor",
        class_="halo",
        paint_order="stroke",
        stroke="#ffffff",
        stroke_width="3",
        stroke_opacity="0.8",
    )
    text.text = label.text
