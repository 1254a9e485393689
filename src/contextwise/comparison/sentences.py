"""What an explanation says, and how it is said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from contextwise.comparison.compare import Comparison
from contextwise.comparison.pairs import Pair
from contextwise.models.notation import parse_literals, quoted, write_literal
from contextwise.models.numbers import number, percent, plural

Kind = Literal["guess", "true"]
"""Which of the two models alone has the dependence."""


@dataclass(frozen=True)
class ErrorRegion:
    """A region of contexts in which one model alone has a dependence.

    Attributes
    ----------
    only_in : ``"guess"`` (false positives) or ``"true"`` (false negatives)
    when : its literals as text, ``"C=yes & D!=old"``; empty for every context
    size : the number of its contexts
    share : its exact share of the pair's contexts
    """

    only_in: Kind
    when: str
    size: int
    share: Fraction


@dataclass(frozen=True)
class PairExplanation:
    """Where the two models differ about one pair.

    Attributes
    ----------
    pair : the names
    contexts : the number of contexts of the pair
    regions : the largest regions, of both kinds
    fp, fn : the errors that were found, in all regions
    rest : the errors in regions that are not among ``regions``
    undecided : contexts that were not looked at within the time limit; 0 if all were
    """

    pair: Pair
    contexts: int
    regions: tuple[ErrorRegion, ...]
    fp: int
    fn: int
    rest: int = 0
    undecided: int = 0

    @property
    def errors(self) -> int:
        """The errors that were found."""
        return self.fp + self.fn

    @property
    def partial(self) -> bool:
        """Whether a time limit left contexts out."""
        return self.undecided > 0

    def lines(self) -> Iterator[str]:
        """The explanation as sentences, a region each."""
        between = "–".join(map(quoted, self.pair))
        for region in self.regions:
            where = f"when {in_words(region.when)}" if region.when else "in every context"
            share = percent(region.size, self.contexts)
            yield f"{between} only in {region.only_in}: {where}; {share} of contexts"
        if self.rest:
            yield f"{between}: {percent(self.rest, self.contexts)} of contexts in smaller regions"
        if self.undecided:
            share = percent(self.undecided, self.contexts)
            yield f"{between}: {share} of contexts not decided in time"
        if not self.errors and not self.undecided:
            yield f"{between}: no difference"

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
    feature : the feature as text
    takes_part : the errors in the contexts where it holds
    vanish : those that are gone if it alone is removed from the guess, or added to it
    created : the errors that the removal would bring
    """

    only_in: Kind
    feature: str
    takes_part: int
    vanish: int
    created: int = 0


@dataclass(frozen=True)
class Explanation:
    """Where two structures differ, over all pairs.

    Attributes
    ----------
    comparison : the counts
    pairs : the pairs with the most errors, worst first, each with its largest regions
    features : the features that take part in the most errors
    partial : whether a time limit left features or regions out
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
        for feature in self.features:
            yield _feature_line(feature)
        if self.partial:
            yield "A time limit left out part of this explanation."

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        from contextwise.report.notebook import explanation_html

        return explanation_html(self)


def _feature_line(found: FeatureErrors) -> str:
    errors = plural(found.takes_part, "error")
    if found.only_in == "true":
        return f"The guess lacks {in_words(found.feature)}: {errors}, gone if it is added."
    more = f" and brings {number(found.created)} new" if found.created else ""
    return (
        f"The guess has {in_words(found.feature)}: it takes part in {errors}; removing it alone "
        f"undoes {number(found.vanish)}{more}."
    )


def in_words(literals: str) -> str:
    """Literals as they are read aloud.

    >>> in_words("C=yes & D!=old")
    'C=yes and D≠old'
    """
    return " and ".join(
        write_literal(literal).replace("!=", "≠", 1) if literal.negated else write_literal(literal)
        for literal in parse_literals(literals)
    )
