"""What an explanation says: regions of contexts, pairs, features; and its sentences.

Literals stay literals here; texts are made of them when they are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from contextwise.comparison.comparison import Comparison
from contextwise.comparison.confusion import Number
from contextwise.comparison.pairs import Pair
from contextwise.models import notation
from contextwise.models.notation import in_words, quoted, write_literals
from contextwise.models.numbers import number, percent, plural

Kind = Literal["guess", "true"]
"""Which of the two models alone has the dependence."""


@dataclass(frozen=True)
class ErrorRegion:
    """A region of contexts in which one model alone has a dependence.

    Attributes
    ----------
    only_in : ``"guess"`` (false positives) or ``"true"`` (false negatives)
    literals : where it is; none for every context
    size : what its contexts count
    share : its exact share of the pair's contexts
    """

    only_in: Kind
    literals: tuple[notation.Literal, ...]
    size: Number
    share: Fraction

    @property
    def when(self) -> str:
        """Its literals as text, ``"C=yes & D!=old"``; empty for every context."""
        return write_literals(self.literals)

    def record(self) -> dict[str, Any]:
        """The region for other programs: its literals as text, its share as a number."""
        return {
            "only_in": self.only_in,
            "when": self.when,
            "size": self.size,
            "share": float(self.share),
        }


@dataclass(frozen=True)
class PairExplanation:
    """Where the two models differ about one pair.

    Attributes
    ----------
    pair : the names
    contexts : what the contexts of the pair count
    regions : the largest regions, of both kinds
    fp, fn : the errors; of an open pair, those that are certain
    rest : the errors in regions that are not among ``regions``
    undecided : what was not decided within the time limit: errors whose region was not looked for
        and, of an open pair, contexts that may be errors or not
    """

    pair: Pair
    contexts: Number
    regions: tuple[ErrorRegion, ...]
    fp: Number
    fn: Number
    rest: Number = 0
    undecided: Number = 0

    @property
    def errors(self) -> Number:
        """The errors, or those that are certain."""
        return self.fp + self.fn

    @property
    def partial(self) -> bool:
        """Whether a time limit left something out."""
        return self.undecided > 0

    def lines(self) -> Iterator[str]:
        """The explanation as sentences, one for each region."""
        between = "–".join(map(quoted, self.pair))
        for region in self.regions:
            where = f"when {in_words(region.literals)}" if region.literals else "in every context"
            share = percent(region.size, self.contexts)
            yield f"{between} only in {region.only_in}: {where}; {share} of contexts"
        if self.rest:
            yield f"{between}: {percent(self.rest, self.contexts)} of contexts in other regions"
        if self.undecided:
            share = percent(self.undecided, self.contexts)
            yield f"{between}: {share} of contexts not decided in time"
        if not self.errors and not self.undecided:
            yield f"{between}: no difference"

    def record(self) -> dict[str, Any]:
        """The explanation for other programs."""
        return {
            "pair": self.pair,
            "contexts": self.contexts,
            "regions": [region.record() for region in self.regions],
            "fp": self.fp,
            "fn": self.fn,
            "rest": self.rest,
            "undecided": self.undecided,
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        from contextwise.report.notebook import pair_html

        return pair_html(self)


@dataclass(frozen=True)
class FeatureErrors:
    """The errors behind one feature.

    Attributes
    ----------
    only_in : ``"guess"`` for a feature that the guess has, ``"true"`` for one that it lacks
    literals : the feature
    takes_part : the errors in the contexts where it holds
    vanish : those that are gone if it alone is removed from the guess, or added to it; None if
        there was no time to count them
    created : the errors that the removal would bring; None like ``vanish``
    """

    only_in: Kind
    literals: tuple[notation.Literal, ...]
    takes_part: Number
    vanish: Number | None
    created: Number | None = 0

    @property
    def feature(self) -> str:
        """The feature as text."""
        return write_literals(self.literals)

    @property
    def scope(self) -> tuple[str, ...]:
        """The variables that the feature tests."""
        return tuple(literal.variable for literal in self.literals)

    def record(self) -> dict[str, Any]:
        """The figures for other programs."""
        return {
            "only_in": self.only_in,
            "feature": self.feature,
            "takes_part": self.takes_part,
            "vanish": self.vanish,
            "created": self.created,
        }


@dataclass(frozen=True)
class Explanation:
    """Where two structures differ, over all pairs.

    Attributes
    ----------
    comparison : the counts
    pairs : the pairs with the most errors, worst first, each with its largest regions; pairs that
        are open come last
    features : the features that take part in the most errors
    partial : whether a time limit left something out
    """

    comparison: Comparison
    pairs: tuple[PairExplanation, ...]
    features: tuple[FeatureErrors, ...]
    partial: bool = False

    def lines(self) -> Iterator[str]:
        """The explanation as sentences."""
        yield self.comparison.summary()
        for pair in self.pairs:
            yield from pair.lines()
        yield from _feature_lines(self.features)
        if self.comparison.rests_on_ganak:
            yield (
                "Some of these counts are Ganak's, which errs with a probability below one in a "
                "billion."
            )
        if self.partial:
            yield "A time limit left out part of this explanation."

    def record(self) -> dict[str, Any]:
        """Pairs and features for other programs."""
        return {
            "pairs": [pair.record() for pair in self.pairs],
            "features": [feature.record() for feature in self.features],
            "partial": self.partial,
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        from contextwise.report.notebook import explanation_html

        return explanation_html(self)


def by_scope(features: Iterable[FeatureErrors]) -> list[list[FeatureErrors]]:
    """Features of one scope together, in the order of the first of each.

    Those whose removal undoes nothing are left out: others say the same as they do.
    """
    groups: dict[tuple[Kind, tuple[str, ...]], list[FeatureErrors]] = {}
    for found in features:
        if found.vanish != 0 or found.created:
            groups.setdefault((found.only_in, found.scope), []).append(found)
    return list(groups.values())


def _feature_lines(features: tuple[FeatureErrors, ...]) -> Iterator[str]:
    groups = by_scope(features)
    for first, *others in groups:
        yield _feature_line(first)
        if others:
            scope = ", ".join(map(quoted, first.scope))
            errors = number(max(found.takes_part for found in others))
            yield (
                f"{plural(len(others), 'more feature')} over {scope}: each takes part in at most "
                f"{errors}."
            )
    silent = [found for found in features if found.vanish == 0 and not found.created]
    if silent:
        worst, errors = in_words(silent[0].literals), plural(silent[0].takes_part, "error")
        yield (
            f"{plural(len(silent), 'feature')} of the guess, such as {worst} ({errors}), only "
            "repeat errors that others make as well: removing one of them alone undoes nothing."
        )


def _feature_line(found: FeatureErrors) -> str:
    errors = plural(found.takes_part, "error")
    if found.only_in == "true":
        return f"The guess lacks {in_words(found.literals)}: {errors}, gone if it is added."
    start = f"The guess has {in_words(found.literals)}: it takes part in {errors}"
    if found.vanish is None:
        return f"{start}."
    more = f" and brings {number(found.created)} new" if found.created else ""
    return f"{start}; removing it alone undoes {number(found.vanish)}{more}."
