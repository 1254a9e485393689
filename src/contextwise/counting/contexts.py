"""The contexts of pairs: which assignments they are, and what they weigh."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement
from math import prod

import numpy as np

from contextwise.support.arrays import IntArray

ValueWeights = Sequence[Sequence[int]]
"""For each variable, the weight of each of its values."""


@dataclass(frozen=True)
class ContextSpace:
    """The contexts of a pair: assignments of the other variables, or of all (``canonical``).

    A context weighs the product of the weights of its values, which are 1 without ``weights``.
    """

    canonical: bool = False
    weights: ValueWeights | None = None

    def __post_init__(self) -> None:
        if self.weights is not None:  # as tuples, so that a space can be a key
            object.__setattr__(self, "weights", tuple(map(tuple, self.weights)))

    def sizes(self, cardinalities: Sequence[int]) -> list[int]:
        """Return the total weight of the values of each variable."""
        return list(cardinalities if self.weights is None else map(sum, self.weights))

    def kinds(self, cardinalities: Sequence[int]) -> Mapping[int, int]:
        """Return how many variables have each total weight."""
        return _kinds(tuple(self.sizes(cardinalities)))

    def of_pairs(self, cardinalities: Sequence[int], pairs: IntArray) -> list[int]:
        """Return the total weight of the contexts of each pair.

        >>> UNIFORM.of_pairs([2, 3, 5], np.array([[0, 1], [1, 2]]))
        [5, 2]
        """
        contexts, place = self.kinds_of_pairs(cardinalities, pairs)
        return [contexts[k] for k in place.tolist()]

    def kinds_of_pairs(
        self, cardinalities: Sequence[int], pairs: IntArray
    ) -> tuple[list[int], IntArray]:
        """Return the distinct results of `of_pairs`, and the place of each pair among them."""
        sizes = self.sizes(cardinalities)
        whole, kinds = prod(sizes), sorted(set(sizes))
        if self.canonical:
            return [whole], np.zeros(len(pairs), dtype=np.int64)
        if len(kinds) == 1:
            return [whole // kinds[0] ** 2], np.zeros(len(pairs), dtype=np.int64)
        place_of = {size: k for k, size in enumerate(kinds)}
        kind = np.array([place_of[size] for size in sizes], dtype=np.int64)
        codes = kind[pairs[:, 0]] * len(kinds) + kind[pairs[:, 1]]
        distinct, place = np.unique(codes, return_inverse=True)
        of_codes = [np.divmod(code, len(kinds)) for code in distinct]
        contexts = [whole // (kinds[first] * kinds[second]) for first, second in of_codes]
        return contexts, place.reshape(-1)

    def of_all_pairs(self, cardinalities: Sequence[int]) -> int:
        """Return the total weight of the contexts of all pairs: the number of assertions.

        >>> UNIFORM.of_all_pairs([2, 2, 2, 2]), UNIFORM.of_all_pairs([2] * 6)
        (24, 240)
        """
        return _of_all_pairs(self, tuple(cardinalities))


# Searches compare thousands of small models over one domain.
@lru_cache(maxsize=16)
def _kinds(sizes: tuple[int, ...]) -> Mapping[int, int]:
    return Counter(sizes)


@lru_cache(maxsize=16)
def _of_all_pairs(space: ContextSpace, cardinalities: tuple[int, ...]) -> int:
    sizes = space.sizes(cardinalities)
    whole, n = prod(sizes), len(sizes)
    if space.canonical:
        return whole * (n * (n - 1) // 2)
    total, times = 0, space.kinds(cardinalities)
    for first, second in combinations_with_replacement(times, 2):
        # Two variables of one size: each pair is met in both orders, so half of them count.
        pairs = times[first] * (times[second] if first != second else times[first] - 1)
        total += whole // (first * second) * (pairs if first != second else pairs // 2)
    return total


def unit_of(kinds: Mapping[int, int], limit: int) -> int:
    """Return the number of contexts in the unit in which the kernel counts.

    A pair involves at most ``limit`` variables. The kernel counts as if there were no more of
    each kind (each total weight); the others multiply every count by the same number, the unit.
    """
    # A variable of total weight 0 would make the unit 0.
    return prod(size ** (count - limit) for size, count in kinds.items() if size and count > limit)


def bits_of(kinds: Mapping[int, int], limit: int) -> int:
    """Return enough bits for a number of contexts in this unit."""
    return sum(size.bit_length() * min(count, limit) for size, count in kinds.items())


UNIFORM = ContextSpace()
"""All assignments of the other variables, with equal weights."""
