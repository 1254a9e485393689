"""Groups of rows in words, tables and a forest of odds ratios."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

import contextwise as cw


def test_weak_dependence_is_said_of_two_states_only() -> None:
    """The odds ratios of a pair with more states are of two states each, so others can depend."""
    rng = np.random.default_rng(0)
    rows = []
    for k in range(6000):
        a, strong = int(rng.integers(4)), k % 2
        b = int(rng.random() < (0.8 if a == 3 or (a == 1 and strong) else 0.3))
        rows.append([f"g{strong}", a, b])
    found = cw.groups(rows, "v0", "mpl")
    assert found.differing
    assert "weaker than an odds ratio" not in str(found)


@pytest.mark.parametrize("names", [("p", "verdict"), ("pair", "ratio"), ("x" * 50 + "1", "x" * 50)])
def test_any_name_of_a_group_can_head_a_column(names: tuple[str, str]) -> None:
    rows = [[names[k % 2], k // 2 % 2, k // 4 % 2] for k in range(160)]
    assert "about the same" in str(cw.groups(rows, "v0", "mpl", margin=9))


def test_limits_beyond_the_largest_odds_ratio_are_numbers() -> None:
    """A and B are equal in one group and opposite in the other."""
    rows = [["xy"[k % 2], k // 2 % 2, (k // 2 + k) % 2] for k in range(200)]
    (pair,) = cw.groups(rows, "v0", "mpl").pairs
    assert pair.ratio is not None
    assert 1e5 < pair.ratio.low < inf or 0 < pair.ratio.high < 1e-5
    assert "above inf" not in str(cw.groups(rows, "v0", "mpl"))
