"""Estimates by sampling: for pairs that a time limit left open, and for thousands of models.

**Open pairs.** The false negatives are estimated by drawing from the union of the true model and
testing the guess (`draw_union` in `contextwise.counting.assertions`), the false positives the
other way round. Draws are spread over the open pairs in proportion to the sizes of their cubes, so
the hits of all pairs are one binomial number. Zero hits give an upper limit above 0.

**Sketches.** All models answer the same random assertions (`contextwise.counting.assertions`), one
bit each. The share of bits in which two sketches differ is an unbiased estimate of the normalized
distance. The assertions are drawn independently, so the number of differing bits is binomial, and
its exact interval (Clopper and Pearson) covers the distance with at least the stated confidence. A
sketch costs one pass over the features of a model, a distance a few thousand words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Unpack

import numpy as np
import numpy.typing as npt

from contextwise.comparison.compare import Comparison
from contextwise.comparison.confusion import ratio
from contextwise.comparison.matrix import label_models
from contextwise.comparison.question import Pair, Question, Restriction, pose
from contextwise.counting.assertions import (
    Assertions,
    UnionDraws,
    answers,
    differing,
    draw,
    draw_union,
)
from contextwise.counting.pair_counts import PairShares
from contextwise.errors import ContextwiseError, enough_memory
from contextwise.formats import ModelLike
from contextwise.models.structure import Structure
from contextwise.support.arrays import IntArray, WordArray
from contextwise.support.cores import cores
from contextwise.support.formatting import number
from contextwise.support.progress import Progress, progress_of

__all__ = ["EstimatedMatrix", "estimate_matrix", "sketch"]

CONFIDENCE = 0.95
DRAWS = 2**14
ASSERTIONS = 2**18
"""Default number of assertions of a sketch: an error of about 0.002."""
BLOCK = 256
"""Rows and columns of a block of the matrix."""


@dataclass(frozen=True)
class IntervalEstimate:
    """An estimated number, the ends of its interval, and how often such an interval covers it.

    >>> print(IntervalEstimate(0.25, 0.2, 0.3))
    0.25 (0.2 to 0.3)
    """

    value: float
    low: float
    high: float
    confidence: float = CONFIDENCE

    def __str__(self) -> str:
        return f"{self.value:.4g} ({self.low:.4g} to {self.high:.4g})"


def binomial_interval(
    hits: npt.ArrayLike, draws: npt.ArrayLike, confidence: float = CONFIDENCE
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the exact confidence intervals of probabilities, from numbers of successes."""
    if not 0 < confidence < 1:
        raise ContextwiseError(f"confidence must be between 0 and 1, got {confidence}")
    from scipy import special  # loads in a third of the time of stats

    tail, count, draws = (1 - confidence) / 2, np.asarray(hits, dtype=np.float64), np.asarray(draws)
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

    ``fp`` and ``fn`` include the errors of finished pairs. ``pairs`` has the false positives and
    negatives of each open pair that was drawn from, as shares of its contexts.
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
    """Estimate the false positives and false negatives of a comparison with open pairs."""
    if comparison.question.rows is not None:
        raise ContextwiseError("observed rows are counted exactly and need no estimate")
    if draws < 1:
        raise ContextwiseError(f"draws must be >= 1, got {draws}")
    generator = np.random.default_rng(rng)
    question, pairs = comparison.question, comparison.pairs[comparison.unions.open_places]
    sizes = np.array([ratio(size, comparison.total) for size in question.sizes(pairs)])

    def differences(a: Structure, b: Structure) -> UnionDraws:
        cubes = PairShares(a.features, question.space)
        return draw_union(cubes, b.features, pairs, sizes, draws, generator)

    true, guess = question.structures
    drawn = {FN: differences(true, guess), FP: differences(guess, true)}
    estimated = np.ones(len(pairs), dtype=bool)
    of_all, of_pairs = {}, {}
    finished = np.delete(comparison.unit_counts, comparison.unions.open_places, axis=0)
    counted = comparison.unions.total(finished)
    for kind, interval in drawn.items():
        known = ratio(counted[kind], comparison.total) if comparison.total else 0.0
        # The draws come from all cubes, overlaps included, so hits are a share of their sum.
        whole = float((sizes * interval.shares).sum())
        of_all[kind] = _scaled(
            [interval.hits.sum()], [len(interval.hits)], [whole], confidence, known
        )[0]
        hits, tried = (
            np.bincount(part, minlength=len(pairs))
            for part in (interval.pair[interval.hits], interval.pair)
        )
        of_pairs[kind] = _scaled(hits, tried, interval.shares, confidence)
        # A pair without draws has no estimate, unless it has no cubes.
        estimated &= (tried > 0) | (interval.shares == 0)
    names = comparison.domain.names
    by_name = {
        (names[i], names[j]): (of_pairs[FP][k], of_pairs[FN][k])
        for k, (i, j) in enumerate(pairs.tolist())
        if estimated[k]
    }
    return OpenEstimates(of_all[FP], of_all[FN], by_name, draws)


FN, FP = 1, 2
"""The columns of the two kinds of errors among the counts of a pair."""


