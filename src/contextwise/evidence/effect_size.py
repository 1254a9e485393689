"""Estimate the size of an association within groups of rows, with intervals.

**Odds ratios** are of two variables with two states each. Given its margins, a table has one free
count, whose distribution is known at every odds ratio (Fisher). At odds ratio ψ it has mean E(ψ)
and variance V(ψ). The common odds ratio of several tables solves Σ (count - E) = 0 (conditional
maximum likelihood), and its limits solve Σ (count - E) = ±1.96 √ΣV (score interval). A sum of
counts at its smallest or largest possible value has an exact limit on one side. For many tests at
once, `common_odds_ratios` approximates E and V of large tables closely. `estimate` is exact, and it
also compares the odds ratios of two groups.

**Cramér's V** serves more states, and odds ratios that differ between groups: the root of
(X² - its mean if independent) / Σ n (min(states) - 1), with the interval of the noncentral
chi-square distribution. `strengths_within` chooses whether X² is added over groups or of what
groups have in common.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, isfinite, log, nan, sqrt
from typing import NamedTuple

import numpy as np

from contextwise.evidence.free_counts import FreeCounts, cells_of
from contextwise.evidence.independence_test import PooledTests
from contextwise.evidence.p_values import AddedTables, gamma_tail
from contextwise.support.arrays import BoolArray, FloatArray, IntArray
from contextwise.support.statistics import Z

DIFFERS = 0.01
"""The level of the test whether groups have a common odds ratio."""
SMALL = 20
"""Possible cells of a group up to which its mean and variance are exact sums."""
INFORMATIVE = 0.25
"""The least variance of a table's free count in statistics that divide by it."""
FARTHEST = 16.0
"""The largest log odds ratio of many tests at once."""
LARGEST_LOG = 12.0
"""Log odds ratios of `estimate` beyond this are infinite."""
SPARSE = 1.5
"""The largest variance of X² added over groups, as a multiple of that of chi-square. Above it,
single rows of small groups count too much."""
LARGE = 2_000.0
"""Statistics from this on have a root that is normal."""
POWER = 0.8
"""The probability with which a test must find an association that it is said to find."""
POWERFUL = 0.8416212335729143
"""The normal quantile of this probability."""
LARGEST = log(1e6)
"""The largest log odds ratio that a pooled test could show."""
STRONG = 0.3
"""Cramér's V of a strong association: a test that finds only stronger ones is too weak."""
LARGEST_RATIO = 50.0
"""The largest odds ratio that is tried as one that a test could show."""


# -- odds ratios of many tests at once -------------------------------------------------------------


class OddsRatios(NamedTuple):
    """The common odds ratio of each test, its interval, and where groups differ."""

    value: FloatArray
    low: FloatArray
    high: FloatArray
    p_common: FloatArray  # of the Breslow-Day test; 1 if it says nothing


