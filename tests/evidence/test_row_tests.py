"""Test pairs by all rows: laws that every answer obeys, and bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from contextwise import Domain
from contextwise.data.rows import Data
from contextwise.errors import ContextwiseError
from contextwise.evidence.pair_records import PairsTested
from contextwise.evidence.row_tests import RowTests
from small_tables import NAMES, data_of, rows_of


def assert_equal(one: PairsTested, other: PairsTested, tolerance: float = 1e-5) -> None:
    assert len(one) == len(other) > 0
    for first in one:
        second = other.about(*first.pair)
        assert second is not None
        assert first.verdict == second.verdict
        for key in ("p", "average_p", "context_p", "v", "v_low", "v_high", "crude_v", "could_show"):
            a, b = getattr(first, key), getattr(second, key)
            assert a == pytest.approx(b, rel=tolerance, abs=1e-9), (first.pair, key)


SEEDS = (1, 2)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_rows_columns_and_states_does_not_matter(seed: int) -> None:
    rows = rows_of(seed, 1500)
    rng = np.random.default_rng(seed)
    one = RowTests(data_of(rows)).pairs(effects=False)
    assert_equal(one, RowTests(data_of(rows[rng.permutation(len(rows))])).pairs(effects=False))
    order = rng.permutation(5)
    domain = data_of(rows).domain
    turned = Domain({NAMES[k]: domain.states[k] for k in order})
    assert_equal(one, RowTests(Data(turned, rows[:, order])).pairs(effects=False), 1e-3)
    flipped = Domain({n: s[::-1] for n, s in zip(domain.names, domain.states, strict=True)})
    codes = np.array(domain.cardinalities) - 1 - rows
    assert_equal(one, RowTests(Data(flipped, codes)).pairs(effects=False), 1e-3)


@pytest.mark.parametrize("seed", SEEDS)
def test_counted_rows_are_repeated_rows_and_weights_have_no_unit(seed: int) -> None:
    rows = rows_of(seed)
    data = data_of(rows)
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    counted = Data(data.domain, distinct, multiplicity=counts)
    assert_equal(RowTests(data).pairs(), RowTests(counted).pairs(), 1e-9)
    weights = np.random.default_rng(seed).uniform(0.5, 2, size=len(rows))
    one = RowTests(data, weights=weights).pairs(effects=False)
    assert_equal(one, RowTests(data, weights=1000 * weights).pairs(effects=False))


def test_equal_weights_change_no_estimate() -> None:
    data = data_of(rows_of(3))
    one = RowTests(data).pairs(outcome="A")
    other = RowTests(data, weights=np.full(len(data), 7.0)).pairs(outcome="A")
    assert_equal(one, other, 1e-9)
    for first in one:
        second = other.about(*first.pair)
        assert second is not None
        estimates = [[e.estimate for e in each.effects] for each in (first, second)]
        assert estimates[0] == pytest.approx(estimates[1])


def test_subjects_repeated_ten_times_are_not_ten_times_the_evidence() -> None:
    rows = rows_of(8, 150, (2, 2, 2))
    alone = RowTests(data_of(rows)).given(("A", "B"), contexts=False)
    subjects = np.repeat(np.arange(len(rows)), 10)
    again = RowTests(data_of(np.repeat(rows, 10, axis=0), subjects=subjects))
    repeated = again.given(("A", "B"), contexts=False)
    assert repeated.method == "clusters"
    assert alone.p is not None
    assert repeated.p is not None
    assert 0.2 < np.log(repeated.p) / np.log(alone.p) < 2


def test_regions_and_given_sets_select_rows_and_variables() -> None:
    data = data_of(rows_of(10, 1000))
    tests = RowTests(data)
    inside = tests.given(("A", "B"), where="C=C1")
    part = Data(data.domain, data.rows[data.rows[:, 2] == 1])
    assert inside.p == pytest.approx(RowTests(part).given(("A", "B")).p)
    assert inside.rows == len(part)
    assert tests.given(("A", "B"), []).given == ()
    assert tests.given(("A", "B"), ["D"]).given == ("D",)
    assert tests.given(("A", "C"), where="C=C1").verdict == "could not be tested"


def test_fewer_than_ten_rows_are_not_tested() -> None:
    """In the rows A and B are always equal."""
    codes = np.arange(10) % 2
    rows = np.stack([codes, codes], axis=1)
    nine = RowTests(data_of(rows[:9], ("A", "B"))).given(("A", "B"))
    assert (nine.verdict, nine.p, nine.rows) == ("could not be tested", None, 9)
    assert RowTests(data_of(rows, ("A", "B"))).given(("A", "B")).verdict == "associated"


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"weights": [-1.0]}, "row 0 has the weight -1"),
        ({"weights": [np.nan]}, "have no weight"),
        ({"weights": [0.0]}, "all weights are 0"),
        ({"ordered": ["A"]}, "'A' has 2 states|A has 2 states"),
        ({"ordered": ["D"]}, "order of .* is not clear"),
        ({"ordered": ["D=D0|D1"]}, "list each state"),
        ({"ordered": ["nobody"]}, "nobody"),
    ],
)
def test_bad_weights_and_orders_are_refused(how: dict[str, Any], message: str) -> None:
    data = data_of(rows_of(11, 50))
    if "weights" in how:
        how = {"weights": np.repeat(how["weights"], len(data))}
    with pytest.raises(ContextwiseError, match=message):
        RowTests(data, **how)


def test_bad_outcomes_and_subjects_are_refused() -> None:
    rows = rows_of(12, 3000, (2, 2, 2))
    rows = np.column_stack([rows, np.arange(3000) % 2000])
    tests = RowTests(data_of(rows))
    with pytest.raises(ContextwiseError, match=r"2,000 states"):
        tests.pairs(outcome="D")
    constant = Domain({"A": ["x", "y"], "B": ["x", "y"], "C": ["x", "y"]})
    with pytest.raises(ContextwiseError, match="one state"):
        RowTests(Data(constant, rows[:, :3] * np.array([1, 1, 0]))).pairs(outcome="C")
    with pytest.raises(ContextwiseError, match="can only name"):
        RowTests(data_of(rows[:, [0, 1, 3]], subjects=rows[:, 3]))
    with pytest.raises(ContextwiseError, match="1 subject"):
        RowTests(data_of(rows[:, :3], subjects=np.zeros(3000, dtype=np.int64)))
