"""Pearson's X² test of independence within groups of rows: thousands of fast tests.

The statistic is X² of the table of both variables,

    X² = n · (Σ n_ij² / (r_i c_j) - 1),        r and c the margins, n the rows,

and its null distribution is over all permutations of the rows. Its mean and variance are known
exactly for n > 3 (I and J count the rows and columns that are not empty)::

    mean     = n/(n-1) · (I-1)(J-1)
    variance = 2n/(n-3) · (v_r - w_r)(v_c - w_c) + n²/(n-1) · w_r w_c
    v_r      = (I-1)(n-I)/(n-1)         w_r = (n Σ 1/r_i - I²)/(n-2)         (v_c, w_c alike)

The p-value is the tail of the gamma distribution with this mean and variance. With many rows this
is the usual chi-square test with (I-1)(J-1) degrees of freedom; with few rows it allows for the
margins, which the usual test does not. Groups of rows are tested together by adding their
statistics, means and variances.

**The pooled test** finds the association that groups have in common (Cochran, Mantel and Haenszel).
The degrees of freedom of X² added over groups grow with their number. The pooled test adds the
differences of observed and expected counts over groups first, so it has (I - 1)(J - 1) degrees of
freedom, whatever the number of groups. Its null distribution is that of permutations within groups.
It is R's ``mantelhaen.test`` without the continuity correction.

`contextwise.evidence.blanket_tests` applies both tests to the claims of a structure.

**A test may be undecided.** It neither accepts nor rejects independence if it has fewer than
``min_count`` rows per cell, or if no table with these margins could be significant. Each learner
defines what it does then.

**The level falls.** With N rows, the level is min(``level``, 1/√N). False alarms vanish as N
grows, and so do misses, because the threshold grows like ln N and the statistic like N.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from math import prod

import numpy as np

from contextwise.errors import DomainError
from contextwise.evidence.counted_rows import CountedRows
from contextwise.support.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class DecisionRule:
    """The level of tests, and how many rows per cell a table needs."""

    level: float
    min_count: float

    @classmethod
    def of(cls, rows: int, level: float, min_count: float) -> DecisionRule:
        """Return the rule for this number of rows.

        >>> DecisionRule.of(100, 0.05, 5).level, DecisionRule.of(10_000, 0.05, 5).level
        (0.05, 0.01)
        """
        check_level(level)
        if min_count < 0:
            raise DomainError(f"min_count must be >= 0, got {min_count}")
        return cls(min(level, max(rows, 1) ** -0.5), min_count)


def check_level(level: float, name: str = "level") -> float:
    """Return the level, or raise unless 0 < level < 1."""
    if not 0 < level < 1:
        raise DomainError(f"{name} must be > 0 and < 1, got {level}")
    return level


@dataclass(frozen=True)
class Tests:
    """An array of tests: X², the moments of its null, its largest value, and the table's size."""

    __test__ = False  # not a test class of pytest

    statistic: FloatArray
    mean: FloatArray
    variance: FloatArray
    largest: FloatArray
    rows: FloatArray
    cells: FloatArray

    @property
    def parts(self) -> tuple[FloatArray, ...]:
        """All arrays, in the order of the fields."""
        return tuple(getattr(self, field.name) for field in fields(self))

    def together(self) -> Tests:
        """Combine the groups along the last axis into one test."""
        return Tests(*(part.sum(axis=-1) for part in self.parts))

    @cached_property
    def p_values(self) -> FloatArray:
        """P(X² >= statistic); 1 where nothing varies."""
        return self._tail(self.statistic)

    def independent(self, rule: DecisionRule) -> BoolArray:
        """Return where the test accepts independence and could have rejected it."""
        enough = self._enough(rule)
        tests = Tests(*(part[enough] for part in self.parts))
        able = tests._tail(tests.largest) <= rule.level
        result = np.zeros(enough.shape, dtype=bool)
        result[enough] = able & (tests.p_values > rule.level)
        return result

    def dependent(self, rule: DecisionRule) -> BoolArray:
        """Return where the test rejects independence."""
        return np.asarray(self._enough(rule) & (self.p_values <= rule.level))

    def _enough(self, rule: DecisionRule) -> BoolArray:
        return np.asarray((self.cells > 0) & (self.rows >= rule.min_count * self.cells))

    def _tail(self, statistic: FloatArray) -> FloatArray:
        return gamma_tail(statistic, self.mean, self.variance)


