"""Explanations as parts to show: the regions of each pair, and the features behind the errors."""

from __future__ import annotations

from contextwise.comparison.explain import Explanation, FeatureErrors, PairExplanation, in_words
from contextwise.models.numbers import number, percent
from contextwise.report.colours import WORDS, Agreement
from contextwise.report.elements import Cell, Column, Marked, Note, PairName, Part, Section, Table

KINDS: dict[str, Agreement] = {"guess": "fp", "true": "fn"}
"""The kind of error of a dependence that only one model has."""


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
        pairs = tuple(pair_section(pair) for pair in explanation.pairs)
        parts.append(Section("The pairs with the most errors", pairs, key="pairs"))
    if explanation.features:
        parts.append(features_table(explanation.features))
    if explanation.partial:
        text = "A time limit left out part of this explanation."
        parts.append(Note("partial", text, warns=True))
    return parts


def pair_section(pair: PairExplanation) -> Section:
    """One pair: how many errors it has, and its regions."""
    title = f"{PairName(*pair.pair)}: {number(pair.errors)} errors"
    if pair.contexts:
        title += f", {percent(pair.errors, pair.contexts)} of its contexts"
    return Section(title, tuple(region_parts(pair)), key="pair")


def region_parts(pair: PairExplanation) -> list[Part]:
    """The regions of one pair as a table, and what they leave out.

    >>> from contextwise import examples, explain
    >>> survey = examples.load("survey"), examples.load("survey-learned")
    >>> (pair,) = explain(*survey, pairs=[("children", "work")]).pairs
    >>> region_parts(pair)[0].texts()
    [['only in guess', 'gender=man', '50 %']]
    """
    if not pair.errors and not pair.undecided:
        return [Note("nothing", "The models agree about this pair in every context.")]
    columns = Column("dependent", "words"), Column("when", "words"), Column("of contexts", "share")
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            Marked(WORDS[KINDS[region.only_in]], KINDS[region.only_in]),
            in_words(region.literals) if region.literals else "in every context",
            region.share,
        )
        for region in pair.regions
    )
    parts: list[Part] = [Table("", columns, rows, key="regions")] if rows else []
    if pair.rest:
        share = percent(pair.rest, pair.contexts)
        parts.append(Note("rest", f"{share} of contexts differ in other regions."))
    if pair.undecided:
        share = percent(pair.undecided, pair.contexts)
        parts.append(Note("open", f"{share} of contexts were not decided in time.", warns=True))
    return parts


def features_table(features: tuple[FeatureErrors, ...]) -> Table:
    """The features that take part in the most errors, one row per feature."""
    columns = (
        Column("feature", "words"),
        Column("", "words"),
        Column("takes part in", "count"),
        Column("undoes", "count"),
        Column("brings", "count"),
    )
    whose = {"guess": "the guess has it", "true": "the guess lacks it"}
    rows = tuple(
        (
            in_words(found.literals) or "(the empty feature)",
            whose[found.only_in],
            found.takes_part,
            found.vanish,
            found.created,
        )
        for found in features
    )
    title = (
        "The features behind the errors: in how many each takes part, and how many removing it "
        "alone from the guess, or adding it, undoes and brings"
    )
    return Table(title, columns, rows, key="features")
