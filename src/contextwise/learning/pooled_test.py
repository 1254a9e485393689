"""The test of an association that groups of rows have in common (Cochran, Mantel and Haenszel).

X² added over groups finds any association in any group, and needs many rows for that: its degrees
of freedom grow with the number of groups. The pooled test adds the differences of observed and
expected counts over groups first. So it has (I - 1)(J - 1) degrees of freedom, whatever the number
of groups, and finds what is alike in them. Its null distribution is that of permutations within
groups. It is R's ``mantelhaen.test`` without the continuity correction.
"""

from __future__ import annotations

import numpy as np

from contextwise.support.arrays import BoolArray, FloatArray, IntArray

ROOM = 5.0
"""Chi-square needs sums of cells that can be this much smaller and larger than expected."""
LEAST_ROOM, MOST_CRAMPED = 1.0, 0.2
"""A fifth of the cells may have less room, down to this (Cochran's rule)."""
BATCH = 2**22
"""The most covariances held at once."""


class PooledTests:
    """The pooled tests of many claims at once; ``starts`` has the first table of each claim."""

    def __init__(self, tables: FloatArray, starts: IntArray) -> None:
        from scipy.special import chdtrc

        count, size = len(starts) - 1, (tables.shape[1] - 1) * (tables.shape[2] - 1)
        self.statistic, self.freedom = np.zeros(count), np.zeros(count)
        self.is_valid: BoolArray = np.zeros(count, dtype=bool)
        """Where there are several groups, and enough rows for the chi-square distribution."""
        several = np.flatnonzero(np.diff(starts) > 1)
        first = 0
        while first < len(several):
            sizes = np.cumsum(np.diff(starts)[several[first:]]) * size * size
            batch = several[first : first + max(1, int(np.searchsorted(sizes, BATCH)))]
            first += len(batch)
            self._test(tables, starts, batch)
        self.p: FloatArray = np.asarray(chdtrc(np.maximum(self.freedom, 1), self.statistic))
        """The p-values; 1 where the test is not valid."""
        self.p[~self.is_valid] = 1.0

    def _test(self, tables: FloatArray, starts: IntArray, claims: IntArray) -> None:
        ends = starts[claims + 1]
        places = np.concatenate(
            [np.arange(*span) for span in zip(starts[claims], ends, strict=True)]
        )
        chosen = np.asfortranarray(tables[places])
        counts = ends - starts[claims]
        firsts = np.cumsum(counts) - counts
        rows, columns, n = chosen.sum(axis=2), chosen.sum(axis=1), chosen.sum(axis=(1, 2))
        n = n[:, None, None]
        expected = rows[:, :, None] * columns[:, None, :] / n
        least = np.maximum(0.0, rows[:, :, None] + columns[:, None, :] - n)
        most = np.minimum(rows[:, :, None], columns[:, None, :])
        room = np.minimum(
            np.add.reduceat(expected - least, firsts), np.add.reduceat(most - expected, firsts)
        )
        occurs = np.add.reduceat(expected, firsts) > 0
        cramped = (occurs & (room < ROOM)).sum(axis=(1, 2)) / occurs.sum(axis=(1, 2))
        enough = (room >= LEAST_ROOM) | ~occurs
        self.is_valid[claims] = enough.all(axis=(1, 2)) & (cramped <= MOST_CRAMPED)
        differences = np.add.reduceat(chosen - expected, firsts)[:, :-1, :-1]
        total = differences.reshape(len(claims), -1)
        covariance = np.add.reduceat(_covariances(rows, columns, n), firsts)
        values, vectors = np.linalg.eigh(covariance)
        kept = values > 1e-9 * np.maximum(values[:, -1:], 1e-300)
        along = np.einsum("kd,kde->ke", total, vectors)
        parts = np.where(kept, along**2 / np.where(kept, values, 1.0), 0.0)
        self.statistic[claims], self.freedom[claims] = parts.sum(axis=1), kept.sum(axis=1)


def _covariances(rows: FloatArray, columns: FloatArray, n: FloatArray) -> FloatArray:
    """Return the covariances of all cells but those of the last states, of each table."""
    sides = []
    for margins in (rows, columns):
        own = -margins[:, :, None] * margins[:, None, :]
        states = np.arange(margins.shape[1])
        own[:, states, states] += n[:, 0] * margins
        sides.append(own[:, :-1, :-1])
    product = np.einsum("gab,gcd->gacbd", *sides) / (n**2 * (n - 1))[:, :, :, None, None]
    size = sides[0].shape[1] * sides[1].shape[1]
    return np.asarray(product.reshape(len(rows), size, size))
