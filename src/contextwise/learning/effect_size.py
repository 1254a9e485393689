"""The size of an association within groups of rows, with 95 % intervals, for many tests at once.

Two states each: the **common odds ratio**. Given its margins, a group has one free cell; at odds
ratio ψ it has mean E(ψ) and variance V(ψ). The estimate solves Σ (cell - E) = 0 (conditional
maximum likelihood), the limits solve Σ (cell - E) = ±1.96 √ΣV (score interval). A sum of cells at
its smallest or largest possible value has an exact limit on one side. The Breslow-Day test asks
whether the odds ratio is common.

More states, or an odds ratio that differs between groups: **Cramér's V**, the root of
(X² - its mean if independent) / Σ n (min(states) - 1), with the interval of the noncentral
chi-square distribution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from contextwise.learning.exact_tail import log_factorials, outcomes
from contextwise.support.arrays import BoolArray, FloatArray, IntArray

Z = 1.959963984540054
DIFFERS = 0.01
"""The level of the test whether groups have a common odds ratio."""
SMALL = 20
"""Possible cells of a group up to which its mean and variance are exact sums."""
INFORMATIVE = 0.25
"""The least variance of a group's cell in the Breslow-Day test."""
FARTHEST = 16.0
"""The largest log odds ratio."""


class OddsRatios(NamedTuple):
    """The common odds ratio of each test, its interval, and where groups differ."""

    value: FloatArray
    low: FloatArray
    high: FloatArray
    p_common: FloatArray  # of the Breslow-Day test; 1 if it says nothing


