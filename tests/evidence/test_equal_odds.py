"""Equal odds ratios in all groups: against enumeration, SciPy and published values."""

from __future__ import annotations

from itertools import product
from math import factorial, prod

import numpy as np
import pytest

from contextwise.evidence.equal_odds import (
    Floats,
    equality_test,
    fit_without_interaction,
    paired_p,
    trend_test,
    two_state_tables,
)
from contextwise.evidence.free_counts import GROUP_SIGNS

COAL = [  # Ashford and Sowden (1970): breathlessness and wheeze of miners by age
    [[9, 7], [95, 1841]],
    [[23, 9], [105, 1654]],
    [[54, 19], [177, 1863]],
    [[121, 48], [257, 2357]],
    [[169, 54], [273, 1778]],
    [[269, 88], [324, 1712]],
    [[404, 117], [245, 1324]],
    [[406, 152], [225, 967]],
    [[372, 106], [132, 526]],
]
RNG = np.random.default_rng(0)


def coal() -> Floats:
    return np.array(COAL, dtype=float)[None]


def drawn(seed: int, *shape: int, mean: float = 3) -> Floats:
    return np.random.default_rng(seed).poisson(mean, size=shape).astype(float)


@pytest.mark.parametrize("seed", range(10))
def test_fits_keep_all_margins(seed: int) -> None:
    tables = drawn(seed, 3, 2, 3, 4)
    fit = fit_without_interaction(tables)
    for axis in (1, 2, 3):
        assert fit.sum(axis=axis) == pytest.approx(tables.sum(axis=axis), abs=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_draws_agree_with_the_enumeration_of_a_stratum(seed: int) -> None:
    """Enumerate all 2 x 2 x 3 tables with the margins of one table."""
    table = drawn(seed, 1, 2, 2, 3)
    weights, statistics = [], []
    fit = fit_without_interaction(table)
    for move in product(range(-12, 13), repeat=2):
        change = np.array([[*move, -sum(move)], [-move[0], -move[1], sum(move)]])
        moved = table + np.array([change, -change])
        if (moved >= 0).all():
            weights.append(1 / prod(factorial(int(cell)) for cell in moved.ravel()))
            terms = np.divide((moved - fit) ** 2, fit, out=np.zeros_like(fit), where=fit > 1e-9)
            statistics.append(terms.sum())
    # One stratum: the pooled statistic is Pearson's.
    observed = np.divide((table - fit) ** 2, fit, out=np.zeros_like(fit), where=fit > 1e-9).sum()
    larger = np.array(statistics) >= observed - 1e-6
    exact = np.array(weights)[larger].sum() / sum(weights)
    result = equality_test(table, np.random.default_rng(seed))
    assert result.p_value == pytest.approx(exact, abs=0.15)


@pytest.mark.parametrize("seed", range(12))
def test_two_groups_of_two_states_agree_with_full_enumeration(seed: int) -> None:
    """All 2 x 2 x 2 tables with these two-way margins, in up to three strata."""
    tables = drawn(seed, 1 + seed % 3, 2, 2, 2, mean=3)
    strata = []
    for table in tables:
        moved = [table + GROUP_SIGNS * d for d in range(-12, 13)]
        possible = [(d - 12, each) for d, each in enumerate(moved) if (each >= 0).all()]
        weights = np.array([1 / prod(map(factorial, t.astype(int).ravel())) for _, t in possible])
        moves, chances = np.array([d for d, _ in possible]), weights / weights.sum()
        mean = (chances * moves).sum()
        strata.append((moves, chances, mean, (chances * (moves - mean) ** 2).sum()))
    pooled = squares = 0.0
    used = [variance >= 0.25 for *_, variance in strata]
    observed = sum(m * m / v for (*_, m, v), u in zip(strata, used, strict=True) if u)
    mean = sum(m for _, _, m, _ in strata)
    for places in product(*(range(len(moves)) for moves, *_ in strata)):
        chosen = list(zip(strata, places, used, strict=True))
        chance = prod(chances[k] for (_, chances, _, _), k, _ in chosen)
        total = sum(moves[k] for (moves, *_), k, _ in chosen)
        spread = sum((moves[k] - m) ** 2 / v for (moves, _, m, v), k, u in chosen if u)
        pooled += chance * (abs(total - mean) >= abs(mean) - 1e-7)
        squares += chance * (spread >= observed - 1e-9)
    expected = pooled if sum(used) <= 1 else min(1.0, 2 * min(pooled, squares))
    assert equality_test(tables, RNG).p_value == pytest.approx(min(1.0, expected))


def test_coal_miners_differ_by_age_with_a_trend() -> None:
    """Woolf's test: p = 0.00097; the log odds ratio falls by 0.13 per age band."""
    result = equality_test(coal(), RNG)
    assert result.method == "chi-square"
    assert result.p_value == pytest.approx(0.00097, rel=0.3)
    trend = trend_test(coal())
    assert trend.value == pytest.approx(-0.131, abs=0.002)
    assert trend.low < -0.131 < trend.high < 0
    assert trend.p_value < 1e-4


def test_equal_tables_do_not_differ() -> None:
    same = np.tile(np.array([[30.0, 10], [20, 40]]), (3, 2, 1, 1))
    assert equality_test(same, RNG).p_value == 1
    more = np.tile(np.arange(1.0, 10).reshape(3, 3) * 5, (2, 3, 1, 1))
    assert equality_test(more, RNG).p_value > 0.99


@pytest.mark.parametrize("shape", [(2, 2, 2, 2), (1, 3, 2, 3), (2, 2, 3, 3)])
def test_the_order_of_groups_and_states_does_not_matter(shape: tuple[int, ...]) -> None:
    tables = drawn(5, *shape, mean=60)
    p = equality_test(tables, RNG).p_value
    for axis in (1, 2, 3):
        assert equality_test(np.flip(tables, axis), RNG).p_value == pytest.approx(p)
    assert equality_test(np.swapaxes(tables, 2, 3), RNG).p_value == pytest.approx(p)


def test_empty_tables_say_nothing() -> None:
    assert equality_test(np.zeros((2, 2, 2, 2)), RNG).p_value == 1
    assert equality_test(np.zeros((2, 3, 3, 2)), RNG).p_value == 1


@pytest.mark.parametrize("setting", [(2, 2, 2), (3, 2, 2), (2, 3, 3)])
def test_the_level_holds(setting: tuple[int, int, int]) -> None:
    """Poisson tables without association have equal odds ratios."""
    rng = np.random.default_rng(1)
    p = [equality_test(rng.poisson(4, (3, *setting)).astype(float), rng)[0] for _ in range(150)]
    assert np.mean(np.array(p) <= 0.05) < 0.05 + 3 * (0.05 * 0.95 / 150) ** 0.5


def test_pairs_of_states_cover_a_table() -> None:
    choices = two_state_tables(drawn(2, 1, 2, 3, 4, mean=20))
    assert len(choices) == 2 * 3
    assert len({first[0] for first, _ in choices}) == len({second[0] for _, second in choices}) == 1


def test_copies_of_a_subjects_rows_are_no_evidence() -> None:
    cells = np.random.default_rng(3).integers(8, size=800)
    subjects = np.repeat(np.arange(400), 2)
    once = paired_p(cells, subjects, RNG)
    often = paired_p(np.tile(cells, 10), np.tile(subjects, 10), RNG)
    assert often == pytest.approx(once, abs=1e-9)


def test_the_level_holds_for_few_subjects() -> None:
    """Each subject has the same states in both groups, so rows are far from independent."""
    rng = np.random.default_rng(4)
    p = []
    for _ in range(60):
        of_subject = rng.integers(4, size=50)
        cells = np.concatenate([of_subject, 4 + of_subject])
        changed = rng.random(100) < 0.3
        cells[changed] = cells[changed] // 4 * 4 + rng.integers(4, size=changed.sum())
        p.append(paired_p(cells, np.tile(np.arange(50), 2), rng))
    assert np.mean(np.array(p) <= 0.05) <= 0.05 + 3 * (0.05 * 0.95 / 60) ** 0.5
