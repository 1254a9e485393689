"""Are two variables independent given groups of rows? A conditional G² with an exact null.

Rows are in groups. Within a group the values of the first variable are exchangeable if the claim
holds, so every way to permute them among the rows of their group is equally likely. The statistic
is the sum over groups of G² of the table of the two variables; its **null** is its distribution
over all permutations, which is exact whatever the sample size.

- Where every table has two rows and two columns (states that do not occur do not count), a table is
  one number with a hypergeometric distribution, and the distribution of the sum is computed by
  convolution, on a grid. Statistics are rounded up to the grid and the observed one down: the
  p-value is exact, or too large by a little, and never too small.
- Elsewhere tables are drawn, until the answer is clear (Besag and Clifford 1991): the draws stop
  when `ENOUGH` of them have been at least as large as what was observed, and p = `ENOUGH` / draws.
  Otherwise p = (1 + those) / (1 + draws), and more draws could make it smaller.

Groups whose table has one row or one column are **silent**: no permutation changes them. So are
those of which every permutation has the same G².
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import log

import numpy as np
import numpy.typing as npt

from contextwise.errors import require
from contextwise.models.features import IntArray

FloatArray = npt.NDArray[np.float64]
_Part = tuple[FloatArray, FloatArray, int]
"""The statistics a table can have, their probabilities, and how many tables are alike."""

ENOUGH = 10
"""So many draws at least as large as the observed one end the drawing."""
COARSE, FINE = 2**10, 2**14
"""Into how many steps the observed statistic is divided for the convolution: first, and again."""
INTERESTING = 0.2
"""A p-value up to this is computed again on the fine grid; it can only become smaller."""
NEGLIGIBLE = 1e-100
"""A probability below this is counted as if its statistic were large: p is never too small."""
SLACK = 1e-9
"""Statistics this close to the observed one, relative to it, count as equal: sums are rounded."""


@dataclass(frozen=True)
class ConditionalTest:
    """A conditional G² and where it stands among permutations.

    Attributes
    ----------
    rows : the rows that can speak: those of groups that are not silent
    groups, silent : how many groups there are, and how many of them are silent
    statistic : G² of the groups that are not silent
    mean : its mean over permutations
    p_value : the probability of a statistic at least as large; 1 if no row can speak
    draws : how many tables were drawn; 0 if the null was computed
    clear : whether more draws could not change much: computed, or stopped early
    """

    rows: int
    groups: int
    silent: int
    statistic: float
    mean: float
    p_value: float
    draws: int = 0
    clear: bool = True

    @property
    def bits(self) -> float:
        """The conditional mutual information less its mean under permutation, per row, in bits."""
        return (self.statistic - self.mean) / (2 * self.rows * log(2)) if self.rows else 0.0


def conditional_test(
    first: IntArray,
    second: IntArray,
    groups: IntArray,
    *,
    rng: np.random.Generator,
    draws: int = 9_999,
) -> ConditionalTest:
    """Test whether two columns are independent within groups of rows.

    Parameters
    ----------
    first, second : the codes of the two variables, one per row
    groups : the group of each row
    rng : for tables with more than two rows or columns
    draws : the most tables that are drawn then

    Returns
    -------
    ConditionalTest

    Examples
    --------
    >>> x = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> found = conditional_test(x, x, np.zeros(8, dtype=int), rng=np.random.default_rng(1))
    >>> found.p_value, found.rows, round(found.statistic, 2)
    (0.02857..., 8, 11.09)
    """
    tables = _tables(first, second, groups)
    speaking = [table for table in tables if _speaks(table)]
    rows = int(sum(table.sum() for table in speaking))
    statistic = float(sum(g_squared(table) for table in speaking))
    counts = rows, len(tables), len(tables) - len(speaking), statistic
    if all(table.shape == (2, 2) for table in speaking):
        mean, p_value = _convolved(speaking, statistic)
        return ConditionalTest(*counts, mean, p_value)
    mean, p_value, drawn, clear = _sampled(speaking, statistic, draws, rng)
    return ConditionalTest(*counts, mean, p_value, drawn, clear)


# -- tables --------------------------------------------------------------------------------------


def _tables(first: IntArray, second: IntArray, groups: IntArray) -> list[IntArray]:
    """The table of each group, without rows and columns that are empty."""
    if not len(first):
        return []
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=groups[order[0]] - 1))
    wide, high = int(second.max()) + 1, int(first.max()) + 1
    codes = (first * wide + second)[order]
    tables = []
    for codes_of_group in np.split(codes, starts[1:]):
        if len(codes_of_group) > 1:
            table = np.bincount(codes_of_group, minlength=high * wide).reshape(high, wide)
            tables.append(table[table.any(axis=1)][:, table.any(axis=0)])
        else:
            tables.append(np.ones((1, 1), dtype=np.int64))
    return tables


def _speaks(table: IntArray) -> bool:
    """Whether permutations have different statistics: not so for two rows, or one that is 1, 1."""
    if min(table.shape) < 2:
        return False
    if table.shape != (2, 2):
        return True
    return len(_outcomes(*_margins(table))[0]) > 1


def _margins(table: IntArray) -> tuple[int, int, int]:
    """Of two rows and two columns: the sums of the whole, the second row, the second column."""
    return int(table.sum()), int(table[1].sum()), int(table[:, 1].sum())


def g_squared(table: npt.NDArray[np.int64]) -> float:
    """The likelihood-ratio statistic of independence in a table.

    >>> round(g_squared(np.array([[3, 1], [1, 3]])), 4)
    2.093
    """
    parts = (
        _x_log_x(table).sum()
        - _x_log_x(table.sum(axis=0)).sum()
        - _x_log_x(table.sum(axis=1)).sum()
        + _x_log_x(table.sum(keepdims=True)).sum()
    )
    return max(0.0, 2 * float(parts))


def _x_log_x(counts: npt.NDArray[np.int64]) -> FloatArray:
    x = counts.astype(np.float64)
    logs: FloatArray = x * np.log(np.maximum(x, 1.0))
    return logs


@lru_cache(maxsize=2**16)
def _outcomes(n: int, row: int, column: int) -> tuple[FloatArray, FloatArray]:
    """The statistics a 2 × 2 table with these margins can have, and their probabilities."""
    cells = np.arange(max(0, row + column - n), min(row, column) + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])

    def choose(of: int, some: IntArray) -> FloatArray:
        chosen: FloatArray = logs[of] - logs[some] - logs[of - some]
        return chosen

    chances = np.exp(
        choose(row, cells) + choose(n - row, column - cells) - choose(n, np.array([column]))
    )
    tables = np.array(
        [[n - row - column + cells, column - cells], [row - cells, cells]], dtype=np.int64
    )
    margins = np.array([row, n - row, column, n - column])
    statistics = 2 * (
        _x_log_x(tables).sum(axis=(0, 1)) - _x_log_x(margins).sum() + _x_log_x(np.array([n])).sum()
    )
    return _merged(np.maximum(statistics, 0.0), chances / chances.sum())


def _merged(statistics: FloatArray, chances: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Equal statistics as one, rising."""
    order = np.argsort(statistics)
    statistics, chances = statistics[order], chances[order]
    close = SLACK * max(1.0, float(statistics[-1]))
    fresh = np.flatnonzero(np.diff(statistics, prepend=-1.0) > close)
    return np.maximum.reduceat(statistics, fresh), np.add.reduceat(chances, fresh)


