"""Compare where dependences are strong: the distance at one or several tolerances.

At a tolerance t a pair depends in a context if its **strength** exceeds t: the largest absolute log
odds ratio of its two variables, a sum of weights of the features that hold there. d(t) counts the
pairs in contexts on which the two models disagree. A weight of 0.001 counts at t = 0 and no longer
at t = 0.1; a weight of 3 counts at both.

A model without weights keeps its claims at every tolerance.

Weights become ints, in units of 10^-12, so that sums are exact. At t = 0 a strength must exceed
10^-9, because sums of rounded logarithms rarely cancel to the last digit. Cells of weight ``-inf``
are impossible: a table whose possible cells are no product of rows and columns is infinitely
strong, and an impossible context has no dependence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np

from contextwise.comparison.confusion import Confusion, ConfusionBounds, Counted, Number, ratio
from contextwise.comparison.question import Pair, Question
from contextwise.comparison.roles import Roles
from contextwise.comparison.tolerance_search import OPEN, PairFeature, Tables, leaves
from contextwise.counting import native
from contextwise.counting.extraction import covered_pairs, find_pairs, pair_features
from contextwise.errors import DomainError, OpenResult
from contextwise.models.domain import Domain
from contextwise.models.features import Features, PairIndex
from contextwise.models.origin import ROUNDING
from contextwise.models.structure import LogLinear
from contextwise.support.arrays import IntArray, ObjectArray
from contextwise.support.effort import QUIET, Effort
from contextwise.support.formatting import Printed
from contextwise.support.machine import cores

compiled: Any = None  # if it was not built, the readable twin counts
with suppress(ImportError):
    from contextwise.comparison import _odds

    compiled = _odds

UNITS_PER_NAT = 10**12
MOST_NATS = 2_000_000
"""The largest sum of absolute weights of a pair; four of them must fit into 63 bits."""
IMPOSSIBLE = np.iinfo(np.int64).min
"""Stands for the weight -inf."""
BOTH_OPEN = 3 * OPEN + OPEN
VERDICTS = 9
"""Joint verdicts: 3 * the one about the first model + the one about the second."""


# -- the question ------------------------------------------------------------------------------


def checked(tolerances: Any) -> tuple[float, ...]:
    """Return tolerances in rising order; raise `DomainError` if they make no sense.

    >>> checked((0.3, 0))
    (0.0, 0.3)
    """
    given = [tolerances] if isinstance(tolerances, int | float) else list(tolerances)
    values = []
    for tolerance in given:
        number = isinstance(tolerance, int | float | np.number) and not isinstance(tolerance, bool)
        if not number or not isfinite(tolerance) or tolerance < 0:
            raise DomainError(f"a tolerance must be a number >= 0, got {tolerance!r}")
        values.append(float(tolerance))
    if not values:
        raise DomainError("at needs one tolerance or more, such as at=(0, 0.1, 0.3)")
    for value in values:
        if values.count(value) > 1:
            raise DomainError(f"the tolerance {value:g} is given twice")
    return tuple(sorted(values))


def require_weights(question: Question) -> None:
    """Raise `DomainError` if tolerances cannot answer a question."""
    if question.rows is not None or question.space.weights is not None:
        raise DomainError("tolerances count all contexts alike; leave out data and weights")
    if question.space.canonical:
        raise DomainError("tolerances need fully-contextualized contexts, not canonical ones")
    if all(model is None for model in question.weighted):
        raise DomainError(
            "tolerances need weights, and neither model has any; fit them with: contextwise fit"
        )


def threshold_of(tolerance: float) -> int:
    """Return the strength that a dependence must exceed, in units."""
    return round(min(max(tolerance, ROUNDING), MOST_NATS) * UNITS_PER_NAT)


class Weighted(NamedTuple):
    """The features of a model that cover some pairs, with weights in units."""

    features: Features
    weights: IntArray | None  # None: the model has claims without weights
    starts: IntArray  # pair k has the features owners[starts[k]:starts[k + 1]]
    owners: IntArray

    def terms(self, place: int, pair: PairIndex) -> list[PairFeature]:
        """Return the features of the pair at a place as terms."""
        terms = []
        for f in self.owners[self.starts[place] : self.starts[place + 1]].tolist():
            literals = dict(self.features.literals_of(f))
            own = {v: literals.pop(v) for v in pair if v in literals}
            weight = 1 if self.weights is None else int(self.weights[f])
            terms.append(PairFeature(literals, own, None if weight == IMPOSSIBLE else weight))
        return terms


def _weighted(features: Features, model: LogLinear | None, pairs: IntArray) -> Weighted:
    covered, starts, owners = pair_features(features)
    places = find_pairs(covered, pairs, len(features.cardinalities))
    sizes = np.where(places >= 0, np.append(np.diff(starts), 0)[places], 0)
    begins = np.concatenate([[0], np.cumsum(sizes)])
    shift = np.repeat(np.append(starts[:-1], 0)[places] - begins[:-1], sizes)
    owners = owners[np.arange(int(begins[-1])) + shift]
    if model is None:
        return Weighted(features, None, begins, owners)
    if (model.weights == np.inf).any():
        raise DomainError("a weight is infinite, so odds ratios are undefined; use finite ones")
    finite = np.where(np.isneginf(model.weights), 0.0, model.weights)
    sums = np.concatenate([[0.0], np.cumsum(np.abs(finite[owners]))])
    for k in np.flatnonzero(sums[begins[1:]] - sums[begins[:-1]] > MOST_NATS)[:1].tolist():
        names = " and ".join(model.domain.names[v] for v in pairs[k].tolist())
        raise DomainError(
            f"the weights of {names} add up to more than {MOST_NATS:,}; use -inf for what is "
            "impossible"
        )
    units = np.rint(np.clip(finite, -MOST_NATS, MOST_NATS) * UNITS_PER_NAT).astype(np.int64)
    units[np.isneginf(model.weights)] = IMPOSSIBLE
    return Weighted(features, units, begins, owners)


class WeightedPairs:
    """The pairs that either model covers, with what both models add to their tables."""

    def __init__(self, question: Question) -> None:
        require_weights(question)
        self.question = question
        features = [
            structure.features if model is None else model.structure.features
            for structure, model in zip(question.structures, question.weighted, strict=True)
        ]
        self.pairs = covered_pairs(*features, among=question.asked).astype(np.int64)
        self.models = [
            _weighted(f, model, self.pairs)
            for f, model in zip(features, question.weighted, strict=True)
        ]

    @property
    def claims(self) -> tuple[bool, bool]:
        """True for each model that has claims without weights."""
        first, second = (model.weights is None for model in self.models)
        return first, second

    def tables(self, place: int) -> Tables:
        """Return the terms of the pair at a place, for the readable search."""
        i, j = self.pairs[place].tolist()
        first, second = (model.terms(place, (i, j)) for model in self.models)
        cardinalities = self.question.domain.cardinalities
        return Tables((i, j), cardinalities, (first, second), self.claims)


# -- the answer --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class AtTolerance(Counted):
    """The confusion matrix of two models at one tolerance; open pairs have proven bounds.

    Attributes
    ----------
    tolerance : a pair depends where its strength exceeds this
    verdicts : contexts of each pair by the joint verdict, in its unit, shape (pairs, 9)
    """

    tolerance: float
    verdicts: ObjectArray
    whole: AtTolerances

    @property
    def threshold(self) -> int:
        """The strength that a dependence must exceed, in units."""
        return threshold_of(self.tolerance)

    @cached_property
    def bounds(self) -> ConfusionBounds:
        """Bounds of the four counts and of the distance, over all pairs."""
        return _bounds(self.whole.sum_up(self.verdicts), self.whole.total)

    @property
    def confusion(self) -> Confusion:
        """The exact counts; raises `OpenResult` if pairs are open."""
        open_pairs = self.open_pairs
        if open_pairs:
            raise OpenResult(
                f"{len(open_pairs)} of {len(self.verdicts)} pairs are unfinished at tolerance "
                f"{self.tolerance:g}, for example {' – '.join(open_pairs[0])}; use bounds or "
                "allow more time"
            )
        bounds = self.bounds
        return Confusion(bounds.tp[0], bounds.fn[0], bounds.fp[0], bounds.tn[0])

    @property
    def total(self) -> Number:
        """The number of assertions."""
        return self.whole.total

    @property
    def distance_bounds(self) -> tuple[Number, Number]:
        """The least and the largest possible distance."""
        return self.bounds.distance

    @cached_property
    def open_pairs(self) -> list[Pair]:
        """The unfinished pairs."""
        return self.whole.names(np.flatnonzero(self._open))

    @cached_property
    def _open(self) -> Any:
        return (self.verdicts[:, [2, 5, 6, 7, 8]] != 0).any(axis=1)

    def pair_bounds(self, first: str, second: str) -> ConfusionBounds:
        """Return bounds of the counts of one pair; they are equal if it is finished."""
        question = self.whole.weighted.question
        position = np.array([question.domain.pair((first, second))])
        size = question.sizes(position)[0]
        place = int(find_pairs(self.whole.pairs, position, len(question.domain))[0])
        if place < 0:
            return _bounds([0] * VERDICTS, size)
        unit = self.whole.units[place]
        return _bounds([count * unit for count in self.verdicts[place]], size)

    def pair(self, first: str, second: str) -> Confusion:
        """Return the counts of one pair; raises `OpenResult` if it is open."""
        bounds = self.pair_bounds(first, second)
        if bounds.tn[0] != bounds.tn[1] or bounds.distance[0] != bounds.distance[1]:
            raise OpenResult(f"the pair {first} – {second} is unfinished; use pair_bounds")
        return Confusion(bounds.tp[0], bounds.fn[0], bounds.fp[0], bounds.tn[0])

    def worst_places(self, most: int) -> list[int]:
        """Return the places of the pairs with the most certain errors, worst first."""
        errors = [
            (int(row[1] + row[3]) * unit, place)
            for place, (row, unit) in enumerate(zip(self.verdicts, self.whole.units, strict=True))
            if row[1] + row[3]
        ]
        return [
            place for _, place in sorted(errors, key=lambda error: (-error[0], error[1]))[:most]
        ]

    def record(self) -> dict[str, Any]:
        """Return the counts as a flat mapping; None where only bounds are known."""
        bounds, closed = self.bounds, not self.open_pairs
        record: dict[str, Any] = {"tolerance": self.tolerance}
        for key in ("tp", "fn", "fp", "distance"):
            low, high = getattr(bounds, key)
            record[key] = low if low == high else None
        low, high = bounds.distance
        return {
            **record,
            "normalized": self.normalized if closed else None,
            "distance_lower": low,
            "distance_upper": high,
            "open_pairs": len(self.open_pairs),
        }

    def __repr__(self) -> str:
        low, high = self.distance_bounds
        if low == high:
            return f"AtTolerance({self.tolerance:g}, distance={low}, fp={self.bounds.fp[0]})"
        return f"AtTolerance({self.tolerance:g}, distance from {low} to {high})"


def _bounds(sizes: Sequence[Number], total: Number) -> ConfusionBounds:
    """Bound the counts, given the sizes of the nine joint verdicts; the first is not needed."""
    _, v01, v02, v10, v11, v12, v20, v21, v22 = sizes
    some = v02 + v12 + v20 + v21 + v22
    positive = v01 + v10 + v11
    return ConfusionBounds(
        tp=(v11, v11 + v12 + v21 + v22),
        fn=(v10, v10 + v12 + v20 + v22),
        fp=(v01, v01 + v02 + v21 + v22),
        tn=(total - positive - some, total - positive - v12 - v21),
        distance=(v01 + v10, v01 + v10 + some),
    )


@dataclass(frozen=True, eq=False, repr=False)
class AtTolerances(Mapping[float, AtTolerance], Printed):
    """The distance of two models at several tolerances: a mapping from each to its counts.

    Made by ``compare(..., at=...)``.

    >>> from contextwise import LogLinear, Structure, compare
    >>> structure = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "B=1 & C=1"])
    >>> true, guess = LogLinear(structure, [3.0, 0.001]), LogLinear(structure, [3.0, 2.0])
    >>> at = compare(true, guess, at=(0, 0.1)).at
    >>> at[0].distance, at[0.1].distance, at[0.1].fp
    (0, 2, 2)
    """

    weighted: WeightedPairs
    tolerances: tuple[float, ...]
    verdicts: ObjectArray  # shape (tolerances, pairs, 9)
    units: Sequence[int]  # contexts per count, for each pair
    nodes: int = 0
    interrupted: bool = False

    @property
    def pairs(self) -> IntArray:
        """Positions of the pairs that either model covers."""
        return self.weighted.pairs

    @property
    def domain(self) -> Domain:
        """The domain of the comparison."""
        return self.weighted.question.domain

    @property
    def roles(self) -> Roles:
        """The words for the two models."""
        return self.weighted.question.roles

    @property
    def total(self) -> Number:
        """The number of assertions."""
        return self.weighted.question.total

    @property
    def without_weights(self) -> list[str]:
        """Names of the models that have no weights and keep their claims."""
        names = (self.roles.first, self.roles.second)
        return [name for name, claims in zip(names, self.weighted.claims, strict=True) if claims]

    @cached_property
    def _of(self) -> dict[float, AtTolerance]:
        return {
            tolerance: AtTolerance(tolerance, verdicts, self)
            for tolerance, verdicts in zip(self.tolerances, self.verdicts, strict=True)
        }

    def __getitem__(self, tolerance: float) -> AtTolerance:
        return self._of[float(tolerance)]

    def __iter__(self) -> Iterator[float]:
        return iter(self.tolerances)

    def __len__(self) -> int:
        return len(self.tolerances)

    @property
    def closed(self) -> bool:
        """True if no pair is open at any tolerance."""
        return not any(at.open_pairs for at in self.values())

    def names(self, places: IntArray) -> list[Pair]:
        """Return the names of the pairs at some places."""
        names = self.domain.names
        return [(names[i], names[j]) for i, j in self.pairs[places].tolist()]

    @cached_property
    def _kinds(self) -> tuple[list[int], IntArray]:
        """The distinct units, and the place of that of each pair."""
        kinds = {unit: k for k, unit in enumerate(dict.fromkeys(self.units))}
        return list(kinds), np.array([kinds[unit] for unit in self.units], dtype=np.int64)

    def sum_up(self, verdicts: ObjectArray) -> list[int]:
        """Add up the verdicts of all pairs, as numbers of contexts."""
        kinds, places = self._kinds
        sums = np.zeros((len(kinds), VERDICTS), dtype=object)
        np.add.at(sums, places, verdicts)
        return [
            sum(int(count) * unit for count, unit in zip(column, kinds, strict=True))
            for column in sums.T
        ]

    def record(self) -> dict[str, Any]:
        """Return the numbers of all tolerances in one flat mapping, such as ``fp_at_0.1``."""
        return {
            f"{key}_at_{at.tolerance:g}": value
            for at in self.values()
            for key, value in at.record().items()
            if key != "tolerance"
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one flat mapping per tolerance."""
        return [at.record() for at in self.values()]

    def __repr__(self) -> str:
        shares = []
        for at in self.values():
            low, high = (
                ratio(end, self.total) if self.total else 0.0 for end in at.bounds.distance
            )
            shares.append(f"{at.tolerance:g}: {low:.4g}" + ("" if low == high else f"–{high:.4g}"))
        return f"AtTolerances({', '.join(shares)})"


