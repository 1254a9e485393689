"""Draw the pictures of an analysis as SVG: intervals, lines over states, and the arcs of all pairs.

Colours come from classes of the page's style sheet, so they follow light and dark.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from contextwise.analysis.conclusions import Analysis
from contextwise.evidence.pair_records import PairEvidence
from contextwise.report.html import Markup, Point, line, static, svg_picture, tag, tip
from contextwise.report.parts import Spread
from contextwise.report.words import percent, strength

ROW = 26.0
WIDTH = 300.0
LABELS, VALUES = 92.0, 70.0
MOST_ARCS = 12
"""Variables up to which all pairs are drawn as arcs."""
LABEL = 48.0, 28.0
"""Room for the number of an arc."""
SHOWN_V = 0.1
"""A V from which an arc has its number."""


@dataclass(frozen=True)
class Scale:
    """A scale from low to high with few round ticks."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def place(self, value: float) -> float:
        """Return the place of a value as a share, clipped to the ends."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    @classmethod
    def of(cls, values: Sequence[float], zero: float) -> Scale:
        """Return a scale for values and the place of no effect.

        >>> Scale.of([-0.24, 0.05], 0.0).ticks
        (-0.2, -0.1, 0.0)
        """
        low, high = min(*values, zero), max(*values, zero)
        span = max(high - low, 1e-3)
        step = 10.0 ** floor(log10(span))
        step = next(s for s in (step / 5, step / 2, step, 2 * step) if span / s <= 5)
        low, high = low - 0.06 * span, high + 0.06 * span
        first, last = ceil(low / step), floor(high / step)
        return cls(low, high, tuple(round(k * step, 10) for k in range(first, last + 1)))


def spread_plot(cell: Spread, scale: Scale, zero: float) -> Markup:
    """Return the plot of one number in a table: interval, value, crude value; it fits its cell."""

    def at(value: float) -> str:
        return f"{100 * scale.place(value):.2f}%"

    shown = not cell.low <= zero <= cell.high
    shapes = [line_across(at(tick), "zero" if tick == zero else "g") for tick in scale.ticks]
    kind = "1" if shown else "0"
    shapes.append(
        tag("line", x1=at(cell.low), x2=at(cell.high), y1="50%", y2="50%", class_=f"d{kind}l")
    )
    if cell.crude is not None:
        shapes.append(tag("circle", cx=at(cell.crude), cy="50%", r="4.2", class_="hollow"))
    shapes.append(tag("circle", cx=at(cell.value), cy="50%", r="4.8", class_=f"d{kind}"))
    crude = "" if cell.crude is None else f"; crude {cell.written(cell.crude)}"
    told = f"{cell.written(cell.value)}, 95 % interval {cell.interval}{crude}"
    return tag("svg", *shapes, class_="pl", height="34", role="img", aria_label=told)


def line_across(place: str, kind: str) -> Markup:
    """Return a line from top to bottom."""
    return tag("line", x1=place, x2=place, y1="0", y2="100%", class_=kind)


def axis(scale: Scale, written: Callable[[float], str]) -> Markup:
    """Return the numbers above a column of plots."""
    marks = (
        tag("span", written(tick), style=f"left:{100 * scale.place(tick):.2f}%")
        for tick in scale.ticks
    )
    return tag("div", *marks, class_="axis", aria_hidden="true")


@dataclass(frozen=True)
class Rows:
    """The same effect in several groups: a row each, with its interval."""

    label: str
    rows: tuple[tuple[str, Spread], ...]

    def svg(self) -> Markup:
        """Draw the rows under each other."""
        spreads = [spread for _, spread in self.rows]
        zero = 1.0 if spreads[0].kind == "ratio" else 0.0
        ends = [min(max(v, -1.0), 20.0) for s in spreads for v in (s.low, s.high)]
        scale = Scale.of(ends, zero)
        height = ROW * len(self.rows) + 8
        left, wide = LABELS, WIDTH - LABELS - VALUES

        def x(value: float) -> float:
            return left + wide * scale.place(value)

        shapes = [line((x(zero), 2.0), (x(zero), height - 6), class_="zero")]
        for k, (name, each) in enumerate(self.rows):
            y = ROW * k + ROW / 2 + 2
            kind = "1" if not each.low <= zero <= each.high else "0"
            shapes += [
                text(shortened(name, 13), (left - 8, y), "t", "end"),
                line((x(each.low), y), (x(each.high), y), class_=f"d{kind}l"),
                tag("circle", cx=x(each.value), cy=y, r=4.0, class_=f"d{kind}"),
                text(each.written(each.value), (WIDTH - 4, y), "t", "end"),
            ]
        told = "; ".join(f"{name}: {each}" for name, each in self.rows)
        return svg_picture("rows", (WIDTH, height), f"{self.label}. {told}", *shapes)


@dataclass(frozen=True)
class Line:
    """Shares over the states of an ordered variable, with their intervals."""

    label: str
    points: tuple[tuple[str, float, float, float], ...]

    def svg(self) -> Markup:
        """Draw the line; its ends have numbers."""
        height, bottom, left, right = 150.0, 122.0, 40.0, WIDTH - 24
        values = [v for _, *three in self.points for v in three]
        low, high = min(values), max(values)
        pad = max(0.02, 0.1 * (high - low))
        low, high = max(0.0, low - pad), min(1.0, high + pad)
        step = (right - left) / (len(self.points) - 1)

        def place(k: int, value: float) -> Point:
            return left + step * k, 10 + (bottom - 10) * (high - value) / (high - low)

        shapes: list[Markup] = []
        for value in (low, (low + high) / 2, high):
            y = place(0, value)[1]
            shapes.append(line((left - 8, y), (right + 8, y), class_="g"))
            shapes.append(text(percent(value), (left - 12, y), "t", "end"))
        path = " ".join(
            f"{'L' if k else 'M'}{x:.1f} {y:.1f}"
            for k, (x, y) in enumerate(place(k, p[1]) for k, p in enumerate(self.points))
        )
        shapes.append(tag("path", d=path, class_="ln ci1"))
        every = -(-len(self.points) // 7)
        for k, (state, value, least, most) in enumerate(self.points):
            x, y = place(k, value)
            shapes.append(line((x, place(k, least)[1]), (x, place(k, most)[1]), class_="ci1 wk"))
            told = tip(f"{state}: {percent(value)}, {percent(least)} to {percent(most)}")
            shapes.append(tag("circle", told, cx=x, cy=y, r=3.4, class_="c1"))
            if k % every == 0:
                shapes.append(text(shortened(state, 9), (x, bottom + 16), "t", "middle"))
        return svg_picture("line", (WIDTH, height), self.label, *shapes)


@dataclass(frozen=True)
class Arcs:
    """All variables below each other, and an arc for each associated pair.

    Arcs of the outcome are on the left, the others on the right, so no line runs under a node.
    """

    names: tuple[str, ...]  #: the outcome first, if there is one
    pairs: tuple[PairEvidence, ...]
    outcome: str | None = None

    def svg(self) -> Markup:
        """Draw the arcs, the weakest first, and the numbers of the strong ones."""
        gap, half = 40.0, 62.0
        left = 130.0 if self.outcome else 14.0
        middle = left + half
        place = {name: 20 + gap * k for k, name in enumerate(self.names)}
        reach = 20 + 15.0 * len(self.names)
        width, height = middle + half + reach + 30, gap * len(self.names) + 4
        shapes, labels, taken = [], [], list[Point]()
        drawn = sorted((e for e in self.pairs if e.associated), key=lambda e: e.v or 0.0)
        for each in drawn:
            first, second = sorted(place[name] for name in each.pair)
            is_left = self.outcome in each.pair
            side = -1 if is_left else 1
            start = middle + side * half
            bulge = (left - 16 if is_left else reach) * (
                (second - first) / gap / len(self.names)
            ) ** 0.8
            d = f"M{start:.1f} {first:.1f}C{start + side * bulge * 4 / 3:.1f} {first:.1f} "
            d += f"{start + side * bulge * 4 / 3:.1f} {second:.1f} {start:.1f} {second:.1f}"
            v = each.v or 0.0
            kind = "a2" if each.verdict != "associated" else "a1" if v >= SHOWN_V else "a0"
            told = f"{each.pair[0]} – {each.pair[1]}: {each.verdict}, V {strength(each.v)}"
            shapes.append(
                tag("path", tip(told), d=d, class_=f"{kind} ln", stroke_width=1.2 + 10 * v)
            )
            at = (start + side * bulge, (first + second) / 2)
            if v >= SHOWN_V:
                labels.append((v, at))
        numbers = []
        for v, at in sorted(labels, reverse=True):
            if all(abs(at[0] - x) > LABEL[0] or abs(at[1] - y) > LABEL[1] for x, y in taken):
                taken.append(at)
                numbers.append(tag("text", strength(v), x=at[0], y=at[1], dy="0.35em"))
        nodes = [self._node(name, middle, half, y) for name, y in place.items()]
        told = f"{len(drawn)} of {len(self.pairs)} pairs are associated"
        return svg_picture(
            "gr", (width, height), told, *shapes, *nodes, tag("g", *numbers, class_="lab")
        )

    def _node(self, name: str, middle: float, half: float, y: float) -> Markup:
        kind = "node out" if name == self.outcome else "node"
        box = tag("rect", x=middle - half, y=y - 14, width=2 * half, height=28.0, rx=14.0)
        shown = tag("text", shortened(name, 15), x=middle, y=y, dy="0.35em")
        return tag("g", tip(name), box, shown, class_=kind)


@dataclass(frozen=True)
class Squares:
    """A square for each pair of many variables; darker is stronger, hollow is suggestive."""

    names: tuple[str, ...]
    pairs: tuple[PairEvidence, ...]

    def svg(self) -> Markup:
        """Draw the lower triangle."""
        cell = max(8.0, min(22.0, 560.0 / len(self.names)))
        place = {name: k for k, name in enumerate(self.names)}
        left = 120.0
        size = left + cell * len(self.names)
        shapes = [
            text(shortened(name, 16), (left - 6 + cell * k, cell * k + cell / 2), "t", "end")
            for name, k in place.items()
        ]
        for each in self.pairs:
            column, row = sorted(place[name] for name in each.pair)
            told = f"{each.pair[0]} – {each.pair[1]}: {each.verdict}, V {strength(each.v)}"
            kind = "sq1" if each.associated else "sq2" if each.verdict == "suggestive" else "sq0"
            opacity = min(1.0, 0.25 + 1.8 * (each.v or 0.0)) if each.associated else 1.0
            shapes.append(
                tag(
                    "rect",
                    tip(told),
                    x=left + cell * column,
                    y=cell * row,
                    width=cell - 1.5,
                    height=cell - 1.5,
                    class_=kind,
                    fill_opacity=opacity,
                )
            )
        told = f"{sum(e.associated for e in self.pairs)} of {len(self.pairs)} pairs are associated"
        return svg_picture("sq", (size, cell * len(self.names)), told, *shapes)


@dataclass(frozen=True)
class PairsPicture:
    """The picture of all pairs of an analysis, as a notebook shows it."""

    analysis: Analysis

    def svg(self) -> Markup:
        """Draw arcs of few variables, squares of many."""
        tested = self.analysis.pairs
        outcome = tested.settings.outcome
        names = dict.fromkeys(
            [*([outcome] if outcome else []), *(n for e in tested for n in e.pair)]
        )
        if len(names) <= MOST_ARCS:
            return Arcs(tuple(names), tested.pairs, outcome).svg()
        return Squares(tuple(names), tested.pairs).svg()

    def _repr_html_(self) -> str:
        return tag("div", tag("style", static("findings.css")), self.svg(), class_="findings")


def text(words: str, place: Point, kind: str, anchor: str) -> Markup:
    """Return a text whose middle is at a height."""
    return tag("text", words, x=place[0], y=place[1], dy="0.35em", class_=kind, text_anchor=anchor)


def shortened(name: str, most: int) -> str:
    """Cut a long name at its end."""
    return name if len(name) <= most else f"{name[: most - 1]}…"
