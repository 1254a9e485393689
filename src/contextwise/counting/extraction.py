"""From features to covers: find the features of each pair and drop its two literals.

A feature **covers** a pair if both variables are in its scope. A pair of variables is a pair of
positions ``(i, j)`` with ``i < j``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from contextwise.counting.contexts import UNIFORM, ContextSpace
from contextwise.counting.cover import ClassSpace, Cover, Cube, class_space
from contextwise.models.features import Features
from contextwise.support.arrays import BoolArray, IntArray
from contextwise.support.machine import require_memory

FEATURES_PER_PAIR = 32
"""With at most one pair per 32 features, selecting the features that cover them pays off."""


def pair_features(features: Features) -> tuple[IntArray, IntArray, IntArray]:
    """List the features that cover each pair: pairs, starts and owners.

    The features of pair ``k`` are ``owners[starts[k] : starts[k + 1]]``.
    """
    n = len(features.cardinalities)
    codes, owners = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for same_length, code in scope_pairs(features):
        codes.append(code.ravel())
        owners.append(np.repeat(same_length, code.shape[1]))
    code, owner = np.concatenate(codes), np.concatenate(owners)
    if n * n * len(features) < 2**63:  # one number for both sorts much faster
        code, owner = np.divmod(np.sort(code * len(features) + owner), max(1, len(features)))
    else:
        order = np.lexsort((owner, code))
        code, owner = code[order], owner[order]
    # No code is -1, so the first entry also starts a pair.
    starts = np.flatnonzero(np.diff(code, prepend=-1))
    return decode_pairs(code[starts], n), np.append(starts, len(code)), owner


def may_cover(features: Features, pairs: IntArray) -> BoolArray:
    """Mask the features that can cover one of these pairs: those with two of their variables.

    If there are many pairs, all features may.
    """
    if len(pairs) > len(features) // FEATURES_PER_PAIR:
        return np.ones(len(features), dtype=bool)
    marked = np.zeros(len(features.cardinalities), dtype=np.int64)
    marked[pairs] = 1
    owners, variables = features.covered
    return np.bincount(owners, weights=marked[variables], minlength=len(features)) >= 2


def covering_features(features: Features, pairs: IntArray) -> Features:
    """Select the features that can cover one of these pairs."""
    mask = may_cover(features, pairs)
    return features if mask.all() else features.take(mask)


def scope_pairs(features: Features) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the features of each length, with the codes of the pairs they cover."""
    n, lengths = len(features.cardinalities), features.lengths
    if features.pairs is not None:
        first, second = features.pairs.T.astype(np.int64)
        yield np.arange(len(features)), (first * n + second)[:, None]
        return
    # Features of fewer than two variables cover no pair.
    for length in (np.flatnonzero(np.bincount(lengths, minlength=2)[2:]) + 2).tolist():
        same_length = np.flatnonzero(lengths == length)
        scopes = features.variables[features.starts[same_length, None] + np.arange(length)]
        first, second = np.triu_indices(length, 1)
        yield same_length, scopes.astype(np.int64)[:, first] * n + scopes[:, second]


def decode_pairs(codes: IntArray, n: int) -> IntArray:
    """Return pairs ``(i, j)`` from their codes ``i * n + j``."""
    return np.stack(np.divmod(codes, max(1, n)), axis=1)


def find_pairs(pairs: IntArray, wanted: IntArray, n: int) -> IntArray:
    """Return the places of the wanted pairs among rising pairs of n variables, or -1.

    >>> find_pairs(np.array([[0, 1], [0, 2]]), np.array([[0, 2], [1, 2]]), 3)
    array([ 1, -1])
    """
    return find_codes(pairs @ (n, 1), wanted @ (n, 1))


def find_codes(codes: IntArray, sought: IntArray) -> IntArray:
    """Return the same for pairs given by their codes."""
    if not len(codes):
        return np.full(len(sought), -1, dtype=np.int64)
    # A code above all others has the place past the end; the test below refuses it.
    at = np.minimum(np.searchsorted(codes, sought), len(codes) - 1)
    return np.where(codes[at] == sought, at, -1)