# -- the null by convolution ---------------------------------------------------------------------


def _convolved(tables: list[IntArray], observed: float) -> tuple[float, float]:
    """The mean of the statistic and the p-value, for tables of two rows and two columns."""
    alike: dict[tuple[int, int, int], int] = {}
    for table in tables:
        margins = _margins(table)
        alike[margins] = alike.get(margins, 0) + 1
    parts: list[_Part] = [(*_outcomes(*margins), times) for margins, times in alike.items()]
    mean = sum(times * float(values @ chances) for values, chances, times in parts)
    if observed <= 0 or not tables:
        return mean, 1.0
    p_value = _tail(parts, observed, COARSE)
    return mean, p_value if p_value > INTERESTING else _tail(parts, observed, FINE)


def _tail(parts: list[_Part], observed: float, grid: int) -> float:
    """The probability of a sum at least as large as the observed one, rounded up."""
    below, tail = np.zeros(grid), 0.0
    below[0] = 1.0
    for values, chances, times in parts:
        if len(values) == 2:
            values, chances, times = *_repeated(values, chances, times), 1
        places = np.ceil(values * (grid / observed * (1 - SLACK))).astype(np.int64)
        for _ in range(times):
            below, tail = _added(below, tail, places, chances)
    return min(1.0, tail)


def _repeated(values: FloatArray, chances: FloatArray, times: int) -> tuple[FloatArray, FloatArray]:
    """The sum of so many tables that have one of two statistics: binomial."""
    some = np.arange(times + 1)
    stats = require("scipy.stats", "statistics")
    weights: FloatArray = stats.binom.pmf(some, times, chances[1])
    return (times - some) * values[0] + some * values[1], weights


def _added(
    below: FloatArray, tail: float, places: IntArray, chances: FloatArray
) -> tuple[FloatArray, float]:
    """The distribution on the grid, and what lies beyond it, with one more table."""
    grid = len(below)
    likely = (chances > NEGLIGIBLE) & (places < grid)
    result = np.zeros(grid)
    beyond = tail + float(chances[~likely].sum()) * float(below.sum())
    above = np.concatenate([np.cumsum(below[::-1])[::-1], [0.0]])
    for place, chance in zip(places[likely].tolist(), chances[likely].tolist(), strict=True):
        result[place:] += chance * below[: grid - place]
        beyond += chance * float(above[grid - place])
    return result, beyond


# -- the null by drawing -------------------------------------------------------------------------


def _sampled(
    tables: list[IntArray], observed: float, draws: int, rng: np.random.Generator
) -> tuple[float, float, int, bool]:
    """The mean, the p-value, how many draws it took, and whether they were enough."""
    done, large, total = 0, 0, 0.0
    limit = observed * (1 - SLACK)
    batch = 10 * ENOUGH - 1
    while done < draws:
        statistics = _draw(tables, min(batch, draws - done), rng)
        total += float(statistics.sum())
        hits = np.flatnonzero(statistics >= limit)
        if large + len(hits) >= ENOUGH:
            last = done + int(hits[ENOUGH - large - 1]) + 1
            return total / (done + len(statistics)), ENOUGH / last, last, True
        done, large, batch = done + len(statistics), large + len(hits), 10 * batch
    return total / done, (1 + large) / (1 + done), done, False


def _draw(tables: list[IntArray], draws: int, rng: np.random.Generator) -> FloatArray:
    """The statistic of so many random tables with the margins of these."""
    stats = require("scipy.stats", "statistics")
    statistics = np.zeros(draws)
    for table in tables:
        rows, columns = table.sum(axis=1), table.sum(axis=0)
        drawn = stats.random_table(rows, columns).rvs(draws, random_state=rng).astype(np.int64)
        fixed = _x_log_x(rows).sum() + _x_log_x(columns).sum() - _x_log_x(rows.sum(keepdims=True))
        statistics += 2 * (_x_log_x(drawn).sum(axis=(1, 2)) - fixed)
    return statistics
