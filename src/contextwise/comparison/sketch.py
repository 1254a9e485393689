"""Sketches: what models answer to one random sample of assertions, and estimates made of them.

An exact distance needs every union of two models. Among thousands of models an estimate is often
enough: all of them are asked the same random assertions, drawn uniformly from all (see
`contextwise.counting.assertions`), and a model's answers are kept as bits. The share of bits in
which two sketches differ estimates the normalized distance without bias, whatever the
cardinalities. The assertions are drawn independently, so the number of differing bits is binomial,
and its exact interval (Clopper and Pearson) covers at least as often as it says.

The cost is one pass over the features of a model, and a few thousand words for each two models.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from os import cpu_count
from typing import Unpack

import numpy as np
import numpy.typing as npt

from contextwise.comparison.pairs import all_pairs
from contextwise.comparison.question import Question, Restriction, pose
from contextwise.counting.assertions import Assertions, answers, differing, draw
from contextwise.errors import ContextwiseError, DomainError, require
from contextwise.formats import ModelLike
from contextwise.models.features import IntArray, WordArray
from contextwise.support.progress import Progress, progress_of

ASSERTIONS = 2**18
"""How many assertions a sketch has unless the caller says otherwise: an error of about 0.002."""
CONFIDENCE = 0.95
BLOCK = 256
"""How many models are set against how many others at once."""


@dataclass(frozen=True)
class IntervalEstimate:
    """An estimated number, and the interval that covers the true one as often as it says.

    Attributes
    ----------
    value : the estimate
    low, high : the ends of the interval
    confidence : how often such an interval covers the true number, at least

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
    """The exact interval of a probability, from how often it came true.

    Parameters
    ----------
    hits : numbers of draws that came true
    draws : int
        How many there were; at least one.
    confidence : float
        How often the interval covers, at least.

    Returns
    -------
    low, high : arrays
        With no hit the lower end is 0, and the upper one is not.

    Examples
    --------
    >>> low, high = binomial_interval([0, 50], 100)
    >>> low.round(3), high.round(3)
    (array([0.   , 0.398]), array([0.036, 0.602]))
    """
    if not 0 < confidence < 1:
        raise ContextwiseError(f"a confidence lies between 0 and 1, not {confidence}")
    stats = require("scipy.stats", "distributions")
    tail, count = (1 - confidence) / 2, np.asarray(hits, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        low = np.where(count == 0, 0.0, stats.beta.ppf(tail, count, draws - count + 1))
        high = np.where(count == draws, 1.0, stats.beta.isf(tail, count + 1, draws - count))
    return low, high


@dataclass(frozen=True, eq=False)
class Sketch:
    """What a model answers to a sample of assertions, one bit each.

    Attributes
    ----------
    sample : the assertions
    bits : words of 64 answers; 1 means dependent

    Examples
    --------
    >>> one, two = sketch("lung", rng=1), sketch("lung-learned", rng=1)
    >>> one.distance(two).value  # exactly 1/3
    0.33302...
    """

    sample: Assertions
    bits: WordArray

    def __len__(self) -> int:
        return len(self.sample)

    @cached_property
    def key(self) -> bytes:
        """What tells this sample of assertions from others."""
        parts = (self.sample.cardinalities, self.sample.pairs, self.sample.starts)
        found = blake2b(self.sample.holds.tobytes(), digest_size=16)
        for part in parts:
            found.update(part.tobytes())
        return found.digest()

    def distance(self, other: Sketch, *, confidence: float = CONFIDENCE) -> IntervalEstimate:
        """Estimate the normalized distance of the two models.

        Parameters
        ----------
        other : Sketch
            Of the same sample.
        confidence : float
            How often the interval covers the true distance, at least.

        Returns
        -------
        IntervalEstimate

        Raises
        ------
        DomainError
            If the two were asked different assertions.
        """
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
    """Ask a model a random sample of assertions.

    Sketches of models over the same variables can be set against each other if they were made with
    the same seed, number of assertions and restrictions; `sketch_many` makes several at once.

    Parameters
    ----------
    model : model, path of a model file, or name of a bundled example
    assertions : int
        How many. The error falls with their square root: 0.002 with the default, at most.
    rng : seed or numpy.random.Generator
        The same seed gives the same assertions.
    **restriction
        What is asked, with the keywords of `compare` (pairs, variables, context, data, weights,
        contexts, align, zero_weights).

    Returns
    -------
    Sketch

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
    """Ask several models the same random sample of assertions.

    Parameters
    ----------
    models : models, paths of model files, or names of bundled examples
    assertions, rng, **restriction
        As in `sketch`.
    show_progress : bool or function
        A line on standard error, or a function of (models done, models in all).

    Returns
    -------
    list of Sketch

    Examples
    --------
    >>> one, two = sketch_many(["lung", "lung-learned"], rng=1)
    >>> one.sample is two.sample
    True
    """
    question = pose(models, **restriction)
    sample = draw_assertions(question, assertions, rng)
    total, found = len(question.structures), []
    with (
        progress_of(show_progress, "asking models") as progress,
        ThreadPoolExecutor(cpu_count()) as threads,
    ):
        asked = threads.map(lambda s: answers(s.features, sample), question.structures)
        for done, bits in enumerate(asked, 1):
            found.append(Sketch(sample, bits))
            if progress:
                progress(done, total)
    return found


def draw_assertions(
    question: Question, count: int, rng: int | np.random.Generator = 0
) -> Assertions:
    """Draw assertions of a question, uniformly from all that it asks.

    Parameters
    ----------
    question : Question
        Says which pairs, and which contexts.
    count : int
        How many assertions.
    rng : seed or numpy.random.Generator
        The source of randomness.

    Returns
    -------
    Assertions

    Raises
    ------
    ContextwiseError
        If nothing is asked, or fewer than one assertion is wanted.

    Examples
    --------
    >>> from contextwise.comparison.question import pose
    >>> len(draw_assertions(pose(["lung"]), 100, rng=1))
    100
    """
    if count < 1:
        raise ContextwiseError(f"a sketch needs at least one assertion, not {count}")
    pairs = all_pairs(range(len(question.domain))) if question.asked is None else question.asked
    if not len(pairs):
        raise ContextwiseError("there is nothing to ask: no pair is left")
    if question.rows is not None and not len(question.rows):
        raise ContextwiseError("there is nothing to ask: no row is left")
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
    """Estimates of the normalized distance of each two models.

    Attributes
    ----------
    names : of the models, in the order of rows and columns
    differing : in how many of the assertions each two differ: shape (models, models)
    assertions : how many were asked
    by_position : whether the models were aligned by position instead of by names

    Examples
    --------
    >>> found = estimate_matrix(sketch_many(["lung", "lung-learned"], assertions=1000, rng=1))
    >>> found, found.widest() < 0.04
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
        """Between which numbers each distance lies, each with this confidence on its own.

        Parameters
        ----------
        confidence : float
            How often each interval covers its distance, at least.

        Returns
        -------
        low, high : arrays of shape (models, models)
        """
        counts, place = np.unique(self.differing, return_inverse=True)
        low, high = binomial_interval(counts, self.assertions, confidence)
        return low[place].reshape(self.differing.shape), high[place].reshape(self.differing.shape)

    def widest(self, confidence: float = CONFIDENCE) -> float:
        """Half the width of the widest interval.

        Parameters
        ----------
        confidence : float
            That of the intervals.
        """
        counts = np.unique(self.differing)
        low, high = binomial_interval(counts, self.assertions, confidence)
        return float((high - low).max()) / 2

    def __repr__(self) -> str:
        return f"EstimatedMatrix({len(self.names)} models, {self.assertions} assertions)"


def estimate_matrix(
    sketches: Sequence[Sketch],
    *,
    names: Sequence[str] | None = None,
    show_progress: bool | Progress = False,
) -> EstimatedMatrix:
    """Estimate the distance of each two models from their sketches.

    Parameters
    ----------
    sketches : sequence of Sketch
        All of one sample.
    names : one for each model, optional
        Without them a model is named by its place.
    show_progress : bool or function
        A line on standard error, or a function of (models done, models in all).

    Returns
    -------
    EstimatedMatrix

    Examples
    --------
    >>> made = estimate_matrix(sketch_many(["six", "six-guess", "six-graph"]))
    >>> made.normalized[0].round(2)
    array([0.  , 0.07, 0.33])
    """
    if not sketches:
        raise ContextwiseError("there is no model to compare; give at least one")
    if len({id(made.sample) for made in sketches}) > 1 and len({made.key for made in sketches}) > 1:
        raise DomainError("the sketches answer different assertions; make them by sketch_many")
    bits = np.stack([made.bits for made in sketches])
    counts = np.zeros((len(bits), len(bits)), dtype=np.int64)
    blocks = list(_blocks(len(bits)))
    with (
        progress_of(show_progress, "estimating distances") as progress,
        ThreadPoolExecutor(cpu_count()) as threads,
    ):
        found = threads.map(lambda block: differing(bits[block[0]], bits[block[1]]), blocks)
        for done, ((first, second), cells) in enumerate(zip(blocks, found, strict=True), 1):
            counts[first, second], counts[second, first] = cells, cells.T
            if progress:
                progress(done, len(blocks))
    labels = tuple(map(str, range(len(bits)))) if names is None else tuple(names)
    return EstimatedMatrix(labels, counts, len(sketches[0]))


def _blocks(models: int) -> Iterator[tuple[slice, slice]]:
    """The upper triangle of a matrix, in squares."""
    starts = range(0, models, BLOCK)
    for a in starts:
        for b in starts[a // BLOCK :]:
            yield slice(a, min(a + BLOCK, models)), slice(b, min(b + BLOCK, models))
