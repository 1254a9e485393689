"""Estimate the size of an association within groups of rows, with intervals.

**Odds ratios** are of two variables with two states each. Given its margins, a table has one free
count, whose distribution is known at every odds ratio (Fisher). At odds ratio ψ it has mean E(ψ)
and variance V(ψ). The common odds ratio of several tables solves Σ (count - E) = 0 (conditional
maximum likelihood), and its limits solve Σ (count - E) = ±1.96 √ΣV (score interval). A sum of
counts at its smallest or largest possible value has an exact limit on one side. For many tests at
once, `common_odds_ratios` approximates E and V of large tables closely. `Moves` is exact, and it
also compares the odds ratios of two groups (Zelen 1971).

**Cramér's V** serves more states, and odds ratios that differ between groups: the root of
(X² - its mean if independent) / Σ n (min(states) - 1), with the interval of the noncentral
chi-square distribution.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, isfinite, log, nan, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from contextwise.learning.p_values import (
    critical_value,
    log_factorials,
    margins_of,
    outcomes,
    skewed_tail,
    tail_of,
)
from contextwise.support.arrays import BoolArray, FloatArray, IntArray

Z = 1.959963984540054
DIFFERS = 0.01
"""The level of the test whether groups have a common odds ratio."""
SMALL = 20
"""Possible cells of a group up to which its mean and variance are exact sums."""
INFORMATIVE = 0.25
"""The least variance of a table's free count in statistics that divide by it."""
FARTHEST = 16.0
"""The largest log odds ratio of many tests at once."""
LARGEST_LOG = 12.0
"""Log odds ratios of `Moves` beyond this are infinite."""
NORMAL_FROM = 400.0
"""Variance of the pooled sum from which its distribution is called normal."""
ENUMERATED = 50_000
"""Outcomes of all strata together that are enumerated."""
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
PAIR_SIGNS = np.array([[1, -1], [-1, 1]])
"""Moving one observation along these signs keeps the margins of a 2 x 2 table."""
GROUP_SIGNS = np.array([-PAIR_SIGNS, PAIR_SIGNS])
"""The same for the two-way margins of a 2 x 2 x 2 table of group, A and B."""


# -- odds ratios of many tests at once -------------------------------------------------------------


class OddsRatios(NamedTuple):
    """The common odds ratio of each test, its interval, and where groups differ."""

    value: FloatArray
    low: FloatArray
    high: FloatArray
    p_common: FloatArray  # of the Breslow-Day test; 1 if it says nothing


