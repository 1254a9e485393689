"""Union sizes of single models, kept for later comparisons with the same model.

A loop of ``compare(true, guess)`` needs the unions of the true model alone each time. If they were
expensive, the kernel keeps their sizes for as long as the features exist, within `LIMIT` bytes for
all features together. They depend on the features, on the kind of contexts and on the weights of
values only, so every restriction of pairs can use them.
"""

from __future__ import annotations

import os
import sys
from collections import OrderedDict
from fractions import Fraction
from math import gcd
from threading import RLock
from typing import NamedTuple
from weakref import ref

import numpy as np

from contextwise.counting.contexts import ContextSpace
from contextwise.counting.pair_counts import CountArray
from contextwise.models.features import Features
from contextwise.support.arrays import IntArray, ObjectArray

LIMIT = 64 * 2**20
WORTH = 10_000
"""Nodes of the recursion below which counting again is cheap enough."""
WORTH_EACH = 1
"""The same for each pair: with fewer nodes, keeping the sizes costs more than counting again."""


class KnownSizes(NamedTuple):
    """Pairs, rising by code or place, with the sizes of one model's unions there, in a unit."""

    places: IntArray
    sizes: CountArray
    unit: int = 1

    def in_unit(self, unit: int) -> CountArray:
        """Return the sizes in another unit, by which they can be divided."""
        if unit == self.unit:
            return self.sizes
        ratio = Fraction(self.unit, unit)
        sizes: ObjectArray = self.sizes.astype(object) * ratio.numerator // ratio.denominator
        return sizes


NOTHING = KnownSizes(np.zeros(0, np.int64), np.zeros(0, np.int64))

_kept: OrderedDict[int, tuple[ref[Features], dict[ContextSpace, KnownSizes]]] = OrderedDict()
"""By the identity of the features, last used last."""
_lock = RLock()  # reentrant: the end of other features can interrupt us at any time


def _renew_lock() -> None:
    """Let a forked process go on: another thread may have held the lock, and it is not here."""
    global _lock
    _lock = RLock()
    _kept.clear()  # that thread may have been changing it


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def is_worth(nodes: int, pairs: int) -> bool:
    """Return whether sizes that took this many nodes should be kept."""
    return nodes >= WORTH and nodes >= WORTH_EACH * pairs


def lookup(features: Features, pairs: IntArray, space: ContextSpace) -> KnownSizes:
    """Return the places among ``pairs`` whose sizes are known, and the sizes."""
    if not _kept:
        return NOTHING
    with _lock:
        owner, sizes = _kept.get(id(features), (None, {}))
        # The id of an object that is gone may belong to a new one.
        if owner is None or owner() is not features:
            return NOTHING
        _kept.move_to_end(id(features))
        known = sizes.get(space, NOTHING)
    if not len(known.places):
        return NOTHING
    codes = pairs @ (len(features.cardinalities), 1)
    at = np.minimum(np.searchsorted(known.places, codes), len(known.places) - 1)
    places = np.flatnonzero(known.places[at] == codes)
    return KnownSizes(places, known.sizes[at[places]], known.unit)


def keep(
    features: Features, pairs: IntArray, sizes: CountArray, unit: int, space: ContextSpace
) -> None:
    """Keep the sizes of the unions of one model for these pairs, in a unit."""
    codes = pairs @ (len(features.cardinalities), 1)
    with _lock:
        key = id(features)
        owner, kept = _kept.get(key, (None, {}))
        if owner is None or owner() is not features:
            owner, kept = _kept[key] = ref(features, lambda _: _forget(key)), {}
        known = kept.get(space, NOTHING)
        parts = [KnownSizes(codes, sizes, unit), known]
        # Sizes in either unit are whole numbers of their common divisor.
        unit = gcd(unit, known.unit) if len(known.places) else unit
        all_codes = np.concatenate([part.places for part in parts])
        all_sizes = np.concatenate([part.in_unit(unit) for part in parts])
        codes, first = np.unique(all_codes, return_index=True)
        if len(codes) > len(known.places):  # else no pair is new
            kept[space] = KnownSizes(codes, all_sizes[first], unit)
            total = 0
            for other in list(reversed(_kept)):  # those not used for longest go
                _, sizes_of_other = _kept.get(other, (None, {}))
                total += sum(map(_bytes, sizes_of_other.values()))
                if total > LIMIT:
                    _forget(other)


def clear() -> None:
    """Forget all sizes, so that the next comparison counts everything."""
    with _lock:
        _kept.clear()


def _bytes(known: KnownSizes) -> int:
    arrays = known.places.nbytes + known.sizes.nbytes
    return arrays + sum(map(sys.getsizeof, known.sizes)) * (known.sizes.dtype == object)


def _forget(key: int) -> None:
    with _lock:
        _kept.pop(key, None)
