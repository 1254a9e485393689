"""P-values of X² where tables are small or rows repeat subjects, and corrections for many tests.

Given the margins of every table, all permutations within groups of rows are equally likely. Groups
in which every expected count is at least `EXPECTED` are **dense**: their part of X² follows the
gamma distribution with its exact mean and variance. The other groups are **sparse**, and their part
is exact:

- tables of two states each: the convolution of hypergeometric distributions. If there are many
  outcomes, it is on a grid: each outcome is split between its two neighbours, so that the mean is
  right;
- other tables: drawn with their margins, until `ENOUGH` draws are at least as large as the observed
  statistic, or contribute to its tail along with the dense groups. If that does not happen, p is
  the tail of a gamma distribution with the mean, variance and skewness of all groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from contextwise.evidence.free_counts import FreeCounts, cells_of, log_factorials, sums_of
from contextwise.support.arrays import BoolArray, FloatArray, IntArray

compiled: Any = None
"""The compiled functions of this module, if they are available."""
with suppress(ImportError):
    from contextwise.evidence import _count as compiled

EXPECTED = 5.0
"""The least expected count of a dense table."""
GRID = 2**10
"""Steps of the grid up to the observed statistic."""
LISTED = 2**11
"""Most outcomes of all tables together that are listed instead of put on the grid."""
DRAWS = 4_999
"""Most tables to draw for one test."""
ENOUGH = 50
"""Draws that reach the observed statistic, or contribute to its tail, which end the drawing."""
TINY = 1e-304
"""The smallest p-value."""
SLACK = 1e-9
"""Relative difference up to which statistics are equal: sums are rounded."""
FEW_SUBJECTS, FLIPS = 50, 1_999
"""Below this number of subjects, p is from this number of random signs of their scores."""


def gamma_tail(
    statistic: FloatArray | float, mean: FloatArray | float, variance: FloatArray | float
) -> FloatArray:
    """Return P(X >= statistic) of gamma distributions; 1 where the variance is 0.

    >>> float(gamma_tail(0.0, 1.0, 2.0)), round(float(gamma_tail(3.84, 1.0, 2.0)), 3)
    (1.0, 0.05)
    """
    from scipy.special import gammaincc

    varies = np.asarray(variance) > 1e-12
    scale = np.where(varies, variance, 1.0) / np.where(varies, mean, 1.0)
    shape = np.where(varies, mean, 1.0) / scale
    tail = gammaincc(shape, np.maximum(statistic, 0.0) / scale)
    return np.asarray(np.where(varies, tail, 1.0))


def skewed_tail(statistic: float, mean: float, variance: float, third: float) -> float:
    """Return P(X >= statistic) of the shifted gamma distribution with these central moments.

    >>> round(skewed_tail(3.84, 1.0, 2.0, 8.0), 3)
    0.05
    """
    from scipy.special import gammaincc

    skew = max(third / variance**1.5, 1e-3)
    shape = 4 / skew**2
    z = (statistic - mean) / sqrt(variance)
    return max(float(gammaincc(shape, max(0.0, shape + z * sqrt(shape)))), TINY)


def is_dense(tables: FloatArray) -> BoolArray:
    """Return which tables have no expected count below `EXPECTED`; empty states do not count."""
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    least = [np.where(m > 0, m, np.inf).min(axis=1) for m in (rows, columns)]
    return np.asarray(least[0] * least[1] >= EXPECTED * rows.sum(axis=1))


def exact_p(
    tables: FloatArray,
    statistic: float,
    dense: tuple[float, float],
    seed: np.random.Generator | Sequence[int],
) -> tuple[float, str]:
    """Return the p-value of X² and how it was found.

    Parameters
    ----------
    tables : the sparse ones, of shape (groups, states, states)
    statistic : X² of all groups
    dense : the mean and variance of X² of the dense groups; zeros if there are none
    seed : of the tables that are drawn
    """
    if statistic <= 0:
        return 1.0, "exact"
    if tables.shape[1:] != (2, 2):
        return _drawn_p(tables, statistic, dense, np.random.default_rng(seed)), "drawn"
    added = AddedTables(tables)
    if not dense[0]:
        return added.tail(statistic), "exact"
    below, beyond = added.convolved(statistic)
    # The tail of the dense groups is smooth: some places of the grid are enough.
    some = np.arange(0, GRID + 1, GRID // 128)
    logs = np.log(np.maximum(gamma_tail(statistic * (1 - some / GRID), *dense), 1e-320))
    beyond += float(below @ np.exp(np.interp(np.arange(GRID), some, logs)))
    return min(1.0, beyond), "exact"


# -- tables of two states each ---------------------------------------------------------------------


class AddedTables:
    """The distribution of X² added over 2 x 2 tables, given their margins; both variables vary."""

    def __init__(self, tables: FloatArray) -> None:
        self.tables = tables
        sums = tables.sum(axis=(1, 2)), tables[:, 1].sum(axis=1), tables[:, :, 1].sum(axis=1)
        self.margins = np.stack(sums, axis=1)

    @cached_property
    def counts(self) -> FreeCounts:
        """The free count of each table."""
        return FreeCounts.of(self.tables)

    @cached_property
    def values(self) -> list[FloatArray]:
        """The possible X² of each table."""
        cells = self.tables[:, 1, 1][self.counts.owners] + self.counts.moves
        n, row, column = self.margins[self.counts.owners].T
        # Whole numbers, so that a table that is exactly independent has 0.
        far = (cells * n - row * column) ** 2
        return self.counts.split(far * (n / (row * (n - row) * column * (n - column))))

    def _chances(self, tilt: float) -> list[FloatArray]:
        """Return the probabilities of these values if the log odds ratio is ``tilt``."""
        return self.counts.split(self.counts.probabilities(tilt))

    def distribution(self, top: float, tilt: float = 0.0) -> tuple[FloatArray, FloatArray]:
        """Return the possible sums of X², and their probabilities.

        If there are many, they are the places of the grid up to ``top``, the last for all beyond.
        """
        n, row, column = self.margins.T
        sizes = np.minimum(row, column) - np.maximum(0.0, row + column - n) + 1
        if sizes.prod() <= LISTED:
            return sums_of(self.values, self._chances(tilt))
        below, beyond = self.convolved(top, tilt)
        return np.arange(GRID + 1.0) * (top / GRID), np.concatenate([below, [beyond]])

    def tail(self, statistic: float, tilt: float = 0.0) -> float:
        """Return the probability that X² is at least this large."""
        values, chances = self.distribution(statistic, tilt)
        return min(1.0, float(chances[values >= statistic * (1 - SLACK)].sum()))

    def critical_value(self, level: float, largest: float) -> float | None:
        """Return the smallest X² whose p-value is at most the level; None if there is none."""
        values, chances = self.distribution(largest * (1 + 1 / GRID))
        order = np.argsort(values)
        values, tails = values[order], np.cumsum(chances[order][::-1])[::-1]
        # Equal statistics have one p-value: that of the first of them.
        p = tails[np.searchsorted(values, values * (1 - SLACK))]
        reached = np.flatnonzero(p <= level)
        return float(values[reached[0]]) if len(reached) else None

    def convolved(self, top: float, tilt: float = 0.0) -> tuple[FloatArray, float]:
        """Return the distribution on the grid below ``top``, and the probability beyond."""
        if compiled is not None:
            result = compiled.sum_of_tables(self.margins, top, GRID, tilt)
            return result[:-1], float(result[-1])
        below, beyond = np.zeros(GRID), 0.0
        below[0] = 1.0
        for values, chances in zip(self.values, self._chances(tilt), strict=True):
            exact = np.minimum(values * (GRID / top * (1 + SLACK)), GRID)
            places = exact.astype(np.int64)
            upper = chances * (exact - places)
            step = np.bincount(places, chances - upper, minlength=GRID + 2)
            step[1:] += np.bincount(places, upper, minlength=GRID + 1)[: GRID + 1]
            whole = np.zeros(2 * GRID)
            for place in np.flatnonzero(step[:GRID]).tolist():
                whole[place : place + GRID] += step[place] * below
            beyond += float(step[GRID:].sum()) * float(below.sum()) + float(whole[GRID:].sum())
            below = whole[:GRID]
        return below, beyond


def smallest_p(tables: FloatArray) -> FloatArray:
    """Bound from below the p-value that any tables with these margins can have, for each table.

    For two states each it is the probability of the largest X². Otherwise p is a multiple of one
    over the number of arrangements of either variable.
    """
    whole = tables.astype(np.int64)
    rows, columns, n = whole.sum(axis=2), whole.sum(axis=1), whole.sum(axis=(1, 2))
    row_logs, column_logs = (log_factorials(margin).sum(axis=1) for margin in (rows, columns))
    whole_logs = log_factorials(n)
    if tables.shape[1:] != (2, 2):
        return np.asarray(np.exp(np.maximum(row_logs, column_logs) - whole_logs))
    row, column = rows[:, 1], columns[:, 1]
    result = np.zeros(len(tables))
    largest = np.zeros(len(tables), dtype=np.int64)
    for cell in (np.minimum(row, column), np.maximum(0, row + column - n)):
        distance = np.abs(cell * n - row * column)
        inner = sum(log_factorials(part) for part in cells_of(cell, n, row, column))
        chance = np.exp(row_logs + column_logs - whole_logs - inner)
        # Both ends count if they are equally far from independence.
        result = np.where(distance > largest, chance, result + chance * (distance == largest))
        largest = np.maximum(largest, distance)
    return result


# -- other tables ----------------------------------------------------------------------------------


def _drawn_p(
    tables: FloatArray, statistic: float, dense: tuple[float, float], rng: np.random.Generator
) -> float:
    drawn, batch = np.zeros(0), 4 * ENOUGH - 1
    while len(drawn) < DRAWS:
        more = draw_statistics(tables, min(batch, DRAWS - len(drawn)), rng)
        drawn, batch = np.concatenate([drawn, more]), 4 * batch
        tails = (
            gamma_tail(statistic - drawn, *dense)
            if dense[0]
            else (drawn >= statistic * (1 - SLACK)).astype(np.float64)
        )
        # Draws count by their share: a few of them must not make up most of the tail.
        if tails.sum() ** 2 >= ENOUGH * (tails**2).sum() > 0:
            # The observed tables count as a draw, so p is never 0.
            least = 0.0 if dense[0] else 1.0
            return float((least + tails.sum()) / (least + len(tails)))
    third = float(((drawn - drawn.mean()) ** 3).mean())
    if dense[0]:
        third += 2 * dense[1] ** 2 / dense[0]
    mean, variance = float(drawn.mean()) + dense[0], float(drawn.var()) + dense[1]
    if variance < 1e-12:
        return 1 / (1 + len(drawn))
    return skewed_tail(statistic, mean, variance, third)


MOST_DRAWN_MARGINS = 2**22
"""The most margins of drawn tables held at once."""


def draw_statistics(tables: FloatArray, draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw tables with the margins of these, and return the sum of X² of each draw."""
    high, wide = tables.shape[1:]
    each = max(1, MOST_DRAWN_MARGINS // max(1, len(tables) * wide))
    if draws > each:  # in parts, so that the memory is bounded
        parts = [min(each, draws - k) for k in range(0, draws, each)]
        return np.concatenate([draw_statistics(tables, part, rng) for part in parts])
    rows, columns = tables.sum(axis=2).astype(np.int64), tables.sum(axis=1).astype(np.int64)
    free = np.repeat(columns[None], draws, axis=0)  # what is left of each column
    total = np.zeros((draws, len(tables)))
    n = rows.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        for i in range(high):
            need = np.repeat(rows[None, :, i], draws, axis=0)
            rest = free.sum(axis=2)
            for j in range(wide):
                rest = rest - free[:, :, j]
                cell = need.copy()
                # The last row and the last cell of a row follow from the margins.
                if i == high - 1:
                    cell = free[:, :, j].copy()
                elif j < wide - 1:
                    cell = np.asarray(rng.hypergeometric(free[:, :, j], rest, need))
                need = need - cell
                free[:, :, j] -= cell
                expected = rows[:, i] * columns[:, j] / n
                total += np.where(expected > 0, (cell - expected) ** 2 / expected, 0.0)
    return np.asarray(total.sum(axis=1))


# -- several rows of one subject -------------------------------------------------------------------


class SubjectTest(NamedTuple):
    """The p-value, and the variance of the score over that of independent rows."""

    p: float
    inflation: float


def subject_test(
    first: IntArray, second: IntArray, groups: IntArray, subjects: IntArray
) -> SubjectTest:
    """Test two columns of codes within groups of rows; ``subjects`` numbers the subjects.

    Rows of one subject are not independent, so permutations of rows are not equally likely. The
    score of a row is (a - mean of a) × (b - mean of b), with the means of its group; if A and B are
    independent, its sum over rows is 0 on average. Scores are added up for each subject, and the
    sum over subjects is compared with its spread between subjects (a cluster-robust score test).

    >>> a = np.array([0, 1] * 50)
    >>> result = subject_test(a, a, np.zeros(100, dtype=int), np.arange(100) // 2)
    >>> result.p < 1e-10
    True
    """
    from scipy.special import fdtrc

    x, y = (_centred(column, groups) for column in (first, second))
    scores = (x[:, :, None] * y[:, None, :]).reshape(len(first), -1)
    number = np.unique(subjects, return_inverse=True)[1]
    own = np.zeros((int(number.max(initial=-1)) + 1, scores.shape[1]))
    np.add.at(own, number, scores)
    own = own[np.abs(own).max(axis=1, initial=0.0) > 1e-12]
    count, freedom = len(own), int(np.linalg.matrix_rank(own)) if own.size else 0
    if count <= freedom or not freedom:
        return SubjectTest(1.0, 1.0)
    spread, total = np.linalg.pinv(own.T @ own), own.sum(axis=0)
    statistic = float(total @ spread @ total)
    naive = scores.T @ scores
    inflation = float(np.trace(own.T @ own @ np.linalg.pinv(naive))) / freedom
    if count < FEW_SUBJECTS:
        signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(FLIPS, count))
        sums = signs @ own
        flipped = np.einsum("ki,ij,kj->k", sums, spread, sums)
        p = (1 + int((flipped >= statistic * (1 - SLACK)).sum())) / (1 + FLIPS)
    else:
        ratio = (count - freedom) / freedom * statistic / max(count - statistic, 1e-12)
        p = float(fdtrc(freedom, count - freedom, ratio))
    return SubjectTest(p, max(inflation, 1.0))


def _centred(column: IntArray, groups: IntArray) -> FloatArray:
    """Return an indicator of each state but the first, less its mean in the group of the row."""
    hot = (column[:, None] == np.arange(1, int(column.max(initial=0)) + 1)).astype(np.float64)
    sizes = np.bincount(groups)
    means = np.zeros((len(sizes), hot.shape[1]))
    np.add.at(means, groups, hot)
    return np.asarray(hot - (means / np.maximum(sizes, 1)[:, None])[groups])


# -- many tests ------------------------------------------------------------------------------------


def benjamini_yekutieli(p: FloatArray) -> FloatArray:
    """Return p-values corrected for their number, under any dependence.

    >>> benjamini_yekutieli(np.array([0.01, 0.5])).tolist()  # times 2 · (1 + 1/2) / rank
    [0.03, 0.75]
    """
    count = len(p)
    order = np.argsort(p)
    ranks = np.arange(1, count + 1)
    raised = p[order] * count * (1 / ranks).sum() / ranks
    result = np.empty(count)
    result[order] = np.minimum.accumulate(raised[::-1])[::-1]
    return np.minimum(result, 1.0)
