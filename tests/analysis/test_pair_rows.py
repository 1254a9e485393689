"""The rows behind a pair: shares, strengths and differences against plain definitions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats.contingency import association

from contextwise.analysis.pair_rows import (
    crude_strengths,
    rows_where,
    shown_state,
    standardised,
    state_order,
    strength,
    to_hide,
    two_state_groups,
    wilson,
)
from contextwise.data.options import row_options
from contextwise.data.rows import Data, parse_data, read_data
from contextwise.evidence.verdicts import judge
from contextwise.models.domain import Domain
from contextwise.models.notation import Literal
from contextwise.models.structure import Structure

TITANIC = read_data("titanic")


@pytest.mark.parametrize("name", ["titanic", "berkeley", "women-math"])
def test_all_crude_strengths_at_once_are_those_of_each_pair(name: str) -> None:
    data = read_data(name)
    found = crude_strengths(data)
    assert list(found) == list(combinations(data.domain.names, 2))
    assert found == {pair: strength(data, pair) for pair in found}


def random_data(seed: int, rows: int = 300) -> Data:
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 3, rows)
    a = (rng.random(rows) < 0.2 + 0.3 * (z == 1)).astype(int)
    b = (rng.random(rows) < 0.3 + 0.3 * a + 0.1 * (z == 2)).astype(int)
    domain = Domain({"Z": 3, "A": 2, "B": 2})
    return Data(domain, np.stack([z, a, b], axis=1))


def test_the_crude_strength_is_cramers_v_less_chance() -> None:
    found = strength(TITANIC, ("class", "survived"))
    table = np.zeros((4, 2))
    np.add.at(table, (TITANIC.rows[:, 0], TITANIC.rows[:, 3]), TITANIC.weights)
    v = association(table.astype(int), method="cramer")
    assert found is not None
    assert found.low < found.value < found.high
    assert found.value == pytest.approx(np.sqrt(v**2 - 3 / len(TITANIC)), abs=2e-3)


def test_a_pair_that_never_varies_has_no_strength() -> None:
    data = read_data([["x", 1], ["x", 0]] * 20)
    assert strength(data, ("v0", "v1")) is None
    assert standardised(data, "v0", "v1", []) is None


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_standardised_shares_are_weighted_means(seed: int) -> None:
    data = random_data(seed)
    found = standardised(data, "A", "B", ["Z"])
    assert found is not None
    rows = data.rows
    for k in range(2):
        total, mean = 0, 0.0
        for z in range(3):
            inside = rows[:, 0] == z
            if all((rows[inside, 1] == a).any() for a in range(2)):
                own = inside & (rows[:, 1] == k)
                mean += inside.sum() * (rows[own, 2] == 1).mean()
                total += int(inside.sum())
        assert found.shares[0][k].value == pytest.approx(mean / total)
        crude = (rows[rows[:, 1] == k, 2] == 1).mean()
        assert found.crude[0][k] == pytest.approx(crude)


def test_without_variables_held_fixed_shares_are_crude() -> None:
    found = standardised(TITANIC, "sex", "survived", [])
    assert found is not None
    assert [e.value for e in found.shares[0]] == pytest.approx(list(found.crude[0]))
    assert found.gap is not None
    assert (found.gap.high, found.gap.low) == ("female", "male")


def test_variables_that_make_groups_too_small_are_left_out() -> None:
    rng = np.random.default_rng(1)
    rows = [
        [int(a), int(rng.random() < 0.3 + 0.4 * a), int(z)]
        for a, z in zip(rng.integers(0, 2, 200), range(200), strict=True)
    ]
    found = standardised(read_data(rows, category=["v2"]), "v0", "v1", ["v2"])
    assert found is not None
    assert found.left_out == ("v2",)
    assert found.rows == 200


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_groups_have_the_counts_of_the_rows(seed: int) -> None:
    data = random_data(seed)
    found = two_state_groups(data, "A", "B", ["Z"], first="1")
    assert found.states == ("1", "0")
    rows = data.rows
    for group in found.groups:
        ((_, z),) = group.states
        for share, state in zip(group.shares, (1, 0), strict=True):
            own = rows[(rows[:, 0] == int(z)) & (rows[:, 1] == state), 2]
            assert (share.part, share.whole) == (own.sum(), len(own))
            assert share.low <= share.value <= share.high
    assert found.silent_rows is not None
    assert sum(g.rows for g in found.groups) + found.silent_rows == len(data)
    if found.points is not None:
        assert found.points.low <= found.points.value <= found.points.high


@given(st.lists(st.integers(0, 30), min_size=1, max_size=8), st.integers(0, 9))
def test_totals_do_not_tell_what_is_hidden(counts: list[int], least: int) -> None:
    hidden = to_hide(counts, counts, least)
    assert all(counts[k] > 0 for k in hidden)
    small = {k for k, count in enumerate(counts) if 0 < count < least}
    assert small <= hidden
    assert bool(hidden) == bool(small)
    if hidden and len(hidden) < sum(count > 0 for count in counts):
        assert len(hidden) > 1
        assert sum(counts[k] for k in hidden) >= least


@given(st.integers(0, 10**6), st.integers(1, 12))
@settings(max_examples=25, deadline=None)
def test_what_reveals_few_rows_is_hidden(seed: int, least: int) -> None:
    data = random_data(seed)
    found = two_state_groups(data, "A", "B", ["Z"], least=least)
    everything = two_state_groups(data, "A", "B", ["Z"])
    assert all(group.smallest >= least for group in found.groups)
    assert found.hidden == len(everything.groups) - len(found.groups)
    assert found.hidden != 1 or found.silent_rows is None or not found.groups
    shares = standardised(data, "Z", "A", [], least=least)
    if shares is not None:
        z = data.domain.position("Z")
        for state in shares.states:
            rows = data.rows[:, z] == data.domain.states[z].index(state)
            cells = np.bincount(data.rows[rows, 0], data.weights[rows])
            assert cells[cells > 0].min() >= least
        assert shares.hidden != 1


def test_a_region_is_a_mask_of_rows() -> None:
    inside = rows_where(TITANIC, [Literal("class", ("3rd",), True), Literal("sex", ("male",))])
    third = TITANIC.domain.states[0].index("3rd")
    male = TITANIC.domain.states[1].index("male")
    expected = (TITANIC.rows[:, 0] != third) & (TITANIC.rows[:, 1] == male)
    assert np.array_equal(inside, expected)


def test_small_pieces() -> None:
    assert shown_state(["yes", "no"]) == 0
    assert shown_state(["low", "high"]) == 1
    share = wilson(0, 10)
    assert share.low == 0
    assert 0.2 < share.high < 0.35


def test_the_gap_that_is_shown_does_not_rest_on_one_row() -> None:
    """State 2 of A has one row, whose share of 0 is farther from 0.7 than that of state 0."""
    a = np.repeat([0, 1, 2], [100, 100, 1])
    b = np.concatenate([np.arange(100) < 25, np.arange(100) < 70, [False]]).astype(int)
    found = standardised(Data(Domain({"A": 3, "B": 2}), np.stack([a, b], axis=1)), "A", "B", ())
    assert found is not None
    assert found.gap is not None
    assert (found.gap.high, found.gap.low) == ("1", "0")


def test_the_strength_that_many_small_groups_have_in_common_is_seen() -> None:
    """In 20 groups, A and B agree in 60 %: X² is 32 of 20 degrees of freedom, CMH 31 of 1."""
    cells = [(0, 0)] * 12 + [(0, 1)] * 8 + [(1, 0)] * 8 + [(1, 1)] * 12
    rows = [(a, b, c) for c in range(20) for a, b in cells]
    data = Data(Domain({"A": 2, "B": 2, "C": 20}), np.array(rows))
    found = strength(data, ("A", "B"), ["C"])
    assert found is not None
    assert found.low > 0.1
    assert found.value == pytest.approx((30.23 / 800) ** 0.5, abs=0.001)


def test_two_rows_of_sparse_groups_are_no_strong_association() -> None:
    pairs = {(0, 0): 99, (0, 1): 0, (1, 0): 0, (1, 1): 1}
    balanced = dict.fromkeys(pairs, 25)
    counts = [pairs, pairs, *[balanced] * 4]
    rows = [
        (z, *cell) for z, group in enumerate(counts) for cell, n in group.items() for _ in range(n)
    ]
    data = Data(Domain({"Z": 6, "A": 2, "B": 2}), np.array(rows))
    found = strength(data, ("A", "B"), ["Z"])
    assert found is not None
    assert found.value < 0.05


def test_a_claim_and_its_pair_have_one_strength() -> None:
    """Six rows of three sparse groups alone make V 0.27, if X² is added over groups."""
    balanced = [(a, b) for a in range(3) for b in range(2)] * 100
    sparse = [(0, 0)] * 98 + [(1, 1)] * 2
    groups = [sparse] * 3 + [balanced] * 6
    rows = [(z, *cell) for z, group in enumerate(groups) for cell in group]
    data = Data(Domain({"Z": 9, "A": 3, "B": 2}), np.array(rows))
    model = Structure(data.domain, ["Z=1 & A=1", "Z=1 & B=1"])
    (claim,) = judge(model, data, pairs=[(1, 2)]).claims
    found = strength(data, ("A", "B"), ["Z"])
    assert claim.given == ("Z",)
    assert claim.effect is not None
    assert found is not None
    assert (claim.effect.measure, claim.effect.value) == ("V", found.value)
    assert (claim.effect.low, claim.effect.high) == (found.low, found.high)
    assert found.value < 0.05


def test_numbers_are_in_order_even_if_the_first_cells_of_a_table_are_empty() -> None:
    table = "dose,ill,Freq\n0-39g,y,0\n120+,y,4\n0-39g,n,9\n40-79,y,2\n40-79,n,5\n120+,n,3\n"
    data = parse_data(table.encode(), "doses.csv", options=row_options(counts="Freq"))
    states = data.domain.states[0]
    assert [states[k] for k in state_order(data, "dose")] == ["0-39g", "40-79", "120+"]
