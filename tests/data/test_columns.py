"""Columns that cannot be used as they are, and the remedies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from contextwise.data.rows import (
    as_data,
    parse_data,
)
from contextwise.errors import ContextwiseError, ParseError

NOT_CATEGORIES: dict[str, list[Any]] = {
    "measurement": [k / 7 + 0.01 for k in range(500)],
    "id": list(range(1000, 1500)),
    "few": [k / 2 + 0.25 for k in range(13)],
    "names": [f"person {k}" for k in range(30)],
}


@pytest.mark.parametrize("name", NOT_CATEGORIES)
def test_a_column_that_is_not_a_category_is_refused(name: str, tmp_path: Path) -> None:
    values = NOT_CATEGORIES[name]
    frame = pd.DataFrame({name: values, "B": [k % 2 for k in range(len(values))]})
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    message = f"  {name} +{len(values)} different"
    rows_of_dicts = frame.to_dict("records")
    for form in (path, frame, rows_of_dicts):
        with pytest.raises(ContextwiseError, match=message):
            as_data(form)
    domain: dict[str, list[str] | int] = {name: [str(value) for value in values], "B": 2}
    for form in (path, frame, rows_of_dicts):
        assert as_data(form, domain).rows[:, 0].tolist() == list(range(len(values)))


def test_codes_that_are_not_categories_are_refused() -> None:
    codes = "".join(f"{299 - k},0\n" for k in range(300))
    with pytest.raises(ContextwiseError, match="v0  300 different numbers: a measurement"):
        parse_data(codes.encode(), "x.data")
    with pytest.raises(ContextwiseError, match="v0  300 different numbers: a measurement"):
        as_data(np.array([[k, 0] for k in range(300)]))


def test_small_and_sparse_data_are_accepted() -> None:
    assert len(as_data([[k] for k in range(20)])) == 20
    assert len(as_data([[k % 20] for k in range(30)])) == 30
    assert as_data([[0.5], [0.25]]).domain.states == (("0.25", "0.5"),)
    assert parse_data(b"A\n0.5\n0.25\n", "x.csv").domain.states == (("0.25", "0.5"),)
    frame = pd.DataFrame({"A": pd.Categorical([f"s{k}" for k in range(40)])})
    assert as_data(frame).domain.cardinalities == (40,)  # its categories are stated


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04\x14\x00\xff", "x: this is a ZIP archive, not an Excel workbook"),
        (b"\xd0\xcf\x11\xe0\x00", r"x: this is an old Excel workbook \(.xls\); save it as"),
        (b"A,B\nyes\n", "x:2: 1 cell where 2 are expected"),
    ],
)
def test_what_is_wrong_with_a_file_and_the_remedy(content: bytes, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        parse_data(content, "x")
