"""Score a guess that is an ensemble of structures.

An assertion is a bit, and the distance d is a Hamming distance. So, with S and S' drawn with the
weights of an ensemble, θ(a) the weight of the structures that make a dependent, and t the truth:

    expected distance     Σ |θ - t|        = E d(S, t)
    spread                Σ 2θ(1 - θ)      = E d(S, S')
    Brier score           Σ (θ - t)²       = E d(S, t) - ½ E d(S, S')

All are divided by the number of assertions. The Brier score is a proper score: on average over
truths drawn from an ensemble, that ensemble has the least. The expected distance is not: its
optimum is one structure, however uncertain the truth is.

**Draws.** The sums over K draws overestimate the Brier score of what they were drawn from. The
**fair** score takes the mean of d(S, S') over different draws, which is unbiased (Ferro 2014).
Ensembles with weights are scored as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm, sqrt
from typing import Any, NamedTuple, Unpack

import numpy as np

from contextwise.comparison.confusion import Number
from contextwise.comparison.estimate import ASSERTIONS, draw_assertions
from contextwise.comparison.matrix import matrix_of
from contextwise.comparison.question import Question, Restriction, pose
from contextwise.counting.assertions import answers
from contextwise.errors import ContextwiseError, OpenResult, TooLargeError
from contextwise.evaluation.ensembles import Ensemble, EnsembleLike, as_ensemble
from contextwise.formats import ModelLike, as_model
from contextwise.models.structure import Structure, structure_of
from contextwise.support.arrays import FloatArray
from contextwise.support.effort import Effort, Progress
from contextwise.support.formatting import Printed, listed, rate
from contextwise.support.statistics import wilson_interval

ENSEMBLE_SCORES = ("brier", "expected_distance", "spread")
MOST = 4_000
"""The most distinct structures of an ensemble: all pairs of them are counted."""
GROUPS = 10
"""The most groups of a reliability diagram; more distinct probabilities are binned."""


@dataclass(frozen=True, eq=False)
class EnsembleScore(Printed):
    """The scores of one guess, as shares of all assertions: smaller is better."""

    name: str
    guess: Ensemble
    brier: Fraction  #: the proper score, fair for draws
    expected_distance: Fraction  #: the mean distance of a structure to the truth
    spread: Fraction  #: the mean distance of two structures, of two different draws
    total: Number  #: the number of assertions

    def record(self) -> dict[str, object]:
        """Return everything as one flat mapping; exact sums over the assertions have ``_sum``."""
        record: dict[str, object] = {
            "guess": self.name,
            "structures": len(self.guess.distinct),
            "draws": self.guess.draws,
            "fair": self.guess.correction != 1,
        }
        for key in ENSEMBLE_SCORES:
            value = getattr(self, key)
            record[key] = float(value)
            record[f"{key}_sum"] = value * self.total
        return record | {"assertions": self.total}


class EnsembleScores(Printed, list[EnsembleScore]):
    """The scores of several guesses at one truth."""

    @property
    def verdict(self) -> str:
        """The guess that is best by the Brier score, or the scores of the only guess."""
        if len(self) == 1:
            (score,) = self
            return (
                f"{score.name} has the Brier score {rate(float(score.brier))} and the expected "
                f"distance {rate(float(score.expected_distance))}."
            )
        least = min(score.brier for score in self)
        best = [score.name for score in self if score.brier == least]
        verb = "are equally good" if best[1:] else "is best"
        return f"{listed(best)} {verb} by the Brier score ({rate(float(least))})."

    def records(self) -> list[dict[str, object]]:
        """Return one flat mapping per guess."""
        return [score.record() for score in self]


def score_ensembles(
    true: ModelLike,
    guesses: Mapping[str, EnsembleLike],
    *,
    time_limit: float | None = None,
    n_jobs: int = 1,
    cluster: Any = None,
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> EnsembleScores:
    """Score ensembles and single models against the true model, exactly.

    Parameters
    ----------
    true : model, path of a model file, or name of a bundled example
    guesses : models or ensembles, or paths of them, by name
    time_limit : seconds; then raises `OpenResult`
    n_jobs, cluster, show_progress : as in `distance_matrix`
    **restriction : what to compare, with the keywords of `compare`

    Returns
    -------
    EnsembleScores, a list with a verdict

    Raises
    ------
    TooLargeError
        If an ensemble has so many distinct structures that their distances cannot all be counted.

    Examples
    --------
    The truth is one of two graphs. The ensemble of both has half of the expected distance of the
    wrong graph, and a quarter of its Brier score.

    >>> domain = {"A": 2, "B": 2}
    >>> graphs = [Structure(domain), Structure(domain, ["A=1 & B=1"])]
    >>> both = Ensemble(graphs, [0.5, 0.5])
    >>> scores = score_ensembles(graphs[0], {"ensemble": both, "wrong": graphs[1]})
    >>> [(str(score.brier), str(score.expected_distance)) for score in scores]
    [('1/4', '1/2'), ('1', '1')]
    """
    effort = Effort.of(time_limit, n_jobs=n_jobs, cluster=cluster, show_progress=show_progress)
    truth = _truth(true, restriction)
    named = {name: as_ensemble(guess) for name, guess in guesses.items()}
    if not named:
        raise ContextwiseError("no guess to score; give at least one")
    return EnsembleScores(
        _score(name, truth, guess, effort, restriction) for name, guess in named.items()
    )


def _truth(true: ModelLike, restriction: Restriction) -> Structure:
    if isinstance(true, Ensemble):
        raise ContextwiseError("the true model must be one model, got an ensemble")
    model = as_model(true, zero_weights=restriction.get("zero_weights", "keep"))
    return structure_of(model)


def _pose(truth: Structure, guess: Ensemble, restriction: Restriction) -> Question:
    """Ask about the true model, which comes first, and the distinct structures of the guess."""
    question = pose([truth, *guess.distinct], **restriction)
    if not question.total:
        raise ContextwiseError("no pair is left to compare")
    return question


def _score(
    name: str, truth: Structure, guess: Ensemble, effort: Effort, restriction: Restriction
) -> EnsembleScore:
    count = len(guess.distinct)
    if count > MOST:
        raise TooLargeError(
            f"{name} has {count:,} distinct structures, and {count * (count - 1) // 2:,} distances "
            f"between them; keep at most {MOST:,} of the draws, such as every k-th"
        )
    question = _pose(truth, guess, restriction)
    distances = matrix_of(question, tuple(map(str, range(count + 1))), effort).distances
    weights = list(guess.distinct.values())
    scale = lcm(*(weight.denominator for weight in weights))  # so that sums are sums of ints
    scaled = np.array([int(weight * scale) for weight in weights], dtype=object)
    to_truth, between = distances[0, 1:], distances[1:, 1:]
    expected = Fraction(scaled @ to_truth) / scale
    spread = Fraction(scaled @ between @ scaled) / scale**2 * guess.correction
    total = question.total
    brier = (expected - spread / 2) / total
    return EnsembleScore(name, guess, brier, expected / total, spread / total, total)


# -- reliability -----------------------------------------------------------------------------------


class ReliabilityGroup(NamedTuple):
    """Assertions of about the same probability, and the share of them that depend in the truth."""

    probability: float  # the mean of θ
    share: float
    low: float  # of a 95 % interval of the share (Wilson 1927)
    high: float
    number: int


@dataclass(frozen=True, eq=False)
class Reliability(Printed):
    """How often assertions of a given probability are true."""

    name: str
    groups: tuple[ReliabilityGroup, ...]
    assertions: int  #: how many were drawn
    draws: int | None

    @property
    def error(self) -> float:
        """The root mean square difference of the probabilities and the shares that are true."""
        squares = sum(g.number * (g.probability - g.share) ** 2 for g in self.groups)
        return sqrt(squares / self.assertions)

    @property
    def verdict(self) -> str:
        """How far the probabilities are from the shares that are true, in one sentence."""
        if all(group.probability == group.share in (0, 1) for group in self.groups):
            return f"{self.name} is right about every drawn assertion."
        return (
            f"The probabilities of {self.name} differ from the shares that are true by "
            f"{self.error:.2g} (root mean square)."
        )

    def records(self) -> list[dict[str, object]]:
        """Return one flat mapping per group."""
        return [{"guess": self.name, **group._asdict()} for group in self.groups]


def reliability(
    true: ModelLike,
    guess: EnsembleLike,
    *,
    name: str = "the ensemble",
    assertions: int = ASSERTIONS,
    seed: int | np.random.Generator = 0,
    time_limit: float | None = None,
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> Reliability:
    """Draw assertions, group them by their probability, and see how many are true.

    Parameters
    ----------
    true : model, path of a model file, or name of a bundled example
    guess : Ensemble or model, or the path of one
    name : of the guess, for sentences
    assertions : how many to draw
    seed : generator or seed
    time_limit : seconds; then raises `OpenResult`
    show_progress, **restriction : as in `compare`

    Returns
    -------
    Reliability, with one group per distinct probability, or ten bins if there are more

    Examples
    --------
    >>> both = Ensemble(["six", "six-guess"], [0.75, 0.25])
    >>> found = reliability("six", both)
    >>> [(group.probability, group.share) for group in found.groups]
    [(0.0, 0.0), (0.25, 0.0), (0.75, 1.0), (1.0, 1.0)]
    """
    effort = Effort.of(time_limit, show_progress=show_progress)
    truth = _truth(true, restriction)
    ensemble = as_ensemble(guess)
    question = _pose(truth, ensemble, restriction)
    theta, depends = _probabilities(question, ensemble, assertions, seed, effort)
    levels, group = np.unique(theta.round(12), return_inverse=True)
    if len(levels) > GROUPS:
        # A probability of 1 belongs to the last group.
        group = np.minimum((theta * GROUPS).astype(np.int64), GROUPS - 1)
    counts = np.bincount(group)
    filled = np.flatnonzero(counts)
    counts = counts[filled]
    means = np.bincount(group, theta)[filled] / counts
    sums = np.bincount(group, depends)[filled]
    groups = []
    for mean, true_ones, count in zip(means.tolist(), sums.tolist(), counts.tolist(), strict=True):
        low, high = wilson_interval(true_ones, count)
        groups.append(ReliabilityGroup(mean, true_ones / count, low, high, count))
    return Reliability(name, tuple(groups), assertions, ensemble.draws)


def _probabilities(
    question: Question,
    guess: Ensemble,
    assertions: int,
    seed: int | np.random.Generator,
    effort: Effort,
) -> tuple[FloatArray, FloatArray]:
    """Draw assertions; return the weight of the structures that have each, and whether it holds."""
    sample = draw_assertions(question, assertions, seed)

    def asked(structure: Structure) -> FloatArray:
        words, _ = answers(structure.features, sample)
        bits = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")
        return bits[:assertions].astype(np.float64)

    theta = np.zeros(assertions)
    truth, *structures = question.structures
    with effort.showing("asking structures") as shown:
        for done, (structure, weight) in enumerate(
            zip(structures, guess.distinct.values(), strict=True), 1
        ):
            if effort.deadline.passed:
                raise OpenResult("not all structures answered in time; allow more time")
            theta += float(weight) * asked(structure)
            shown.report(done, len(structures))
    # A sum of weights may leave [0, 1] by rounding.
    return np.clip(theta, 0.0, 1.0), asked(truth)
