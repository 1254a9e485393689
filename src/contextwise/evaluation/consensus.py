"""What many models agree on: a structure near to all of them, how near, and who has each claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import ceil
from typing import Unpack

import numpy as np
import numpy.typing as npt

from contextwise.comparison.compare import compare
from contextwise.comparison.confusion import Confusion, Number, ratio
from contextwise.comparison.matrix import DistanceMatrix, count_row, counting_of, distance_matrix
from contextwise.comparison.pairs import Pair, all_pairs, pair_positions
from contextwise.comparison.question import Question, Restriction, pose
from contextwise.comparison.sketch import ASSERTIONS, IntervalEstimate, draw_assertions
from contextwise.comparison.track import Literals, Tracker
from contextwise.counting.assertions import Assertions, answers, hold_bits
from contextwise.counting.extraction import CoverSource
from contextwise.errors import ContextwiseError
from contextwise.evaluation.claims import ClaimSource, NamedClaim, agrees, meets, name_claim
from contextwise.formats import ModelLike
from contextwise.models.literals import features_of
from contextwise.models.structure import Structure
from contextwise.support.deadline import Deadline
from contextwise.support.formatting import number, plural, rate
from contextwise.support.progress import Progress, progress_of

__all__ = ["ClaimSupport", "Consensus", "consensus"]


REGIONS = 3
"""How many regions of a pair are asked about."""


@dataclass(frozen=True)
class ClaimSupport(NamedClaim):
    """How many of the models have a dependence in a region of contexts.

    Attributes
    ----------
    pair : the names
    dependent : what the consensus claims in this region
    literals : where the region is; none for every context
    throughout : how many models have the dependence in every context of the region
    somewhere : how many have it in some context of the region
    of : the number of models
    """

    throughout: int
    somewhere: int
    of: int

    def __str__(self) -> str:
        range_ = f"{self.throughout} to {self.somewhere}"
        shown = str(self.throughout) if self.throughout == self.somewhere else range_
        return f"{self.sentence}: {shown} of {self.of} models have the dependence"

    def record(self) -> dict[str, object]:
        """The support as one flat mapping."""
        return {
            "first": self.pair[0],
            "second": self.pair[1],
            "dependent": self.dependent,
            "when": self.when,
            "throughout": self.throughout,
            "somewhere": self.somewhere,
            "of": self.of,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Consensus:
    """A structure near to many models, and how near.

    Attributes
    ----------
    structure : the consensus
    models : the models, over one domain
    sum : the exact sum of its distances to the models (weighted, with another threshold)
    medoid_sum : the same of the most typical model, the one with the least sum
    lower_bound : no structure at all has a smaller sum of distances
    majority : the sum of the assertion-wise majority, which need not be a structure
    majority_is_exact : whether that sum was counted; otherwise it is an estimate
    total : the number of assertions
    moves : how many features were added or removed
    is_local_optimum : whether no single feature more or less has a smaller sum
    threshold : which share of the models a dependence needs
    asked : the pairs that were asked for, by names; None for all of them

    Examples
    --------
    >>> from contextwise.evaluation import consensus
    >>> found = consensus(["six", "six-guess", "six-graph"])
    >>> found.sum, found.medoid_sum, found.lower_bound, found.majority.value
    (88, 96, Fraction(88, 1), 88.0)
    """

    structure: Structure
    models: tuple[Structure, ...]
    sum: Number
    medoid_sum: Number
    lower_bound: Number
    majority: IntervalEstimate
    majority_is_exact: bool
    total: Number
    moves: int
    is_local_optimum: bool
    threshold: Fraction
    asked: tuple[Pair, ...] | None = None

    @property
    def mean_distance(self) -> float:
        """The mean share of assertions in which it differs from a model."""
        return ratio(self.sum, len(self.models) * self.total) if self.total else 0.0

    @cached_property
    def _covers(self) -> list[CoverSource]:
        return [CoverSource(model.features) for model in self.models]

    def supports(self, first: str, second: str, *, most: int = REGIONS) -> list[ClaimSupport]:
        """What the consensus claims about a pair, and how many models have the dependence there.

        Parameters
        ----------
        first, second : the names of the pair
        most : how many regions of either kind, the largest first

        Returns
        -------
        list of ClaimSupport
        """
        domain = self.structure.domain
        pair = pair_positions(domain, (first, second))
        found = []
        for claim in ClaimSource(self.structure.features).largest(pair, most):
            whole = replace(claim, dependent=True)
            found.append(
                ClaimSupport(
                    *name_claim(domain, claim),
                    sum(agrees(covers, whole) for covers in self._covers),
                    sum(meets(covers, whole) for covers in self._covers),
                    len(self.models),
                )
            )
        return found

    def widest_supports(self, top: int | None = None) -> list[ClaimSupport]:
        """The supports of the asked pairs that depend, those of the widest dependence first.

        Parameters
        ----------
        top : how many pairs; None for all of them

        Returns
        -------
        list of ClaimSupport
        """
        nothing = Structure(self.structure.domain)
        own = compare(nothing, self.structure, pairs=self.asked)
        wide = own.worst_pairs(len(self.structure.pairs()))
        return [support for pair, _ in wide[:top] for support in self.supports(*pair)]

    def record(self) -> dict[str, object]:
        """Everything but the supports as one flat mapping."""
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

    def lines(self) -> Iterator[str]:
        """What was found, in sentences."""
        ended = "a local optimum" if self.is_local_optimum else "not finished in time"
        counted = "exactly" if self.majority_is_exact else "estimated"
        # Sums of plain distances are ints, so the bound may be rounded up to one.
        half, cost = self.threshold == Fraction(1, 2), self.majority.value
        plain = half and isinstance(self.total, int)
        least = ceil(self.lower_bound) if plain else self.lower_bound
        yield (
            f"{plural(len(self.models), 'model')}, consensus of "
            f"{plural(len(self.structure), 'feature')} after {plural(self.moves, 'move')}: {ended}."
        )
        sums = "Sum of distances" if half else "Sum of errors, weighed by the threshold,"
        yield (
            f"{sums} {number(self.sum)} (mean {rate(self.mean_distance)} of all "
            f"assertions); {number(self.medoid_sum)} for the most typical model."
        )
        vote = "the majority" if half else f"a vote of {100 * float(self.threshold):g} %"
        votes = round(cost) if plain else Fraction(cost).limit_denominator(1000)
        yield (
            f"No structure has a smaller sum than {number(least)}; taking {vote} "
            f"of each assertion would have {number(votes)} ({counted})."
        )

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return (
            f"Consensus({len(self.models)} models, {len(self.structure)} features, "
            f"mean distance {self.mean_distance:.4g})"
        )


# -- A structure that many models agree on, as far as features can express it.


FEW = 2**16
"""Up to so many assertions the majority's sum is counted."""


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
    """A structure that is as near to all models as features can express.

    Parameters
    ----------
    models : models, paths of model files, or names of bundled examples
        Two at least.
    threshold : number between 0 and 1
        Which share of the models a dependence needs.
    time_limit : seconds, optional
        When to stop improving; the sum is exact all the same.
    rng : seed or numpy.random.Generator
        For the estimate of the majority's sum, where there are too many assertions to count it.
    matrix : DistanceMatrix, optional
        The distances of the models to each other, with the same restriction, if they are known.
    show_progress : bool or function
        A line on standard error, or a function of (features tried, features in all).
    **restriction
        What is compared, with the keywords of `compare`; observed rows are not followed.

    Returns
    -------
    Consensus

    Raises
    ------
    ContextwiseError
        If there are fewer than two models, the threshold is no share, or the matrix is of others.

    Examples
    --------
    Two of three models have A and B depend under C=1 only.

    >>> domain = {"A": 2, "B": 2, "C": 2}
    >>> often, once = ["A=1 & B=1 & C=1"], ["A=1 & B=1"]
    >>> found = consensus([Structure(domain, f) for f in (often, once, often)])
    >>> found.structure, found.sum
    (Structure(3 variables, 1 feature: A=1 & B=1 & C=1), 3)
    """
    share = Fraction(str(threshold)) if isinstance(threshold, float) else Fraction(threshold)
    if not 0 < share < 1:
        raise ContextwiseError(f"a threshold lies between 0 and 1, not {threshold}")
    deadline = Deadline.after(time_limit)
    question = pose(models, **restriction)
    if len(question.structures) < 2:
        raise ContextwiseError("a consensus needs at least two models")
    if matrix is None:
        matrix = distance_matrix(question.structures, **_again(question))
    if len(matrix.names) != len(question.structures):
        raise ContextwiseError(
            f"the matrix is of {len(matrix.names)} models, and there are {len(question.structures)}"
        )
    sums = _sums_of_models(question, matrix, share)
    typical = min(range(len(sums)), key=sums.__getitem__)
    search = _best_search(question, typical, share, deadline, show_progress)
    majority, exact = _majority(question, share, rng)
    return Consensus(
        structure=search.structure,
        models=question.structures,
        sum=search.loss,
        medoid_sum=sums[typical],
        lower_bound=_lower_bound(matrix, share),
        majority=majority,
        majority_is_exact=exact,
        total=question.total,
        moves=search.moves,
        is_local_optimum=search.is_over,
        threshold=share,
        asked=_asked(question),
    )