@dataclass(frozen=True, eq=False)
class Cells:
    """The free cell of many 2 × 2 tables, and its moments at any odds ratio."""

    cell: FloatArray
    n: FloatArray
    row: FloatArray
    column: FloatArray
    small: BoolArray  # the tables with few possible cells
    possible: FloatArray  # the possible cells of each small table, from the smallest on
    logs: FloatArray  # and their log probabilities, if independent, up to a constant

    @classmethod
    def of(cls, tables: FloatArray) -> Cells:
        """Return the last cells of tables."""
        cell, n = tables[:, 1, 1], tables.sum(axis=(1, 2))
        row, column = tables[:, 1].sum(axis=1), tables[:, :, 1].sum(axis=1)
        least, most = np.maximum(0.0, row + column - n), np.minimum(row, column)
        small = most - least < SMALL
        possible = least[small, None] + np.arange(SMALL)
        margins = [part[small, None] for part in (n, row, column)]
        counts = (
            possible,
            margins[1] - possible,
            margins[2] - possible,
            margins[0] - margins[1] - margins[2] + possible,
        )
        factorials = log_factorials(n)
        logs = np.where(possible <= most[small, None], 0.0, -np.inf)
        for count in counts:
            logs -= factorials[np.clip(count, 0, len(factorials) - 1).astype(np.int64)]
        return cls(cell, n, row, column, small, possible, logs)

    @property
    def least(self) -> FloatArray:
        """The smallest possible cells."""
        return np.maximum(0.0, self.row + self.column - self.n)

    @property
    def most(self) -> FloatArray:
        """The largest possible cells."""
        return np.minimum(self.row, self.column)

    def take(self, chosen: BoolArray) -> Cells:
        """Return some of the cells."""
        if chosen.all():
            return self
        of_small = chosen[self.small]
        return Cells(
            self.cell[chosen],
            self.n[chosen],
            self.row[chosen],
            self.column[chosen],
            self.small[chosen],
            self.possible[of_small],
            self.logs[of_small],
        )

    def moments(self, tilt: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of each cell; ``tilt`` has one log odds ratio per table."""
        ratio = np.exp(tilt)
        n, row, column = self.n, self.row, self.column
        # The cell at which the fitted table has this odds ratio.
        sum_of_margins = n - row - column + ratio * (row + column)
        root = np.sqrt(sum_of_margins**2 + 4 * (1 - ratio) * ratio * row * column)
        mean = np.clip(2 * ratio * row * column / (sum_of_margins + root), self.least, self.most)
        fitted = (mean, row - mean, column - mean, n - row - column + mean)
        inverse = sum(1 / np.maximum(part, 1e-12) for part in fitted)
        variance = n / np.maximum(n - 1, 1) / inverse
        if len(self.logs):
            logs = self.logs + tilt[self.small, None] * (self.possible - self.possible[:, :1])
            chances = np.exp(logs - logs.max(axis=1, keepdims=True))
            chances /= chances.sum(axis=1, keepdims=True)
            exact = (chances * self.possible).sum(axis=1)
            mean[self.small] = exact
            variance[self.small] = (chances * (self.possible - exact[:, None]) ** 2).sum(axis=1)
        return mean, variance


def common_odds_ratios(tables: FloatArray, owners: IntArray, tests: int) -> OddsRatios:
    """Estimate the common odds ratio of each test; ``owners`` has the test of each table.

    Every table has two states each, and both vary in it.

    >>> table = np.array([[[12.0, 5.0], [3.0, 9.0]]])
    >>> value, low, high, _ = common_odds_ratios(table, np.zeros(1, dtype=int), 1)
    >>> round(float(value[0]), 1), round(float(low[0]), 1), round(float(high[0]), 1)
    (6.7, 1.4, 31.7)
    """
    from scipy.special import chdtrc

    cells = Cells.of(tables)

    def total(values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(owners, values, minlength=tests), dtype=np.float64)

    observed, least, most = total(cells.cell), total(cells.least), total(cells.most)
    inner = (observed > least) & (observed < most)
    value = _solved(cells, owners, observed, inner, 0.0, np.zeros(tests))
    _, spread = map(total, cells.moments(value[owners]))
    step = Z / np.sqrt(np.maximum(spread, 1e-9))
    low, high = (
        _solved(cells, owners, observed, inner, sign * Z, value - sign * step) for sign in (1, -1)
    )
    value, below, above = np.exp(value), np.exp(low), np.exp(high)
    for k in np.flatnonzero(~inner & (most > least)).tolist():
        limit = _exact_limit(cells, np.flatnonzero(owners == k), bool(observed[k] == most[k]))
        at_most = observed[k] == most[k]
        value[k], below[k], above[k] = (np.inf, limit, np.inf) if at_most else (0.0, 0.0, limit)
    mean, variance = cells.moments(np.log(np.clip(value, 1e-6, 1e6))[owners])
    clear = variance >= INFORMATIVE
    parts = np.where(clear, (cells.cell - mean) ** 2 / np.maximum(variance, 1e-12), 0.0)
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
    active = inner.copy()
    part, own = cells.take(active[owners]), owners[active[owners]]
    for _ in range(60):
        mean, variance = (
            np.bincount(own, moment, minlength=tests) for moment in part.moments(tilt[own])
        )
        excess = observed - mean - score * np.sqrt(variance)
        low, high = np.where(excess > 0, tilt, low), np.where(excess > 0, high, tilt)
        newton = tilt + excess / np.maximum(variance, 1e-9)
        inside = (newton > low) & (newton < high)
        following = np.where(inside, newton, (low + high) / 2)
        settled = np.abs(following - tilt) < 1e-5
        tilt = np.where(active, following, tilt)
        if settled[active].all():
            break
        if 2 * np.count_nonzero(active & ~settled) < np.count_nonzero(active):
            # Few tests are left: leave the others out.
            active &= ~settled
            chosen = active[own]
            part, own = part.take(chosen), own[chosen]
    return tilt


def _exact_limit(cells: Cells, places: IntArray, at_most: bool) -> float:
    """Return the odds ratio at which the extreme sum of cells has probability 0.025."""
    parts = []
    for k in places.tolist():
        _, logs, possible = outcomes(int(cells.n[k]), int(cells.row[k]), int(cells.column[k]))
        parts.append((logs, possible, -1 if at_most else 0))
    low, high = -2 * FARTHEST, 2 * FARTHEST
    for _ in range(60):
        middle = (low + high) / 2
        log_chance = 0.0
        for logs, possible, place in parts:
            tilted = logs + middle * possible
            log_chance += float(tilted[place] - np.logaddexp.reduce(tilted))
        if (log_chance < np.log(0.025)) == at_most:
            low = middle
        else:
            high = middle
    return float(np.exp(low))


def cramers_v(
    statistic: FloatArray, mean: FloatArray, scale: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return Cramér's V of each test and its interval; ``scale`` is Σ n (min(states) - 1)."""
    excess, limits = np.maximum(0.0, statistic - mean), []
    for probability, z in ((0.975, -Z), (0.025, Z)):
        limits.append(noncentrality(statistic, mean, probability, z))
    noncentralities = (excess, *limits)
    value, low, high = (
        np.minimum(1.0, np.sqrt(part / np.maximum(scale, 1e-12))) for part in noncentralities
    )
    return value, np.minimum(low, value), np.maximum(high, value)


LARGE = 2_000.0
"""Statistics from this on have a root that is normal."""


def noncentrality(
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
