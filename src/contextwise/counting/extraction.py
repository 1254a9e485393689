"""From features to covers: which features speak about which pair.

Works on arrays alone. A pair of variables is a pair of positions ``(i, j)`` with ``i < j``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from contextwise.counting.cover import ClassSpace, Cover, Cube, class_space
from contextwise.models.features import Features, IntArray

ValueWeights = Sequence[Sequence[int]]
"""For each variable, how much each of its values counts; without them, each counts once."""
FEW = 32
"""Up to one pair for so many features, it pays to look which features speak of the pairs."""


def pair_features(features: Features) -> tuple[IntArray, IntArray, IntArray]:
    """Every (pair, feature) such that the feature has both variables in its scope."""
    n = len(features.cardinalities)
    codes, owners = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for mine, code, _, _ in scope_pairs(features):
        codes.append(code.ravel())
        owners.append(np.repeat(mine, code.shape[1]))
    code, owner = np.concatenate(codes), np.concatenate(owners)
    order = np.lexsort((owner, code))
    distinct, starts = np.unique(code[order], return_index=True)
    return decode_pairs(distinct, n), np.append(starts, len(code)), owner[order]


def speaking_features(features: Features, pairs: IntArray) -> Features:
    """The features that can speak of one of these pairs: those with two of their variables.

    With few pairs that is a small part of a model, found by one look at every literal.
    """
    if len(pairs) > len(features) // FEW:
        return features
    marked = np.zeros(len(features.cardinalities), dtype=np.int64)
    marked[pairs] = 1
    before = np.concatenate([[0], np.cumsum(marked[features.variables])])
    return features.take(np.diff(before[features.starts]) >= 2)


def cover_source(
    a: Features,
    b: Features,
    pairs: IntArray,
    *,
    canonical: bool = False,
    value_weights: ValueWeights | None = None,
) -> CoverSource:
    """The source of the covers of some pairs; features that do not speak of them are left out."""
    own = speaking_features(a, pairs), speaking_features(b, pairs)
    return CoverSource(*own, canonical=canonical, value_weights=value_weights)


def scope_pairs(features: Features) -> Iterator[tuple[IntArray, IntArray, IntArray, IntArray]]:
    """The pairs of each feature's scope, features of one length at a time."""
    n, lengths = len(features.cardinalities), features.lengths
    for length in np.unique(lengths[lengths >= 2]).tolist():
        mine = np.flatnonzero(lengths == length)
        scopes = features.variables[features.starts[mine, None] + np.arange(length)].astype(
            np.int64
        )
        first, second = _places(length)
        yield mine, scopes[:, first] * n + scopes[:, second], first, second


@cache
def _places(length: int) -> tuple[IntArray, IntArray]:
    """The two places of each pair in a scope of that length."""
    first, second = np.triu_indices(length, 1)
    return first.astype(np.int64), second.astype(np.int64)


def decode_pairs(codes: IntArray, n: int) -> IntArray:
    """Pairs ``(i, j)`` from their codes ``i * n + j``."""
    return np.stack(np.divmod(codes, max(1, n)), axis=1)


class CoverSource:
    """The covers of one or two models, pair by pair."""

    def __init__(
        self,
        *models: Features,
        canonical: bool = False,
        value_weights: ValueWeights | None = None,
    ) -> None:
        self.cardinalities: list[int] = models[0].cardinalities.tolist()
        self.canonical = canonical
        self.value_weights = value_weights
        self._literals = [features.literals() for features in models]
        self._owners = [_by_pair(features) for features in models]

    def cubes(self, model: int, pair: tuple[int, int]) -> list[Cube]:
        """The cubes of a pair in one model."""
        owners = self._owners[model].get(pair, ())
        literals = self._literals[model]
        if self.canonical:
            return [literals[f] for f in owners]
        return [[lit for lit in literals[f] if lit[0] not in pair] for f in owners]

    def three_covers(self, pair: tuple[int, int]) -> tuple[Cover, Cover, Cover]:
        """The covers of a pair in the first model, in the second, and in both together."""
        first, second = self.cubes(0, pair), self.cubes(1, pair)
        return (
            self.cover(pair, first),
            self.cover(pair, second),
            self.cover(pair, [*first, *second]),
        )

    def space(self, pair: tuple[int, int], cubes: Iterable[Cube]) -> ClassSpace:
        """The space in which these cubes of a pair can be set against each other."""
        return pair_space(self.cardinalities, pair, cubes, self.canonical, self.value_weights)

    def cover(self, pair: tuple[int, int], cubes: Sequence[Cube]) -> Cover:
        """These cubes as a cover over the contexts of the pair."""
        return self.space(pair, cubes).cover(cubes)


def pair_space(
    cardinalities: Sequence[int],
    pair: tuple[int, int],
    cubes: Iterable[Cube],
    canonical: bool = False,
    value_weights: ValueWeights | None = None,
) -> ClassSpace:
    """The space in which some cubes of a pair can be set against each other."""
    if canonical:
        return class_space(cardinalities, cubes, value_weights)
    left = [1 if v in pair else size for v, size in enumerate(cardinalities)]
    if value_weights is None:
        return class_space(left, cubes)
    own = [(1,) if v in pair else weights for v, weights in enumerate(value_weights)]
    return class_space(left, cubes, own)


