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
from itertools import product
from math import inf, sqrt
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from contextwise.learning.effect_size import GROUP_SIGNS, LARGEST_LOG, Estimate, Moves
from contextwise.support.arrays import IntArray

Floats = npt.NDArray[np.float64]
Method = Literal["exact", "chi-square", "draws", "subjects"]

DENSE = 5.0
"""Smallest fitted count of a stratum that follows a chi-square distribution."""
DRAWS, BATCH, ENOUGH, TAIL = 999, 111, 20, 10
"""Draws at most, per batch; larger draws that end the drawing, or that make a p-value of draws."""


# -- any number of groups and states ---------------------------------------------------------------


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


def _degrees(fit: Floats, design: Floats) -> int:
    """Return the degrees of freedom of a stratum: its possible cells less the rank of margins."""
    possible = fit.ravel() > 1e-9
    if not possible.any():
        return 0
    return int(possible.sum() - np.linalg.matrix_rank(design[possible]))


def _covariance(fit: Floats, design: Floats) -> Floats:
    """Return the covariance of the cells of a stratum, given its margins."""
    cells = fit.ravel()
    weighted = cells[:, None] * design
    within = weighted @ np.linalg.pinv(design.T @ weighted) @ weighted.T
    covariance: Floats = np.diag(cells) - within
    return covariance


def _draw(tables: Floats, steps: int, rng: np.random.Generator) -> Floats:
    """Redraw blocks of two groups, two states of A and two of B, given all margins.

    Each leading index is a chain of its own.
    """
    from scipy.special import gammaln

    groups, a, b = tables.shape[-3:]
    flat = tables.reshape(-1, groups * a * b).copy()
    every = np.arange(len(flat))

    def two(count: int) -> tuple[IntArray, IntArray]:
        first, second = rng.integers(count, size=len(flat)), rng.integers(count - 1, size=len(flat))
        return first, second + (second >= first)

    for _ in range(steps):
        chosen = two(groups), two(a), two(b)
        plus: list[IntArray] = []
        minus: list[IntArray] = []
        for corner in product((0, 1), repeat=3):
            g, i, j = (pair[k] for pair, k in zip(chosen, corner, strict=True))
            (plus if sum(corner) % 2 else minus).append((g * a + i) * b + j)
        up, down = np.stack(plus, axis=1), np.stack(minus, axis=1)
        added, taken = flat[every[:, None], up], flat[every[:, None], down]
        least, most = added.min(axis=1), taken.min(axis=1)
        live = np.flatnonzero(least + most > 0)
        if not len(live):
            continue
        added, taken, least, most = added[live], taken[live], least[live], most[live]
        moves = np.arange(int((least + most).max()) + 1) - least[:, None]
        possible = moves <= most[:, None]
        inside = np.where(possible, moves, 0)[:, None]
        logs = -gammaln(added[:, :, None] + inside + 1).sum(axis=1)
        logs -= gammaln(taken[:, :, None] - inside + 1).sum(axis=1)
        logs = np.where(possible, logs, -inf)
        cumulated = np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1)
        place = (rng.random((len(live), 1)) * cumulated[:, -1:] > cumulated).sum(axis=1)
        step = moves[np.arange(len(live)), place][:, None]
        flat[live[:, None], up[live]] = added + step
        flat[live[:, None], down[live]] = taken - step
    return flat.reshape(tables.shape)


def _pearson(tables: Floats, fit: Floats) -> Floats:
    """Sum Pearson's statistic over strata and cells."""
    terms = np.divide((tables - fit) ** 2, fit, out=np.zeros_like(tables), where=fit > 1e-9)
    sums: Floats = terms.sum(axis=(-1, -2, -3, -4))
    return sums


def _p_of_draws(observed: float, draws: Floats) -> float:
    """Return the share of draws that are as large; a gamma tail if there are few."""
    from scipy.stats import gamma

    larger = int((draws >= observed - 1e-9).sum())
    variance = draws.var()
    if larger >= TAIL or variance <= 0:
        return (1 + larger) / (len(draws) + 1)
    mean = draws.mean()
    return float(gamma.sf(observed, mean**2 / variance, scale=variance / mean))


