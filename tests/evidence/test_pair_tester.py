"""The test of one pair: exact for tiny tables, and no association is missed."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from contextwise.evidence.row_tests import RowTests
from contextwise.support.arrays import IntArray
from small_tables import data_of


def permutation_p(first: IntArray, second: IntArray) -> float:
    """Compare X² with that of all orders of the rows."""

    def statistic(order: tuple[int, ...]) -> float:
        table = np.zeros((first.max() + 1, second.max() + 1))
        np.add.at(table, (first, second[list(order)]), 1)
        expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / len(first)
        return float(((table - expected) ** 2 / expected).sum())

    observed = statistic(tuple(range(len(first))))
    orders = [statistic(order) for order in permutations(range(len(first)))]
    return float(np.mean(np.array(orders) >= observed - 1e-9))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1, 1]),
        ([0, 0, 1, 1, 2, 2, 2], [0, 1, 1, 1, 0, 0, 0]),
        ([0, 1, 1, 1, 1, 1, 2], [0, 0, 0, 1, 1, 1, 1]),
    ],
)
def test_tiny_tables_agree_with_all_permutations(first: list[int], second: list[int]) -> None:
    rows = np.array([first, second]).T
    tested = RowTests(data_of(rows)).pairs(effects=False).pairs[0]
    exact = permutation_p(rows[:, 0], rows[:, 1])
    assert tested.omnibus_p is not None
    if tested.method == "permutations":
        assert tested.omnibus_p == pytest.approx(exact, abs=4 * np.sqrt(exact / 999) + 0.01)
    else:
        assert tested.omnibus_p >= 0.5


@pytest.mark.parametrize(
    "table", [[[0, 2], [4, 0], [0, 6]], [[3, 0, 0], [0, 4, 0], [0, 0, 5]], [[5, 0], [0, 5]]]
)
def test_no_p_value_is_below_the_smallest_possible(table: list[list[int]]) -> None:
    from scipy.special import gammaln

    counts = np.array(table)
    margins = sum(gammaln(counts.sum(axis=k) + 1).sum() for k in (0, 1))
    least = np.exp(margins - gammaln(counts.sum() + 1) - gammaln(counts + 1).sum())
    states = np.argwhere(counts > 0)
    data = data_of(np.repeat(states, counts[counts > 0], axis=0))
    p = RowTests(data).pairs(effects=False).pairs[0].p
    assert p is not None
    assert least * (1 - 1e-9) <= p <= 0.05


def test_an_association_that_cancels_is_found() -> None:
    rng = np.random.default_rng(0)
    c, a = rng.integers(2, size=1000), rng.integers(2, size=1000)
    b = np.where(rng.random(1000) < 0.75, (a + c) % 2, 1 - (a + c) % 2)
    tested = RowTests(data_of(np.stack([a, b, c], axis=1))).given(("A", "B"))
    assert tested.verdict == "associated, not on average"
    assert tested.context == "C"
    assert tested.average_p is not None
    assert tested.average_p > 0.05