@dataclass(frozen=True, eq=False)
class Cells:
    """The free cell of many 2 × 2 tables, and its moments at any odds ratio.

    The possible cells of the small tables are in one array, table after table.
    """

    sums: FloatArray  # the last cell, the whole table, its second row and its second column
    small: BoolArray  # the tables with few possible cells
    owners: IntArray  # the table of each possible cell
    steps: FloatArray  # how far it is above the smallest possible one
    weights: FloatArray  # its probability over that of the likeliest, if independent

    @classmethod
    def of(cls, tables: FloatArray) -> Cells:
        """Return the last cells of tables."""
        row, column = tables[:, 1].sum(axis=1), tables[:, :, 1].sum(axis=1)
        sums = np.stack([tables[:, 1, 1], tables.sum(axis=(1, 2)), row, column])
        least, most = _range(sums)
        small = most - least < SMALL
        widths = (most - least + 1)[small].astype(np.int64)
        starts = np.cumsum(widths) - widths
        owners = np.repeat(np.flatnonzero(small), widths)
        steps = np.arange(len(owners)) - np.repeat(starts, widths)
        n, row, column = sums[1:, owners].astype(np.int64)
        cell = least[owners].astype(np.int64) + steps
        factorials, logs = log_factorials(sums[1]), np.zeros(len(owners))
        for count in (cell, row - cell, column - cell, n - row - column + cell):
            logs -= factorials[count]
        if len(widths):
            logs -= np.repeat(np.maximum.reduceat(logs, starts), widths)
        return cls(sums, small, owners, steps.astype(np.float64), np.exp(logs))

    def take(self, chosen: BoolArray) -> Cells:
        """Return some of the cells."""
        kept, places = chosen[self.owners], np.cumsum(chosen) - 1
        return Cells(
            self.sums[:, chosen],
            self.small[chosen],
            places[self.owners[kept]],
            self.steps[kept],
            self.weights[kept],
        )

    def moments(self, tilt: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of each cell; ``tilt`` has one log odds ratio per table."""
        chances = self.weights * np.exp(tilt[self.owners] * self.steps)
        total, first, second = (
            np.bincount(self.owners, part, minlength=len(tilt))
            for part in (chances, chances * self.steps, chances * self.steps**2)
        )
        total = np.where(self.small, total, 1.0)
        above = first / total
        mean = _range(self.sums)[0] + above
        variance = np.maximum(second / total - above**2, 0.0)
        large = np.flatnonzero(~self.small)
        _, n, row, column = sums = self.sums[:, large]
        ratio = np.exp(tilt[large])
        # The cell at which the fitted table has this odds ratio.
        sum_of_margins = n - row - column + ratio * (row + column)
        root = np.sqrt(sum_of_margins**2 + 4 * (1 - ratio) * ratio * row * column)
        cell = np.clip(2 * ratio * row * column / (sum_of_margins + root), *_range(sums))
        fitted = (cell, row - cell, column - cell, n - row - column + cell)
        inverse = sum(1 / np.maximum(part, 1e-12) for part in fitted)
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
        limit = _exact_limit(cells.sums[1:, owners == k].T.astype(np.int64), at_most)
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


def _exact_limit(margins: IntArray, at_most: bool) -> float:
    """Return the odds ratio at which the extreme sum of cells has probability 0.025."""
    place = -1 if at_most else 0
    parts = [outcomes(*margin)[1:] for margin in margins.tolist()]
    low, high = -2 * FARTHEST, 2 * FARTHEST
    for _ in range(60):
        middle = (low + high) / 2
        log_chance = 0.0
        for logs, possible in parts:
            tilted = logs + middle * possible
            log_chance += float(tilted[place] - np.logaddexp.reduce(tilted))
        if (log_chance < np.log(0.025)) == at_most:
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
    margins, cells = margins_of(tables), Cells.of(tables)
    _, n, row, column = cells.sums
    scale = n / (row * column * (n - row) * (n - column))  # X² is this times (n cell - r c)²
    farthest = np.maximum(*((n * end - row * column) ** 2 for end in _range(cells.sums)))
    critical = critical_value(margins, level, float((farthest * scale).sum()))
    ratio = max(start, 1.05)
    while critical is not None and ratio <= LARGEST_RATIO:
        tilts = log(ratio), -log(ratio)
        means = [cells.moments(np.full(len(n), tilt))[0] for tilt in tilts]
        expected = max(float(((n * mean - row * column) ** 2 * scale).sum()) for mean in means)
        if expected > n.sum() * STRONG**2:
            break
        if all(tail_of(margins, critical, tilt) >= POWER for tilt in tilts):
            return ratio
        ratio = exp(log(ratio) * 1.15)
    return None


# -- Cramér's V of many tests at once --------------------------------------------------------------


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


class Estimate(NamedTuple):
    """A log odds ratio, or a difference of two, with its interval."""

    value: float
    low: float
    high: float


class Moves:
    """The distribution of the one free count of each stratum, given its margins.

    ``tables`` has one row of cells per stratum. Moving ``d`` observations adds ``signs * d`` to the
    cells, and d = 0 is the observed table. Its probability is proportional to
    ``exp(delta * d) / product of (cell + sign * d)!``, where delta is the log odds ratio of a 2 x 2
    table, or the difference of the log odds ratios of two groups. All possible moves of all strata
    are in one array, so time and memory grow with the number of rows.
    """

    def __init__(self, tables: npt.ArrayLike, signs: IntArray) -> None:
        from scipy.special import gammaln

        flat = signs.ravel()
        cells = np.asarray(tables).reshape(-1, flat.size).astype(np.int64)
        down, up = cells[:, flat > 0].min(axis=1), cells[:, flat < 0].min(axis=1)
        free = down + up > 0
        cells, down, up = cells[free], down[free], up[free]
        widths = down + up + 1
        self.starts = np.cumsum(widths) - widths
        self.stratum = np.repeat(np.arange(len(cells)), widths)
        self.moves = np.arange(widths.sum()) - np.repeat(self.starts + down, widths)
        self.logs = np.zeros(len(self.moves))
        largest = cells.max(initial=0) + np.maximum(down, up).max(initial=0)
        log_factorial = gammaln(np.arange(largest + 1) + 1.0)
        for cell, sign in zip(cells.T, flat, strict=True):
            self.logs -= log_factorial[cell[self.stratum] + sign * self.moves]
        self.means, self.variances = self.moments(0.0)

    def __len__(self) -> int:
        return len(self.starts)

    def probabilities(self, delta: float) -> FloatArray:
        """Return the probability of each move of each stratum."""
        logs: FloatArray = self.logs + delta * self.moves
        if not len(self):
            return logs
        weights = np.exp(logs - np.maximum.reduceat(logs, self.starts)[self.stratum])
        shares: FloatArray = weights / np.add.reduceat(weights, self.starts)[self.stratum]
        return shares

    @property
    def limit(self) -> float:
        """The estimate if it is infinite, because no stratum can move further; else 0."""
        if not len(self):
            return 0.0
        if not (self.moves > 0).any():
            return inf
        return 0.0 if (self.moves < 0).any() else -inf

    def _sums(self, values: FloatArray) -> FloatArray:
        """Sum over the moves of each stratum."""
        return np.add.reduceat(values, self.starts) if len(self) else np.zeros(0)

    def moments(self, delta: float) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the move of each stratum."""
        p = self.probabilities(delta)
        means = self._sums(p * self.moves)
        return means, self._sums(p * (self.moves - means[self.stratum]) ** 2)

    def pooled_p(self) -> float:
        """Return the two-sided p-value of the sum over the strata."""
        from scipy.stats import chi2

        mean, variance = self.means.sum(), self.variances.sum()
        if variance <= 0:
            return 1.0
        if variance > NORMAL_FROM:
            return float(chi2.sf(mean**2 / variance, 1))
        p, total, first = self.probabilities(0.0), np.ones(1), 0
        for start, end in zip(self.starts, [*self.starts[1:], len(p)], strict=True):
            total = np.convolve(total, p[start:end])
            first += self.moves[start]
            possible = np.flatnonzero(total)  # tails can be too small for a float
            total, first = total[possible[0] : possible[-1] + 1], first + possible[0]
        as_far = np.abs(np.arange(len(total)) + first - mean) >= abs(mean) - 1e-7
        return min(1.0, float(total[as_far].sum() / total.sum()))

    def contexts_p(self) -> tuple[float, int]:
        """Return the p-value of the sum of squares, and the number of strata in it.

        Exact for few possible outcomes. Otherwise its distribution is a shifted gamma with the
        exact mean, variance and skewness.
        """
        used = self.variances >= INFORMATIVE
        if not used.any():
            return 1.0, 0
        variances = np.where(used, self.variances, 1.0)
        squares = (self.moves - self.means[self.stratum]) ** 2 / variances[self.stratum] - 1
        p = self.probabilities(0.0)
        statistic = (self.means[used] ** 2 / self.variances[used] - 1).sum()
        ends = np.append(self.starts[1:], len(p))
        if np.prod((ends - self.starts)[used], dtype=np.float64) <= ENUMERATED:
            values, chances = np.zeros(1), np.ones(1)
            for start, end in zip(self.starts[used], ends[used], strict=True):
                values = np.add.outer(values, squares[start:end]).ravel()
                chances = np.multiply.outer(chances, p[start:end]).ravel()
            return min(1.0, float(chances[values >= statistic - 1e-9].sum())), int(used.sum())
        variance, third = (float(self._sums(p * squares**k)[used].sum()) for k in (2, 3))
        p_value = skewed_tail(statistic, 0.0, variance, third) if variance > 0 else 1.0
        return p_value, int(used.sum())

    def estimate(self, level: float = 0.95) -> Estimate:
        """Return delta, common to all strata, and the interval that inverts the score test."""
        from scipy.stats import norm

        information = self.variances.sum()
        if information <= 0:
            return Estimate(nan, -inf, inf)
        quantile = float(norm.ppf((1 + level) / 2))
        near = float(np.clip(-self.means.sum() / information, -LARGEST_LOG, LARGEST_LOG))
        value = self._root(0.0, near)
        near = value if isfinite(value) else near
        half = quantile / sqrt(information)
        low, high = self._root(quantile, near - half), self._root(-quantile, near + half)
        # A limit beyond the largest log odds ratio is at least that far.
        return Estimate(value, min(low, LARGEST_LOG), max(high, -LARGEST_LOG))

    def _root(self, quantile: float, near: float) -> float:
        """Return the delta whose score is ``quantile`` standard errors, by bounded Newton steps."""
        low, high, step = -LARGEST_LOG, LARGEST_LOG, inf
        x = min(max(near, low + 1), high - 1)
        for _ in range(60):
            means, variances = self.moments(x)
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
