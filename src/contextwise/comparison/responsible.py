"""The features behind the errors of a comparison, found best-first.

A feature can take part in no more errors than its cube has contexts, nor in more than its pair has
errors. Features are counted exactly in the order of that bound until no other one can come before
those that are found.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod

from contextwise.comparison.compare import Comparison
from contextwise.comparison.pairs import is_canonical
from contextwise.comparison.sentences import FeatureErrors, Kind
from contextwise.counting import DEFAULT, get_engine
from contextwise.counting.cover import Cube
from contextwise.counting.extraction import CoverSource
from contextwise.counting.limits import OutOfTime, check
from contextwise.models.structure import Structure

KINDS: tuple[Kind, ...] = ("guess", "true")


def most_errors(comparison: Comparison) -> dict[tuple[int, int], tuple[int, int]]:
    """For each pair the most FP and FN it can have: exact, unless the pair is open."""
    (a, b, _), u = comparison.unions.lower.T, comparison.unions.upper[:, 2]
    return {
        (i, j): (fp, fn)
        for (i, j), fp, fn in zip(comparison.pairs.tolist(), u - a, u - b, strict=True)
    }


class FeatureSearch:
    """The search over the features of one comparison."""

    def __init__(self, comparison: Comparison, source: CoverSource, deadline: float | None) -> None:
        self.comparison = comparison
        self.source = source
        self.deadline = deadline
        self.canonical = is_canonical(comparison.contexts)
        self.count_union = get_engine(DEFAULT).count_union
        self.all_contexts = prod(comparison.domain.cardinalities)
        self.literals = {kind: self.sides(kind)[0].features.literals() for kind in KINDS}

    def worst(self, top: int) -> tuple[tuple[FeatureErrors, ...], bool]:
        """The features with the most errors, and whether the time was enough to be sure.

        If it was not, they are the worst of those that were counted.
        """
        best: list[tuple[int, int, FeatureErrors]] = []
        in_time = True
        try:
            self.search(top, best)
        except OutOfTime:
            in_time = False
        best.sort(key=lambda entry: (-entry[0], -entry[1]))
        return tuple(found for *_, found in best), in_time

    def search(self, top: int, best: list[tuple[int, int, FeatureErrors]]) -> None:
        """Put the worst features on the heap ``best``, by best-first search on a bound."""
        bounds = [bound for kind in KINDS for bound in self.bounds(kind)]
        heapq.heapify(bounds)
        while bounds and top > 0:
            negative, feature, only_in = heapq.heappop(bounds)
            if len(best) == top and -negative <= best[0][0]:
                break
            check(self.deadline)
            found = self.feature(only_in, feature)
            if found.takes_part:
                heapq.heappush(best, (found.takes_part, -len(bounds), found))
            if len(best) > top:
                heapq.heappop(best)

    def bounds(self, only_in: Kind) -> Iterator[tuple[int, int, Kind]]:
        """For each feature with errors, minus the most errors that it can take part in."""
        model, other = self.sides(only_in)
        errors = {
            pair: fp if only_in == "guess" else fn
            for pair, (fp, fn) in most_errors(self.comparison).items()
        }
        known = set(other.features.rows)
        for feature, literals in enumerate(self.literals[only_in]):
            check(self.deadline)
            if model.features.rows[feature] in known:
                continue
            scope = [variable for variable, _ in literals]
            others = self.contexts_without(scope)
            most = sum(
                min(errors[pair], others * self.size(literals, pair))
                for pair in combinations(scope, 2)
                if errors.get(pair)
            )
            if most:
                yield -most, feature, only_in

    def feature(self, only_in: Kind, feature: int) -> FeatureErrors:
        """The exact figures of one feature, summed over the pairs of its scope."""
        model, _ = self.sides(only_in)
        literals = self.literals[only_in][feature]
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

    def contexts_without(self, scope: Sequence[int]) -> int:
        """The number of assignments of the variables outside a scope."""
        cardinalities = self.comparison.domain.cardinalities
        return self.all_contexts // prod(cardinalities[v] for v in scope)

    def size(self, literals: Sequence[tuple[int, int]], pair: tuple[int, int]) -> int:
        """The number of assignments that a feature's cube allows to the variables of its scope."""
        return prod(allowed.bit_count() for _, allowed in self.cube(literals, pair))

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
