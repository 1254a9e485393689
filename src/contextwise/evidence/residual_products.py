"""Test that the residuals of two variables are unrelated: sums of products, and their p-value.

S sums the products of both residuals over the rows. Its covariance is half-empirical: the squared
residuals of one variable times the model's variance of the other, and the reverse, averaged. (With
both empirical, rare states would lose power.) Fitted residuals are too small, so it is divided by
1 - columns / rows.

- *Few rows.* If more than a fifth of the cells expect less than 5 rows, or one less than 1, S is
  compared with draws: one variable is drawn again given the others. If nothing is held fixed, its
  states are dealt to the rows in a random order instead.
- *Weights and subjects.* The spread of S comes from sums over subjects. The statistic is compared
  with an F distribution whose scale and degrees of freedom fit that spread (Rao and Scott). A Wald
  test would reject far too often with few subjects.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np

from contextwise.evidence.coded_rows import CodedRows
from contextwise.evidence.logits import KERNEL, contrasts
from contextwise.support.arrays import FloatArray, IntArray

CELLS = 5.0
"""Expected rows of a cell below which p is by draws."""
MOST_DRAWN = 200_000
"""Observations above which nothing is drawn."""
MOST_STATES_DRAWN = 10_000_000
"""States drawn for one test; many rows have fewer draws, but at least 99."""
DRAWS, FIRST_DRAWS, ENOUGH, TAIL = 999, 199, 50, 10
"""Draws; of the first batch; as large ones that end them; below which the tail is a gamma's."""
TIED = 1e-7  # relative difference of equal statistics
LEAST_INFORMATION = 1e-6
CHUNK = 2**21  # numbers per array of products
POWER, POWER_LEVEL = 0.8, 0.05


class Side(NamedTuple):
    """One variable of a pair: its states, their shares given the others, and columns used."""

    states: IntArray
    shares: FloatArray
    columns: int

    def residuals(self, scores: FloatArray) -> FloatArray:
        """Return the scores of the states minus their expectations."""
        return np.asarray(scores[self.states] - self.shares @ scores)


@dataclass(frozen=True, eq=False)
class ProductTest:
    """The result of comparing S with its covariance."""

    p: float
    statistic: float
    freedom: int
    method: str  # "chi-square", "draws", "permutations", "clusters"; "" if nothing varies
    could_show: float  # the partial V found with probability 0.8


@cache
def triangle(size: int) -> tuple[IntArray, IntArray]:
    """Return the places of the upper triangle of a square."""
    return np.triu_indices(size)


def squares_of(x: FloatArray) -> FloatArray:
    """Return the products of all pairs of columns, an upper triangle per row."""
    i, j = triangle(x.shape[1])
    return x[:, i] * x[:, j]


def variances_of(shares: FloatArray, scores: FloatArray) -> FloatArray:
    """Return the model's covariance of the scores in each row, an upper triangle per row."""
    i, j = triangle(scores.shape[1])
    mean = shares @ scores
    return shares @ (scores[:, i] * scores[:, j]) - mean[:, i] * mean[:, j]


def unpacked(joint: FloatArray, left: int, right: int) -> FloatArray:
    """Turn sums of (triangle of a) x (triangle of b) into the covariance of a ⊗ b."""
    place = [np.zeros((size, size), dtype=np.int64) for size in (left, right)]
    for table, size in zip(place, (left, right), strict=True):
        i, j = triangle(size)
        table[i, j] = table[j, i] = np.arange(len(i))
    whole = joint[place[0][:, None, :, None], place[1][None, :, None, :]]
    return np.asarray(whole.reshape(left * right, left * right, *joint.shape[2:]))


