"""Listing every k-th move of large tables changes no moment."""

from __future__ import annotations

import numpy as np
import pytest

from contextwise.evidence import free_counts
from contextwise.evidence.effect_size import estimate
from contextwise.evidence.free_counts import GROUP_SIGNS, PAIR_SIGNS, FreeCounts


def test_some_of_many_moves_have_the_moments_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    for signs, shape in ((PAIR_SIGNS, (3, 2, 2)), (GROUP_SIGNS, (3, 2, 2, 2))):
        for least in (0, 5, 2_000):
            tables = rng.integers(20_000, 200_000, size=shape)
            tables.reshape(len(tables), -1)[0, 1] = least
            whole = FreeCounts.of(tables, signs)
            monkeypatch.setattr(free_counts, "MOST_MOVES", 2**14)
            some = FreeCounts.of(tables, signs)
            monkeypatch.undo()
            assert len(some.moves) < len(whole.moves) / 2
            for tilt in (0.0, 0.001, -0.01, 0.3, -3.0):
                means, variances = whole.moments(tilt)
                grid_means, grid_variances = some.moments(tilt)
                assert grid_variances == pytest.approx(variances, rel=1e-3)
                assert np.abs(grid_means - means).max() < 1e-3 * np.sqrt(variances).max() + 1e-9
            assert estimate(some) == pytest.approx(estimate(whole), rel=1e-4)
