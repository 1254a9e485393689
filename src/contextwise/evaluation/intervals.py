"""Means of replicates with their intervals, differences with their p-values, Holm's correction.

Below `FEW` replicates an interval is by Student's t, which asks for values that are roughly normal;
from there on by the bootstrap (bias-corrected and accelerated), which does not. Replicates whose
training rows overlap are not independent, and their spread is too small; then the variance of the
mean is s²·(1/n + (1 - q)/q) with q the share of the common rows that each replicate learned from
(Nadeau and Bengio 2003), and the interval is by t.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean

import numpy as np
import numpy.typing as npt

from contextwise.errors import ContextwiseError, require

FEW = 20
"""From so many replicates on, the bootstrap."""
RESAMPLES = 9_999

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Mean:
    """A mean with its interval.

    Attributes
    ----------
    count : how many values it is of
    mean : their mean; None if there are none
    spread : their standard deviation; None if there is one value only
    low, high : the interval; None where there is no spread to make it from
    how : "t", "bootstrap", "t, overlapping rows", or why there is no interval
    """

    count: int
    mean: float | None
    spread: float | None
    low: float | None
    high: float | None
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
    rng: np.random.Generator,
) -> Mean:
    """The mean of some values and its interval.

    Parameters
    ----------
    values : one per replicate
    confidence : of the interval
    training_share : of the rows that each replicate learned from, if they were drawn from the same
        rows; None if every replicate has rows of its own
    rng : generator of the bootstrap

    Returns
    -------
    Mean

    Examples
    --------
    >>> mean_with_interval([1, 2, 3], rng=np.random.default_rng(0))
    Mean(count=3, mean=2.0, spread=1.0, low=-0.484..., high=4.484..., how='t')
    >>> mean_with_interval([0.1], rng=np.random.default_rng(0)).how
    'one replicate has no spread'
    """
    x = np.array(values, dtype=np.float64)
    if not len(x):
        return Mean(0, None, None, None, None, "not defined for any replicate")
    mean = fmean(values)
    if len(x) == 1:
        return Mean(1, mean, None, None, None, "one replicate has no spread")
    spread = float(x.std(ddof=1))
    if training_share is None and len(x) >= FEW:
        low, high = _bootstrap(x, confidence, rng)
        return Mean(len(x), mean, spread, low, high, "bootstrap")
    half = _t_quantile(confidence, len(x) - 1) * standard_error(x, training_share)
    how = "t" if training_share is None else "t, overlapping rows"
    return Mean(len(x), mean, spread, mean - half, mean + half, how)


def standard_error(values: FloatArray, training_share: float | None) -> float:
    """The standard error of the mean, corrected where training rows overlap."""
    overlap = 0.0 if training_share is None else (1 - training_share) / training_share
    return float(values.std(ddof=1)) * sqrt(1 / len(values) + overlap)


def _t_quantile(confidence: float, freedom: int) -> float:
    return float(require("scipy.stats", "statistics").t.ppf((1 + confidence) / 2, freedom))


def _bootstrap(x: FloatArray, confidence: float, rng: np.random.Generator) -> tuple[float, float]:
    if np.ptp(x) < 1e-12 * max(1.0, float(np.abs(x).max())):  # nothing to resample
        return float(x.mean()), float(x.mean())
    found = require("scipy.stats", "statistics").bootstrap(
        (x,), np.mean, confidence_level=confidence, n_resamples=RESAMPLES, rng=rng
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def paired_p_value(differences: Sequence[float], training_share: float | None = None) -> float:
    """The two-sided p-value of a mean difference of 0, by Student's t.

    Parameters
    ----------
    differences : one per replicate, each between two results on the same rows
    training_share : as in `mean_with_interval`

    Returns
    -------
    float
        1 if all differences are 0; 0 if all are the same and not 0.

    Examples
    --------
    >>> round(paired_p_value([1.0, 2.0, 3.0]), 4), round(paired_p_value([1.0, 2.0, 3.0], 0.5), 4)
    (0.0742, 0.2254)
    """
    x = np.array(differences, dtype=np.float64)
    error = standard_error(x, training_share)
    if error <= 1e-15 * float(np.abs(x).max(initial=0)):
        return 1.0 if not x.any() else 0.0
    return float(2 * require("scipy.stats", "statistics").t.sf(abs(x.mean()) / error, len(x) - 1))


def unpaired_difference(
    first: Sequence[float], second: Sequence[float], *, confidence: float = 0.95
) -> tuple[Mean, float]:
    """The difference of two means on different rows, by Welch's test.

    Parameters
    ----------
    first, second : values of the two groups
    confidence : of the interval

    Returns
    -------
    Mean, p-value
    """
    a, b = (np.array(values, dtype=np.float64) for values in (first, second))
    count, mean = min(len(a), len(b)), float(a.mean() - b.mean())
    if max(float(np.ptp(a)), float(np.ptp(b))) == 0:
        return Mean(count, mean, None, None, None, "no spread in either group"), float(mean == 0)
    test = require("scipy.stats", "statistics").ttest_ind(a, b, equal_var=False)
    ends = test.confidence_interval(confidence)
    return Mean(count, mean, None, float(ends.low), float(ends.high), "Welch"), float(test.pvalue)


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
