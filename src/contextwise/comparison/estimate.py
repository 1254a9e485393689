"""Estimates for pairs that a time limit left open, beside their proven bounds.

What is open of a comparison lies between bounds that can be far apart. Its false negatives, the
contexts that the true model's union has and the guess's has not, are estimated by drawing from the
true model's union and asking the guess (`contextwise.counting.karp_luby`), its false positives the
other way. Draws are spread over the open pairs in proportion to the sizes of their cubes, so that
the hits of all pairs are one binomial number. The error is relative to what was drawn from: an
interval says how wide it is, and no hit gives an upper limit, never "none".
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
    """What is estimated of a comparison with open pairs, as shares of all its assertions.

    Attributes
    ----------
    fp, fn : estimates of the false positives and false negatives, those of finished pairs included
    pairs : for open pairs that were drawn from, the estimates of their own false positives and
        false negatives, as shares of the contexts of the pair
    draws : how many contexts were drawn for each of the two kinds
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
    >>> found = estimate_open_pairs(compare("six", "six-guess", time_limit=0))
    >>> found.fn.low <= compare("six", "six-guess").fn / 240 <= found.fn.high
    True
    """
    if comparison.question.rows is not None:
        raise ContextwiseError("observed rows are counted exactly; there is nothing to estimate")
    if draws < 1:
        raise ContextwiseError(f"an estimate needs at least one draw, not {draws}")
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
            if _says(fp, k) and _says(fn, k)
        },
        draws=draws,
    )


FN, FP = 1, 2
"""Where the two kinds of errors stand among the counts of a pair."""


def _known(comparison: Comparison, kind: int) -> float:
    """The errors of one kind in the finished pairs, as a share of all assertions."""
    counts = [row[kind] for row in comparison.known_counts if row[kind] is not None]
    return ratio(sum(counts), comparison.total) if comparison.total else 0.0


def _of_all(
    found: UnionDraws, sizes: npt.NDArray[np.float64], known: float, confidence: float
) -> IntervalEstimate:
    """The errors of all pairs, those that are known included."""
    whole = float((sizes * found.shares).sum())
    return _scaled(found.hits, whole, confidence, known)


def _says(found: UnionDraws, pair: int) -> bool:
    """Whether something can be said of a pair: it was drawn from, or has no cubes."""
    return not found.shares[pair] or bool((found.pair == pair).any())


def _of_pair(found: UnionDraws, pair: int, confidence: float) -> IntervalEstimate:
    """The errors of one pair, as a share of its contexts."""
    return _scaled(found.hits[found.pair == pair], float(found.shares[pair]), confidence, 0.0)


def _scaled(
    hits: npt.NDArray[np.bool_], whole: float, confidence: float, known: float
) -> IntervalEstimate:
    """The share of hits times what was drawn from, and what is known besides."""
    if not len(hits):
        return IntervalEstimate(known, known, known, confidence)
    low, high = binomial_interval(hits.sum(), len(hits), confidence)
    return IntervalEstimate(
        known + whole * float(hits.mean()),
        known + whole * float(low),
        min(1.0, known + whole * float(high)),
        confidence,
    )
