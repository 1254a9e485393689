"""Rows from frames, arrays and lists: names, types of cells, missing values."""

from __future__ import annotations

import io
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise.data.rows import (
    as_data,
)
from contextwise.data.table import Sheet, column_of, with_decimals
from contextwise.errors import ContextwiseError, DomainError
from contextwise.models.domain import Domain
from contextwise.testing import domains, rows

SURVEY = Domain({"smoker": ["no", "yes"], "age": ["young", "old", "very old"]})


@given(domains().flatmap(lambda domain: st.tuples(st.just(domain), rows(domain))))
def test_rows_in_every_form(drawn: tuple[Domain, list[tuple[str, ...]]]) -> None:
    domain, given_rows = drawn
    expected = [[domain.states[v].index(s) for v, s in enumerate(row)] for row in given_rows]
    forms: list[object] = [
        given_rows,
        [dict(zip(domain.names, r, strict=True)) for r in given_rows],
    ]
    if given_rows and len(domain):
        frame = pd.DataFrame(given_rows, columns=list(domain.names), dtype=object)
        forms += [np.array(given_rows, dtype=object), frame, frame[frame.columns[::-1]]]
    for form in forms:
        encoded = as_data(form, domain).rows
        assert encoded.shape == (len(given_rows) if len(domain) else 0, len(domain))
        assert encoded.tolist() == (expected if len(domain) else [])


def test_numbers_stand_for_their_text() -> None:
    domain = Domain({"A": 2, "B": ["10", "20"]})
    table = np.array([[1, 20], [0, 10]])
    assert as_data(table, domain).rows.tolist() == [[1, 1], [0, 0]]
    assert as_data(pd.DataFrame({"B": [20], "A": [1], "more": [5]}), domain).rows.tolist() == [
        [1, 1]
    ]
    assert as_data(np.zeros((0, 2), dtype=int), domain).rows.shape == (0, 2)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([["yes"]], "row 0 of the data has 1 cells for 2 variables"),
        ([["yes", "old"], ["yes", "old", "x"]], "row 1 of the data has 3 cells"),
        ([["yes", "ancient"]], "row 0 of the data: variable 'age' has no state 'ancient'"),
        ([{"smoker": "yes"}], "row 0 of the data lacks age"),
        (np.zeros((2, 3)), "the data has shape (2, 3); expected rows of 2 cells"),
        (np.zeros(3), "the data has shape (3,)"),
        (pd.DataFrame({"smoker": ["yes"]}), "the data has no column for age"),
        ([["yes", None]], "row 0 of the data: the value of 'age' is missing"),
        ([["yes", math.nan]], "row 0 of the data: the value of 'age' is missing"),
        (7, "'int' cannot be read as data"),
        (b"yes", "'bytes' cannot be read as data"),
        ({"smoker": "yes"}, "'dict' cannot be read as data; pass a frame"),
        ({"smoker": ["yes"]}, "the data has no column for age"),
        (pd.DataFrame({"smoker": [["yes"]], "age": ["old"]}), "column 'smoker': a cell is a list"),
        ([["yes", "old"], "no"], "row 1 of the data is 'no'; expected a list"),
    ],
)
def test_bad_rows_are_named(data: object, words: str) -> None:
    with pytest.raises(DomainError) as caught:
        as_data(data, SURVEY)
    assert words in str(caught.value)


def test_columns_of_bools_and_of_whole_floats_are_encoded() -> None:
    pandas = pytest.importorskip("pandas")
    text = "ill,age,smoker\nTrue,1,yes\nFalse,0,no\nTrue,2,yes\n"
    frame = pandas.read_csv(io.StringIO(text))
    frame["age"] = frame["age"].astype(float)
    assert frame["ill"].dtype == bool
    domain = as_data(frame).domain
    assert domain == Domain({"ill": ["False", "True"], "age": 3, "smoker": ["no", "yes"]})
    assert as_data(frame, domain).rows.tolist() == [[1, 1, 1], [0, 0, 0], [1, 2, 1]]
    for states in (["false", "true"], ["FALSE", "TRUE"], ["0", "1"]):
        other = Domain({"ill": states, "age": 3, "smoker": ["no", "yes"]})
        assert as_data(frame, other).rows[:, 0].tolist() == [1, 0, 1]
    with pytest.raises(DomainError, match="has no state 'True'; its states are no, yes"):
        as_data(frame[["ill"]], {"ill": ["no", "yes"]})
    frame.loc[1, "age"] = 0.5
    with pytest.raises(DomainError, match=r"row 1 of the data: .*0\.5"):
        as_data(frame, domain)


def test_true_and_one_are_different_states() -> None:
    data = as_data([["x", True], ["x", 1], ["x", 0]], {"A": ["x"], "B": ["0", "1", "True"]})
    assert data.rows[:, 1].tolist() == [2, 1, 0]
    assert as_data([[True], [1], [0]]).domain.states == (("0", "1", "True"),)


def test_masked_cells_are_missing() -> None:
    masked = np.ma.MaskedArray([[0, 1], [1, 0]], mask=[[False, False], [False, True]])
    with pytest.raises(DomainError, match="v1  1 missing value"):
        as_data(masked)
    assert as_data(masked[:1]).rows.tolist() == [[0, 1]]


def test_tables_of_other_libraries_keep_their_names() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"a": [1, 2] * 5, "b": ["x", "y"] * 5})
    assert as_data(table).domain == Domain({"a": ["1", "2"], "b": ["x", "y"]})


def test_an_index_that_is_left_out_is_told() -> None:
    frame = pd.DataFrame({"sex": ["m", "f"] * 5, "ill": [0, 0, 1, 1, 1] * 2})
    notes = as_data(frame.set_index("sex")).notes
    assert "the index (sex) is left out; reset_index() makes it a column" in notes
    assert as_data(frame.iloc[::2]).notes == ()
    frame.index = [f"p{k}" for k in range(10)]
    assert as_data(frame).notes == ("the names of the rows are left out",)


def test_columns_named_by_numbers() -> None:
    frame = pd.DataFrame({1: ["x", "y"], "2": ["u", "v"]})
    assert as_data(frame, {"2": ["u", "v"], "1": ["x", "y"]}).rows.tolist() == [[0, 0], [1, 1]]
    both = pd.DataFrame([["x", "y"]], columns=pd.Index([1, "1"], dtype=object))
    assert as_data(both).domain.names == ("1", "1.2")
    assert as_data(both).notes == ("two columns are called '1'; the second is called '1.2' here",)
    with pytest.raises(ContextwiseError, match="two columns have the name 1"):
        as_data(both, {"1": ["x"]})


@pytest.mark.parametrize(("texts", "sign"), [([], ","), (["n/a"], ","), (["n/a", "lost"], "")])
def test_a_column_with_one_text_still_shows_the_decimal_sign(texts: list[str], sign: str) -> None:
    """1,250 may be 1250 or 1.25; a column of numbers such as 1,5 decides, one of texts does not."""
    numbers = ["1,5", "2,25", "3,75"]
    prices = column_of("price", [*numbers, *texts])
    weights = column_of("weight", (["1,250", "2,500", "3,125", "4,750", "5,500"])[: 3 + len(texts)])
    sheet = with_decimals(Sheet([prices, weights], 3 + len(texts)), {}, {})
    assert sheet.column("weight").decimal == sign
