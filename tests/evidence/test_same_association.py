"""Whether an association is the same in all states of a third variable."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import Domain
from contextwise.data.rows import Data, as_data
from contextwise.evidence.row_tests import RowTests
from contextwise.evidence.same_association import exact_p
from contextwise.support.arrays import FloatArray
from small_tables import data_of, rows_of

TABLES = st.lists(st.integers(0, 3), min_size=8, max_size=8).map(
    lambda cells: np.array(cells).reshape(2, 2, 2)
)


@given(TABLES)
def test_the_exact_test_lists_all_tables_with_these_margins(table: np.ndarray) -> None:
    """Each with the number of ways to give labelled observations such cells."""
    chances: dict[bool, float] = {True: 0.0, False: 0.0}
    observed = ways(table)
    tables = 0
    for free in range(-8, 9):
        signs = np.array([(-1) ** sum(place) for place in product((0, 1), repeat=3)])
        other = table + free * signs.reshape(2, 2, 2)
        if other.min() < 0:
            continue
        assert all((other.sum(axis=k) == table.sum(axis=k)).all() for k in range(3))
        chances[ways(other) <= observed * (1 + 1e-9)] += ways(other)
        tables += 1
    p = exact_p(table)
    if tables == 1:
        assert p is None
    else:
        assert p == pytest.approx(chances[True] / sum(chances.values()))


def ways(table: np.ndarray) -> float:
    """Return one over the product of the factorials of the cells."""
    return 1 / float(np.prod([len(list(permutations(range(int(c))))) for c in table.ravel()]))


def test_a_tiny_table_that_no_large_sample_test_can_use_is_tested_exactly() -> None:
    """Six rows per state: equal in one group, opposite in the other."""
    rows = [[0, k, k] for k in (0, 1)] * 3 + [[1, k, 1 - k] for k in (0, 1)] * 3
    found = RowTests(rows).same(("v1", "v2"), "v0")
    assert (found.method, found.verdict) == ("exact", "differs")
    assert found.p == pytest.approx(0.0122, abs=1e-4)
    wider = RowTests([[*row, k % 2] for k, row in enumerate(rows)]).same(("v1", "v2"), "v0")
    assert wider.verdict == "could not be tested"  # another variable is held fixed


def test_three_variables_have_one_interaction() -> None:
    tests = RowTests(data_of(rows_of(5, 2000)))
    asked = [(("A", "B"), "C"), (("A", "C"), "B"), (("B", "C"), "A")]
    found = tests.interactions(asked, "three forms", effects=False)
    assert len({each.p for each in found}) == len({each.adjusted for each in found}) == 1
    assert found[0].adjusted == found[0].p  # a family of one


# -- curves --

ITEMS = ("i1", "i2")
REPEATS = 60


def answers(seed: int, bend: float, differs: float) -> Data:
    """Two items of five points that go together; an outcome that follows the first."""
    rng = np.random.default_rng(seed)
    common: FloatArray = rng.normal(size=600)
    first, second = (
        np.clip(np.round(2 + 0.9 * (common + rng.normal(size=600))), 0, 4) for _ in ITEMS
    )
    odds = -0.5 + bend * (first - 2) ** 2 + differs * (first - 2) * (second - 2)
    outcome = rng.random(600) < 1 / (1 + np.exp(-odds))
    rows = np.column_stack([outcome, first, second]).astype(int)
    return as_data(rows, Domain({"y": 2, "i1": 5, "i2": 5}))


def rejected(pair: tuple[str, str], by: str, bend: float, differs: float) -> int:
    """Count the data sets in which the association differs at level 0.05."""
    count = 0
    for seed in range(REPEATS):
        tests = RowTests(answers(seed, bend, differs), ordered=ITEMS)
        p = tests.same(pair, by, effects=False).p
        assert p is not None
        count += p <= 0.05
    return count


FORMS = [(("y", "i1"), "i2"), (("y", "i2"), "i1"), (("i1", "i2"), "y")]


@pytest.mark.parametrize(("pair", "by"), FORMS)
def test_a_curved_association_is_no_difference(pair: tuple[str, str], by: str) -> None:
    """The outcome is U-shaped in the first item, in all states of the second."""
    assert rejected(pair, by, bend=0.4, differs=0.0) <= 8  # 3 expected; 9 has probability .004


@pytest.mark.parametrize(("pair", "by"), FORMS)
def test_a_difference_is_found_next_to_a_curve(pair: tuple[str, str], by: str) -> None:
    assert rejected(pair, by, bend=0.4, differs=0.35) >= 45
