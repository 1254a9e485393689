"""Listing every k-th move of large tables changes no moment."""

from __future__ import annotations

import numpy as np
import pytest

from contextwise.errors import TooLargeError
from contextwise.evidence import free_counts
from contextwise.evidence.effect_size import estimate
from contextwise.evidence.free_counts import GROUP_SIGNS, PAIR_SIGNS, FreeCounts


def test_every_kth_move_has_the_same_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    for signs, shape in ((PAIR_SIGNS, (3, 2, 2)), (GROUP_SIGNS, (3, 2, 2, 2))):
        tables = rng.integers(2_000, 200_000, size=shape)
        whole = FreeCounts.of(tables, signs)
        monkeypatch.setattr(free_counts, "MOST_MOVES", 2**14)
        some = FreeCounts.of(tables, signs)
        monkeypatch.undo()
        assert len(some.moves) < len(whole.moves) / 2
        for tilt in (0.0, 0.001, -0.01, 0.3):
            for exact, grid in zip(whole.moments(tilt), some.moments(tilt), strict=True):
                assert grid == pytest.approx(exact, rel=1e-9, abs=1e-6)
        assert estimate(some) == pytest.approx(estimate(whole), rel=1e-9)


def test_too_many_moves_are_refused() -> None:
    with pytest.raises(TooLargeError, match="possible tables"):
        FreeCounts.of([[[0, 10**10], [10**10, 0]]])
