"""Does an association differ between the states of a third variable? Search all of them.

Under independence the sums of residual products are zero in each state of the third variable c.
`search_contexts` compares their differences between states with their covariance. This finds
associations that cancel on average. It is a test against independence; `same_association` tests
that an association, which may exist, is the same in all states.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from contextwise.evidence.coded_rows import CodedRows
from contextwise.evidence.logits import contrasts, sums_by_code
from contextwise.evidence.residual_products import (
    Side,
    rao_scott,
    squares_of,
    sums_by_cluster,
    unpacked,
    variances_of,
)
from contextwise.support.arrays import BoolArray, FloatArray, IntArray

LEAST_ROWS_PER_CONTEXT = 20.0
"""Rows of a state of the third variable that can take part."""
MOST_CONTRASTS = 3
"""Contrasts per variable: states beyond the four most frequent are one."""
LEAST_CONTEXT_INFORMATION = 0.5


class Contexts:
    """The states of all variables, which sums are taken by."""

    def __init__(self, rows: CodedRows) -> None:
        self.rows = rows
        ends = np.cumsum(rows.cards)
        self.starts = (ends - rows.cards).astype(np.int64)
        self.size = int(ends[-1])
        self.sizes = self._by_state(rows.counts[:, None])[:, 0]

    def sizes_of(self, v: int) -> FloatArray:
        """Return the number of rows with each state of a variable."""
        return self.sizes[self.starts[v] : self.starts[v] + self.rows.cards[v]]

    def _by_state(self, values: FloatArray) -> FloatArray:
        return sums_by_code(self.rows.codes, self.starts, self.size, values)

    def search(
        self, sides: tuple[Side, Side], is_score: tuple[bool, bool], others: Sequence[int]
    ) -> tuple[float, int | None]:
        """Return the smallest p-value times the number of third variables, and the variable."""
        scores = tuple(
            few_scores(side.shares, rows_score, self.rows.counts)
            for side, rows_score in zip(sides, is_score, strict=True)
        )
        xa, xb = (side.residuals(u) for side, u in zip(sides, scores, strict=True))
        widths = xa.shape[1], xb.shape[1]
        shrink = max(0.2, 1 - max(side.columns for side in sides) / self.rows.total)
        s, half = self._sums(sides, scores, xa, xb)
        covariance = unpacked(half.transpose(1, 2, 0), *widths).transpose(2, 0, 1) / shrink
        owners = np.repeat(np.arange(len(self.rows.cards)), self.rows.cards)
        usable = np.isin(owners, others) & (self.sizes >= LEAST_ROWS_PER_CONTEXT)
        usable[usable] = np.linalg.eigvalsh(covariance[usable])[:, 0] >= LEAST_CONTEXT_INFORMATION
        several = np.bincount(owners[usable], minlength=len(self.rows.cards)) > 1
        states = np.flatnonzero(usable & several[owners])
        if not len(states):
            return 1.0, None
        found, first = np.unique(owners[states], return_index=True)
        sums, variances = s[states], covariance[states]
        if self.rows.is_simple:
            p_values = differences(sums, variances, first)
        else:
            ends = [*first[1:], len(states)]
            parts = [slice(*span) for span in zip(first, ends, strict=True)]
            p_values = np.array(
                [
                    self._difference(
                        sums[k], variances[k], c, states[k] - self.starts[c], xa, xb, shrink
                    )
                    for c, k in zip(found.tolist(), parts, strict=True)
                ]
            )
        best = int(np.argmin(p_values))
        if p_values[best] >= 1.0:
            return 1.0, None
        return min(1.0, float(p_values[best]) * len(others)), int(found[best])

    def _sums(
        self,
        sides: tuple[Side, Side],
        scores: tuple[FloatArray, ...],
        xa: FloatArray,
        xb: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the sums of products and of their half-empirical variances, by state."""
        rows = self.rows
        products = (xa[:, :, None] * xb[:, None, :]).reshape(len(xa), -1)
        va, vb = (variances_of(side.shares, u) for side, u in zip(sides, scores, strict=True))
        oa, ob = squares_of(xa), squares_of(xb)
        half = oa[:, :, None] * vb[:, None, :] + va[:, :, None] * ob[:, None, :]
        half = half.reshape(len(xa), -1) * (0.5 * rows.mass * rows.weights)[:, None]
        sums = self._by_state(np.hstack([products * rows.mass[:, None], half]))
        width = products.shape[1]
        return sums[:, :width], sums[:, width:].reshape(len(sums), oa.shape[1], ob.shape[1])

    def _difference(
        self,
        s: FloatArray,
        covariance: FloatArray,
        c: int,
        states: IntArray,
        xa: FloatArray,
        xb: FloatArray,
        shrink: float,
    ) -> float:
        """Return the p-value that the sums are alike in some states, from sums over subjects."""
        inverse = np.linalg.inv(covariance)
        total = np.linalg.inv(covariance.sum(axis=0))
        sum_all = s.sum(axis=0)
        statistic = float(np.einsum("gi,gij,gj->", s, inverse, s) - sum_all @ total @ sum_all)
        units, spread = self._spread(self.rows.codes[:, c] == states[:, None], xa, xb)
        form = -np.tile(total, (len(s), len(s)))
        for g in range(len(s)):
            block = slice(g * s.shape[1], (g + 1) * s.shape[1])
            form[block, block] += inverse[g]
        values, vectors = np.linalg.eigh(form)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        return rao_scott(statistic, root.T @ (spread / shrink) @ root, units)[0]

    def _spread(self, inside: BoolArray, xa: FloatArray, xb: FloatArray) -> tuple[int, FloatArray]:
        """Return the covariance of the sums of some states, from sums over subjects.

        ``inside`` has a mask of the rows per state.
        """
        rows = self.rows
        products = (xa[:, :, None] * xb[:, None, :]).reshape(len(xa), -1)
        width = products.shape[1]
        if rows.clusters is None:  # each state has rows of its own
            weight = rows.mass * rows.weights
            result = np.zeros((len(inside) * width,) * 2)
            for g, mask in enumerate(inside):
                part = products[mask]
                block = slice(g * width, (g + 1) * width)
                result[block, block] = (part * weight[mask, None]).T @ part
            return max(2, int(rows.total)), result
        own = (inside.T[:, :, None] * products[:, None, :]).reshape(len(xa), -1)
        sums = sums_by_cluster(rows.clusters, own * rows.mass[:, None])
        sums = sums - sums.mean(axis=0)
        return len(sums), sums.T @ sums * (len(sums) / max(len(sums) - 1, 1))