def gamma_tail(
    statistic: FloatArray | float, mean: FloatArray | float, variance: FloatArray | float
) -> FloatArray:
    """Return P(X >= statistic) of gamma distributions; 1 where the variance is 0.

    >>> float(gamma_tail(0.0, 1.0, 2.0)), round(float(gamma_tail(3.84, 1.0, 2.0)), 3)
    (1.0, 0.05)
    """
    from scipy.special import gammaincc

    varies = np.asarray(variance) > 1e-12
    scale = np.where(varies, variance, 1.0) / np.where(varies, mean, 1.0)
    shape = np.where(varies, mean, 1.0) / scale
    tail = gammaincc(shape, np.maximum(statistic, 0.0) / scale)
    return np.asarray(np.where(varies, tail, 1.0))


def evaluate_tables(tables: FloatArray) -> Tests:
    """Test each table of counts; the last two axes are the tables.

    Empty rows and columns do not count, and a table of up to 3 rows decides nothing.

    >>> tests = evaluate_tables(np.array([[8.0, 2.0], [2.0, 8.0]]))
    >>> round(float(tests.statistic), 4), round(float(tests.p_values), 4)
    (7.2, 0.008)
    """
    n = tables.sum(axis=(-2, -1))
    r, c = tables.sum(axis=-1), tables.sum(axis=-2)
    in_rows, in_columns = (r > 0).sum(axis=-1), (c > 0).sum(axis=-1)
    usable = (n > 3) & (in_rows > 1) & (in_columns > 1)
    # Avoids a division by 0 in n - 1, n - 2 and n - 3; the result is masked below.
    n = np.where(usable, n, 4.0)
    over_r, over_c = (np.where(m > 0, 1 / np.maximum(m, 1.0), 0.0) for m in (r, c))
    # X² = n (Σ n_ij² / (r_i c_j) - 1).
    squares = (tables**2 * over_r[..., :, None] * over_c[..., None, :]).sum(axis=(-2, -1))
    v_r, w_r = _moments(n, in_rows, over_r.sum(axis=-1))
    v_c, w_c = _moments(n, in_columns, over_c.sum(axis=-1))
    values = (
        n * (squares - 1),
        n / (n - 1) * (in_rows - 1) * (in_columns - 1),
        2 * n / (n - 3) * (v_r - w_r) * (v_c - w_c) + n**2 / (n - 1) * w_r * w_c,
        n * (np.minimum(_bound(r, over_c), _bound(c, over_r)) - 1),
        n,
        (in_rows * in_columns).astype(np.float64),
    )
    return Tests(*(np.where(usable, part, 0.0) for part in values))