def count_at(
    question: Question,
    tolerances: Sequence[float],
    effort: Effort = QUIET,
    *,
    node_budget: int | None = None,
) -> AtTolerances:
    """Count the joint verdicts of two models at some tolerances.

    ``node_budget`` limits the nodes of the search for each pair; pairs over it stay open.
    """
    weighted = WeightedPairs(question)
    thresholds = [threshold_of(tolerance) for tolerance in tolerances]
    count = _in_python if compiled is None else _compiled
    with effort.showing("counting strong dependences") as shown:
        return count(weighted, tuple(tolerances), thresholds, shown, node_budget)


def _compiled(
    weighted: WeightedPairs,
    tolerances: tuple[float, ...],
    thresholds: list[int],
    effort: Effort,
    node_budget: int | None,
) -> AtTolerances:
    question, pairs = weighted.question, weighted.pairs
    first, second = (
        (native.arrays(model.features), model.weights, model.starts, model.owners)
        for model in weighted.models
    )

    def progress(done: int) -> None:
        effort.report(done, len(pairs))

    found = compiled.count_verdicts(
        list(question.domain.cardinalities),
        first,
        second,
        pairs,
        thresholds,
        effort.threads or cores(),
        node_budget,
        effort.deadline.left(),
        progress if effort.progress else None,
    )
    verdicts = np.zeros((len(thresholds), len(pairs), VERDICTS), dtype=object)
    places, levels, joint = found.rows.reshape(-1, 3).T
    verdicts[levels, places, joint] = np.array([*native.ints_of(found.sizes), None])[:-1]
    units = []
    sizes = zip(question.sizes(pairs), native.ints_of(found.wholes), strict=True)
    for place, (size, whole) in enumerate(sizes):
        if whole:
            units.append(int(size) // whole)
        else:  # there was no time for this pair
            verdicts[:, place, BOTH_OPEN] = 1
            units.append(int(size))
    return AtTolerances(weighted, tolerances, verdicts, units, found.nodes, found.interrupted)


def _in_python(
    weighted: WeightedPairs,
    tolerances: tuple[float, ...],
    thresholds: list[int],
    effort: Effort,
    node_budget: int | None,
) -> AtTolerances:
    """The readable twin, one tolerance after the other."""
    pairs = weighted.pairs
    verdicts = np.zeros((len(thresholds), len(pairs), VERDICTS), dtype=object)
    for place in range(len(pairs)):
        tables = weighted.tables(place)
        for level, threshold in enumerate(thresholds):
            budget = inf if node_budget is None else node_budget
            for leaf in leaves(tables, threshold, node_budget=budget, deadline=effort.deadline):
                first, second = leaf.verdicts
                if first or second:
                    verdicts[level, place, 3 * first + second] += leaf.size
        effort.report(place + 1, len(pairs))
    return AtTolerances(weighted, tolerances, verdicts, [1] * len(pairs))
