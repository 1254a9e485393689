"""Names in pictures: short forms stay different, and labels cover nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise.report.layout import (
    FloatArray,
    apart,
    cut_names,
    distinct_names,
    fitted_to,
    place_labels,
    shared_parts,
)

WORDS = st.lists(st.sampled_from(["a", "bc", "def", ".", "-", "x" * 30]), min_size=1, max_size=6)
NAMES = st.lists(WORDS.map("".join), min_size=1, max_size=8)


@given(NAMES, st.integers(5, 20))
def test_short_forms_differ_where_names_do(names: list[str], most: int) -> None:
    for short in (distinct_names(names, most), cut_names(names, most)):
        assert all(short)
        for k, own in enumerate(names):
            for j in range(k):
                assert (short[k] == short[j]) == (own == names[j])


@given(NAMES)
def test_what_is_shared_is_at_both_ends(names: list[str]) -> None:
    begin, end = shared_parts(names)
    for name in names:
        assert name.startswith(begin)
        assert name.endswith(end)
        assert len(name) > len(begin) + len(end)


@pytest.mark.parametrize("seed", range(20))
def test_labels_cover_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, frame = int(rng.integers(1, 41)), (480.0, 330.0)
    points = fitted_to(rng.random((n, 2)), frame, margin=(30, 10), apart=20)
    sizes = np.stack([rng.uniform(8, 55, n), np.full(n, 8.0)], axis=1)
    lines = points[rng.integers(0, n, (30, 2))]
    middles = place_labels(points, sizes, frame=frame, radius=2, lines=lines)
    assert middles is not None
    low, high = middles - sizes / 2, middles + sizes / 2
    assert (low >= 0).all()
    assert (high <= frame).all()
    for k in range(n):
        others = np.arange(n) != k
        meets = (low[k] < high[others]) & (high[k] > low[others])
        assert not meets.all(axis=1).any()
        nearest = np.clip(points, low[k], high[k])
        assert (np.hypot(*(nearest - points).T) >= 2).all()


def test_no_place_is_no_answer() -> None:
    points = np.array([[5.0, 5.0], [6.0, 5.0]])
    assert place_labels(points, np.full((2, 2), 9.0), frame=(10, 10)) is None


@pytest.mark.parametrize(
    "points", [np.zeros((5, 2)), np.array([[0.0, 0], [1, 0], [1, 0]]), np.ones((1, 2))]
)
def test_points_on_each_other_are_pushed_apart(points: FloatArray) -> None:
    found = fitted_to(points, (200, 100), margin=(10, 10), apart=20)
    lengths = np.hypot(*(found[:, None] - found[None, :]).transpose(2, 0, 1))
    assert (lengths[~np.eye(len(points), dtype=bool)] >= 15).all()
    assert (found >= 10).all()
    assert (found <= [190, 90]).all()


@given(st.lists(st.floats(0, 1), max_size=12))
def test_heights_are_a_step_apart(wanted: list[float]) -> None:
    found = np.sort(apart(np.array(wanted), 0.05))
    assert (np.diff(found) >= 0.05 - 1e-9).all()
    assert (found <= 1).all()
