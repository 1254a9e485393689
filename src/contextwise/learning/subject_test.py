"""Test independence within groups of rows if several rows are of one subject.

Rows of one subject are not independent, so permutations of rows are not equally likely. The score
of a row is (a - mean of a) × (b - mean of b), with the means of its group; if A and B are
independent, its sum over rows is 0 on average. Scores are added up for each subject, and the sum
over subjects is compared with its spread between subjects (a cluster-robust score test). `judge`
takes the larger one of this p-value and that of independent rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from contextwise.support.arrays import FloatArray, IntArray

FEW_SUBJECTS = 50
"""Below this number of subjects, p is from random signs of their scores."""
FLIPS = 1_999


class SubjectTest(NamedTuple):
    """The p-value, and the variance of the score over that of independent rows."""

    p: float
    inflation: float


def subject_test(
    first: IntArray, second: IntArray, groups: IntArray, subjects: IntArray, seed: int = 0
) -> SubjectTest:
    """Test two columns of codes within groups of rows; ``subjects`` numbers the subjects.

    >>> a = np.array([0, 1] * 50)
    >>> result = subject_test(a, a, np.zeros(100, dtype=int), np.arange(100) // 2)
    >>> result.p < 1e-10
    True
    """
    x, y = (_centred(column, groups) for column in (first, second))
    scores = (x[:, :, None] * y[:, None, :]).reshape(len(first), -1)
    number = np.unique(subjects, return_inverse=True)[1]
    own = np.zeros((int(number.max(initial=-1)) + 1, scores.shape[1]))
    np.add.at(own, number, scores)
    own = own[np.abs(own).max(axis=1, initial=0.0) > 1e-12]
    count, freedom = len(own), int(np.linalg.matrix_rank(own)) if own.size else 0
    if count <= freedom or not freedom:
        return SubjectTest(1.0, 1.0)
    spread = np.linalg.pinv(own.T @ own)
    statistic = _statistic(own.sum(axis=0), spread)
    naive = scores.T @ scores
    inflation = float(np.trace(own.T @ own @ np.linalg.pinv(naive))) / freedom
    if count < FEW_SUBJECTS:
        signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(FLIPS, count))
        sums = signs @ own
        flipped = np.einsum("ki,ij,kj->k", sums, spread, sums)
        p = (1 + int((flipped >= statistic * (1 - 1e-9)).sum())) / (1 + FLIPS)
    else:
        from scipy.special import fdtrc

        ratio = (count - freedom) / freedom * statistic / max(count - statistic, 1e-12)
        p = float(fdtrc(freedom, count - freedom, ratio))
    return SubjectTest(p, max(inflation, 1.0))


def _statistic(total: FloatArray, spread: FloatArray) -> float:
    return float(total @ spread @ total)


def _centred(column: IntArray, groups: IntArray) -> FloatArray:
    """Return an indicator of each state but the first, less its mean in the group of the row."""
    states = int(column.max(initial=0)) + 1
    hot = (column[:, None] == np.arange(1, states)).astype(np.float64)
    sizes = np.bincount(groups)
    sums = (
        np.stack([np.bincount(groups, part, minlength=len(sizes)) for part in hot.T], axis=1)
        if states > 1
        else np.zeros((len(sizes), 0))
    )
    return np.asarray(hot - (sums / np.maximum(sizes, 1)[:, None])[groups])
