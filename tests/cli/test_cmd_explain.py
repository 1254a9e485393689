"""``contextwise explain``."""

from __future__ import annotations

from commands import run


def test_one_pair_that_differs_is_one() -> None:
    shown = run("explain", "lung", "lung-learned", "--pairs", "smoker,asbestos").stdout
    assert "1 of 1 pair differs" in shown
