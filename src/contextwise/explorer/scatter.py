"""Draw scatter plots as SVG: points with tips, names and error bars.

A style sheet of the page overrides the colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from xml.etree.ElementTree import Element, tostring

from contextwise.report.colours import COLOURS, Agreement
from contextwise.report.svg import (
    add,
    add_line,
    add_text,
    add_tip,
    coordinate,
    new_picture,
    round_step,
)
from contextwise.support.formatting import name as short

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 24, 16, 48
HEADROOM = 1.05
"""The length of an axis over its largest value, so that no mark is cut."""
Bar = tuple[float, float]


@dataclass(frozen=True)
class Point:
    """A point with its tip, its label, and the ends of its error bar."""

    x: float
    y: float
    tip: str
    label: str = ""
    bar: Bar | None = None


@dataclass(frozen=True)
class Series:
    """Points of one kind."""

    kind: Agreement
    points: Sequence[Point]


def scatter_svg(series: Sequence[Series], *, x_label: str, y_label: str, title: str) -> str:
    """Draw the points of all series over common axes that begin at 0."""
    points = [point for one in series for point in one.points]
    widest = max((p.x for p in points), default=0.0)
    highest = max((max((p.y, *(p.bar or ()))) for p in points), default=0.0)
    across = _Axis(HEADROOM * widest or 1.0, LEFT, WIDTH - RIGHT)
    upward = _Axis(HEADROOM * highest or 1.0, HEIGHT - BOTTOM, TOP)
    picture = new_picture("scatter", WIDTH, HEIGHT, title)
    _add_axes(picture, across, upward)
    add_text(picture, x_label, (across.middle, HEIGHT - 10), anchor="middle")
    turned = f"translate(16 {upward.middle}) rotate(-90)"
    add_text(picture, y_label, (0, 0), anchor="middle", transform=turned)
    for one in series:
        for point in one.points:
            _add_point(picture, one.kind, point, across, upward)
    return tostring(picture, encoding="unicode")


def map_svg(points: Sequence[Point], *, title: str) -> str:
    """Draw points of the unit square without axes; the first one is a square."""
    side = HEIGHT - 2 * BOTTOM
    begin = (WIDTH - side) / 2
    across = _Axis(1.0, begin, begin + side)
    upward = _Axis(1.0, BOTTOM + side, BOTTOM)
    picture = new_picture("scatter", WIDTH, HEIGHT, title)
    for place, point in enumerate(points):
        _add_point(picture, "fp" if place else "fn", point, across, upward)
    return tostring(picture, encoding="unicode")


@dataclass(frozen=True)
class _Axis:
    """Maps values from 0 to ``high`` to coordinates."""

    high: float
    begin: float
    end: float

    def __call__(self, value: float) -> float:
        return self.begin + (self.end - self.begin) * value / self.high

    @property
    def middle(self) -> float:
        return (self.begin + self.end) / 2

    @property
    def ticks(self) -> list[float]:
        step = round_step(self.high)
        return [k * step for k in range(floor(self.high / step + 1e-9) + 1)]


def _add_axes(picture: Element, across: _Axis, upward: _Axis) -> None:
    grid = {"stroke": "#7f7f7f", "stroke_opacity": "0.25"}
    for value in across.ticks:
        x = across(value)
        add_line(picture, (x, upward.begin), (x, upward.end), **grid)
        add_text(picture, f"{value:.4g}", (x, upward.begin + 12), anchor="middle")
    for value in upward.ticks:
        y = upward(value)
        add_line(picture, (across.begin, y), (across.end, y), **grid)
        add_text(picture, f"{value:.4g}", (across.begin - 6, y), anchor="end")


def _add_point(
    picture: Element, kind: Agreement, point: Point, across: _Axis, upward: _Axis
) -> None:
    """Draw a circle or a square, so that the kinds differ without colour, and the error bar."""
    x, y = across(point.x), upward(point.y)
    style = {"class_": f"mark {kind}", "stroke": COLOURS[kind]}
    if point.bar:
        low, high = (upward(max(end, 0.0)) for end in point.bar)
        add_line(picture, (x, low), (x, high), **style, stroke_opacity="0.5")
    style |= {"fill": "none", "stroke_width": "1.5", "pointer_events": "all"}
    if kind == "fn":
        corner = {"x": coordinate(x - 3.5), "y": coordinate(y - 3.5)}
        drawn = add(picture, "rect", **style, **corner, width="7", height="7")
    else:
        drawn = add(picture, "circle", **style, cx=coordinate(x), cy=coordinate(y), r="4")
    add_tip(drawn, point.tip)
    if point.label:
        _add_label(picture, point.label, x, y)


def _add_label(picture: Element, label: str, x: float, y: float) -> None:
    right = x < 0.7 * WIDTH
    halo = {"class_": "halo", "paint_order": "stroke", "stroke": "#ffffff"}
    halo |= {"stroke_width": "3", "stroke_opacity": "0.8"}
    place, anchor = (x + (8 if right else -8), y), "start" if right else "end"
    add_text(picture, short(label, 36), place, anchor=anchor, **halo)
