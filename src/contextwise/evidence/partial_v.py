"""Cramér's V of the residuals of two variables, with its interval.

Let D be the mean product of the residuals of a and b, A and B the mean products of each with
itself. V² is the mean of the squared canonical correlations, trace(A⁻¹ D B⁻¹ D') / (states - 1). If
nothing is held fixed, that is Cramér's V of the table of counts.

The estimate is a smooth function of means over rows, so its error comes from its influence on each
row (delta method). That fails near V = 0, where n V² has a chi-square distribution instead. The
interval combines both: along the association found, sqrt(n V²) is normal with the variance
of the delta method; the other directions add a chi-square.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from contextwise.evidence.coded_rows import CodedRows
from contextwise.evidence.logits import contrasts
from contextwise.evidence.residual_products import Side, sums_by_cluster
from contextwise.support.arrays import FloatArray
from contextwise.support.statistics import Z

NORMAL_NODES = 40  # of the normal distribution that is integrated
SEARCH_STEPS = 40  # of the search for a limit


class Strength(NamedTuple):
    """Partial V and its 95 % interval."""

    v: float
    low: float
    high: float


def strength_given_others(rows: CodedRows, sides: tuple[Side, Side]) -> Strength | None:
    """Return the partial V of a pair; None if a variable does not vary given the others."""
    xa, xb = (side.residuals(contrasts(side.shares.shape[1])) for side in sides)
    w = rows.mass / rows.mass.sum()
    a, b, d = (xa * w[:, None]).T @ xa, (xb * w[:, None]).T @ xb, (xa * w[:, None]).T @ xb
    if min(np.linalg.eigvalsh(a)[0], np.linalg.eigvalsh(b)[0]) * rows.total < 1e-3:
        return None
    left, right = np.linalg.solve(a, d), np.linalg.solve(b, d.T)  # A⁻¹ D, B⁻¹ D'
    square = float((left * right.T).sum())
    middle = np.linalg.solve(b, left.T).T  # A⁻¹ D B⁻¹
    direct = np.einsum("ni,ij,nj->n", xa, middle, xb, optimize=True)
    own = np.einsum("ni,ij,nj->n", xa, middle @ left.T, xa, optimize=True)
    other = np.einsum("ni,ij,nj->n", xb, middle.T @ right.T, xb, optimize=True)
    influence = 2 * direct - own - other
    freedom = a.shape[0] * b.shape[0]
    variance, units = _variance(rows, influence)
    # The chi-square part: how much larger it is than for independent rows.
    design = 1.0
    if not rows.is_simple:
        simple = float(w @ influence**2)  # n times the variance if the rows were independent
        design = max(1.0, variance * units / simple) if simple > 0 else 1.0
    n = rows.total / design
    dimensions = min(a.shape[0], b.shape[0])
    inflation = max(0.05, variance * n / max(4 * square, 1e-12)) if square > 0 else 1.0
    low, high = limits(n * square, freedom, inflation)
    scale = n * dimensions
    # With few rows, the corrected value can fall below the interval.
    corrected = min(max(n * square - freedom, low), high)
    v, least, most = (min(1.0, sqrt(each / scale)) for each in (corrected, low, high))
    return Strength(v, least, most)


def _variance(rows: CodedRows, influence: FloatArray) -> tuple[float, float]:
    """Return the variance of the mean of some influences, and the number of observations."""
    share = rows.mass / rows.mass.sum()
    if rows.clusters is None:
        return float((rows.counts * (share / rows.counts * influence) ** 2).sum()), rows.total
    sums = sums_by_cluster(rows.clusters, (share * influence)[:, None])[:, 0]
    return float((sums**2).sum()) * len(sums) / max(len(sums) - 1, 1), rows.total


def limits(statistic: float, freedom: int, inflation: float) -> tuple[float, float]:
    """Return the noncentralities that have the statistic in their upper and lower 2.5 %.

    ``inflation`` is the variance along the association; 1 gives noncentral chi-square.
    """
    nodes, weights = _normal_nodes()
    root = sqrt(inflation)

    def above(noncentrality: float, statistic: float) -> float:
        """Return the probability of a larger statistic."""
        from scipy.special import chdtrc

        first = (sqrt(noncentrality) + root * nodes) ** 2
        if freedom == 1:
            return float(weights @ (first >= statistic))
        rest = np.maximum(statistic - first, 0.0)
        return float(weights @ np.where(first >= statistic, 1.0, chdtrc(freedom - 1, rest)))

    # A statistic below its mean under independence excludes no more than one that equals it.
    typical = max(statistic, float(freedom))
    if freedom == 1:
        middle = sqrt(typical)
        return max(0.0, sqrt(statistic) - Z * root) ** 2, (middle + Z * root) ** 2

    def limit(probability: float, statistic: float) -> float:
        low, high = 0.0, (sqrt(statistic) + (Z + 2) * root + 2) ** 2
        if above(low, statistic) >= probability:
            return 0.0
        for _ in range(SEARCH_STEPS):
            middle = (low + high) / 2
            is_low = above(middle, statistic) < probability
            low, high = (middle, high) if is_low else (low, middle)
        return (low + high) / 2

    return limit(0.025, statistic), limit(0.975, typical)


def _normal_nodes() -> tuple[FloatArray, FloatArray]:
    nodes = np.linspace(-4.5, 4.5, NORMAL_NODES + 1)
    weights = np.exp(-0.5 * nodes**2)
    return nodes, weights / weights.sum()
