"""Estimates for pairs that a time limit left open, in addition to their proven bounds.

The false negatives are estimated by drawing from the union of the true model and testing the guess
(`contextwise.counting.karp_luby`), the false positives the other way round. Draws are spread over
the open pairs in proportion to the sizes of their cubes, so the hits of all pairs are one binomial
number. Zero hits give an upper limit above 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from contextwise.comparison.compare import Comparison
from contextwise.comparison.confusion import ratio
from contextwise.comparison.pairs import Pair
from contextwise.comparison.sketch import CONFIDENCE, IntervalEstimate, binomial_interval
from contextwise.counting.karp_luby import UnionDraws, draw_difference
from contextwise.errors import ContextwiseError
from contextwise.models.structure import Structure

DRAWS = 2**14


@dataclass(frozen=True)
class OpenEstimates:
    """Estimates for a comparison with open pairs, as shares of all its assertions.

    Attributes
    ----------
    fp, fn : the false positives and false negatives, including those of finished pairs
    pairs : the false positives and false negatives of each open pair that was drawn from, as shares
        of its contexts
    draws : number of contexts drawn for each of the two kinds
    """

    fp: IntervalEstimate
    fn: IntervalEstimate
    pairs: Mapping[Pair, tuple[IntervalEstimate, IntervalEstimate]]
    draws: int


def estimate_open_pairs(
    comparison: Comparison,
    *,
    draws: int = DRAWS,
    rng: int | np.random.Generator = 0,
    confidence: float = CONFIDENCE,
) -> OpenEstimates:
    """Estimate the false positives and false negatives of a comparison with open pairs.

    >>> from contextwise import compare
    >>> estimates = estimate_open_pairs(compare("six", "six-guess", time_limit=0))
    >>> estimates.fn.low <= compare("six", "six-guess").fn / 240 <= estimates.fn.high
    True
    """
    if comparison.question.rows is not None:
        raise ContextwiseError("observed rows are counted exactly and need no estimate")
    if draws < 1:
        raise ContextwiseError(f"draws must be >= 1, got {draws}")
    generator = np.random.default_rng(rng)
    question, pairs = comparison.question, comparison.pairs[comparison.unions.open]
    sizes = np.array([ratio(size, comparison.total) for size in question.sizes(pairs)])

    def differences(a: Structure, b: Structure) -> UnionDraws:
        return draw_difference(
            a.features,
            b.features,
            pairs,
            sizes,
            draws,
            generator,
            canonical=question.canonical,
            value_weights=question.value_weights,
        )

    true, guess = question.structures
    fn, fp = differences(true, guess), differences(guess, true)
    names = comparison.domain.names
    return OpenEstimates(
        fp=_of_all(fp, sizes, _known(comparison, FP), confidence),
        fn=_of_all(fn, sizes, _known(comparison, FN), confidence),
        pairs={
            (names[i], names[j]): (_of_pair(fp, k, confidence), _of_pair(fn, k, confidence))
            for k, (i, j) in enumerate(pairs.tolist())
            if _has_estimate(fp, k) and _has_estimate(fn, k)
        },
        draws=draws,
    )


FN, FP = 1, 2
"""The columns of the two kinds of errors among the counts of a pair."""


def _known(comparison: Comparison, kind: int) -> float:
    """Return the errors of one kind in the finished pairs, as a share of all assertions."""
    counts = [row[kind] for row in comparison.known_counts if row[kind] is not None]
    return ratio(sum(counts), comparison.total) if comparison.total else 0.0


def _of_all(
    drawn: UnionDraws, sizes: npt.NDArray[np.float64], known: float, confidence: float
) -> IntervalEstimate:
    """Estimate the errors of all pairs, including those of finished pairs."""
    whole = float((sizes * drawn.shares).sum())
    return _scaled(drawn.hits, whole, confidence, known)


def _has_estimate(drawn: UnionDraws, pair: int) -> bool:
    """Return whether a pair was drawn from or has no cubes."""
    return not drawn.shares[pair] or bool((drawn.pair == pair).any())


def _of_pair(drawn: UnionDraws, pair: int, confidence: float) -> IntervalEstimate:
    """Estimate the errors of one pair, as a share of its contexts."""
    return _scaled(drawn.hits[drawn.pair == pair], float(drawn.shares[pair]), confidence, 0.0)


def _scaled(
    hits: npt.NDArray[np.bool_], whole: float, confidence: float, known: float
) -> IntervalEstimate:
    """Return ``known`` plus the share of hits times ``whole``."""
    if not len(hits):
        return IntervalEstimate(known, known, known, confidence)
    low, high = binomial_interval(hits.sum(), len(hits), confidence)
    return IntervalEstimate(
        known + whole * float(hits.mean()),
        known + whole * float(low),
        min(1.0, known + whole * float(high)),
        confidence,
    )
