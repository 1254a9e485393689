"""Draw the findings of an analysis: a graph of few variables, a matrix of more."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot

import numpy as np

from contextwise.evaluation.analysis import Analysis, PairFinding
from contextwise.report import analysis_words as words
from contextwise.report.html import Markup, filled, joined
from contextwise.report.layout import circle, cut_names

Point = tuple[float, float]
Box = tuple[float, float, float, float]  # left, top, right, bottom

WIDTH = 540.0
LETTER = 0.56  # the mean width of a letter, as a share of the font size
MOST_NUMBERS = 24  # edges up to which each has its number
MOST_NOTES = 8  # edges up to which labels say where they hold
GAP = (0.14, 0.7)  # the shortest and the longest gap of an interrupted line
ALONG = (
    0.5,
    0.4,
    0.6,
    0.33,
    0.67,
    0.27,
    0.73,
    0.22,
    0.78,
    0.45,
    0.55,
)  # where a label can be on its line


def graph_of_findings(analysis: Analysis) -> Markup:
    """Draw all variables; lines are associations, as wide as they are strong."""
    names = analysis.domain.names
    drawn = [f for f in analysis.findings if f.noted]
    drawn.sort(key=lambda f: f.strength)
    places, height = _places(names, drawn)
    font = 17 if len(names) <= 6 else 15 if len(names) <= 9 else 13
    labels = dict(zip(names, cut_names(names, 16), strict=True))
    boxes = [_pill(places[n], labels[n], font) for n in names]
    node = (
        '<g class="node"><title>{}</title><rect x="{}" y="{}" width="{}" height="{}" rx="{}"/>'
        '<text x="{}" y="{}" font-size="{}">{}</text></g>'
    )
    nodes = []
    for name, (left, top, right, bottom) in zip(names, boxes, strict=True):
        middle = (left + right) / 2, (top + bottom) / 2 + 0.34 * font
        box = map(_n, (left, top, right - left, bottom - top, font, *middle))
        nodes.append(filled(node, name, *box, f"{font}", labels[name]))
    lines = [line for f in drawn for line in _edge(f, places)]
    notes = len(drawn) <= MOST_NOTES
    numbers = [_edge_label(f, places, boxes, notes=notes) for f in drawn[::-1][:MOST_NUMBERS]]
    told = f"Graph of {len(names)} variables. " + " ".join(map(_told, reversed(drawn[-12:])))
    return filled(
        '<svg viewBox="0 0 {} {}" role="img" aria-label="{}"><g>{}</g>{}{}</svg>',
        _n(WIDTH),
        _n(height),
        told,
        joined(lines),
        joined(nodes),
        joined(numbers),
    )


def _n(value: float) -> str:
    return f"{value:.1f}"


def _told(finding: PairFinding) -> str:
    where = words.plain(words.context_phrase(finding))
    kinds = {"left out": ", left out by the model", "not shown": ", not shown by the tests"}
    more = kinds.get(finding.kind, f", {where}" if where else "")
    return f"{finding.pair[0]} and {finding.pair[1]}: {finding.strength:.2f}{more}."


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
        left = [n for n in names if n not in ordered]
        ends = (ordered[-1], ordered[0])
        near = [max(left, key=lambda n: tie.get(frozenset((n, end)), 0.0)) for end in ends]
        ties = [tie.get(frozenset(pair), 0.0) for pair in zip(near, ends, strict=True)]
        if not any(ties):
            ordered.append(max(left, key=lambda n: weight[n]))
        elif ties[0] >= ties[1]:
            ordered.append(near[0])
        else:
            ordered.insert(0, near[1])
    reach = np.array([WIDTH / 2 - 76, height / 2 - 30])
    points = circle(len(names)) * reach * [1, -1] + [WIDTH / 2, height / 2]
    return {n: (x, y) for n, (x, y) in zip(ordered, points.tolist(), strict=True)}, height


def _pill(place: Point, label: str, font: float) -> Box:
    half = LETTER * font * len(label) / 2 + 13
    x = min(max(place[0], half + 1), WIDTH - half - 1)
    return x - half, place[1] - font, x + half, place[1] + font


def _edge(finding: PairFinding, places: dict[str, Point]) -> list[Markup]:
    start, end = places[finding.pair[0]], places[finding.pair[1]]

    def at(share: float) -> Point:
        return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])

    def line(low: float, high: float, kind: str, width: float) -> Markup:
        ends = map(_n, (*at(low), *at(high), width))
        shape = '<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}" stroke-width="{}">{}</line>'
        return filled(shape, kind, *ends, filled("<title>{}</title>", _told(finding)))

    width = min(1.5 + 24 * finding.strength, 15.0)
    if finding.kind == "left out":
        return [line(0, 1, "missed", max(width, 2.5))]
    if finding.kind in ("not shown", "untested"):
        return [line(0, 1, f"pale {'dotted' if finding.kind == 'untested' else ''}".strip(), width)]
    if not finding.partly:
        return [line(0, 1, "solid", width)]
    hidden = min(0.3, 36 / hypot(end[0] - start[0], end[1] - start[1]))  # under the two names
    gap = (0.5 - hidden) * min(max(1 - finding.holds, GAP[0]), GAP[1])
    return [
        line(0, 0.5 - gap, "solid", width),
        line(0.5 - gap, 0.5 + gap, "gapline", 2),
        line(0.5 + gap, 1, "solid", width),
    ]


def _edge_label(
    finding: PairFinding, places: dict[str, Point], boxes: list[Box], *, notes: bool
) -> Markup:
    """Write the strength on its line, where it covers neither a node nor another label."""
    (x1, y1), (x2, y2) = (places[name] for name in finding.pair)
    note = "left out by the model" if finding.kind == "left out" else ""
    note = (note or words.plain(words.context_phrase(finding))) if notes else ""
    note = note if len(note) <= 34 else f"{note[:33]}…"
    half = max(19.0, 7.2 * len(note) / 2)
    low = 12.0 + (18.0 if note else 0.0)
    best, fewest = (0.0, 0.0), 10**9
    for share in ALONG:
        x, y = x1 + share * (x2 - x1), y1 + share * (y2 - y1)
        x = min(max(x, half + 2), WIDTH - half - 2)
        box = (x - half, y - 12, x + half, y + low)
        covered = sum(_overlap(box, other) for other in boxes)
        if covered < fewest:
            best, fewest = (x, y), covered
        if not covered:
            break
    x, y = best
    boxes.append((x - half, y - 12, x + half, y + low))
    text = '<text class="{}" x="{}" y="{}">{}</text>'
    number = filled(text, "num", _n(x), _n(y + 6), f"{finding.strength:.2f}")
    small = filled(text, "small", _n(x), _n(y + 23), note) if note else None
    kind = "bad" if finding.kind == "left out" else "" if finding.associated else "pale"
    return filled('<g class="lab {}">{}{}</g>', kind, number, small)


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
    drawn: list[Markup] = []
    for finding in analysis.findings:
        i, j = (place[name] for name in finding.pair)
        above, below = (left + j * cell, top + i * cell), (left + i * cell, top + j * cell)
        drawn += _cells(finding, above, below, cell)
    heads = []
    for k, label in enumerate(labels):
        middle = (k + 0.5) * cell
        row = '<text class="row" x="{}" y="{}">{}</text>'
        heads.append(filled(row, _n(left - 7), _n(top + middle + 0.35 * font), label))
        column = '<text transform="translate({} {}) rotate(-60)">{}</text>'
        heads.append(filled(column, _n(left + middle + 0.3 * font), _n(top - 7), label))
        drawn.append(_square("own", (left + k * cell, top + k * cell), cell))
    count = sum(f.associated for f in analysis.findings)
    pairs = f"{count} of {len(analysis.findings)} pairs are associated"
    width, height = _n(left + n * cell + top * 0.5), _n(top + n * cell + 2)
    return filled(
        '<svg class="matrix" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img" '
        'aria-label="{2}">{3}<g font-size="{4}">{5}</g></svg>',
        width,
        height,
        f"Matrix of {n} variables: {pairs}. The table at the end has all pairs.",
        joined(drawn),
        _n(font),
        joined(heads),
    )


def _square(kind: str, at: Point, size: float, told: str = "", opacity: float = 1.0) -> Markup:
    """Draw a cell; its tip is ``told``."""
    shape = '<rect class="{}" x="{}" y="{}" width="{}" height="{}" fill-opacity="{}">{}</rect>'
    numbers = (_n(at[0]), _n(at[1]), _n(size), _n(size), f"{opacity:.2f}")
    return filled(shape, kind, *numbers, filled("<title>{}</title>", told) if told else None)


def _cells(finding: PairFinding, above: Point, below: Point, cell: float) -> list[Markup]:
    crude = finding.crude.value if finding.crude else 0.0
    told = _told(finding)
    shade = min(1.0, 1.6 * crude)
    cells = [
        _square("crude", above, cell, f"{told} Crude {crude:.2f}.", shade),
        _square("cell", below, cell, told),
    ]
    if cell >= 34 and crude >= 0.005:
        kind = "number dark" if crude > 0.35 else "number"
        text = '<text class="{}" x="{}" y="{}">{}</text>'
        place = _n(above[0] + cell / 2), _n(above[1] + cell / 2 + 4)
        cells.append(filled(text, kind, *place, f"{crude:.2f}"))
    kinds = {"associated": "yes", "left out": "bad"}
    kind = kinds.get(finding.kind, "weak" if finding.noted else "")
    if not kind:
        return cells
    x, y, radius = below[0] + cell / 2, below[1] + cell / 2, 0.3 * cell
    share = 0.5 if kind == "weak" else finding.holds
    ring = '<circle class="{} {}" cx="{}" cy="{}" r="{}"/>'
    circle = kind, _n(x), _n(y), _n(radius)
    if share < 1:
        return [*cells, filled(ring, "ring", *circle), _sector((x, y), radius, share, kind)]
    if kind == "yes":
        return [*cells, filled(ring, "pie", *circle)]
    r = _n(radius)
    corners = f"M{_n(x)} {_n(y - radius)}l{r} {r}l-{r} {r}l-{r} -{r}Z"
    return [*cells, filled('<path class="pie bad" d="{}"/>', corners)]


def _sector(middle: Point, radius: float, share: float, kind: str) -> Markup:
    angle = 2 * np.pi * share
    x, y = middle[0] + radius * np.sin(angle), middle[1] - radius * np.cos(angle)
    start = f"M{_n(middle[0])} {_n(middle[1])}V{_n(middle[1] - radius)}"
    arc = f"A{_n(radius)} {_n(radius)} 0 {int(share > 0.5)} 1 {_n(x)} {_n(y)}Z"
    return filled('<path class="pie {}" d="{}"/>', kind, start + arc)