def _scaled(
    hits: npt.ArrayLike,
    draws: npt.ArrayLike,
    wholes: npt.ArrayLike,
    confidence: float,
    known: float = 0.0,
) -> list[IntervalEstimate]:
    """Return ``known`` plus the shares of hits times ``wholes``; ``known`` alone without draws."""
    tried = np.maximum(draws, 1)  # all intervals at once: SciPy takes a millisecond per call
    low, high = binomial_interval(hits, tried, confidence)
    wholes = np.where(np.asarray(draws) > 0, wholes, 0.0)
    values = (known + wholes * share for share in (np.divide(hits, tried), low, high))
    ends = zip(*(each.tolist() for each in values), strict=True)
    return [IntervalEstimate(v, lo, min(1.0, hi), confidence) for v, lo, hi in ends]


# -- sketches --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class EstimatedMatrix:
    """Estimates of all pairwise normalized distances.

    Attributes
    ----------
    names : of the models, in the order of rows and columns
    differing : number of assertions on which each pair of models differs: shape (models, models)
    assertions : number of assertions
    by_position : whether the models were aligned by position instead of by names

    Examples
    --------
    >>> matrix = estimate_matrix(["lung", "lung-learned"], assertions=1000, rng=1)
    >>> matrix, matrix.widest() < 0.04
    (EstimatedMatrix(2 models, 1000 assertions), True)
    """

    names: tuple[str, ...]
    differing: IntArray
    assertions: int
    by_position: bool = False

    @property
    def normalized(self) -> npt.NDArray[np.float64]:
        """The estimated distances, as shares of all assertions."""
        return self.differing / self.assertions

    def interval(
        self, confidence: float = CONFIDENCE
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return the lower and the upper ends of each distance's own confidence interval."""
        counts, place = np.unique(self.differing, return_inverse=True)
        low, high = binomial_interval(counts, self.assertions, confidence)
        return low[place].reshape(self.differing.shape), high[place].reshape(self.differing.shape)

    def widest(self, confidence: float = CONFIDENCE) -> float:
        """Return half the width of the widest interval."""
        low, high = self.interval(confidence)
        return float((high - low).max()) / 2

    def __repr__(self) -> str:
        return f"EstimatedMatrix({len(self.names)} models, {self.assertions} assertions)"


def estimate_matrix(
    models: Iterable[ModelLike] | Mapping[str, ModelLike],
    *,
    names: Iterable[str] | None = None,
    assertions: int = ASSERTIONS,
    rng: int | np.random.Generator = 0,
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> EstimatedMatrix:
    """Estimate all pairwise distances from the answers of models to random assertions.

    Parameters
    ----------
    models, names : as in `distance_matrix`
    assertions : int
        Number of assertions. The error falls with its square root; the default gives at most 0.002.
    rng : seed or numpy.random.Generator
        The same seed gives the same assertions.
    show_progress : bool or function
        Show a line on standard error, or call a function of (done, total): first for the models,
        then for blocks of distances.
    **restriction
        The keywords of `compare` that restrict it.

    Examples
    --------
    >>> matrix = estimate_matrix(["six", "six-guess", "six-graph"])
    >>> matrix.normalized[0].round(2)
    array([0.  , 0.07, 0.33])
    """
    chosen, labels = label_models(models, names)
    if not chosen:
        raise ContextwiseError("no model to compare; give at least one")
    by_position = restriction.get("align") == "position"
    bits = sketch(
        chosen, assertions=assertions, rng=rng, show_progress=show_progress, **restriction
    )
    counts = np.zeros((len(bits), len(bits)), dtype=np.int64)
    parts = [slice(at, at + BLOCK) for at in range(0, len(bits), BLOCK)]
    blocks = list(combinations_with_replacement(parts, 2))
    with (
        progress_of(show_progress, "estimating distances") as progress,
        ThreadPoolExecutor(cores()) as threads,
    ):
        counted = threads.map(lambda block: differing(bits[block[0]], bits[block[1]]), blocks)
        for done, ((first, second), cells) in enumerate(zip(blocks, counted, strict=True), 1):
            counts[first, second], counts[second, first] = cells, cells.T
            if progress:
                progress(done, len(blocks))
    return EstimatedMatrix(labels, counts, assertions, by_position)


def sketch(
    models: Iterable[ModelLike],
    *,
    assertions: int = ASSERTIONS,
    rng: int | np.random.Generator = 0,
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> WordArray:
    """Return the answers of models to a random sample of assertions, for work on many machines.

    Sketches of models over the same variables can be compared, by the bits in which they differ, if
    they have the same seed, number of assertions and restriction.

    Parameters
    ----------
    models : models, paths of model files, or names of bundled examples
    assertions, rng, show_progress, **restriction : as in `estimate_matrix`

    Returns
    -------
    array of 64 answers per word, one row per model; 1 means dependent

    Examples
    --------
    >>> sketch(["lung", "lung-learned"], assertions=1000).shape
    (2, 16)
    """
    question = pose(models, **restriction)
    sample = draw_assertions(question, assertions, rng)
    bits = np.zeros((len(question.structures), sample.holds.shape[1]), dtype=np.uint64)
    with (
        progress_of(show_progress, "asking models") as progress,
        ThreadPoolExecutor(cores()) as threads,
    ):
        answered = threads.map(lambda s: answers(s.features, sample)[0], question.structures)
        for done, row in enumerate(answered, 1):
            bits[done - 1] = row
            if progress:
                progress(done, len(bits))
    return bits


def draw_assertions(
    question: Question, count: int, rng: int | np.random.Generator = 0
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
            np.random.default_rng(rng),
            pairs=pairs,
            space=question.space,
            rows=question.rows,
        )
