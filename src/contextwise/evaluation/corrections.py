"""Corrections of p-values for multiple tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float]) -> list[float]:
    """Apply Holm's correction for multiple tests.

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
