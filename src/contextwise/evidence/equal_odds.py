"""Test whether two variables are associated equally strongly in all groups.

A table counts observations by ``[stratum, group, state of A, state of B]``. The hypothesis is that
in each stratum the odds ratios of A and B are equal in all groups. The distributions of A, of B and
of the strata may differ between groups, so every test here is conditional on the counts of (A, B),
(A, group) and (B, group) in each stratum. No parameter is left to estimate, and empty margins need
no degrees of freedom.

- *Two groups, two states each*: one number per stratum is free. Its distribution is known exactly
  (Zelen 1971).
- *Otherwise*: Pearson's statistic against the fit without a three-way interaction. Strata whose
  fitted counts are all at least 5 follow a chi-square distribution; the others are drawn by moves
  that keep the margins.

Each table has two statistics: *pooled* sums the deviations over the strata and finds a difference
that has the same direction everywhere; *contexts* sums their squares and finds a difference in a
few strata. The p-value is twice the smaller of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import exp, inf, sqrt
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from contextwise.evidence.effect_size import INFORMATIVE, LARGEST_LOG, estimate
from contextwise.evidence.free_counts import GROUP_SIGNS, FreeCounts, sums_of
from contextwise.evidence.p_values import skewed_tail
from contextwise.models.evidence import Effect
from contextwise.support.arrays import IntArray
from contextwise.support.statistics import Z

Floats = npt.NDArray[np.float64]
Method = Literal["exact", "chi-square", "draws", "subjects"]
TwoStates = tuple[tuple[int, int], tuple[int, int]]
"""The reference and another state of A, and those of B."""

DENSE = 5.0
"""Smallest fitted count of a stratum that follows a chi-square distribution."""
DRAWS, BATCH, ENOUGH, TAIL = 999, 111, 20, 10
"""Draws at most, per batch; larger draws that end the drawing, or that make a p-value of draws."""
NORMAL_FROM = 400.0
"""Variance of the pooled sum from which its distribution is called normal."""
ENUMERATED = 50_000
"""Outcomes of all strata together that are enumerated."""


def fit_without_interaction(tables: Floats, start: Floats | None = None) -> Floats:
    """Return the fit of each stratum that has its two-way margins, by iterative proportions.

    The three-way interaction is that of ``start``, by default none.
    """
    fit = np.ones_like(tables) if start is None else np.broadcast_to(start, tables.shape).copy()
    axes = (-3, -2, -1)
    margins = [tables.sum(axis, keepdims=True) for axis in axes]
    for _ in range(60):
        before = fit
        for _ in range(5):
            for axis, margin in zip(axes, margins, strict=True):
                sums = fit.sum(axis, keepdims=True)
                fit = fit * np.divide(margin, sums, out=np.zeros_like(sums), where=sums > 0)
        if np.abs(fit - before).max(initial=0) < 1e-6 * max(1.0, tables.max(initial=0)):
            break
    return fit


def _design(groups: int, a: int, b: int) -> Floats:
    """Return the indicators of the two-way margins of one stratum, a row per cell."""
    g, i, j = np.indices((groups, a, b)).reshape(3, -1)
    parts = np.eye(a * b)[i * b + j], np.eye(groups * a)[g * a + i], np.eye(groups * b)[g * b + j]
    return np.concatenate(parts, axis=1)


def _covariance(fit: Floats, design: Floats) -> tuple[Floats, int]:
    """Return the covariance of the cells of a stratum given its margins, and its rank."""
    cells = fit.ravel()
    possible = cells > 1e-9
    freedom = int(possible.sum() - np.linalg.matrix_rank(design[possible])) if possible.any() else 0
    weighted = cells[:, None] * design
    within = weighted @ np.linalg.pinv(design.T @ weighted) @ weighted.T
    return np.diag(cells) - within, freedom


def _draw(tables: Floats, steps: int, rng: np.random.Generator) -> Floats:
    """Redraw blocks of two groups, two states of A and two of B, given all margins.

    Each leading index is a chain of its own.
    """
    from scipy.special import gammaln

    groups, a, b = tables.shape[-3:]
    flat = tables.reshape(-1, groups * a * b).copy()
    corners = np.indices((2, 2, 2)).reshape(3, -1)
    odd = corners.sum(axis=0) % 2 == 1

    def two(count: int) -> IntArray:
        first, second = rng.integers(count, size=len(flat)), rng.integers(count - 1, size=len(flat))
        return np.stack([first, second + (second >= first)])

    for _ in range(steps):
        g, i, j = (two(count)[k] for count, k in zip((groups, a, b), corners, strict=True))
        cells = ((g * a + i) * b + j).T
        counts = np.take_along_axis(flat, cells, axis=1)
        least, most = counts[:, odd].min(axis=1), counts[:, ~odd].min(axis=1)
        live = np.flatnonzero(least + most > 0)
        if not len(live):
            continue
        cells, counts, least, most = cells[live], counts[live], least[live], most[live]
        signs = np.where(odd, 1.0, -1.0)
        moves = np.arange(int((least + most).max()) + 1) - least[:, None]
        possible = moves <= most[:, None]
        inside = np.where(possible, moves, 0)[:, None]
        logs = -gammaln(counts[:, :, None] + signs[:, None] * inside + 1).sum(axis=1)
        logs = np.where(possible, logs, -inf)
        cumulated = np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1)
        place = (rng.random((len(live), 1)) * cumulated[:, -1:] > cumulated).sum(axis=1)
        step = moves[np.arange(len(live)), place][:, None]
        flat[live[:, None], cells] = counts + signs * step
    return flat.reshape(tables.shape)


def _p_of_draws(observed: float, draws: Floats) -> float:
    """Return the share of draws that are as large; the tail of a shifted gamma if there are few."""
    larger = int((draws >= observed - 1e-9).sum())
    mean, variance = float(draws.mean()), float(draws.var())
    if larger >= TAIL or variance <= 0:
        return (1 + larger) / (len(draws) + 1)
    return skewed_tail(observed, mean, variance, float(((draws - mean) ** 3).mean()))


def pooled_p(counts: FreeCounts) -> float:
    """Return the two-sided p-value of the sum over the tables."""
    from scipy.stats import chi2

    mean, variance = (moment.sum() for moment in counts.moments())
    if variance <= 0:
        return 1.0
    if variance > NORMAL_FROM:
        return float(chi2.sf(mean**2 / variance, 1))
    p, total, first = counts.probabilities(), np.ones(1), 0
    for chances, start in zip(counts.split(p), counts.starts, strict=True):
        total = np.convolve(total, chances)
        first += counts.moves[start]
        possible = np.flatnonzero(total)  # tails can be too small for a float
        total, first = total[possible[0] : possible[-1] + 1], first + possible[0]
    as_far = np.abs(np.arange(len(total)) + first - mean) >= abs(mean) - 1e-7
    return min(1.0, float(total[as_far].sum() / total.sum()))


def contexts_p(counts: FreeCounts) -> tuple[float, int]:
    """Return the p-value of the sum of squares, and the number of tables in it.

    Exact for few possible outcomes. Otherwise its distribution is a shifted gamma with the exact
    mean, variance and skewness.
    """
    used = counts.take(counts.moments()[1] >= INFORMATIVE)
    if not len(used):
        return 1.0, 0
    means, variances = used.moments()
    squares = (used.moves - means[used.owners]) ** 2 / variances[used.owners] - 1
    p = used.probabilities()
    statistic = (means**2 / variances - 1).sum()
    if np.prod(np.bincount(used.owners), dtype=np.float64) <= ENUMERATED:
        sums, chances = sums_of(used.split(squares), used.split(p))
        return min(1.0, float(chances[sums >= statistic - 1e-9].sum())), len(used)
    variance, third = (float((p * squares**k).sum()) for k in (2, 3))
    p_value = skewed_tail(statistic, 0.0, variance, third) if variance > 0 else 1.0
    return p_value, len(used)


class Equality(NamedTuple):
    """The p-value of equal odds ratios, and how it was found."""

    p_value: float
    method: Method


def _either(pooled: float, contexts: float, strata: int) -> float:
    return pooled if strata <= 1 else min(1.0, 2 * min(pooled, contexts))


def equality_test(tables: Floats, rng: np.random.Generator) -> Equality:
    """Test that the odds ratios of A and B are equal in all groups, in every stratum.

    ``tables`` has the counts by ``[stratum, group, state of A, state of B]``.
    """
    from scipy.stats import chi2

    if tables.shape[1:] == (2, 2, 2):
        counts = FreeCounts.of(tables, GROUP_SIGNS)
        return Equality(_either(pooled_p(counts), *contexts_p(counts)), "exact")
    fit, design = fit_without_interaction(tables), _design(*tables.shape[1:])
    parts = [_covariance(each, design) for each in fit]
    used = [k for k, (_, freedom) in enumerate(parts) if freedom]
    if not used:
        return Equality(1.0, "chi-square")
    tables, fit = tables[used], fit[used]
    covariances = np.array([parts[k][0] for k in used])
    degrees = np.array([parts[k][1] for k in used])
    covariance = covariances.sum(axis=0)
    inverse = np.linalg.pinv(covariance, rcond=1e-9, hermitian=True)

    def statistics(tables: Floats, fit: Floats, noise: Floats | float = 0.0) -> Floats:
        flat = (tables - fit).sum(axis=-4).reshape(*tables.shape[:-4], -1) + noise
        pooled = np.einsum("...i,ij,...j->...", flat, inverse, flat)
        squares = np.divide((tables - fit) ** 2, fit, out=np.zeros_like(tables), where=fit > 1e-9)
        return np.stack([pooled, squares.sum(axis=(-1, -2, -3, -4))])

    observed = statistics(tables, fit)
    sparse = np.where(fit > 1e-9, fit, inf).min(axis=(1, 2, 3)) < DENSE
    if not sparse.any():
        tolerance = 1e-9 * np.trace(covariance)
        rank = np.linalg.matrix_rank(covariance, tol=tolerance, hermitian=True)
        p_pooled, p_contexts = (
            float(chi2.sf(value, freedom))
            for value, freedom in zip(observed, (rank, degrees.sum()), strict=True)
        )
        return Equality(_either(p_pooled, p_contexts, len(tables)), "chi-square")
    groups, a, b = tables.shape[1:]
    blocks = groups * (groups - 1) * a * (a - 1) * b * (b - 1) // 8
    steps = min(300, 3 * blocks)
    values, vectors = np.linalg.eigh(covariances[~sparse].sum(axis=0))
    spread = np.sqrt(np.clip(values, 0, None)) * vectors
    start = _draw(tables[sparse], steps, rng)
    draws = np.zeros((2, 0))
    while draws.shape[1] < DRAWS and ((draws >= observed[:, None]).sum(axis=1) < ENOUGH).any():
        drawn = _draw(np.repeat(start[None], BATCH, axis=0), steps, rng)
        # Strata with large fitted counts are normal.
        noise = rng.standard_normal((BATCH, len(values))) @ spread.T
        batch = statistics(drawn, fit[sparse], noise)
        batch[1] += 2 * rng.standard_gamma(degrees[~sparse].sum() / 2, BATCH)
        draws = np.concatenate([draws, batch], axis=1)
    p_pooled, p_contexts = map(_p_of_draws, observed.tolist(), draws)
    return Equality(_either(p_pooled, p_contexts, len(tables)), "draws")


# -- ordered groups, and rows of the same subjects -------------------------------------------------


@dataclass(frozen=True)
class Trend:
    """The change of the log odds ratio from one group to the next."""

    value: float
    low: float
    high: float
    p_value: float


def trend_test(tables: Floats) -> Trend:
    """Test a linear trend of the log odds ratio over ordered groups; two states each."""
    from scipy.optimize import brentq
    from scipy.stats import chi2

    scores = np.arange(tables.shape[1])

    def score(slope: float, quantile: float) -> float:
        start = np.ones(tables.shape[1:])
        start[:, 1, 1] = np.exp(slope * (scores - scores.mean()))
        fit = fit_without_interaction(tables, start)
        with np.errstate(divide="ignore"):
            free = 1 / (1 / fit).sum(axis=(2, 3))  # how far a group can move, given its margins
        total = np.maximum(free.sum(axis=1), 1e-300)
        information = ((free @ scores**2) - (free @ scores) ** 2 / total).sum()
        residuals = (tables - fit)[:, :, 1, 1].sum(axis=0)
        return float(residuals @ scores - quantile * sqrt(max(information, 1e-12)))

    def root(quantile: float) -> float:
        low, high = -LARGEST_LOG, LARGEST_LOG
        if score(low, quantile) <= 0:
            return -inf
        if score(high, quantile) >= 0:
            return inf
        return float(brentq(score, low, high, args=(quantile,), xtol=1e-4))

    observed = score(0.0, 0.0)
    deviation = observed - score(0.0, 1.0)  # one standard error
    p_value = float(chi2.sf((observed / deviation) ** 2, 1))
    return Trend(root(0.0), root(Z), root(-Z), p_value)


FEW_SUBJECTS = 200
"""Below this number, labels of groups are exchanged instead of a normal distribution."""


def paired_p(cells: IntArray, subjects: IntArray, rng: np.random.Generator) -> float:
    """Test equal odds ratios in two groups if several rows are of one subject.

    Each row is in one cell of a 2 x 2 x 2 table, ``((stratum * 2 + group) * 2 + a) * 2 + b``. The
    score of a subject sums over its rows, so its variance includes their dependence.
    """
    from scipy.stats import chi2

    strata = int(cells.max(initial=-1)) // 8 + 1
    number = np.unique(subjects, return_inverse=True)[1]

    def statistic(cells: IntArray) -> float:
        tables = np.bincount(cells, minlength=8 * strata).reshape(strata, 2, 2, 2).astype(float)
        fit = fit_without_interaction(tables)
        with np.errstate(divide="ignore"):
            free = 1 / (1 / fit).sum(axis=(1, 2, 3), keepdims=True)
        weights = np.divide(GROUP_SIGNS * free, fit, out=np.zeros_like(fit), where=fit > 1e-9)
        scores = np.bincount(number, weights.ravel()[cells])
        variance = float(scores @ scores)
        return float(scores.sum() ** 2 / variance) if variance > 0 else 0.0

    observed = statistic(cells)
    group = cells // 4 % 2
    of_subject = np.zeros(number.max(initial=-1) + 1, dtype=np.int64)
    of_subject[number] = group
    if len(of_subject) >= FEW_SUBJECTS:
        return float(chi2.sf(observed, 1))
    paired = bool((of_subject[number] != group).any())  # some subject has rows in both groups
    ordered = np.argsort(number, kind="stable")
    draws: list[float] = []
    for _ in range(DRAWS):
        exchanged = rng.permutation(of_subject)[number]
        if paired:  # exchange within subjects
            exchanged[np.lexsort((rng.random(len(cells)), number))] = group[ordered]
        draws.append(statistic(cells + 4 * (exchanged - group)))
        if len(draws) >= BATCH and sum(d >= observed for d in draws) >= 2 * ENOUGH:
            break
    return (1 + sum(d >= observed - 1e-9 for d in draws)) / (len(draws) + 1)


def paired_equality(
    tables: Floats,
    strata: IntArray,
    columns: Sequence[IntArray],
    subjects: IntArray,
    rng: np.random.Generator,
) -> Equality:
    """Test equal odds ratios in groups if several rows are of one subject.

    ``tables`` counts the rows of the groups that are compared; ``columns`` have the group of each
    row among them, and its states. The p-value is the smallest of all 2 x 2 x 2 tables, times their
    number.
    """
    p_values = []
    for two, states in product(combinations(range(tables.shape[1]), 2), two_state_tables(tables)):
        chosen = np.ones(len(strata), dtype=bool)
        cells = strata
        for column, (low, high) in zip(columns, (two, *states), strict=True):
            chosen &= (column == low) | (column == high)
            cells = 2 * cells + (column == high)
        p_values.append(paired_p(cells[chosen], subjects[chosen], rng))
    return Equality(min(1.0, len(p_values) * min(p_values)), "subjects")


def two_state_tables(tables: Floats) -> list[TwoStates]:
    """Return the states of the 2 x 2 tables that describe a table of more states.

    Each state is compared with one reference state per variable: those with the most information,
    which depends on the margins alone.
    """
    a, b = tables.shape[2:]
    information = np.zeros((a, b))
    for first in combinations(range(a), 2):
        for second in combinations(range(b), 2):
            block = block_of(tables, (first, second))
            two_groups = block.shape[1] == 2
            value = (
                FreeCounts.of(block, GROUP_SIGNS).moments()[1].sum() if two_groups else block.sum()
            )
            information[np.ix_(first, second)] += value
    reference, other = divmod(int(information.argmax()), b)
    others = [i for i in range(a) if i != reference], [j for j in range(b) if j != other]
    return [((reference, i), (other, j)) for i, j in product(*others)]


def block_of(tables: Floats, states: TwoStates) -> Floats:
    """Return the part of a table with two states of each variable."""
    first, second = states
    return tables[:, :, first][..., second]


# -- odds ratios of groups -------------------------------------------------------------------------


def odds_ratio(counts: FreeCounts, level: float) -> Effect:
    """Return the odds ratio, or the ratio of two, with its interval."""
    value, low, high = map(exp, estimate(counts, level))
    return Effect("odds ratio", value, low, high)


def of_groups(block: Floats) -> list[FreeCounts]:
    """Return the distribution of the odds ratio of each group, for two states each."""
    return [FreeCounts.of(each) for each in np.moveaxis(block, 1, 0)]


def clearest_states(tables: Floats, choices: Sequence[TwoStates]) -> TwoStates:
    """Choose the states whose odds ratios differ most between groups, in an order above 1."""
    first, second = max(choices, key=lambda states: _spread(block_of(tables, states)))
    if estimate(FreeCounts.of(block_of(tables, (first, second)).sum(axis=1))).value < 0:
        second = second[1], second[0]  # an odds ratio above 1 reads better
    return first, second


def _spread(block: Floats) -> float:
    """Return the largest difference of two groups' log odds ratios, in standard errors.

    Two groups with the same infinite odds ratio show no difference.
    """
    ends = []
    for counts in of_groups(block):
        mean, variance = (moment.sum() for moment in counts.moments())
        ends += [(-mean, variance, counts.limit)] if variance > 0 else []
    return max(
        (
            abs(x / v - y / w) / sqrt(1 / v + 1 / w)
            for (x, v, first), (y, w, second) in combinations(ends, 2)
            if not first or first != second
        ),
        default=0.0,
    )