def _asked(question: Question) -> tuple[Pair, ...] | None:
    """The pairs that are asked for, by names."""
    if question.asked is None:
        return None
    names = question.domain.names
    return tuple((names[i], names[j]) for i, j in question.asked.tolist())


def _again(question: Question) -> Restriction:
    """The restriction once more, for structures over the domain that its context leaves."""
    if question.rows is not None:
        raise ContextwiseError("a consensus does not follow observed rows; use weights for them")
    domain, weights = question.domain, question.value_weights
    restriction: Restriction = {"contexts": question.contexts, "pairs": _asked(question)}
    if weights is not None:
        restriction["weights"] = {
            name: [Fraction(weight, sum(own)) for weight in own]
            for name, own in zip(domain.names, weights, strict=True)
        }
    return restriction


def _lower_bound(matrix: DistanceMatrix, share: Fraction) -> Number:
    """No structure has a smaller sum.

    By the triangle inequality, d(b, S) + d(S, b') ≥ d(b, b'); added up over all pairs of models,
    each distance comes B - 1 times. A false positive costs 2t and a false negative 2(1 - t), so the
    smaller of the two scales the bound.
    """
    models = len(matrix.names)
    each = Fraction(matrix.distances.sum(), 2)
    return each / (models - 1) * 2 * min(share, 1 - share)


