"""Means of replicates with their intervals, differences with their p-values, Holm's correction.

Below `FEW` replicates an interval is by Student's t, which asks for values that are roughly normal;
from there on by the bootstrap (bias-corrected and accelerated), which does not. Replicates whose
training rows overlap are not independent, and their spread is too small; then the variance of the
mean is s²·(1/n + (1 - q)/q) with q the share of the common rows that each replicate learned from
(Nadeau and Bengio 2003), and the interval is by t.

- An interval by t knows nothing of a range. Where it goes beyond the least or the largest value
  that a metric can have, it is **cut** there, which loses no coverage.
- Values that are all **equal** have no spread, and t says nothing: it would give an interval of
  width 0 and a p-value of 0. So there is no interval, and p-values are exact ones. If all n paired
  differences are the same, all signs agree, which has probability 2/2^n if the groups are alike. If
  each of two unpaired groups has one value only, it is the share of the ways to deal the replicates
  to the groups that set the two values as far apart.
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
"""From so many replicates on, the bootstrap."""
RESAMPLES = 9_999
ROUNDING = 1e-12
"""Values this close to each other, relative to the largest, are equal: they are rounded ratios."""

FloatArray = npt.NDArray[np.float64]
Range = tuple[float, float]
"""The least and the largest value that a metric can have."""
ANY: Range = (-inf, inf)


@dataclass(frozen=True)
class Mean:
    """A mean with its interval.

    Attributes
    ----------
    count : how many values it is of
    mean : their mean; None if there are none
    spread : their standard deviation; None if there is one value only
    low, high : the interval; None where there is no spread to make it from
    how : "t", "bootstrap", "t, overlapping rows" or "Welch", or why there is no interval
    cut : whether the interval went beyond the range of the metric and was cut there
    """

    count: int
    mean: float | None
    spread: float | None
    low: float | None
    high: float | None
    how: str
    cut: bool = False


class DifferenceTest(NamedTuple):
    """The p-value of a difference of 0.

    Attributes
    ----------
    p_value : None if it cannot be tested
    how : "t", "t, overlapping rows", "Welch", "exact signs" or "exact permutation", or why there is
        no p-value
    """

    p_value: float | None
    how: str


def check_training_share(training_share: float | None) -> None:
    """Refuse a share of rows that is none."""
    if training_share is not None and not 0 < training_share < 1:
        raise ContextwiseError(
            "training_share is the share of the rows that each replicate learned from, "
            f"between 0 and 1, not {training_share}"
        )


def mean_with_interval(
    values: Sequence[float],
    *,
    confidence: float = 0.95,
    training_share: float | None = None,
    within: Range = ANY,
    unit: str = "replicate",
    rng: np.random.Generator,
) -> Mean:
    """The mean of some values and its interval.

    Parameters
    ----------
    values : one per replicate
    confidence : of the interval
    training_share : of the rows that each replicate learned from, if they were drawn from the same
        rows; None if every replicate has rows of its own
    within : the least and the largest value there can be; an interval ends there
    unit : what the values are of, for the words
    rng : generator of the bootstrap

    Returns
    -------
    Mean

    Examples
    --------
    >>> mean_with_interval([1, 2, 3], rng=np.random.default_rng(0))
    Mean(count=3, mean=2.0, spread=1.0, low=-0.484..., high=4.484..., how='t', cut=False)
    >>> found = mean_with_interval([0.1, 0.2, 0.6], within=(0, 1), rng=np.random.default_rng(0))
    >>> found.low, round(found.high, 2), found.cut
    (0, 0.96, True)
    >>> mean_with_interval([0.1], rng=np.random.default_rng(0)).how
    'one replicate has no spread'
    >>> mean_with_interval([0.1, 0.1], rng=np.random.default_rng(0)).how
    'equal replicates have no spread'
    """
    x = np.array(values, dtype=np.float64)
    return _mean(x, _largest(x), confidence, training_share, within, unit, rng)


def _mean(
    x: FloatArray,
    scale: float,
    confidence: float,
    training_share: float | None,
    within: Range,
    unit: str,
    rng: np.random.Generator,
) -> Mean:
    """The mean of values that are rounded relative to this scale."""
    if not len(x):
        return Mean(0, None, None, None, None, f"not defined for any {unit}")
    mean = _zero_if_rounded(fmean(x.tolist()), scale)
    if len(x) == 1:
        return Mean(1, mean, None, None, None, f"one {unit} has no spread")
    if _are_equal(x, scale):
        return Mean(len(x), mean, 0.0, None, None, f"equal {unit}s have no spread")
    spread = float(x.std(ddof=1))
    if training_share is None and len(x) >= FEW:
        low, high = _bootstrap(x, confidence, rng)
        return Mean(len(x), mean, spread, low, high, "bootstrap")
    half = _t_quantile(confidence, len(x) - 1) * standard_error(x, training_share)
    return _cut(Mean(len(x), mean, spread, mean - half, mean + half, _by_t(training_share)), within)


def _largest(*values: FloatArray) -> float:
    return max(float(np.abs(own).max(initial=0)) for own in values)


def _zero_if_rounded(mean: float, scale: float) -> float:
    """A mean; what rounding leaves of differences that cancel out is 0."""
    return 0.0 if abs(mean) <= ROUNDING * scale else mean


def _are_equal(x: FloatArray, scale: float) -> bool:
    return float(np.ptp(x)) <= ROUNDING * scale


def _by_t(training_share: float | None) -> str:
    return "t" if training_share is None else "t, overlapping rows"


def _cut(found: Mean, within: Range) -> Mean:
    """The interval inside the range; a mean outside of it has no such range."""
    least, most = within
    if found.mean is None or found.low is None or found.high is None:
        return found
    if not least <= found.mean <= most or (found.low >= least and found.high <= most):
        return found
    return replace(found, low=max(found.low, least), high=min(found.high, most), cut=True)


def standard_error(values: FloatArray, training_share: float | None) -> float:
    """The standard error of the mean, corrected where training rows overlap."""
    overlap = 0.0 if training_share is None else (1 - training_share) / training_share
    return float(values.std(ddof=1)) * sqrt(1 / len(values) + overlap)


def _t_quantile(confidence: float, freedom: int) -> float:
    return float(require("scipy.stats", "statistics").t.ppf((1 + confidence) / 2, freedom))


def _bootstrap(x: FloatArray, confidence: float, rng: np.random.Generator) -> tuple[float, float]:
    found = require("scipy.stats", "statistics").bootstrap(
        (x,), np.mean, confidence_level=confidence, n_resamples=RESAMPLES, rng=rng
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


# -- differences ---------------------------------------------------------------------------------


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
    """The mean difference of results on the same rows, by Student's t.

    Parameters
    ----------
    first, second : values of the two groups, the k-th of both on the same rows
    confidence, training_share, unit, rng
        As in `mean_with_interval`.
    within : the least and the largest value of the metric

    Returns
    -------
    Mean, DifferenceTest

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> _, test = paired_difference([1, 2, 3], [0, 0, 0], rng=rng)
    >>> round(test.p_value, 4), test.how
    (0.0742, 't')

    Six times the same difference: all six signs agree, which two in 2^6 do.

    >>> paired_difference([0.5] * 6, [0.2] * 6, rng=rng)[1]
    DifferenceTest(p_value=0.03125, how='exact signs')
    """
    a, b = (np.array(values, dtype=np.float64) for values in (first, second))
    scale = _largest(a, b)
    apart = _apart(within)
    mean = _mean(a - b, scale, confidence, training_share, apart, unit, rng)
    return mean, _paired_test(a - b, scale, training_share, unit)


def _paired_test(
    x: FloatArray, scale: float, training_share: float | None, unit: str
) -> DifferenceTest:
    if len(x) < 2:
        return DifferenceTest(None, f"too few {unit}s")
    if _are_equal(x, scale):
        if not _zero_if_rounded(float(x.mean()), scale):
            return DifferenceTest(1.0, "exact signs")
        if training_share is not None:
            return DifferenceTest(None, "no spread, overlapping rows")
        return DifferenceTest(2.0 ** (1 - len(x)), "exact signs")
    t = abs(float(x.mean())) / standard_error(x, training_share)
    p_value = float(2 * require("scipy.stats", "statistics").t.sf(t, len(x) - 1))
    return DifferenceTest(p_value, _by_t(training_share))


def _apart(within: Range) -> Range:
    """The least and the largest difference of two values of a range."""
    return within[0] - within[1], within[1] - within[0]


def unpaired_difference(
    first: Sequence[float],
    second: Sequence[float],
    *,
    confidence: float = 0.95,
    within: Range = ANY,
    unit: str = "replicate",
) -> tuple[Mean, DifferenceTest]:
    """The difference of two means on different rows, by Welch's test.

    Parameters
    ----------
    first, second : values of the two groups
    confidence : of the interval
    within : the least and the largest value of the metric
    unit : what the values are of, for the words

    Returns
    -------
    Mean, DifferenceTest

    Examples
    --------
    Of the 20 ways to deal six replicates to two groups, two set the values so far apart.

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
        why = f"equal {unit}s have no spread"
        ways = comb(len(a) + len(b), count)
        as_far = 1 + (len(a) == len(b)) if mean else ways
        return Mean(count, mean, None, None, None, why), DifferenceTest(
            as_far / ways, "exact permutation"
        )
    half, p_value = _welch(a, b, confidence)
    found = Mean(count, mean, None, mean - half, mean + half, "Welch")
    return _cut(found, _apart(within)), DifferenceTest(p_value, "Welch")


def _welch(a: FloatArray, b: FloatArray, confidence: float) -> tuple[float, float]:
    """Half of the interval, and the p-value. SciPy's own warns where one group has no spread."""
    t = require("scipy.stats", "statistics").t
    of_a, of_b = (float(x.var(ddof=1)) / len(x) for x in (a, b))
    freedom = (of_a + of_b) ** 2 / (of_a**2 / (len(a) - 1) + of_b**2 / (len(b) - 1))
    error = sqrt(of_a + of_b)
    distance = abs(float(a.mean() - b.mean()))
    return float(t.ppf((1 + confidence) / 2, freedom)) * error, float(
        2 * t.sf(distance / error, freedom)
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values after Holm's correction for as many tests.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values)
    factors = len(p_values) - np.arange(len(p_values))
    raised = np.maximum.accumulate(factors * np.array(p_values, dtype=np.float64)[order])
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(raised, 1.0)
    return [float(p) for p in adjusted]
