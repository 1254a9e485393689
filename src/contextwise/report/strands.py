"""The lines of an edge: one strand for each kind of context, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import hypot, sqrt

from contextwise.models.numbers import name as shown
from contextwise.models.numbers import percent
from contextwise.report.agreement import Edge, View
from contextwise.report.colours import WORDS, Agreement

WIDEST = 5.0
"""The width, in points, of an edge that is there in every context."""
THINNEST = 0.8
"""The width of the rarest, which can still be seen."""
MANY = 40
"""From this many edges on, lines get thinner, so that they do not hide each other."""

Point = tuple[float, float]


@dataclass(frozen=True)
class Strand:
    """A line of one kind."""

    kind: Agreement
    width: float
    start: Point
    end: Point


def strand_lines(
    edge: Edge,
    places: Mapping[str, Point],
    *,
    view: View = "both",
    widest: float = WIDEST,
    size: float = 1.0,
) -> Iterator[Strand]:
    """The parallel lines of an edge, as wide as their shares of the contexts.

    Widths are in points; ``size`` is how many points a unit of the places is long.

    >>> edge = Edge(("A", "B"), tp=1.0, fp=0.0, fn=0.0)
    >>> list(strand_lines(edge, {"A": (0, 0), "B": (9, 0)}))
    [Strand(kind='tp', width=5.0, start=(0.0, 0.0), end=(9.0, 0.0))]
    """
    (x1, y1), (x2, y2) = (places[name] for name in edge.pair)
    length = hypot(x2 - x1, y2 - y1) or 1.0
    across = ((y1 - y2) / length, (x2 - x1) / length)
    strands = [(kind, width_of(share, widest)) for kind, share in edge.strands(view)]
    offset = -sum(width for _, width in strands) / 2
    for kind, width in strands:
        middle = (offset + width / 2) / size
        offset += width
        dx, dy = across[0] * middle, across[1] * middle
        yield Strand(kind, width, (x1 + dx, y1 + dy), (x2 + dx, y2 + dy))


def width_of(share: float, widest: float = WIDEST) -> float:
    """The width of a strand for a share of contexts.

    >>> width_of(0.0), width_of(1.0)
    (0.8, 5.0)
    """
    return THINNEST + (widest - THINNEST) * share


def widest_of(edges: int) -> float:
    """The width of an edge that is there in every context, in a graph of that many edges.

    >>> widest_of(10), widest_of(160)
    (5.0, 2.5)
    """
    return max(1.5 * THINNEST, WIDEST * min(1.0, sqrt(MANY / max(edges, 1))))


def edge_words(edge: Edge) -> str:
    """An edge as a line of text.

    >>> edge_words(Edge(("A", "B"), tp=0.5, fp=0.25, fn=0.0))
    'A – B: in both in 50 % of contexts, only in guess in 25 % of contexts'
    """
    between = " – ".join(shown(name) for name in edge.pair)
    return f"{between}: {', '.join(share_words(*strand) for strand in edge.strands())}"


def share_words(kind: Agreement, share: float) -> str:
    """A share of contexts in words.

    >>> share_words("fp", 0.875)
    'only in guess in 87.5 % of contexts'
    """
    return f"{WORDS[kind]} in {percent(Fraction(share), 1)} of contexts"
