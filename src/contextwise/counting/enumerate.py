"""The oracle: visit every context and test whether a cube allows it. For tests and small domains.

Cost: the number of cells (products of value classes) times the number of cubes.
"""

from __future__ import annotations

from math import prod

import numpy as np
import numpy.typing as npt

from contextwise.counting.cover import Cover
from contextwise.errors import TooLargeError
from contextwise.models.features import members
from contextwise.support.deadline import NEVER, Deadline

LIMIT = 2**28
BLOCK = 2**16


def count_union(cover: Cover, *, deadline: Deadline = NEVER) -> int:
    """Count the union of the cubes by visiting every cell of the cover.

    >>> from contextwise.counting.cover import cover_of
    >>> count_union(cover_of([2, 3, 5], [[(0, 0b01)], [(0, 0b10), (1, 0b001)]]))
    20
    """
    shape = [len(classes) for classes in cover.weights]
    cells = prod(shape)
    if cells > LIMIT:
        raise TooLargeError(
            f"enumerate would visit {cells} cells of a cover, more than {LIMIT}; use engine auto"
        )
    allowed = [_allowed(cover, cube) for cube in cover.cubes]
    exact_in_words = cover.total // cover.scale < 2**62
    counted = 0
    for first in range(0, cells, BLOCK):
        deadline.check()
        cell = np.unravel_index(np.arange(first, min(first + BLOCK, cells)), shape) if shape else ()
        covered = np.zeros(min(BLOCK, cells - first), dtype=bool)
        for cube in allowed:
            inside = np.ones(len(covered), dtype=bool)
            for variable, classes in cube:
                inside &= classes[cell[variable]]
            covered |= inside
        chosen = [axis[covered] for axis in cell]
        counted += _weight(cover, chosen, int(covered.sum()), exact_in_words)
    return counted * cover.scale


def _allowed(cover: Cover, cube: int) -> list[tuple[int, npt.NDArray[np.bool_]]]:
    """Return the variables that the cube tests, each with a mask of the classes it allows."""
    tests, at = [], 0
    for variable, classes in enumerate(cover.weights):
        own = cube >> at & ((1 << len(classes)) - 1)
        at += len(classes)
        if own.bit_count() < len(classes):
            mask = np.zeros(len(classes), dtype=bool)
            mask[members(own)] = True
            tests.append((variable, mask))
    return tests


def _weight(
    cover: Cover, cells: list[npt.NDArray[np.intp]], count: int, exact_in_words: bool
) -> int:
    weight = np.ones(count, dtype=np.int64 if exact_in_words else object)
    for axis, classes in zip(cells, cover.weights, strict=True):
        weight = weight * np.array(classes, dtype=weight.dtype)[axis]
    return int(weight.sum())
