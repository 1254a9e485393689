"""Are two variables independent on some rows? A test that keeps its level where rows are few.

The statistic is Pearson's X² of the table of both variables,

    X² = n · (Σ n_ij² / (r_i c_j) - 1),        r and c the margins, n the rows,

and its null is its distribution over all permutations of the rows. The mean and the variance of
that distribution are known exactly for every n above 3 (with I rows and J columns that are not
empty)::

    mean     = n/(n-1) · (I-1)(J-1)
    variance = 2n/(n-3) · (v_r - w_r)(v_c - w_c) + n²/(n-1) · w_r w_c
    v_r      = (I-1)(n-I)/(n-1)         w_r = (n Σ 1/r_i - I²)/(n-2)         (v_c, w_c alike)

The p-value is the tail of the gamma distribution with this mean and variance. With many rows that
is the chi-square distribution with (I-1)(J-1) degrees of freedom, and the test is the usual one;
with few rows it allows for the margins, where the usual one does not. Groups of rows are tested
together by adding up statistics, means and variances.

**A test may be silent.** It says nothing, for or against, if it has fewer than ``min_count`` rows
per cell, or if no table with these margins could have been significant (as when one variable hardly
varies). What a learner does then is its own decision.

**The level falls.** With N rows in all the level is min(``level``, 1/√N): false alarms vanish as
rows come in, and so do misses, since the threshold grows like ln N and the statistic like N.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from contextwise.data.rows import Data
from contextwise.errors import DomainError, require
from contextwise.models.features import IntArray, PairIndex

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

CELLS = 2**22
"""How many cells of tables are held at once."""


@dataclass(frozen=True)
class Rule:
    """When a test rejects, and when it is silent.

    Attributes
    ----------
    level : float
        The p-value from which on two variables count as dependent.
    min_count : float
        How many rows per cell a table needs.
    """

    level: float
    min_count: float


def check_level(level: float, name: str = "level") -> float:
    """The level of tests, if it is a probability; ``name`` is what a message calls it."""
    if not 0 < level < 1:
        raise DomainError(f"{name} is a probability between 0 and 1, not {level}")
    return level


def rule_for(rows: int, level: float, min_count: float) -> Rule:
    """The rule for so many rows in all; the level falls with them.

    Parameters
    ----------
    rows : int
    level : float
        The largest level, which holds up to 1/level² rows.
    min_count : float
        How many rows per cell a table needs.

    Examples
    --------
    >>> rule_for(100, 0.05, 5).level, rule_for(10_000, 0.05, 5).level
    (0.05, 0.01)
    """
    check_level(level)
    if min_count < 0:
        raise DomainError(f"min_count is a number of rows from 0 up, not {min_count}")
    return Rule(min(level, max(rows, 1) ** -0.5), min_count)


@dataclass(frozen=True)
class Tests:
    """Tests in an array of any shape.

    Attributes
    ----------
    statistic, mean, variance : X² and the exact moments of its null
    largest : a bound on what X² can be with these margins
    rows, cells : how many rows and cells the tables have that can speak
    """

    __test__ = False  # this is no class for pytest

    statistic: FloatArray
    mean: FloatArray
    variance: FloatArray
    largest: FloatArray
    rows: FloatArray
    cells: FloatArray

    def together(self) -> Tests:
        """The groups along the last axis as one test."""
        return Tests(*(part.sum(axis=-1) for part in vars(self).values()))

    def p_values(self) -> FloatArray:
        """The probability of a statistic at least as large; 1 where nothing varies."""
        return self._tail(self.statistic)

    def independent(self, rule: Rule) -> BoolArray:
        """Where the test does not reject, and could have."""
        return np.asarray(self._speaks(rule) & (self.p_values() > rule.level))

    def dependent(self, rule: Rule) -> BoolArray:
        """Where the test rejects."""
        return np.asarray(self._speaks(rule) & (self.p_values() <= rule.level))

    def _speaks(self, rule: Rule) -> BoolArray:
        enough = (self.cells > 0) & (self.rows >= rule.min_count * self.cells)
        return np.asarray(enough & (self._tail(self.largest) <= rule.level))

    def _tail(self, statistic: FloatArray) -> FloatArray:
        special = require("scipy.special", "statistics")
        varies = self.variance > 1e-12
        scale = np.where(varies, self.variance, 1.0) / np.where(varies, self.mean, 1.0)
        shape = np.where(varies, self.mean, 1.0) / scale
        tail = special.gammaincc(shape, np.maximum(statistic, 0.0) / scale)
        return np.asarray(np.where(varies, tail, 1.0))


def test_tables(tables: FloatArray) -> Tests:
    """X² of each table of counts, with what its null is; the last two axes are the tables.

    Rows and columns that are empty do not count, and a table of up to 3 rows has nothing to say.

    Parameters
    ----------
    tables : array of shape (..., I, J)

    Examples
    --------
    >>> found = test_tables(np.array([[8.0, 2.0], [2.0, 8.0]]))
    >>> round(float(found.statistic), 4), round(float(found.p_values()), 4)
    (7.2, 0.008)
    """
    n = tables.sum(axis=(-2, -1))
    r, c = tables.sum(axis=-1), tables.sum(axis=-2)
    in_rows, in_columns = (r > 0).sum(axis=-1), (c > 0).sum(axis=-1)
    able = (n > 3) & (in_rows > 1) & (in_columns > 1)
    n = np.where(able, n, 4.0)
    over_r, over_c = _inverse(r), _inverse(c)
    squares = (tables**2 * over_r[..., :, None] * over_c[..., None, :]).sum(axis=(-2, -1))
    v_r, w_r = _moments(n, in_rows, over_r.sum(axis=-1))
    v_c, w_c = _moments(n, in_columns, over_c.sum(axis=-1))
    variance = 2 * n / (n - 3) * (v_r - w_r) * (v_c - w_c) + n**2 / (n - 1) * w_r * w_c
    found = (
        n * (squares - 1),
        n / (n - 1) * (in_rows - 1) * (in_columns - 1),
        variance,
        n * (np.minimum(_reach(r, over_c), _reach(c, over_r)) - 1),
        n,
        (in_rows * in_columns).astype(np.float64),
    )
    return Tests(*(np.where(able, part, 0.0) for part in found))


test_tables.__test__ = False  # type: ignore[attr-defined]  # this is no test for pytest


def _inverse(margins: FloatArray) -> FloatArray:
    return np.where(margins > 0, 1 / np.maximum(margins, 1.0), 0.0)


def _moments(n: FloatArray, count: IntArray, inverses: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The parts of the variance that one margin gives."""
    return (count - 1) * (n - count) / (n - 1), (n * inverses - count**2) / (n - 2)


