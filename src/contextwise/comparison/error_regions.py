"""Explain where two structures differ: the contexts of each error, and the features behind them.

Results contain literals; `contextwise.report.comparisons` turns them into words.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from contextwise.comparison.confusion import Number, ratio
from contextwise.comparison.question import Pair, Restriction
from contextwise.comparison.roles import TRUE_AND_GUESS, Roles
from contextwise.comparison.two_models import Comparison, compare
from contextwise.counting.changes import ChangingUnions, changing_unions
from contextwise.counting.contract import DEFAULT
from contextwise.counting.cover import Cube
from contextwise.counting.extraction import find_pairs, may_cover, pair_space
from contextwise.counting.pair_counts import MARGIN, SMALLEST_SHARE, CountArray, PairShares
from contextwise.counting.regions import Literals, difference
from contextwise.errors import DomainError
from contextwise.formats import ModelLike
from contextwise.models.features import Features, PairIndex, no_features, rows_in
from contextwise.models.notation import Literal as ValueLiteral
from contextwise.models.notation import between, write_literals
from contextwise.models.pair_regions import PairRegion
from contextwise.support.arrays import IntArray
from contextwise.support.effort import QUIET, Deadline, Effort, Progress
from contextwise.support.formatting import Printed
from contextwise.support.words import exact_percent

if TYPE_CHECKING:
    from contextwise.comparison.tolerances import AtTolerance

Kind = Literal["guess", "true"]
"""The model that alone has the dependence."""


@dataclass(frozen=True, kw_only=True)
class ErrorRegion(PairRegion):
    """A region of contexts in which one model alone has a dependence."""

    only_in: Kind  # "guess" for false positives, "true" for false negatives
    share: Fraction  # of the pair's contexts

    def record(self) -> dict[str, Any]:
        """Return the region as a mapping for JSON."""
        return {
            "only_in": self.only_in,
            "when": self.when,
            "size": self.size,
            "share": float(self.share),
        }


@dataclass(frozen=True, repr=False)
class PairExplanation(Printed):
    """The differences of two structures in one pair."""

    pair: Pair
    contexts: Number  # the total weight of its contexts
    regions: tuple[ErrorRegion, ...]  # the largest, of both kinds
    fp: Number  # of an open pair, the certain ones
    fn: Number
    rest: Number = 0  # the errors outside the regions
    undecided: Number = 0  # errors without a region and, of an open pair, possible errors
    roles: Roles = TRUE_AND_GUESS  # what the models are called

    @property
    def errors(self) -> Number:
        """The errors; for an open pair, the certain ones."""
        return self.fp + self.fn

    def records(self) -> list[dict[str, Any]]:
        """Return one flat mapping per region."""
        first, second = self.pair
        return [{"first": first, "second": second, **r.record()} for r in self.regions]

    def __repr__(self) -> str:
        errors = exact_percent(self.errors, self.contexts) if self.contexts else "0 %"
        return f"PairExplanation({between(self.pair)}, {errors}, {len(self.regions)} regions)"

    def record(self) -> dict[str, Any]:
        """Return the explanation as a mapping for JSON."""
        values = {key: value for key, value in vars(self).items() if key != "roles"}
        return {**values, "regions": [region.record() for region in self.regions]}


@dataclass(frozen=True)
class FeatureErrors:
    """The errors behind a feature of the guess, or of one that it lacks (in "true")."""

    only_in: Kind
    literals: tuple[ValueLiteral, ...]
    takes_part: Number  # the errors in the contexts where it holds
    vanish: Number | None  # if it leaves the guess, or joins it; None if there was no time to count
    created: Number | None = 0  # by its removal

    @property
    def feature(self) -> str:
        """The feature as text."""
        return write_literals(self.literals)

    @property
    def scope(self) -> tuple[str, ...]:
        """The variables that the feature tests."""
        return tuple(literal.variable for literal in self.literals)

    def record(self) -> dict[str, Any]:
        """Return the figures as a mapping for JSON."""
        return {
            "only_in": self.only_in,
            "feature": self.feature,
            "takes_part": self.takes_part,
            "vanish": self.vanish,
            "created": self.created,
        }


@dataclass(frozen=True, repr=False)
class Explanation(Printed):
    """The differences of two structures, over all pairs.

    Attributes
    ----------
    comparison : the counts
    pairs : the pairs with the most errors, worst first; open pairs come last
        Each has ``pair``, ``contexts``, ``fp``, ``fn``, ``rest`` (the errors outside its regions),
        ``undecided`` (what the time limit left) and its largest ``regions``, with ``only_in``
        ("guess" for false positives, "true" for false negatives), ``when``, ``size`` and ``share``.
    features : the features that take part in the most errors
        Each has ``only_in``, ``feature``, ``takes_part`` (the errors where it holds), ``vanish``
        (those that vanish if the guess loses it, or gains it) and ``created`` (by its removal).
    partial : whether a time limit left something out
    tolerance : a pair depends where its strength exceeds this; None if strength does not matter

    Examples
    --------
    >>> from contextwise import explain
    >>> pair = explain("lung", "lung-learned").pairs[0]
    >>> pair.pair, pair.regions[0].only_in, pair.regions[0].when
    (('smoker', 'asbestos'), 'true', 'cancer=yes')
    """

    comparison: Comparison
    pairs: tuple[PairExplanation, ...]
    features: tuple[FeatureErrors, ...]
    partial: bool = False
    tolerance: float | None = None

    def records(self) -> list[dict[str, Any]]:
        """Return one flat mapping per region of each pair."""
        return [record for pair in self.pairs for record in pair.records()]

    def __repr__(self) -> str:
        partial = ", partial" if self.partial else ""
        return f"Explanation({len(self.pairs)} pairs, {len(self.features)} features{partial})"

    def record(self) -> dict[str, Any]:
        """Return pairs and features as a mapping for JSON."""
        return {
            "pairs": [pair.record() for pair in self.pairs],
            "features": [feature.record() for feature in self.features],
            "partial": self.partial,
            **({} if self.tolerance is None else {"tolerance": self.tolerance}),
        }


# -- the contexts of the errors of a pair --------------------------------------------------------

MOST_BOXES_VISITED = 5_000
"""The most boxes that a search for regions visits; each takes about a millisecond."""
IndexedLiterals = list[tuple[int, int]]
MODELS: dict[Kind, int] = {"guess": 1, "true": 0}
TOP = 10
OF_EACH_PAIR = 3
"""The number of regions of each pair in the explanation of several pairs."""
TIME_LIMIT = 60.0
"""Seconds, half of them for the comparison."""


def explain(
    true: ModelLike,
    guess: ModelLike,
    *,
    top: int = TOP,
    engine: str = DEFAULT,
    time_limit: float | None = TIME_LIMIT,
    show_progress: bool | Progress = False,
    at: float | None = None,
    **restriction: Unpack[Restriction],
) -> Explanation:
    """Explain where two structures differ; see `contextwise.explain`.

    The comparison takes at most half of the time limit. With a tolerance ``at``, a pair depends
    where its strength exceeds it; no features are listed then.

    >>> from contextwise import Structure
    >>> domain = {"A": 2, "B": 2, "C": ["no", "yes"], "D": ["young", "old", "very old"]}
    >>> true = Structure(domain, ["A=1 & B=1 & C=no"])
    >>> guess = Structure(domain, ["A=1 & B=1 & C=no", "A=1 & B=1 & D!=old"])
    >>> print(explain(true, guess, pairs=[("A", "B")]).pairs[0])
    Where the models differ about A–B:
    dependent      of contexts  when
    only in guess       33.3 %  C=yes and D≠old
    """
    if not (at is None or isinstance(at, int | float)):
        raise DomainError(f"explain takes one tolerance, such as at=0.3, got {at!r}")
    effort = Effort.of(time_limit, show_progress=show_progress)
    comparison = compare(
        true,
        guess,
        engine=engine,
        time_limit=None if time_limit is None else time_limit / 2,
        show_progress=show_progress,
        at=at,
        **restriction,
    )
    if comparison.at is not None:
        return _explain_at(comparison, next(iter(comparison.at.values())), top, effort.deadline)
    return explain_comparison(comparison, effort, top=top)


def explain_comparison(
    comparison: Comparison, effort: Effort = QUIET, *, top: int = TOP
) -> Explanation:
    """Explain the differences that a comparison has counted."""
    of_each = top if comparison.question.pair_count == 1 else min(top, OF_EACH_PAIR)
    most = comparison.unions.high[:, 2]
    still_open = sorted(comparison.unions.open_places.tolist(), key=lambda k: -most[k])
    chosen = [*comparison.worst_places(top).tolist(), *still_open][:top]
    worst = [(i, j) for i, j in comparison.pairs[chosen].tolist()]
    with effort.showing("explaining") as shown:
        regions, pairs = PairRegions(comparison, shown.deadline), []
        for done, pair in enumerate(worst, 1):
            pairs.append(regions.explain(pair, of_each))
            shown.report(done, len(worst) + top)
        features, in_time = worst_features(
            comparison, top, shown.part(len(worst), top, len(worst) + top)
        )
    undecided = bool(len(comparison.unions.open_places)) or any(pair.undecided for pair in pairs)
    partial = undecided or not in_time
    return Explanation(comparison, tuple(pairs), features, partial)


def explain_pair(
    comparison: Comparison, pair: Pair, *, top: int = TOP, time_limit: float | None = None
) -> PairExplanation:
    """Explain the differences in one pair that a comparison has counted."""
    regions = PairRegions(comparison, Deadline.after(time_limit))
    return regions.explain(comparison.domain.pair(pair), top)


def _explain_at(
    comparison: Comparison, at: AtTolerance, top: int, deadline: Deadline
) -> Explanation:
    """Explain the differences at a tolerance, by the readable search."""
    from contextwise.comparison.tolerance_search import largest_differences

    of_each = top if comparison.question.pair_count == 1 else min(top, OF_EACH_PAIR)
    explained = []
    for place in at.worst_places(top):
        tables = at.whole.weighted.tables(place)
        (names,) = at.whole.names(np.array([place]))
        bounds, whole = at.pair_bounds(*names), tables.size({})
        regions: list[ErrorRegion] = []
        found = largest_differences(
            tables, at.threshold, nodes=MOST_BOXES_VISITED, deadline=deadline
        )
        for context, model, size in found[:of_each]:
            kind: Kind = "guess" if model else "true"
            written = tuple(comparison.domain.literal(v, s) for v, s in sorted(context.items()))
            share = Fraction(size, whole)
            regions.append(ErrorRegion(names, written, size, only_in=kind, share=share))
        fp, fn = bounds.fp[0], bounds.fn[0]
        rest = fp + fn - sum(region.size for region in regions)
        unknown = bounds.distance[1] - fp - fn
        roles = comparison.roles
        explained.append(
            PairExplanation(names, whole, tuple(regions), fp, fn, rest, unknown, roles)
        )
    partial = bool(at.open_pairs) or deadline.passed
    return Explanation(comparison, tuple(explained), (), partial, at.tolerance)


class PairCubes:
    """The cubes of single pairs, in both models of a comparison."""

    def __init__(self, comparison: Comparison, deadline: Deadline) -> None:
        self.comparison, self.deadline = comparison, deadline
        self.question = comparison.question
        self.features = [structure.features for structure in self.question.structures]
        self._holders = cache(self._find_holders)

    def cubes(self, model: int, pair: PairIndex) -> list[Cube]:
        """Return the cubes of a pair in the true model (0) or in the guess (1)."""
        first, second = (self._holders(model, variable) for variable in pair)
        both = np.intersect1d(first, second, assume_unique=True).tolist()
        return [self.cube(self.features[model].literals_of(f), pair) for f in both]

    def cube(self, literals: IndexedLiterals, pair: PairIndex) -> Cube:
        """Return a feature as the cube of a pair."""
        if self.question.space.canonical:
            return literals
        return [literal for literal in literals if literal[0] not in pair]

    def _find_holders(self, model: int, variable: int) -> IntArray:
        """Return the features of a model that cover pairs of a variable, rising."""
        owners, variables = self.features[model].covered
        return owners[np.flatnonzero(variables == variable)]


class PairRegions(PairCubes):
    """Finds the regions where the two models of a comparison differ, pair by pair."""

    def explain(self, pair: PairIndex, top: int) -> PairExplanation:
        """Return the largest regions of one pair, and the number of errors outside them."""
        domain = self.comparison.domain
        names = domain.names[pair[0]], domain.names[pair[1]]
        bounds = self.comparison.pair_bounds(*names)
        whole = self.question.sizes(np.array([pair]))[0]
        regions, complete = [], True
        sums: dict[Kind, Number] = {"guess": 0, "true": 0}
        most: dict[Kind, Number] = {"guess": bounds.fp[1], "true": bounds.fn[1]}
        for kind in most:
            if not most[kind] or not top:
                continue
            in_time = not self.deadline.passed
            # Twice as many as wanted: merging can make one region of several.
            sized, ended = self._only_in(MODELS[kind], pair, 2 * top)
            complete &= ended or in_time
            for literals, size in sized:
                sums[kind] += size
                written = tuple(domain.literal(v, allowed) for v, allowed in literals)
                share = Fraction(size) / whole
                regions.append(ErrorRegion(names, written, size, only_in=kind, share=share))
        regions.sort(key=lambda region: -region.size)
        fp, fn = max(bounds.fp[0], sums["guess"]), max(bounds.fn[0], sums["true"])
        rest = fp + fn - sum(region.size for region in regions[:top])
        in_time = complete and not self.deadline.passed
        unknown = max(bounds.distance[1] - fp - fn, 0)
        return PairExplanation(
            pair=names,
            contexts=whole,
            regions=tuple(regions[:top]),
            fp=fp,
            fn=fn,
            rest=rest if in_time else 0,
            undecided=unknown + (0 if in_time else rest),
            roles=self.comparison.roles,
        )

    def _only_in(
        self, model: int, pair: PairIndex, most: int
    ) -> tuple[list[tuple[Literals, Number]], bool]:
        """Return the largest regions of one model alone, and whether the search was complete."""
        question = self.question
        inside, outside = self.cubes(model, pair), self.cubes(1 - model, pair)
        cubes = [*inside, *outside]
        space = pair_space(question.domain.cardinalities, pair, cubes, question.space)
        rows = question.rows
        regions = difference(
            space,
            inside,
            outside,
            boxes=MOST_BOXES_VISITED,
            deadline=self.deadline,
            most=most,
            size=None if rows is None else (lambda literals: int(rows_in(rows, literals).sum())),
        )
        weighted = rows is None and question.space.weights is not None
        whole = space.cover(()).total if weighted else 1
        sized: list[tuple[Literals, Number]] = [
            (region.literals, Fraction(region.size, whole) if weighted else region.size)
            for region in regions
        ]
        return sized, regions.complete


# -- the features behind the errors, found best-first ---------------------------------------------


class _Candidate(NamedTuple):
    """A feature and the errors that it takes part in, in the order of a heap."""

    takes_part: Number
    minus_place: int
    only_in: Kind
    feature: int


def worst_features(
    comparison: Comparison, top: int, effort: Effort
) -> tuple[tuple[FeatureErrors, ...], bool]:
    """Return the features with the most errors, and whether the time was enough to be sure."""
    changes = _FeatureChanges(comparison, effort.deadline)
    best: list[_Candidate] = []
    in_time = True
    if any(structure.given_by_claims for structure in comparison.question.structures):
        return (), True  # claims have regions, not features
    try:
        _search(comparison, changes, top, best)
    except effort.deadline.out_of_time:
        in_time = False
    features, domain = [], comparison.domain
    for done, candidate in enumerate(sorted(best, reverse=True), 1):
        kind = candidate.only_in
        structure = comparison.question.structures[MODELS[kind]]
        literals = structure.features.literals_of(candidate.feature)
        vanish: Number | None = candidate.takes_part
        created: Number | None = 0
        if kind == "guess":
            try:
                vanish, created = changes.removed(candidate.feature, literals)
            except effort.deadline.out_of_time:
                vanish = created = None
                in_time = False
        written = tuple(domain.literal(variable, allowed) for variable, allowed in literals)
        features.append(FeatureErrors(kind, written, candidate.takes_part, vanish, created))
        effort.report(done, top)
    return tuple(features), in_time


def _search(
    comparison: Comparison, changes: _FeatureChanges, top: int, best: list[_Candidate]
) -> None:
    """Put the worst features on the heap ``best``, by best-first search on a bound."""
    if not top:
        return
    scale = comparison.unit_sizes.max(initial=0) or 1
    exact_scale = int(scale) * comparison.unions.unit
    (a, b, _), u = comparison.unions.low.T, comparison.unions.high[:, 2]
    # The most errors that each pair can have, in units; exact unless it is open.
    most: dict[Kind, CountArray] = {"true": u - b, "guess": u - a}
    rows: dict[Kind, dict[int, bytes]] = {}
    for kind in most:
        chosen, features = _covering(comparison, kind)
        rows[kind] = dict(zip(chosen.tolist(), features.rows, strict=True))
    in_both = {*rows["true"].values()} & {*rows["guess"].values()}
    bounds: list[tuple[float, Kind, int]] = []
    for kind, errors in most.items():
        of_features = _bounds(comparison, kind, errors, int(scale))
        bounds += [
            (float(of_features[feature]), kind, feature)
            for feature in np.flatnonzero(of_features > 0).tolist()
            if rows[kind][feature] not in in_both
        ]
    bounds.sort(key=lambda each: -each[0])
    for place, (bound, kind, feature) in enumerate(bounds):
        if len(best) == top and bound <= ratio(best[0].takes_part, exact_scale):
            break
        changes.deadline.check()
        takes_part = changes.takes_part(kind, feature, most[kind])
        if takes_part:
            # Of equal candidates the later one is smaller, so it leaves the heap first.
            heapq.heappush(best, _Candidate(takes_part, -place, kind, feature))
        if len(best) > top:
            heapq.heappop(best)


def _covering(comparison: Comparison, kind: Kind) -> tuple[IntArray, Features]:
    """Return the features of a model that may cover the compared pairs: places and features."""
    features = comparison.question.structures[MODELS[kind]].features
    chosen = may_cover(features, comparison.pairs)
    return np.flatnonzero(chosen), features if chosen.all() else features.take(chosen)


def _bounds(
    comparison: Comparison, kind: Kind, errors: CountArray, scale: int
) -> npt.NDArray[np.float64]:
    """Bound the errors that each feature of a model can take part in, as a share of ``scale``."""
    question = comparison.question
    total = np.zeros(len(question.structures[MODELS[kind]].features))
    if not errors.any():
        return total
    chosen, features = _covering(comparison, kind)
    shares = PairShares(features, question.space)
    most, size = np.zeros(len(shares.pairs)), np.zeros(len(shares.pairs))
    at = find_pairs(comparison.pairs, shares.pairs, len(features.cardinalities))
    places = at[at >= 0]
    known = errors[places] != 0
    for numbers, shown in ((errors, most), (comparison.unit_sizes, size)):
        divided = [ratio(count, scale) for count in numbers[places[known]].tolist()]
        shown[np.flatnonzero(at >= 0)[known]] = divided
    entries = np.diff(shares.starts)
    of_cubes = np.repeat(size, entries)
    if question.rows is None:
        of_cubes = of_cubes * shares.shares
    of_pairs = np.repeat(most, entries)
    bounds_of_pairs = np.where(of_pairs > 0, np.minimum(of_pairs, of_cubes + SMALLEST_SHARE), 0.0)
    np.add.at(total, chosen[shares.owners], bounds_of_pairs)
    # Rounding must not push a bound below the true number.
    return total * (1 + MARGIN)


class _FeatureChanges(PairCubes):
    """Counts the errors of single features, exactly.

    A feature takes part in as many errors as it adds contexts to the unions of the other model.
    """

    def __init__(self, comparison: Comparison, deadline: Deadline) -> None:
        super().__init__(comparison, deadline)
        self._unions = cache(self._changing_unions)

    def _counted(self, literals: IndexedLiterals) -> dict[PairIndex, int]:
        """Return the compared pairs of a feature, with their places in the comparison."""
        places = {pair: self.comparison.place_of(pair) for pair in _pairs(literals)}
        return {pair: place for pair, place in places.items() if place is not None}

    def takes_part(self, kind: Kind, feature: int, errors: CountArray) -> Number:
        """Count the errors of a feature that one model has and the other lacks."""
        model = MODELS[kind]
        literals = self.features[model].literals_of(feature)
        pairs = [pair for pair, place in self._counted(literals).items() if errors[place]]
        if self.question.rows is not None:
            cubes = ((self.cube(literals, p), self.cubes(1 - model, p)) for p in pairs)
            return sum(self._rows_beyond(cube, others) for cube, others in cubes)
        unions = self._unions(None, 1 - model)
        growth = unions.growth(pairs, [unions.know(literals)], [], self.deadline)
        return self._sum(pairs, [added for added, _ in growth])

    def removed(self, feature: int, literals: IndexedLiterals) -> tuple[Number, Number]:
        """Count the errors that vanish and that are created without a feature of the guess."""
        pairs = list(self._counted(literals))
        if self.question.rows is not None:
            gone = lost = 0
            for pair in pairs:
                self.deadline.check()
                cube, others = self.cube(literals, pair), list(self.cubes(1, pair))
                others.remove(cube)
                gone += self._rows_beyond(cube, [*self.cubes(0, pair), *others])
                lost += self._rows_beyond(cube, others)
            return gone, lost - gone
        growth = self._unions(0, 1).growth(pairs, [], [feature], self.deadline)
        vanish = -self._sum(pairs, [both for _, both in growth])
        return vanish, -self._sum(pairs, [guess for guess, _ in growth]) - vanish

    def _changing_unions(self, first: int | None, second: int) -> ChangingUnions:
        empty = no_features(self.features[0].cardinalities)
        return changing_unions(
            empty if first is None else self.features[first],
            self.features[second],
            self.question.space,
        )

    def _sum(self, pairs: Sequence[PairIndex], counts: Sequence[int]) -> Number:
        space = self.question.space
        if space.weights is None:
            return sum(counts)
        indices = np.array(pairs, np.int64).reshape(-1, 2)
        wholes = space.of_pairs(self.question.domain.cardinalities, indices)
        return sum(map(Fraction, counts, wholes), start=Fraction(0))

    def _rows_beyond(self, cube: Cube, others: Iterable[Cube]) -> int:
        """Count the rows that agree with a cube and with none of the others."""
        rows = self.question.rows
        assert rows is not None
        inside = rows_in(rows, cube)
        for other in others:
            inside &= ~rows_in(rows, other)
        return int(inside.sum())


def _pairs(literals: IndexedLiterals) -> Iterator[PairIndex]:
    return combinations([variable for variable, _ in literals], 2)
