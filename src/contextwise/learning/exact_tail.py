"""P-values of X² where tables are small, and the power of such tests.

Given the margins of every table, all permutations within groups of rows are equally likely. Groups
in which every expected count is at least `EXPECTED` are **dense**: their part of X² follows the
gamma distribution with its exact mean and variance. The other groups are **sparse**, and their part
is exact:

- tables of two states each: the convolution of hypergeometric distributions. If there are many
  outcomes, it is on a grid: each outcome is split between its two neighbours, so that the mean is
  right;
- other tables: drawn with their margins, until `ENOUGH` draws are at least as large as the observed
  statistic. If that does not happen, p is the tail of a gamma distribution with the mean, variance
  and skewness of the draws.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from math import exp, log
from typing import Any

import numpy as np

from contextwise.support.arrays import BoolArray, FloatArray, IntArray

compiled: Any = None
"""The compiled functions of this module, if they are available."""
with suppress(ImportError):
    from contextwise.learning import _count as compiled

EXPECTED = 5.0
"""The least expected count of a dense table."""
GRID = 2**10
"""Steps of the grid up to the observed statistic."""
LISTED = 2**11
"""Most outcomes of all tables together that are listed instead of put on the grid."""
DRAWS = 4_999
"""Most tables to draw for one test."""
ENOUGH = 50
"""Draws at least as large as the observed statistic that end the drawing."""
SLACK = 1e-9
"""Relative difference up to which statistics are equal: sums are rounded."""
STRONG = 0.3
"""Cramér's V of a strong association: a test that finds only stronger ones is too weak."""
LARGEST_RATIO = 50.0
"""The largest odds ratio that is tried as one that a test could show."""
POWER = 0.8
"""The probability with which a test must find an association that it is said to find."""

Part = tuple[FloatArray, FloatArray, FloatArray]
"""Possible X² of a table of two states each, their log probabilities, and the last cell."""


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


def is_dense(tables: FloatArray) -> BoolArray:
    """Return which tables have no expected count below `EXPECTED`; empty states do not count."""
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    least = [np.where(m > 0, m, np.inf).min(axis=1) for m in (rows, columns)]
    return np.asarray(least[0] * least[1] >= EXPECTED * rows.sum(axis=1))


