"""What an explanation says: regions of contexts, pairs, features.

Literals stay literals here. An explanation is put into words in `contextwise.report.explanations`
alone, when it is shown.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any, Literal, Unpack

import numpy as np
import numpy.typing as npt

from contextwise.comparison.compare import Comparison, compare
from contextwise.comparison.confusion import Number, ratio
from contextwise.comparison.pairs import Pair, pair_positions
from contextwise.comparison.question import Question, Restriction
from contextwise.counting import DEFAULT, deterministic_engine
from contextwise.counting.cover import ClassSpace, Cube
from contextwise.counting.extraction import pair_space
from contextwise.counting.pair_counts import MARGIN, TINY, PairShares
from contextwise.counting.regions import Literals, Regions, difference
from contextwise.formats import ModelLike
from contextwise.models.features import Features, IntArray, as_int, members
from contextwise.models.notation import Literal as ValueLiteral
from contextwise.models.notation import write_literals
from contextwise.support.deadline import NEVER, Deadline, OutOfTime
from contextwise.support.progress import Progress, progress_of
from contextwise.support.showing import Printed

__all__ = [
    "TIME_LIMIT",
    "ErrorRegion",
    "Explanation",
    "FeatureErrors",
    "PairExplanation",
    "explain",
    "explain_comparison",
    "explain_pair",
]


Kind = Literal["guess", "true"]
"""Which of the two models alone has the dependence."""


@dataclass(frozen=True)
class ErrorRegion:
    """A region of contexts in which one model alone has a dependence.

    Attributes
    ----------
    only_in : ``"guess"`` (false positives) or ``"true"`` (false negatives)
    literals : where it is; none for every context
    size : what its contexts count
    share : its exact share of the pair's contexts
    """

    only_in: Kind
    literals: tuple[ValueLiteral, ...]
    size: Number
    share: Fraction

    @property
    def when(self) -> str:
        """Its literals as text, ``"C=yes & D!=old"``; empty for every context."""
        return write_literals(self.literals)

    def record(self) -> dict[str, Any]:
        """The region for other programs: its literals as text, its share as a number."""
        return {
            "only_in": self.only_in,
            "when": self.when,
            "size": self.size,
            "share": float(self.share),
        }


@dataclass(frozen=True)
class PairExplanation(Printed):
    """Where the two models differ about one pair.

    Attributes
    ----------
    pair : the names
    contexts : what the contexts of the pair count
    regions : the largest regions, of both kinds
    fp, fn : the errors; of an open pair, those that are certain
    rest : the errors in regions that are not among ``regions``
    undecided : what was not decided within the time limit: errors whose region was not looked for
        and, of an open pair, contexts that may be errors or not
    """

    pair: Pair
    contexts: Number
    regions: tuple[ErrorRegion, ...]
    fp: Number
    fn: Number
    rest: Number = 0
    undecided: Number = 0

    @property
    def errors(self) -> Number:
        """The errors, or those that are certain."""
        return self.fp + self.fn

    @property
    def partial(self) -> bool:
        """Whether a time limit left something out."""
        return self.undecided > 0

    def record(self) -> dict[str, Any]:
        """The explanation for other programs."""
        return {
            "pair": self.pair,
            "contexts": self.contexts,
            "regions": [region.record() for region in self.regions],
            "fp": self.fp,
            "fn": self.fn,
            "rest": self.rest,
            "undecided": self.undecided,
        }


@dataclass(frozen=True)
class FeatureErrors:
    """The errors behind one feature.

    Attributes
    ----------
    only_in : ``"guess"`` for a feature that the guess has, ``"true"`` for one that it lacks
    literals : the feature
    takes_part : the errors in the contexts where it holds
    vanish : those that are gone if it alone is removed from the guess, or added to it; None if
        there was no time to count them
    created : the errors that the removal would bring; None like ``vanish``
    """

    only_in: Kind
    literals: tuple[ValueLiteral, ...]
    takes_part: Number
    vanish: Number | None
    created: Number | None = 0

    @property
    def feature(self) -> str:
        """The feature as text."""
        return write_literals(self.literals)

    @property
    def scope(self) -> tuple[str, ...]:
        """The variables that the feature tests."""
        return tuple(literal.variable for literal in self.literals)

    def record(self) -> dict[str, Any]:
        """The figures for other programs."""
        return {
            "only_in": self.only_in,
            "feature": self.feature,
            "takes_part": self.takes_part,
            "vanish": self.vanish,
            "created": self.created,
        }


@dataclass(frozen=True)
class Explanation(Printed):
    """Where two structures differ, over all pairs.

    Attributes
    ----------
    comparison : the counts
    pairs : the pairs with the most errors, worst first, each with its largest regions; pairs that
        are open come last
    features : the features that take part in the most errors
    partial : whether a time limit left something out

    Examples
    --------
    >>> from contextwise import explain
    >>> found = explain("lung", "lung-learned")
    >>> found.pairs[0].pair, found.pairs[0].regions[0].only_in, found.pairs[0].regions[0].when
    (('smoker', 'asbestos'), 'true', 'cancer=yes')
    """

    comparison: Comparison
    pairs: tuple[PairExplanation, ...]
    features: tuple[FeatureErrors, ...]
    partial: bool = False

    def record(self) -> dict[str, Any]:
        """Pairs and features for other programs."""
        return {
            "pairs": [pair.record() for pair in self.pairs],
            "features": [feature.record() for feature in self.features],
            "partial": self.partial,
        }


# -- The cubes of single pairs, and how much sets of contexts count: what an explanation asks.


BOXES = 5_000
"""How many boxes a search for regions looks at, at most: each costs about a millisecond."""


class PairCubes:
    """The cubes of both models for single pairs of a question."""

    def __init__(self, question: Question, deadline: Deadline = NEVER) -> None:
        self.question = question
        self.deadline = deadline
        self.cardinalities = list(question.domain.cardinalities)
        self.features = [structure.features for structure in question.structures]
        # Ganak may err; what is said about single pairs and features never rests on it.
        self._count_union = deterministic_engine().count_union
        self.cubes = cache(self._cubes)
        self._holders = cache(self._find_holders)

    def whole(self, pair: tuple[int, int]) -> Number:
        """What all contexts of a pair count together."""
        return self.question.sizes(np.array([pair]))[0]

    # -- cubes -----------------------------------------------------------------------------------

    def _find_holders(self, model: int, variable: int) -> IntArray:
        """The features of a model that test a variable, rising."""
        features = self.features[model]
        literals = np.flatnonzero(features.variables == variable)
        return np.searchsorted(features.starts, literals, side="right") - 1

    def _cubes(self, model: int, pair: tuple[int, int]) -> list[Cube]:
        """The cubes of a pair in one model (0 is the true one)."""
        first, second = (self._holders(model, variable) for variable in pair)
        both = np.intersect1d(first, second, assume_unique=True).tolist()
        return [self.cube(literals_at(self.features[model], f), pair) for f in both]

    def cube(self, literals: Sequence[tuple[int, int]], pair: tuple[int, int]) -> Cube:
        """A feature as the cube of a pair."""
        if self.question.canonical:
            return list(literals)
        return [literal for literal in literals if literal[0] not in pair]

    def space(self, pair: tuple[int, int], cubes: Iterable[Cube]) -> ClassSpace:
        """The space in which these cubes of a pair can be set against each other."""
        return pair_space(
            self.cardinalities, pair, cubes, self.question.canonical, self.question.value_weights
        )

    # -- how much they count ---------------------------------------------------------------------

    def beyond(self, pair: tuple[int, int], cube: Cube, others: Sequence[Cube]) -> Number:
        """What the contexts of a cube count that none of the other cubes allows."""
        if self.question.rows is not None:
            inside = self._rows_in(cube)
            for other in others:
                inside &= ~self._rows_in(other)
            return int(inside.sum())
        met = [both for other in others if (both := _meet(cube, other)) is not None]
        space = self.space(pair, [cube, *met])
        cover = space.cover([cube])
        size = cover.size(cover.cubes[0]) * cover.scale
        if met:
            size -= self._count_union(space.cover(met), deadline=self.deadline)
        return self._scaled(size, cover.total)

    def _scaled(self, size: int, whole: int) -> Number:
        return size if self.question.value_weights is None else Fraction(size, whole)

    def _rows_in(self, cube: Cube | Literals) -> npt.NDArray[np.bool_]:
        """Which observed rows agree with a cube."""
        rows = self.question.rows
        assert rows is not None
        agrees = np.ones(len(rows), dtype=bool)
        for variable, allowed in cube:
            agrees &= np.isin(rows[:, variable], members(allowed))
        return agrees

    # -- where they differ -----------------------------------------------------------------------

    def only_in(
        self, model: int, pair: tuple[int, int], *, most: int
    ) -> tuple[list[tuple[Literals, Number]], bool]:
        """The largest regions in which one model alone has the dependence."""
        inside, outside = self.cubes(model, pair), self.cubes(1 - model, pair)
        space = self.space(pair, [*inside, *outside])
        observed = self.question.rows is not None
        found: Regions = difference(
            space,
            inside,
            outside,
            boxes=BOXES,
            deadline=self.deadline,
            most=most,
            size=(lambda literals: int(self._rows_in(literals).sum())) if observed else None,
        )
        whole = space.cover(()).total
        sized = [(r.literals, r.size if observed else self._scaled(r.size, whole)) for r in found]
        return sized, found.complete


def literals_at(features: Features, feature: int) -> list[tuple[int, int]]:
    """One feature as a list of (variable, value set as an int)."""
    first, last = features.starts[feature : feature + 2].tolist()
    return [
        (variable, as_int(words))
        for variable, words in zip(
            features.variables[first:last].tolist(), features.values[first:last], strict=True
        )
    ]


def _meet(first: Cube, second: Cube) -> Cube | None:
    """The cube of the contexts that both allow, if there is one."""
    both = dict(first)
    for variable, allowed in second:
        both[variable] = both.get(variable, allowed) & allowed
        if not both[variable]:
            return None
    return sorted(both.items())


# -- The features behind the errors of a comparison, found best-first.


MODELS: dict[Kind, int] = {"true": 0, "guess": 1}
IndexedLiterals = list[tuple[int, int]]


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
    """The features with the most errors, and whether the time was enough to be sure."""
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
        cubes.deadline.check()
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


def _removed(
    comparison: Comparison, cubes: PairCubes, literals: IndexedLiterals
) -> tuple[Number, Number]:
    """How many errors vanish, and how many are created, without a feature of the guess."""
    vanish: Number = 0
    created: Number = 0
    asked = set(map(tuple, comparison.pairs.tolist()))
    for pair in _pairs(literals):
        if pair not in asked:
            continue
        cubes.deadline.check()
        cube = cubes.cube(literals, pair)
        others = list(cubes.cubes(1, pair))
        others.remove(cube)
        left = cubes.beyond(pair, cube, [*cubes.cubes(0, pair), *others])
        vanish += left
        created += cubes.beyond(pair, cube, others) - left
    return vanish, created


def _pairs(literals: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    return combinations([variable for variable, _ in literals], 2)


# -- Where two structures differ: the contexts of each error, and the features behind them.


TOP = 10
OF_EACH_PAIR = 3
"""How many regions of a pair the explanation of a whole comparison gives."""
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
    **restriction: Unpack[Restriction],
) -> Explanation:
    """Say where two structures differ.

    Parameters
    ----------
    true, guess : models, paths of model files, or names of bundled examples
    top : int
        How many pairs, regions and features are given.
    engine : name of the engine that compares
    time_limit : seconds, or None for no limit
        What is not decided by then is left out, and the result says so. At most half of it goes
        into the comparison.
    show_progress : bool or function
        A line on standard error, or a function of (done, in all): of the comparison first, then of
        the pairs and features that are explained.
    **restriction
        What is compared, with the keywords of `compare`: ``pairs=[("A", "B")]`` explains one pair.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> from contextwise import Structure
    >>> domain = {"A": 2, "B": 2, "C": ["no", "yes"], "D": ["young", "old", "very old"]}
    >>> true = Structure(domain, ["A=1 & B=1 & C=no"])
    >>> guess = Structure(domain, ["A=1 & B=1 & C=no", "A=1 & B=1 & D!=old"])
    >>> print(explain(true, guess, pairs=[("A", "B")]).pairs[0])
    Where the models differ about A–B:
    dependent      of contexts  when
    only in guess       33.3 %  C=yes and D≠old
    """
    deadline = Deadline.after(time_limit)
    found = compare(
        true,
        guess,
        engine=engine,
        time_limit=None if time_limit is None else time_limit / 2,
        show_progress=show_progress,
        **restriction,
    )
    return explain_comparison(found, top=top, deadline=deadline, show_progress=show_progress)


def explain_pair(
    comparison: Comparison, pair: Pair, *, top: int = TOP, time_limit: float | None = None
) -> PairExplanation:
    """`explain` one pair of a comparison that is there already."""
    cubes = PairCubes(comparison.question, Deadline.after(time_limit))
    return _explained(comparison, cubes, pair_positions(comparison.domain, pair), top)


def explain_comparison(
    comparison: Comparison,
    *,
    top: int = TOP,
    deadline: Deadline = NEVER,
    show_progress: bool | Progress = False,
) -> Explanation:
    """`explain` a comparison that is there already."""
    cubes = PairCubes(comparison.question, deadline)
    of_each = top if comparison.pair_count == 1 else min(top, OF_EACH_PAIR)
    worst = _worst_pairs(comparison, top)
    steps = len(worst) + top
    pairs = []
    with progress_of(show_progress, "explaining") as progress:
        for done, pair in enumerate(worst, 1):
            pairs.append(_explained(comparison, cubes, pair, of_each))
            if progress:
                progress(done, steps)

        def tell(features: int) -> None:
            if progress:
                progress(len(worst) + features, steps)

        features, in_time = worst_features(comparison, cubes, top, tell)
    undecided = bool(len(comparison.unions.open)) or any(pair.undecided for pair in pairs)
    return Explanation(comparison, tuple(pairs), features, partial=undecided or not in_time)


def _worst_pairs(comparison: Comparison, top: int) -> list[tuple[int, int]]:
    """The pairs with the most errors, worst first; those that are open come after those known."""
    known = comparison.known_counts
    positions: list[tuple[int, int]] = list(map(tuple, comparison.pairs.tolist()))
    finished = [k for k, (_, fn, _, _) in enumerate(known) if fn is not None]
    finished.sort(key=lambda k: -(known[k][1] + known[k][2]))
    worst = [k for k in finished[:top] if known[k][1] + known[k][2]]
    if len(worst) < top:
        _, u = comparison.unions.lower[:, 2], comparison.unions.upper[:, 2]
        worst += sorted(comparison.unions.open.tolist(), key=lambda k: -u[k])[: top - len(worst)]
    return [positions[k] for k in worst]


def _explained(
    comparison: Comparison, cubes: PairCubes, pair: tuple[int, int], top: int
) -> PairExplanation:
    """The largest regions of one pair, and how many errors are outside of them."""
    names = comparison.domain.names[pair[0]], comparison.domain.names[pair[1]]
    bounds, whole = comparison.pair_bounds(*names), cubes.whole(pair)
    regions, complete = [], True
    kinds: tuple[tuple[Kind, int, Number], ...]
    kinds = ("guess", 1, bounds.fp[1]), ("true", 0, bounds.fn[1])
    sums: dict[Kind, Number] = {"guess": 0, "true": 0}
    for kind, model, most in kinds:
        if not most or not top:
            continue
        in_time = not cubes.deadline.passed
        # Twice as many as are shown: some of them turn out to be one.
        found, ended = cubes.only_in(model, pair, most=2 * top)
        complete &= ended or in_time
        for literals, size in found:
            sums[kind] += size
            written = tuple(comparison.domain.literal(v, allowed) for v, allowed in literals)
            regions.append(ErrorRegion(kind, written, size, Fraction(size) / whole))
    regions.sort(key=lambda region: -region.size)
    fp, fn = max(bounds.fp[0], sums["guess"]), max(bounds.fn[0], sums["true"])
    left = fp + fn - sum(region.size for region in regions[:top])
    in_time = complete and not cubes.deadline.passed
    unknown = max(bounds.distance[1] - fp - fn, 0)
    return PairExplanation(
        pair=names,
        contexts=whole,
        regions=tuple(regions[:top]),
        fp=fp,
        fn=fn,
        rest=left if in_time else 0,
        undecided=unknown + (0 if in_time else left),
    )
