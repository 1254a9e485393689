"""The features behind the errors of a comparison, found best-first.

A feature can take part in no more errors than its cubes have contexts, nor in more than its pairs
have errors. These bounds come from floats, rounded up, for all features at once. Features are then
counted exactly in the order of the bound, until no other one can come before those that are found.
What vanishes or is created when a feature is removed takes more counting, and is asked only of the
features that are shown.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from contextwise.comparison.comparison import Comparison
from contextwise.comparison.confusion import Number, ratio
from contextwise.comparison.cubes import PairCubes, literals_at
from contextwise.comparison.explanation import FeatureErrors, Kind
from contextwise.counting.contract import OutOfTime, check
from contextwise.counting.pair_counts import MARGIN, TINY, PairShares
from contextwise.models.features import Features

MODELS: dict[Kind, int] = {"true": 0, "guess": 1}
Literals = list[tuple[int, int]]


@dataclass(frozen=True, order=True)
class _Found:
    """A feature and the errors that it takes part in, in the order of a heap."""

    takes_part: Number
    minus_place: int
    only_in: Kind
    feature: int


def worst_features(
    comparison: Comparison,
    cubes: PairCubes,
    top: int,
    tell: Callable[[int], None] = lambda done: None,
) -> tuple[tuple[FeatureErrors, ...], bool]:
    """The features with the most errors, and whether the time was enough to be sure.

    Parameters
    ----------
    comparison : whose errors they are
    cubes : of the same question; its deadline holds
    top : how many features
    tell : called with the number of features whose figures are complete

    Returns
    -------
    features : FeatureErrors, those with the most errors first
        If the time was not enough, the worst of those that were counted.
    in_time : bool
    """
    best: list[_Found] = []
    in_time = True
    try:
        _search(comparison, cubes, top, best)
    except OutOfTime:
        in_time = False
    features = []
    for done, found in enumerate(sorted(best, reverse=True), 1):
        complete = _with_changes(comparison, cubes, found)
        in_time &= complete.vanish is not None
        features.append(complete)
        tell(done)
    return tuple(features), in_time


def _search(comparison: Comparison, cubes: PairCubes, top: int, best: list[_Found]) -> None:
    """Put the worst features on the heap ``best``, by best-first search on a bound."""
    if not top:
        return
    scale = max(comparison.sizes, default=1) or 1
    errors = {kind: _most_errors(comparison, kind) for kind in MODELS}
    for place, (bound, only_in, feature) in enumerate(_bounded(comparison, errors, scale)):
        if len(best) == top and bound < ratio(best[0].takes_part, scale):
            return
        check(cubes.deadline)
        takes_part = _takes_part(cubes, only_in, feature, errors[only_in])
        if takes_part:
            heapq.heappush(best, _Found(takes_part, -place, only_in, feature))
        if len(best) > top:
            heapq.heappop(best)


def _most_errors(comparison: Comparison, kind: Kind) -> dict[tuple[int, int], Number]:
    """For each pair with errors of one kind, the most it can have: exact unless it is open."""
    (a, b, _), u = comparison.unions.lower.T, comparison.unions.upper[:, 2]
    most = (u - a) if kind == "guess" else (u - b)
    return {
        (i, j): errors
        for (i, j), errors in zip(comparison.pairs.tolist(), most.tolist(), strict=True)
        if errors
    }


def _bounded(
    comparison: Comparison,
    errors: dict[Kind, dict[tuple[int, int], Number]],
    scale: Number,
) -> Iterator[tuple[float, Kind, int]]:
    """The features that may take part in errors, those with the largest bound first.

    A bound is a share of ``scale``.
    """
    found: list[tuple[float, Kind, int]] = []
    for kind, model in MODELS.items():
        own, other = (comparison.question.structures[m].features for m in (model, 1 - model))
        bounds = _bounds(comparison, own, errors[kind], scale)
        known = set(other.rows)
        candidates = np.flatnonzero(bounds).tolist()
        found += [(float(bounds[f]), kind, f) for f in candidates if own.rows[f] not in known]
    yield from sorted(found, key=lambda entry: -entry[0])


def _bounds(
    comparison: Comparison,
    features: Features,
    errors: dict[tuple[int, int], Number],
    scale: Number,
) -> npt.NDArray[np.float64]:
    """For each feature the most errors that it can take part in, as a share of ``scale``."""
    question = comparison.question
    total = np.zeros(len(features))
    if not errors:
        return total
    shares = PairShares(features, question.canonical, question.value_weights)
    sizes = dict(zip(map(tuple, comparison.pairs.tolist()), comparison.sizes, strict=True))
    most, size = np.zeros(len(shares.pairs)), np.zeros(len(shares.pairs))
    for k, (i, j) in enumerate(shares.pairs.tolist()):
        if (i, j) in errors:
            most[k], size[k] = ratio(errors[i, j], scale), ratio(sizes[i, j], scale)
    entries = np.diff(shares.starts)
    of_cubes = np.repeat(size, entries)
    if question.rows is None:
        of_cubes = of_cubes * shares.shares
    of_pairs = np.repeat(most, entries)
    each = np.where(of_pairs > 0, np.minimum(of_pairs, of_cubes + TINY), 0.0)
    np.add.at(total, shares.owners, each)
    return total * (1 + MARGIN)


def _takes_part(
    cubes: PairCubes, only_in: Kind, feature: int, errors: dict[tuple[int, int], Number]
) -> Number:
    """In how many errors a feature takes part: what its cubes count beyond the other model's."""
    model = MODELS[only_in]
    literals = literals_at(cubes.features[model], feature)
    total: Number = 0
    for pair in _pairs(literals):
        if pair in errors:
            cube = cubes.cube(literals, pair)
            total += cubes.beyond(pair, cube, cubes.cubes(1 - model, pair))
    return total


def _with_changes(comparison: Comparison, cubes: PairCubes, found: _Found) -> FeatureErrors:
    """The figures of one feature, with what removing or adding it changes."""
    model = MODELS[found.only_in]
    literals = literals_at(cubes.features[model], found.feature)
    domain = comparison.domain
    written = tuple(domain.literal(variable, allowed) for variable, allowed in literals)
    vanish: Number | None = found.takes_part
    created: Number | None = 0
    if found.only_in == "guess":
        try:
            vanish, created = _removed(comparison, cubes, literals)
        except OutOfTime:
            vanish = created = None
    return FeatureErrors(found.only_in, written, found.takes_part, vanish, created)


def _removed(comparison: Comparison, cubes: PairCubes, literals: Literals) -> tuple[Number, Number]:
    """How many errors vanish, and how many are created, without a feature of the guess."""
    vanish: Number = 0
    created: Number = 0
    asked = set(map(tuple, comparison.pairs.tolist()))
    for pair in _pairs(literals):
        if pair not in asked:
            continue
        check(cubes.deadline)
        cube = cubes.cube(literals, pair)
        others = list(cubes.cubes(1, pair))
        others.remove(cube)
        left = cubes.beyond(pair, cube, [*cubes.cubes(0, pair), *others])
        vanish += left
        created += cubes.beyond(pair, cube, others) - left
    return vanish, created


def _pairs(literals: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    return combinations([variable for variable, _ in literals], 2)
