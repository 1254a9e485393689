"""What many models agree on: a structure near to all of them, how near, and who has each claim."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil

from contextwise.comparison.compare import compare
from contextwise.comparison.confusion import Number, ratio
from contextwise.comparison.pairs import Pair, pair_positions
from contextwise.comparison.sketch import IntervalEstimate
from contextwise.counting.extraction import CoverSource
from contextwise.evaluation.claims import ClaimSource, NamedClaim, agrees, meets, name_claim
from contextwise.models.numbers import number, plural, rate
from contextwise.models.structure import Structure

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