def _by_pair(features: Features) -> dict[tuple[int, int], Sequence[int]]:
    pairs, starts, owners = pair_features(features)
    bounds, flat = starts.tolist(), owners.tolist()
    return {(i, j): flat[bounds[k] : bounds[k + 1]] for k, (i, j) in enumerate(pairs.tolist())}


def sizes_of(cardinalities: Sequence[int], value_weights: ValueWeights | None) -> list[int]:
    """What all values of each variable count together."""
    return list(cardinalities) if value_weights is None else [sum(own) for own in value_weights]


def contexts_of_pairs(
    cardinalities: Sequence[int], pairs: npt.NDArray[np.int64], canonical: bool = False
) -> list[int]:
    """The number of contexts of each pair (their weight, for `sizes_of` weighted values).

    >>> contexts_of_pairs([2, 3, 5], np.array([[0, 1], [1, 2]]))
    [5, 2]
    """
    whole = 1
    for cardinality in cardinalities:
        whole *= cardinality
    if canonical:
        return [whole] * len(pairs)
    kinds, kind = np.unique(np.array(cardinalities, dtype=object), return_inverse=True)
    codes = kind[pairs[:, 0]] * len(kinds) + kind[pairs[:, 1]]
    distinct, place = np.unique(codes, return_inverse=True)
    sizes = [whole // (kinds[c // len(kinds)] * kinds[c % len(kinds)]) for c in distinct.tolist()]
    return [sizes[k] for k in place.tolist()]


def all_contexts(cardinalities: Sequence[int], canonical: bool = False) -> int:
    """The number of contexts over all pairs: the number of assertions of a dependency model.

    >>> all_contexts([2, 2, 2, 2]), all_contexts([2] * 6)
    (24, 240)
    """
    whole = 1
    for cardinality in cardinalities:
        whole *= cardinality
    n = len(cardinalities)
    if canonical:
        return whole * (n * (n - 1) // 2)
    sizes: dict[int, int] = {}
    for cardinality in cardinalities:
        sizes[cardinality] = sizes.get(cardinality, 0) + 1
    total = 0
    kinds = sorted(sizes)
    for a, first in enumerate(kinds):
        total += whole // (first * first) * (sizes[first] * (sizes[first] - 1) // 2)
        for second in kinds[a + 1 :]:
            total += whole // (first * second) * (sizes[first] * sizes[second])
    return total


# -- Which pairs of variables some feature has in its scope: about the others all are independent.


MOST_COLUMNS = 64
"""Up to so many pairs, a table of features by their variables is quicker than all pairs."""
MOST_MARKS = 2**26
"""Up to so many pairs of variables, a mark for each is quicker than sorting those that occur."""


def covered_pairs(*models: Features, among: IntArray | None = None) -> IntArray:
    """The pairs that a feature of any of the models has in its scope: shape (p, 2), in order.

    >>> from contextwise.models.structure import Structure
    >>> model = Structure({"A": 2, "B": 2, "C": 2, "D": 2}, ["A=1 & B=1 & D=0", "B=1 & C=1"])
    >>> covered_pairs(model.features).tolist()
    [[0, 1], [0, 3], [1, 2], [1, 3]]
    >>> covered_pairs(model.features, among=np.array([[1, 3], [0, 2]])).tolist()
    [[1, 3]]
    """
    n = len(models[0].cardinalities)
    if among is not None:
        among = decode_pairs(np.unique(among[:, 0] * n + among[:, 1]), n)
    from contextwise.counting import native  # it imports this module

    if native.missing() is None and (among is not None or n * n <= MOST_MARKS):
        return native.covered_pairs(models, among)
    return covered_in_python(models, among)


def covered_in_python(models: Sequence[Features], among: IntArray | None) -> IntArray:
    """The readable twin of the kernel."""
    n = len(models[0].cardinalities)
    if among is not None:
        return among[np.logical_or.reduce([_covers(features, among) for features in models])]
    codes = (code.ravel() for features in models for _, code, _, _ in scope_pairs(features))
    if n * n > MOST_MARKS:
        return decode_pairs(np.unique(np.concatenate([np.zeros(0, np.int64), *codes])), n)
    marked = np.zeros(n * n, dtype=bool)
    for code in codes:
        marked[code] = True
    return decode_pairs(np.flatnonzero(marked), n)


def _covers(features: Features, pairs: IntArray) -> npt.NDArray[np.bool_]:
    """Whether a feature has each of these pairs in its scope."""
    n = len(features.cardinalities)
    if len(pairs) > MOST_COLUMNS:
        return np.isin(
            pairs @ (n, 1), covered_in_python([speaking_features(features, pairs)], None) @ (n, 1)
        )
    chosen, places = np.unique(pairs, return_inverse=True)
    column = np.full(n, -1)
    column[chosen] = np.arange(len(chosen))
    columns = column[features.variables]
    literals = np.flatnonzero(columns >= 0)
    owners = np.searchsorted(features.starts, literals, side="right") - 1
    tests = np.zeros((len(features), len(chosen)), dtype=bool)
    tests[owners, columns[literals]] = True
    first, second = places.reshape(-1, 2).T
    covered: npt.NDArray[np.bool_] = np.logical_or.reduce(tests[:, first] & tests[:, second])
    return covered
