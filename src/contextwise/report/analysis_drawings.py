"""Draw the pictures of an analysis as SVG: intervals, lines over states, and the arcs of all pairs.

Colours come from classes of the page's style sheet, so they follow light and dark.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log, log10
from pathlib import Path

from contextwise.analysis.conclusions import Analysis
from contextwise.evidence.pair_records import PairEvidence
from contextwise.report.html import Markup, Point, line, static, svg_picture, tag, tip
from contextwise.report.parts import Spread
from contextwise.support.files import write_bytes
from contextwise.support.formatting import name as middle_cut
from contextwise.support.words import percent, strength

ROW = 22.0
WIDTH = 300.0
VALUES = 58.0
LONGEST_LABEL = 18
"""Letters of the name of a group."""
MOST_ARCS = 12
"""Variables up to which all pairs are drawn as arcs."""
LABEL = 48.0, 28.0
"""Room for the number of an arc."""
SHORTEST_ARC = 32.0
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
        is_ratio = spreads[0].kind == "ratio"
        zero = 1.0 if is_ratio else 0.0
        scale = Scale.of([scaled(v, is_ratio) for s in spreads for v in (s.low, s.high)], 0.0)
        height = ROW * len(self.rows) + 8
        left = 18 + 6.6 * min(LONGEST_LABEL, max(len(name) for name, _ in self.rows))
        wide = WIDTH - left - VALUES

        def x(value: float) -> float:
            return left + wide * scale.place(scaled(value, is_ratio))

        shapes = [line((x(zero), 2.0), (x(zero), height - 6), class_="zero")]
        for k, (name, each) in enumerate(self.rows):
            y = ROW * k + ROW / 2 + 2
            kind = "1" if not each.low <= zero <= each.high else "0"
            shapes += [
                text(shortened(name, LONGEST_LABEL), (left - 8, y), "t", "end"),
                line((x(each.low), y), (x(each.high), y), class_=f"d{kind}l"),
                tag("circle", cx=x(each.value), cy=y, r=4.0, class_=f"d{kind}"),
                text(each.written(each.value), (WIDTH - 4, y), "t", "end"),
            ]
        told = "; ".join(f"{name}: {each}" for name, each in self.rows)
        return svg_picture("rows", (WIDTH, height), f"{self.label}. {told}", *shapes)


def scaled(value: float, is_ratio: bool) -> float:
    """Return the logarithm of an odds ratio, and others as they are, within what is drawn."""
    return log(min(max(value, 1 / 30), 30.0)) if is_ratio else min(max(value, -1.0), 1.0)


SharePoint = tuple[float, float, float]
"""A share with the ends of its interval."""


@dataclass(frozen=True)
class Lines:
    """Shares over the states of a variable, of one or two groups; only points if unordered."""

    label: str
    axis: str  #: the variable whose states are drawn
    states: tuple[str, ...]
    groups: tuple[tuple[str, tuple[SharePoint | None, ...]], ...]
    is_ordered: bool = True
    under: tuple[tuple[str, bool], ...] = ()  #: a number for each state, and whether it is clear

    def svg(self) -> Markup:
        """Draw the lines; numbers are below the states, names of groups at the right."""
        names = [shortened(name, 12) for name, _ in self.groups]
        beside = [*names, shortened(self.axis, 9)] if len(names) > 1 else [""]
        left, right = 46.0, WIDTH - (18 + 6.6 * max(map(len, beside)))
        bottom = 110.0
        known = [v for _, points in self.groups for p in points if p for v in p]
        low, high, ticks = share_scale(min(known), max(known))
        step = (right - left) / max(len(self.states) - 1, 1)

        def place(k: int, group: int, value: float) -> Point:
            aside = 4.0 * (group - (len(names) - 1) / 2)
            return left + step * k + aside, 10 + (bottom - 10) * (high - value) / (high - low)

        shapes: list[Markup] = []
        for value in ticks:
            y = place(0, 0, value)[1]
            shapes.append(line((left - 8, y), (right + 8, y), class_="g"))
            shapes.append(text(percent(value), (left - 12, y), "t", "end"))
        ends = []
        for g, (_, points) in enumerate(self.groups):
            shapes += self._group(g, place)
            last, point = [(k, point) for k, point in enumerate(points) if point][-1]
            ends.append((place(last, g, point[0])[1], g))
        if len(names) > 1:
            for y, g in spread_out(ends, 14.0):
                shapes.append(text(names[g], (right + 14, y), f"t n{g + 1}", "start"))
            after = right + max(14.0, 10 + 3.3 * len(self.states[-1]))
            if after + 6.6 * len(beside[-1]) <= WIDTH:
                shapes.append(text(beside[-1], (after, bottom + 16), "t", "start"))
        every = -(-len(self.states) // 7)
        most = max(3, int(every * step / 7.4))
        for k in range(0, len(self.states), every):
            shown = shortened(self.states[k], most)
            half = 3.3 * len(shown)  # neither end may be cut
            at = min(max(left + step * k, half), WIDTH - half), bottom + 16
            shapes.append(text(shown, at, "t", "middle"))
        if self.under:
            shapes.append(text("points", (right + 14, bottom + 34), "t", "start"))
        for k, (number, is_clear) in enumerate(self.under):
            if step >= 24 or k % 2 == 0:
                kind = "t strong" if is_clear else "t"
                shapes.append(text(number, (left + step * k, bottom + 34), kind, "middle"))
        size = WIDTH, bottom + (44 if self.under else 26)
        return svg_picture("line", size, f"{self.label}. {self._told()}", *shapes)

    def _group(self, g: int, place: Callable[[int, int, float], Point]) -> list[Markup]:
        """Draw the line of a group, which has a gap where a share is unknown."""
        name, points = self.groups[g]
        shapes, d, is_open = list[Markup](), "", False
        for k, point in enumerate(points):
            if point is not None:
                (x, y), low, high = (place(k, g, value) for value in point)
                d += f"{'L' if is_open else 'M'}{x:.1f} {y:.1f}"
                told = tip(f"{name} {self.states[k]}: {share_with_interval(point)}".strip())
                shapes += [line(low, high, class_=f"ci{g + 1} wk"), _dot(g, (x, y), told)]
            is_open = point is not None
        return [tag("path", d=d, class_=f"ln ci{g + 1}"), *shapes] if self.is_ordered else shapes

    def _told(self) -> str:
        told = []
        for name, points in self.groups:
            known = zip(self.states, points, strict=True)
            shares = ", ".join(f"{state} {percent(point[0])}" for state, point in known if point)
            told.append(f"{name}: {shares}" if name else shares)
        return "; ".join(told)


def _dot(group: int, place: Point, told: Markup) -> Markup:
    """Return the mark of a group: a circle or a diamond."""
    x, y = place
    if group == 0:
        return tag("circle", told, cx=x, cy=y, r=3.4, class_="c1")
    corners = (x, y - 4.6), (x + 4.6, y), (x, y + 4.6), (x - 4.6, y)
    points = " ".join(f"{across:.1f},{down:.1f}" for across, down in corners)
    return tag("polygon", told, points=points, class_="c2")


def share_with_interval(point: SharePoint) -> str:
    """Write a share with its interval: ``65 % (61 % to 69 %)``."""
    value, low, high = map(percent, point)
    return f"{value} ({low} to {high})"


def share_scale(low: float, high: float) -> tuple[float, float, list[float]]:
    """Return the ends of an axis for shares, and its round ticks.

    >>> share_scale(0.12, 0.56)
    (0.0, 0.6, [0.0, 0.2, 0.4, 0.6])
    """
    for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5):
        first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
        if last - first <= 4:
            break
    ticks = [round(k * step, 6) for k in range(first, max(last, first + 1) + 1)]
    return ticks[0], ticks[-1], ticks


def spread_out(places: Sequence[tuple[float, int]], gap: float) -> list[tuple[float, int]]:
    """Move labels apart that would overlap.

    >>> spread_out([(10.0, 0), (12.0, 1), (50.0, 2)], 14.0)
    [(10.0, 0), (24.0, 1), (50.0, 2)]
    """
    moved: list[tuple[float, int]] = []
    for y, key in sorted(places):
        moved.append((max(y, moved[-1][0] + gap) if moved else y, key))
    return moved


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
            far = ((second - first) / gap / len(self.names)) ** 0.8
            bulge = max(SHORTEST_ARC, (left - 16 if is_left else reach) * far)
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
        shown = tag("text", middle_cut(name, 15), x=middle, y=y, dy="0.35em")
        return tag("g", tip(name), box, shown, class_=kind)


@dataclass(frozen=True)
class Squares:
    """A square for each pair of many variables; darker is stronger, hollow is suggestive."""

    names: tuple[str, ...]
    pairs: tuple[PairEvidence, ...]

    def svg(self) -> Markup:
        """Draw the lower triangle; names are right of their row, and of their column's top."""
        cell = max(8.0, min(22.0, 560.0 / len(self.names)))
        place = {name: k for k, name in enumerate(self.names)}
        size = cell * len(self.names) + 120.0
        shapes = [
            text(shortened(name, 16), (cell * k + 3, cell * k + cell / 2), "t", "start")
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
                    x=cell * column,
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

    def write(self, path: str | Path) -> None:
        """Write the picture as an SVG file."""
        style = f"<style><![CDATA[{static('findings.css')}]]></style>"
        drawn = self.svg().replace('<svg class="', '<svg class="findings ', 1)
        write_bytes(path, drawn.replace("><", f">{style}<", 1).encode("utf-8"))

    def _repr_html_(self) -> str:
        styles = tag("style", static("notebook.css"), static("findings.css"))
        return tag("div", styles, self.svg(), class_="contextwise findings")


def text(words: str, place: Point, kind: str, anchor: str) -> Markup:
    """Return a text whose middle is at a height."""
    return tag("text", words, x=place[0], y=place[1], dy="0.35em", class_=kind, text_anchor=anchor)


def shortened(name: str, most: int) -> str:
    """Cut a long name at its end."""
    return name if len(name) <= most else f"{name[: most - 1]}…"
