"""The unions of two models while features of the second come and go.

A feature touches only the pairs inside its scope. A `ChangingUnions` keeps, for each pair, the
features of both models that speak of it, and counts the three unions of the pairs that are asked
for, as they are or as they would be after a change. The compiled one is ``kernel/tracker.hpp``;
`ChangesInPython` is its readable twin and stands in where the kernel was not built.

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

    def count(self, pairs: PairList, more: list[int], less: list[int]) -> list[int]:
        """The three unions of each pair, with some features more or less.

        Parameters
        ----------
        pairs : positions of two variables each
        more : numbers of features that the second model would have more
        less : numbers of features that it would have less

        Returns
        -------
        list of int
            Of the first model, of the second and of both, one pair after the other.
        """
        ...


def changing_unions(
    a: Features,
    b: Features,
    *,
    canonical: bool = False,
    value_weights: ValueWeights | None = None,
) -> ChangingUnions:
    """Make two models ready for changes of the second one.

    Parameters
    ----------
    a, b : Features
        Over the same variables.
    canonical : bool
        Whether contexts are full assignments.
    value_weights : ints per value of each variable, optional
        How much each value counts.

    Returns
    -------
    ChangingUnions

    Examples
    --------
    >>> from contextwise.models.structure import Structure
    >>> a = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1"])
    >>> b = Structure(a.domain, ["A=1 & B=1 & C=1"])
    >>> unions = changing_unions(a.features, b.features)
    >>> unions.count([(0, 1)], [], [])
    [2, 1, 2]
    >>> more = unions.know([(0, 0b01), (1, 0b01), (2, 0b01)])
    >>> unions.count([(0, 1)], [more], [])
    [2, 2, 2]
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
        self.count = self._tracker.count

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

    def count(self, pairs: PairList, more: list[int], less: list[int]) -> list[int]:
        """The three unions of each pair, one after the other.

        Parameters
        ----------
        pairs, more, less
            As in `ChangingUnions`.

        Returns
        -------
        list of int
        """
        found = []
        for pair in pairs:
            mine = [f for f in self._b.get(pair, ()) if f not in less]
            mine += [f for f in more if pair in _pairs(self._known[f])]
            a = self._cubes(pair, self._a.get(pair, ()))
            b = self._cubes(pair, (self._known[f] for f in mine))
            found += [count_union(self._source.cover(pair, cubes)) for cubes in (a, b, a + b)]
        return found

    def _cubes(self, pair: tuple[int, int], features: Iterable[Literals]) -> list[Literals]:
        if self._canonical:
            return list(features)
        return [[lit for lit in literals if lit[0] not in pair] for literals in features]


def _pairs(literals: Literals) -> set[tuple[int, int]]:
    return set(combinations((v for v, _ in literals), 2))
