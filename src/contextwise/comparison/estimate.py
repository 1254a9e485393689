"""Estimates for the pairs that a time limit left open, by sampling.

The false negatives are estimated by drawing from the union of the true model and testing the guess
(`draw_union` in `contextwise.counting.assertions`), the false positives the other way round. Draws
are spread over the open pairs in proportion to the sizes of their cubes, so the hits of all pairs
are one binomial number. Zero hits give an upper limit above 0.

`draw_assertions` draws assertions of a question, for what is estimated from their answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from contextwise.comparison.confusion import Number, ratio
from contextwise.comparison.question import Question
from contextwise.comparison.two_models import Comparison
from contextwise.counting.assertions import Assertions, draw, draw_union
from contextwise.counting.pair_counts import PairShares
from contextwise.errors import ContextwiseError, enough_memory
from contextwise.models.structure import Structure
from contextwise.support.formatting import number
from contextwise.support.statistics import CONFIDENCE

CONTEXTS_DRAWN = 2**14
ASSERTIONS = 2**18
"""Default number of drawn assertions: an error of about 0.002."""


@dataclass(frozen=True)
class IntervalEstimate:
    """An estimated number and the ends of its 95 % interval.

    >>> print(IntervalEstimate(0.25, 0.2, 0.3))
    0.25 (0.2 to 0.3)
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.4g} ({self.low:.4g} to {self.high:.4g})"


def binomial_interval(
    hits: npt.ArrayLike, draws: npt.ArrayLike
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the exact confidence intervals of probabilities, from numbers of successes."""
    from scipy import special  # loads in a third of the time of stats

    tail, count, draws = (1 - CONFIDENCE) / 2, np.asarray(hits, dtype=np.float64), np.asarray(draws)
    # Without successes (or failures) SciPy gives nan, which the closed end replaces.
    with np.errstate(invalid="ignore"):
        # Clopper-Pearson: quantiles of beta distributions bound the binomial tails exactly.
        low = np.where(count == 0, 0.0, special.betaincinv(count, draws - count + 1, tail))
        high = np.where(count == draws, 1.0, special.betainccinv(count + 1, draws - count, tail))
    return low, high


# -- open pairs ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OpenEstimates:
    """Estimates for a comparison with open pairs, as shares of all its assertions.

    ``fp`` and ``fn`` include the errors of finished pairs.
    """

    fp: IntervalEstimate
    fn: IntervalEstimate
    draws: int


def estimate_open_pairs(
    comparison: Comparison,
    *,
    draws: int = CONTEXTS_DRAWN,
    seed: int | np.random.Generator = 0,
) -> OpenEstimates:
    """Estimate the false positives and false negatives of a comparison with open pairs."""
    question, open_places = comparison.question, comparison.unions.open_places
    if question.rows is not None:
        raise ContextwiseError("observed rows are counted exactly and need no estimate")
    if draws < 1:
        raise ContextwiseError(f"draws must be >= 1, got {draws}")
    generator = np.random.default_rng(seed)
    pairs = comparison.pairs[open_places]
    sizes = np.array([ratio(size, comparison.total) for size in question.sizes(pairs)])
    finished = np.delete(comparison.unit_counts, open_places, axis=0)
    _, fn, fp, _ = comparison.unions.total(finished)

    def estimate(a: Structure, b: Structure, counted: Number) -> IntervalEstimate:
        """Estimate the share of assertions that depend in a and not in b."""
        known = ratio(counted, comparison.total) if comparison.total else 0.0
        cubes = PairShares(a.features, question.space)
        drawn = draw_union(cubes, b.features, pairs, sizes, draws, generator)
        tried = len(drawn.hits)
        if not tried:
            return IntervalEstimate(known, known, known)
        hits = int(drawn.hits.sum())
        # The draws come from all cubes, overlaps included, so hits are a share of their sum.
        whole = float((sizes * drawn.shares).sum())
        low, high = (known + whole * float(share) for share in binomial_interval(hits, tried))
        return IntervalEstimate(known + whole * hits / tried, low, min(1.0, high))

    true, guess = question.structures
    missed = estimate(true, guess, fn)
    return OpenEstimates(estimate(guess, true, fp), missed, draws)


# -- random assertions -----------------------------------------------------------------------------


def draw_assertions(
    question: Question, count: int, seed: int | np.random.Generator = 0
) -> Assertions:
    """Draw assertions of a question uniformly; raise if no pair or no row is left."""
    if count < 1:
        raise ContextwiseError(f"assertions must be >= 1, got {count}")
    pairs = question.asked_pairs
    if not len(pairs):
        raise ContextwiseError("no pair is left to compare")
    if question.rows is not None and not len(question.rows):
        raise ContextwiseError("no row of the data is left to compare")
    with enough_memory(f"{number(count)} assertions"):
        return draw(
            question.domain.cardinalities,
            count,
            np.random.default_rng(seed),
            pairs=pairs,
            space=question.space,
            rows=question.rows,
        )