def exact_p(
    tables: FloatArray,
    statistic: float,
    dense: tuple[float, float],
    rng: np.random.Generator,
) -> tuple[float, str]:
    """Return the p-value of X² and how it was found.

    Parameters
    ----------
    tables : the sparse ones, of shape (groups, states, states)
    statistic : X² of all groups
    dense : the mean and variance of X² of the dense groups; zeros if there are none
    """
    if statistic <= 0:
        return 1.0, "exact"
    if tables.shape[1:] != (2, 2):
        return _drawn_p(tables, statistic, dense, rng)
    margins = _margins(tables)
    if not dense[0] and _count_outcomes(margins).prod() <= LISTED:
        values, chances = _listed(margins)
        return min(1.0, float(chances[values >= statistic * (1 - SLACK)].sum())), "exact"
    below, beyond = _convolved(margins, statistic)
    if dense[0]:
        # The tail is smooth: some places of the grid are enough.
        some = np.arange(0, GRID + 1, GRID // 128)
        logs = np.log(np.maximum(gamma_tail(statistic * (1 - some / GRID), *dense), 1e-320))
        beyond += float(below @ np.exp(np.interp(np.arange(GRID), some, logs)))
    return min(1.0, beyond), "exact"


# -- tables of two states each ---------------------------------------------------------------------


def _margins(tables: FloatArray) -> IntArray:
    """Return the sum of all cells, of the second row, and of the second column of each table."""
    sums = tables.sum(axis=(1, 2)), tables[:, 1].sum(axis=1), tables[:, :, 1].sum(axis=1)
    return np.stack(sums, axis=1).astype(np.int64)


def _count_outcomes(margins: IntArray) -> FloatArray:
    """Return how many tables have these margins."""
    n, row, column = margins.T.astype(np.float64)
    return np.asarray(np.minimum(row, column) - np.maximum(0.0, row + column - n) + 1)


@lru_cache(maxsize=2**14)
def outcomes(n: int, row: int, column: int) -> Part:
    """Return the possible X² of a table with these margins, log probabilities, and last cells."""
    from scipy.special import gammaln

    cells = np.arange(max(0, row + column - n), min(row, column) + 1, dtype=np.float64)
    logs = -(
        gammaln(cells + 1)
        + gammaln(row - cells + 1)
        + gammaln(column - cells + 1)
        + gammaln(n - row - column + cells + 1)
    )
    logs -= np.logaddexp.reduce(logs)
    # Whole numbers, so that a table that is exactly independent has 0.
    values = (cells * n - row * column) ** 2 * (n / (row * (n - row) * column * (n - column)))
    return values, logs, cells


def _chances(part: Part, tilt: float) -> FloatArray:
    """Return the probabilities of the outcomes if the log odds ratio is ``tilt``."""
    logs = part[1] + tilt * part[2]
    return np.asarray(np.exp(logs - np.logaddexp.reduce(logs)))


def _listed(margins: IntArray, tilt: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Return every sum of statistics and its probability."""
    values, chances = np.zeros(1), np.ones(1)
    for part in map(outcomes, *margins.T.tolist()):
        values = (values[:, None] + part[0]).ravel()
        chances = (chances[:, None] * _chances(part, tilt)).ravel()
    return values, chances


def _convolved(margins: IntArray, top: float, tilt: float = 0.0) -> tuple[FloatArray, float]:
    """Return the distribution of the sum on the grid below ``top``, and the probability beyond."""
    if compiled is not None:
        result = compiled.sum_of_tables(margins.astype(np.float64), top, GRID, tilt)
        return result[:-1], float(result[-1])
    below, beyond = np.zeros(GRID), 0.0
    below[0] = 1.0
    for part in map(outcomes, *margins.T.tolist()):
        exact = np.minimum(part[0] * (GRID / top * (1 + SLACK)), GRID)
        places = exact.astype(np.int64)
        chances = _chances(part, tilt)
        upper = chances * (exact - places)
        step = np.bincount(places, chances - upper, minlength=GRID + 2)
        step[1:] += np.bincount(places, upper, minlength=GRID + 1)[: GRID + 1]
        whole = np.zeros(2 * GRID)
        for place in np.flatnonzero(step[:GRID]).tolist():
            whole[place : place + GRID] += step[place] * below
        beyond += float(step[GRID:].sum()) * float(below.sum()) + float(whole[GRID:].sum())
        below = whole[:GRID]
    return below, beyond


def log_factorials(counts: FloatArray) -> FloatArray:
    """Return ln k! of k = 0, 1, ... up to the largest of these counts."""
    from scipy.special import gammaln

    return np.asarray(gammaln(np.arange(1, int(counts.max(initial=0.0)) + 2)))


def smallest_p(tables: FloatArray) -> FloatArray:
    """Bound from below the p-value that any tables with these margins can have, for each table.

    For two states each it is the probability of the largest X². Otherwise p is a multiple of one
    over the number of arrangements of either variable.
    """
    whole = tables.astype(np.int64)
    rows, columns, n = whole.sum(axis=2), whole.sum(axis=1), whole.sum(axis=(1, 2))
    logs = log_factorials(n)
    row_logs, column_logs = (logs[margin].sum(axis=1) for margin in (rows, columns))
    if tables.shape[1:] != (2, 2):
        return np.asarray(np.exp(np.maximum(row_logs, column_logs) - logs[n]))
    row, column = rows[:, 1], columns[:, 1]
    result = np.zeros(len(tables))
    largest = np.zeros(len(tables), dtype=np.int64)
    for cell in (np.minimum(row, column), np.maximum(0, row + column - n)):
        distance = np.abs(cell * n - row * column)
        inner = logs[cell] + logs[row - cell] + logs[column - cell] + logs[n - row - column + cell]
        chance = np.exp(row_logs + column_logs - logs[n] - inner)
        # Both ends count if they are equally far from independence.
        result = np.where(distance > largest, chance, result + chance * (distance == largest))
        largest = np.maximum(largest, distance)
    return result


def odds_ratio_shown(tables: FloatArray, level: float, start: float) -> float | None:
    """Return an odds ratio that the test at this level finds with probability `POWER`.

    One over it is found, too. Tries odds ratios from ``start`` up to `LARGEST_RATIO`, while
    Cramér's V of the association is at most `STRONG`; None if none of them has that power. All
    tables have two states each; the probabilities are exact, given the margins.
    """
    from contextwise.learning.effect_size import Cells  # imports this module

    margins = _margins(tables)
    n, row, column = margins.T.astype(np.float64)
    product = row * column
    scale = n / (product * (n - row) * (n - column))  # X² is this times (n cell - product)²
    ends = np.minimum(row, column), np.maximum(0.0, row + column - n)
    largest = np.maximum(*((n * end - product) ** 2 for end in ends)) * scale
    critical = _critical(margins, level, float(largest.sum()))
    cells = Cells.of(tables)
    ratio = max(start, 1.05)
    while critical is not None and ratio <= LARGEST_RATIO:
        tilts = log(ratio), -log(ratio)
        means = [cells.moments(np.full(len(n), tilt))[0] for tilt in tilts]
        expected = max(float(((n * mean - product) ** 2 * scale).sum()) for mean in means)
        if expected > n.sum() * STRONG**2:
            break
        if all(_power(margins, critical, tilt) >= POWER for tilt in tilts):
            return ratio
        ratio = exp(log(ratio) * 1.15)
    return None


def _critical(margins: IntArray, level: float, top: float) -> float | None:
    """Return the smallest statistic whose p-value is at most the level; None if there is none."""
    if _count_outcomes(margins).prod() <= LISTED:
        values, chances = _listed(margins)
        order = np.argsort(-values)
        tails = np.cumsum(chances[order])
        reached = values[order][tails <= level]
        return float(reached[-1]) if len(reached) else None
    top *= 1 + 1 / GRID
    below, beyond = _convolved(margins, top)
    tails = np.cumsum(below[::-1])[::-1] + beyond
    places = np.flatnonzero(tails <= level)
    return float(places[0]) / GRID * top if len(places) else None


def _power(margins: IntArray, critical: float, tilt: float) -> float:
    """Return the probability of a statistic from the critical one on."""
    if _count_outcomes(margins).prod() <= LISTED:
        values, chances = _listed(margins, tilt)
        return float(chances[values >= critical * (1 - SLACK)].sum())
    return _convolved(margins, critical, tilt)[1]


# -- other tables ----------------------------------------------------------------------------------


def _drawn_p(
    tables: FloatArray, statistic: float, dense: tuple[float, float], rng: np.random.Generator
) -> tuple[float, str]:
    drawn, batch = np.zeros(0), 4 * ENOUGH - 1
    while len(drawn) < DRAWS:
        more = draw_statistics(tables, min(batch, DRAWS - len(drawn)), rng)
        drawn, batch = np.concatenate([drawn, more]), 4 * batch
        tails = (
            gamma_tail(statistic - drawn, *dense)
            if dense[0]
            else (drawn >= statistic * (1 - SLACK)).astype(np.float64)
        )
        if tails.sum() >= ENOUGH:
            break
    if tails.sum() >= ENOUGH or dense[0]:
        # The observed tables count as a draw, so p is never 0.
        least = 0.0 if dense[0] else 1.0
        return float((least + tails.sum()) / (least + len(tails))), "drawn"
    return _skewed_tail(drawn, statistic), "drawn"


def _skewed_tail(drawn: FloatArray, statistic: float) -> float:
    """Return the tail of the shifted gamma with mean, variance and skewness of some draws."""
    mean, spread = float(drawn.mean()), float(drawn.std())
    if spread < 1e-12:
        return 1 / (1 + len(drawn))
    skew = max(float(((drawn - mean) ** 3).mean()) / spread**3, 1e-3)
    shape = 4 / skew**2
    from scipy.special import gammaincc

    z = (statistic - mean) / spread
    tail = float(gammaincc(shape, max(0.0, shape + z * shape**0.5)))
    return max(tail, float(np.exp(-700.0)))


def draw_statistics(tables: FloatArray, draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw tables with the margins of these, and return the sum of X² of each draw."""
    high, wide = tables.shape[1:]
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
                    cell = _hypergeometric(free[:, :, j], rest, need, rng)
                need = need - cell
                free[:, :, j] -= cell
                expected = rows[:, i] * columns[:, j] / n
                total += np.where(expected > 0, (cell - expected) ** 2 / expected, 0.0)
    return np.asarray(total.sum(axis=1))


def _hypergeometric(
    good: IntArray, bad: IntArray, sample: IntArray, rng: np.random.Generator
) -> IntArray:
    drawn: IntArray = rng.hypergeometric(good, bad, sample)
    return drawn