def _reach(margins: FloatArray, inverses: FloatArray) -> FloatArray:
    """A bound on Σ n_ij² / (r_i c_j): row i gives at most 1, and at most r_i over the least c."""
    bound: FloatArray = np.minimum(1.0, margins * inverses.max(axis=-1, keepdims=True)).sum(axis=-1)
    return bound


# -- tables of rows --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Table:
    """The distinct rows and how often each occurs: what tests count.

    Attributes
    ----------
    rows : int array of shape (distinct rows, variables)
    counts : float array
        How often each row occurs.
    cardinalities : tuple of int
    """

    rows: IntArray
    counts: FloatArray
    cardinalities: tuple[int, ...]

    @property
    def varying(self) -> list[int]:
        """The variables of which more than one value occurs."""
        if not len(self.rows):
            return []
        return np.flatnonzero((self.rows != self.rows[0]).any(axis=0)).tolist()

    def take(self, chosen: BoolArray | IntArray) -> Table:
        """Some of the distinct rows."""
        return replace(self, rows=self.rows[chosen], counts=self.counts[chosen])

    def groups(self, given: Sequence[int]) -> tuple[IntArray, int]:
        """For each row the number of its values of these variables, and how many there are."""
        found = np.zeros(len(self.rows), dtype=np.int64)
        count = min(1, len(self.rows))
        for variable in given:
            codes = found * self.cardinalities[variable] + self.rows[:, variable]
            seen, found = np.unique(codes, return_inverse=True)
            count = len(seen)
        return found, count

    def test(self, pairs: Sequence[PairIndex], groups: IntArray, count: int) -> Tests:
        """Test pairs within groups of rows: an array of shape (pairs, groups).

        Parameters
        ----------
        pairs : sequence of pairs of variables
        groups : int array
            The group of each row.
        count : int
            How many groups there are.
        """
        found = [np.zeros((len(pairs), count)) for _ in range(6)]
        for places, tables in self._tables(pairs, groups, count):
            for whole, part in zip(found, vars(test_tables(tables)).values(), strict=True):
                whole[places] = part
        return Tests(*found)

    def _tables(
        self, pairs: Sequence[PairIndex], groups: IntArray, count: int
    ) -> Iterator[tuple[list[int], FloatArray]]:
        """The tables of pairs, those of one shape together, as many as are held at once."""
        shapes: dict[PairIndex, list[int]] = {}
        for place, (a, b) in enumerate(pairs):
            shapes.setdefault((self.cardinalities[a], self.cardinalities[b]), []).append(place)
        for shape, places in shapes.items():
            size = shape[0] * shape[1]
            step = max(1, CELLS // max(1, count * size))
            for first in range(0, len(places), step):
                some = places[first : first + step]
                tables = [self._cells(pairs[place], groups, count * size) for place in some]
                yield some, np.stack(tables).reshape(len(some), count, *shape)

    def _cells(self, pair: PairIndex, groups: IntArray, size: int) -> FloatArray:
        a, b = pair
        first, second = self.cardinalities[a], self.cardinalities[b]
        codes = (groups * first + self.rows[:, a]) * second + self.rows[:, b]
        return np.bincount(codes, weights=self.counts, minlength=size).astype(np.float64)


def table_of(data: Data) -> Table:
    """The distinct rows of data.

    >>> from contextwise.data.rows import as_data
    >>> table_of(as_data([[0, 1], [1, 1], [0, 1]])).counts
    array([2., 1.])
    """
    rows, counts = np.unique(data.rows, axis=0, return_counts=True)
    return Table(rows, counts.astype(np.float64), data.domain.cardinalities)


def pairs_of(variables: Iterable[int]) -> list[PairIndex]:
    """All pairs of some variables, rising.

    >>> pairs_of([0, 2, 3])
    [(0, 2), (0, 3), (2, 3)]
    """
    own = sorted(variables)
    return [(a, b) for place, a in enumerate(own) for b in own[place + 1 :]]
