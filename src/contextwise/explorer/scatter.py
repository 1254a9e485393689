"""Scatter plots as SVG texts: points with tips, names and error bars.

Colours are attributes that a style sheet of the page overrides; texts have the colour of the text
around them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

from contextwise.models.numbers import name as short
from contextwise.report.colours import COLOURS, Agreement

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 24, 16, 48
HEADROOM = 1.05
"""An axis is so much longer than its largest value, so that no mark is cut."""
Bar = tuple[float, float]


@dataclass(frozen=True)
class Point:
    """A point, its tip and its name, and where its error bars begin and end."""

    x: float
    y: float
    tip: str
    label: str = ""
    x_bar: Bar | None = None
    y_bar: Bar | None = None


@dataclass(frozen=True)
class Series:
    """Points that belong together."""

    kind: Agreement
    points: Sequence[Point]


def scatter_svg(series: Sequence[Series], *, x_label: str, y_label: str, title: str) -> str:
    """The points of all series over common axes that begin at 0.

    Parameters
    ----------
    series : what is drawn, the first below the others
    x_label, y_label : what the axes show
    title : what the picture shows
    """
    points = [point for one in series for point in one.points]
    widest = max((max((p.x, *(p.x_bar or ()))) for p in points), default=1.0)
    highest = max((max((p.y, *(p.y_bar or ()))) for p in points), default=1.0)
    across = _Axis(0.0, HEADROOM * widest, LEFT, WIDTH - RIGHT)
    upward = _Axis(0.0, HEADROOM * highest, HEIGHT - BOTTOM, TOP)
    marks = [_marks(one.kind, point, across, upward) for one in series for point in one.points]
    return _svg([*_axes(across, upward, x_label, y_label), *marks], title)


def map_svg(points: Sequence[Point], *, title: str) -> str:
    """Points on a plane whose axes mean nothing: only how far they are from each other counts.

    Parameters
    ----------
    points : in the unit square; the first is drawn as a square
    title : what the picture shows
    """
    side = HEIGHT - 2 * BOTTOM
    begin = (WIDTH - side) / 2
    across = _Axis(0.0, 1.0, begin, begin + side)
    upward = _Axis(0.0, 1.0, BOTTOM + side, BOTTOM)
    kinds: list[Agreement] = ["fn", *(["fp"] * (len(points) - 1))]  # type: ignore[list-item]
    return _svg([_marks(k, p, across, upward) for k, p in zip(kinds, points, strict=True)], title)


def _svg(marks: Sequence[str], title: str) -> str:
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="scatter" role="img" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
            f'font-family="sans-serif" font-size="12"><title>{escape(title)}</title>',
            *marks,
            "</svg>",
        ]
    )


@dataclass(frozen=True)
class _Axis:
    """A range of values on a range of places."""

    low: float
    high: float
    begin: float
    end: float

    def __call__(self, value: float) -> float:
        span = (self.high - self.low) or 1.0
        return self.begin + (self.end - self.begin) * (value - self.low) / span

    def ticks(self) -> Iterator[float]:
        step = _step(self.high - self.low)
        for k in range(ceil(self.low / step), floor(self.high / step + 1e-9) + 1):
            yield k * step


def _step(span: float) -> float:
    """A round distance between ticks, six of them at most.

    >>> [_step(span) for span in (1.0, 100.0, 0.037)]
    [0.2, 20.0, 0.01]
    """
    raw = max(span, 1e-300) / 6
    power: float = 10.0 ** floor(log10(raw))
    return next(power * k for k in (1, 2, 5, 10) if raw <= power * k * 1.0001)


def _axes(across: _Axis, upward: _Axis, x_label: str, y_label: str) -> Iterator[str]:
    grid = 'stroke="#7f7f7f" stroke-opacity="0.25"'
    for x in map(float, across.ticks()):
        at = across(x)
        yield (
            f'<line x1="{at:.1f}" y1="{upward.begin}" x2="{at:.1f}" y2="{upward.end}" {grid}/>'
            f'<text x="{at:.1f}" y="{upward.begin + 16}" text-anchor="middle" '
            f'fill="currentColor">{x:.4g}</text>'
        )
    for y in map(float, upward.ticks()):
        at = upward(y)
        yield (
            f'<line x1="{across.begin}" y1="{at:.1f}" x2="{across.end}" y2="{at:.1f}" {grid}/>'
            f'<text x="{across.begin - 6}" y="{at:.1f}" dy="0.35em" text-anchor="end" '
            f'fill="currentColor">{y:.4g}</text>'
        )
    middle = (upward.begin + upward.end) / 2
    yield (
        f'<text x="{(across.begin + across.end) / 2}" y="{HEIGHT - 10}" text-anchor="middle" '
        f'fill="currentColor">{escape(x_label)}</text>'
        f'<text transform="translate(16 {middle}) rotate(-90)" text-anchor="middle" '
        f'fill="currentColor">{escape(y_label)}</text>'
    )


def _marks(kind: Agreement, point: Point, across: _Axis, upward: _Axis) -> str:
    """A point as a circle or a square, so that the kinds differ without colour, and its bars."""
    x, y = across(point.x), upward(point.y)
    bars = []
    if point.y_bar:
        low, high = (upward(max(end, upward.low)) for end in point.y_bar)
        bars.append(_bar(kind, (x, low), (x, high)))
    if point.x_bar:
        low, high = (across(max(end, across.low)) for end in point.x_bar)
        bars.append(_bar(kind, (low, y), (high, y)))
    shape = (
        f'rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7"'
        if kind == "fn"
        else f'circle cx="{x:.1f}" cy="{y:.1f}" r="4"'
    )
    tag = shape.partition(" ")[0]
    mark = (
        f'<{shape} class="mark {kind}" fill="none" stroke="{COLOURS[kind]}" stroke-width="1.5" '
        f'pointer-events="all"><title>{escape(point.tip)}</title></{tag}>'
    )
    return "".join([*bars, mark, _label(point.label, x, y) if point.label else ""])


def _bar(kind: Agreement, start: tuple[float, float], end: tuple[float, float]) -> str:
    return (
        f'<line class="mark {kind}" x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" '
        f'y2="{end[1]:.1f}" stroke="{COLOURS[kind]}" stroke-opacity="0.5"/>'
    )


def _label(text: str, x: float, y: float) -> str:
    right = x < 0.7 * WIDTH
    return (
        f'<text class="halo" x="{x + (8 if right else -8):.1f}" y="{y:.1f}" dy="0.35em" '
        f'text-anchor="{"start" if right else "end"}" fill="currentColor" paint-order="stroke" '
        f'stroke="#ffffff" stroke-width="3" stroke-opacity="0.8">{escape(short(text, 36))}</text>'
    )