def _sums_of_models(question: Question, matrix: DistanceMatrix, share: Fraction) -> list[Number]:
    """What each of the models would cost as the consensus.

    Of two models M and b, FP - FN is the number of dependencies that M has more than b, and
    FP + FN their distance: so 2t·FP + 2(1 - t)·FN = d + (2t - 1)(|M| - |b|).
    """
    models = len(question.structures)
    everything = replace(question, structures=(Structure(question.domain), *question.structures))
    counting, map_blocks = counting_of()
    # The distance to a model without features is the number of dependencies.
    sizes = count_row(
        everything,
        range(models + 1),
        pairs=everything.active_pairs(),
        counting=counting,
        map_blocks=map_blocks,
    )
    return [
        _whole(own.sum() + (2 * share - 1) * (models * size - sum(sizes)))
        for own, size in zip(matrix.distances, sizes, strict=True)
    ]


def _whole(number: Number) -> Number:
    """An int, if it is one."""
    exact = Fraction(number)
    return int(exact) if exact.denominator == 1 else exact


def _best_search(
    question: Question,
    typical: int,
    share: Fraction,
    deadline: Deadline,
    show_progress: bool | Progress,
) -> _Search:
    """The better of two searches, from the typical model and from the features that are voted."""
    models = question.structures
    votes = Counter(tuple(literals) for m in models for literals in m.features.literals())
    enough = [feature for feature, count in votes.items() if count > share * len(models)]
    voted = Structure(question.domain, features_of(question.domain, enough))
    pool = [feature for feature, _ in votes.most_common() if _speaks(feature, question)]
    searches: list[_Search] = []
    with progress_of(show_progress, "trying features") as progress:
        for start in (models[typical], voted):
            if searches and deadline.passed:
                break
            searches.append(_Search(question, start, share, pool))
            searches[-1].improve(deadline, progress)
    return min(searches, key=lambda search: search.loss)


def _speaks(feature: Literals, question: Question) -> bool:
    """Whether a feature has something to say about the pairs that are asked for."""
    scope = [variable for variable, _ in feature]
    if question.asked is None:
        return len(scope) > 1
    return bool(np.isin(question.asked, scope).all(axis=1).any())


