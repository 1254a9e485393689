"""Odds ratios given the margins: against enumeration and SciPy's conditional tests."""

from __future__ import annotations

from math import factorial, inf, log, prod

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats.contingency import odds_ratio

from contextwise.evidence.effect_size import estimate
from contextwise.evidence.free_counts import FreeCounts

Table = npt.NDArray[np.int64]


def tables_of(seed: int, *shape: int) -> Table:
    return np.random.default_rng(seed).integers(0, 7, size=shape)


def enumerated(table: Table, signs: Table) -> dict[int, float]:
    """Return the probabilities of all moves, by the definition."""
    weights = {}
    for d in range(-50, 51):
        moved = table + signs * d
        if (moved >= 0).all():
            weights[d] = 1 / prod(factorial(int(cell)) for cell in moved.ravel())
    return {d: weight / sum(weights.values()) for d, weight in weights.items()}


@pytest.mark.parametrize("seed", range(20))
def test_one_table_has_the_conditional_odds_ratio(seed: int) -> None:
    table = tables_of(seed, 2, 2) + 1
    assert estimate(FreeCounts.of(table[None])).value == pytest.approx(
        log(odds_ratio(table, kind="conditional").statistic), abs=1e-3
    )


def test_empty_cells_give_one_sided_intervals() -> None:
    value, low, high = estimate(FreeCounts.of([[[10, 0], [3, 9]]]))
    assert value == high == inf
    assert 0 < low < inf


def test_strata_without_information_count_nothing() -> None:
    alone = FreeCounts.of([[[5, 2], [1, 7]]])
    more = FreeCounts.of([[[5, 2], [1, 7]], [[4, 9], [0, 0]], [[0, 0], [0, 0]]])
    assert estimate(more) == estimate(alone)


def test_the_interval_inverts_the_score_test() -> None:
    counts = FreeCounts.of(tables_of(3, 4, 2, 2) + 2)
    _, low, high = estimate(counts, 0.9)
    for end, quantile in ((low, 1.6449), (high, -1.6449)):
        means, variances = counts.moments(end)
        assert -means.sum() / variances.sum() ** 0.5 == pytest.approx(quantile, abs=1e-3)
