"""Where two structures differ: the contexts of each error, and the features behind them.

For one pair of variables, the contexts in which only the guess, or only the true model, has the
dependence are given as **regions**: disjoint, few and general rather than many and narrow, largest
first, each with its exact share of the pair's contexts (`contextwise.counting.regions` states the
method). For the whole comparison, pairs are ranked by their errors, and features by the errors they
take part in.

A feature of the guess **takes part** in a false positive when it holds in that context (the pair's
literals apart); the error **vanishes** when the feature alone is removed, if no other feature of
the guess makes the pair depend there. Removing it can also **create** false negatives, where it was
the only feature that was right. A feature of the true model that the guess lacks takes part in the
false negatives of the contexts where it holds, and all of them vanish when it is added.
"""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Unpack

from contextwise.comparison.compare import Comparison, compare
from contextwise.comparison.pairs import Contexts, Pair, is_canonical, pair_positions
from contextwise.comparison.question import Restriction, deadline_of
from contextwise.comparison.responsible import FeatureSearch, most_errors
from contextwise.comparison.sentences import (
    ErrorRegion,
    Explanation,
    FeatureErrors,
    Kind,
    PairExplanation,
    in_words,
)
from contextwise.counting.extraction import CoverSource
from contextwise.counting.regions import Regions, difference
from contextwise.formats import ModelLike
from contextwise.models.domain import Domain
from contextwise.models.notation import write_literals
from contextwise.models.structure import Structure

__all__ = [
    "ErrorRegion",
    "Explanation",
    "FeatureErrors",
    "PairExplanation",
    "explain",
    "explain_comparison",
    "explain_pair",
    "in_words",
]

TOP = 10
OF_EACH_PAIR = 3
"""How many regions of a pair the explanation of a whole comparison gives."""


def explain(
    true: ModelLike,
    guess: ModelLike,
    *,
    top: int = TOP,
    time_limit: float | None = None,
    **restriction: Unpack[Restriction],
) -> Explanation:
    """Say where two structures differ.

    Parameters
    ----------
    true, guess : models, paths of model files, or names of bundled examples
    top : int
        How many pairs, regions and features are given.
    time_limit : seconds, optional
        What is not decided by then is left out, and the result says so.
    **restriction
        What is compared, with the keywords of `compare`: ``pairs=[("A", "B")]`` explains one pair.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> from contextwise import Structure
    >>> domain = {"A": 2, "B": 2, "C": ["no", "yes"], "D": ["young", "old", "very old"]}
    >>> true = Structure(domain, ["A=1 & B=1 & C=no"])
    >>> guess = Structure(domain, ["A=1 & B=1 & C=no", "A=1 & B=1 & D!=old"])
    >>> print(explain(true, guess, pairs=[("A", "B")]).pairs[0])
    A–B only in guess: when C=yes and D≠old; 33.3 % of contexts
    """
    deadline = deadline_of(time_limit)
    found = compare(true, guess, time_limit=time_limit, **restriction)
    return explain_comparison(found, top=top, deadline=deadline)


def explain_pair(
    comparison: Comparison, pair: Pair, *, top: int = TOP, time_limit: float | None = None
) -> PairExplanation:
    """`explain` one pair of a comparison that is there already.

    Parameters
    ----------
    comparison : what `compare` gave
    pair : two names
    top : how many regions are given
    time_limit : seconds, optional

    Returns
    -------
    PairExplanation
    """
    deadline = deadline_of(time_limit)
    explainer = _PairExplainer(comparison.true, comparison.guess, comparison.contexts, deadline)
    return explainer.explain(pair_positions(comparison.domain, pair), top)


def explain_comparison(
    comparison: Comparison, *, top: int = TOP, deadline: float | None = None
) -> Explanation:
    """`explain` a comparison that is there already, until an instant of `time.monotonic`."""
    explainer = _PairExplainer(comparison.true, comparison.guess, comparison.contexts, deadline)
    errors = {pair: fp + fn for pair, (fp, fn) in most_errors(comparison).items()}
    worst = sorted((pair for pair in errors if errors[pair]), key=lambda pair: -errors[pair])
    of_each = top if comparison.pair_count == 1 else min(top, OF_EACH_PAIR)
    pairs = tuple(explainer.explain(pair, of_each) for pair in worst[:top])
    features, in_time = FeatureSearch(comparison, explainer.source, deadline).worst(top)
    undecided = bool(comparison.open_pairs) or any(pair.undecided for pair in pairs)
    return Explanation(comparison, pairs, features, partial=undecided or not in_time)


class _PairExplainer:
    """What is needed again and again to explain the pairs of two structures."""

    def __init__(
        self, true: Structure, guess: Structure, contexts: Contexts, deadline: float | None
    ) -> None:
        self.domain: Domain = true.domain
        self.deadline = deadline
        self.source = CoverSource(true.features, guess.features, canonical=is_canonical(contexts))

    def explain(self, pair: tuple[int, int], top: int) -> PairExplanation:
        in_true, in_guess = (self.source.cubes(model, pair) for model in (0, 1))
        space = self.source.space(pair, [*in_true, *in_guess])
        fp = difference(space, in_guess, in_true, time_limit=self.time_left())
        fn = difference(space, in_true, in_guess, time_limit=self.time_left())
        contexts = space.cover(()).total
        regions = [*self.named("guess", fp, contexts), *self.named("true", fn, contexts)]
        regions.sort(key=lambda region: -region.size)
        names = self.domain.names
        return PairExplanation(
            pair=(names[pair[0]], names[pair[1]]),
            contexts=contexts,
            regions=tuple(regions[:top]),
            fp=fp.size,
            fn=fn.size,
            rest=sum(region.size for region in regions[top:]),
            undecided=fp.open + fn.open,
        )

    def time_left(self) -> float | None:
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def named(self, only_in: Kind, found: Regions, contexts: int) -> list[ErrorRegion]:
        return [
            ErrorRegion(
                only_in,
                write_literals(self.domain.literal(v, allowed) for v, allowed in region.literals),
                region.size,
                Fraction(region.size, contexts),
            )
            for region in found
        ]
