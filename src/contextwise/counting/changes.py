"""The unions of two models while features of the second come and go.

A feature touches only the pairs inside its scope. A `ChangingUnions` keeps, for each pair, the
features of both models that speak of it, and counts how much two unions of a pair grow by a change:
that of the second model, and that of both. The compiled one is ``kernel/tracker.hpp``, which counts
inside the cubes that come and go; `ChangesInPython` is its readable twin, which counts before and
after, and stands in where the kernel was not built.

Features of the second model have numbers: those it begins with 0, 1, …, later ones as `know` says.
Memory grows with the features that were ever known: one entry per feature and pair of its scope.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Protocol

import numpy as np

from contextwise.counting import native
from contextwise.counting.auto import count_union
from contextwise.counting.extraction import CoverSource, ValueWeights
from contextwise.models.features import Features, as_words, no_features, words_of

Literals = Sequence[tuple[int, int]]
"""A feature: rising variables, each with the values it allows as an int."""
PairList = list[tuple[int, int]]
Growth = tuple[int, int]
"""Of the second model's union, and of that of both models."""


class ChangingUnions(Protocol):
    """What both twins can do."""

    def know(self, literals: Literals) -> int:
        """Make a feature known, and give its number; it is in the model only once inserted."""
        ...

    def insert(self, feature: int) -> None:
        """Put a known feature into the second model."""
        ...

    def erase(self, feature: int) -> None:
        """Take a feature out of the second model; it stays known."""
        ...

    def growth(self, pairs: PairList, more: list[int], less: list[int]) -> list[Growth]:
        """How much two unions of each pair grow with some features more and some less."""
        ...


def changing_unions(
    a: Features,
    b: Features,
    *,
    canonical: bool = False,
    value_weights: ValueWeights | None = None,
) -> ChangingUnions:
    """Make two models ready for changes of the second one.

    >>> from contextwise.models.structure import Structure
    >>> a = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1"])
    >>> b = Structure(a.domain, ["A=1 & B=1 & C=1"])
    >>> unions = changing_unions(a.features, b.features)
    >>> more = unions.know([(0, 0b01), (1, 0b01), (2, 0b01)])
    >>> unions.growth([(0, 1)], [more], [])  # the second model had one context, and has both now
    [(1, 0)]
    """
    kind = ChangesInPython if native.missing() else NativeChanges
    return kind(a, b, canonical, value_weights)


class NativeChanges:
    """The compiled twin: arrays in, ints out."""

    def __init__(
        self, a: Features, b: Features, canonical: bool, value_weights: ValueWeights | None
    ) -> None:
        self._words = words_of(a.cardinalities)
        self._tracker = native.tracker(a, b, canonical=canonical, value_weights=value_weights)
        self.insert, self.erase = self._tracker.insert, self._tracker.erase

    def know(self, literals: Literals) -> int:
        """Make a feature known, and give its number."""
        starts = np.array([0, len(literals)], dtype=np.int64)
        variables = np.array([v for v, _ in literals], dtype=np.int32)
        if self._words == 1:
            values = np.array([s for _, s in literals], dtype=np.uint64).reshape(-1, 1)
        else:
            rows = [as_words(s, self._words) for _, s in literals]
            values = np.array(rows, dtype=np.uint64).reshape(-1, self._words)
        return self._tracker.know((starts, variables, values))

    def growth(self, pairs: PairList, more: list[int], less: list[int]) -> list[Growth]:
        """How much two unions of each pair grow."""
        flat = self._tracker.count(pairs, more, less)
        parts = zip(flat[::4], flat[1::4], flat[2::4], flat[3::4], strict=True)
        return [(b - b_lost, u - u_lost) for b, b_lost, u, u_lost in parts]


class ChangesInPython:
    """The readable twin: dictionaries of cubes, counted one by one."""

    def __init__(
        self, a: Features, b: Features, canonical: bool, value_weights: ValueWeights | None
    ) -> None:
        nothing = no_features(a.cardinalities)
        self._source = CoverSource(nothing, canonical=canonical, value_weights=value_weights)
        self._canonical = canonical
        self._a: dict[tuple[int, int], list[Literals]] = {}
        self._b: dict[tuple[int, int], list[int]] = {}
        self._known: list[Literals] = []
        for literals in a.literals():
            for pair in _pairs(literals):
                self._a.setdefault(pair, []).append(literals)
        for literals in b.literals():
            self.insert(self.know(literals))

    def know(self, literals: Literals) -> int:
        """Make a feature known, and give its number."""
        self._known.append(literals)
        return len(self._known) - 1

    def insert(self, feature: int) -> None:
        """Put a known feature into the second model."""
        for pair in _pairs(self._known[feature]):
            self._b.setdefault(pair, []).append(feature)

    def erase(self, feature: int) -> None:
        """Take a feature out of the second model."""
        for pair in _pairs(self._known[feature]):
            self._b[pair].remove(feature)

    def growth(self, pairs: PairList, more: list[int], less: list[int]) -> list[Growth]:
        """How much two unions of each pair grow."""
        found = []
        for pair in pairs:
            before = self._b.get(pair, [])
            after = [f for f in before if f not in less]
            after += [f for f in more if pair in _pairs(self._known[f])]
            (b, u), (new_b, new_u) = self._unions(pair, before), self._unions(pair, after)
            found.append((new_b - b, new_u - u))
        return found

    def _unions(self, pair: tuple[int, int], mine: Iterable[int]) -> tuple[int, int]:
        """The union of these features of the second model, and that of both models."""
        a = self._cubes(pair, self._a.get(pair, ()))
        b = self._cubes(pair, (self._known[f] for f in mine))
        alone, both = (count_union(self._source.cover(pair, cubes)) for cubes in (b, a + b))
        return alone, both

    def _cubes(self, pair: tuple[int, int], features: Iterable[Literals]) -> list[Literals]:
        if self._canonical:
            return list(features)
        return [[lit for lit in literals if lit[0] not in pair] for literals in features]


def _pairs(literals: Literals) -> set[tuple[int, int]]:
    return set(combinations((v for v, _ in literals), 2))
