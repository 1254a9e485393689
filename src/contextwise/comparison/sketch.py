"""Sketches: the answers of models to a random sample of assertions, for estimated distances.

For thousands of models an estimate is often enough. All models answer the same random assertions
(see `contextwise.counting.assertions`), one bit each. The share of bits in which two sketches
differ is an unbiased estimate of the normalized distance. The assertions are drawn independently,
so the number of differing bits is binomial, and its exact interval (Clopper and Pearson) covers the
distance with at least the stated confidence.

A sketch costs one pass over the features of a model, a distance a few thousand words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import combinations_with_replacement
from os import cpu_count
from typing import Unpack

import numpy as np
import numpy.typing as npt

from contextwise.comparison.question import Question, Restriction, pose
from contextwise.counting.assertions import Assertions, answers, differing, draw
from contextwise.errors import ContextwiseError, DomainError, require
from contextwise.formats import ModelLike
from contextwise.models.features import IntArray, WordArray
from contextwise.support.progress import Progress, progress_of

__all__ = [
    "EstimatedMatrix",
    "IntervalEstimate",
    "Sketch",
    "estimate_matrix",
    "sketch",
    "sketch_many",
]

ASSERTIONS = 2**18
"""Default number of assertions of a sketch: an error of about 0.002."""
CONFIDENCE = 0.95
BLOCK = 256
"""Rows and columns of a block of the matrix."""


@dataclass(frozen=True)
class IntervalEstimate:
    """An estimated number with a confidence interval.

    Attributes
    ----------
    value : the estimate
    low, high : the ends of the interval
    confidence : least probability that such an interval covers the true number

    Examples
    --------
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
    hits: npt.ArrayLike, draws: int, confidence: float = CONFIDENCE
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the exact confidence intervals of probabilities, from numbers of successes.

    >>> low, high = binomial_interval([0, 50], 100)
    >>> low.round(3), high.round(3)
    (array([0.   , 0.398]), array([0.036, 0.602]))
    """
    if not 0 < confidence < 1:
        raise ContextwiseError(f"confidence must be between 0 and 1, got {confidence}")
    stats = require("scipy.stats", "distributions")
    tail, count = (1 - confidence) / 2, np.asarray(hits, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        low = np.where(count == 0, 0.0, stats.beta.ppf(tail, count, draws - count + 1))
        high = np.where(count == draws, 1.0, stats.beta.isf(tail, count + 1, draws - count))
    return low, high


@dataclass(frozen=True, eq=False)
class Sketch:
    """The answers of a model to a sample of assertions, one bit each.

    Attributes
    ----------
    sample : the assertions
    bits : words of 64 answers; 1 means dependent

    Examples
    --------
    >>> first, second = sketch("lung", rng=1), sketch("lung-learned", rng=1)
    >>> first.distance(second).value  # exactly 1/3
    0.33302...
    """

    sample: Assertions
    bits: WordArray

    def __len__(self) -> int:
        return len(self.sample)

    @cached_property
    def key(self) -> bytes:
        """A hash of the sample of assertions."""
        parts = (self.sample.cardinalities, self.sample.pairs, self.sample.starts)
        digest = blake2b(self.sample.holds.tobytes(), digest_size=16)
        for part in parts:
            digest.update(part.tobytes())
        return digest.digest()

    def distance(self, other: Sketch, *, confidence: float = CONFIDENCE) -> IntervalEstimate:
        """Estimate the normalized distance of the two models; both need the same sample."""
        if self.sample is not other.sample and self.key != other.key:
            raise DomainError(
                "the two sketches answer different assertions; make them with the same rng, number "
                "of assertions, domain and restrictions"
            )
        apart = int(differing(self.bits[None], other.bits[None])[0, 0])
        low, high = binomial_interval(apart, len(self), confidence)
        return IntervalEstimate(apart / len(self), float(low), float(high), confidence)


def sketch(
    model: ModelLike,
    *,
    assertions: int = ASSERTIONS,
    rng: int | np.random.Generator = 0,
    **restriction: Unpack[Restriction],
) -> Sketch:
    """Sketch a model: its answers to a random sample of assertions.

    Sketches of models over the same variables can be compared if they have the same seed, number
    of assertions and restrictions; `sketch_many` makes several at once.

    Parameters
    ----------
    model : model, path of a model file, or name of a bundled example
    assertions : int
        Number of assertions. The error falls with its square root; the default gives at most 0.002.
    rng : seed or numpy.random.Generator
        The same seed gives the same assertions.
    **restriction
        The keywords of `compare` that restrict it (pairs, variables, context, data, weights,
        contexts, align, zero_weights).

    Examples
    --------
    >>> sketch("lung", assertions=1000).bits.shape
    (16,)
    """
    return sketch_many([model], assertions=assertions, rng=rng, **restriction)[0]


def sketch_many(
    models: Iterable[ModelLike],
    *,
    assertions: int = ASSERTIONS,
    rng: int | np.random.Generator = 0,
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> list[Sketch]:
    """Sketch several models with the same random sample of assertions.

    Parameters
    ----------
    models : models, paths of model files, or names of bundled examples
    assertions, rng, **restriction : as in `sketch`
    show_progress : bool or function
        Show a line on standard error, or call a function of (models done, number of models).

    Examples
    --------
    >>> first, second = sketch_many(["lung", "lung-learned"], rng=1)
    >>> first.sample is second.sample
    True
    """
    question = pose(models, **restriction)
    sample = draw_assertions(question, assertions, rng)
    sketches: list[Sketch] = []
    with (
        progress_of(show_progress, "asking models") as progress,
        ThreadPoolExecutor(cpu_count()) as threads,
    ):
        for bits in threads.map(lambda s: answers(s.features, sample)[0], question.structures):
            sketches.append(Sketch(sample, bits))
            if progress:
                progress(len(sketches), len(question.structures))
    return sketches


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
    return draw(
        question.domain.cardinalities,
        count,
        np.random.default_rng(rng),
        pairs=pairs,
        canonical=question.canonical,
        rows=question.rows,
        value_weights=question.value_weights,
    )


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
    >>> matrix = estimate_matrix(sketch_many(["lung", "lung-learned"], assertions=1000, rng=1))
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
    sketches: Sequence[Sketch],
    *,
    names: Sequence[str] | None = None,
    show_progress: bool | Progress = False,
) -> EstimatedMatrix:
    """Estimate all pairwise distances from sketches.

    Parameters
    ----------
    sketches : sequence of Sketch
        All of the same sample.
    names : one for each model, optional
        By default the places of the models.
    show_progress : bool or function
        Show a line on standard error, or call a function of (blocks done, number of blocks).

    Examples
    --------
    >>> matrix = estimate_matrix(sketch_many(["six", "six-guess", "six-graph"]))
    >>> matrix.normalized[0].round(2)
    array([0.  , 0.07, 0.33])
    """
    if not sketches:
        raise ContextwiseError("no sketch to compare; give at least one")
    if len({id(s.sample) for s in sketches}) > 1 and len({s.key for s in sketches}) > 1:
        raise DomainError("the sketches answer different assertions; make them with sketch_many")
    bits = np.stack([s.bits for s in sketches])
    counts = np.zeros((len(bits), len(bits)), dtype=np.int64)
    parts = [slice(at, at + BLOCK) for at in range(0, len(bits), BLOCK)]
    blocks = list(combinations_with_replacement(parts, 2))
    with (
        progress_of(show_progress, "estimating distances") as progress,
        ThreadPoolExecutor(cpu_count()) as threads,
    ):
        counted = threads.map(lambda block: differing(bits[block[0]], bits[block[1]]), blocks)
        for done, ((first, second), cells) in enumerate(zip(blocks, counted, strict=True), 1):
            counts[first, second], counts[second, first] = cells, cells.T
            if progress:
                progress(done, len(blocks))
    labels = tuple(map(str, range(len(bits)))) if names is None else tuple(names)
    return EstimatedMatrix(labels, counts, len(sketches[0]))
