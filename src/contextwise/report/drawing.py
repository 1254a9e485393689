"""Draw graphs and odds ratios: places in points, and SVG.

`arrange` and `edge_lines` place a graph for SVG and matplotlib alike. In SVG, colours are
attributes, which a style sheet overrides by the classes ``fp``, ``fn``, ``tp``, ``node`` and
``halo``; texts have the colour of the text around them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from math import hypot, sqrt
from typing import NamedTuple

import numpy as np

from contextwise.comparison.roles import Agreement
from contextwise.report.html import Markup, coordinate, tag
from contextwise.report.layout import Positions, cut_names, fitted_to, place_labels
from contextwise.report.parts import COLOURS, DASHES
from contextwise.report.pictures import Edge, Graph, edge_text
from contextwise.support.formatting import name as shown

WIDEST, THINNEST = 5.0, 0.8  # widths in points of an edge for every context, and for the fewest
MANY = 40  # lines get thinner in graphs of more edges than this

DISC = 2.2  # the radius of a node
NEAR = 7.0  # labels farther from their node than this get a line to it
LONGEST = 16  # the most characters of a name

Point = tuple[float, float]
TextSize = Callable[[str, float], tuple[float, float]]
"""Width and height of a text in a font of some size."""


class Label(NamedTuple):
    """A text in its box, and the end of a line to its node if it is far from it."""

    text: str
    middle: Point
    leader: Point | None


class Drawing(NamedTuple):
    """Places of the nodes of a graph, and its labels; some have no room in a large graph."""

    places: Mapping[str, Point]
    labels: Mapping[str, Label]
    font: float


def arrange(
    positions: Positions,
    edges: Iterable[Edge],
    *,
    frame: tuple[float, float],
    fonts: Sequence[float],
    measure: TextSize,
    fixed: Mapping[str, str] | None = None,
) -> Drawing:
    """Place nodes in a frame, and labels in the largest size for which all find a place.

    If there is none, the nodes with the most edges are labelled first, in the largest size.
    ``measure`` gives the width and height of a text in a size. ``fixed`` has states to show next to
    the names; they do not move the nodes.
    """
    names = list(positions)
    if not names:
        return Drawing({}, {}, fonts[0])
    short = cut_names(names, LONGEST)
    texts = [
        f"{text}={shown(fixed[name], 8)}" if fixed and name in fixed else text
        for name, text in zip(names, short, strict=True)
    ]
    place = {name: k for k, name in enumerate(names)}
    ends = [(place[first], place[second]) for first, second in (edge.pair for edge in edges)]
    unit = np.array(list(positions.values()))
    degrees = np.bincount(np.array(ends, dtype=np.int64).ravel(), minlength=len(names))
    tries = [*((font, None) for font in fonts), (fonts[0], degrees.astype(np.float64))]
    for font, first in tries:
        sizes = np.array([measure(text, font) for text in texts])
        widest = max(measure(text, font)[0] for text in short)
        margin = (min(widest / 2 + 6, frame[0] / 4), font + 4)
        points = fitted_to(unit, frame, margin=margin, apart=3.2 * font)
        lines = points[np.array(ends, dtype=np.int64).reshape(-1, 2)]
        middles = place_labels(points, sizes, frame=frame, radius=DISC, lines=lines, first=first)
        if middles is not None:
            break
    assert middles is not None
    places = {name: (x, y) for name, (x, y) in zip(names, points.tolist(), strict=True)}
    nearest = np.clip(points, middles - sizes / 2, middles + sizes / 2)
    far = np.hypot(*(nearest - points).T) > NEAR
    labels = {
        name: Label(texts[k], (*middles[k].tolist(),), (*nearest[k].tolist(),) if far[k] else None)
        for k, name in enumerate(names)
        if np.isfinite(middles[k]).all()
    }
    return Drawing(places, labels, font)


class EdgeLine(NamedTuple):
    kind: Agreement
    width: float
    start: Point
    end: Point


def edge_lines(
    edge: Edge, places: Mapping[str, Point], *, widest: float = WIDEST
) -> Iterator[EdgeLine]:
    """Yield the parallel lines of an edge, as wide as their shares of contexts."""
    (x1, y1), (x2, y2) = (places[name] for name in edge.pair)
    length = hypot(x2 - x1, y2 - y1) or 1.0
    across = ((y1 - y2) / length, (x2 - x1) / length)
    lines = [(kind, THINNEST + (widest - THINNEST) * share) for kind, share in edge.kinds()]
    offset = -sum(width for _, width in lines) / 2
    for kind, width in lines:
        middle = offset + width / 2
        offset += width
        dx, dy = across[0] * middle, across[1] * middle
        yield EdgeLine(kind, width, (x1 + dx, y1 + dy), (x2 + dx, y2 + dy))


def arrow_ends(
    edge: Edge, line: EdgeLine, arcs: Collection[tuple[str, str]]
) -> Iterator[tuple[Point, Point]]:
    """Yield the start and end of the line for each arrow it has."""
    if edge.pair in arcs:
        yield line.start, line.end
    if edge.pair[::-1] in arcs:
        yield line.end, line.start


def arrow_corners(start: Point, end: Point, width: float) -> tuple[Point, Point, Point]:
    """Return the tip of an arrow, just before the node, and its other corners."""
    (x1, y1), (x2, y2) = start, end
    length = hypot(x2 - x1, y2 - y1) or 1.0
    ahead = ((x2 - x1) / length, (y2 - y1) / length)
    long, wide = 5.0 + width, 2.5 + width / 1.5
    tip = (x2 - 1.6 * DISC * ahead[0], y2 - 1.6 * DISC * ahead[1])
    back = (tip[0] - long * ahead[0], tip[1] - long * ahead[1])
    side = (-wide * ahead[1], wide * ahead[0])
    return tip, (back[0] + side[0], back[1] + side[1]), (back[0] - side[0], back[1] - side[1])


def widest_of(edges: int) -> float:
    """Return the width of a line for every context, in a graph of that many edges."""
    return max(1.5 * THINNEST, WIDEST * min(1.0, sqrt(MANY / max(edges, 1))))


# -- elements of SVG -------------------------------------------------------------------------------


def picture(kind: str, size: Point, text: str, *shapes: str | None, **style: str) -> Markup:
    """Return a picture of a class and its shapes; ``text`` describes it to screen readers."""
    width, height = map(coordinate, size)
    style |= {"viewBox": f"0 0 {width} {height}", "width": width, "height": height}
    xmlns = "http://www.w3.org/2000/svg"
    return tag("svg", tip(text), *shapes, class_=kind, xmlns=xmlns, role="img", **style)


def tip(text: str) -> Markup:
    """Return a tip, which a browser shows when the reader points at the element around it."""
    return tag("title", text)


def line(start: Point, stop: Point, *children: str, **style: str | float) -> Markup:
    (x1, y1), (x2, y2) = start, stop
    return tag("line", *children, **style, x1=x1, y1=y1, x2=x2, y2=y2)


def label(text: str, place: Point, anchor: str, **style: str | float) -> Markup:
    usual = {"font_size": "12", "fill": "currentColor", "dy": "0.35em", "text_anchor": anchor}
    return tag("text", text, x=place[0], y=place[1], **(usual | style))


def path(*points: Point) -> str:
    return "M" + "L".join(" ".join(map(coordinate, point)) for point in points)


# -- graphs ----------------------------------------------------------------------------------------

HALO = {
    "class_": "halo",
    "paint_order": "stroke",
    "stroke": "#ffffff",
    "stroke_width": "3",
    "stroke_opacity": "0.8",
}
"""The style of a text that can be read on lines."""
FONTS = (12.0, 11.0, 10.0, 9.0)  # sizes of the labels of a graph, the largest first


def graph_svg(
    edges: Iterable[Edge],
    positions: Positions,
    *,
    fixed: Mapping[str, str | tuple[str, ...]] | None = None,
    arcs: Collection[tuple[str, str]] = (),
    size: int = 480,
) -> Markup:
    """Draw a graph as SVG, ``size`` pixels wide.

    ``fixed`` has states to show: variables with one are hollow, those with several still vary.
    Edges in ``arcs`` have an arrow to their second variable.
    """
    drawn, frame = list(edges), (float(size), 0.8 * size)
    labels = {n: s if isinstance(s, str) else "|".join(s) for n, s in (fixed or {}).items()}
    drawing = arrange(
        {name: (x, 1 - y) for name, (x, y) in positions.items()},  # on a page, y grows downwards
        drawn,
        frame=frame,
        fonts=FONTS,
        measure=_text_size,
        fixed=labels,
    )
    shapes: list[Markup] = []
    widest = widest_of(len(drawn))
    for edge in drawn:
        for strand in edge_lines(edge, drawing.places, widest=widest):
            style: dict[str, str | float] = {"class_": strand.kind, "stroke": COLOURS[strand.kind]}
            style["stroke_width"] = strand.width
            if dashes := DASHES[strand.kind]:
                style["stroke_dasharray"] = f"{dashes[0]} {dashes[1]}"
            shapes.append(line(strand.start, strand.end, tip(edge_text(edge)), **style))
            for ends in arrow_ends(edge, strand, arcs):
                paint = {"fill": COLOURS[strand.kind], "class_": f"arrow {strand.kind}"}
                shapes.append(
                    tag("path", d=path(*arrow_corners(*ends, strand.width)) + "Z", **paint)
                )
    for name in positions:
        shapes += _node(name, drawing, hollow=isinstance((fixed or {}).get(name), str))
    text = f"Graph of {len(positions)} variables"
    return picture("graph", frame, text, *shapes, font_family="sans-serif")


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


def _node(variable: str, drawing: Drawing, *, hollow: bool) -> Iterator[Markup]:
    """Yield a dot, its name, and a line between them if the name is far away."""
    x, y = place = drawing.places[variable]
    paint = {"fill": "none", "stroke": "currentColor"} if hollow else {"fill": "currentColor"}
    paint |= {"class_": "node", "data_variable": variable}
    yield tag("circle", tip(shown(variable)), cx=x, cy=y, r=1.4 * DISC, **paint)
    written = drawing.labels.get(variable)
    if written is None:
        return
    if written.leader is not None:
        style = {"class_": "leader", "stroke": "#7f7f7f", "stroke_width": "0.7"}
        yield tag("path", d=path(place, written.leader), **style)
    style = HALO | {"data_variable": variable}
    yield label(written.text, written.middle, "middle", font_size=drawing.font, **style)


# -- odds ratios of groups -------------------------------------------------------------------------


class ForestLine(NamedTuple):
    """One group of one pair: places from 0 to 1 on the axis, clipped to it, or None if unknown."""

    label: str
    text: str
    value: float | None
    low: float
    high: float


class Forest(NamedTuple):
    """Odds ratios by pair and group on a logarithmic axis."""

    pairs: tuple[tuple[str, tuple[ForestLine, ...]], ...]  # title, lines
    ticks: tuple[tuple[float, str], ...]  # places from 0 to 1 with their labels


NAMES, AXIS, NUMBERS, STEP = 130.0, 330.0, 140.0, 20.0
"""Widths of the names, the axis and the numbers, and the height of a line."""


def forest_svg(forest: Forest) -> Markup:
    """Draw the odds ratios of each group with their intervals, pair by pair."""
    height = STEP * sum(len(lines) + 1.4 for _, lines in forest.pairs) + 40
    bottom, y = height - 34, STEP * 0.7

    def at(place: float) -> float:
        return NAMES + AXIS * place

    shapes = []
    for place, text in forest.ticks:
        opacity = "0.7" if text == "1" else "0.15"
        ends = (at(place), 6), (at(place), bottom)
        shapes.append(line(*ends, stroke="currentColor", stroke_opacity=opacity))
        shapes.append(label(text, (at(place), bottom + 12), "middle", font_size="11"))
    shapes.append(label("odds ratio", (at(0.5), bottom + 28), "middle", font_size="11"))
    for title, lines in forest.pairs:
        shapes.append(label(title, (0, y), "start", font_weight="600"))
        for group in lines:
            y += STEP
            shapes.append(label(shown(group.label, 18), (NAMES - 10, y), "end"))
            shapes.append(label(group.text, (NAMES + AXIS + 8, y), "start", font_size="11"))
            if group.text == "unknown":
                continue
            style = {"class_": "fn", "stroke": "#0072B2", "stroke_width": "2"}
            words = tip(f"{group.label}: {group.text}")
            shapes.append(line((at(group.low), y), (at(group.high), y), words, **style))
            if group.value is not None:
                place = at(group.value)
                shapes.append(tag("circle", class_="group", cx=place, cy=y, r=4, fill="#0072B2"))
        y += 1.4 * STEP
    text = f"Odds ratios of {len(forest.pairs)} pairs of variables in each group"
    size = (NAMES + AXIS + NUMBERS, height)
    return picture("forest", size, text, *shapes, font_family="sans-serif")


def svg_of(content: Graph | Forest) -> Markup:
    if isinstance(content, Forest):
        return forest_svg(content)
    return graph_svg(content.edges, content.positions, arcs=content.arcs)
