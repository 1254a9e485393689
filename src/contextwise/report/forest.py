"""Draw the odds ratios of each group with their intervals, pair by pair."""

from __future__ import annotations

from math import exp, log, log10
from typing import NamedTuple
from xml.etree.ElementTree import tostring

from contextwise.evaluation.groups import Groups
from contextwise.models.evidence import Effect
from contextwise.report.drawing import add, add_line, add_text, add_tip, new_picture
from contextwise.report.parts import PairName
from contextwise.support.formatting import name


def ratio_text(effect: Effect) -> str:
    """Write an odds ratio with its interval: ``14 (10 to 19)``, ``above 27``, ``unknown``."""
    if effect.low == 0 and effect.high == float("inf"):
        return "unknown"
    return str(effect).removeprefix("odds ratio ")


FOREST_PAIRS = 8
"""Pairs of variables in the picture, those with the smallest p-values."""


class ForestLine(NamedTuple):
    """One group of one pair: places from 0 to 1 on the axis, clipped to it, or None if unknown."""

    label: str
    text: str
    value: float | None
    low: float
    high: float


class Forest(NamedTuple):
    """Odds ratios by pair and group on a logarithmic axis."""

    pairs: tuple[tuple[str, str, tuple[ForestLine, ...]], ...]  # title, verdict, lines
    ticks: tuple[tuple[float, str], ...]  # places from 0 to 1 with their labels


def forest_of(found: Groups) -> Forest:
    """Place the odds ratios of each group on a common axis."""
    shown = found.pairs[:FOREST_PAIRS]
    ends = [
        x
        for pair in shown
        for effect in pair.odds
        for x in (effect.low, effect.value, effect.high)
        if exp(-7) < x < exp(7)
    ]
    low = min([0.5, *ends]) / 1.2
    high = max([2.0, *ends]) * 1.2

    def place(x: float) -> float:
        if x <= low:
            return 0.0
        return min(1.0, (log(x) - log(low)) / (log(high) - log(low)))

    def line(label: str, effect: Effect) -> ForestLine:
        known = 0 < effect.value < float("inf")
        text = ratio_text(effect)
        value = place(effect.value) if known else None
        return ForestLine(label, text, value, place(effect.low), place(effect.high))

    wide = log10(high / low) > 2.5
    steps = [10.0**k * m for k in range(-4, 5) for m in ((1,) if wide else (1, 2, 5))]
    ticks = tuple((place(x), f"{x:g}") for x in steps if low < x < high)
    pairs = tuple(
        (
            str(PairName(*pair.pair)),
            pair.verdict,
            tuple(
                line(group.name, effect)
                for group, effect in zip(found.groups, pair.odds, strict=True)
            ),
        )
        for pair in shown
    )
    return Forest(pairs, ticks)


LEFT, AXIS, TEXT, STEP = 130.0, 330.0, 140.0, 20.0
"""Widths of the names, the axis and the numbers, and the height of a line."""


def forest_svg(forest: Forest) -> str:
    """Draw the odds ratios as SVG."""
    lines = sum(len(lines) + 1.4 for _, _, lines in forest.pairs)
    height = STEP * lines + 40
    text = f"Odds ratios of {len(forest.pairs)} pairs of variables in each group"
    picture = new_picture("forest", LEFT + AXIS + TEXT, height, text)
    bottom = height - 34

    def at(place: float) -> float:
        return LEFT + AXIS * place

    for place, label in forest.ticks:
        one = label == "1"
        style = {"stroke": "currentColor", "stroke_opacity": "0.7" if one else "0.15"}
        add_line(picture, (at(place), 6), (at(place), bottom), **style)
        add_text(picture, label, (at(place), bottom + 12), "middle", font_size="11")
    add_text(picture, "odds ratio", (at(0.5), bottom + 28), "middle", font_size="11")
    y = STEP * 0.7
    for title, verdict, groups in forest.pairs:
        style = {"font_weight": "600"}
        add_text(picture, f"{title}: {verdict}", (0, y), "start", **style)
        for line in groups:
            y += STEP
            add_text(picture, name(line.label, 18), (LEFT - 10, y), "end")
            add_text(picture, line.text, (LEFT + AXIS + 8, y), "start", font_size="11")
            if line.text == "unknown":
                continue
            ends = (at(line.low), y), (at(line.high), y)
            drawn = add_line(picture, *ends, class_="fn", stroke="#0072B2", stroke_width="2")
            add_tip(drawn, f"{line.label}: {line.text}")
            if line.value is not None:
                add(picture, "circle", class_="group", cx=at(line.value), cy=y, r=4, fill="#0072B2")
        y += 1.4 * STEP
    return tostring(picture, encoding="unicode")
