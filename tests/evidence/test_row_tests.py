"""Test pairs by all rows: laws that every answer obeys, and bad input."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from contextwise import Domain
from contextwise.data.rows import Data, as_data
from contextwise.errors import ContextwiseError
from contextwise.evidence.pair_records import PairEvidence, PairsTested
from contextwise.evidence.pair_verdicts import corrected
from contextwise.evidence.row_tests import RowTests
from contextwise.support.arrays import IntArray
from contextwise.support.effort import Effort

NAMES = ("A", "B", "C", "D", "E")


def rows_of(seed: int, count: int = 400, cards: tuple[int, ...] = (2, 3, 2, 4, 2)) -> IntArray:
    """Draw rows in which each variable depends on the one before."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(cards[0], size=count)]
    for card in cards[1:]:
        fresh = rng.integers(card, size=count)
        columns.append(np.where(rng.random(count) < 0.4, columns[-1] % card, fresh))
    return np.stack(columns, axis=1)


def data_of(rows: IntArray, names: tuple[str, ...] = NAMES, **how: Any) -> Data:
    cards = rows.max(axis=0) + 1
    letters = {n: [f"{n}{k}" for k in range(c)] for n, c in zip(names, cards, strict=False)}
    return Data(Domain(letters), rows, **how)


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


@pytest.mark.parametrize("pair", [("A", "B"), ("B", "D"), ("A", "E")])
def test_both_variables_of_a_pair_have_the_same_place(pair: tuple[str, str]) -> None:
    tests = RowTests(data_of(rows_of(4)))
    one, other = tests.given(pair, effects=False), tests.given(pair[::-1], effects=False)
    assert one.p == pytest.approx(other.p)
    same, turned = (tests.same(p, "C", effects=False) for p in (pair, pair[::-1]))
    assert same.p == pytest.approx(turned.p, rel=1e-5)


def test_three_variables_have_one_interaction() -> None:
    tests = RowTests(data_of(rows_of(5, 2000)))
    asked = [(("A", "B"), "C"), (("A", "C"), "B"), (("B", "C"), "A")]
    found = tests.interactions(asked, "three forms", effects=False)
    assert len({each.p for each in found}) == len({each.adjusted for each in found}) == 1
    assert found[0].adjusted == found[0].p  # a family of one


def test_effects_within_states_have_the_reference_of_the_pair() -> None:
    tests = RowTests(data_of(rows_of(14, 3000)), level=0.999)
    (whole,) = tests.pairs(outcome="C", pairs=[("C", "D")]).pairs
    same = tests.same(("D", "C"), "A", outcome="C")
    references = {e.reference for e in whole.effects if e.kind == "difference"}
    inside = [e for state in same.states for e in state.effects]
    assert {e.of for e in inside} == {"C"}
    assert {e.reference for e in inside if e.kind == "difference"} == references
    assert sum(state.rows for state in same.states) == 3000


def permutation_p(first: IntArray, second: IntArray) -> float:
    """Compare X² with that of all orders of the rows."""

    def statistic(order: tuple[int, ...]) -> float:
        table = np.zeros((first.max() + 1, second.max() + 1))
        np.add.at(table, (first, second[list(order)]), 1)
        expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / len(first)
        return float(((table - expected) ** 2 / expected).sum())

    observed = statistic(tuple(range(len(first))))
    orders = [statistic(order) for order in permutations(range(len(first)))]
    return float(np.mean(np.array(orders) >= observed - 1e-9))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1, 1]),
        ([0, 0, 1, 1, 2, 2, 2], [0, 1, 1, 1, 0, 0, 0]),
        ([0, 1, 1, 1, 1, 1, 2], [0, 0, 0, 1, 1, 1, 1]),
    ],
)
def test_tiny_tables_agree_with_all_permutations(first: list[int], second: list[int]) -> None:
    rows = np.array([first, second]).T
    tested = RowTests(data_of(rows)).pairs(effects=False).pairs[0]
    exact = permutation_p(rows[:, 0], rows[:, 1])
    assert tested.omnibus_p is not None
    if tested.method == "permutations":
        assert tested.omnibus_p == pytest.approx(exact, abs=4 * np.sqrt(exact / 999) + 0.01)
    else:
        assert tested.omnibus_p >= 0.5


@pytest.mark.parametrize(
    "table", [[[0, 2], [4, 0], [0, 6]], [[3, 0, 0], [0, 4, 0], [0, 0, 5]], [[5, 0], [0, 5]]]
)
def test_no_p_value_is_below_the_smallest_possible(table: list[list[int]]) -> None:
    from scipy.special import gammaln

    counts = np.array(table)
    margins = sum(gammaln(counts.sum(axis=k) + 1).sum() for k in (0, 1))
    least = np.exp(margins - gammaln(counts.sum() + 1) - gammaln(counts + 1).sum())
    states = np.argwhere(counts > 0)
    data = data_of(np.repeat(states, counts[counts > 0], axis=0))
    p = RowTests(data).pairs(effects=False).pairs[0].p
    assert p is not None
    assert least * (1 - 1e-9) <= p <= 0.05


def test_an_association_that_cancels_is_found() -> None:
    rng = np.random.default_rng(0)
    c, a = rng.integers(2, size=1000), rng.integers(2, size=1000)
    b = np.where(rng.random(1000) < 0.75, (a + c) % 2, 1 - (a + c) % 2)
    tested = RowTests(data_of(np.stack([a, b, c], axis=1))).given(("A", "B"))
    assert tested.verdict == "associated, not on average"
    assert tested.context == "C"
    assert tested.average_p is not None
    assert tested.average_p > 0.05


def test_confounding_by_an_interaction_is_no_association() -> None:
    rng = np.random.default_rng(1)
    z = rng.integers(2, size=(2000, 3))
    chance = np.where((z[:, 0] + z[:, 1]) % 2 == 1, 0.8, 0.2)
    a, b = (rng.random(2000) < chance for _ in range(2))
    tested = RowTests(data_of(np.column_stack([a, b, z]).astype(np.int64))).given(("A", "B"))
    assert tested.verdict == "no association shown"
    assert any("×" in product for product in tested.products)
    assert tested.crude_v is not None
    assert tested.crude_v > 0.3


def test_a_determined_variable_could_not_be_tested() -> None:
    rows = rows_of(6, 300)[:, :3]
    copied = np.column_stack([rows[:, 0], rows[:, 2], rows[:, 0]])
    tested = RowTests(data_of(copied)).given(("A", "B"))
    assert tested.verdict in ("could not be tested", "no association shown")
    assert tested.could_show is None or tested.could_show > 0.2


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


def test_a_limit_and_a_family_of_what_was_asked() -> None:
    tests = RowTests(data_of(rows_of(9)))
    none = tests.pairs(effort=Effort.of(0.0))
    assert (len(none), none.unfinished) == (0, 10)
    outcome = tests.pairs(outcome="C", effects=False)
    assert [each.family for each in outcome.pairs[:5]] == ["pairs with C"] * 4 + ["the other pairs"]
    assert all("C" in each.pair for each in outcome.of_outcome)
    p = PairEvidence(("A", "B"), "suggestive", 0.02, None, "")
    assert [e.adjusted for e in corrected([p], "f", 4)] == [pytest.approx(0.08)]
    assert corrected([p], "f")[0].verdict == "associated"
    assert corrected([replace(p, average_p=0.3)], "f")[0].verdict == "associated, not on average"


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
