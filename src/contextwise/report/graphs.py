"""Place the nodes and labels of graphs, shorten names, and draw graphs as SVG.

Points minimise the **stress**, the sum over pairs of w·(|x - y| - d)², by majorisation: each step
solves a linear system and cannot increase the stress (Gansner, Koren and North, "Graph drawing by
stress majorization", 2004). Here d is the length of a shortest path and w is 1/d², the energy of
Kamada and Kawai. Nothing is random. For n points it takes O(n²) memory, one inverse in O(n³), and
O(n²) a step.

`arrange` and `edge_lines` place a graph for SVG and matplotlib alike. In SVG, colours are
attributes, which a style sheet overrides by the classes ``fp``, ``fn``, ``tp``, ``node`` and
``halo``; texts have the colour of the text around them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from math import hypot, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from contextwise.comparison.question import Pair
from contextwise.comparison.roles import Agreement
from contextwise.report.html import Markup, Point, label, line, path, svg_picture, tag, tip
from contextwise.report.parts import COLOURS, DASHES
from contextwise.support.arrays import FloatArray
from contextwise.support.formatting import name as shortened
from contextwise.support.formatting import printable

if TYPE_CHECKING:
    from contextwise.report.pictures import Edge

Positions = dict[str, tuple[float, float]]  # places of variables in the unit square; y points up

WIDEST, THINNEST = 5.0, 0.8  # widths in points of an edge for every context, and for the fewest
MANY = 40  # lines get thinner in graphs of more edges than this

DISC = 2.2  # the radius of a node
NEAR_IN_PIXELS = 7.0  # labels farther from their node than this get a line to it
LONGEST = 16  # the most characters of a name
MOST_LAYOUT_STEPS = 100  # the most steps for many points; few points may take more
SMALLEST_IMPROVEMENT = 1e-4  # stop when a step improves the stress by a smaller share
NO_STRESS = 1e-9  # the relative stress that counts as none
STRETCH = 2.2  # the largest ratio of the two stretches of a layout


# -- places of nodes -------------------------------------------------------------------------------


def graph_layout(names: Sequence[str], edges: Iterable[Pair]) -> Positions:
    """Place nodes in the unit square; the parts of a graph that are not connected lie apart."""
    from scipy.sparse.csgraph import shortest_path

    if not names:
        return {}
    place = {name: k for k, name in enumerate(names)}
    adjacent = np.zeros((len(names), len(names)))
    for first, second in edges:
        adjacent[place[first], place[second]] = 1
    hops = shortest_path(adjacent, directed=False, unweighted=True)
    connected = np.isfinite(hops)
    hops[~connected] = hops[connected].max() / 2 + 1
    degrees = (hops == 1).sum(axis=1)
    if len(names) > 3 and sorted(degrees) == [*[1] * (len(names) - 1), len(names) - 1]:
        points = np.zeros((len(names), 2))  # a star: one variable and its neighbours
        points[degrees == 1] = circle(len(names) - 1)
    else:
        points = planar(hops)
    low, high = points.min(axis=0), points.max(axis=0)
    fitted = (points - (low + high) / 2) / max(float((high - low).max()), 1e-12) + 0.5
    return {name: (float(x), float(y)) for name, (x, y) in zip(names, fitted, strict=True)}


def circle(count: int) -> FloatArray:
    """Return points on a circle, clockwise from the top."""
    angles = np.pi / 2 - 2 * np.pi * np.arange(count) / max(count, 1)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def planar(distances: FloatArray) -> FloatArray:
    """Return points of small stress, centred at the origin."""
    n = len(distances)
    if n < 2:
        return np.zeros((n, 2))
    w = np.divide(1.0, distances**2, out=np.zeros((n, n)), where=distances > 0)
    laplacian = np.diag(w.sum(axis=1)) - w
    inverse = np.linalg.inv(laplacian + 1.0 / n)  # on centred points, the pseudoinverse
    points = _start(distances)
    stress, nothing = np.inf, NO_STRESS * float((w * distances**2).sum())
    for _ in range(max(MOST_LAYOUT_STEPS, 20_000 // n)):
        between = _between(points)
        before, stress = stress, float((w * (between - distances) ** 2).sum())
        if before - stress <= SMALLEST_IMPROVEMENT * stress or stress <= nothing:
            break
        pull = np.divide(w * distances, between, out=np.zeros_like(w), where=between > 0)
        # The Guttman transform: no step raises the stress.
        points = inverse @ (points * pull.sum(axis=1)[:, None] - pull @ points)
        points -= points.mean(axis=0)
    return points


def fitted_to(
    points: FloatArray,
    frame: tuple[float, float],
    *,
    margin: tuple[float, float],
    apart: float,
) -> FloatArray:
    """Stretch points to a frame inside a margin; push them apart."""
    if not len(points):
        return points
    low, high = points.min(axis=0), points.max(axis=0)
    edge = np.array(margin)
    room = np.maximum(np.array(frame) - 2 * edge, 1.0)
    span = high - low
    scale = np.where(span > 1e-9, room / np.where(span > 1e-9, span, 1.0), 0.0)
    if scale.all():  # a shape may be stretched a little, not out of all proportion
        scale = np.minimum(scale, STRETCH * scale.min())
    placed: FloatArray = (points - (low + high) / 2) * scale + np.array(frame) / 2
    return _pushed_apart(placed, apart, edge, np.array(frame) - edge)


def _pushed_apart(
    points: FloatArray, apart: float, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Move points a little, until no two are too close or there is no room."""
    moved = points.copy()
    ways = circle(len(points))  # for points that lie on each other
    for _ in range(200):
        between = moved[:, None] - moved[None, :]
        lengths = np.hypot(between[..., 0], between[..., 1])
        np.fill_diagonal(lengths, np.inf)
        if lengths.min() >= apart:
            break
        lack = np.clip(apart - lengths, 0, None)
        same = lengths < 1e-6
        units = between / np.where(same, 1.0, lengths)[..., None]
        units[same] = (ways[:, None] - ways[None, :])[same]
        moved = np.clip(moved + 0.5 * (units * lack[..., None]).sum(axis=1), low, high)
    return moved