def covariances(
    rows: CodedRows, sides: tuple[Side, Side], scores: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return S and its covariances: half-empirical, of the model, and empirical."""
    widths = scores[0].shape[1], scores[1].shape[1]
    sizes = [width * (width + 1) // 2 for width in widths]
    half, model, empirical = (np.zeros(sizes) for _ in range(3))
    total = np.zeros(widths)
    step = max(256, CHUNK // sum(sizes))
    square = rows.mass * rows.weights
    for first in range(0, len(rows.counts), step):
        part = slice(first, first + step)
        cut = [Side(s.states[part], s.shares[part], s.columns) for s in sides]
        xa, xb = (side.residuals(u) for side, u in zip(cut, scores, strict=True))
        va, vb = (variances_of(s.shares, u) for s, u in zip(cut, scores, strict=True))
        weight = square[part, None]
        oa, ob, wva = squares_of(xa), squares_of(xb), (va * weight).T
        total += (xa * rows.mass[part, None]).T @ xb
        half += (oa * weight).T @ vb + wva @ ob
        model += wva @ vb
        if not rows.is_simple:
            empirical += (oa * weight).T @ ob
    parts = (unpacked(each, *widths) for each in (half / 2, model, empirical))
    return total.ravel(), *parts  # type: ignore[return-value]


def compare_products(
    rows: CodedRows,
    sides: tuple[Side, Side],
    scores: tuple[FloatArray, FloatArray] | None = None,
    *,
    margins: bool = False,
    seed: int = 0,
    level: float = 1.0,
) -> ProductTest:
    """Test S = 0; ``margins`` says that nothing is held fixed.

    Nothing is drawn if the approximate p-value is above ``level``.
    """
    if scores is None:
        scores = contrasts(sides[0].shares.shape[1]), contrasts(sides[1].shares.shape[1])
    s, half, model, empirical = covariances(rows, sides, scores)
    shrink = max(0.2, 1 - max(side.columns for side in sides) / rows.total)
    covariance = half / shrink
    values, vectors = np.linalg.eigh(covariance)
    keep = values > 1e-8 * max(values[-1], 1e-12)
    freedom = int(keep.sum()) if values[-1] > LEAST_INFORMATION else 0
    if not freedom:
        return ProductTest(1.0, 0.0, 0, "", 1.0)
    root = vectors[:, keep] / np.sqrt(values[keep])
    statistic = float(((s @ root) ** 2).sum())
    if not rows.is_simple:
        units, spread = spread_of(rows, sides, scores, s, empirical)
        p, design = rao_scott(statistic, root.T @ (spread / shrink) @ root, units)
        shown = _could_show(rows, sides, scores, model, freedom, design)
        return ProductTest(p, statistic / max(design, 1e-9), freedom, "clusters", shown)
    p = chi_square_tail(statistic, freedom)
    method = "chi-square"
    if p < min(0.5, level) and _is_sparse(rows, sides, scores, covariance):
        p, method = _drawn_p(rows, sides, scores, root, statistic, margins, seed)
    shown = _could_show(rows, sides, scores, model, freedom, 1.0)
    return ProductTest(p, statistic, freedom, method, shown)


def chi_square_tail(statistic: float, freedom: float) -> float:
    """Return the probability that chi-square is at least as large."""
    from scipy.special import chdtrc

    return float(chdtrc(freedom, max(statistic, 0.0)))


# -- weights and subjects --------------------------------------------------------------------------


def sums_by_cluster(clusters: IntArray, values: FloatArray) -> FloatArray:
    """Sum the rows of an array within clusters."""
    from scipy.sparse import csr_array

    count = len(clusters)
    parts = (np.ones(count), (clusters, np.arange(count)))
    return np.asarray(csr_array(parts, shape=(int(clusters.max()) + 1, count)) @ values)


def spread_of(
    rows: CodedRows,
    sides: tuple[Side, Side],
    scores: tuple[FloatArray, FloatArray],
    s: FloatArray,
    empirical: FloatArray,
) -> tuple[int, FloatArray]:
    """Return the number of independent units and the covariance of S from their sums."""
    if rows.clusters is None:
        units = max(2, int(rows.total))
        return units, (empirical - np.outer(s, s) / units) * (units / (units - 1))
    xa, xb = (side.residuals(u) for side, u in zip(sides, scores, strict=True))
    xa = xa * rows.mass[:, None]
    own = np.stack(
        [sums_by_cluster(rows.clusters, xa * xb[:, [j]]) for j in range(xb.shape[1])], axis=2
    )
    own = own.reshape(len(own), -1)
    units = len(own)
    own = own - own.mean(axis=0)
    return units, own.T @ own * (units / max(units - 1, 1))


def rao_scott(statistic: float, effects: FloatArray, units: int) -> tuple[float, float]:
    """Return the p-value and the mean design effect, given the spread in standardized directions.

    The statistic is a weighted sum of chi-squares with these weights; the weights have the error of
    ``units`` sums.
    """
    from scipy.special import fdtrc

    weights = np.maximum(np.linalg.eigvalsh(effects), 0.0)
    total, squares = float(weights.sum()), float((weights**2).sum())
    if total < 1e-12 or units < 3:
        return 1.0, 1.0
    freedom = total**2 / max(squares, 1e-12)
    p = float(fdtrc(freedom, max(freedom * (units - 1), 1.0), statistic / total))
    return p, total / len(weights)


# -- power -----------------------------------------------------------------------------------------


@cache
def noncentrality(freedom: float, level: float = POWER_LEVEL) -> float:
    """Return the noncentrality that chi-square at this level finds with probability 0.8."""
    from scipy.special import chdtri, chndtrinc

    return float(chndtrinc(chdtri(freedom, level), freedom, 1 - POWER))


def _could_show(
    rows: CodedRows,
    sides: tuple[Side, Side],
    scores: tuple[FloatArray, FloatArray],
    model: FloatArray,
    freedom: int,
    design: float,
) -> float:
    """Return the partial V that the test finds with probability 0.8.

    Its unit is a table of independent rows with the same margins: there, V² times rows times
    (states - 1) is the noncentrality.
    """
    margins = [(rows.mass @ side.shares / rows.mass.sum())[None] for side in sides]
    va, vb = (variances_of(m, u) for m, u in zip(margins, scores, strict=True))
    widths = scores[0].shape[1], scores[1].shape[1]
    reference = unpacked(va.T @ vb, *widths)
    ratio = float(np.linalg.eigvals(np.linalg.pinv(reference, hermitian=True) @ model).real.mean())
    weight = float((rows.mass * rows.weights).sum() / rows.mass.sum())
    useful = ratio / weight**2 / max(design, 1e-9)
    dimensions = 1 if model.shape[0] == 1 else min(s.shares.shape[1] for s in sides) - 1
    return min(1.0, sqrt(noncentrality(freedom) / max(useful * dimensions, 1e-9)))


# -- few rows --------------------------------------------------------------------------------------


def _is_sparse(
    rows: CodedRows,
    sides: tuple[Side, Side],
    scores: tuple[FloatArray, FloatArray],
    covariance: FloatArray,
) -> bool:
    expected = (sides[0].shares * rows.counts[:, None]).T @ sides[1].shares
    if expected.size > 4 and len(covariance) == 1:  # information matters, not each cell
        largest = [np.abs(s.residuals(u)).max() for s, u in zip(sides, scores, strict=True)]
        return float(covariance[0, 0]) < CELLS * 0.5 * max(float(np.prod(largest)), 1e-9) ** 2
    if expected.size == 4:
        return bool(expected.min() < CELLS)
    return bool((expected < CELLS).mean() > 0.2 or expected.min() < 1)


def _drawn_p(
    rows: CodedRows,
    sides: tuple[Side, Side],
    scores: tuple[FloatArray, FloatArray],
    root: FloatArray,
    statistic: float,
    margins: bool,
    seed: int,
) -> tuple[float, str]:
    """Draw the second variable again given the others, and return the p-value."""
    if rows.total > MOST_DRAWN:
        return chi_square_tail(statistic, root.shape[1]), "chi-square"
    repeat = np.repeat(np.arange(len(rows.counts)), rows.counts.astype(np.int64))
    left = np.ascontiguousarray(sides[0].residuals(scores[0])[repeat])
    right = sides[1].shares[repeat]
    states = sides[1].states[repeat] if margins else np.zeros(0, dtype=np.int64)
    mean = left.T @ (right @ scores[1])
    cumulated = np.cumsum(right, axis=1)
    function = drawn_sums_in_python if KERNEL is None else KERNEL.drawn_sums
    drawn, larger = np.zeros(0), 0
    draws = int(min(DRAWS, max(99, MOST_STATES_DRAWN // len(left))))
    while len(drawn) < draws:
        batch = min(FIRST_DRAWS if not len(drawn) else 200, draws - len(drawn))
        sums = function(left, cumulated, states, seed, len(drawn), batch)
        s = np.einsum("dkm,kj->dmj", sums, scores[1]) - mean
        drawn = np.append(drawn, ((s.reshape(batch, -1) @ root) ** 2).sum(axis=1))
        larger = int((drawn >= statistic * (1 - TIED)).sum())
        spread = float(drawn.std())
        if larger >= ENOUGH or (not larger and statistic > drawn.mean() + 20 * spread):
            break
    p = (1 + larger) / (1 + len(drawn))
    if larger < TAIL:
        p = max(min(p, gamma_tail(drawn, statistic)), smallest_p(rows, sides, margins))
    return p, "permutations" if margins else "draws"


def gamma_tail(drawn: FloatArray, statistic: float) -> float:
    """Return the tail beyond a statistic of the shifted gamma with the moments of some draws."""
    from scipy.special import gammaincc

    mean, variance = float(drawn.mean()), max(float(drawn.var()), 1e-12)
    skewness = max(float(((drawn - mean) ** 3).mean()) / variance**1.5, 1e-3)
    shape = 4 / skewness**2
    z = (statistic - mean) / sqrt(variance)
    return max(1e-300, float(gammaincc(shape, max(0.0, shape + z * sqrt(shape)))))


def smallest_p(rows: CodedRows, sides: tuple[Side, Side], margins: bool) -> float:
    """Return the probability of the observed rows under the null: no p-value is smaller.

    If nothing is held fixed, it is that of the table given its margins. Otherwise the second
    variable is drawn within groups of rows that agree in everything else.
    """
    from scipy.special import gammaln

    counts = rows.counts
    if margins:
        table = np.zeros((sides[0].shares.shape[1], sides[1].shares.shape[1]))
        np.add.at(table, (sides[0].states, sides[1].states), counts)
        parts = table.sum(axis=0), table.sum(axis=1)
        chance = sum(float(gammaln(part + 1).sum()) for part in parts)
        chance -= float(gammaln(table.sum() + 1)) + float(gammaln(table + 1).sum())
    else:
        shares = sides[1].shares
        chosen = np.maximum(shares[np.arange(len(counts)), sides[1].states], 1e-300)
        key = np.column_stack([shares.round(12), sides[0].states])
        group = np.unique(key, axis=0, return_inverse=True)[1].ravel()
        chance = float(gammaln(np.bincount(group, counts) + 1).sum())
        cells = np.bincount(group * shares.shape[1] + sides[1].states, counts)
        chance += float(counts @ np.log(chosen)) - float(gammaln(cells + 1).sum())
    return exp(chance) if chance > log(1e-300) else 0.0


def drawn_sums_in_python(
    left: FloatArray, cumulated: FloatArray, permuted: IntArray, seed: int, first: int, draws: int
) -> FloatArray:
    """Return sums of ``left`` by drawn state, for some draws; twin of ``logits.cpp``."""
    rows, states = cumulated.shape
    result = np.zeros((draws, states, left.shape[1]))
    for draw in range(draws):
        u = uniforms(seed, (first + draw) * rows, rows)
        if len(permuted):
            state = permuted[np.argsort(u, kind="stable")]
        else:
            state = (u[:, None] > cumulated[:, :-1]).sum(axis=1)
        np.add.at(result[draw], state, left)
    return result


def uniforms(seed: int, first: int, count: int) -> FloatArray:
    """Return numbers of the stream of splitmix64 between 0 and 1, from place ``first`` on."""
    with np.errstate(over="ignore"):
        z = np.arange(first + 1, first + count + 1, dtype=np.uint64)
        z = np.uint64(seed) + z * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return np.asarray((z >> np.uint64(11)) * 2.0**-53, dtype=np.float64)
