"""The distribution of the free count of each table, given its margins.

A 2 x 2 table has one free count, given its margins. So has a 2 x 2 x 2 table, given its two-way
margins. Moving ``d`` observations adds ``signs * d`` to the cells, and d = 0 is the observed table.
The probability of a move is proportional to

    exp(tilt * d) / product of (cell + sign * d)!

where the tilt is the log odds ratio of a 2 x 2 table (Fisher), or the difference of the log odds
ratios of two groups (Zelen 1971).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from contextwise.support.arrays import BoolArray, FloatArray, IntArray

Array = TypeVar("Array", FloatArray, IntArray)

MOST_MOVES, STEPS = 2**22, 12
"""Of more moves some are listed, in steps of at most this part of twice their local deviation."""
PAIR_SIGNS = np.array([[1, -1], [-1, 1]])
"""Moving one observation along these signs keeps the margins of a 2 x 2 table."""
GROUP_SIGNS = np.array([-PAIR_SIGNS, PAIR_SIGNS])
"""The same for the two-way margins of a 2 x 2 x 2 table of group, A and B."""


def log_factorials(values: npt.ArrayLike) -> FloatArray:
    """Return ln k! of some whole numbers, which may be as large as the sum of all counts."""
    from scipy.special import gammaln

    return np.asarray(gammaln(np.asarray(values) + 1.0))


def _grid(down: int, up: int) -> tuple[IntArray, FloatArray]:
    """Return some of the moves from -down to up, and how many each stands for.

    A move that is t from its end has a standard deviation of at most the root of t + 1, whatever
    the tilt. The squares (k / STEPS)² have steps of 2 / STEPS of that root.

    >>> points, weights = _grid(2, 3)
    >>> points.tolist(), weights.tolist()
    ([-2, -1, 0, 1, 2, 3], [1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    """
    half = (down + up) // 2
    steps = np.arange(int(STEPS * np.sqrt(half + 1)) + 2)
    squares = np.unique(np.minimum((steps / STEPS) ** 2, half).astype(np.int64))
    points = np.unique(np.concatenate([squares - down, up - squares]))
    ends = np.concatenate([[points[0] - 1], points, [points[-1] + 1]])
    return points, (ends[2:] - ends[:-2]) / 2


@dataclass(frozen=True, eq=False)
class FreeCounts:
    """The possible moves of each table, and their probabilities at any tilt.

    The moves of all tables are in one array, table after table. Of very many moves only some are
    listed, each for those next to it, in steps that are small next to the standard deviation. So
    time and memory grow with the square root of the number of rows, and moments differ by 1e-5.

    >>> counts = FreeCounts.of([[[1, 1], [1, 1]]])
    >>> counts.moves.tolist(), counts.probabilities(0.0).round(3).tolist()
    ([-1, 0, 1], [0.167, 0.667, 0.167])
    """

    starts: IntArray  # the first move of each table
    owners: IntArray  # the table of each move
    moves: IntArray
    logs: FloatArray  # log probabilities at tilt 0, up to a constant of each table

    @classmethod
    def of(cls, tables: npt.ArrayLike, signs: IntArray = PAIR_SIGNS) -> FreeCounts:
        """Return the free counts of tables; tables that cannot move are left out."""
        flat = signs.ravel()
        cells = np.asarray(tables).reshape(-1, flat.size).astype(np.int64)
        down, up = cells[:, flat > 0].min(axis=1), cells[:, flat < 0].min(axis=1)
        free = down + up > 0
        cells, down, up = cells[free], down[free], up[free]
        widths = down + up + 1
        if widths.sum() > MOST_MOVES:
            lists = [_grid(*each) for each in zip(down.tolist(), up.tolist(), strict=True)]
            widths = np.array([len(points) for points, _ in lists], dtype=np.int64)
            moves, weights = (np.concatenate(each) for each in zip(*lists, strict=True))
        else:
            starts = np.cumsum(widths) - widths
            moves = np.arange(widths.sum()) - np.repeat(starts + down, widths)
            weights = np.ones(len(moves))
        starts = np.cumsum(widths) - widths
        owners = np.repeat(np.arange(len(cells)), widths)
        logs = np.log(weights)
        for cell, sign in zip(cells.T, flat, strict=True):
            logs -= log_factorials(cell[owners] + sign * moves)
        return cls(starts, owners, moves, logs)

    def __len__(self) -> int:
        return len(self.starts)

    def take(self, chosen: BoolArray) -> FreeCounts:
        """Return the free counts of some of the tables."""
        kept, places = chosen[self.owners], np.cumsum(chosen) - 1
        owners = places[self.owners[kept]]
        starts = np.searchsorted(owners, np.arange(np.count_nonzero(chosen)))
        return FreeCounts(starts, owners, self.moves[kept], self.logs[kept])

    def split(self, values: FloatArray) -> list[FloatArray]:
        """Return the values of the moves of each table."""
        return np.split(values, self.starts)[1:]

    def probabilities(self, tilt: FloatArray | float = 0.0) -> FloatArray:
        """Return the probability of each move; ``tilt`` is one number, or one per table."""
        logs = self.logs + np.broadcast_to(tilt, len(self))[self.owners] * self.moves
        weights = np.exp(logs - np.maximum.reduceat(logs, self.starts)[self.owners])
        return np.asarray(weights / self._sums(weights)[self.owners])

    def moments(self, tilt: FloatArray | float = 0.0) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the move of each table."""
        p = self.probabilities(tilt)
        means = self._sums(p * self.moves)
        return means, self._sums(p * (self.moves - means[self.owners]) ** 2)

    def _sums(self, values: FloatArray) -> FloatArray:
        """Sum over the moves of each table."""
        sums = np.bincount(self.owners, values, minlength=len(self))
        return np.asarray(sums, dtype=np.float64)

    @property
    def limit(self) -> float:
        """The estimate if it is infinite, because no table can move further; else 0."""
        if not len(self):
            return 0.0
        if not (self.moves > 0).any():
            return inf
        return 0.0 if (self.moves < 0).any() else -inf


def sums_of(
    values: Sequence[FloatArray], chances: Sequence[FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """List all sums of one value of each table, and their probabilities."""
    sums, products = np.zeros(1), np.ones(1)
    for value, chance in zip(values, chances, strict=True):
        sums = np.add.outer(sums, value).ravel()
        products = np.multiply.outer(products, chance).ravel()
    return sums, products


def cells_of(cell: Array, n: Array, row: Array, column: Array) -> tuple[Array, ...]:
    """Return the four cells of 2 x 2 tables with this last cell and these margins."""
    return n - row - column + cell, column - cell, row - cell, cell
