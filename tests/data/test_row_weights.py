"""Survey weights, ordered columns, and rows without the outcome: how they are read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import contextwise as cw
from contextwise.data import read_data, summarize_data
from contextwise.data.columns import UnclearData
from contextwise.data.options import row_options
from contextwise.data.rows import as_advised
from contextwise.errors import ContextwiseError
from contextwise.evidence.row_tests import RowTests

ROWS = [{"a": k % 2, "b": k // 2 % 2, "c": k % 3, "w": 0.5 + k % 7 / 3} for k in range(84)]


def test_weights_are_no_variable_and_reach_the_tests() -> None:
    data = read_data(ROWS, row_weights="w")
    assert data.domain.names == ("a", "b", "c")
    assert data.row_weights is not None
    assert data.row_weights.tolist() == [row["w"] for row in ROWS]
    tests = RowTests(data)
    assert tests.pairs().settings.weights == "w"
    without = read_data(ROWS, drop="w")
    given = RowTests(without, weights=data.row_weights)
    assert [each.p for each in tests.pairs()] == [each.p for each in given.pairs()]


def test_weights_stay_with_their_rows() -> None:
    rows: list[dict[str, str | float | None]] = [dict(row) for row in ROWS]
    for k in (3, 10, 50):
        rows[k]["a"] = None
    rows[20]["w"] = 0.0
    data = read_data(rows, row_weights="w", missing="drop")
    kept = [row["w"] for row in rows if row["a"] is not None and row["w"]]
    assert data.row_weights is not None
    assert data.row_weights.tolist() == kept
    assert data.left_out == {"incomplete": 3, "without_weight": 1}
    taken = data.take([0, 5]).row_weights
    assert taken is not None
    assert taken.tolist() == [kept[0], kept[5]]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-1.0, "weights must be >= 0"),
        (None, "'w' is missing in 1 row; drop these rows first"),
        ("many", "not made of numbers"),
    ],
)
def test_bad_weights_are_one_sentence(value: Any, message: str) -> None:
    rows = [*ROWS, {"a": 1, "b": 1, "c": 1, "w": value}]
    with pytest.raises(ContextwiseError, match=message):
        read_data(rows, row_weights="w")


def test_weights_that_are_all_zero_are_refused() -> None:
    with pytest.raises(ContextwiseError, match="0 in every row"):
        read_data([row | {"w": 0} for row in ROWS], row_weights="w")


def test_a_column_that_looks_like_weights_is_asked_about() -> None:
    rng = np.random.default_rng(0)
    sizes = rng.gamma(2, size=90) + 0.1
    sizes /= sizes.mean()
    rows = [{"a": k % 2, "b": k // 2 % 2, "weight": float(sizes[k])} for k in range(90)]
    with pytest.raises(UnclearData, match="survey weights, or a measurement") as caught:
        as_advised(rows)
    assert caught.value.summary.remedy.row_weights == "weight"
    assert as_advised(rows, row_options(bins={"weight": 3}))[0].domain.cardinalities == (2, 2, 3)
    assert as_advised(rows, row_options(row_weights="weight"))[0].row_weights is not None
    with pytest.raises(UnclearData):
        cw.analyse(rows)


@pytest.mark.parametrize(
    ("name", "low", "high", "first"),
    [
        ("weight", 40.5, 130.5, "bins"),
        ("wt", 1.5, 5.5, "bins"),
        ("weight", 800.5, 52_000.5, "row_weights"),
        ("survey_weight", 1.5, 5.5, "row_weights"),
        ("fnlwgt", 12_000, 900_000, "row_weights"),
        ("weight", 1_200, 5_000, ""),
    ],
)
def test_weights_of_bodies_and_of_surveys(name: str, low: float, high: float, first: str) -> None:
    rng = np.random.default_rng(1)
    digits = 1 if low % 1 else 0
    rows = [{"a": k % 2, name: round(rng.uniform(low, high), digits)} for k in range(90)]
    column = summarize_data(rows).columns[1]
    assert (column.kind == "weights") == (first == "row_weights")
    options = [option for option, _ in column.problems[0][1]]
    assert options[0] == (first or "bins")
    assert ("row_weights" in options) == bool(first)


def test_rows_without_the_outcome_are_dropped_and_counted() -> None:
    rows: list[dict[str, Any]] = [
        {"out": ["no", "yes", None, None][k % 4], "a": k // 4 % 2, "b": k // 8 % 3}
        for k in range(120)
    ]
    found = cw.analyse(rows, outcome="out", resamples=0)
    assert found.data.domain.states[found.data.domain.position("out")] == ("no", "yes")
    assert (found.rows.used, found.rows.without_outcome) == (60, 60)
    other = cw.analyse(rows, resamples=0)
    assert (other.rows.without_outcome, len(other.data)) == (0, 60)  # dropped, as in any column


def test_the_order_of_states_is_kept_with_the_model() -> None:
    rng = np.random.default_rng(1)
    rows = [
        {"pain": ["none", "mild", "severe"][level], "drug": "ab"[int(rng.random() < level / 3)]}
        for level in rng.integers(0, 3, 200).tolist()
    ]
    order = "pain=none|mild|severe"
    found = cw.analyse(rows, ordered=order, resamples=0)
    assert found.settings.ordered == (("pain", "asked for"),)
    assert found.pairs.pairs[0].shape == "trend"
    assert read_data(rows, ordered={"pain": ["none", "mild", "severe"]}).decisions == {
        "ordered": [order]
    }
    with pytest.raises(ContextwiseError, match="unknown variable 'pian'"):
        read_data(rows, ordered="pian")
    with pytest.raises(ContextwiseError, match="is not clear"):
        cw.analyse(rows, ordered="pain")
    with pytest.raises(ContextwiseError, match="an order changes nothing"):
        cw.analyse(rows, ordered="drug")