class Equality(NamedTuple):
    """The p-value of equal odds ratios, the number of informative strata, and how it was found."""

    p_value: float
    strata: int
    method: Method


def _combined(pooled: float, contexts: float, strata: int) -> float:
    return pooled if strata <= 1 else min(1.0, 2 * min(pooled, contexts))


def equality_test(tables: Floats, rng: np.random.Generator) -> Equality:
    """Test that the odds ratios of A and B are equal in all groups, in every stratum.

    ``tables`` has the counts by ``[stratum, group, state of A, state of B]``.
    """
    if tables.shape[1:] == (2, 2, 2):
        moves = Moves(tables, GROUP_SIGNS)
        contexts, strata = moves.contexts_p()
        return Equality(_combined(moves.pooled_p(), contexts, strata), len(moves), "exact")
    return _general(tables, rng)


def _general(tables: Floats, rng: np.random.Generator) -> Equality:
    from scipy.stats import chi2

    fit, design = fit_without_interaction(tables), _design(*tables.shape[1:])
    degrees = np.array([_degrees(each, design) for each in fit], dtype=np.int64)
    tables, fit, degrees = tables[degrees > 0], fit[degrees > 0], degrees[degrees > 0]
    if not len(tables):
        return Equality(1.0, 0, "chi-square")
    covariance = np.sum([_covariance(each, design) for each in fit], axis=0)
    inverse = np.linalg.pinv(covariance, rcond=1e-9, hermitian=True)
    rank = int(np.linalg.matrix_rank(covariance, tol=1e-9 * np.trace(covariance), hermitian=True))

    def pooled(residuals: Floats) -> Floats:
        flat = residuals.reshape(*residuals.shape[:-3], -1)
        statistic: Floats = np.einsum("...i,ij,...j->...", flat, inverse, flat)
        return statistic

    observed = float(pooled((tables - fit).sum(axis=0))), float(_pearson(tables, fit))
    sparse = np.where(fit > 1e-9, fit, inf).min(axis=(1, 2, 3)) < DENSE
    if not sparse.any():
        p_pooled = float(chi2.sf(observed[0], rank))
        p_contexts = float(chi2.sf(observed[1], degrees.sum()))
        return Equality(_combined(p_pooled, p_contexts, len(tables)), len(tables), "chi-square")
    groups, a, b = tables.shape[1:]
    blocks = groups * (groups - 1) * a * (a - 1) * b * (b - 1) // 8
    steps = min(300, 3 * blocks)
    of_dense = sum((_covariance(each, design) for each in fit[~sparse]), np.zeros_like(covariance))
    values, vectors = np.linalg.eigh(of_dense)
    spread = np.sqrt(np.clip(values, 0, None)) * vectors
    start = _draw(tables[sparse], steps, rng)
    draws: list[Floats] = []
    for _ in range(DRAWS // BATCH):
        drawn = _draw(np.repeat(start[None], BATCH, axis=0), steps, rng)
        residuals = (drawn - fit[sparse]).sum(axis=1)
        residuals += (rng.standard_normal((BATCH, len(values))) @ spread.T).reshape(residuals.shape)
        squares = _pearson(drawn, fit[sparse]) + 2 * rng.standard_gamma(
            degrees[~sparse].sum() / 2, BATCH
        )
        draws.append(np.stack([pooled(residuals), squares]))
        both = np.concatenate(draws, axis=1)
        if ((both >= np.array(observed)[:, None]).sum(axis=1) >= ENOUGH).all():
            break
    p_pooled, p_contexts = _p_of_draws(observed[0], both[0]), _p_of_draws(observed[1], both[1])
    return Equality(_combined(p_pooled, p_contexts, len(tables)), len(tables), "draws")


# -- ordered groups, and rows of the same subjects -------------------------------------------------


class Trend(NamedTuple):
    """The change of the log odds ratio from one group to the next, and its p-value."""

    slope: Estimate
    p_value: float


def trend_test(tables: Floats, level: float = 0.95) -> Trend:
    """Test a linear trend of the log odds ratio over ordered groups; two states each."""
    from scipy.optimize import brentq
    from scipy.stats import chi2, norm

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

    quantile = float(norm.ppf((1 + level) / 2))
    observed = score(0.0, 0.0)
    deviation = observed - score(0.0, 1.0)  # one standard error
    slope = Estimate(root(0.0), root(quantile), root(-quantile))
    return Trend(slope, float(chi2.sf((observed / deviation) ** 2, 1)))


FEW_SUBJECTS = 200
"""Below this number, labels of groups are exchanged instead of a normal distribution."""


def paired_p(cells: IntArray, subjects: IntArray, rng: np.random.Generator) -> float:
    """Test equal odds ratios in two groups if several rows are of one subject.

    Each row is in one cell of a 2 x 2 x 2 table, ``((stratum * 2 + group) * 2 + a) * 2 + b``. The
    score of a subject sums over its rows, so its variance includes their dependence.
    """
    from scipy.stats import chi2

    strata = int(cells.max(initial=-1)) // 8 + 1

    def statistic(cells: IntArray) -> float:
        tables = np.bincount(cells, minlength=8 * strata).reshape(strata, 2, 2, 2).astype(float)
        fit = fit_without_interaction(tables)
        with np.errstate(divide="ignore"):
            free = 1 / (1 / fit).sum(axis=(1, 2, 3), keepdims=True)
        weights = np.divide(GROUP_SIGNS * free, fit, out=np.zeros_like(fit), where=fit > 1e-9)
        scores = np.bincount(subjects, weights.ravel()[cells])
        variance = float(scores @ scores)
        return float(scores.sum() ** 2 / variance) if variance > 0 else 0.0

    observed = statistic(cells)
    if len(np.unique(subjects)) >= FEW_SUBJECTS:
        return float(chi2.sf(observed, 1))
    group, rest = cells // 4 % 2, cells - cells // 4 % 2 * 4
    number = np.unique(subjects, return_inverse=True)[1]
    of_subject = np.zeros(number.max(initial=-1) + 1, dtype=np.int64)
    of_subject[number] = group
    paired = bool((of_subject[number] != group).any())  # some subject has rows in both groups
    ordered = np.argsort(subjects, kind="stable")
    draws = []
    for _ in range(DRAWS):
        exchanged = rng.permutation(of_subject)[number]
        if paired:  # exchange within subjects
            exchanged[np.lexsort((rng.random(len(cells)), subjects))] = group[ordered]
        draws.append(statistic(rest + 4 * exchanged))
        if len(draws) >= BATCH and sum(d >= observed for d in draws) >= 2 * ENOUGH:
            break
    return (1 + sum(d >= observed - 1e-9 for d in draws)) / (len(draws) + 1)


def two_state_tables(tables: Floats) -> Sequence[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the states of the 2 x 2 tables that describe a table of more states.

    Each state is compared with one reference state per variable: those with the most information,
    which depends on the margins alone.
    """
    a, b = tables.shape[2:]
    information = np.zeros((a, a, b, b))
    for i, k in zip(*np.triu_indices(a, 1), strict=True):
        for j, m in zip(*np.triu_indices(b, 1), strict=True):
            block = tables[:, :, [i, k]][..., [j, m]]
            value = (
                Moves(block, GROUP_SIGNS).variances.sum() if block.shape[1] == 2 else block.sum()
            )
            for x, y in ((i, k), (k, i)):
                information[x, y, j, m] = information[x, y, m, j] = value
    reference, other = np.unravel_index(information.sum(axis=(1, 3)).argmax(), (a, b))
    return [
        ((int(reference), i), (int(other), j))
        for i in range(a)
        if i != reference
        for j in range(b)
        if j != other
    ]
