"""The unions of two models while features of the second are added and removed.

A feature changes only the pairs inside its scope. `ChangingUnions` keeps the features that cover
each pair, and counts by how much a change makes two unions grow: that of the second model, and that
of both. The kernel (``kernel/tracker.hpp``) counts inside the cubes that change; `ChangesInPython`,
its readable twin, counts before and after.

`know` registers a feature, which is not yet in the model, and returns its number. `insert` adds a
known feature to the second model, `erase` removes one. `growth` returns how much the unions of each
pair grow if features are added and removed.

Features of the second model have numbers: 0, 1, … at the start, later ones as `know` returns.
Memory grows with all features ever known: one entry per feature and pair of its scope.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from contextwise.counting import native
from contextwise.counting.branch import count_union
from contextwise.counting.contexts import UNIFORM, ContextSpace
from contextwise.counting.extraction import CoverSource
from contextwise.models.features import Features, as_words, no_features, words_of
from contextwise.support.effort import NEVER, Deadline, OutOfTime

Literals = Sequence[tuple[int, int]]
"""A feature: rising variables, each with the values it allows as an int."""
PairList = list[tuple[int, int]]
Growth = tuple[int, int]
"""Growth of the second model's union, and of the union of both models."""


def changing_unions(
    a: Features,
    b: Features,
    space: ContextSpace = UNIFORM,
) -> ChangingUnions:
    """Prepare two models for changes of the second one."""
    kind = ChangesInPython if native.missing() else NativeChanges
    return kind(a, b, space)


class NativeChanges:
    """The compiled twin."""

    def __init__(self, a: Features, b: Features, space: ContextSpace) -> None:
        self._words = words_of(a.cardinalities)
        self._tracker = native.kernel.Tracker(
            a.cardinalities.tolist(),
            native.weight_rows(space),
            native.arrays(a),
            native.arrays(b),
            space.canonical,
            native.MEMORY,
        )
        self.insert, self.erase = self._tracker.insert, self._tracker.erase

    def know(self, literals: Literals) -> int:
        starts = np.array([0, len(literals)], dtype=np.int64)
        variables = np.array([v for v, _ in literals], dtype=np.int32)
        if self._words == 1:
            values = np.array([s for _, s in literals], dtype=np.uint64).reshape(-1, 1)
        else:
            rows = [as_words(s, self._words) for _, s in literals]
            values = np.array(rows, dtype=np.uint64).reshape(-1, self._words)
        return self._tracker.know((starts, variables, values, None))

    def growth(
        self, pairs: PairList, more: list[int], less: list[int], deadline: Deadline = NEVER
    ) -> list[Growth]:
        flat = self._tracker.count(pairs, more, less, deadline.left())
        if pairs and not flat:
            raise OutOfTime
        parts = zip(flat[::4], flat[1::4], flat[2::4], flat[3::4], strict=True)
        return [(b - b_lost, u - u_lost) for b, b_lost, u, u_lost in parts]


class ChangesInPython:
    """The readable twin: dictionaries of cubes, counted one by one."""

    def __init__(self, a: Features, b: Features, space: ContextSpace) -> None:
        nothing = no_features(a.cardinalities)
        self._source = CoverSource(nothing, space=space)
        self._canonical = space.canonical
        self._a: dict[tuple[int, int], list[Literals]] = {}
        self._b: dict[tuple[int, int], list[int]] = {}
        self._known: list[Literals] = []
        for literals in a.literals():
            for pair in _pairs(literals):
                self._a.setdefault(pair, []).append(literals)
        for literals in b.literals():
            self.insert(self.know(literals))

    def know(self, literals: Literals) -> int:
        self._known.append(literals)
        return len(self._known) - 1

    def insert(self, feature: int) -> None:
        for pair in _pairs(self._known[feature]):
            self._b.setdefault(pair, []).append(feature)

    def erase(self, feature: int) -> None:
        for pair in _pairs(self._known[feature]):
            self._b[pair].remove(feature)

    def growth(
        self, pairs: PairList, more: list[int], less: list[int], deadline: Deadline = NEVER
    ) -> list[Growth]:
        growths = []
        for pair in pairs:
            before = self._b.get(pair, [])
            after = [f for f in before if f not in less]
            after += [f for f in more if pair in _pairs(self._known[f])]
            b, u = self._unions(pair, before, deadline)
            new_b, new_u = self._unions(pair, after, deadline)
            growths.append((new_b - b, new_u - u))
        return growths

    def _unions(
        self, pair: tuple[int, int], features: Iterable[int], deadline: Deadline
    ) -> tuple[int, int]:
        """Count the union of these features of the second model, and that of both models."""
        a = self._cubes(pair, self._a.get(pair, ()))
        b = self._cubes(pair, (self._known[f] for f in features))
        alone, both = (
            count_union(self._source.cover(pair, cubes), deadline=deadline) for cubes in (b, a + b)
        )
        return alone, both

    def _cubes(self, pair: tuple[int, int], features: Iterable[Literals]) -> list[Literals]:
        if self._canonical:
            return list(features)
        return [[lit for lit in literals if lit[0] not in pair] for literals in features]


def _pairs(literals: Literals) -> set[tuple[int, int]]:
    return set(combinations((v for v, _ in literals), 2))


ChangingUnions = NativeChanges | ChangesInPython