class _Search:
    """Moves of one structure, followed by one tracker per model."""

    def __init__(
        self, question: Question, start: Structure, share: Fraction, pool: Iterable[Literals]
    ) -> None:
        self._share = share
        self._trackers = [
            Tracker(replace(question, structures=(model, start))) for model in question.structures
        ]
        self._pool = [
            {
                question.domain.names[v]: [
                    state for k, state in enumerate(question.domain.states[v]) if allowed >> k & 1
                ]
                for v, allowed in literals
            }
            for literals in pool
        ]
        self.moves = 0
        self.is_over = False
        self.loss = self._sum(tracker.confusion for tracker in self._trackers)

    @property
    def structure(self) -> Structure:
        """The structure as it is now."""
        return self._trackers[0].guess

    def _sum(self, confusions: Iterable[Confusion]) -> Number:
        """What the errors cost: each 1, with a threshold of a half."""
        fp: Number = 0
        fn: Number = 0
        for confusion in confusions:
            fp, fn = fp + confusion.fp, fn + confusion.fn
        return _whole(2 * self._share * fp + 2 * (1 - self._share) * fn)

    def improve(self, deadline: Deadline, progress: Progress | None) -> None:
        """Add and remove features while that helps; it is over at a local optimum."""
        moved = True
        while moved:
            moved = False
            for done, feature in enumerate(self._pool, 1):
                if deadline.passed:
                    return
                moved |= self._try(feature)
                if progress:
                    progress(done, len(self._pool))
        self.is_over = True

    def _try(self, feature: dict[str, list[str]]) -> bool:
        """Add the feature if it is not there and helps, remove it if it does not."""
        there = self._trackers[0].has(feature)
        change = {"remove" if there else "add": [feature]}
        after = self._sum(tracker.preview(**change) for tracker in self._trackers)
        if after > self.loss or (after == self.loss and not there):
            return False
        for tracker in self._trackers:
            tracker.remove(feature) if there else tracker.add(feature)
        self.loss = after
        self.moves += 1
        return True


def _majority(
    question: Question, share: Fraction, rng: int | np.random.Generator
) -> tuple[IntervalEstimate, bool]:
    """What the assertion-wise majority costs, and whether that was counted."""
    total = question.total
    exact = question.value_weights is None and total <= FEW
    sample = _every_assertion(question) if exact else draw_assertions(question, ASSERTIONS, rng)
    votes = _votes(question.structures, sample)
    with_it = 2 * float(share) * (len(question.structures) - votes)
    without = 2 * float(1 - share) * votes
    cost = np.minimum(with_it, without)
    if exact:
        return IntervalEstimate(float(cost.sum()), float(cost.sum()), float(cost.sum()), 1.0), True
    scale = float(total)
    error = 1.96 * float(cost.std(ddof=1)) / len(cost) ** 0.5
    mean = float(cost.mean())
    return IntervalEstimate(
        scale * mean, scale * max(0.0, mean - error), scale * (mean + error)
    ), False


def _votes(models: Sequence[Structure], sample: Assertions) -> npt.NDArray[np.int64]:
    """How many models have the dependence of each assertion."""
    votes = np.zeros(len(sample), dtype=np.int64)
    for model in models:
        said = answers(model.features, sample)
        bits = np.unpackbits(said.astype("<u8").view(np.uint8), bitorder="little")
        votes += bits[: len(sample)]
    return votes


def _every_assertion(question: Question) -> Assertions:
    """All assertions of a question, once each."""
    cards = question.domain.cardinalities
    pairs = all_pairs(range(len(cards))) if question.asked is None else question.asked
    blocks = []
    for pair in pairs.tolist():
        free = [
            range(1) if v in pair and not question.canonical else range(c)
            for v, c in enumerate(cards)
        ]
        blocks.append(np.array(list(product(*free)), dtype=np.int64))
    states = np.concatenate(blocks) if blocks else np.zeros((0, len(cards)), dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum([len(block) for block in blocks])]).astype(np.int64)
    return Assertions(
        np.array(cards, dtype=np.int64),
        pairs,
        starts,
        hold_bits(cards, states),
        question.canonical,
    )
