"""Score ensembles: Brier score, spread, distances between ensembles, reliability.

An assertion is a bit, and the distance d is a Hamming distance. So, with S and S' drawn with the
weights of an ensemble, θ(a) the weight of the structures that make a dependent, and t the truth:

    expected distance     Σ |θ - t|        = E d(S, t)
    spread                Σ 2θ(1 - θ)      = E d(S, S')
    Brier score           Σ (θ - t)²       = E d(S, t) - ½ E d(S, S')
    distance of P and Q   Σ (θ_P - θ_Q)²   = E d(P, Q) - ½ E d(P, P') - ½ E d(Q, Q')

All are divided by the number of assertions. The Brier score is a proper score: on average over
truths drawn from an ensemble, that ensemble has the least. The expected distance is not: its
optimum is one structure, however uncertain the truth is. If the truth is an ensemble, the scores
are means over it.

**Draws.** The sums over K draws overestimate the Brier score of what they were drawn from. The
**fair** score takes the mean of d(S, S') over different draws, which is unbiased (Ferro 2014).
Ensembles with weights are scored as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import lcm, sqrt
from typing import Any, NamedTuple, Unpack

import numpy as np

from contextwise.comparison.confusion import Number
from contextwise.comparison.estimate import ASSERTIONS, draw_assertions
from contextwise.comparison.matrix import DistanceMatrix, matrix_of
from contextwise.comparison.question import Pair, Question, Restriction, pose
from contextwise.counting.assertions import answers
from contextwise.counting.distances import count_distances, two_models
from contextwise.errors import ContextwiseError, OpenResult
from contextwise.evaluation.consensus_search import consensus
from contextwise.evaluation.ensembles import Ensemble, EnsembleLike, as_ensemble
from contextwise.models.features import PairIndex, concatenated
from contextwise.models.structure import Structure
from contextwise.support.arrays import FloatArray, ObjectArray
from contextwise.support.effort import Effort
from contextwise.support.formatting import Printed, listed, rate
from contextwise.support.progress import Progress

__all__ = [
    "EnsembleComparison",
    "EnsembleScore",
    "EnsembleScores",
    "Reliability",
    "compare_ensembles",
    "ensemble_matrix",
    "reliability",
    "score_ensembles",
]

SCORES = ("brier", "expected_distance", "spread", "medoid_distance", "consensus_distance")
METRICS = ("brier", "expected_distance", "medoid_distance")
"""The scores by which groups of ensembles are compared; smaller is better."""
GROUPS = 10
"""The most groups of a reliability diagram; more distinct probabilities are binned."""
CONFIDENCE = 0.95
Z = 1.959963984540054
"""The quantile of the normal distribution for this confidence."""
CHUNK = 2**13
"""Number of words of sketches that are unpacked at once, over all structures."""


@dataclass(frozen=True, eq=False)
class EnsembleScore(Printed):
    """The scores of one guess, as shares of all assertions: smaller is better."""

    name: str
    guess: Ensemble
    brier: Fraction | float  #: the proper score, fair for draws
    expected_distance: Fraction | float  #: the mean distance of a structure to the truth
    spread: Fraction | float  #: the mean distance of two structures, of two different draws
    medoid: Structure  #: the structure with the least mean distance to the others
    medoid_distance: Fraction | float  #: its distance to the truth
    consensus_distance: Fraction | None  #: that of the consensus, if it was asked for
    total: Number  #: the number of assertions
    standard_errors: Mapping[str, float]  #: of estimated scores; empty if they are exact

    @property
    def is_exact(self) -> bool:
        """True if the scores are counted, not estimated."""
        return not self.standard_errors

    def record(self) -> dict[str, object]:
        """Return everything as one flat mapping; exact sums over the assertions have ``_sum``."""
        record: dict[str, object] = {
            "guess": self.name,
            "structures": len(self.guess.distinct),
            "draws": self.guess.draws,
            "fair": self.guess.correction != 1,
        }
        for key in SCORES:
            value = getattr(self, key)
            record[key] = None if value is None else float(value)
            exact = self.is_exact and value is not None
            record[f"{key}_sum"] = value * self.total if exact else None
            record[f"{key}_standard_error"] = self.standard_errors.get(key)
        return record | {"assertions": self.total, "exact": self.is_exact}


class EnsembleScores(Printed, list[EnsembleScore]):
    """The scores of several guesses at one truth."""

    @property
    def verdict(self) -> str:
        """Which guess is best by the Brier score, and whether the expected distance disagrees."""
        by_brier, by_distance = self._best("brier"), self._best("expected_distance")
        if len(self) == 1:
            (score,) = self
            return (
                f"{score.name} has the Brier score {rate(float(score.brier))} and the expected "
                f"distance {rate(float(score.expected_distance))}."
            )
        text = f"{_are_best(by_brier)} by the Brier score ({rate(float(by_brier[0].brier))})"
        if by_brier == by_distance:
            return f"{text}, and by the expected distance."
        other = _are_best(by_distance)
        return f"{text}. By the expected distance, which rewards overconfidence, {other}."

    def _best(self, key: str) -> list[EnsembleScore]:
        least = min(getattr(score, key) for score in self)
        return [score for score in self if getattr(score, key) == least]

    def records(self) -> list[dict[str, object]]:
        """Return one flat mapping per guess."""
        return [score.record() for score in self]


def _are_best(scores: Sequence[EnsembleScore]) -> str:
    names = listed([score.name for score in scores])
    return f"{names} are equally good" if scores[1:] else f"{names} is best"


class _Posed(NamedTuple):
    """The distinct structures of several ensembles in one question, and their places."""

    question: Question
    places: list[list[int]]
    weights: list[list[Fraction]]

    def merged(self, kinds: Sequence[int]) -> _Posed:
        """Return the ensembles with structures of one kind as one structure, at its number."""
        sums: list[dict[int, Fraction]] = [{} for _ in self.places]
        for each, places, weights in zip(sums, self.places, self.weights, strict=True):
            for place, weight in zip(places, weights, strict=True):
                each[kinds[place]] = each.get(kinds[place], Fraction(0)) + weight
        members = [list(each) for each in sums]
        return self._replace(places=members, weights=[list(each.values()) for each in sums])


def _pose(ensembles: Sequence[Ensemble], restriction: Restriction) -> _Posed:
    models = [structure for ensemble in ensembles for structure in ensemble.distinct]
    question = pose(models, **restriction)
    if not question.total:
        raise ContextwiseError("no pair is left to compare")
    places: dict[Structure, int] = {}
    at = iter([places.setdefault(s, len(places)) for s in question.structures])
    members = [[next(at) for _ in ensemble.distinct] for ensemble in ensembles]
    weights = [list(ensemble.distinct.values()) for ensemble in ensembles]
    return _Posed(replace(question, structures=tuple(places), weighted=()), members, weights)


def _matrix(question: Question, effort: Effort) -> DistanceMatrix:
    return matrix_of(question, tuple(map(str, range(len(question.structures)))), effort)


class _Means:
    """Mean distances between ensembles, from the distances between their structures."""

    def __init__(self, posed: _Posed, distances: ObjectArray) -> None:
        self._posed, self._distances = posed, distances

    def to(self, place: int, other: int) -> Fraction:
        """Return the mean distance of one structure to an ensemble."""
        weights = self._posed.weights[other]
        row = self._distances[place, self._posed.places[other]].tolist()
        return sum((w * d for w, d in zip(weights, row, strict=True)), start=Fraction(0))

    def between(self, first: int, second: int) -> Fraction:
        """Return the mean distance of a structure of one ensemble to one of another."""
        # Weights over a common denominator, so that sums are sums of ints.
        weights = [self._posed.weights[k] for k in (first, second)]
        scales = [lcm(*(weight.denominator for weight in each)) for each in weights]
        scaled = [
            np.array([int(w * scale) for w in each], dtype=object)
            for each, scale in zip(weights, scales, strict=True)
        ]
        cells = self._distances[np.ix_(self._posed.places[first], self._posed.places[second])]
        return Fraction(scaled[0] @ cells @ scaled[1]) / (scales[0] * scales[1])


def score_ensembles(
    true: EnsembleLike,
    guesses: Mapping[str, EnsembleLike],
    *,
    consensus: bool = False,
    assertions: int | None = None,
    rng: int | np.random.Generator = 0,
    time_limit: float | None = None,
    n_jobs: int = 1,
    cluster: Any = None,
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> EnsembleScores:
    """Score ensembles and single models against the truth.

    Parameters
    ----------
    true : model or Ensemble, or the path of one
    guesses : the same, several, by name; paths of matrices of probabilities get the true domain
    consensus : whether to search for the consensus of each sample, and score it, too
    assertions : estimate from this many random assertions instead of counting, for thousands of
        structures
    rng : generator or seed of these assertions
    time_limit : seconds; then raises `OpenResult`
    n_jobs, cluster, show_progress : as in `distance_matrix`
    **restriction : what to compare, with the keywords of `compare`

    Returns
    -------
    EnsembleScores, a list with a verdict

    Examples
    --------
    The truth is one of two equally likely graphs. The ensemble knows that, the single graph does
    not; the expected distance cannot distinguish them.

    >>> domain = {"A": 2, "B": 2}
    >>> graphs = [Structure(domain), Structure(domain, ["A=1 & B=1"])]
    >>> both = Ensemble(graphs, [0.5, 0.5])
    >>> scores = score_ensembles(both, {"ensemble": both, "one graph": graphs[1]})
    >>> [(str(score.brier), str(score.expected_distance)) for score in scores]
    [('1/4', '1/2'), ('1/2', '1/2')]
    """
    effort = Effort.of(time_limit, n_jobs=n_jobs, cluster=cluster, show_progress=show_progress)
    truth = as_ensemble(true)
    named = {name: as_ensemble(guess, truth.domain) for name, guess in guesses.items()}
    if not named:
        raise ContextwiseError("no guess to score; give at least one")
    if assertions is not None:
        if consensus:
            raise ContextwiseError("the consensus is not estimated; leave out assertions")
        return EnsembleScores(
            _estimated(name, truth, guess, assertions, rng, effort, restriction)
            for name, guess in named.items()
        )
    return EnsembleScores(
        _counted(name, truth, guess, consensus, effort, restriction)
        for name, guess in named.items()
    )


def _counted(
    name: str,
    truth: Ensemble,
    guess: Ensemble,
    with_consensus: bool,
    effort: Effort,
    restriction: Restriction,
) -> EnsembleScore:
    posed = _pose([truth, guess], restriction)
    question, total = posed.question, posed.question.total
    matrix = _matrix(question, effort)
    means = _Means(posed, matrix.distances)
    spread = means.between(1, 1) * guess.correction
    expected = means.between(0, 1)
    medoid = min(posed.places[1], key=lambda place: means.to(place, 1))
    agreed = None
    if with_consensus and len(posed.places[1]) > 1:
        agreed = _consensus_distance(posed, matrix, guess, effort) / total
    return EnsembleScore(
        name,
        guess,
        (expected - spread / 2) / total,
        expected / total,
        spread / total,
        question.structures[medoid],
        means.to(medoid, 0) / total,
        agreed,
        total,
        {},
    )


def _consensus_distance(
    posed: _Posed, matrix: DistanceMatrix, guess: Ensemble, effort: Effort
) -> Fraction:
    """Return the mean distance of the consensus of the draws to the truth."""
    if guess.draws is None:
        raise ContextwiseError("a consensus needs draws; this ensemble has weights")
    if posed.question.space.weights is not None or posed.question.rows is not None:
        raise ContextwiseError("a consensus of ensembles takes no weights or rows of contexts")
    counts = [int(weight * guess.draws) for weight in posed.weights[1]]
    places = [p for p, count in zip(posed.places[1], counts, strict=True) for _ in range(count)]
    question = posed.question
    agreed = consensus(
        [question.structures[place] for place in places],
        matrix=matrix.submatrix(places),
        time_limit=effort.deadline.left(),
        pairs=_named_pairs(question),
        contexts=question.contexts,
    )
    truths = [question.structures[place] for place in posed.places[0]]
    with_truths = replace(question, structures=(agreed.structure, *truths), weighted=())
    row = _matrix(with_truths, effort).distances[0, 1:].tolist()
    return sum((w * d for w, d in zip(posed.weights[0], row, strict=True)), start=Fraction(0))


def _named_pairs(question: Question) -> list[Pair] | None:
    if question.asked is None:
        return None
    names = question.domain.names
    return [(names[i], names[j]) for i, j in question.asked.tolist()]


# -- estimates -------------------------------------------------------------------------------------


class _Sampled:
    """The answers of all structures to random assertions."""

    def __init__(
        self, posed: _Posed, assertions: int, rng: int | np.random.Generator, effort: Effort
    ) -> None:
        self.posed, self.assertions = posed, assertions
        sample = draw_assertions(posed.question, assertions, rng)
        structures = posed.question.structures
        self._bits = np.zeros((len(structures), sample.holds.shape[1]), dtype=np.uint64)
        with effort.showing("asking structures") as shown:
            for place, structure in enumerate(structures):
                if effort.deadline.passed:
                    raise OpenResult("not all structures answered in time; allow more time")
                self._bits[place] = answers(structure.features, sample)[0]
                shown.report(place + 1, len(structures))

    def _chunks(self, places: Sequence[int]) -> Iterable[tuple[slice, FloatArray]]:
        width = max(1, CHUNK * 64 // max(1, len(places)) // 64)
        for first in range(0, self._bits.shape[1], width):
            words = np.ascontiguousarray(self._bits[places, first : first + width])
            bits = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, bitorder="little")
            inside = slice(64 * first, min(64 * (first + width), self.assertions))
            yield inside, bits[:, : inside.stop - inside.start].astype(np.float64)

    def theta(self, ensemble: int) -> FloatArray:
        """Return the weight of the structures that make each assertion dependent."""
        weights = np.array(self.posed.weights[ensemble], dtype=np.float64)
        theta = np.zeros(self.assertions)
        for inside, bits in self._chunks(self.posed.places[ensemble]):
            theta[inside] = weights @ bits
        # A sum of weights may leave [0, 1] by rounding.
        return np.clip(theta, 0.0, 1.0)

    def answers(self, place: int) -> FloatArray:
        """Return the answers of one structure."""
        return np.concatenate([bits[0] for _, bits in self._chunks([place])])

    def distances(self, ensemble: int, theta: FloatArray) -> FloatArray:
        """Return the mean distance of each structure to an ensemble with these θ."""
        sums = np.zeros(len(self.posed.places[ensemble]))
        for inside, bits in self._chunks(self.posed.places[ensemble]):
            sums += bits @ (1 - 2 * theta[inside]) + theta[inside].sum()
        return sums / self.assertions


def _estimated(
    name: str,
    truth: Ensemble,
    guess: Ensemble,
    assertions: int,
    rng: int | np.random.Generator,
    effort: Effort,
    restriction: Restriction,
) -> EnsembleScore:
    sampled = _Sampled(_pose([truth, guess], restriction), assertions, rng, effort)
    true, theta = sampled.theta(0), sampled.theta(1)
    medoid = sampled.posed.places[1][int(sampled.distances(1, theta).argmin())]
    alone = sampled.answers(medoid)
    expected = theta + true - 2 * theta * true
    spread = 2 * theta * (1 - theta) * float(guess.correction)
    values = {
        "brier": expected - spread / 2,
        "expected_distance": expected,
        "spread": spread,
        "medoid_distance": alone + true - 2 * alone * true,
    }
    means = {key: float(each.mean()) for key, each in values.items()}
    errors = {key: float(each.std() / sqrt(assertions)) for key, each in values.items()}
    question = sampled.posed.question
    return EnsembleScore(
        name,
        guess,
        means["brier"],
        means["expected_distance"],
        means["spread"],
        question.structures[medoid],
        means["medoid_distance"],
        None,
        question.total,
        errors,
    )


# -- two ensembles, and many -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class EnsembleComparison(Printed):
    """The distance of two ensembles, as a share of all assertions, and where it comes from."""

    names: tuple[str, str]
    distance: Fraction  #: the mean of (θ_P - θ_Q)², fair for draws, so it may be below 0
    expected_distance: Fraction  #: the mean distance of a structure of one to one of the other
    spreads: tuple[Fraction, Fraction]
    posed: _Posed
    corrections: tuple[Fraction, Fraction]

    @property
    def total(self) -> Number:
        """The number of assertions."""
        return self.posed.question.total

    @property
    def is_fair(self) -> bool:
        """True if the distance is corrected for the number of draws."""
        return any(correction != 1 for correction in self.corrections)

    @property
    def verdict(self) -> str:
        """The distance in one sentence."""
        first, second = self.names
        fair = ", corrected for the number of draws" if self.is_fair else ""
        text = f"The distance of {first} and {second} is {rate(float(self.distance))}{fair}"
        if self.is_fair and self.distance <= 0:
            return f"{text}: they differ no more than two samples of one distribution."
        return f"{text}."

    @cached_property
    def pairs(self) -> list[tuple[Pair, Fraction]]:
        """The part of each pair of variables in the distance, largest first."""
        names = self.posed.question.domain.names
        shares = [
            ((names[i], names[j]), _distance(means, self.corrections) / self.total)
            for (i, j), means in _means_of_pairs(self.posed)
        ]
        return sorted(shares, key=lambda each: -each[1])

    @property
    def variables(self) -> list[tuple[str, Fraction]]:
        """The sum over the pairs of each variable, largest first."""
        sums: dict[str, Fraction] = {}
        for pair, part in self.pairs:
            for name in pair:
                sums[name] = sums.get(name, Fraction(0)) + part
        return sorted(sums.items(), key=lambda each: -each[1])

    def record(self, top: int | None = None) -> dict[str, object]:
        """Return everything, with the ``top`` pairs and variables."""
        return {
            "first": self.names[0],
            "second": self.names[1],
            "distance": float(self.distance),
            "distance_sum": self.distance * self.total,
            "expected_distance": float(self.expected_distance),
            "spreads": [float(spread) for spread in self.spreads],
            "fair": self.is_fair,
            "assertions": self.total,
            "pairs": [
                {"first": first, "second": second, "distance": float(part)}
                for (first, second), part in self.pairs[:top]
            ],
            "variables": [
                {"variable": name, "distance": float(part)} for name, part in self.variables[:top]
            ],
        }


def _means_of_pairs(posed: _Posed) -> Iterator[tuple[PairIndex, _Means]]:
    """Yield each covered pair with the distances between all structures on it.

    Few of the features contain both variables, and structures that have the same of them are equal
    there. So each pair needs the distances of a few structures only.
    """
    question = posed.question
    if question.rows is not None:
        raise ContextwiseError(
            "cannot split a distance over observed rows by pairs; leave out data"
        )
    parts = [structure.features for structure in question.structures]
    features, places = concatenated(*parts)
    has_feature = np.zeros((len(parts), len(features)), dtype=bool)
    has_feature[np.repeat(np.arange(len(parts)), list(map(len, parts))), places] = True
    mentions = np.zeros((len(question.domain), len(features)), dtype=bool)
    mentions[features.variables, features.owners] = True
    for i, j in question.active_pairs().tolist():
        both = np.flatnonzero(mentions[i] & mentions[j])
        # Structures with the same features on the pair are counted as one.
        kinds, kind_of = np.unique(has_feature[:, both], axis=0, return_inverse=True)
        counts, _ = count_distances(
            [features.take(both[kind]) for kind in kinds],
            np.array([[i, j]]),
            space=question.space,
        )
        cells = np.zeros((len(kinds), len(kinds)), dtype=object)
        for (m, k), count in zip(two_models(len(kinds), 0), counts, strict=True):
            cells[m, k] = cells[k, m] = count
        yield (i, j), _Means(posed.merged(kind_of.ravel().tolist()), cells)


def _distance(means: _Means, corrections: tuple[Fraction, Fraction]) -> Fraction:
    first, second = (means.between(k, k) * corrections[k] for k in (0, 1))
    return means.between(0, 1) - (first + second) / 2


def compare_ensembles(
    first: EnsembleLike,
    second: EnsembleLike,
    *,
    names: tuple[str, str] = ("the first", "the second"),
    time_limit: float | None = None,
    n_jobs: int = 1,
    cluster: Any = None,
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> EnsembleComparison:
    """Compare two ensembles: their distance, and the pairs and variables it comes from.

    Parameters
    ----------
    first, second : Ensemble or model, or the path of one
    names : of the two, for sentences
    time_limit : seconds; then raises `OpenResult`
    n_jobs, cluster, show_progress, **restriction : as in `distance_matrix`

    Examples
    --------
    >>> domain = {"A": 2, "B": 2, "C": 2}
    >>> none, edge = Structure(domain), Structure(domain, ["A=1 & B=1"])
    >>> found = compare_ensembles(Ensemble([none, edge], [0.5, 0.5]), edge)
    >>> str(found.distance), [(pair, str(part)) for pair, part in found.pairs]
    ('1/12', [(('A', 'B'), '1/12')])
    """
    effort = Effort.of(time_limit, n_jobs=n_jobs, cluster=cluster, show_progress=show_progress)
    first_ensemble = as_ensemble(first)
    pair = [first_ensemble, as_ensemble(second, first_ensemble.domain)]
    posed = _pose(pair, restriction)
    total = posed.question.total
    means = _Means(posed, _matrix(posed.question, effort).distances)
    corrections = (pair[0].correction, pair[1].correction)
    spreads = tuple(means.between(k, k) * corrections[k] / total for k in (0, 1))
    return EnsembleComparison(
        names,
        _distance(means, corrections) / total,
        means.between(0, 1) / total,
        (spreads[0], spreads[1]),
        posed,
        corrections,
    )


class EnsembleMatrix(DistanceMatrix):
    """The pairwise distances of ensembles: sums of squared differences of probabilities."""


def ensemble_matrix(
    ensembles: Mapping[str, EnsembleLike],
    *,
    time_limit: float | None = None,
    n_jobs: int = 1,
    cluster: Any = None,
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> EnsembleMatrix:
    """Compute the matrix of the distances of ensembles, exactly.

    Parameters
    ----------
    ensembles : ensembles or models, or paths of them, by name
    time_limit, n_jobs, cluster, show_progress, **restriction : as in `distance_matrix`

    Returns
    -------
    EnsembleMatrix of Σ (θ_P - θ_Q)², fair for draws: a distance of equal ensembles can be below 0

    Examples
    --------
    >>> two = Ensemble(["six", "six-guess"], [0.5, 0.5])
    >>> matrix = ensemble_matrix({"both": two, "six": "six", "guess": "six-guess"})
    >>> [str(distance) for distance in matrix.distances[0]]
    ['0', '4', '4']
    """
    effort = Effort.of(time_limit, n_jobs=n_jobs, cluster=cluster, show_progress=show_progress)
    chosen: list[Ensemble] = []
    for each in ensembles.values():
        chosen.append(as_ensemble(each, chosen[0].domain if chosen else None))
    if not chosen:
        raise ContextwiseError("no ensemble to compare; give at least one")
    posed = _pose(chosen, restriction)
    known = _matrix(posed.question, effort)
    means = _Means(posed, known.distances)
    spreads = [means.between(k, k) * each.correction for k, each in enumerate(chosen)]
    cells = np.zeros((len(chosen), len(chosen)), dtype=object)
    for m in range(len(chosen)):
        for k in range(m):
            # Energy distance: mean distance between two ensembles minus those within.
            cells[m, k] = cells[k, m] = means.between(m, k) - (spreads[m] + spreads[k]) / 2
    settings = (known.total, known.rests_on_ganak, known.by_position)
    return EnsembleMatrix(tuple(ensembles), cells, cells, *settings)


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
    """How often assertions of a given probability are true, and the parts of the Brier score.

    The Brier score is ``reliability - resolution + uncertainty + within``.
    """

    name: str
    groups: tuple[ReliabilityGroup, ...]
    brier: float  #: of the drawn assertions, not corrected for the number of draws
    reliability: float  #: mean squared difference of probability and share: 0 is best
    resolution: float  #: how far the shares differ from the overall share: large is best
    uncertainty: float  #: the variance of the truth
    within: float  #: what is left because a group has several probabilities; 0 without bins
    assertions: int  #: how many were drawn
    draws: int | None

    @property
    def verdict(self) -> str:
        """How far the probabilities are from the shares that are true, in one sentence."""
        if len(self.groups) < 2:
            return f"{self.name} gives every assertion the same probability."
        if not self.brier:
            return f"{self.name} is right about every drawn assertion."
        return (
            f"The probabilities of {self.name} differ from the shares that are true by "
            f"{sqrt(self.reliability):.2g} (root mean square)."
        )

    def record(self) -> dict[str, object]:
        """Return the parts of the Brier score as one flat mapping."""
        keys = ("brier", "reliability", "resolution", "uncertainty", "within", "assertions")
        return {"guess": self.name, **{key: getattr(self, key) for key in keys}}

    def records(self) -> list[dict[str, object]]:
        """Return one flat mapping per group."""
        return [{"guess": self.name, **group._asdict()} for group in self.groups]


def reliability(
    true: EnsembleLike,
    guess: EnsembleLike,
    *,
    name: str = "the ensemble",
    assertions: int = ASSERTIONS,
    rng: int | np.random.Generator = 0,
    time_limit: float | None = None,
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> Reliability:
    """Draw assertions, group them by their probability, and see how many are true.

    Parameters
    ----------
    true : model or Ensemble, or the path of one
    guess : the same
    name : of the guess, for sentences
    assertions : how many to draw
    rng : generator or seed
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
    truth = as_ensemble(true)
    ensemble = as_ensemble(guess, truth.domain)
    posed = _pose([truth, ensemble], restriction)
    sampled = _Sampled(posed, assertions, rng, effort)
    theta, true_share = sampled.theta(1), sampled.theta(0)
    levels, group = np.unique(theta.round(12), return_inverse=True)
    if len(levels) > GROUPS:
        # A probability of 1 belongs to the last group.
        group = np.minimum((theta * GROUPS).astype(np.int64), GROUPS - 1)
    counts = np.bincount(group)
    filled = np.flatnonzero(counts)
    counts = counts[filled]
    means = np.bincount(group, theta)[filled] / counts
    shares = np.bincount(group, true_share)[filled] / counts
    overall = float(true_share.mean())
    # E (θ - X)² for X = 1 with probability true_share, as X² = X.
    brier = float((theta**2 - 2 * theta * true_share + true_share).mean())
    calibration = float((counts * (means - shares) ** 2).sum() / assertions)
    resolution = float((counts * (shares - overall) ** 2).sum() / assertions)
    uncertainty = overall * (1 - overall)
    groups = tuple(
        ReliabilityGroup(mean, share, *wilson(share, count), count)
        for mean, share, count in zip(means.tolist(), shares.tolist(), counts.tolist(), strict=True)
    )
    within = brier - (calibration - resolution + uncertainty)
    # Groups of a single probability have no spread within; do not show its rounding.
    within = 0.0 if len(levels) <= GROUPS else within
    parts = (brier, calibration, resolution, uncertainty, within)
    return Reliability(name, groups, *parts, assertions, ensemble.draws)


def wilson(share: float, count: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share of ``count`` draws.

    >>> [round(end, 3) for end in wilson(0.0, 100)]
    [0.0, 0.037]
    """
    middle = share + Z**2 / (2 * count)
    half = Z * sqrt(share * (1 - share) / count + Z**2 / (4 * count**2))
    scale = 1 + Z**2 / count
    # Rounding must not put the share itself outside.
    return min(share, (middle - half) / scale), max(share, (middle + half) / scale)
