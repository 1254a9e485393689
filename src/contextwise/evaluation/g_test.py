"""The G² test: are two variables independent within groups of rows? With exact p-values.

If the claim holds, the values of the first variable are exchangeable within each group, so every
permutation within groups is equally likely. The statistic is the sum over groups of the G² of their
tables. Its distribution over permutations, the **null**, is exact for any number of rows.

- If every table has two rows and two columns (ignoring states that do not occur), the null is a
  convolution of hypergeometric distributions, computed on a grid. Statistics are rounded up to the
  grid and the observed one down, so the p-value is never too small.
- Otherwise tables are drawn (Besag and Clifford 1991). Drawing stops when `ENOUGH` of them are at
  least as large as the observed one; then p = `ENOUGH` / draws. If that does not happen,
  p = (1 + those) / (1 + draws), and more draws could make it smaller.

A group is **uninformative** if every permutation has the same G², for example if its table has one
row or one column.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import exp, inf, log, prod, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from contextwise.support.arrays import FloatArray, IntArray
from contextwise.support.deadline import NEVER, Deadline

_Part = tuple[FloatArray, FloatArray, int]
"""Possible statistics of a table, their probabilities, and the number of such tables."""

POWER = 0.8
"""The probability with which a test must find a dependence that it is said to find."""
ENOUGH = 10
"""Draws at least as large as the observed statistic that end the drawing."""
COARSE, FINE = 2**10, 2**14
"""Grid steps up to the observed statistic: in a first pass, and in a second one."""
INTERESTING = 0.2
"""A p-value up to this is computed again on the fine grid, where it can only become smaller."""
NEGLIGIBLE = 1e-100
"""A probability below this counts as a large statistic, so that p is never too small."""
SLACK = 1e-9
"""Relative difference up to which statistics are equal: sums are rounded."""
BATCH = 10_000
"""Most tables drawn at once; the deadline is checked in between."""


class Detectable(NamedTuple):
    """The weakest dependence that a test finds with probability `POWER`."""

    bits: float
    """Conditional mutual information per row; infinite if no row is informative."""
    odds_ratio: float | None
    """The common odds ratio, if all tables are 2 × 2."""


@dataclass(frozen=True)
class ConditionalTest:
    """The result of a conditional G² test."""

    rows: int  # in informative groups
    groups: int
    uninformative: int  # groups that permutations cannot change
    statistic: float  # G² of the informative groups
    mean: float  # of the statistic, over permutations
    p_value: float  # of a statistic at least as large; 1 if no group is informative
    freedom: int  # degrees of freedom, summed over the informative groups
    precision: float  # Σ r0 r1 c0 c1 / n³ over these groups if all are 2 × 2; else 0
    draws: int = 0  # tables drawn; 0 if the null was computed
    clear: bool = True  # whether more draws would hardly change the p-value

    @property
    def bits(self) -> float:
        """Conditional mutual information per row minus its mean over permutations, in bits."""
        return (self.statistic - self.mean) / (2 * self.rows * log(2)) if self.rows else 0.0

    def detectable(self, level: float, power: float = POWER) -> Detectable:
        """Return the weakest dependence that a test at this level finds with this probability.

        G² is compared with the noncentral chi-square distribution: its noncentrality is 2N ln 2
        times the conditional mutual information in bits, and, if all tables are 2 × 2 with the same
        log odds ratio, about the square of that times Σ r0 r1 c0 c1 / n³.
        """
        if not self.rows:
            return Detectable(inf, None)
        from scipy import special

        critical = special.chdtri(self.freedom, level)
        noncentrality = float(special.chndtrinc(critical, self.freedom, 1 - power))
        ratio = exp(sqrt(noncentrality / self.precision)) if self.precision else None
        return Detectable(noncentrality / (2 * self.rows * log(2)), ratio)


def conditional_test(
    first: IntArray,
    second: IntArray,
    groups: IntArray,
    *,
    rng: np.random.Generator,
    draws: int = 9_999,
    deadline: Deadline = NEVER,
) -> ConditionalTest:
    """Test whether two columns are independent within groups of rows, with at most ``draws``.

    >>> x = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> conditional_test(x, x, np.zeros(8, dtype=int), rng=np.random.default_rng(1)).p_value
    0.02857...
    """
    tables = _tables(first, second, groups)
    informative = [
        table
        for table in tables
        if min(table.shape) > 1
        and (table.shape != (2, 2) or len(_outcomes(*_margins(table))[0]) > 1)
    ]
    rows = int(sum(table.sum() for table in informative))
    statistic = float(sum(g_squared(table) for table in informative))
    small = all(table.shape == (2, 2) for table in informative)
    if small:
        null = _convolved(informative, statistic, deadline)
    else:
        null = _sampled(informative, statistic, draws, rng, deadline)
    return ConditionalTest(
        rows=rows,
        groups=len(tables),
        uninformative=len(tables) - len(informative),
        statistic=statistic,
        mean=null.mean,
        p_value=null.p_value,
        freedom=sum((table.shape[0] - 1) * (table.shape[1] - 1) for table in informative),
        precision=sum(map(_precision, informative)) if small else 0.0,
        draws=null.draws,
        clear=null.clear,
    )


# -- tables --------------------------------------------------------------------------------------


def _tables(first: IntArray, second: IntArray, groups: IntArray) -> list[IntArray]:
    """The table of each group, without empty rows and columns."""
    if not len(first):
        return []
    order = np.argsort(groups, kind="stable")
    # Any other number in front makes the first row start a group.
    starts = np.flatnonzero(np.diff(groups[order], prepend=groups[order[0]] - 1))
    wide, high = int(second.max()) + 1, int(first.max()) + 1
    codes = (first * wide + second)[order]
    tables = []
    for codes_of_group in np.split(codes, starts[1:]):
        if len(codes_of_group) > 1:
            table = np.bincount(codes_of_group, minlength=high * wide).reshape(high, wide)
            tables.append(table[table.any(axis=1)][:, table.any(axis=0)])
        else:
            tables.append(np.ones((1, 1), dtype=np.int64))
    return tables


def _margins(table: IntArray) -> tuple[int, int, int]:
    """The sums of a 2 × 2 table: of all cells, of the second row, of the second column."""
    return int(table.sum()), int(table[1].sum()), int(table[:, 1].sum())


def _precision(table: IntArray) -> float:
    """Return r0 r1 c0 c1 / n³ of a 2 × 2 table: 1 / the variance of its log odds ratio near 0."""
    margins = [*table.sum(axis=0).tolist(), *table.sum(axis=1).tolist()]
    return float(prod(margins)) / float(table.sum()) ** 3


def g_squared(table: npt.NDArray[np.int64]) -> float:
    """Compute the likelihood-ratio statistic of independence in a table.

    >>> round(g_squared(np.array([[3, 1], [1, 3]])), 4)
    2.093
    """
    parts = (
        _x_log_x(table).sum()
        - _x_log_x(table.sum(axis=0)).sum()
        - _x_log_x(table.sum(axis=1)).sum()
        + _x_log_x(table.sum(keepdims=True)).sum()
    )
    return max(0.0, 2 * float(parts))


def _x_log_x(counts: npt.NDArray[np.int64]) -> FloatArray:
    x = counts.astype(np.float64)
    logs: FloatArray = x * np.log(np.maximum(x, 1.0))
    return logs


@lru_cache(maxsize=2**16)
def _outcomes(n: int, row: int, column: int) -> tuple[FloatArray, FloatArray]:
    """Possible statistics of a 2 × 2 table with these margins, and their probabilities."""
    cells = np.arange(max(0, row + column - n), min(row, column) + 1)
    # logs[k] = ln k!
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])

    def log_choose(total: int, parts: IntArray) -> FloatArray:
        ways: FloatArray = logs[total] - logs[parts] - logs[total - parts]
        return ways

    # Given its margins, the last cell of the table has a hypergeometric distribution.
    chances = np.exp(
        log_choose(row, cells)
        + log_choose(n - row, column - cells)
        - log_choose(n, np.array([column]))
    )
    tables = np.array(
        [[n - row - column + cells, column - cells], [row - cells, cells]], dtype=np.int64
    )
    margins = np.array([row, n - row, column, n - column])
    statistics = 2 * (
        _x_log_x(tables).sum(axis=(0, 1)) - _x_log_x(margins).sum() + _x_log_x(np.array([n])).sum()
    )
    statistics, chances = np.maximum(statistics, 0.0), chances / chances.sum()
    order = np.argsort(statistics)
    statistics, chances = statistics[order], chances[order]
    # Outcomes whose statistics differ by rounding only become one.
    close = SLACK * max(1.0, float(statistics[-1]))
    fresh = np.flatnonzero(np.diff(statistics, prepend=-1.0) > close)
    return np.maximum.reduceat(statistics, fresh), np.add.reduceat(chances, fresh)


class _Null(NamedTuple):
    """The mean of the statistic, the p-value, and how it was found; see `ConditionalTest`."""

    mean: float
    p_value: float
    draws: int = 0
    clear: bool = True


# -- the null by convolution ---------------------------------------------------------------------


def _convolved(tables: list[IntArray], observed: float, deadline: Deadline) -> _Null:
    """Compute the mean of the statistic and the p-value for 2 × 2 tables."""
    alike: dict[tuple[int, int, int], int] = {}
    for table in tables:
        margins = _margins(table)
        alike[margins] = alike.get(margins, 0) + 1
    parts: list[_Part] = [(*_outcomes(*margins), times) for margins, times in alike.items()]
    mean = sum(times * float(values @ chances) for values, chances, times in parts)
    if observed <= 0 or not tables:
        return _Null(mean, 1.0)
    p_value = _tail(parts, observed, COARSE, deadline)
    if p_value <= INTERESTING:
        p_value = _tail(parts, observed, FINE, deadline)
    return _Null(mean, p_value)


def _tail(parts: list[_Part], observed: float, grid: int, deadline: Deadline) -> float:
    """Compute the probability of a sum at least as large as the observed one, rounded up."""
    below, tail = np.zeros(grid), 0.0
    below[0] = 1.0
    for values, chances, times in parts:
        if len(values) == 2:  # the sum of such tables has a binomial distribution
            from scipy.stats import binom

            larger = np.arange(times + 1)
            chances = binom.pmf(larger, times, chances[1])
            values, times = (times - larger) * values[0] + larger * values[1], 1
        # Rounded up, so p is never too small; the slack keeps rounding from adding a place.
        places = np.ceil(values * (grid / observed * (1 - SLACK))).astype(np.int64)
        for _ in range(times):
            deadline.check()
            below, tail = _added(below, tail, places, chances)
    return min(1.0, tail)


def _added(
    below: FloatArray, tail: float, places: IntArray, chances: FloatArray
) -> tuple[FloatArray, float]:
    """Add one table to the distribution on the grid and to the probability beyond it."""
    grid = len(below)
    likely = (chances > NEGLIGIBLE) & (places < grid)
    result = np.zeros(grid)
    # Negligible outcomes count as beyond, which can only raise p.
    beyond = tail + float(chances[~likely].sum()) * float(below.sum())
    above = np.concatenate([np.cumsum(below[::-1])[::-1], [0.0]])
    for place, chance in zip(places[likely].tolist(), chances[likely].tolist(), strict=True):
        result[place:] += chance * below[: grid - place]
        beyond += chance * float(above[grid - place])
    return result, beyond


# -- the null by drawing -------------------------------------------------------------------------


def _sampled(
    tables: list[IntArray],
    observed: float,
    draws: int,
    rng: np.random.Generator,
    deadline: Deadline,
) -> _Null:
    done, large, total = 0, 0, 0.0
    limit = observed * (1 - SLACK)
    batch = 10 * ENOUGH - 1
    while done < draws:
        deadline.check()
        statistics = _draw(tables, min(batch, draws - done), rng)
        total += float(statistics.sum())
        hits = np.flatnonzero(statistics >= limit)
        if large + len(hits) >= ENOUGH:
            last = done + int(hits[ENOUGH - large - 1]) + 1
            # p is ENOUGH / draws at the draw that made them enough; later ones would bias it.
            return _Null(total / (done + len(statistics)), ENOUGH / last, draws=last)
        done, large = done + len(statistics), large + len(hits)
        batch = min(BATCH, 10 * batch)
    # The observed table counts as a draw, so p is never 0.
    return _Null(total / done, (1 + large) / (1 + done), draws=done, clear=False)


def _draw(tables: list[IntArray], draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw random tables with the margins of these and return their statistics."""
    from scipy import stats

    statistics = np.zeros(draws)
    for table in tables:
        rows, columns = table.sum(axis=1), table.sum(axis=0)
        drawn = stats.random_table(rows, columns).rvs(draws, random_state=rng).astype(np.int64)
        fixed = _x_log_x(rows).sum() + _x_log_x(columns).sum() - _x_log_x(rows.sum(keepdims=True))
        statistics += 2 * (_x_log_x(drawn).sum(axis=(1, 2)) - fixed)
    return statistics