class CoverSource:
    """The covers of one or two models, pair by pair.

    With ``pairs``, only the covers of these are needed. ``features_read`` counts the features that
    are looked at.
    """

    def __init__(
        self,
        *models: Features,
        pairs: IntArray | None = None,
        space: ContextSpace = UNIFORM,
    ) -> None:
        if pairs is not None:
            models = tuple(covering_features(features, pairs) for features in models)
        self.features_read = sum(map(len, models))
        self.cardinalities: list[int] = models[0].cardinalities.tolist()
        self.contexts = space
        self._literals = [features.literals() for features in models]
        self._owners: list[dict[tuple[int, int], list[int]]] = []
        for features in models:
            covered, starts, owners = (part.tolist() for part in pair_features(features))
            bounds = zip(covered, pairwise(starts), strict=True)
            self._owners.append({(i, j): owners[a:b] for (i, j), (a, b) in bounds})

    def cubes(self, model: int, pair: tuple[int, int]) -> list[Cube]:
        """Return the cubes of a pair in one model."""
        owners = self._owners[model].get(pair, ())
        literals = self._literals[model]
        if self.contexts.canonical:
            return [literals[f] for f in owners]
        return [[lit for lit in literals[f] if lit[0] not in pair] for f in owners]

    def three_covers(self, pair: tuple[int, int]) -> tuple[Cover, Cover, Cover]:
        """Return the covers of a pair in the first model, in the second, and in both together."""
        first, second = self.cubes(0, pair), self.cubes(1, pair)
        return (
            self.cover(pair, first),
            self.cover(pair, second),
            self.cover(pair, [*first, *second]),
        )

    def space(self, pair: tuple[int, int], cubes: Iterable[Cube]) -> ClassSpace:
        """Return the space in which these cubes of a pair can be encoded."""
        return pair_space(self.cardinalities, pair, cubes, self.contexts)

    def cover(self, pair: tuple[int, int], cubes: Sequence[Cube]) -> Cover:
        """Return these cubes as a cover over the contexts of the pair."""
        return self.space(pair, cubes).cover(cubes)


def pair_space(
    cardinalities: Sequence[int],
    pair: tuple[int, int],
    cubes: Iterable[Cube],
    space: ContextSpace = UNIFORM,
) -> ClassSpace:
    """Return the space in which some cubes of a pair can be encoded."""
    if space.canonical:
        return class_space(cardinalities, cubes, space.weights)
    # A context leaves the pair's own variables open, so they multiply by 1.
    left = [1 if v in pair else size for v, size in enumerate(cardinalities)]
    if space.weights is None:
        return class_space(left, cubes)
    weights = [(1,) if v in pair else of_values for v, of_values in enumerate(space.weights)]
    return class_space(left, cubes, weights)


# -- covered pairs: all models make the others independent ------------------------------------

LITERALS_IN_ANY_MEMORY = 2**20
"""Literals times variables for which the pairs fit into any memory."""
FEWER_PAIRS = "compare fewer variables or pairs"


def covered_pairs(*models: Features, among: IntArray | None = None) -> IntArray:
    """Return the pairs that a feature of any model covers: shape (p, 2), in order."""
    n = len(models[0].cardinalities)
    if among is not None:
        among = decode_pairs(np.unique(among[:, 0] * n + among[:, 1]), n)
    elif n * sum(len(model.variables) for model in models) > LITERALS_IN_ANY_MEMORY:
        lengths = (np.full(len(m), 2) if m.pairs is not None else m.lengths for m in models)
        covered = sum(int((length * (length - 1)).sum()) // 2 for length in lengths)
        require_memory(28 * covered, "finding the pairs of these features", FEWER_PAIRS)
    from contextwise.counting import native  # it imports this module

    if native.missing() is None:
        return native.kernel.covered_pairs(n, [native.arrays(model) for model in models], among)
    return covered_in_python(models, among)


def covered_in_python(models: Sequence[Features], among: IntArray | None) -> IntArray:
    """The readable twin of the kernel's ``covered_pairs``."""
    n = len(models[0].cardinalities)
    if among is not None:
        models = [covering_features(features, among) for features in models]
    codes = [code.ravel() for features in models for _, code in scope_pairs(features)]
    covered = np.unique(np.concatenate([np.zeros(0, np.int64), *codes]))
    if among is None:
        return decode_pairs(covered, n)
    return among[np.isin(among[:, 0] * n + among[:, 1], covered)]
