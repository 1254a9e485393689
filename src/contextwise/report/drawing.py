"""Draw graphs and the plane of errors: places in points, and SVG with the standard library.

`arrange` and `edge_lines` place a graph for SVG and matplotlib alike. In SVG, colours are
attributes, which a style sheet overrides by the classes ``fp``, ``fn``, ``tp``, ``node`` and
``halo``; texts have the colour of the text around them. ElementTree escapes every text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import floor, hypot, log10, sqrt
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np

from contextwise.comparison.compare import Comparison
from contextwise.comparison.confusion import ratio
from contextwise.comparison.roles import Agreement, Roles
from contextwise.report.layout import Positions, cut_names, fitted_to, place_labels
from contextwise.report.parts import COLOURS, DASHES
from contextwise.report.shares import Edge, View, edge_text
from contextwise.support.formatting import name as shown
from contextwise.support.formatting import percent, printable

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
    whole: bool = False,
) -> Drawing:
    """Place nodes in a frame, and labels in the largest size for which all find a place.

    If there is none, the nodes with the most edges are labelled first, in the largest size.
    ``measure`` gives the width and height of a text in a size. ``fixed`` has states to show next to
    the names. ``whole`` maps the unit square to the frame, whatever is drawn.
    """
    names = list(positions)
    if not names:
        return Drawing({}, {}, fonts[0])
    texts = [
        f"{text}={shown(fixed[name], 8)}" if fixed and name in fixed else text
        for name, text in zip(names, cut_names(names, LONGEST), strict=True)
    ]
    place = {name: k for k, name in enumerate(names)}
    ends = [(place[first], place[second]) for first, second in (edge.pair for edge in edges)]
    unit = np.array(list(positions.values()))
    for font in fonts:
        sizes = np.array([measure(text, font) for text in texts])
        across = min(float(sizes[:, 0].max()) / 2 + 6, frame[0] / 4)
        margin = (frame[0] / 12, fonts[0] + 4) if whole else (across, font + 4)
        apart = 0.0 if whole else 3.2 * font
        points = fitted_to(unit, frame, margin=margin, apart=apart, whole=whole)
        lines = points[np.array(ends, dtype=np.int64).reshape(-1, 2)]
        middles = place_labels(points, sizes, frame=frame, radius=DISC, lines=lines)
        if middles is not None:
            break
    else:
        font = fonts[0]
        sizes = np.array([measure(text, font) for text in texts])
        degrees = np.bincount(np.array(ends).ravel(), minlength=len(names)).astype(np.float64)
        middles = place_labels(points, sizes, frame=frame, radius=DISC, lines=lines, first=degrees)
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

    @property
    def dash_offset(self) -> float:
        """An offset of the dashes that differs between lines that meet in a node."""
        return round(sum(self.start + self.end) % 9.0, 2)


def edge_lines(
    edge: Edge, places: Mapping[str, Point], *, view: View = "both", widest: float = WIDEST
) -> Iterator[EdgeLine]:
    """Yield the parallel lines of an edge, as wide as their shares of contexts."""
    (x1, y1), (x2, y2) = (places[name] for name in edge.pair)
    length = hypot(x2 - x1, y2 - y1) or 1.0
    across = ((y1 - y2) / length, (x2 - x1) / length)
    lines = [(kind, THINNEST + (widest - THINNEST) * share) for kind, share in edge.kinds(view)]
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


def arrow_path(start: Point, end: Point, width: float) -> str:
    tip, left, right = (" ".join(map(coordinate, p)) for p in arrow_corners(start, end, width))
    return f"M{tip}L{left}L{right}Z"


def widest_of(edges: int) -> float:
    """Return the width of a line for every context, in a graph of that many edges."""
    return max(1.5 * THINNEST, WIDEST * min(1.0, sqrt(MANY / max(edges, 1))))


# -- elements of SVG -------------------------------------------------------------------------------


def new_picture(kind: str, width: float, height: float, text: str) -> Element:
    """Return an empty picture of a class; ``text`` describes it to screen readers."""
    size = {"viewBox": f"0 0 {coordinate(width)} {coordinate(height)}"}
    size |= {"width": coordinate(width), "height": coordinate(height)}
    usual = {"xmlns": "http://www.w3.org/2000/svg", "role": "img", "font-family": "sans-serif"}
    picture = Element("svg", {"class": kind, **size, **usual})
    add_tip(picture, text)
    return picture


def add(parent: Element, tag: str, **attributes: str | float) -> Element:
    """Add an element; underscores in the names of attributes become hyphens."""
    texts = {
        key.rstrip("_").replace("_", "-"): value if isinstance(value, str) else coordinate(value)
        for key, value in attributes.items()
    }
    return SubElement(parent, tag, texts)


def add_tip(parent: Element, text: str) -> None:
    """Add a tip, which a browser shows when the reader points at the element."""
    add(parent, "title").text = printable(text)


def coordinate(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def add_line(parent: Element, start: Point, stop: Point, **style: str | float) -> Element:
    (x1, y1), (x2, y2) = start, stop
    return add(parent, "line", **style, x1=x1, y1=y1, x2=x2, y2=y2)


def add_text(parent: Element, text: str, place: Point, anchor: str, **style: str | float) -> None:
    """Add a text; ``anchor`` is "start", "middle" or "end"."""
    usual = {"font_size": "12", "fill": "currentColor", "dy": "0.35em", "text_anchor": anchor}
    x, y = place
    add(parent, "text", x=x, y=y, **(usual | style)).text = printable(text)


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
    view: View = "both",
    fixed: Mapping[str, str | tuple[str, ...]] | None = None,
    arcs: Collection[tuple[str, str]] = (),
    size: int = 480,
    whole: bool = False,
) -> str:
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
        whole=whole,
    )
    picture = new_picture("graph", *frame, f"Graph of {len(positions)} variables")
    widest = widest_of(len(drawn))
    for edge in drawn:
        for line in edge_lines(edge, drawing.places, view=view, widest=widest):
            style: dict[str, str | float] = {"stroke": COLOURS[line.kind]}
            style["stroke_width"] = line.width
            if dashes := DASHES[line.kind]:
                style["stroke_dasharray"] = f"{dashes[0]} {dashes[1]}"
                style["stroke_dashoffset"] = line.dash_offset
            element = add_line(picture, line.start, line.end, class_=line.kind, **style)
            add_tip(element, edge_text(edge))
            for end in arrow_ends(edge, line, arcs):
                paint = {"fill": COLOURS[line.kind], "class_": f"arrow {line.kind}"}
                add(picture, "path", d=arrow_path(*end, line.width), **paint)
    for name in positions:
        _add_node(picture, name, drawing, hollow=isinstance((fixed or {}).get(name), str))
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
    paint["data_variable"] = printable(name)
    add_tip(add(parent, "circle", class_="node", cx=x, cy=y, r=1.4 * DISC, **paint), shown(name))
    label = drawing.labels.get(name)
    if label is None:
        return
    if label.leader is not None:
        start, stop = (" ".join(map(coordinate, end)) for end in ((x, y), label.leader))
        line = {"stroke": "#7f7f7f", "stroke_width": "0.7"}
        add(parent, "path", class_="leader", d=f"M{start}L{stop}", **line)
    style = HALO | {"data_variable": printable(name)}
    add_text(parent, label.text, label.middle, "middle", font_size=drawing.font, **style)


# -- the plane of errors ---------------------------------------------------------------------------

SERIES = ("currentColor", "#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#0072B2", "#D55E00")
"""The palette of Okabe and Ito; the first is the colour of the text."""
MARKS = (
    "M4.0 0A4.0 4.0 0 1 1 -4.0 0A4.0 4.0 0 1 1 4.0 0Z",
    "M-3.5 -3.5H3.5V3.5H-3.5Z",
    "M0 -5.2L5 4H-5Z",
    "M0 -5.2L5.2 0L0 5.2L-5.2 0Z",
    "M0 5.2L5 -4H-5Z",
    "M-4.6 -1.7H-1.7V-4.6H1.7V-1.7H4.6V1.7H1.7V4.6H-1.7V1.7H-4.6Z",
)
"""The outlines of points around their middle, so that series differ without colour."""
TICKS = 5  # the approximate number of ticks of an axis
SIZE, LEFT, BOTTOM, TOP, RIGHT = 420.0, 62.0, 46.0, 10.0, 16.0
HEADROOM = 1.08  # the length of an axis over the largest value


class Plane(NamedTuple):
    """The plane of errors: names of points with their shares of FP and FN, by group."""

    series: Mapping[str, Sequence[tuple[str, float, float]]]
    roles: Roles

    @property
    def axes(self) -> tuple[str, str]:
        """What the horizontal and the vertical axis show."""
        if self.roles.peers:
            return "only in the other model", self.roles.only["fn"]
        return "only in guess (FP)", "only in true (FN)"


def error_shares(comparison: Comparison) -> tuple[float, float]:
    """Return the false positives and false negatives as shares of all assertions."""
    total = comparison.total or 1  # without assertions there is no error
    return ratio(comparison.fp, total), ratio(comparison.fn, total)


def mark_of(place: int) -> tuple[str, str]:
    """Return the colour and the outline of the points of a series."""
    return SERIES[place % len(SERIES)], MARKS[place % len(MARKS)]


def plane_svg(plane: Plane) -> str:
    """Draw the plane over equal axes; grey lines join points of the same distance."""
    points = [point for series in plane.series.values() for point in series]
    across, upward = plane.axes
    picture = new_picture("plane", SIZE, SIZE, f"{len(points)} models: {across} against {upward}")
    end = HEADROOM * max([share for point in points for share in point[1:]], default=0.0) or 1.0
    _add_axes(picture, end, plane.axes)
    for k, series in enumerate(plane.series.values()):
        colour, path = mark_of(k)
        style = {"class_": "guess", "fill": colour, "fill_opacity": "0.8"}
        for name, fp, fn in series:
            x, y = map(coordinate, _place(fp, fn, end))
            drawn = add(picture, "path", d=path, transform=f"translate({x} {y})", **style)
            title = shown(name) if plane.roles.peers else "guess"
            fps, fns = (percent(Fraction(share), 1) for share in (fp, fn))
            add_tip(drawn, f"{shown(name)}: only in {title} {fps}, {plane.roles.only['fn']} {fns}")
    return tostring(picture, encoding="unicode")


def round_step(end: float) -> float:
    """Return a round distance between the ticks of an axis from 0 to ``end``."""
    power = 10.0 ** floor(log10(end / TICKS))
    return next(power * k for k in (1, 2, 5, 10) if end / TICKS <= power * k * 1.0001)


def _place(fp: float, fn: float, end: float) -> tuple[float, float]:
    """Return the place of two shares in the picture, clipped to the axes."""
    across, upward = (min(max(share, 0.0), end) / end for share in (fp, fn))
    return LEFT + (SIZE - LEFT - RIGHT) * across, SIZE - BOTTOM - (SIZE - TOP - BOTTOM) * upward


def _add_axes(picture: Element, end: float, axes: tuple[str, str]) -> None:
    step = round_step(end)
    corner_x, corner_y = corner = _place(0, 0, end)
    for share in (k * step for k in range(floor(2 * end / step) + 1)):
        if share <= end:
            x, y = _place(share, share, end)
            label = f"{100 * share:.3g} %"
            add_text(picture, label, (x, corner_y + 16), "middle")
            add_text(picture, label, (corner_x - 6, y), "end")
        if share:  # where both axes together are this distance, inside of the picture
            low = max(share - end, 0.0)
            ends = _place(low, share - low, end), _place(share - low, low, end)
            add_line(picture, *ends, stroke="#7f7f7f", stroke_opacity="0.35")
    for stop in (_place(end, 0, end), _place(0, end, end)):
        add_line(picture, corner, stop, stroke="currentColor", stroke_opacity="0.6")
    across, upward = (LEFT + SIZE - RIGHT) / 2, (TOP + SIZE - BOTTOM) / 2
    false_positives, false_negatives = (f"{axis}, of all assertions" for axis in axes)
    add_text(picture, false_positives, (across, SIZE - 8), "middle")
    turned = f"translate(12 {coordinate(upward)}) rotate(-90)"
    add_text(picture, false_negatives, (0, 0), "middle", transform=turned)
