"""Turn explanations into parts: the contexts in which models differ, and the features behind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from contextwise.comparison.confusion import Number
from contextwise.comparison.roles import Agreement
from contextwise.models.notation import between, in_words, quoted, where
from contextwise.report.comparisons import summary, variables_tables, worst_title
from contextwise.report.parts import (
    TOP,
    UNDECIDED,
    Cell,
    Interval,
    Marked,
    Note,
    PairName,
    Part,
    Share,
    Style,
    Table,
    table,
)
from contextwise.support.formatting import plural

if TYPE_CHECKING:
    from contextwise.comparison.explain import Explanation, FeatureErrors, Kind, PairExplanation

KINDS: dict[Kind, Agreement] = {"guess": "fp", "true": "fn"}
REGIONS: dict[str, Style] = {"dependent": "text", "of contexts": "share", "when": "text"}


def difference_parts(result: Explanation, *, top: int = TOP) -> list[Part]:
    return [Note("summary", summary(result.comparison)), *explanation_parts(result)]


def explanation_parts(explanation: Explanation) -> list[Part]:
    """Return the worst pairs with their regions, the features, the variables and notes."""
    comparison = explanation.comparison
    parts: list[Part] = []
    if explanation.pairs:
        columns: dict[str, Style] = {"pair": "name", "differs": "share", **REGIONS}
        rows: list[tuple[Cell, ...]] = []
        for pair in explanation.pairs:
            named: tuple[Cell, ...] = PairName(*pair.pair), Share(pair.errors, pair.contexts)
            for region in region_rows(pair):
                rows.append((*named, *region))
                named = "", ""
        title = worst_title(comparison, len(explanation.pairs))
        if len(comparison.unions.open_places):
            noun = comparison.roles.noun
            title = f"The pairs with the most {noun} known so far, then unfinished pairs"
        parts.append(table(f"{title}, and where they differ", columns, rows, "pairs"))
    if any(model.given_by_claims for model in comparison.question.structures):
        text = "Features behind the errors are left out: a model is given by its claims."
        parts.append(Note("no features", text))
    parts += features_tables(explanation)
    parts += variables_tables(comparison, max(len(explanation.pairs), 5))
    repeated = list(filter(_only_repeats, explanation.features))
    if repeated:
        text = (
            f"{plural(len(repeated), 'feature')} of {comparison.roles.second}, such as "
            f"{in_words(repeated[0].literals)}, only repeat {comparison.roles.noun} that other "
            "features make as well: removing one of them changes nothing."
        )
        parts.append(Note("repeated", text))
    if explanation.partial:
        text = "A time limit left out part of this explanation."
        parts.append(Note("partial", text, warns=True))
    return parts


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
        when = in_words(region.literals) or where(())
        yield Marked(pair.roles.only[kind], kind), region.share, when
    if pair.rest:
        yield "either", Fraction(pair.rest) / pair.contexts, "in other regions"
    if pair.undecided:
        yield "", Fraction(pair.undecided) / pair.contexts, UNDECIDED


def features_tables(explanation: Explanation) -> list[Table]:
    """Return the table of the features behind the errors, if there are any."""
    style: Style = "count" if len(explanation.comparison.unions.open_places) else "share"
    total = None if style == "count" else explanation.comparison.distance

    def cell(errors: Number | None) -> Cell:
        return errors if total is None or errors is None else Share(errors, total)

    rows: list[tuple[Cell, ...]] = []
    for group in by_scope(explanation.features):
        whose = "has it" if group[0].only_in == "guess" else "lacks it"
        single = group if len(group) <= 2 else group[:1]
        for feature in single:
            counts = feature.takes_part, feature.vanish, feature.created
            text = in_words(feature.literals) or "(the empty feature)"
            rows.append((*map(cell, counts), whose, text))
        errors = [feature.takes_part for feature in group[len(single) :]]
        if errors:
            ends = (e if total is None else Fraction(e) / total for e in (min(errors), max(errors)))
            scope = ", ".join(map(quoted, group[0].scope))
            text = f"{plural(len(errors), 'more feature')} over {scope}"
            rows.append((Interval(*ends), None, None, whose, text))
    roles = explanation.comparison.roles
    columns: dict[str, Style] = {roles.noun: style, "vanish": style, "created": style}
    columns |= {roles.guess: "text", "feature": "text"}
    title = (
        f"Features behind the {roles.noun}: the share of {roles.noun} where the feature holds, the "
        f"share that would vanish if {roles.second} gained (or lost) it, and the new {roles.noun} "
        "that this would cause"
    )
    ties = explanation.tied_features
    cut = f" ({plural(ties, 'other feature')} as many as the last)" if ties else ""
    return [table(f"{title}{cut}", columns, rows, "features")] if rows else []


def by_scope(features: Iterable[FeatureErrors]) -> list[list[FeatureErrors]]:
    """Group features by scope, without those whose removal changes nothing."""
    groups: dict[tuple[Kind, tuple[str, ...]], list[FeatureErrors]] = {}
    for feature in features:
        if not _only_repeats(feature):
            groups.setdefault((feature.only_in, feature.scope), []).append(feature)
    return list(groups.values())


def _only_repeats(feature: FeatureErrors) -> bool:
    return feature.vanish == 0 and not feature.created