@dataclass(frozen=True, eq=False)
class Cells:
    """The last cell of many 2 × 2 tables, and its moments at any odds ratio.

    Both variables vary in every table. The moments are exact for tables with few possible cells,
    and approximate for others.
    """

    sums: FloatArray  # the last cell, the whole table, its second row and its second column
    small: BoolArray  # the tables with few possible cells
    free: FreeCounts  # of the small tables

    @classmethod
    def of(cls, tables: FloatArray) -> Cells:
        """Return the last cells of tables."""
        row, column = tables[:, 1].sum(axis=1), tables[:, :, 1].sum(axis=1)
        sums = np.stack([tables[:, 1, 1], tables.sum(axis=(1, 2)), row, column])
        least, most = _range(sums)
        small = most - least < SMALL
        return cls(sums, small, FreeCounts.of(tables[small]))

    def take(self, chosen: BoolArray) -> Cells:
        """Return some of the cells."""
        return Cells(self.sums[:, chosen], self.small[chosen], self.free.take(chosen[self.small]))

    def moments(self, tilt: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of each cell; ``tilt`` has one log odds ratio per table."""
        mean, variance = self.sums[0].copy(), np.zeros(len(tilt))
        moved, variance[self.small] = self.free.moments(tilt[self.small])
        mean[self.small] += moved
        large = np.flatnonzero(~self.small)
        _, n, row, column = sums = self.sums[:, large]
        ratio = np.exp(tilt[large])
        # The cell at which the fitted table has this odds ratio.
        sum_of_margins = n - row - column + ratio * (row + column)
        root = np.sqrt(sum_of_margins**2 + 4 * (1 - ratio) * ratio * row * column)
        cell = np.clip(2 * ratio * row * column / (sum_of_margins + root), *_range(sums))
        inverse = sum(1 / np.maximum(part, 1e-12) for part in cells_of(cell, n, row, column))
        mean[large], variance[large] = cell, n / np.maximum(n - 1, 1) / inverse
        return mean, variance


def _range(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest possible last cell of tables with these sums."""
    _, n, row, column = sums
    return np.maximum(0.0, row + column - n), np.minimum(row, column)


def common_odds_ratios(cells: Cells, owners: IntArray, tests: int) -> OddsRatios:
    """Estimate the common odds ratio of each test; ``owners`` has the test of each table.

    Both variables vary in every table.

    >>> table = Cells.of(np.array([[[12.0, 5.0], [3.0, 9.0]]]))
    >>> value, low, high, _ = common_odds_ratios(table, np.zeros(1, dtype=int), 1)
    >>> round(float(value[0]), 1), round(float(low[0]), 1), round(float(high[0]), 1)
    (6.7, 1.4, 31.7)
    """
    from scipy.special import chdtrc

    def total(values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(owners, values, minlength=tests), dtype=np.float64)

    observed, least, most = map(total, (cells.sums[0], *_range(cells.sums)))
    inner = (observed > least) & (observed < most)
    value = _solved(cells, owners, observed, inner, 0.0, np.zeros(tests))
    _, spread = map(total, cells.moments(value[owners]))
    step = Z / np.sqrt(np.maximum(spread, 1e-9))
    low, high = (
        _solved(cells, owners, observed, inner, sign * Z, value - sign * step) for sign in (1, -1)
    )
    value, below, above = np.exp(value), np.exp(low), np.exp(high)
    for k in np.flatnonzero(~inner & (most > least)).tolist():
        at_most = bool(observed[k] == most[k])
        tables = np.stack(cells_of(*cells.sums[:, owners == k]), axis=1)
        limit = _exact_limit(FreeCounts.of(tables), at_most)
        value[k], below[k], above[k] = (np.inf, limit, np.inf) if at_most else (0.0, 0.0, limit)
    mean, variance = cells.moments(np.log(np.clip(value, 1e-6, 1e6))[owners])
    clear = variance >= INFORMATIVE
    parts = np.where(clear, (cells.sums[0] - mean) ** 2 / np.maximum(variance, 1e-12), 0.0)
    groups = total(clear.astype(np.float64))
    p_common = np.where(inner & (groups > 1), chdtrc(np.maximum(groups - 1, 1), total(parts)), 1.0)
    return OddsRatios(value, below, above, p_common)


def _solved(
    cells: Cells,
    owners: IntArray,
    observed: FloatArray,
    inner: BoolArray,
    score: float,
    start: FloatArray,
) -> FloatArray:
    """Return the log odds ratios at which Σ (cell - E) = score √ΣV, by safe Newton steps."""
    tests = len(observed)
    tilt = np.clip(start, -FARTHEST + 1, FARTHEST - 1)
    low, high = np.full(tests, -FARTHEST), np.full(tests, FARTHEST)
    active, step = inner.copy(), np.full(tests, np.inf)
    part, own = cells.take(active[owners]), owners[active[owners]]
    for _ in range(60):
        mean, variance = (
            np.bincount(own, moment, minlength=tests) for moment in part.moments(tilt[own])
        )
        excess = observed - mean - score * np.sqrt(variance)
        low, high = np.where(excess > 0, tilt, low), np.where(excess > 0, high, tilt)
        newton = tilt + excess / np.maximum(variance, 1e-9)
        # Steps that leave the bracket, or do not become shorter, would not end: halve it.
        converges = (newton >= low) & (newton <= high) & (np.abs(newton - tilt) <= step / 2)
        following = np.where(converges, newton, (low + high) / 2)
        step = np.abs(following - tilt)
        settled = step < 1e-5
        tilt = np.where(active, following, tilt)
        if settled[active].all():
            break
        if 2 * np.count_nonzero(active & ~settled) < np.count_nonzero(active):
            # Few tests are left: leave the others out.
            active &= ~settled
            chosen = active[own]
            part, own = part.take(chosen), own[chosen]
    return tilt


def _exact_limit(counts: FreeCounts, at_most: bool) -> float:
    """Return the odds ratio at which the extreme sum of cells has probability 0.025."""
    ends = np.append(counts.starts[1:], len(counts.moves)) - 1 if at_most else counts.starts
    low, high = -2 * FARTHEST, 2 * FARTHEST
    for _ in range(60):
        middle = (low + high) / 2
        # The probability that every table has its extreme cell.
        if (counts.probabilities(middle)[ends].prod() < 0.025) == at_most:
            low = middle
        else:
            high = middle
    return float(np.exp(low))


def odds_ratios_pooled(cells: Cells, owners: IntArray, levels: FloatArray) -> FloatArray:
    """Return the odds ratios that pooled tests find with probability `POWER`, if groups have them.

    One over them is found, too. ``owners`` has the test of each table, ``levels`` the level of each
    test; tests at level 0 are left out, and they and those without an answer have infinity.

    >>> cells = Cells.of(np.full((2, 2, 2), 25.0))
    >>> odds_ratios_pooled(cells, np.zeros(2, dtype=int), np.array([0.05])).round(2).tolist()
    [2.23]
    """
    from scipy.special import chdtri

    def total(values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(owners, values, minlength=len(levels)), dtype=np.float64)

    asked = levels > 0
    critical = np.sqrt(chdtri(1, np.where(asked, levels, 1.0)))
    mean, variance = map(total, cells.moments(np.zeros(len(owners))))
    least, most = map(total, _range(cells.sums))
    spread = np.sqrt(np.maximum(variance, 1e-9))
    farthest = np.zeros(len(levels))
    for sign in (1, -1):
        # The sum from which on the test is significant must be exceeded with probability `POWER`.
        sums, start = mean + sign * critical * spread, sign * (critical + POWERFUL) / spread
        within = (sums > least) & (sums < most)
        tilt = _solved(cells, owners, sums, asked & within, -sign * POWERFUL, start)
        farthest = np.maximum(farthest, np.where(within, np.abs(tilt), np.inf))
    return np.where(asked & (farthest <= LARGEST), np.exp(np.minimum(farthest, LARGEST)), np.inf)


def odds_ratio_shown(tables: FloatArray, level: float, start: float) -> float | None:
    """Return an odds ratio that the test at this level finds with probability `POWER`.

    One over it is found, too. Tries odds ratios from ``start`` up to `LARGEST_RATIO`, while
    Cramér's V of the association is at most `STRONG`; None if none of them has that power. All
    tables have two states each; the probabilities are exact, given the margins.
    """
    cells, added = Cells.of(tables), AddedTables(tables)
    _, n, row, column = cells.sums
    scale = n / (row * column * (n - row) * (n - column))  # X² is this times (n cell - r c)²
    farthest = np.maximum(*((n * end - row * column) ** 2 for end in _range(cells.sums)))
    critical = added.critical_value(level, float((farthest * scale).sum()))
    ratio = max(start, 1.05)
    while critical is not None and ratio <= LARGEST_RATIO:
        tilts = log(ratio), -log(ratio)
        means = [cells.moments(np.full(len(n), tilt))[0] for tilt in tilts]
        expected = max(float(((n * mean - row * column) ** 2 * scale).sum()) for mean in means)
        if expected > n.sum() * STRONG**2:
            break
        if all(added.tail(critical, tilt) >= POWER for tilt in tilts):
            return ratio
        ratio = exp(log(ratio) * 1.15)
    return None


# -- Cramér's V of many tests at once --------------------------------------------------------------


def strengths_within(
    statistic: FloatArray,
    mean: FloatArray,
    variance: FloatArray,
    pooled: PooledTests,
    scale: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return Cramér's V within the groups of each test, and its interval.

    ``statistic`` is X² added over groups, with the moments of its null. V is that of what groups
    have in common where this has the smaller p-value, and where groups are too sparse to add their
    X².
    """
    is_sparse = variance > SPARSE * 2 * mean
    is_common = pooled.is_valid & (is_sparse | (pooled.p < gamma_tail(statistic, mean, variance)))
    chosen, freedom = (
        np.where(is_common, common, added)
        for common, added in ((pooled.statistic, statistic), (pooled.freedom, mean))
    )
    return cramers_v(chosen, freedom, scale)


def cramers_v(
    statistic: FloatArray, mean: FloatArray, scale: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return Cramér's V of each test and its interval; ``scale`` is Σ n (min(states) - 1)."""
    noncentralities = (
        np.maximum(0.0, statistic - mean),
        _noncentrality(statistic, mean, 0.975, -Z),
        _noncentrality(statistic, mean, 0.025, Z),
    )
    value, low, high = (
        np.minimum(1.0, np.sqrt(part / np.maximum(scale, 1e-12))) for part in noncentralities
    )
    return value, np.minimum(low, value), np.maximum(high, value)


def _noncentrality(
    statistic: FloatArray, freedom: FloatArray, probability: float, z: float
) -> FloatArray:
    """Return the noncentrality at which the statistic is exceeded with 1 - probability."""
    from scipy.special import chdtr, chndtrinc

    root = np.sqrt(np.maximum(statistic - freedom + 1, 0.0)) + z
    result = np.maximum(root, 0.0) ** 2
    few = (statistic < LARGE) & (freedom > 0)
    below = chdtr(np.maximum(freedom, 1e-9), np.maximum(statistic, 0.0))  # without noncentrality
    solved = few & (below > probability)
    result[few] = 0.0
    result[solved] = chndtrinc(statistic[solved], freedom[solved], probability)
    return np.asarray(np.nan_to_num(result))


# -- one odds ratio, or the ratio of those of two groups -------------------------------------------


class LogOddsRatio(NamedTuple):
    """A log odds ratio, or a difference of two, with its interval."""

    value: float
    low: float
    high: float


def estimate(counts: FreeCounts, level: float = 0.95) -> LogOddsRatio:
    """Return the common log odds ratio, and the interval that inverts the score test."""
    from scipy.stats import norm

    mean, information = (moment.sum() for moment in counts.moments())
    if information <= 0:
        return LogOddsRatio(nan, -inf, inf)
    quantile = float(norm.ppf((1 + level) / 2))
    near = float(np.clip(-mean / information, -LARGEST_LOG, LARGEST_LOG))
    value = _root(counts, 0.0, near)
    near = value if isfinite(value) else near
    half = quantile / sqrt(information)
    low, high = _root(counts, quantile, near - half), _root(counts, -quantile, near + half)
    # A limit beyond the largest log odds ratio is at least that far.
    return LogOddsRatio(value, min(low, LARGEST_LOG), max(high, -LARGEST_LOG))


def _root(counts: FreeCounts, quantile: float, near: float) -> float:
    """Return the tilt whose score is ``quantile`` standard errors, by bounded Newton steps."""
    low, high, step = -LARGEST_LOG, LARGEST_LOG, inf
    x = min(max(near, low + 1), high - 1)
    for _ in range(60):
        means, variances = counts.moments(x)
        variance = float(variances.sum())
        score = -float(means.sum()) - quantile * sqrt(max(variance, 1e-12))
        if score > 0:
            low = x
        else:
            high = x
        following = x + score / max(variance, 1e-9)
        if not low <= following <= high or abs(following - x) > step / 2:
            following = (low + high) / 2
        step = abs(following - x)
        if step < 1e-5:
            break
        x = following
    if abs(x) > LARGEST_LOG - 0.1:
        return inf if x > 0 else -inf
    return x
