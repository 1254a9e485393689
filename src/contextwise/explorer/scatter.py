"""A scatter plot as an SVG text: points with tips, and error bars where they are wanted.

Colours are attributes that a style sheet of the page overrides; texts have the colour of the text
around them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

from contextwise.report.colours import COLOURS, Agreement

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 12, 12, 48


@dataclass(frozen=True)
class Point:
    """A point, its tip, and how far its error bar goes."""

    x: float
    y: float
    low: float
    high: float
    tip: str


@dataclass(frozen=True)
class Series:
    """Points that belong together."""

    kind: Agreement
    points: Sequence[Point]


def scatter_svg(
    series: Sequence[Series], *, x_label: str, y_label: str, title: str, bars: bool = True
) -> str:
    """The points of all series over common axes that begin at 0."""
    points = [point for one in series for point in one.points]
    across = _Axis(0.0, max((p.x for p in points), default=1.0), LEFT, WIDTH - RIGHT)
    highest = max((p.high if bars else p.y for p in points), default=1.0)
    upward = _Axis(0.0, highest, HEIGHT - BOTTOM, TOP)
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="scatter" role="img" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
            f'font-family="sans-serif" font-size="12"><title>{escape(title)}</title>',
            *_axes(across, upward, x_label, y_label),
            *(
                mark
                for one in series
                for point in one.points
                for mark in _marks(one.kind, point, across, upward, bars)
            ),
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
    raw = max(span, 1e-12) / 6
    power: float = 10.0 ** floor(log10(raw))
    return next(power * k for k in (1, 2, 5, 10) if raw <= power * k * 1.0001)


def _axes(across: _Axis, upward: _Axis, x_label: str, y_label: str) -> Iterator[str]:
    for x in map(float, across.ticks()):
        at = across(x)
        yield (
            f'<line x1="{at:.1f}" y1="{upward.begin}" x2="{at:.1f}" y2="{upward.end}" '
            'stroke="#7f7f7f" stroke-opacity="0.25"/>'
            f'<text x="{at:.1f}" y="{upward.begin + 16}" text-anchor="middle" '
            f'fill="currentColor">{x:g}</text>'
        )
    for y in map(float, upward.ticks()):
        at = upward(y)
        yield (
            f'<line x1="{across.begin}" y1="{at:.1f}" x2="{across.end}" y2="{at:.1f}" '
            'stroke="#7f7f7f" stroke-opacity="0.25"/>'
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


def _marks(
    kind: Agreement, point: Point, across: _Axis, upward: _Axis, bars: bool
) -> Iterator[str]:
    """A point as a circle or a square, so that the kinds differ without colour, and its bar."""
    x, y = across(point.x), upward(point.y)
    colour = COLOURS[kind]
    if bars:
        yield (
            f'<line class="mark {kind}" x1="{x:.1f}" y1="{upward(max(point.low, 0)):.1f}" '
            f'x2="{x:.1f}" y2="{upward(point.high):.1f}" stroke="{colour}" stroke-opacity="0.35"/>'
        )
    shape = (
        f'circle cx="{x:.1f}" cy="{y:.1f}" r="4"'
        if kind == "fp"
        else f'rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7"'
    )
    tag = shape.partition(" ")[0]
    yield (
        f'<{shape} class="mark {kind}" fill="none" stroke="{colour}" stroke-width="1.5" '
        f'pointer-events="all"><title>{escape(point.tip)}</title></{tag}>'
    )