def differences(s: FloatArray, covariance: FloatArray, first: IntArray) -> FloatArray:
    """Return the p-values that the sums of each variable's states, weighed by information, agree.

    ``first`` has the place of the first state of each variable.

    >>> s, covariance = np.array([[4.0], [-4.0], [3.0], [3.0]]), np.full((4, 1, 1), 4.0)
    >>> differences(s, covariance, np.array([0, 2])).round(4).tolist()
    [0.0047, 1.0]
    """
    from scipy.special import chdtrc

    own = np.einsum("gi,gij,gj->g", s, np.linalg.inv(covariance), s)
    sums = np.add.reduceat(s, first)
    inverse = np.linalg.inv(np.add.reduceat(covariance, first))
    statistics = np.add.reduceat(own, first) - np.einsum("gi,gij,gj->g", sums, inverse, sums)
    freedoms = (np.diff([*first, len(s)]) - 1) * s.shape[1]
    return np.asarray(chdtrc(freedoms, np.maximum(statistics, 0.0)))


def few_scores(shares: FloatArray, is_score: bool, counts: FloatArray) -> FloatArray:
    """Return scores of the states: their order, or contrasts of the most frequent ones."""
    states = shares.shape[1]
    if is_score:
        return np.linspace(0.0, 1.0, states)[:, None]
    if states <= MOST_CONTRASTS + 1:
        return contrasts(states)
    often = np.argsort(-(counts @ shares), kind="stable")[:MOST_CONTRASTS]
    group = np.full(states, MOST_CONTRASTS)
    group[often] = np.arange(MOST_CONTRASTS)
    return np.asarray(contrasts(MOST_CONTRASTS + 1)[group])