def _start(distances: FloatArray) -> FloatArray:
    """Return classical scaling plus a small circle, so that no two points coincide."""
    n = len(distances)
    centre = np.eye(n) - 1.0 / n
    # Double centring turns squared distances into inner products.
    values, vectors = np.linalg.eigh(-0.5 * centre @ distances**2 @ centre)
    axes: FloatArray = vectors[:, [-1, -2]] * np.sqrt(np.maximum(values[[-1, -2]], 0.0))
    # An eigenvector has no sign of its own; the farthest point decides.
    farthest = np.abs(axes).argmax(axis=0)
    axes = axes * np.where(axes[farthest, [0, 1]] < 0, -1.0, 1.0)
    start: FloatArray = axes + 0.1 * distances.mean() * circle(n)
    return start


def _between(points: FloatArray) -> FloatArray:
    """Return the distances between points, by |x - y|² = x² + y² - 2xy, which saves memory."""
    squares = (points**2).sum(axis=1)
    apart = squares[:, None] + squares[None, :] - 2 * points @ points.T
    between: FloatArray = np.sqrt(np.maximum(apart, 0.0))
    return between


RINGS = 14
RING = 3.5
DIRECTIONS = 16
"""Labels are tried at this many distances, this many points apart, in this many directions."""
STEP = 3.0  # the distance between the points of a line that labels avoid


# -- short names -----------------------------------------------------------------------------------


def cut_names(names: Sequence[str], most: int = 20) -> list[str]:
    """Cut long names; two different names are never cut to the same text."""
    lines = [printable(name) for name in names]
    cut = [shortened(line, most) for line in lines]
    for form in {form for form in cut if cut.count(form) > 1}:
        alike = [k for k, text in enumerate(cut) if text == form]
        windows = _where_they_differ([lines[k] for k in alike], most)
        for k, window in zip(alike, windows, strict=True):
            cut[k] = window
    return cut if len(set(cut)) == len(set(lines)) else lines


def _where_they_differ(texts: Sequence[str], most: int) -> list[str]:
    """Return a window of each text that begins just before they differ."""
    shortest = min(map(len, texts))
    same = next((k for k in range(shortest) if len({text[k] for text in texts}) > 1), shortest)
    start = 0 if len(set(texts)) == 1 else max(0, same - 2)
    room = most - 1 - bool(start)
    before = "…" if start else ""
    return [
        before + text[start : start + room] + ("…" if len(text) > start + room else "")
        for text in texts
    ]


# -- places for labels -----------------------------------------------------------------------------


