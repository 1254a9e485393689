"""The independence test: its moments, its level, and when it is undecided."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextwise.evidence.counted_rows import CountedRows
from contextwise.evidence.independence_test import (
    DecisionRule,
    PooledTests,
    evaluate_given,
    evaluate_tables,
)


@given(
    st.lists(st.integers(0, 2), min_size=4, max_size=7),
    st.lists(st.integers(0, 2), min_size=4, max_size=7),
)
@settings(max_examples=25, deadline=None)
def test_moments_are_those_of_all_permutations(first: list[int], second: list[int]) -> None:
    size = min(len(first), len(second))
    a, b = np.array(first[:size]), np.array(second[:size])
    permuted = np.array(list(itertools.permutations(b.tolist())))
    tables = np.zeros((len(permuted), 3, 3))
    for row in range(size):
        np.add.at(tables, (np.arange(len(permuted)), a[row], permuted[:, row]), 1)
    found = evaluate_tables(tables)
    np.testing.assert_allclose(found.mean, found.statistic.mean(), atol=1e-9)
    np.testing.assert_allclose(found.variance, found.statistic.var(), atol=1e-9)
    assert (found.statistic <= found.largest + 1e-9).all()


def test_many_rows_are_the_chi_square_test() -> None:
    special = pytest.importorskip("scipy.special")
    table = np.array([[1000.0, 1100, 900], [1010, 1060, 1000]])
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    statistic = float(((table - expected) ** 2 / expected).sum())
    found = evaluate_tables(table)
    assert float(found.statistic) == pytest.approx(statistic)
    assert float(found.p_values) == pytest.approx(special.chdtrc(2, statistic), rel=5e-3)


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.9, 0.1), (0.7, 0.2, 0.1)])
def test_the_level_is_kept_with_few_rows(shares: tuple[float, ...]) -> None:
    rng = np.random.default_rng(3)
    size, rows, times = len(shares), 40, 4000
    a = rng.choice(size, (times, rows), p=shares)
    b = rng.choice(size, (times, rows), p=shares)
    tables = np.zeros((times, size, size))
    for row in range(rows):
        np.add.at(tables, (np.arange(times), a[:, row], b[:, row]), 1)
    found = evaluate_tables(tables)
    assert (found.p_values <= 0.05).mean() < 0.065
    rule = DecisionRule.of(rows, 0.05, 5)
    assert not (found.dependent(rule) & found.independent(rule)).any()


def test_a_test_can_be_silent() -> None:
    rule = DecisionRule.of(100, 0.05, 5)
    tables = np.array(
        [
            [[19.0, 0.0], [0.0, 0.0]],  # nothing varies
            [[10.0, 9.0], [0.0, 1.0]],  # no table with these margins is significant
            [[4.0, 0.0], [0.0, 4.0]],  # few rows
            [[10.0, 0.0], [0.0, 10.0]],
            [[5.0, 5.0], [5.0, 5.0]],
        ]
    )
    found = evaluate_tables(tables)
    assert found.dependent(rule).tolist() == [False, False, False, True, False]
    assert found.independent(rule).tolist() == [False, False, False, False, True]


def test_groups_are_tested_together() -> None:
    rows = np.array([[g, a, b] for g in (0, 1) for a in (0, 1) for b in (0, 1)])
    counts = np.array([9.0, 1, 1, 9, 1, 9, 9, 1])  # opposite dependencies cancel without groups
    table = CountedRows(rows, counts, (2, 2, 2))
    rule = DecisionRule.of(40, 0.05, 5)
    apart = evaluate_given(table, 1, [2], [0])
    assert apart.dependent(rule).all()
    assert evaluate_given(table, 1, [2], []).independent(rule).all()
    assert table.groups([])[1] == 1


def test_the_pooled_test_is_that_of_r() -> None:
    """``mantelhaen.test(x, correct = FALSE)``; the last table of each array varies fastest in R."""
    for shape, values, expected in (
        ((2, 2, 3), [12, 5, 3, 9, 20, 11, 8, 7, 4, 6, 9, 15], (3.396848996, 1, 0.065321089)),
        ((2, 3, 2), [12, 5, 3, 9, 20, 11, 8, 7, 4, 6, 9, 15], (5.069354321, 2, 0.079287312)),
    ):
        tables = np.array(values, dtype=float).reshape(shape, order="F").transpose(2, 0, 1)
        found = PooledTests(tables, np.array([0, len(tables)]))
        assert (found.statistic[0], found.freedom[0], found.p[0]) == pytest.approx(expected)
        assert found.is_valid[0]


def test_the_pooled_test_ignores_states_and_groups_that_say_nothing() -> None:
    table = np.array([[[12.0, 5.0], [3.0, 9.0]], [[20.0, 11.0], [8.0, 7.0]]])
    wide = np.zeros((3, 3, 4))
    wide[:2, 1:, 2:] = table
    wide[2, 0, 3] = 7.0
    for tables, count in ((table, 2), (wide, 3)):
        found = PooledTests(tables, np.array([0, count]))
        assert found.statistic[0] == pytest.approx(4.3949065)  # of R, as above
        assert found.freedom[0] == 1


def test_one_group_and_few_rows_have_no_pooled_test() -> None:
    table = np.array([[[12.0, 5.0], [3.0, 9.0]]])
    few = np.array([[[1.0, 0.0], [3.0, 2.0]]] * 3)
    found = PooledTests(np.concatenate([table, few]), np.array([0, 1, 4]))
    assert not found.is_valid.any()
    assert found.p.tolist() == [1.0, 1.0]
