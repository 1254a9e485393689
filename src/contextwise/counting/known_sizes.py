"""Union sizes of single models, kept for later comparisons with the same model.

A loop of ``compare(true, guess)`` needs the unions of the true model alone each time. If they were
expensive, the kernel keeps their sizes for as long as the features exist. They depend on the
features and on the contexts only, so every restriction of pairs can use them. For each model, the
sizes of one kind of contexts are kept, those of most pairs.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from contextwise.counting.contexts import UNIFORM, ContextSpace
from contextwise.counting.pair_counts import CountArray
from contextwise.models.features import Features
from contextwise.support.arrays import IntArray, ObjectArray

MOST_BYTES_PER_MODEL = 64 * 2**20
"""The most bytes for the sizes of one model."""
WORTH = 10_000
"""Nodes of the recursion below which counting again is cheap enough."""
WORTH_EACH = 1
"""The same for each pair: with fewer nodes, keeping the sizes costs more than counting again."""


class KnownSizes(NamedTuple):
    """Pairs, rising by code or place, with the sizes of one model's unions there, in a unit."""

    places: IntArray
    sizes: CountArray
    unit: int = 1
    space: ContextSpace = UNIFORM

    def in_unit(self, unit: int) -> CountArray:
        """Return the sizes in another unit, by which they can be divided."""
        if unit == self.unit:
            return self.sizes
        ratio = Fraction(self.unit, unit)
        sizes: ObjectArray = self.sizes.astype(object) * ratio.numerator // ratio.denominator
        return sizes

    def memory(self) -> int:
        """Return the number of bytes of the arrays and of their ints."""
        ints = sum(map(sys.getsizeof, self.sizes)) if self.sizes.dtype == object else 0
        return self.places.nbytes + self.sizes.nbytes + ints


NOTHING = KnownSizes(np.zeros(0, np.int64), np.zeros(0, np.int64))

_kept: WeakKeyDictionary[Features, KnownSizes] = WeakKeyDictionary()


def is_worth(nodes: int, pairs: int) -> bool:
    """Return whether sizes that took this many nodes should be kept."""
    return nodes >= WORTH and nodes >= WORTH_EACH * pairs


def lookup(features: Features, pairs: IntArray, space: ContextSpace) -> KnownSizes:
    """Return the places among ``pairs`` whose sizes are known, and the sizes."""
    known = _kept.get(features)
    if known is None or known.space != space or not len(known.places):
        return NOTHING
    codes = pairs @ (len(features.cardinalities), 1)
    at = np.minimum(np.searchsorted(known.places, codes), len(known.places) - 1)
    places = np.flatnonzero(known.places[at] == codes)
    return KnownSizes(places, known.sizes[at[places]], known.unit)


def keep(
    features: Features, pairs: IntArray, sizes: CountArray, unit: int, space: ContextSpace
) -> None:
    """Keep the sizes of the unions of one model for these rising pairs, in a unit."""
    codes = pairs @ (len(features.cardinalities), 1)
    new, old = KnownSizes(codes, sizes, unit, space), _kept.get(features, NOTHING)
    if (
        old.space != space or len(codes) > len(old.places)
    ) and new.memory() <= MOST_BYTES_PER_MODEL:
        _kept[features] = new


def clear() -> None:
    """Forget all sizes, so that the next comparison counts everything."""
    _kept.clear()
