"""Sizes of associations: differences, odds ratios, their references."""

from __future__ import annotations

import numpy as np
import pytest

from contextwise import Domain
from contextwise.data.rows import Data, as_data
from contextwise.evidence.row_tests import RowTests
from small_tables import data_of, rows_of


def test_effects_within_states_have_the_reference_of_the_pair() -> None:
    tests = RowTests(data_of(rows_of(14, 3000)), level=0.999)
    (whole,) = tests.pairs(outcome="C", pairs=[("C", "D")]).pairs
    same = tests.same(("D", "C"), "A", outcome="C")
    references = {e.reference for e in whole.effects if e.kind == "difference"}
    inside = [e for state in same.states for e in state.effects]
    assert {e.of for e in inside} == {"C"}
    assert {e.reference for e in inside if e.kind == "difference"} == references
    assert sum(state.rows for state in same.states) == 3000


def test_effects_of_two_columns_are_those_of_their_table() -> None:
    rows = rows_of(7, 5000, (2, 2))
    (tested,) = RowTests(data_of(rows)).pairs(outcome="B").pairs
    table = np.zeros((2, 2))
    np.add.at(table, tuple(rows.T), 1)
    ratio = table[0, 0] * table[1, 1] / (table[0, 1] * table[1, 0])
    effects = {e.kind: e for e in tested.effects if e.at == "A1"}
    assert effects["odds ratio"].estimate == pytest.approx(ratio, rel=0.01)
    assert effects["odds ratio"].crude == pytest.approx(ratio)
    error = np.sqrt((1 / table).sum())
    assert np.log(effects["odds ratio"].high / ratio) == pytest.approx(1.96 * error, rel=0.02)
    share = table[1, 1] / table[1].sum()
    assert effects["share"].estimate == pytest.approx(share, abs=0.001)
    assert effects["difference"].estimate == pytest.approx(
        share - table[0, 1] / table[0].sum(), abs=0.002
    )
    assert tested.v_low is not None
    assert tested.v_high is not None
    assert tested.crude_v is not None
    assert tested.v_low < tested.crude_v < tested.v_high


def test_a_zero_cell_has_finite_numbers_that_json_can_hold() -> None:
    import json

    table = np.array([[30, 0], [25, 40]])
    rows = np.repeat(np.argwhere(table >= 0), table.ravel(), axis=0)
    found = RowTests(data_of(rows)).pairs(outcome="B")
    text = json.dumps(found.records(), allow_nan=False)
    assert json.loads(text)[0]["effects"][0]["crude"] is None
    assert found.pairs[0].effects[0].low > 1


def test_a_pair_has_effects_when_few_rows_hold_few_columns() -> None:
    """Each variable is fitted given those most associated with it; effects need the other one."""
    domain = Domain(dict.fromkeys("abcde", 4))
    data = as_data(np.random.default_rng(1).integers(0, 4, (23, 5)), domain)
    found = RowTests(data).pairs(outcome="a")
    assert all(pair.effects for pair in found.pairs if "a" in pair.pair)


def test_effects_within_states_of_few_rows_hold_the_other_variable() -> None:
    """Each state of c has 30 rows, too few to fit a given b and its near copy d."""
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 5, (150, 5))
    rows[:, 2] = np.arange(150) % 5
    rows[:, 1] = np.where(rows[:, 2] > 2, rows[:, 0], rows[:, 1])
    rows[:, 3] = np.where(rng.random(150) < 0.9, rows[:, 0], rows[:, 3])
    tests = RowTests(Data(Domain({name: list("vwxyz") for name in "abcde"}), rows))
    (found,) = tests.interactions([(("a", "b"), "c")], "1 test", outcome="a")
    assert found.states
    assert all(state.effects for state in found.states)


@pytest.mark.parametrize(("subjects", "approximate"), [(40, True), (60, False)])
def test_intervals_by_few_subjects_are_approximate_and_wider(
    subjects: int, approximate: bool
) -> None:
    rng = np.random.default_rng(4)
    who = np.arange(1200) % subjects
    data = Data(Domain({"a": 2, "b": 2}), rng.integers(2, size=(1200, 2)), subjects=who)
    (tested,) = RowTests(data).pairs(outcome="a").pairs
    ratio = next(e for e in tested.effects if e.kind == "odds ratio")
    assert ratio.approximate is approximate
    alone = RowTests(Data(data.domain, data.rows, subjects=np.arange(1200)))
    plain = next(e for e in alone.pairs(outcome="a").pairs[0].effects if e.kind == "odds ratio")
    assert ratio.estimate == pytest.approx(plain.estimate)
    assert not plain.approximate


def test_a_cell_where_all_have_the_event_has_an_interval_of_its_size() -> None:
    """22 of 22: Wilson's interval begins at 85 %, and the odds ratio may be very large."""
    rng = np.random.default_rng(5)
    b = np.r_[np.ones(22), np.zeros(978)].astype(int)
    a = np.where(b == 1, 1, rng.integers(2, size=1000))
    data = Data(Domain({"a": 2, "b": 2, "c": 2}), np.stack([a, b, rng.integers(2, size=1000)], 1))
    (tested,) = RowTests(data).pairs(outcome="a", pairs=[("a", "b")]).pairs
    at = {e.kind: e for e in tested.effects if e.at == "1"}
    assert at["share"].low < at["share"].estimate - 0.14
    assert at["difference"].low < at["difference"].estimate - 0.14
    assert at["odds ratio"].high > 15 * at["odds ratio"].estimate
