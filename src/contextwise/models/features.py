"""Features as arrays, from the reader of a file to the counting engines.

A feature is a conjunction of literals; a literal allows a set of values of one variable. Features
are stored in four arrays, without a Python object per literal:

- ``cardinalities[v]``: the number of values of variable ``v``;
- ``starts``: feature ``f`` has the literals ``starts[f]:starts[f + 1]``;
- ``variables[l]``: the variable of literal ``l``, increasing within a feature;
- ``values[l]``: the values that literal ``l`` allows, as a bit set of 64-bit words (value ``k`` is
  bit ``k % 64`` of word ``k // 64``).

A model given by its claims (`contextwise.models.claims`) has a fifth array, ``pairs``: row ``f``
then covers the one pair ``pairs[f]``, wherever its literals hold, and has no literal on the two
variables. Without it, a feature covers every pair of its scope.

Invariant: a literal allows at least one value and not all of them, no variable occurs twice in a
feature, and no two features are equal. `normalized` establishes it from any literals.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from contextwise.support.arrays import BoolArray, IntArray, WordArray

PairIndex = tuple[int, int]
"""The indices of the two variables of a pair, the smaller first; a `Pair` has their names."""

WORD = 64


def words_of(cardinalities: npt.ArrayLike) -> int:
    """Return the number of 64-bit words that a value set needs."""
    largest = int(np.max(cardinalities, initial=1))
    return (largest + WORD - 1) // WORD


def all_values(cardinalities: IntArray) -> WordArray:
    """Return the value set that allows everything, for each variable: shape (variables, words)."""
    before = WORD * np.arange(words_of(cardinalities))
    missing = np.clip(before + WORD - cardinalities[:, None], 0, WORD).astype(np.uint64)
    # A shift by all 64 bits is undefined in C, so such words are set to 0 below.
    full = np.right_shift(np.uint64(2**WORD - 1), np.minimum(missing, np.uint64(WORD - 1)))
    return np.where(missing == WORD, np.uint64(0), full)


def as_int(words: npt.NDArray[np.uint64]) -> int:
    """Return a value set as one Python int: value ``k`` is bit ``k``."""
    return int.from_bytes(words.astype("<u8").tobytes(), "little")


def as_ints(rows: WordArray) -> list[int]:
    """Return several value sets as Python ints."""
    if rows.shape[1] == 1:
        sets: list[int] = rows[:, 0].tolist()
        return sets
    return list(map(as_int, rows))


def as_words(value_set: int, words: int) -> WordArray:
    """Return the words of a value set; the inverse of `as_int`."""
    return np.frombuffer(value_set.to_bytes(words * 8, "little"), dtype="<u8").astype(np.uint64)


def single_values(values: IntArray, words: int) -> WordArray:
    """Return value sets that allow one value each: shape (values, words)."""
    sets = np.zeros((len(values), words), dtype=np.uint64)
    sets[np.arange(len(values)), values // WORD] = np.uint64(1) << (values % WORD).astype(np.uint64)
    return sets


def moved_values(values: WordArray, places: Iterable[tuple[int, int]]) -> WordArray:
    """Return value sets with each old value at its new place; values without one are dropped.

    >>> moved_values(np.array([[0b101]], dtype=np.uint64), [(2, 0), (1, 1)])
    array([[1]], dtype=uint64)
    """
    moved = np.zeros_like(values)
    for old, new in places:
        bit = values[:, old // WORD] >> np.uint64(old % WORD) & np.uint64(1)
        moved[:, new // WORD] |= bit << np.uint64(new % WORD)
    return moved


def members(value_set: int) -> list[int]:
    """Return the values of a value set, in increasing order."""
    return [k for k in range(value_set.bit_length()) if value_set >> k & 1]


def rows_in(rows: npt.NDArray[Any], literals: Iterable[tuple[int, int]]) -> BoolArray:
    """Mask the rows in which all literals hold; a literal is a variable and its value set.

    >>> rows_in(np.array([[0, 1], [2, 1], [1, 0]]), ((0, 0b101), (1, 0b10))).tolist()
    [True, True, False]
    """
    inside = np.ones(len(rows), dtype=bool)
    for variable, allowed in literals:
        column = rows[:, variable]
        # A table of all states is faster than a search for each row.
        is_allowed = np.zeros(
            max(allowed.bit_length(), int(column.max(initial=-1)) + 1), dtype=bool
        )
        is_allowed[members(allowed)] = True
        inside &= is_allowed[column]
    return inside


@dataclass(frozen=True, eq=False)
class Features:
    """Distinct features, as arrays that cannot be written: counts are kept with the features."""

    cardinalities: IntArray
    starts: IntArray
    variables: npt.NDArray[np.int32]
    values: WordArray
    pairs: npt.NDArray[np.int32] | None = None  # the pair that each row covers; None: its scope

    def __post_init__(self) -> None:
        for name in ("cardinalities", "starts", "variables", "values", "pairs"):
            if getattr(self, name) is not None:
                array = getattr(self, name).view()
                array.flags.writeable = False
                object.__setattr__(self, name, array)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> IntArray:
        """The number of literals of each feature."""
        return np.diff(self.starts)

    def distinct_literals(self) -> tuple[WordArray, IntArray]:
        """Return the distinct literals, variable and words, and the place of each literal there."""
        table = np.column_stack([self.variables.astype(np.uint64), self.values])
        if self.values.shape[1] == 1 and int(self.cardinalities.max(initial=0)) <= 32:
            # One number per literal sorts much faster than a row.
            codes = table[:, 0] << np.uint64(32) | table[:, 1]
            _, where, inverse = np.unique(codes, return_index=True, return_inverse=True)
            return table[where], inverse.reshape(-1)
        distinct, inverse = np.unique(table, axis=0, return_inverse=True)
        return distinct, inverse.reshape(-1)

    @property
    def owners(self) -> IntArray:
        """The feature each literal belongs to."""
        return np.repeat(np.arange(len(self)), self.lengths)

    @property
    def covered(self) -> tuple[IntArray, npt.NDArray[np.int32]]:
        """The variables whose pairs each feature covers, and the feature each belongs to.

        These are the variables of its literals, or the two of its pair.
        """
        if self.pairs is None:
            return self.owners, self.variables
        return np.repeat(np.arange(len(self)), 2), self.pairs.ravel()

    def covered_scopes(self) -> list[list[int]]:
        """Return for each feature the variables whose pairs it covers."""
        if self.pairs is not None:
            return [[i, j] for i, j in self.pairs.tolist()]
        variables = self.variables.tolist()
        return [variables[a:b] for a, b in itertools.pairwise(self.starts.tolist())]

    @cached_property
    def rows(self) -> tuple[bytes, ...]:
        """Each feature as bytes; equal features have equal bytes."""
        width = 1 + self.values.shape[1]
        table = np.empty((len(self.variables), width), dtype="<u8")
        table[:, 0] = self.variables
        table[:, 1:] = self.values
        data, step = table.tobytes(), 8 * width
        bounds = itertools.pairwise((self.starts * step).tolist())
        if self.pairs is None:
            return tuple(data[a:b] for a, b in bounds)
        pairs = self.pairs.astype("<i4")
        return tuple(pair.tobytes() + data[a:b] for pair, (a, b) in zip(pairs, bounds, strict=True))

    def literals(self) -> list[list[tuple[int, int]]]:
        """Return each feature as a list of (variable, value set as an int)."""
        pairs = list(zip(self.variables.tolist(), as_ints(self.values), strict=True))
        bounds = self.starts.tolist()
        return [pairs[a:b] for a, b in itertools.pairwise(bounds)]

    def literals_of(self, feature: int) -> list[tuple[int, int]]:
        """Return one feature as a list of (variable, value set as an int)."""
        a, b = self.starts[feature : feature + 2].tolist()
        return list(zip(self.variables[a:b].tolist(), as_ints(self.values[a:b]), strict=True))

    def scopes(self) -> set[tuple[int, ...]]:
        """Return the distinct scopes, each as increasing variables."""
        bounds, variables = self.starts.tolist(), self.variables.tolist()
        return {tuple(variables[a:b]) for a, b in itertools.pairwise(bounds)}

    def take(self, features: npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> Features:
        """Return the chosen features (indices or a mask), in that order."""
        chosen = np.flatnonzero(features) if features.dtype == bool else features
        lengths = self.lengths[chosen]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        # The old place of a literal minus its new one.
        shift = np.repeat(self.starts[chosen] - starts[:-1], lengths)
        literals = np.arange(int(starts[-1])) + shift
        pairs = None if self.pairs is None else self.pairs[chosen]
        return Features(
            self.cardinalities, starts, self.variables[literals], self.values[literals], pairs
        )


def no_features(cardinalities: npt.ArrayLike) -> Features:
    """Return the empty set of features."""
    cards = np.asarray(cardinalities, dtype=np.int64)
    return Features(
        cards,
        np.zeros(1, dtype=np.int64),
        np.zeros(0, dtype=np.int32),
        np.zeros((0, words_of(cards)), dtype=np.uint64),
    )


def normalized(
    cardinalities: npt.ArrayLike,
    owners: npt.ArrayLike,
    variables: npt.ArrayLike,
    values: WordArray,
    count: int,
    pairs: npt.NDArray[np.int32] | None = None,
) -> tuple[Features, IntArray]:
    """Make distinct features from the literals of ``count`` raw ones.

    ``owners``, ``variables`` and ``values`` have the raw feature, the variable and the value set of
    each literal, ``pairs`` the pair of each raw feature if it covers one only. Literals on one
    variable of a feature intersect. A literal that allows every value is dropped, and so is a
    feature that allows no value of some variable. Also returns the new index of each raw feature,
    or -1 if it can never hold.
    """
    cards = np.asarray(cardinalities, dtype=np.int64)
    owner = np.asarray(owners, dtype=np.int64)
    variable = np.asarray(variables, dtype=np.int64)
    if len(owner):
        place = owner * len(cards) + variable
        if not (np.diff(place) > 0).all():
            order = np.argsort(place, kind="stable")
            owner, variable, values = owner[order], variable[order], values[order]
            fresh = np.diff(place[order], prepend=-1) != 0
            # Two literals on one variable allow what both allow.
            values = np.bitwise_and.reduceat(values, np.flatnonzero(fresh), axis=0)
            owner, variable = owner[fresh], variable[fresh]
    possible = np.ones(count, dtype=bool)
    possible[owner[~values.any(axis=1)]] = False
    keep = (values != all_values(cards)[variable]).any(axis=1) & possible[owner]
    owner, variable, values = owner[keep], variable[keep], values[keep]

    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=count), out=starts[1:])
    raw = Features(cards, starts, variable.astype(np.int32), np.ascontiguousarray(values), pairs)
    alive = np.flatnonzero(possible)
    first = _first_equal(raw, alive)
    fresh = first == alive
    places = np.full(count, -1, dtype=np.int64)
    places[alive[fresh]] = np.arange(np.count_nonzero(fresh))
    # A repeated feature gets the place of its first occurrence.
    places[alive] = places[first]
    return (raw if fresh.sum() == count else raw.take(alive[fresh])), places


def _first_equal(features: Features, chosen: IntArray) -> IntArray:
    """Return for each chosen feature the first chosen one that is equal to it.

    Features with different hashes differ; only those with the same hash are compared.
    """
    _, group, sizes = np.unique(_hashes(features)[chosen], return_inverse=True, return_counts=True)
    first = chosen.copy()
    shared = np.flatnonzero(sizes[group] > 1)
    if len(shared):
        seen: dict[bytes, int] = {}
        for place, row in zip(shared.tolist(), features.take(chosen[shared]).rows, strict=True):
            first[place] = seen.setdefault(row, int(chosen[place]))
    return first


def _hashes(features: Features) -> WordArray:
    """Return a hash of each feature: the sum of the hashes of its literals."""
    literal = (features.variables.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for word in features.values.T:
        literal = (literal ^ word) * np.uint64(0xBF58476D1CE4E5B9)
        literal ^= literal >> np.uint64(29)
    before = np.concatenate([np.zeros(1, np.uint64), np.cumsum(literal, dtype=np.uint64)])
    # Sums wrap around modulo 2^64, and so do their differences.
    hashes: WordArray = before[features.starts[1:]] - before[features.starts[:-1]]
    if features.pairs is not None:
        first, second = features.pairs.T.astype(np.uint64)
        hashes ^= first * np.uint64(0x94D049BB133111EB) + second * np.uint64(0xBF58476D1CE4E5B9)
    return hashes


def restrict(features: Features, allowed: Mapping[int, Sequence[int]]) -> tuple[Features, IntArray]:
    """Return the features inside a box, and the new index of each feature, or -1.

    ``allowed`` has the states that some variables may have; those with one state are no variables
    of the result.

    Where A=1, the feature A=1 & B=1 is B=1, A=0 & C=1 never holds, and C=1 stays.

    >>> from contextwise import Structure
    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "A=0 & C=1", "C=1"])
    >>> inside, index = restrict(model.features, {0: [1]})
    >>> inside.literals(), index.tolist()
    ([[(0, 2)], [(1, 2)]], [0, -1, 1])
    """
    cards, values = features.cardinalities.copy(), features.values.copy()
    for variable, states in allowed.items():
        literals = features.variables == variable
        new_places = zip(states, range(len(states)), strict=True)
        values[literals] = moved_values(values[literals], new_places)
        cards[variable] = len(states)
    fixed = [variable for variable, states in allowed.items() if len(states) == 1]
    left = np.ones(len(features), dtype=bool)
    left[features.owners[~values.any(axis=1)]] = False
    if features.pairs is not None:
        left &= ~np.isin(features.pairs, fixed).any(axis=1)
    kept = np.ones(len(cards), dtype=bool)
    kept[fixed] = False
    place = np.concatenate([np.cumsum(kept) - 1, [0]])
    stays = left[features.owners] & kept[features.variables]
    result, places = normalized(
        cards[kept],
        (np.cumsum(left) - 1)[features.owners[stays]],
        place[features.variables[stays]],
        # the variables that stay may need fewer words
        values[stays][:, : words_of(cards[kept])],
        int(left.sum()),
        None if features.pairs is None else place[features.pairs[left]].astype(np.int32),
    )
    index = np.full(len(features), -1, dtype=np.int64)
    index[left] = places
    return result, index


def concatenated(*parts: Features) -> tuple[Features, IntArray]:
    """Return the distinct features of all parts, and the new index of each part's features.

    If some part covers one pair per row, so does the result, and the indices are of those rows.
    """
    if any(part.pairs is not None for part in parts):
        parts = tuple(map(by_pairs, parts))
    before = np.cumsum([0, *map(len, parts)])
    owners = np.concatenate([part.owners + k for part, k in zip(parts, before, strict=False)])
    variables = np.concatenate([part.variables for part in parts])
    values = np.concatenate([part.values for part in parts])
    pairs = None
    if any(part.pairs is not None for part in parts):
        pairs = np.concatenate([part.pairs for part in parts if part.pairs is not None])
    return normalized(parts[0].cardinalities, owners, variables, values, int(before[-1]), pairs)


def by_pairs(features: Features) -> Features:
    """Return the same claims with one row for each pair of each feature."""
    if features.pairs is not None:
        return features
    owners, variables, values, pairs = [], [], [], []
    count = 0
    for length in np.unique(features.lengths[features.lengths >= 2]).tolist():
        same_length = np.flatnonzero(features.lengths == length)
        literals = features.starts[same_length, None] + np.arange(length)
        for pair in itertools.combinations(range(length), 2):
            others = np.delete(literals, pair, axis=1)
            owners.append(np.repeat(np.arange(count, count + len(same_length)), length - 2))
            variables.append(features.variables[others].ravel())
            values.append(features.values[others].reshape(-1, features.values.shape[1]))
            pairs.append(features.variables[literals[:, pair]])
            count += len(same_length)
    if not count:
        empty = no_features(features.cardinalities)
        return replace(empty, pairs=np.zeros((0, 2), dtype=np.int32))
    result, _ = normalized(
        features.cardinalities,
        np.concatenate(owners),
        np.concatenate(variables),
        np.concatenate(values),
        count,
        np.concatenate(pairs),
    )
    return result
