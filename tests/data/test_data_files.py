"""Rows from CSV and .data files, and errors that say where."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from contextwise.cli import contextwise
from contextwise.data.rows import format_rows, infer_domain, parse_rows, read_rows
from contextwise.distributions.sampling import labels_of
from contextwise.errors import ParseError
from contextwise.models.domain import Domain
from contextwise.testing import domains

PEOPLE = Domain({"smoker": ["no", "yes"], "age": ["young", "very old"]})


def parsed(text: str, domain: Domain = PEOPLE) -> list[list[str]]:
    rows: list[list[str]] = parse_rows(text.encode(), "people.csv", domain).tolist()
    return rows


def test_with_and_without_header() -> None:
    expected = [["yes", "young"], ["no", "very old"]]
    assert parsed("smoker,age\nyes,young\nno,very old\n") == expected
    assert parsed("age,id,smoker\nyoung,7,yes\nvery old,8,no\n") == expected
    assert parsed("yes,young\nno,very old\n") == expected
    assert parsed('\n yes , "young"\r\n\r\nno,very old') == expected
    assert parsed("0,1\n1,1\n", Domain.of_cardinalities([2, 2])) == [["0", "1"], ["1", "1"]]


def test_packed_files(tmp_path: Path) -> None:
    path = tmp_path / "people.data.gz"
    path.write_bytes(gzip.compress(b"yes,young\n"))
    assert read_rows(path, PEOPLE).tolist() == [["yes", "young"]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "people.csv: there are no rows in this file"),
        ("smoker,age\n", "people.csv: there are no rows below the header"),
        ("yes,young\nno,\n", "people.csv:2: the value of 'age' is missing"),
        ("smoker,age\n*,young\n", "people.csv:2: the value of 'smoker' is missing"),
        ("yes,young\n,\n", "people.csv:2: the value of 'smoker' is missing"),
        ("yes,old\n", "people.csv:1: variable 'age' has no state 'old'; its states are young"),
        ("yes\n", "people.csv:1: 1 cell where 2 are expected; cells are separated by"),
        ("2|yes,young\n", "people.csv:1: '2|yes' looks like a row with a weight"),
        ("yes,young\n\nno,young,7\n", "people.csv:3: 3 cells where 2 are expected"),
        ("smoker,years,id\n", "people.csv:1: 3 cells.*if this line is a header, it lacks age"),
        ('yes,"young\n', "people.csv:1: this is not CSV: unexpected end of data"),
    ],
)
def test_errors_say_where(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=f"^{message}"):
        parsed(text)


def test_text_that_is_no_text() -> None:
    with pytest.raises(ParseError, match=r"^x:2: this is not UTF-8 text"):
        parse_rows(b"yes,young\n\xff,young\n", "x", PEOPLE)


def test_a_state_may_be_called_like_a_missing_value() -> None:
    assert parsed("?,NA\n", Domain({"A": ["?", "x"], "B": ["NA", "y"]})) == [["?", "NA"]]


@given(domains(min_variables=1), st.integers(0, 99))
def test_rows_survive_a_round_trip(domain: Domain, seed: int) -> None:
    rng = np.random.default_rng(seed)
    positions = np.stack([rng.integers(c, size=3) for c in domain.cardinalities], axis=1)
    stripped = {label.strip() for own in domain.states for label in own}
    if any(label != label.strip() for own in domain.states for label in own) or "" in stripped:
        return  # blanks around a cell do not count, so such labels cannot be told apart
    if any(name != name.strip() or not name for name in domain.names):
        return
    text = format_rows(labels_of(domain, positions), domain)
    assert np.array_equal(domain.encode(parse_rows(text.encode(), "x", domain)), positions)


def test_what_csv_files_of_other_programs_hold_is_told_in_words(tmp_path: Path) -> None:
    for cell, message in {
        "NaN": "the value of 'A' is missing",
        "inf": "variable 'A' has no state 'inf'",
        "x" * 200_000: "a cell has more than 131,072 characters; is a closing quote missing",
        "9" * 5_000: "variable 'A' has no state '9999",
    }.items():
        path = tmp_path / "rows.csv"
        path.write_text(f"A,B\n0,1\n{cell},1\n")
        with pytest.raises(ParseError, match=f":3: {message}"):
            read_rows(path, Domain({"A": 2, "B": 2}))


def test_a_long_row_of_digits_is_a_label() -> None:
    digits = "9" * 5_000
    assert infer_domain(f"A\n{digits}\n1\n".encode(), "rows.csv").states == (("1", digits),)


def test_info_gives_the_domain_of_a_data_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("smoker,age\nyes,10\nno,9\nyes,9\n")
    shown = CliRunner().invoke(contextwise, ["info", str(path)])
    assert shown.stdout.splitlines() == [
        "rows.csv: 3 rows, 2 variables",
        "smoker  2  no, yes",
        "age     2  9, 10",
    ]
    record = json.loads(CliRunner().invoke(contextwise, ["info", str(path), "--json"]).stdout)
    assert record["rows"] == 3
    assert record["variables"] == [
        {"name": "smoker", "states": ["no", "yes"]},
        {"name": "age", "states": ["9", "10"]},
    ]
    (tmp_path / "codes.data").write_text("0,2\n1,0\n")
    codes = CliRunner().invoke(contextwise, ["info", str(tmp_path / "codes.data")])
    assert codes.stdout.startswith("codes.data: 2 rows, 2 variables\nv0  2  0, 1\nv1  3  0, 1, 2")
    assert CliRunner().invoke(contextwise, ["info", str(path), "lung"]).exit_code == 2
