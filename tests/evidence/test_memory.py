"""Memory of tests is bounded, whatever the number of groups and states."""

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from contextwise.data.rows import as_data
from contextwise.evidence.claim_tests import judge_claims
from contextwise.evidence.independence_test import PooledTests
from contextwise.models.structure import Structure
from contextwise.support.arrays import FloatArray

MIB = 2**20


def _tables(groups: int, high: int, wide: int) -> FloatArray:
    """Draw four rows for each group."""
    rng = np.random.default_rng(0)
    tables = np.zeros((groups, high, wide))
    places = (rng.integers(0, size, 4 * groups) for size in (high, wide))
    np.add.at(tables, (np.repeat(np.arange(groups), 4), *places), 1.0)
    return tables


def _peak(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("groups", "high", "wide"), [(3000, 12, 10), (600, 2, 300), (20_000, 2, 2), (20, 200, 150)]
)
def test_pooled_tests_need_little_more_than_their_tables(groups: int, high: int, wide: int) -> None:
    """All covariances at once take 235 MB in the first case and 7 GB per group in the last."""
    tables = _tables(groups, high, wide)
    peak = _peak(lambda: PooledTests(tables, np.array([0, groups])))
    assert peak <= 12 * tables.nbytes + 150 * MIB


@pytest.mark.parametrize("cards", [(200, 150, 500), (2, 300, 300), (2, 2, 3000)])
def test_tests_of_claims_need_little_memory(cards: tuple[int, int, int]) -> None:
    """A dense table of the first case would have 15 million cells, 120 MB."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, card, 1500) for card in cards])
    data = as_data(rows, dict(zip("ABC", cards, strict=True)))
    model = Structure(data.domain, ["A=1 & C=1", "B=1 & C=1"])
    assert _peak(lambda: judge_claims(model, data)) <= 60 * MIB
