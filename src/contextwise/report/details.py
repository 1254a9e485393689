"""The parts of a report about one guess: its pictures, and where it differs."""

from __future__ import annotations

from contextwise.comparison.compare import Comparison
from contextwise.comparison.explain import Explanation, FeatureErrors, PairExplanation, in_words
from contextwise.models.numbers import name as shown
from contextwise.models.numbers import percent
from contextwise.report.agreement import agreement, among, worst_variables
from contextwise.report.colours import (
    COLOURS,
    COVERED_OPACITY,
    DASHES,
    OPACITIES,
    STEP_WORDS,
    UNKNOWN,
    WORDS,
    Agreement,
)
from contextwise.report.heat import heat_map
from contextwise.report.html import Html, element, html, joined, number, table
from contextwise.report.layout import graph_layout
from contextwise.report.svg import graph_svg, heat_map_svg

DRAWN = 40
"""The most variables of the graph: those with the most errors."""


def pictures(comparison: Comparison) -> Html:
    """The heat map and the graph, with what their colours mean."""
    return element("div", _heat(comparison), _graph(comparison), class_="side")


def explained(explanation: Explanation) -> Html:
    """The pairs with the most errors and their regions, and the features behind them."""
    parts: list[object] = []
    if explanation.pairs:
        parts += [element("h3", "The pairs with the most errors"), _pairs(explanation.pairs)]
    if explanation.features:
        parts += [element("h3", "The features behind the errors"), _features(explanation.features)]
    if explanation.partial:
        parts.append(element("p", "A time limit left out part of this explanation.", class_="note"))
    return joined(parts)


def _heat(comparison: Comparison) -> Html:
    legends = [_steps(kind) for kind in _errors()]
    others = [(_swatch("tp", COVERED_OPACITY), "depends, no such error")]
    if comparison.open_pairs:
        others.append((_box("open", UNKNOWN, 1.0), "not decided in time"))
    caption = (
        "Share of each pair's contexts in which the models differ: above the diagonal only the "
        "guess has the dependence, below it only the true model."
    )
    picture = Html(heat_map_svg(heat_map(comparison)))
    return element("figure", picture, *legends, _legend(others), element("figcaption", caption))


def _steps(kind: Agreement) -> Html:
    """What the tints of one kind mean."""
    marks = (_swatch(kind, opacity) for opacity in OPACITIES)
    return _legend([(Html(""), WORDS[kind]), *zip(marks, STEP_WORDS, strict=True)])


def _graph(comparison: Comparison) -> Html:
    names, edges = comparison.domain.names, agreement(comparison)
    chosen = worst_variables(names, edges, DRAWN)
    inside = among(edges, chosen)
    positions = graph_layout(chosen, [edge.pair for edge in inside])
    kinds: tuple[Agreement, ...] = ("tp", *_errors())
    legend = [(_line(kind), WORDS[kind]) for kind in kinds]
    caption = "Pairs that depend in some context; a line is as wide as its share of contexts."
    if len(chosen) < len(names):
        caption += f" The {len(chosen)} variables of {len(names):,} with the most errors."
    picture = Html(graph_svg(inside, positions, size=560))
    return element("figure", picture, _legend(legend), element("figcaption", caption))


def _errors() -> tuple[Agreement, Agreement]:
    return "fp", "fn"


def _legend(entries: list[tuple[Html, str]]) -> Html:
    return element("ul", *(element("li", mark, words) for mark, words in entries), class_="legend")


def _swatch(kind: Agreement, opacity: float) -> Html:
    return _box(kind, COLOURS[kind], opacity)


def _box(kind: str, colour: str, opacity: float) -> Html:
    return Html(
        '<svg class="swatch" width="14" height="14" aria-hidden="true">'
        f'<rect class="{kind}" width="14" height="14" fill="{colour}" fill-opacity="{opacity}"/>'
        "</svg>"
    )


def _line(kind: Agreement) -> Html:
    dashes = DASHES[kind]
    dashed = "" if dashes is None else f' stroke-dasharray="{dashes[0]} {dashes[1]}"'
    return Html(
        '<svg class="swatch" width="36" height="8" aria-hidden="true">'
        f'<line class="{kind}" x1="0" y1="4" x2="36" y2="4" stroke="{COLOURS[kind]}" '
        f'stroke-width="4"{dashed}/></svg>'
    )


def _pairs(pairs: tuple[PairExplanation, ...]) -> Html:
    rows = [
        [
            " – ".join(shown(name) for name in pair.pair),
            number(pair.errors),
            percent(pair.errors, pair.contexts),
            number(pair.fp),
            number(pair.fn),
            joined(element("div", line) for line in _regions(pair)),
        ]
        for pair in pairs
    ]
    return table(["pair", "errors", "of its contexts", "FP", "FN", "where"], rows, kind="words")


def _regions(pair: PairExplanation) -> list[Html]:
    kinds = {"guess": "fp", "true": "fn"}
    lines = [
        joined(
            [
                element("b", f"only in {region.only_in}", class_=kinds[region.only_in]),
                f" when {in_words(region.when)}; " if region.when else " in every context; ",
                percent(region.size, pair.contexts),
            ]
        )
        for region in pair.regions
    ]
    if pair.rest:
        lines.append(html(f"in smaller regions; {percent(pair.rest, pair.contexts)}"))
    if pair.undecided:
        lines.append(html(f"not decided in time; {percent(pair.undecided, pair.contexts)}"))
    return lines


def _features(features: tuple[FeatureErrors, ...]) -> Html:
    whose = {"guess": "the guess has it", "true": "the guess lacks it"}
    rows = [
        [
            in_words(feature.feature) or "(the empty feature)",
            number(feature.takes_part),
            number(feature.vanish),
            number(feature.created),
            whose[feature.only_in],
        ]
        for feature in features
    ]
    caption = (
        "The errors in which a feature takes part, and those that vanish or appear if it alone is "
        "removed from the guess, or added to it."
    )
    return table(
        ["feature", "takes part", "vanish", "appear", ""], rows, caption=caption, kind="words"
    )
