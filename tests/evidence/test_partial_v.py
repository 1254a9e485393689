"""Partial V is that of the table; repeated rows of subjects and weights widen its interval."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise.data.rows import Data, as_data
from contextwise.evidence.row_tests import RowTests
from contextwise.support.arrays import FloatArray, IntArray


def association(rows: int, strength: float, seed: int = 0) -> IntArray:
    """Draw pairs of binary states that are equal more often than by chance."""
    rng = np.random.default_rng(seed)
    first = rng.integers(2, size=rows)
    same = rng.random(rows) < (1 + strength) / 2
    return np.stack([first, np.where(same, first, 1 - first)], axis=1)


def strength_of(data: Data, weights: FloatArray | None = None) -> tuple[float, float, float]:
    (pair,) = RowTests(data, weights=weights).pairs()
    assert pair.v is not None
    assert pair.v_low is not None
    assert pair.v_high is not None
    return pair.v, pair.v_low, pair.v_high


@pytest.mark.parametrize("strength", [0.0, 0.2, 0.6])
def test_rows_that_repeat_a_subject_tell_nothing_new(strength: float) -> None:
    """Each row twice, as two rows of one subject: the same V, and nearly the same interval."""
    rows = association(400, strength)
    once = strength_of(as_data(rows))
    twice = as_data(np.repeat(rows, 2, axis=0))
    subjects = np.repeat(np.arange(len(rows)), 2)
    assert strength_of(replace(twice, subjects=subjects)) == pytest.approx(once, abs=0.02)
    as_new = strength_of(twice)
    assert as_new[2] - as_new[1] < 0.85 * (once[2] - once[1]) or not strength


@pytest.mark.parametrize("strength", [0.2, 0.6])
def test_one_row_per_subject_is_as_without_subjects(strength: float) -> None:
    data = as_data(association(400, strength))
    alone = replace(data, subjects=np.arange(len(data)))
    assert strength_of(alone) == pytest.approx(strength_of(data), abs=0.01)


@pytest.mark.parametrize("strength", [0.2, 0.6])
def test_weights_widen_the_interval_and_keep_the_strength(strength: float) -> None:
    rows = association(2000, strength)
    data, weights = as_data(rows), np.tile([1.0, 5.0], 1000)
    equal, unequal = strength_of(data, np.ones(2000)), strength_of(data, weights)
    assert equal == pytest.approx(strength_of(data), abs=1e-6)
    assert unequal[0] == pytest.approx(strength, abs=0.08)
    ratio = (unequal[2] - unequal[1]) / (equal[2] - equal[1])
    assert ratio == pytest.approx(sqrt(2 * (1 + 25) / 6**2), rel=0.15)  # Kish's design effect


@given(st.integers(5, 60), st.integers(2, 4), st.integers(0, 10**6))
def test_the_value_is_inside_its_interval(count: int, states: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = as_data(rng.integers(states, size=(count, 2)), {"a": states, "b": states})
    (pair,) = RowTests(data).pairs(effects=False)
    if pair.v is not None and pair.v_low is not None and pair.v_high is not None:
        assert 0 <= pair.v_low <= pair.v <= pair.v_high <= 1
