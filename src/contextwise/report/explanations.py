"""Explanations in words: the regions of each pair, and the features behind the errors.

What is said stands in rows, `region_rows` and `feature_rows`, and in notes, each worded once.
Pages, notebooks and the explorer show the rows as tables; a terminal shows each row as a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from contextwise.comparison.explain import Explanation, FeatureErrors, Kind, PairExplanation
from contextwise.models.notation import between, in_words, quoted, where
from contextwise.report.colours import UNDECIDED, WORDS, Agreement
from contextwise.report.notes import ganak_notes
from contextwise.report.parts import (
    Cell,
    Column,
    Interval,
    Marked,
    Note,
    PairName,
    Part,
    Table,
    cell_text,
)
from contextwise.support.formatting import Number, number, percent, plural

KINDS: dict[Kind, Agreement] = {"guess": "fp", "true": "fn"}
"""The kind of error of a dependence that only one model has."""
WHOSE: dict[Kind, str] = {"guess": "has it", "true": "lacks it"}
"""What the guess does with a feature that only one model has."""
REGION_COLUMNS = (
    Column("dependent", "words"),
    Column("when", "words"),
    Column("of contexts", "share"),
)
FEATURE_COLUMNS = (
    Column("feature", "words"),
    Column("the guess", "words"),
    Column("takes part in", "count"),
    Column("undoes", "count"),
    Column("brings", "count"),
)


class RegionRow(NamedTuple):
    """Some contexts of a pair.

    Attributes
    ----------
    dependent : which model has the dependence there; empty if that is not known
    when : the contexts
    share : of the pair's contexts
    """

    dependent: Marked | str
    when: str
    share: Fraction


class FeatureRow(NamedTuple):
    """A feature behind the errors, or others over the same variables, taken together.

    Attributes
    ----------
    feature : the feature, or how many there are and over which variables
    guess : whether the guess has it or lacks it
    takes_part : the errors it takes part in; of several features, the fewest and the most
    vanish, created : as in `FeatureErrors`; None for several features
    """

    feature: str
    guess: str
    takes_part: Number | Interval
    vanish: Number | None
    created: Number | None


# -- what is said --------------------------------------------------------------------------------


def region_rows(pair: PairExplanation) -> Iterator[RegionRow]:
    """The regions, the largest first, then the errors in other regions, then what is undecided."""
    for region in pair.regions:
        kind = KINDS[region.only_in]
        when = in_words(region.literals) or where(())
        yield RegionRow(Marked(WORDS[kind], kind), when, region.share)
    if pair.rest:
        yield RegionRow("either", "in other regions", Fraction(pair.rest) / pair.contexts)
    if pair.undecided:
        yield RegionRow("", UNDECIDED, Fraction(pair.undecided) / pair.contexts)


def feature_rows(features: Iterable[FeatureErrors]) -> Iterator[FeatureRow]:
    """One or two features over the same variables, each in a row; of more, the others in one row.

    Parameters
    ----------
    features : those that take part in the most errors

    Yields
    ------
    FeatureRow
    """
    for group in by_scope(features):
        alone = group if len(group) <= 2 else group[:1]
        whose = WHOSE[group[0].only_in]
        for one in alone:
            words = in_words(one.literals) or "(the empty feature)"
            yield FeatureRow(words, whose, one.takes_part, one.vanish, one.created)
        errors = [found.takes_part for found in group[len(alone) :]]
        if errors:
            scope = ", ".join(map(quoted, group[0].scope))
            words = f"{plural(len(errors), 'more feature')} over {scope}"
            yield FeatureRow(words, whose, Interval(min(errors), max(errors)), None, None)


def by_scope(features: Iterable[FeatureErrors]) -> list[list[FeatureErrors]]:
    """Features of one scope together, in the order of the first of each.

    Those whose removal undoes nothing are left out: others say the same as they do.
    """
    groups: dict[tuple[Kind, tuple[str, ...]], list[FeatureErrors]] = {}
    for found in features:
        if not _only_repeats(found):
            groups.setdefault((found.only_in, found.scope), []).append(found)
    return list(groups.values())


def _only_repeats(found: FeatureErrors) -> bool:
    return found.vanish == 0 and not found.created


def repeating_notes(features: Iterable[FeatureErrors]) -> list[Note]:
    """A note on the features that only repeat what others say, if there are such."""
    silent = list(filter(_only_repeats, features))
    if not silent:
        return []
    example, errors = in_words(silent[0].literals), plural(silent[0].takes_part, "error")
    text = (
        f"{plural(len(silent), 'feature')} of the guess, such as {example} ({errors}), only "
        "repeat errors that others make as well: removing one of them alone undoes nothing."
    )
    return [Note("repeated", text)]


def partial_notes(explanation: Explanation) -> list[Note]:
    """A note if a time limit left something out."""
    text = "A time limit left out part of this explanation."
    return [Note("partial", text, warns=True)] if explanation.partial else []


# -- as tables -----------------------------------------------------------------------------------


def explanation_parts(explanation: Explanation) -> list[Part]:
    """The pairs with the most errors and their regions, the features behind them, and notes.

    Parameters
    ----------
    explanation : of a whole comparison

    Returns
    -------
    list of parts
        Empty if the models agree.
    """
    parts: list[Part] = []
    if explanation.pairs:
        parts.append(pairs_table(explanation.pairs))
    rows = tuple(feature_rows(explanation.features))
    if rows:
        title = (
            "The features behind the errors: in how many each takes part, and how many it undoes "
            "and brings to remove it alone from the guess, or to add it"
        )
        parts.append(Table(title, FEATURE_COLUMNS, rows, key="features"))
    return [*parts, *repeating_notes(explanation.features), *partial_notes(explanation)]


def pairs_table(pairs: Sequence[PairExplanation]) -> Table:
    """The pairs with the most errors, one row per region."""
    columns = (Column("pair", "name"), Column("errors", "count"), *REGION_COLUMNS)
    rows: list[tuple[Cell, ...]] = []
    for pair in pairs:
        for k, region in enumerate(region_rows(pair)):
            name: tuple[Cell, ...] = (PairName(*pair.pair), pair.errors) if k == 0 else ("", "")
            rows.append((*name, *region))
    title = "The pairs with the most errors, and where the models differ about them"
    return Table(title, columns, tuple(rows), key="pairs")


def region_parts(pair: PairExplanation) -> list[Part]:
    """The regions of one pair as a table, or a note that there are none.

    Parameters
    ----------
    pair : what is explained

    Returns
    -------
    list of parts

    Examples
    --------
    >>> from contextwise import examples, explain
    >>> survey = examples.load("survey"), examples.load("survey-learned")
    >>> (pair,) = explain(*survey, pairs=[("children", "work")]).pairs
    >>> region_parts(pair)[0].texts()
    [['only in guess', 'gender=man', '50 %']]
    """
    rows = tuple(region_rows(pair))
    if not rows:
        return [Note("nothing", line) for line in pair_lines(pair)]
    return [Table("Where the models differ about this pair", REGION_COLUMNS, rows, key="regions")]


# -- as sentences --------------------------------------------------------------------------------


def explanation_lines(explanation: Explanation) -> Iterator[str]:
    """The explanation as sentences: of pairs, then of features, then notes.

    Parameters
    ----------
    explanation : of a whole comparison

    Yields
    ------
    str
        One line each; those of the summary are one.
    """
    yield explanation.comparison.summary()
    for pair in explanation.pairs:
        yield from pair_lines(pair)
    yield from map(_feature_line, feature_rows(explanation.features))
    notes = repeating_notes(explanation.features)
    notes += ganak_notes([explanation.comparison]) + partial_notes(explanation)
    yield from (note.text for note in notes)


def pair_lines(pair: PairExplanation) -> Iterator[str]:
    """The regions of one pair as sentences, or one that says there are none.

    Parameters
    ----------
    pair : what is explained

    Yields
    ------
    str
        One line each.

    Examples
    --------
    >>> from contextwise import explain
    >>> (pair,) = explain("survey", "survey-learned", pairs=[("children", "work")]).pairs
    >>> list(pair_lines(pair))
    ['children–work only in guess: when gender=man; 50 % of contexts']
    """
    names, rows = between(pair.pair), list(region_rows(pair))
    for row in rows:
        share = f"{percent(row.share, 1)} of contexts"
        if isinstance(row.dependent, Marked):
            when = row.when if row.when == where(()) else f"when {row.when}"
            yield f"{names} {row.dependent}: {when}; {share}"
        else:
            yield f"{names}: {share} {row.when}"
    if not rows:
        yield f"{names}: no difference"


def _feature_line(row: FeatureRow) -> str:
    if isinstance(row.takes_part, Interval):
        most = cell_text(row.takes_part.high, FEATURE_COLUMNS[2])
        return f"{row.feature}: each takes part in at most {most}."
    errors = plural(row.takes_part, "error")
    if row.guess == WHOSE["true"]:
        return f"The guess lacks {row.feature}: {errors}, gone if it is added."
    start = f"The guess has {row.feature}: it takes part in {errors}"
    if row.vanish is None:
        return f"{start}."
    more = f" and brings {number(row.created)} new" if row.created else ""
    return f"{start}; removing it alone undoes {number(row.vanish)}{more}."
