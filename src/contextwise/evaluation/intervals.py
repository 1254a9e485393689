"""Means with confidence intervals, tests of differences, and Holm's correction.

Below `FEW` replicates an interval uses Student's t, from there on the bootstrap (bias-corrected and
accelerated). If the training rows of replicates overlap, the replicates are not independent. Then
the variance of the mean is s²·(1/n + (1 - q)/q), where q is the share of the common rows that each
replicate learned from (Nadeau and Bengio 2003), and the interval uses t.

- An interval by t that leaves the range of the metric is **cut** at its end, which loses no
  coverage.
- Values that are all equal have no spread. They get no interval, and their p-values are exact: n
  equal paired differences have equal signs, which has probability 2/2^n if the groups are alike.
  For two unpaired groups of one value each, p is the share of the ways to deal the replicates to
  the groups that put the two means as far apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb, inf, sqrt
from statistics import fmean
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from contextwise.errors import ContextwiseError, require

FEW = 20
"""Number of replicates from which the bootstrap is used."""
RESAMPLES = 9_999
ROUNDING = 1e-12
"""Values this close to each other, relative to the largest, are equal: they are rounded ratios."""

FloatArray = npt.NDArray[np.float64]
Range = tuple[float, float]
"""The least and the largest value that a metric can have."""
ANY: Range = (-inf, inf)


@dataclass(frozen=True)
class Mean:
    """A mean with its interval."""

    count: int
    mean: float | None  # None without values
    spread: float | None  # the standard deviation; None for one value
    low: float | None  # None if the values have no spread
    high: float | None
    how: str  # "t", "bootstrap", "t, overlapping rows" or "Welch", or why there is no interval
    cut: bool = False  # whether the interval was cut at the end of the metric's range

    def interval_record(self) -> dict[str, object]:
        """Return the interval as a flat mapping."""
        return {"low": self.low, "high": self.high, "interval": self.how, "cut": self.cut}


class DifferenceTest(NamedTuple):
    """The p-value of a difference, and the test it comes from, or why there is no p-value."""

    p_value: float | None
    how: str


def check_training_share(training_share: float | None) -> None:
    """Raise unless 0 < training_share < 1, or it is None."""
    if training_share is not None and not 0 < training_share < 1:
        raise ContextwiseError(
            f"training_share must be between 0 and 1, got {training_share}; it is the share of "
            "the rows that each replicate learned from"
        )


def mean_with_interval(
    values: Sequence[float],
    *,
    confidence: float = 0.95,
    training_share: float | None = None,
    within: Range = ANY,
    unit: str = "replicate",
    rng: np.random.Generator,
    scale: float | None = None,
) -> Mean:
    """Compute the mean of some values with its interval; ``unit`` is used in messages.

    The values are rounded relative to ``scale``, by default the largest of them.

    >>> mean_with_interval([1, 2, 3], rng=np.random.default_rng(0))
    Mean(count=3, mean=2.0, spread=1.0, low=-0.484..., high=4.484..., how='t', cut=False)
    """
    x = np.array(values, dtype=np.float64)
    scale = _largest(x) if scale is None else scale
    if not len(x):
        return Mean(0, None, None, None, None, f"not defined for any {unit}")
    mean = _zero_if_rounded(fmean(x.tolist()), scale)
    if len(x) == 1:
        return Mean(1, mean, None, None, None, f"one {unit} has no spread")
    if _are_equal(x, scale):
        return Mean(len(x), mean, 0.0, None, None, f"equal {unit}s have no spread")
    spread = float(x.std(ddof=1))
    stats = require("scipy.stats", "statistics")
    if training_share is None and len(x) >= FEW:
        interval = stats.bootstrap(
            (x,), np.mean, confidence_level=confidence, n_resamples=RESAMPLES, rng=rng
        ).confidence_interval
        low, high = float(interval.low), float(interval.high)
        return Mean(len(x), mean, spread, low, high, "bootstrap")
    quantile = float(stats.t.ppf((1 + confidence) / 2, len(x) - 1))
    half = quantile * _standard_error(x, training_share)
    return _cut(Mean(len(x), mean, spread, mean - half, mean + half, _by_t(training_share)), within)


def _largest(*arrays: FloatArray) -> float:
    return max(float(np.abs(values).max(initial=0)) for values in arrays)


def _zero_if_rounded(mean: float, scale: float) -> float:
    return 0.0 if abs(mean) <= ROUNDING * scale else mean


def _are_equal(x: FloatArray, scale: float) -> bool:
    return float(np.ptp(x)) <= ROUNDING * scale


def _by_t(training_share: float | None) -> str:
    return "t" if training_share is None else "t, overlapping rows"


def _cut(mean: Mean, within: Range) -> Mean:
    """Cut the interval at the ends of the range, unless the mean is outside of the range."""
    least, most = within
    if mean.mean is None or mean.low is None or mean.high is None:
        return mean
    if not least <= mean.mean <= most or (mean.low >= least and mean.high <= most):
        return mean
    return replace(mean, low=max(mean.low, least), high=min(mean.high, most), cut=True)


def _standard_error(values: FloatArray, training_share: float | None) -> float:
    """The standard error of the mean, corrected if training rows overlap."""
    overlap = 0.0 if training_share is None else (1 - training_share) / training_share
    return float(values.std(ddof=1)) * sqrt(1 / len(values) + overlap)


# -- differences -----------------------------------------------------------------------------------


def paired_difference(
    first: Sequence[float],
    second: Sequence[float],
    *,
    confidence: float = 0.95,
    training_share: float | None = None,
    within: Range = ANY,
    unit: str = "replicate",
    rng: np.random.Generator,
) -> tuple[Mean, DifferenceTest]:
    """Test the mean difference of results on the same rows, by Student's t.

    The same difference six times: all six signs agree, which happens twice in 2^6.

    >>> paired_difference([0.5] * 6, [0.2] * 6, rng=np.random.default_rng(0))[1]
    DifferenceTest(p_value=0.03125, how='exact signs')
    """
    a, b = (np.array(values, dtype=np.float64) for values in (first, second))
    scale = _largest(a, b)
    x = a - b
    mean = mean_with_interval(
        x.tolist(),
        confidence=confidence,
        training_share=training_share,
        within=_differences_of(within),
        unit=unit,
        rng=rng,
        scale=scale,
    )
    if len(x) < 2:
        return mean, DifferenceTest(None, f"too few {unit}s")
    if _are_equal(x, scale):
        if not _zero_if_rounded(float(x.mean()), scale):
            return mean, DifferenceTest(1.0, "exact signs")
        if training_share is not None:
            return mean, DifferenceTest(None, "no spread, overlapping rows")
        return mean, DifferenceTest(2.0 ** (1 - len(x)), "exact signs")
    t = abs(float(x.mean())) / _standard_error(x, training_share)
    p_value = float(2 * require("scipy.stats", "statistics").t.sf(t, len(x) - 1))
    return mean, DifferenceTest(p_value, _by_t(training_share))


def _differences_of(within: Range) -> Range:
    return within[0] - within[1], within[1] - within[0]


def unpaired_difference(
    first: Sequence[float],
    second: Sequence[float],
    *,
    confidence: float = 0.95,
    within: Range = ANY,
    unit: str = "replicate",
) -> tuple[Mean, DifferenceTest]:
    """Test the difference of two means on different rows, by Welch's test.

    Of the 20 ways to deal six replicates to two groups, two put the means this far apart.

    >>> unpaired_difference([0.5] * 3, [0.2] * 3)[1]
    DifferenceTest(p_value=0.1, how='exact permutation')
    """
    a, b = (np.array(values, dtype=np.float64) for values in (first, second))
    count, scale = min(len(a), len(b)), _largest(a, b)
    mean = _zero_if_rounded(float(a.mean() - b.mean()), scale) if count else None
    if mean is None or count < 2:
        why = f"one {unit} has no spread" if count else f"not defined for any {unit}"
        return Mean(count, mean, None, None, None, why), DifferenceTest(None, f"too few {unit}s")
    if _are_equal(a, scale) and _are_equal(b, scale):
        ways = comb(len(a) + len(b), count)
        as_far = 1 + (len(a) == len(b)) if mean else ways
        no_interval = Mean(count, mean, None, None, None, f"equal {unit}s have no spread")
        return no_interval, DifferenceTest(as_far / ways, "exact permutation")
    # SciPy's own Welch test warns if one group has no spread.
    t = require("scipy.stats", "statistics").t
    of_a, of_b = (float(x.var(ddof=1)) / len(x) for x in (a, b))
    freedom = (of_a + of_b) ** 2 / (of_a**2 / (len(a) - 1) + of_b**2 / (len(b) - 1))
    error = sqrt(of_a + of_b)
    half = float(t.ppf((1 + confidence) / 2, freedom)) * error
    p_value = float(2 * t.sf(abs(float(a.mean() - b.mean())) / error, freedom))
    interval = Mean(count, mean, None, mean - half, mean + half, "Welch")
    return _cut(interval, _differences_of(within)), DifferenceTest(p_value, "Welch")


def holm(p_values: Sequence[float]) -> list[float]:
    """Apply Holm's correction for multiple tests.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values)
    factors = len(p_values) - np.arange(len(p_values))
    raised = np.maximum.accumulate(factors * np.array(p_values, dtype=np.float64)[order])
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(raised, 1.0)
    return [float(p) for p in adjusted]
