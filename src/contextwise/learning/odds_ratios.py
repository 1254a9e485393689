"""Estimate and test odds ratios exactly, given the margins of each stratum.

A stratum is a 2 x 2 table of two variables, or a 2 x 2 x 2 table of a group and two variables.
Given its margins one count is free, and its distribution is known (Fisher; Zelen 1971). So the
p-values and intervals here need neither large counts nor corrections of empty cells.
"""

from __future__ import annotations

from math import inf, isfinite, nan, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

PAIR_SIGNS = np.array([[1, -1], [-1, 1]])
"""Moving one observation along these signs keeps the margins of a 2 x 2 table."""
GROUP_SIGNS = np.array([-PAIR_SIGNS, PAIR_SIGNS])
"""The same for the two-way margins of a 2 x 2 x 2 table of group, A and B."""
LARGEST_LOG = 12.0
"""Log odds ratios beyond this are called infinite."""
LEAST_VARIANCE = 0.25
"""Strata with less information only count in the pooled statistic."""
NORMAL_FROM = 400.0
"""Variance of the pooled sum from which its distribution is called normal."""


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

    def __init__(self, tables: npt.ArrayLike, signs: npt.NDArray[np.int64]) -> None:
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

    def probabilities(self, delta: float) -> Floats:
        """Return the probability of each move of each stratum."""
        logs: Floats = self.logs + delta * self.moves
        if not len(self):
            return logs
        weights = np.exp(logs - np.maximum.reduceat(logs, self.starts)[self.stratum])
        shares: Floats = weights / np.add.reduceat(weights, self.starts)[self.stratum]
        return shares

    def _sums(self, values: Floats) -> Floats:
        """Sum over the moves of each stratum."""
        return np.add.reduceat(values, self.starts) if len(self) else np.zeros(0)

    def moments(self, delta: float) -> tuple[Floats, Floats]:
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

        Its distribution is a shifted gamma with the exact mean, variance and skewness.
        """
        from scipy.stats import gamma

        used = self.variances >= LEAST_VARIANCE
        if not used.any():
            return 1.0, 0
        variances = np.where(used, self.variances, 1.0)
        squares = (self.moves - self.means[self.stratum]) ** 2 / variances[self.stratum] - 1
        p = self.probabilities(0.0)
        variance = self._sums(p * squares**2)[used].sum()
        third = self._sums(p * squares**3)[used].sum()
        if variance <= 0 or third <= 0:
            return 1.0, int(used.sum())
        shape = 4 * variance**3 / third**2
        scale = sqrt(variance / shape)
        statistic = (self.means[used] ** 2 / self.variances[used] - 1).sum()
        return float(gamma.sf(statistic + shape * scale, shape, scale=scale)), int(used.sum())

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
        return Estimate(
            value, self._root(quantile, near - half), self._root(-quantile, near + half)
        )

    def _root(self, quantile: float, near: float) -> float:
        """Return the delta whose score is ``quantile`` standard errors, by bounded Newton steps."""
        low, high = -LARGEST_LOG, LARGEST_LOG
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
            if not low < following < high:
                following = (low + high) / 2
            if abs(following - x) < 1e-5:
                break
            x = following
        if abs(x) > LARGEST_LOG - 0.1:
            return inf if x > 0 else -inf
        return x
