"""What an explanation says: regions of contexts, pairs, features.

Literals stay literals here. An explanation is put into words in `contextwise.report.explanations`
alone, when it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from contextwise.comparison.comparison import Comparison
from contextwise.comparison.confusion import Number
from contextwise.comparison.pairs import Pair
from contextwise.models import notation
from contextwise.models.notation import write_literals

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
        from contextwise.report.explanations import pair_lines

        return pair_lines(self)

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

    Examples
    --------
    >>> from contextwise import explain
    >>> found = explain("lung", "lung-learned")
    >>> found.pairs[0].pair, found.pairs[0].regions[0].only_in, found.pairs[0].regions[0].when
    (('smoker', 'asbestos'), 'true', 'cancer=yes')
    """

    comparison: Comparison
    pairs: tuple[PairExplanation, ...]
    features: tuple[FeatureErrors, ...]
    partial: bool = False

    def lines(self) -> Iterator[str]:
        """The explanation as sentences."""
        from contextwise.report.explanations import explanation_lines

        return explanation_lines(self)

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
