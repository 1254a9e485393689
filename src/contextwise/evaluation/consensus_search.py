"""Find a structure that is near to many models, and count how many of them support its claims."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import ceil
from typing import Unpack

import numpy as np
import numpy.typing as npt

from contextwise.comparison.compare import answer
from contextwise.comparison.confusion import Confusion, Number, ratio
from contextwise.comparison.estimate import ASSERTIONS, IntervalEstimate, draw_assertions
from contextwise.comparison.matrix import DistanceMatrix, count_row, matrix_of
from contextwise.comparison.question import Question, Restriction, pose
from contextwise.comparison.track import Literals, Tracker
from contextwise.counting.assertions import Assertions, answers, hold_bits
from contextwise.counting.extraction import CoverSource
from contextwise.errors import ContextwiseError, OpenResult
from contextwise.evaluation.claims import ClaimSource, NamedClaim, agrees, meets, name_claim
from contextwise.formats import ModelLike
from contextwise.models.structure import Structure, features_of, require_features
from contextwise.support.arrays import IntArray
from contextwise.support.deadline import NEVER, Deadline, OutOfTime
from contextwise.support.effort import Effort
from contextwise.support.formatting import Printed, plural, rate
from contextwise.support.progress import Progress

__all__ = ["Consensus", "consensus"]

REGIONS = 3
"""Number of regions of each kind per pair."""
FEW = 2**16
"""Up to this many assertions the sum of the majority is counted, not estimated."""
GRACE = 1.0
"""Seconds for the supports, after a search with a time limit."""


@dataclass(frozen=True)
class ClaimSupport(NamedClaim):
    """A claim of the consensus, and how many models have the dependence in its region."""

    throughout: int  # models with the dependence in every context of the region
    somewhere: int  # models with the dependence in some context of the region
    of: int  # all models

    def __str__(self) -> str:
        counts = f"{self.throughout} to {self.somewhere}"
        shown = str(self.throughout) if self.throughout == self.somewhere else counts
        return f"{self.sentence}: {shown} of {self.of} models have the dependence"

    def record(self) -> dict[str, object]:
        """Return the support as one flat mapping."""
        first, second = self.pair
        claim = {"first": first, "second": second, "dependent": self.dependent, "when": self.when}
        return {**claim, "throughout": self.throughout, "somewhere": self.somewhere, "of": self.of}


@dataclass(frozen=True, eq=False, repr=False)
class Consensus(Printed):
    """A structure near to many models, and how near it is."""

    structure: Structure  #: the consensus
    models: tuple[Structure, ...]  #: the models, over one domain
    sum: Number  #: the exact sum of its distances to the models (weighted, with another threshold)
    medoid_sum: Number  #: the same of the most typical model, the one with the smallest sum
    lower_bound: Number  #: no structure at all has a smaller sum of distances
    majority: IntervalEstimate  #: the sum of the majority of each assertion (maybe no structure)
    majority_is_exact: bool  #: whether that sum was counted; otherwise it is an estimate
    total: Number  #: the number of assertions
    moves: int  #: number of features that were added or removed
    is_local_optimum: bool  #: whether no single added or removed feature makes the sum smaller
    threshold: Fraction  #: share of the models that a dependence needs
    asked: IntArray | None = None  #: positions of the pairs that were asked for; None for all
    has_limit: bool = False  #: whether there was a time limit; then supports have `GRACE` seconds

    @property
    def mean_distance(self) -> float:
        """The mean normalized distance to the models."""
        return ratio(self.sum, len(self.models) * self.total) if self.total else 0.0

    @cached_property
    def _covers(self) -> list[CoverSource]:
        return [CoverSource(model.features) for model in self.models]

    @cached_property
    def _source(self) -> ClaimSource:
        return ClaimSource(self.structure.features)

    def supports(self, first: str, second: str, *, most: int = REGIONS) -> list[ClaimSupport]:
        """Return the claims about a pair, at most ``most`` of each kind, with their support."""
        return self._supports(self.structure.domain.pair((first, second)), most, NEVER)

    def _supports(self, pair: tuple[int, int], most: int, deadline: Deadline) -> list[ClaimSupport]:
        supports = []
        for claim in self._source.largest(pair, most, deadline):
            dependent = replace(claim, dependent=True)
            supports.append(
                ClaimSupport(
                    *name_claim(self.structure.domain, claim),
                    sum(agrees(covers, dependent, deadline) for covers in self._covers),
                    sum(meets(covers, dependent) for covers in self._covers),
                    len(self.models),
                )
            )
            deadline.check()
        return supports

    def widest_supports(self, top: int | None = None) -> list[ClaimSupport]:
        """Return the supports of the ``top`` pairs with the widest dependence."""
        deadline = Deadline.after(GRACE if self.has_limit else None)
        domain = self.structure.domain
        question = Question((Structure(domain), self.structure), asked=self.asked)
        widths, pairs = answer(question, Effort(deadline)), self.structure.pairs()
        if not widths.open_pairs:
            pairs = [pair for pair, _ in widths.worst_pairs(len(pairs))]
        pairs = pairs[:top]
        supports: list[ClaimSupport] = []
        for done, pair in enumerate(pairs):
            try:
                supports += self._supports(domain.pair(pair), REGIONS, deadline)
            except deadline.out_of_time:
                left_out = plural(len(pairs) - done, "pair")
                warnings.warn(f"the time limit left out the supports of {left_out}", stacklevel=2)
                break
        return supports

    def records(self) -> list[dict[str, object]]:
        """Return the support of each claim as a flat mapping."""
        return [support.record() for support in self.widest_supports()]

    def record(self) -> dict[str, object]:
        """Return everything but the supports as one flat mapping."""
        return {
            "models": len(self.models),
            "features": len(self.structure),
            "sum": self.sum,
            "medoid_sum": self.medoid_sum,
            "lower_bound": self.lower_bound,
            "majority": self.majority.value,
            "majority_is_exact": self.majority_is_exact,
            "mean_distance": self.mean_distance,
            "moves": self.moves,
            "is_local_optimum": self.is_local_optimum,
            "threshold": float(self.threshold),
        }

    @property
    def bound(self) -> Number:
        """The lower bound; rounded up where sums of distances are ints."""
        plain = self.threshold == Fraction(1, 2) and isinstance(self.total, int)
        return ceil(self.lower_bound) if plain else self.lower_bound

    @property
    def verdict(self) -> str:
        """The conclusion in two sentences."""
        each = len(self.models) * self.total
        typical, least = (
            rate(ratio(total, each) if each else 0.0) for total in (self.medoid_sum, self.bound)
        )
        ended = "a local optimum" if self.is_local_optimum else "not finished in time"
        return (
            f"The consensus of {plural(len(self.models), 'model')} has "
            f"{plural(len(self.structure), 'feature')} and a mean normalized distance of "
            f"{rate(self.mean_distance)} to the models ({ended} after "
            f"{plural(self.moves, 'move')}). The most typical model has {typical}, and no "
            f"structure has less than {least}."
        )

    def __repr__(self) -> str:
        return (
            f"Consensus({len(self.models)} models, {len(self.structure)} features, "
            f"mean distance {self.mean_distance:.4g})"
        )


def consensus(
    models: Iterable[ModelLike],
    *,
    threshold: float | Fraction = 0.5,
    time_limit: float | None = None,
    rng: int | np.random.Generator = 0,
    matrix: DistanceMatrix | None = None,
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> Consensus:
    """Find a structure with a small sum of distances to all models.

    Parameters
    ----------
    models : at least two models, paths of model files, or names of bundled examples
    threshold : share of the models that a dependence needs
    time_limit : seconds until the search stops improving; the sum of the result is exact
    rng : seed or generator, to estimate the majority's sum if there are too many assertions
    matrix : the pairwise distances of the models, with the same restriction, if they are known
    show_progress : bool, or a function of (features tried, all features)
    **restriction : what to compare, with the keywords of `compare`, except observed rows

    Returns
    -------
    Consensus

    Raises
    ------
    ContextwiseError
        If there are fewer than two models, the threshold is not between 0 and 1, or the matrix is
        of other models.
    OpenResult
        If the distances between the models are not known within the time limit.

    Examples
    --------
    In two of three models A and B depend under C=1 only.

    >>> domain = {"A": 2, "B": 2, "C": 2}
    >>> often, once = ["A=1 & B=1 & C=1"], ["A=1 & B=1"]
    >>> result = consensus([Structure(domain, f) for f in (often, once, often)])
    >>> result.structure, result.sum
    (Structure(3 variables, 1 feature: A=1 & B=1 & C=1), 3)
    """
    effort = Effort.of(time_limit, show_progress=show_progress)
    # 0.1 means one tenth, not the binary number next to it.
    share = Fraction(str(threshold)) if isinstance(threshold, float) else Fraction(threshold)
    if not 0 < share < 1:
        raise ContextwiseError(f"threshold must be between 0 and 1, got {threshold}")
    question = pose(models, **restriction)
    for structure in question.structures:
        require_features(structure, "a consensus")
    count = len(question.structures)
    if count < 2:
        raise ContextwiseError("a consensus needs at least two models")
    if question.rows is not None:
        raise ContextwiseError("a consensus cannot use observed rows; use weights instead")
    if matrix is None:
        names = tuple(map(str, range(count)))
        matrix = matrix_of(question, names, Effort(effort.deadline))
    if len(matrix.names) != count:
        raise ContextwiseError(f"the matrix must be of {count} models, got {len(matrix.names)}")
    if (matrix.lower != matrix.upper).any():
        raise OpenResult(
            "the distances between the models were not known within the time limit, so there is "
            "no consensus; allow more time"
        )
    sums = _sums_of_models(question, matrix, share, effort)
    typical = min(range(count), key=sums.__getitem__)
    with effort.showing("trying features") as shown:
        structure, loss, moves, is_over = _search(question, typical, sums[typical], share, shown)
    majority, exact = _majority(question, share, rng)
    return Consensus(
        structure=structure,
        models=question.structures,
        sum=loss,
        medoid_sum=sums[typical],
        lower_bound=_lower_bound(matrix, share),
        majority=majority,
        majority_is_exact=exact,
        total=question.total,
        moves=moves,
        is_local_optimum=is_over,
        threshold=share,
        asked=question.asked,
        has_limit=time_limit is not None,
    )


def _lower_bound(matrix: DistanceMatrix, share: Fraction) -> Number:
    """A lower bound of the sum of any structure.

    By the triangle inequality, d(b, S) + d(S, b') ≥ d(b, b'). Added up over all pairs of the B
    models, each distance to S occurs B - 1 times. A false positive costs 2t and a false negative
    2(1 - t), so the smaller of the two scales the bound.
    """
    models = len(matrix.names)
    each = Fraction(matrix.distances.sum(), 2)
    return each / (models - 1) * 2 * min(share, 1 - share)


def _sums_of_models(
    question: Question, matrix: DistanceMatrix, share: Fraction, effort: Effort
) -> list[Number]:
    """Compute the cost of each model as the consensus.

    For two models M and b, FP - FN is the number of dependencies that M has more than b, and
    FP + FN is their distance. So 2t·FP + 2(1 - t)·FN = d + (2t - 1)(|M| - |b|).
    """
    distances = [row.sum() for row in matrix.distances]
    if share == Fraction(1, 2):
        return [_whole(distance) for distance in distances]
    models = len(question.structures)
    structures = (Structure(question.domain), *question.structures)
    everything = replace(question, structures=structures, weighted=())
    # The distance to a structure without features is the number of dependencies.
    sizes = count_row(
        everything,
        range(models + 1),
        pairs=everything.active_pairs(),
        effort=Effort(effort.deadline),
    )
    return [
        _whole(distance + (2 * share - 1) * (models * size - sum(sizes)))
        for distance, size in zip(distances, sizes, strict=True)
    ]


def _whole(number: Number) -> Number:
    """Convert a whole number to int."""
    exact = Fraction(number)
    return int(exact) if exact.denominator == 1 else exact


# -- the search ------------------------------------------------------------------------------------


def _search(
    question: Question,
    typical: int,
    loss: Number,
    share: Fraction,
    effort: Effort,
) -> tuple[Structure, Number, int, bool]:
    """Search twice, from the typical model and from the features that enough models have.

    Return the best structure, its cost, the number of moves, and whether no move helps any more.
    """
    models = question.structures
    votes = Counter(tuple(literals) for m in models for literals in m.features.literals())
    enough = [feature for feature, count in votes.items() if count > share * len(models)]
    voted = Structure(question.domain, features_of(question.domain, enough))
    pool = [feature for feature, _ in votes.most_common() if _is_asked(feature, question)]
    best = models[typical], loss, 0, False
    for start in (models[typical], voted):
        try:
            moved = _Moves(question, start, share, effort)
        except effort.deadline.out_of_time:
            return best
        is_over = moved.improve(pool)
        if moved.loss < best[1] or start is models[typical]:
            best = moved.trackers[0].guess, moved.loss, moved.moves, is_over
        if effort.deadline.passed:
            break
    return best


def _is_asked(feature: Literals, question: Question) -> bool:
    """Return whether a feature can change a pair that is asked for."""
    scope = [variable for variable, _ in feature]
    if question.asked is None:
        return len(scope) > 1
    return bool(np.isin(question.asked, scope).all(axis=1).any())


class _Moves:
    """A structure that changes, with one tracker per model."""

    def __init__(
        self, question: Question, start: Structure, share: Fraction, effort: Effort
    ) -> None:
        self._domain, self._share, self._effort = question.domain, share, effort
        self.trackers = []
        for model in question.structures:
            effort.deadline.check()
            self.trackers.append(
                Tracker(replace(question, structures=(model, start)), deadline=effort.deadline)
            )
        self.moves = 0
        self.loss = self._sum([tracker.confusion for tracker in self.trackers])

    def _sum(self, confusions: Sequence[Confusion]) -> Number:
        """Return the cost of the errors: 1 each, with a threshold of a half."""
        fp, fn = sum(c.fp for c in confusions), sum(c.fn for c in confusions)
        return _whole(2 * self._share * fp + 2 * (1 - self._share) * fn)

    def improve(self, pool: Sequence[Literals]) -> bool:
        """Add and remove features while that helps; return whether nothing helps any more."""
        domain = self._domain
        features = [
            {
                domain.names[v]: [s for k, s in enumerate(domain.states[v]) if allowed >> k & 1]
                for v, allowed in literals
            }
            for literals in pool
        ]
        moved = True
        try:
            while moved:
                moved = False
                for done, feature in enumerate(features, 1):
                    moved |= self._try(feature)
                    self._effort.report(done, len(features))
        except self._effort.deadline.out_of_time:
            return False
        return True

    def _try(self, feature: dict[str, list[str]]) -> bool:
        """Add a feature if that helps, or remove it if that does not harm."""
        present = self.trackers[0].has(feature)
        change = {"remove" if present else "add": [feature]}
        previews = []
        for tracker in self.trackers:
            self._effort.deadline.check()
            previews.append(tracker.preview(**change))
        after = self._sum(previews)
        if after > self.loss or (after == self.loss and not present):
            return False
        done = 0
        try:
            for done, tracker in enumerate(self.trackers):  # noqa: B007
                tracker.remove(feature) if present else tracker.add(feature)
        except OutOfTime:
            for tracker in self.trackers[:done]:
                tracker.undo()
            raise
        self.loss = after
        self.moves += 1
        return True


# -- the majority ----------------------------------------------------------------------------------


def _majority(
    question: Question, share: Fraction, rng: int | np.random.Generator
) -> tuple[IntervalEstimate, bool]:
    """The cost of the assertion-wise majority, and whether it was counted."""
    total = question.total
    if not total:
        return IntervalEstimate(0.0, 0.0, 0.0, 1.0), True
    exact = question.space.weights is None and total <= FEW
    sample = _every_assertion(question) if exact else draw_assertions(question, ASSERTIONS, rng)
    votes = np.zeros(len(sample), dtype=np.int64)
    for model in question.structures:
        words, _ = answers(model.features, sample)
        bits = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")
        votes += bits[: len(sample)]
    # A model that disagrees costs 2 · share or 2 · (1 - share), which is 1 at one half.
    with_it = 2 * float(share) * (len(question.structures) - votes)
    without = 2 * float(1 - share) * votes
    cost: npt.NDArray[np.float64] = np.minimum(with_it, without)
    if exact:
        return IntervalEstimate(float(cost.sum()), float(cost.sum()), float(cost.sum()), 1.0), True
    error = 1.96 * float(cost.std(ddof=1)) / len(cost) ** 0.5
    mean, scale = float(cost.mean()), float(total)
    low, high = max(0.0, mean - error), mean + error
    return IntervalEstimate(scale * mean, scale * low, scale * high), False


def _every_assertion(question: Question) -> Assertions:
    """All assertions of a question, once each."""
    cards = question.domain.cardinalities
    pairs = question.asked_pairs
    blocks = []
    for pair in pairs.tolist():
        free = [
            range(1) if v in pair and not question.space.canonical else range(c)
            for v, c in enumerate(cards)
        ]
        blocks.append(np.array(list(product(*free)), dtype=np.int64))
    states = np.concatenate(blocks) if blocks else np.zeros((0, len(cards)), dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum([len(block) for block in blocks])]).astype(np.int64)
    bits = hold_bits(cards, states)
    return Assertions(
        np.array(cards, dtype=np.int64), pairs, starts, bits, question.space.canonical
    )
