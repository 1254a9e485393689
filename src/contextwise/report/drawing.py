"""Arrange a graph on paper: nodes, labels and lines in points, for SVG and matplotlib alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import hypot, sqrt

import numpy as np

from contextwise.report.colours import Agreement
from contextwise.report.layout import FloatArray, Positions, cut_names, fitted_to, place_labels
from contextwise.report.shares import Edge, View
from contextwise.support.formatting import name as shown

WIDEST = 5.0
THINNEST = 0.8
"""Widths in points of an edge for every context, and for the fewest."""
MANY = 40
"""Lines get thinner in graphs of more edges than this."""

DISC = 2.2
"""The radius of a node."""
NEAR = 7.0
"""Labels farther from their node than this get a line to it."""
LONGEST = 16
"""The most characters of a name."""

Point = tuple[float, float]
Measure = Callable[[str, float], tuple[float, float]]
"""Width and height of a text in a font of some size."""


@dataclass(frozen=True)
class Label:
    """A text in its box, and the end of a line to its node if it is far from it."""

    text: str
    middle: Point
    leader: Point | None


@dataclass(frozen=True)
class Drawing:
    """Places of the nodes of a graph, and its labels; none if there is no room in any size."""

    places: Mapping[str, Point]
    labels: Mapping[str, Label]
    font: float


def arrange(
    positions: Positions,
    edges: Iterable[Edge],
    *,
    frame: tuple[float, float],
    fonts: Sequence[float],
    measure: Measure,
    fixed: Mapping[str, str] | None = None,
    whole: bool = False,
) -> Drawing:
    """Place nodes in a frame, and labels in the largest size for which all find a place.

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
    places = {name: (x, y) for name, (x, y) in zip(names, points.tolist(), strict=True)}
    labels = [] if middles is None else _labels(texts, points, middles, sizes)
    return Drawing(places, dict(zip(names, labels, strict=False)), font)


def _labels(
    texts: Sequence[str], points: FloatArray, middles: FloatArray, sizes: FloatArray
) -> Iterator[Label]:
    nearest = np.clip(points, middles - sizes / 2, middles + sizes / 2)
    far = np.hypot(*(nearest - points).T) > NEAR
    for text, middle, end, away in zip(texts, middles.tolist(), nearest.tolist(), far, strict=True):
        yield Label(text, (middle[0], middle[1]), (end[0], end[1]) if away else None)


@dataclass(frozen=True)
class EdgeLine:
    """A line of one kind."""

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
    """Yield the parallel lines of an edge, as wide as their shares of contexts.

    >>> edge = Edge(("A", "B"), tp=1.0, fp=0.0, fn=0.0)
    >>> list(edge_lines(edge, {"A": (0, 0), "B": (9, 0)}))
    [EdgeLine(kind='tp', width=5.0, start=(0.0, 0.0), end=(9.0, 0.0))]
    """
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


def widest_of(edges: int) -> float:
    """Return the width of a line for every context, in a graph of that many edges."""
    return max(1.5 * THINNEST, WIDEST * min(1.0, sqrt(MANY / max(edges, 1))))