def _moments(n: FloatArray, count: IntArray, inverses: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return v and w of one margin."""
    return (count - 1) * (n - count) / (n - 1), (n * inverses - count**2) / (n - 2)


def _bound(margins: FloatArray, inverses: FloatArray) -> FloatArray:
    """Bound Σ n_ij² / (r_i c_j): row i adds at most 1, and at most r_i over the least c."""
    parts = np.minimum(1.0, margins * inverses.max(axis=-1, keepdims=True))
    return np.asarray(parts.sum(axis=-1))


def tables_within(
    rows: IntArray,
    counts: IntArray,
    variables: Sequence[int],
    shape: tuple[int, ...],
    groups: IntArray,
) -> FloatArray:
    """Count the states of some variables in each group of rows; ``groups`` numbers the rows."""
    codes, count = groups, int(groups.max(initial=-1)) + 1
    for v, states in zip(variables, shape, strict=True):
        codes = codes * states + rows[:, v]
    cells = np.bincount(codes, counts, minlength=count * prod(shape))
    return cells.reshape(count, *shape).astype(np.float64)


def evaluate_given(
    table: CountedRows, target: int, others: Sequence[int], given: Sequence[int]
) -> Tests:
    """Test a variable and each of some others, within groups of equal values of ``given``."""
    if table.compiled is not None:
        return Tests(*table.compiled.tests(target, list(given), list(others)))
    groups, cards = table.groups(given)[0], table.cardinalities
    tests = []
    for v in others:
        shape = cards[target], cards[v]
        tables = tables_within(table.rows, table.counts, (target, v), shape, groups)
        tests.append(evaluate_tables(tables).together())
    return _joined(tests)


def evaluate_without_each(table: CountedRows, target: int, blanket: Sequence[int]) -> Tests:
    """Test a variable and each one of its blanket, given all the others of the blanket."""
    if table.compiled is not None:
        return Tests(*table.compiled.tests_without_each(target, list(blanket)))
    return _joined(
        [evaluate_given(table, target, [v], [u for u in blanket if u != v]) for v in blanket]
    )


def evaluate_on(table: CountedRows, rows: IntArray, target: int, others: Sequence[int]) -> Tests:
    """Test a variable and each of some others, on some of the distinct rows."""
    if table.compiled is not None:
        return Tests(*table.compiled.tests_on(rows, target, list(others)))
    return evaluate_given(table.take(rows), target, others, [])


def evaluate_in_context(table: CountedRows, target: int, context: Mapping[int, int]) -> Tests:
    """Test a variable and each one of a context, on the rows that agree with the rest of it."""
    if table.compiled is not None:
        variables, values = list(context), list(context.values())
        return Tests(*table.compiled.tests_in_context(target, variables, values))
    tests = []
    for v in context:
        rest = {u: value for u, value in context.items() if u != v}
        agree = (table.rows[:, list(rest)] == list(rest.values())).all(axis=1)
        tests.append(evaluate_on(table, np.flatnonzero(agree), target, [v]))
    return _joined(tests)


def _joined(tests: Sequence[Tests]) -> Tests:
    parts = [[test.parts[k] for test in tests] for k in range(len(fields(Tests)))]
    return Tests(*(np.hstack(part) if part else np.zeros(0) for part in parts))


# -- what groups have in common --------------------------------------------------------------------

ROOM = 5.0
"""Chi-square needs sums of cells that can be this much smaller and larger than expected."""
LEAST_ROOM, MOST_CRAMPED = 1.0, 0.2
"""A fifth of the cells may have less room, down to this (Cochran's rule)."""
BATCH = 2**22
"""The most numbers of tables, or of covariances of their margins, held at once."""
MOST_POOLED_CELLS = 1024
"""Larger tables are not pooled: their covariances, the square of this, would fill the memory."""


class PooledTests:
    """The pooled tests of many claims at once; ``starts`` has the first table of each claim."""

    def __init__(self, tables: FloatArray, starts: IntArray) -> None:
        from scipy.special import chdtrc

        count, size = len(starts) - 1, (tables.shape[1] - 1) * (tables.shape[2] - 1)
        self.statistic, self.freedom = np.zeros(count), np.zeros(count)
        self.is_valid: BoolArray = np.zeros(count, dtype=bool)
        """Where there are several groups, and enough rows for the chi-square distribution."""
        several = np.flatnonzero((np.diff(starts) > 1) & (size <= MOST_POOLED_CELLS))
        first = 0
        while first < len(several):
            sizes = np.cumsum(np.diff(starts)[several[first:]] * max(1, size))
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
        totals = np.add.reduceat(chosen - expected, firsts)[:, :-1, :-1]
        for k, claim in enumerate(claims.tolist()):
            own = slice(firsts[k], firsts[k] + counts[k])
            covariance = _covariance(rows[own], columns[own], n[own, 0, 0])
            values, vectors = np.linalg.eigh(covariance)
            kept = values > 1e-9 * max(values[-1], 1e-300)
            along = (totals[k].ravel() @ vectors)[kept]
            self.statistic[claim] = (along**2 / values[kept]).sum()
            self.freedom[claim] = kept.sum()


def _covariance(rows: FloatArray, columns: FloatArray, n: FloatArray) -> FloatArray:
    """Return the covariances of the summed cells, but those of the last states, of some tables."""
    a, c = rows.shape[1] - 1, columns.shape[1] - 1
    result = np.zeros((a * a, c * c))
    each = max(1, BATCH // (a * a + c * c))
    for first in range(0, len(n), each):
        own = slice(first, first + each)
        sides = []
        for margins in (rows[own], columns[own]):
            products = -margins[:, :-1, None] * margins[:, None, :-1]
            states = np.arange(margins.shape[1] - 1)
            products[:, states, states] += n[own, None] * margins[:, :-1]
            sides.append(products.reshape(len(margins), -1))
        result += (sides[0] / (n[own] ** 2 * (n[own] - 1))[:, None]).T @ sides[1]
    return np.asarray(result.reshape(a, a, c, c).transpose(0, 2, 1, 3).reshape(a * c, a * c))


# -- choosing among tests --------------------------------------------------------------------------

ROUNDING = 1e-9
"""Relative difference below which two p-values or statistics are equal."""


def most_dependent(tests: Tests, rule: DecisionRule) -> int | None:
    """Return the place of the test that rejects independence most clearly, if any does."""
    dependent = tests.dependent(rule)
    if not dependent.any():
        return None
    p_values = np.where(dependent, tests.p_values, np.inf)
    # Rounding must not decide between equal tests: the first of them is chosen.
    first = p_values <= p_values.min() * (1 + ROUNDING) + 1e-320  # smaller ones have no digits
    above = np.where(first, tests.statistic - tests.mean, -np.inf)
    return int(np.argmax(above >= above.max() - ROUNDING * abs(above.max())))


def most_independent(tests: Tests, rule: DecisionRule) -> int | None:
    """Return the place of the test that accepts independence most clearly, if any does."""
    accepted = tests.independent(rule)
    if not accepted.any():
        return None
    p_values = np.where(accepted, tests.p_values, -1.0)
    return int(np.argmax(p_values >= p_values.max() * (1 - ROUNDING)))
