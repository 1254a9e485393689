"""Turn explanations into parts: where two models differ, and the features behind it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from contextwise.comparison.roles import Agreement
from contextwise.models.notation import between, in_words, where
from contextwise.report.comparisons import (
    summary,
    tolerance_parts,
    variables_tables,
    worst_title,
)
from contextwise.report.parts import (
    TOP,
    UNDECIDED,
    Cell,
    Marked,
    Note,
    PairName,
    Part,
    Share,
    Style,
    Table,
    table,
)

if TYPE_CHECKING:
    from contextwise.comparison.error_regions import Explanation, Kind, PairExplanation

KINDS: dict[Kind, Agreement] = {"guess": "fp", "true": "fn"}
REGIONS: dict[str, Style] = {"dependent": "text", "of contexts": "share", "when": "text"}


def difference_parts(result: Explanation, *, top: int = TOP) -> list[Part]:
    if result.tolerance is not None:
        return _parts_at(result, result.tolerance)
    return [Note("summary", summary(result.comparison)), *explanation_parts(result)]


def _parts_at(explanation: Explanation, tolerance: float) -> list[Part]:
    """Return the worst pairs at a tolerance, with their regions."""
    at = explanation.comparison.at
    assert at is not None
    noun = explanation.comparison.roles.noun
    title = f"The pairs with the most {noun} among dependences stronger than {tolerance:g}"
    parts: list[Part] = tolerance_parts(at)[:1]
    parts += _pairs_table(explanation, f"{title}, and where they differ")
    if not explanation.pairs:
        parts.append(Note("nothing", "No finished pair differs."))
    return [*parts, *_partial_notes(explanation), *tolerance_parts(at)[2:]]


def _pairs_table(explanation: Explanation, title: str) -> list[Table]:
    columns: dict[str, Style] = {"pair": "name", "differs": "share", **REGIONS}
    rows: list[tuple[Cell, ...]] = []
    for pair in explanation.pairs:
        named: tuple[Cell, ...] = PairName(*pair.pair), Share(pair.errors, pair.contexts)
        for region in region_rows(pair):
            rows.append((*named, *region))
            named = "", ""
    return [table(title, columns, rows, "pairs")] if explanation.pairs else []


def _partial_notes(explanation: Explanation) -> list[Note]:
    text = "A time limit left out part of this explanation."
    return [Note("partial", text, warns=True)] if explanation.partial else []


def explanation_parts(explanation: Explanation) -> list[Part]:
    """Return the worst pairs with their regions, the features, the variables and notes."""
    comparison = explanation.comparison
    parts: list[Part] = []
    if explanation.pairs:
        title = worst_title(comparison, len(explanation.pairs))
        if len(comparison.unions.open_places):
            noun = comparison.roles.noun
            title = f"The pairs with the most {noun} known so far, then unfinished pairs"
        parts += _pairs_table(explanation, f"{title}, and where they differ")
    if any(model.given_by_claims for model in comparison.question.structures):
        text = "Features behind the errors are left out: a model is given by its claims."
        parts.append(Note("no features", text))
    parts += features_tables(explanation)
    parts += variables_tables(comparison, max(len(explanation.pairs), 5))
    return [*parts, *_partial_notes(explanation)]


def region_parts(pair: PairExplanation, *, top: int = TOP) -> list[Part]:
    """Return the regions of one pair as a table, or a note if the models agree."""
    rows = tuple(region_rows(pair))
    if not rows:
        return [Note("nothing", f"{between(pair.pair)}: no difference")]
    title = f"Where the models differ about {between(pair.pair)}"
    return [table(title, REGIONS, rows, "regions")]


def region_rows(pair: PairExplanation) -> Iterator[tuple[Cell, ...]]:
    """Yield the regions, the largest first, then the other errors, then what is undecided."""
    for region in pair.regions:
        kind = KINDS[region.only_in]
        when = in_words(region.region) or where(())
        yield Marked(pair.roles.only[kind], kind), region.share, when
    if pair.rest:
        yield "either", Fraction(pair.rest) / pair.contexts, "in other regions"
    if pair.undecided:
        yield "", Fraction(pair.undecided) / pair.contexts, UNDECIDED


def features_tables(explanation: Explanation) -> list[Table]:
    """Return the table of the features behind the errors, if there are any."""
    is_open = bool(len(explanation.comparison.unions.open_places))
    style: Style = "count" if is_open else "share"
    total = explanation.comparison.distance if not is_open else None
    rows: list[tuple[Cell, ...]] = []
    for feature in explanation.features:
        counts = feature.takes_part, feature.vanish, feature.created
        cells = (n if total is None or n is None else Share(n, total) for n in counts)
        whose = "has it" if feature.only_in == "guess" else "lacks it"
        rows.append((*cells, whose, in_words(feature.literals) or "(the empty feature)"))
    roles = explanation.comparison.roles
    columns: dict[str, Style] = {roles.noun: style, "vanish": style, "created": style}
    columns |= {roles.guess: "text", "feature": "text"}
    title = (
        f"Features behind the {roles.noun}: the share of {roles.noun} where the feature holds, the "
        f"share that would vanish if {roles.second} gained (or lost) it, and the new {roles.noun} "
        "that this would cause"
    )
    return [table(title, columns, rows, "features")] if rows else []
