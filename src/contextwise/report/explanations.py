"""Explanations as parts to show: the regions of each pair, and the features behind the errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from contextwise.comparison.explain import Explanation, FeatureErrors, PairExplanation, in_words
from contextwise.comparison.explanation import by_scope
from contextwise.models.numbers import plural
from contextwise.report.colours import WORDS, Agreement
from contextwise.report.elements import Cell, Column, Marked, Note, PairName, Part, Table

KINDS: dict[str, Agreement] = {"guess": "fp", "true": "fn"}
"""The kind of error of a dependence that only one model has."""
REGION_COLUMNS = (
    Column("dependent", "words"),
    Column("when", "words"),
    Column("of contexts", "share"),
)


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
    parts += features_parts(explanation.features)
    if explanation.partial:
        text = "A time limit left out part of this explanation."
        parts.append(Note("partial", text, warns=True))
    return parts


def pairs_table(pairs: Sequence[PairExplanation]) -> Table:
    """The pairs with the most errors, one row per region."""
    columns = (Column("pair", "name"), Column("errors", "count"), *REGION_COLUMNS)
    rows: list[tuple[Cell, ...]] = []
    for pair in pairs:
        for k, region in enumerate(_region_rows(pair)):
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
    if not pair.errors and not pair.undecided:
        return [Note("nothing", "The models agree about this pair in every context.")]
    title = "Where the models differ about this pair"
    return [Table(title, REGION_COLUMNS, tuple(_region_rows(pair)), key="regions")]


def _region_rows(pair: PairExplanation) -> Iterator[tuple[Cell, ...]]:
    """The regions, the largest first, and what is left."""
    for region in pair.regions:
        kind = KINDS[region.only_in]
        where = in_words(region.literals) if region.literals else "in every context"
        yield Marked(WORDS[kind], kind), where, region.share
    if pair.rest:
        yield "either", "in other regions", Fraction(pair.rest) / pair.contexts
    if pair.undecided:
        yield "", "not decided in time", Fraction(pair.undecided) / pair.contexts


def features_parts(features: Sequence[FeatureErrors]) -> list[Part]:
    """The features behind the errors, those of one scope together; and those that only repeat.

    Parameters
    ----------
    features : those that take part in the most errors

    Returns
    -------
    list of parts
    """
    parts: list[Part] = []
    groups = by_scope(features)
    if groups:
        columns = (
            Column("feature", "words"),
            Column("the guess", "words"),
            Column("takes part in", "count"),
            Column("undoes", "count"),
            Column("brings", "count"),
        )
        title = (
            "The features behind the errors: in how many each takes part, and how many it undoes "
            "and brings to remove it alone from the guess, or to add it"
        )
        rows = tuple(row for group in groups for row in _feature_rows(group))
        parts.append(Table(title, columns, rows, key="features"))
    silent = [found for found in features if found.vanish == 0 and not found.created]
    if silent:
        example, errors = in_words(silent[0].literals), plural(silent[0].takes_part, "error")
        text = (
            f"{plural(len(silent), 'feature')} of the guess, such as {example} ({errors}), only "
            "repeat errors that others make as well: removing one of them alone undoes nothing."
        )
        parts.append(Note("repeated", text))
    return parts


def _feature_rows(group: Sequence[FeatureErrors]) -> Iterator[tuple[Cell, ...]]:
    """The first feature of a scope, and the others in one row."""
    whose = {"guess": "has it", "true": "lacks it"}
    first, *others = group
    name = in_words(first.literals) or "(the empty feature)"
    yield name, whose[first.only_in], first.takes_part, first.vanish, first.created
    if others:
        most = max(found.takes_part for found in others)
        words = "another feature" if len(others) == 1 else f"{len(others)} more features"
        limit = "" if len(others) == 1 else ", at most"
        yield (
            f"{words} over {', '.join(first.scope)}{limit}",
            whose[first.only_in],
            most,
            None,
            None,
        )