def place_labels(
    points: FloatArray,
    sizes: FloatArray,
    *,
    frame: tuple[float, float],
    radius: float = 3.0,
    lines: FloatArray | None = None,
    first: FloatArray | None = None,
) -> FloatArray | None:
    """Return middles of labels that cover no point and no other label, or None; avoid ``lines``.

    With ``first``, labels of the largest values are placed first, and those that find no place are
    left out (NaN).
    """
    inked = _along(lines) if lines is not None and len(lines) else np.zeros((0, 2))
    crowd = ((points[:, None] - points[None, :]) ** 2).sum(axis=2)
    # Labels in a crowd have the least choice, so they come first.
    order = np.argsort(np.sort(crowd, axis=1)[:, min(3, len(points) - 1)] if len(points) else [])
    if first is not None:
        order = np.argsort(-first, kind="stable")
    middles = np.full((len(points), 2), np.nan)
    placed: list[int] = []
    centre = points.mean(axis=0) if len(points) else np.zeros(2)
    for k in order.tolist():
        offered = _candidates(points[k], sizes[k], radius)
        low, high = offered - sizes[k] / 2, offered + sizes[k] / 2
        free = (low >= 0).all(axis=1) & (high <= frame).all(axis=1)
        nearest = np.clip(points[None, :], low[:, None], high[:, None])
        covered = ((nearest - points[None, :]) ** 2).sum(axis=2) < (radius + 0.5) ** 2
        free &= ~covered.any(axis=1)
        if placed:
            half = (sizes[k] + sizes[placed]) / 2
            apart = np.abs(offered[:, None] - middles[placed][None, :]) >= half[None, :]
            # Two boxes are disjoint if they are apart along one axis.
            free &= apart.any(axis=2).all(axis=1)
        if not free.any():
            if first is None:
                return None
            continue
        near = (np.abs(inked - points[k]) <= RING * RINGS + radius + sizes[k]).all(axis=1)
        middles[k] = _cheapest(offered[free], sizes[k], points[k], inked[near], centre)
        placed.append(k)
    return middles


def _candidates(point: FloatArray, size: FloatArray, radius: float) -> FloatArray:
    """Return middles of boxes around a point, near ones first."""
    angles = 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    ways = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    gaps = radius + 1.5 + RING * np.arange(RINGS)
    # In direction d, the box touches the circle of radius g when its middle is g·d + s·half.
    reach = np.clip(ways * 1.4, -1, 1) * size / 2
    offsets = gaps[:, None, None] * ways[None, :] + reach[None, :]
    middles: FloatArray = point + offsets.reshape(-1, 2)
    return middles


def _cheapest(
    offered: FloatArray, size: FloatArray, point: FloatArray, inked: FloatArray, centre: FloatArray
) -> FloatArray:
    """Choose a place: distance and lines under the label cost, outside of the graph pays."""
    low, high = offered - size / 2, offered + size / 2
    away = offered - point
    length = np.hypot(*away.T)
    outward = point - centre
    towards = (away @ outward) / (length * (np.hypot(*outward) or 1.0) + 1e-9)
    inside = (inked[None] >= low[:, None]) & (inked[None] <= high[:, None])
    crossed = inside.all(axis=2).sum(axis=1) if len(inked) else 0
    cheapest: FloatArray = offered[(length + 2.0 * crossed - 3.0 * towards).argmin()]
    return cheapest


def _along(lines: FloatArray) -> FloatArray:
    lengths = np.hypot(*(lines[:, 1] - lines[:, 0]).T)
    pieces = []
    for (start, end), length in zip(lines, lengths, strict=True):
        steps = np.linspace(0, 1, max(2, int(length / STEP)))[:, None]
        pieces.append(start + steps * (end - start))
    return np.concatenate(pieces)


# -- lines -----------------------------------------------------------------------------------------

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
        f"{text}={shortened(fixed[name], 8)}" if fixed and name in fixed else text
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
    far = np.hypot(*(nearest - points).T) > NEAR_IN_PIXELS
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


# -- graphs as SVG ---------------------------------------------------------------------------------

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
            shapes.append(line(strand.start, strand.end, tip(edge.text), **style))
            for ends in arrow_ends(edge, strand, arcs):
                paint = {"fill": COLOURS[strand.kind], "class_": f"arrow {strand.kind}"}
                shapes.append(
                    tag("path", d=path(*arrow_corners(*ends, strand.width)) + "Z", **paint)
                )
    for name in positions:
        shapes += _node(name, drawing, hollow=isinstance((fixed or {}).get(name), str))
    text = f"Graph of {len(positions)} variables"
    return svg_picture("graph", frame, text, *shapes, font_family="sans-serif")


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
    yield tag("circle", tip(shortened(variable)), cx=x, cy=y, r=1.4 * DISC, **paint)
    written = drawing.labels.get(variable)
    if written is None:
        return
    if written.leader is not None:
        style = {"class_": "leader", "stroke": "#7f7f7f", "stroke_width": "0.7"}
        yield tag("path", d=path(place, written.leader), **style)
    style = HALO | {"data_variable": variable}
    yield label(written.text, written.middle, "middle", font_size=drawing.font, **style)
