"""Where two structures differ: the contexts of each error, and the features behind them.

For one pair of variables, the contexts in which only the guess, or only the true model, has the
dependence are given as **regions**: disjoint, few and general rather than many and narrow, largest
first, each with its exact share of the pair's contexts (`contextwise.counting.regions` states the
method). For the whole comparison, pairs are ranked by their errors, and features by the errors they
take part in.

A feature of the guess **takes part** in a false positive when it holds in that context (the pair's
literals apart); the error **vanishes** when the feature alone is removed, if no other feature of
the guess makes the pair depend there. Removing it can also **create** false negatives, where it was
the only feature that was right. A feature of the true model that the guess lacks takes part in the
false negatives of the contexts where it holds, and all of them vanish when it is added.

The features with the most errors are found without counting for all: a feature can take part in no
more errors than its cube has contexts, nor in more than its pair has errors, and features are
counted exactly in the order of that bound until no other one can come before them.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Literal, overload

from contextwise.comparison import Comparison, ModelOrPath, compare
from contextwise.contexts import FULLY, Contexts, Pair, is_canonical, pair_positions
from contextwise.counting import get_engine
from contextwise.counting.contract import CountUnion
from contextwise.counting.cover import Cube
from contextwise.counting.extraction import CoverSource
from contextwise.counting.limits import OutOfTime
from contextwise.counting.regions import Region, Regions, difference
from contextwise.domain import Domain
from contextwise.notation import parse_literals, quoted, write_literal
from contextwise.structure import Structure
from contextwise.text import number, percent

Kind = Literal["guess", "true"]
"""Which of the two models alone has the dependence."""

TOP = 10


@dataclass(frozen=True)
class ErrorRegion:
    """A region of contexts in which one model alone has a dependence.

    Attributes
    ----------
    only_in : ``"guess"`` (false positives) or ``"true"`` (false negatives)
    when : its literals as text, ``"C=yes & D!=old"``; empty for every context
    size : the number of its contexts
    share : its exact share of the pair's contexts
    """

    only_in: Kind
    when: str
    size: int
    share: Fraction


@dataclass(frozen=True)
class PairExplanation:
    """Where the two models differ about one pair.

    Attributes
    ----------
    pair : the names
    contexts : the number of contexts of the pair
    regions : the largest regions, of both kinds
    fp, fn : the errors that were found, in all regions
    rest : the errors in regions that are not among ``regions``
    undecided : contexts that were not looked at within the time limit; 0 if all were
    """

    pair: Pair
    contexts: int
    regions: tuple[ErrorRegion, ...]
    fp: int
    fn: int
    rest: int = 0
    undecided: int = 0

    @property
    def errors(self) -> int:
        """The errors that were found."""
        return self.fp + self.fn

    def lines(self) -> Iterator[str]:
        """The explanation as sentences, a region each."""
        between = "–".join(map(quoted, self.pair))
        for region in self.regions:
            where = f"when {in_words(region.when)}" if region.when else "in every context"
            share = percent(region.size, self.contexts)
            yield f"{between} only in {region.only_in}: {where}; {share} of contexts"
        if self.rest:
            yield f"{between}: {percent(self.rest, self.contexts)} of contexts in smaller regions"
        if self.undecided:
            share = percent(self.undecided, self.contexts)
            yield f"{between}: {share} of contexts not decided in time"
        if not self.errors and not self.undecided:
            yield f"{between}: no difference"

    def __str__(self) -> str:
        return "\n".join(self.lines())


@dataclass(frozen=True)
class FeatureErrors:
    """The errors behind one feature.

    Attributes
    ----------
    only_in : ``"guess"`` for a feature that the guess has, ``"true"`` for one that it lacks
    feature : the feature as text
    takes_part : the errors in the contexts where it holds
    vanish : those that are gone if it alone is removed from the guess, or added to it
    created : the errors that the removal would bring
    """

    only_in: Kind
    feature: str
    takes_part: int
    vanish: int
    created: int = 0


@dataclass(frozen=True)
class Explanation:
    """Where two structures differ, over all pairs.

    Attributes
    ----------
    comparison : the counts
    pairs : the pairs with the most errors, worst first, each with its largest regions
    features : the features that take part in the most errors
    partial : whether a time limit left features or regions out
    """

    comparison: Comparison
    pairs: tuple[PairExplanation, ...]
    features: tuple[FeatureErrors, ...]
    partial: bool = field(default=False)

    def lines(self) -> Iterator[str]:
        """The explanation as sentences."""
        yield self.comparison.summary()
        for pair in self.pairs:
            yield from pair.lines()
        for feature in self.features:
            yield _feature_line(feature)
        if self.partial:
            yield "A time limit left out part of this explanation."

    def __str__(self) -> str:
        return "\n".join(self.lines())


@overload
def explain(
    true: ModelOrPath,
    guess: ModelOrPath,
    *,
    pair: Pair,
    top: int = TOP,
    contexts: Contexts = FULLY,
    time_limit: float | None = None,
) -> PairExplanation: ...


@overload
def explain(
    true: ModelOrPath,
    guess: ModelOrPath,
    *,
    pair: None = None,
    top: int = TOP,
    contexts: Contexts = FULLY,
    time_limit: float | None = None,
) -> Explanation: ...


def explain(
    true: ModelOrPath,
    guess: ModelOrPath,
    *,
    pair: Pair | None = None,
    top: int = TOP,
    contexts: Contexts = FULLY,
    time_limit: float | None = None,
) -> PairExplanation | Explanation:
    """Say where two structures differ.

    Parameters
    ----------
    pair : two names, optional
        Explain this pair; without it, the whole comparison.
    top : int
        How many regions of a pair, and how many pairs and features, are given.
    time_limit : seconds, optional
        What is not decided by then is left out, and the result says so.

    Examples
    --------
    >>> domain = {"A": 2, "B": 2, "C": ["no", "yes"], "D": ["young", "old", "very old"]}
    >>> true = Structure(domain, ["A=1 & B=1 & C=no"])
    >>> guess = Structure(domain, ["A=1 & B=1 & C=no", "A=1 & B=1 & D!=old"])
    >>> print(explain(true, guess, pair=("A", "B")))
    A–B only in guess: when C=yes and D≠old; 33.3 % of contexts
    """
    deadline = None if time_limit is None else time.monotonic() + time_limit
    found = compare(
        true,
        guess,
        pairs=None if pair is None else [pair],
        contexts=contexts,
    )
    explainer = _Explainer(found, deadline)
    if pair is not None:
        return explainer.pair(pair_positions(found.domain, pair), top)
    return explainer.whole(top)


def explain_pair(comparison: Comparison, pair: Pair, *, top: int = TOP) -> PairExplanation:
    """`explain` one pair of a comparison that is there already."""
    return _Explainer(comparison, None).pair(pair_positions(comparison.domain, pair), top)


class _Explainer:
    """What is needed again and again to explain one comparison."""

    def __init__(self, comparison: Comparison, deadline: float | None) -> None:
        self.comparison = comparison
        self.deadline = deadline
        a, b = comparison.true, comparison.guess
        self.canonical = is_canonical(comparison.contexts)
        self.source = CoverSource(a.features, b.features, canonical=self.canonical)

    @cached_property
    def count_union(self) -> CountUnion:
        return get_engine("native" if _can_use("native") else "branch").count_union

    @property
    def domain(self) -> Domain:
        return self.comparison.domain

    def time_left(self) -> float | None:
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    # -- pairs -----------------------------------------------------------------------------------

    def pair(self, pair: tuple[int, int], top: int) -> PairExplanation:
        in_true, in_guess = (self.source.cubes(model, pair) for model in (0, 1))
        space = self.source.space(pair, [*in_true, *in_guess])
        fp = difference(space, in_guess, in_true, time_limit=self.time_left())
        fn = difference(space, in_true, in_guess, time_limit=self.time_left())
        contexts = space.cover(()).total
        regions = [*self.named("guess", fp, contexts), *self.named("true", fn, contexts)]
        regions.sort(key=lambda region: -region.size)
        names = self.domain.names
        return PairExplanation(
            pair=(names[pair[0]], names[pair[1]]),
            contexts=contexts,
            regions=tuple(regions[:top]),
            fp=fp.size,
            fn=fn.size,
            rest=sum(region.size for region in regions[top:]),
            undecided=fp.open + fn.open,
        )

    def named(self, only_in: Kind, found: Regions, contexts: int) -> list[ErrorRegion]:
        return [
            ErrorRegion(only_in, self.text(region), region.size, Fraction(region.size, contexts))
            for region in found
        ]

    def text(self, region: Region) -> str:
        return " & ".join(write_literal(self.domain.literal(v, s)) for v, s in region.literals)

    # -- the whole comparison --------------------------------------------------------------------

    def whole(self, top: int) -> Explanation:
        worst = self.comparison.worst_pairs(top)
        pairs = tuple(
            self.pair(pair_positions(self.domain, names), min(top, 3)) for names, _ in worst
        )
        features: list[FeatureErrors] = []
        partial = any(pair.undecided for pair in pairs)
        try:
            features = self.worst_features(top)
        except OutOfTime:
            partial = True
        return Explanation(self.comparison, pairs, tuple(features), partial)

    def worst_features(self, top: int) -> list[FeatureErrors]:
        """The features with the most errors, exactly, by best-first search on a bound."""
        bounds = [*self.bounds("guess"), *self.bounds("true")]
        heapq.heapify(bounds)
        best: list[tuple[int, int, FeatureErrors]] = []
        while bounds:
            negative, feature, only_in = heapq.heappop(bounds)
            if len(best) == top and -negative <= best[0][0]:
                break
            found = self.feature(only_in, feature)
            if found.takes_part:
                heapq.heappush(best, (found.takes_part, -len(bounds), found))
            if len(best) > top:
                heapq.heappop(best)
        return [found for *_, found in sorted(best, key=lambda entry: (-entry[0], -entry[1]))]

    def bounds(self, only_in: Kind) -> Iterator[tuple[int, int, Kind]]:
        """For each feature with errors, minus the most errors that it can take part in."""
        model, other = self.sides(only_in)
        column = 2 if only_in == "guess" else 1
        errors = {
            (i, j): int(count)
            for (i, j), count in zip(
                self.comparison.pairs.tolist(), self.comparison.counts[:, column], strict=True
            )
            if count
        }
        known = set(other.features.rows)
        for feature, literals in enumerate(model.features.literals()):
            if model.features.rows[feature] in known:
                continue
            scope = [variable for variable, _ in literals]
            most = sum(
                min(errors[pair], self.size(literals, pair))
                for pair in combinations(scope, 2)
                if pair in errors
            )
            if most:
                yield -most, feature, only_in

    def feature(self, only_in: Kind, feature: int) -> FeatureErrors:
        """The exact figures of one feature, summed over the pairs of its scope."""
        model, _ = self.sides(only_in)
        literals = model.features.literals()[feature]
        takes_part = vanish = created = 0
        for pair in combinations([variable for variable, _ in literals], 2):
            cube = self.cube(literals, pair)
            in_true, in_guess = (list(self.source.cubes(side, pair)) for side in (0, 1))
            if only_in == "true":
                takes_part += self.outside(pair, cube, in_guess)
                continue
            in_guess.remove(cube)
            takes_part += self.outside(pair, cube, in_true)
            left = self.outside(pair, cube, [*in_true, *in_guess])
            vanish += left
            created += self.outside(pair, cube, in_guess) - left
        if only_in == "true":
            vanish = takes_part
        return FeatureErrors(only_in, model.feature_text(feature), takes_part, vanish, created)

    def sides(self, only_in: Kind) -> tuple[Structure, Structure]:
        a, b = self.comparison.true, self.comparison.guess
        return (b, a) if only_in == "guess" else (a, b)

    def cube(self, literals: Sequence[tuple[int, int]], pair: tuple[int, int]) -> Cube:
        return [lit for lit in literals if self.canonical or lit[0] not in pair]

    def size(self, literals: Sequence[tuple[int, int]], pair: tuple[int, int]) -> int:
        """The number of contexts of a feature's cube."""
        cube = dict(self.cube(literals, pair))
        return prod(
            cube[v].bit_count() if v in cube else c
            for v, c in enumerate(self.domain.cardinalities)
            if self.canonical or v not in pair
        )

    def outside(self, pair: tuple[int, int], cube: Cube, cubes: Sequence[Cube]) -> int:
        """The number of contexts of a cube that none of the others allows."""
        met = [both for other in cubes if (both := _meet(cube, other)) is not None]
        space = self.source.space(pair, [cube, *met])
        whole = space.cover([cube])
        size = whole.size(whole.cubes[0]) * whole.scale
        if not met:
            return size
        return size - self.count_union(space.cover(met), deadline=self.deadline)


def _meet(first: Cube, second: Cube) -> Cube | None:
    """The cube of the contexts that both allow, if there is one."""
    both = dict(first)
    for variable, allowed in second:
        both[variable] = both.get(variable, allowed) & allowed
        if not both[variable]:
            return None
    return sorted(both.items())


def _can_use(name: str) -> bool:
    from contextwise.counting import ENGINES

    return name in ENGINES and ENGINES[name].missing() is None


def _feature_line(found: FeatureErrors) -> str:
    if found.only_in == "true":
        return (
            f"The guess lacks {in_words(found.feature)}: {number(found.takes_part)} errors, "
            "which vanish if it is added."
        )
    more = f", and {number(found.created)} others appear" if found.created else ""
    return (
        f"The guess has {in_words(found.feature)}: it takes part in {number(found.takes_part)} "
        f"errors, of which {number(found.vanish)} vanish if it alone is removed{more}."
    )


def in_words(literals: str) -> str:
    """Literals as they are read aloud.

    >>> in_words("C=yes & D!=old")
    'C=yes and D≠old'
    """
    return " and ".join(
        write_literal(literal).replace("!=", "≠", 1) if literal.negated else write_literal(literal)
        for literal in parse_literals(literals)
    )
