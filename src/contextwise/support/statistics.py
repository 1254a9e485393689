"""Corrections of p-values for their number, and Wilson's interval of a share."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist

import numpy as np

CONFIDENCE = 0.95
"""The probability with which an interval contains what it estimates."""
Z = 1.959963984540054
"""Standard errors to each side of an estimate that make a 95 % interval."""


def normal_quantile(probability: float) -> float:
    """Return the value that a standard normal number exceeds with 1 minus this probability.

    >>> round(normal_quantile(0.975), 3)
    1.96
    """
    return NormalDist().inv_cdf(min(max(probability, 1e-16), 1 - 1e-16))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number by Holm.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values)
    factors = len(p_values) - np.arange(len(p_values))
    # An adjusted p-value is never below that of a smaller p-value.
    raised = np.maximum.accumulate(factors * np.array(p_values, dtype=np.float64)[order])
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(raised, 1.0)
    return [float(p) for p in adjusted]


def benjamini_yekutieli(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number, under any dependence.

    >>> benjamini_yekutieli([0.01, 0.5])  # times 2 · (1 + 1/2) / rank
    [0.03, 0.75]
    """
    order, ranks = np.argsort(p_values), np.arange(1, len(p_values) + 1)
    raised = np.array(p_values, dtype=np.float64)[order] * len(ranks) * (1 / ranks).sum() / ranks
    adjusted = np.empty(len(ranks))
    adjusted[order] = np.minimum.accumulate(raised[::-1])[::-1]
    return [float(p) for p in np.minimum(adjusted, 1.0)]


def wilson_interval(part: float, whole: float) -> tuple[float, float]:
    """Return the 95 % interval of a share.

    >>> low, high = wilson_interval(9, 10)
    >>> round(low, 2), round(high, 2)
    (0.6, 0.98)
    """
    p, n = part / whole, whole
    middle = (p + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z * sqrt(p * (1 - p) / n + Z**2 / (4 * n * n)) / (1 + Z**2 / n)
    # Rounding must not put the share itself outside.
    return min(p, max(0.0, middle - half)), max(p, min(1.0, middle + half))
