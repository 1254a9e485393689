"""Draw the findings of an analysis: a graph of few variables, a matrix of more, plots of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import copysign, cos, hypot, pi, sin

import numpy as np

from contextwise.analysis.findings import Analysis, PairFinding
from contextwise.analysis.pair_rows import WithInterval
from contextwise.report import analysis_words as words
from contextwise.report.graphs import circle, cut_names
from contextwise.report.html import Markup, Point, line, path, svg_picture, tag, tip
from contextwise.support.formatting import name as shortened

Box = tuple[float, float, float, float]  # left, top, right, bottom

WIDTH = 540.0
LETTER = 0.56  # the mean width of a letter, as a share of the font size
MOST_NUMBERS = 24  # edges up to which each has its number
MOST_NOTES = 8  # edges up to which labels say where they hold
MOST_LETTERS = 40  # of such a label
GAP = (0.14, 0.7)  # the shortest and the longest gap of an interrupted line
ALONG = (50, 40, 60, 33, 67, 27, 73, 22, 78, 45, 55)  # percent of a line where its label can be
SHORT, LEVEL = 170, 45  # a level line this short has its label outside the circle, not on it
BESIDE = 16  # percent from the middle, so that a label does not cover the gap


def graph_of_findings(analysis: Analysis) -> Markup:
    """Draw all variables; lines are associations, as wide as they are strong."""
    names = analysis.domain.names
    drawn = sorted((f for f in analysis.findings if f.noted), key=lambda f: f.strength)
    places, height = _places(names, drawn)
    font = 17 if len(names) <= 6 else 15 if len(names) <= 9 else 13
    boxes: list[Box] = []
    nodes = []
    for name, label in zip(names, cut_names(names, 16), strict=True):
        half = LETTER * font * len(label) / 2 + 13
        x, y = places[name]
        x = min(max(x, half + 1), WIDTH - half - 1)
        boxes.append((x - half, y - font, x + half, y + font))
        pill = tag("rect", x=x - half, y=y - font, width=2 * half, height=2 * font, rx=font)
        text = tag("text", label, x=x, y=y + 0.34 * font, font_size=font)
        nodes.append(tag("g", tip(name), pill, text, class_="node"))
    lines = tag("g", *(piece for f in drawn for piece in _edge(f, places)))
    notes = len(drawn) <= MOST_NOTES
    numbers = [_edge_label(f, places, boxes, notes=notes) for f in drawn[::-1][:MOST_NUMBERS]]
    told = f"Graph of {len(names)} variables. " + " ".join(map(_told, reversed(drawn[-12:])))
    box = f"0 0 {WIDTH:g} {height:g}"
    return tag("svg", lines, *nodes, *numbers, viewBox=box, role="img", aria_label=told)


def _told(finding: PairFinding) -> str:
    told = [f"{finding.strength:.2f}", words.remark(finding)]
    return f"{finding.pair[0]} and {finding.pair[1]}: {', '.join(filter(None, told))}."


def _places(names: Sequence[str], drawn: Sequence[PairFinding]) -> tuple[dict[str, Point], float]:
    """Place the variables on an ellipse, associated ones next to each other."""
    height = 340.0 if len(names) == 3 else 400.0 + 14 * max(0, len(names) - 6)
    tie = {frozenset(f.pair): f.strength for f in drawn}
    weight = {n: sum(v for pair, v in tie.items() if n in pair) for n in names}
    ordered = [max(names, key=lambda n: weight[n])]
    if len(names) == 4 and len(tie) == 6:  # three corners and the middle: no line crosses another
        others = [n for n in names if n != ordered[0]]
        corners = [(270.0, 28.0), (70.0, 370.0), (470.0, 370.0), (270.0, 215.0)]
        return dict(zip([*others, *ordered], corners, strict=True)), height
    while len(ordered) < len(names):
        ties = [
            (tie.get(frozenset((name, ordered[end])), 0.0), weight[name], end, name)
            for end in (-1, 0)
            for name in names
            if name not in ordered
        ]
        strongest, _, end, name = max(ties, key=lambda each: each[0])
        if not strongest:
            ordered.append(max(ties, key=lambda each: each[1])[-1])
        else:
            ordered.insert(len(ordered) if end else 0, name)
    reach = np.array([WIDTH / 2 - 76, height / 2 - 30])
    points = circle(len(names)) * reach * [1, -1] + [WIDTH / 2, height / 2]
    return {n: (x, y) for n, (x, y) in zip(ordered, points.tolist(), strict=True)}, height


def _edge(finding: PairFinding, places: dict[str, Point]) -> list[Markup]:
    (x1, y1), (x2, y2) = places[finding.pair[0]], places[finding.pair[1]]

    def piece(low: float, high: float, kind: str, width: float) -> Markup:
        start, stop = ((x1 + t * (x2 - x1), y1 + t * (y2 - y1)) for t in (low, high))
        return line(start, stop, tip(_told(finding)), class_=kind, stroke_width=width)

    width = min(1.5 + 24 * finding.strength, 15.0)
    if finding.partly and finding.kind != "left out":
        hidden = min(0.3, 36 / hypot(x2 - x1, y2 - y1))  # under the two names
        gap = (0.5 - hidden) * min(max(1 - finding.holds, GAP[0]), GAP[1])
        return [
            piece(0, 0.5 - gap, "solid", width),
            piece(0.5 - gap, 0.5 + gap, "gapline", 2),
            piece(0.5 + gap, 1, "solid", width),
        ]
    kinds = {"left out": "missed", "not shown": "pale", "untested": "pale dotted"}
    kind = kinds.get(finding.kind, "solid")
    return [piece(0, 1, kind, max(width, 2.5) if kind == "missed" else width)]


def _edge_label(
    finding: PairFinding, places: dict[str, Point], boxes: list[Box], *, notes: bool
) -> Markup:
    """Write the strength on its line, where it covers neither a node nor another label."""
    (x1, y1), (x2, y2) = (places[name] for name in finding.pair)
    note = shortened(words.remark(finding), MOST_LETTERS) if notes and finding.associated else ""
    half, low = max(19.0, 7.2 * len(note) / 2), 30 if note else 12
    offered, outward = [], 0.0
    if hypot(x2 - x1, y2 - y1) < SHORT and abs(y2 - y1) < LEVEL:
        middle = sum(y for _, y in places.values()) / len(places)
        outward = copysign(24.0, y1 - middle)
    is_gapped = finding.partly and finding.kind != "left out"
    for share in sorted(ALONG, key=lambda k: is_gapped and abs(k - 50) <= BESIDE):
        x, y = x1 + share * (x2 - x1) / 100, y1 + share * (y2 - y1) / 100 + outward
        x = min(max(x, half + 2), WIDTH - half - 2)
        box = (x - half, y - 12, x + half, y + low)
        offered.append((sum(_overlap(box, other) for other in boxes), x, y, box))
    _, x, y, box = min(offered, key=lambda each: each[0])
    boxes.append(box)
    number = tag("text", f"{finding.strength:.2f}", class_="num", x=x, y=y + 6)
    small = tag("text", note, class_="small", x=x, y=y + 23) if note else None
    return tag("g", number, small, class_=f"lab {line_kind(finding)}")


def line_kind(finding: PairFinding) -> str:
    return "bad" if finding.kind == "left out" else "" if finding.associated else "pale"


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


# -- the matrix ------------------------------------------------------------------------------------


def matrix_of_findings(analysis: Analysis) -> Markup:
    """Draw all pairs: verdict and contexts below the diagonal, crude strength above it."""
    names = analysis.domain.names
    n = len(names)
    cell = max(14.0, min(46.0, 860.0 / n))
    labels = cut_names(names, 18)
    font = min(14.0, max(9.0, cell * 0.6))
    left = LETTER * font * max(map(len, labels)) + 12
    top = left * 0.9 + 6
    place = {name: k for k, name in enumerate(names)}
    cells: list[Markup] = []
    for finding in analysis.findings:
        i, j = (place[name] for name in finding.pair)
        cells += _cells(finding, (left + j * cell, top + i * cell), cell, above=True)
        cells += _cells(finding, (left + i * cell, top + j * cell), cell, above=False)
    heads = []
    for k, label in enumerate(labels):
        x, y = left + (k + 0.5) * cell, top + (k + 0.5) * cell
        heads.append(tag("text", label, class_="row", x=left - 7, y=y + 0.35 * font))
        turned = f"translate({x + 0.3 * font:.1f} {top - 7:.1f}) rotate(-60)"
        heads.append(tag("text", label, transform=turned))
        cells.append(_square("own", (x - cell / 2, y - cell / 2), cell))
    count = sum(f.associated for f in analysis.findings)
    told = (
        f"Matrix of {n} variables: {count} of {len(analysis.findings)} pairs are associated. The "
        "table at the end has all pairs."
    )
    size = (left + n * cell + top * 0.5, top + n * cell + 2)
    return svg_picture("matrix", size, told, *cells, tag("g", *heads, font_size=font))


def _square(kind: str, at: Point, size: float, *told: str, opacity: float = 1.0) -> Markup:
    numbers = {"x": at[0], "y": at[1], "width": size, "height": size, "fill_opacity": opacity}
    return tag("rect", *map(tip, told), class_=kind, **numbers)


def _cells(finding: PairFinding, at: Point, cell: float, *, above: bool) -> Iterator[Markup]:
    """Yield the cell of a pair: its crude strength as a shade, or its verdict as a mark."""
    x, y, radius = at[0] + cell / 2, at[1] + cell / 2, 0.3 * cell
    if above:
        crude = finding.crude.value if finding.crude else 0.0
        told = f"{_told(finding)} Crude {crude:.2f}."
        yield _square("crude", at, cell, told, opacity=min(1.0, 1.6 * crude))
        if cell >= 34 and crude >= 0.005:
            kind = "number dark" if crude > 0.35 else "number"
            yield tag("text", f"{crude:.2f}", class_=kind, x=x, y=y + 4)
        return
    yield _square("cell", at, cell, _told(finding))
    kinds = {"associated": "yes", "left out": "bad"}
    kind = kinds.get(finding.kind, "weak" if finding.noted else "")
    share = 0.5 if kind == "weak" else finding.holds
    if kind and (share < 1 or kind == "yes"):
        yield tag("circle", class_=f"{'ring' if share < 1 else 'pie'} {kind}", cx=x, cy=y, r=radius)
    if kind and share < 1:
        angle = 2 * pi * share
        arc = f"A{radius:.2f} {radius:.2f} 0 {int(share > 0.5)} 1"
        end = f"{x + radius * sin(angle):.2f} {y - radius * cos(angle):.2f}"
        yield tag("path", class_=f"pie {kind}", d=f"{path((x, y), (x, y - radius))}{arc} {end}Z")
    elif kind == "bad":
        corners = (x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)
        yield tag("path", class_="pie bad", d=f"{path(*corners)}Z")


# -- plots of one row ------------------------------------------------------------------------------

DIAMOND = "M0 -5L5 0L0 5L-5 0Z"


def row_plot(
    text: str,
    values: Sequence[tuple[str, WithInterval]],
    *,
    end: float = 1.0,
    crude: float | None = None,
    overall: float | None = None,
) -> Markup:
    """Plot values of given kinds with their intervals, one below the other, from 0 to ``end``.

    ``crude`` is an open dot, ``overall`` a dotted line, and ``text`` describes the plot.
    """
    height = 12 + 10 * max(len(values), 1)
    levels = range(11, height, 10)

    def place(value: float) -> str:
        return _place(value / end)

    def stroke(kind: str, low: float, high: float, start: int, stop: int) -> Markup:
        return tag("line", class_=kind, x1=place(low), x2=place(high), y1=start, y2=stop)

    shapes = [stroke("tick", share, share, 0, height) for share in (0.0, end / 2, end)]
    if overall is not None:
        shapes.append(stroke("ref", overall, overall, 0, height))
    if len(values) == 2:
        low, high = sorted(value.value for _, value in values)
        shapes.append(stroke("span", low, high, height // 2, height // 2))
    for y, (kind, value) in zip(levels, values, strict=False):
        shapes.append(stroke(f"ci {kind}", value.low, value.high, y, y))
    if crude is not None:
        shapes.append(_dot("hollow", place(crude), levels[0]))
    for y, (kind, value) in zip(levels, values, strict=False):
        shapes.append(_dot(kind, place(value.value), y))
    return tag("svg", *shapes, class_="strip", height=height, role="img", aria_label=text)


def _place(share: float) -> str:
    return f"{2 + 96 * min(max(share, 0.0), 1.0):.2f}%"


def _dot(kind: str, x: str, y: int) -> Markup:
    if kind == "two":  # another shape, for readers who do not see its colour
        return tag("svg", tag("path", class_="dot two", d=DIAMOND), class_="at", x=x, y=y)
    return tag("circle", class_=f"dot {kind}", cx=x, cy=y, r=4.4)


def sample(kind: str) -> Markup:
    """Return a dot for a legend."""
    return tag("svg", _dot(kind, "7", 6), width=14, height=12, aria_hidden="true")


def axis(end: float, text: Callable[[float], str]) -> Markup:
    """Label the ticks of the plots above."""
    labels = (
        tag("span", text(share * end), style=f"left:{_place(share)}") for share in (0, 0.5, 1)
    )
    return tag("div", *labels, class_="axis")
