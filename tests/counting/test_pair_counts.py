"""Counts of pairs: exact sums, bounds before anything is counted, rows, and the common unit."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import Structure
from contextwise.counting.contexts import UNIFORM
from contextwise.counting.contract import ENGINES
from contextwise.counting.pair_counts import (
    ROWS_ADDED_IN_PYTHON,
    PairCounts,
    bound_pairs,
    exact_sum,
    tighten,
)
from contextwise.testing import families


@given(st.lists(st.tuples(*[st.integers(-(2**62), 2**62)] * 3), max_size=2 * ROWS_ADDED_IN_PYTHON))
def test_sums_are_exact_whatever_their_size(rows: list[tuple[int, int, int]]) -> None:
    expected = [sum(row[k] for row in rows) for k in range(3)]
    for kind in (np.int64, object):
        numbers = np.array(rows, dtype=kind).reshape(-1, 3)
        assert exact_sum(numbers) == expected
        assert [exact_sum(numbers[:, k]) for k in range(3)] == expected


@given(families(2))
def test_bounds_hold_the_counts_and_tightening_keeps_them(models: tuple[Structure, ...]) -> None:
    a, b = (model.features for model in models)
    pairs = np.array([*combinations(range(len(a.cardinalities)), 2)], dtype=int).reshape(-1, 2)
    exact = ENGINES["enumerate"].count_pairs(a, b, pairs).lower
    bounds = bound_pairs(a, b, pairs)
    low, high = tighten(bounds.lower, bounds.upper)
    for lower, upper in ((bounds.lower, bounds.upper), (low, high)):
        assert (lower <= exact).all()
        assert (exact <= upper).all()
    assert (low >= bounds.lower).all()
    assert (high <= bounds.upper).all()


def test_units_are_applied_on_demand() -> None:
    low = np.array([[1, 2, 2], [3, 3, 4]])
    counts = PairCounts(low, low, unit=2**200)
    assert counts.lower is counts.upper
    assert counts.lower[1].tolist() == [3 * 2**200, 3 * 2**200, 2**202]
    assert counts.distances.tolist() == [2**200, 2 * 2**200]
    assert counts.total(low) == [4 * 2**200, 5 * 2**200, 6 * 2**200]
    assert not len(counts.open_places)


@pytest.mark.parametrize("cardinalities", [[2, 2, 2], [2, 3, 5]])
def test_shares_are_exact_fractions(cardinalities: list[int]) -> None:
    pairs = np.array([[0, 1], [1, 2]])
    low = np.array([[1, 0, 1], [2, 1, 2]])
    shares = PairCounts(low, low).shares_of(UNIFORM, cardinalities, pairs)
    contexts = UNIFORM.of_pairs(cardinalities, pairs)
    found = shares.lower.tolist()
    for row, counts, size in zip(found, low.tolist(), contexts, strict=True):
        assert row == [Fraction(count, size) for count in counts]
