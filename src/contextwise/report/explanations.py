"""Turn explanations into parts: the regions of each pair, and the features behind the errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from contextwise.comparison.explain import Explanation, FeatureErrors, Kind, PairExplanation
from contextwise.models.notation import between, in_words, quoted, where
from contextwise.report.colours import UNDECIDED, WORDS, Agreement
from contextwise.report.comparisons import variables_tables
from contextwise.report.notes import ganak_notes
from contextwise.report.parts import (
    Cell,
    Column,
    Interval,
    Marked,
    Note,
    Number,
    PairName,
    Part,
    Share,
    Style,
    Table,
)
from contextwise.support.formatting import plural

KINDS: dict[Kind, Agreement] = {"guess": "fp", "true": "fn"}
REGION_COLUMNS = (
    Column("dependent", "words"),
    Column("of contexts", "share"),
    Column("when", "words"),
)
FEATURES_TITLE = (
    "Features behind the errors: the share of errors where the feature holds, the share that would "
    "vanish if the guess gained (or lost) it, and the new errors that this would cause"
)


def explanation_parts(explanation: Explanation) -> list[Part]:
    """Return the worst pairs with their regions, the features, the variables and notes."""
    comparison = explanation.comparison
    parts: list[Part] = []
    if explanation.pairs:
        columns = Column("pair", "name"), Column("differs", "share"), *REGION_COLUMNS
        rows: list[tuple[Cell, ...]] = []
        for pair in explanation.pairs:
            named: tuple[Cell, ...] = PairName(*pair.pair), Share(pair.errors, pair.contexts)
            for region in region_rows(pair):
                rows.append((*named, *region))
                named = "", ""
        title = "The pairs with the most errors, and where the models differ about them"
        parts.append(Table(title, columns, tuple(rows), key="pairs"))
    parts += features_tables(explanation)
    parts += variables_tables(comparison, max(len(explanation.pairs), 5))
    repeated = list(filter(_only_repeats, explanation.features))
    if repeated:
        text = (
            f"{plural(len(repeated), 'feature')} of the guess, such as "
            f"{in_words(repeated[0].literals)}, only repeat errors that other features make as "
            "well: removing one of them changes nothing."
        )
        parts.append(Note("repeated", text))
    parts += ganak_notes([comparison])
    if explanation.partial:
        text = "A time limit left out part of this explanation."
        parts.append(Note("partial", text, warns=True))
    return parts


def region_parts(pair: PairExplanation) -> list[Part]:
    """Return the regions of one pair as a table, or a note if the models agree.

    >>> from contextwise import explain
    >>> (pair,) = explain("survey", "survey-learned", pairs=[("children", "work")]).pairs
    >>> region_parts(pair)[0].texts()
    [['only in guess', '50 %', 'gender=man']]
    """
    rows = tuple(region_rows(pair))
    if not rows:
        return [Note("nothing", f"{between(pair.pair)}: no difference")]
    title = f"Where the models differ about {between(pair.pair)}"
    return [Table(title, REGION_COLUMNS, rows, key="regions")]


def region_rows(pair: PairExplanation) -> Iterator[tuple[Cell, ...]]:
    """Yield the regions, the largest first, then the other errors, then what is undecided."""
    for region in pair.regions:
        kind = KINDS[region.only_in]
        when = in_words(region.literals) or where(())
        yield Marked(WORDS[kind], kind), region.share, when
    if pair.rest:
        yield "either", Fraction(pair.rest) / pair.contexts, "in other regions"
    if pair.undecided:
        yield "", Fraction(pair.undecided) / pair.contexts, UNDECIDED


def features_tables(explanation: Explanation) -> list[Table]:
    """Return the table of the features behind the errors, if there are any."""
    style: Style = "count" if len(explanation.comparison.unions.open) else "share"
    total = None if style == "count" else explanation.comparison.distance

    def cell(errors: Number | None) -> Cell:
        return errors if total is None or errors is None else Share(errors, total)

    rows: list[tuple[Cell, ...]] = []
    for group in by_scope(explanation.features):
        whose = "has it" if group[0].only_in == "guess" else "lacks it"
        single = group if len(group) <= 2 else group[:1]
        for feature in single:
            counts = feature.takes_part, feature.vanish, feature.created
            words = in_words(feature.literals) or "(the empty feature)"
            rows.append((*map(cell, counts), whose, words))
        errors = [feature.takes_part for feature in group[len(single) :]]
        if errors:
            ends = (e if total is None else Fraction(e) / total for e in (min(errors), max(errors)))
            scope = ", ".join(map(quoted, group[0].scope))
            words = f"{plural(len(errors), 'more feature')} over {scope}"
            rows.append((Interval(*ends), None, None, whose, words))
    columns = (
        *(Column(title, style) for title in ("errors", "vanish", "created")),
        Column("guess", "words"),
        Column("feature", "words"),
    )
    return [Table(FEATURES_TITLE, columns, tuple(rows), key="features")] if rows else []


def by_scope(features: Iterable[FeatureErrors]) -> list[list[FeatureErrors]]:
    """Group features by scope, without those whose removal changes nothing."""
    groups: dict[tuple[Kind, tuple[str, ...]], list[FeatureErrors]] = {}
    for feature in features:
        if not _only_repeats(feature):
            groups.setdefault((feature.only_in, feature.scope), []).append(feature)
    return list(groups.values())


def _only_repeats(feature: FeatureErrors) -> bool:
    return feature.vanish == 0 and not feature.created
