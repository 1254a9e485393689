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
from contextwise.comparison.question import Pair
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
    drawn = {FN: differences(true, guess), FP: differences(guess, true)}
    of_all = {}
    for kind, draws_of_kind in drawn.items():
        counts = [row[kind] for row in comparison.known_counts if row[kind] is not None]
        known = ratio(sum(counts), comparison.total) if comparison.total else 0.0
        whole = float((sizes * draws_of_kind.shares).sum())
        of_all[kind] = _scaled(draws_of_kind.hits, whole, confidence, known)
    names, of_pairs = comparison.domain.names, {}
    for k, (i, j) in enumerate(pairs.tolist()):
        hits = {kind: d.hits[d.pair == k] for kind, d in drawn.items()}
        # A pair without draws has no estimate, unless it has no cubes.
        if all(len(hits[kind]) or not drawn[kind].shares[k] for kind in drawn):
            fp, fn = (
                _scaled(hits[kind], float(drawn[kind].shares[k]), confidence) for kind in (FP, FN)
            )
            of_pairs[names[i], names[j]] = fp, fn
    return OpenEstimates(of_all[FP], of_all[FN], of_pairs, draws)


FN, FP = 1, 2
"""The columns of the two kinds of errors among the counts of a pair."""


def _scaled(
    hits: npt.NDArray[np.bool_], whole: float, confidence: float, known: float = 0.0
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
