"""The oracle: visit every context and test whether a cube allows it. For tests and small domains.

Cost: the number of cells (products of value classes) times the number of cubes.
"""

from __future__ import annotations

from math import prod

import numpy as np
import numpy.typing as npt

from contextwise.counting.cover import Cover
from contextwise.errors import TooLargeError
from contextwise.support.effort import NEVER, Deadline

MOST_CELLS_VISITED = 2**28
CELLS_VISITED_AT_ONCE = 2**16


def count_union(cover: Cover, *, deadline: Deadline = NEVER) -> int:
    """Count the union of the cubes by visiting every cell of the cover."""
    shape = [len(classes) for classes in cover.weights]
    cells = prod(shape)
    if cells > MOST_CELLS_VISITED:
        raise TooLargeError(
            f"enumerate would visit {cells} cells of a cover, more than {MOST_CELLS_VISITED}; "
            "use engine auto"
        )
    allowed = [_allowed(cover, cube) for cube in cover.cubes]
    # No sum of weights exceeds the total, so machine integers are exact below this.
    exact_in_words = cover.total // cover.scale < 2**62
    counted = 0
    for first in range(0, cells, CELLS_VISITED_AT_ONCE):
        deadline.check()
        # NumPy cannot unravel places of an empty shape, which has one cell.
        cell = (
            np.unravel_index(np.arange(first, min(first + CELLS_VISITED_AT_ONCE, cells)), shape)
            if shape
            else ()
        )
        covered = np.zeros(min(CELLS_VISITED_AT_ONCE, cells - first), dtype=bool)
        for cube in allowed:
            inside = np.ones(len(covered), dtype=bool)
            for variable, classes in cube:
                inside &= classes[cell[variable]]
            covered |= inside
        weight = np.ones(int(covered.sum()), dtype=np.int64 if exact_in_words else object)
        for axis, of_classes in zip(cell, cover.weights, strict=True):
            weight = weight * np.array(of_classes, dtype=weight.dtype)[axis[covered]]
        counted += int(weight.sum())
    return counted * cover.scale


def _allowed(cover: Cover, cube: int) -> list[tuple[int, npt.NDArray[np.bool_]]]:
    """Return the variables that the cube tests, each with a mask of the classes it allows."""
    tests = []
    for variable, classes in enumerate(cover.weights):
        count = len(classes)
        bits = cube & ((1 << count) - 1)
        cube >>= count
        if bits.bit_count() < count:
            mask = np.array([bits >> k & 1 for k in range(count)], dtype=bool)
            tests.append((variable, mask))
    return tests
