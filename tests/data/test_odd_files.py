"""Files as programs and people leave them: what is read, asked, or refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest

from contextwise.data import read_data
from contextwise.data.columns import DataSummary
from contextwise.data.options import RowOptions
from contextwise.data.rows import Data, parse_data, summarize_data
from contextwise.errors import ParseError

SEX, ILL = "fm", ["no", "yes", "yes"]


def rows(cells: Callable[[int], str], head: str = "x,ill", count: int = 60) -> str:
    return "".join([f"{head}\n", *(f"{cells(k)},{ILL[k % 3]}\n" for k in range(count))])


def summary(text: str | bytes, tmp_path: Path) -> DataSummary:
    path = tmp_path / "rows.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return summarize_data(path)


def read(text: str | bytes, options: RowOptions | None = None) -> Data:
    return parse_data(text.encode() if isinstance(text, str) else text, "rows.csv", options=options)


@pytest.mark.parametrize("units", ["(cm),(kg),", "cm,kg,-", "in cm,in kg,"])
def test_a_line_of_units_is_dropped(units: str, tmp_path: Path) -> None:
    lines = [f"{150 + k * 7 % 50},{50 + k * 3 % 41}.5,{SEX[k % 2]}" for k in range(60)]
    found = summary("\n".join(["height,mass,sex", units, *lines]), tmp_path)
    assert [c.kind for c in found.columns] == ["measurement", "measurement", "category"]
    assert found.rows == 60
    assert "line 2 has the units of the numbers and was dropped" in found.notes


@pytest.mark.parametrize("line", ["?,?,f", "1.5,n/a,m", "many,few,f"])
def test_a_first_row_with_words_is_no_line_of_units(line: str, tmp_path: Path) -> None:
    lines = [f"{150 + k * 7 % 50},{50 + k * 3 % 41}.5,{SEX[k % 2]}" for k in range(60)]
    assert summary("\n".join(["height,mass,sex", line, *lines]), tmp_path).rows == 61


@pytest.mark.parametrize(
    "below",
    [
        "Source: Statistics Office, 2020\nNotes: (1) preliminary\n",
        "Source: Office,,\n",
        "\n© somebody\n",
        "Quelle: Amt für Statistik\n",
    ],
)
def test_sources_below_a_table_are_dropped(below: str) -> None:
    table = "a,b,c\n" + "".join(f"{SEX[k % 2]},{ILL[k % 3]},{k % 5}\n" for k in range(40))
    data = read(table + below)
    assert len(data) == 40
    assert any(note.startswith("not part of the table, dropped") for note in data.notes)


def test_a_second_table_is_refused_with_its_line() -> None:
    first, second = rows(lambda k: SEX[k % 2], "sex,ill"), rows(lambda k: "NS"[k % 2], "side,bad")
    with pytest.raises(
        ParseError, match=r"63: an empty line and other names .side, bad.: a second"
    ):
        read(f"{first}\n{second}")
    assert len(read(first + "\n" + first.partition("\n")[2])) == 120  # only an empty line


def test_names_that_a_file_repeats_are_dropped() -> None:
    table = rows(lambda k: SEX[k % 2], "sex,ill")
    for text in (table + table, f"{table}\n{table}"):
        data = read(text)
        assert len(data) == 120
        assert data.domain.states == (("f", "m"), ("no", "yes"))
        assert "the names again, dropped: 1 line" in data.notes


def test_signs_between_cells_after_the_last_one_carry_nothing() -> None:
    text = rows(lambda k: SEX[k % 2]).replace("f,no\n", "f,no,\n")
    assert len(read(text)) == 60
    with pytest.raises(ParseError, match="3 cells where 2 are expected"):
        read(text.replace("f,no,\n", "f,no,1\n", 1))


def test_postal_codes_are_not_cut(tmp_path: Path) -> None:
    found = summary(rows(lambda k: f"{501 + k * 317 % 9000:05}", count=200), tmp_path)
    assert found.columns[0].kind == "text"
    assert found.columns[0].problems[0][0] == "200 different codes such as 00501"
    assert found.remedy.drop == ("x",)


@pytest.mark.parametrize("texts", [["<5"], ["~30", "12*"]])
def test_few_texts_among_numbers_are_asked_about(texts: list[str], tmp_path: Path) -> None:
    text = rows(
        lambda k: texts[k // 20 % len(texts)] if k % 20 == 3 else str(5 + k * 7 % 53), count=100
    )
    found = summary(text, tmp_path)
    assert found.columns[0].kind == "measurement"
    assert set(found.remedy.na) == {f"x={word}" for word in texts}
    assert found.remedy.bins == ("x=4",)
    assert len(read(text, found.remedy)) == 95


def test_errors_of_excel_are_missing() -> None:
    text = rows(lambda k: "#DIV/0!" if k % 9 == 0 else "#REF!" if k % 9 == 1 else str(k % 3))
    assert read(text, RowOptions(missing="drop")).domain.states[0] == ("0", "1", "2")


def test_counts_with_thousands_are_counts_and_both_is_asked_at_once(tmp_path: Path) -> None:
    text = "sex;ill;Freq\nf;no;1.204\nf;yes;345\nm;no;2.880\nm;yes;1.001\n"
    found = summary(text, tmp_path)
    assert found.remedy.words() == ["--counts", "Freq", "--decimal", "Freq=comma"]
    assert len(read(text, found.remedy)) == 5430


@pytest.mark.parametrize(
    ("values", "option"),
    [
        ([1, 2, 3, 4, 5, 8, 9], "--na x=8,x=9"),
        ([1, 2, 3, 4, 5, 98, 99], "--na x=98,x=99"),
        ([1, 2, 3, -99, -98, -1], "--na x=-1,x=-98,x=-99"),
        ([*range(18, 90), *[98, 99] * 9], "--na x=98,x=99"),
        ([*range(1000, 9000, 50), *[-8, -9] * 9], "--na x=-8,x=-9"),
        ([*range(18, 100)], ""),
        ([-3, -2, -1, 0, 1, 2, 3], ""),
    ],
)
def test_codes_of_missing_values_are_asked_about_together(
    values: list[int], option: str, tmp_path: Path
) -> None:
    found = summary(rows(lambda k: str(values[k % len(values)]), count=3 * len(values)), tmp_path)
    asked = [note.option for note in found.notes if note.kind == "question"]
    assert asked == ([option] if option else [])
    if option:
        how = found.remedy._replace(na=tuple(option.split()[1:]), missing="drop")
        assert len(read_data(tmp_path / "rows.csv", na=how.na, missing="drop", bins=list(how.bins)))


def test_lines_in_two_encodings_are_read_each_in_its_own() -> None:
    lines = [f"Müller,{ILL[k % 3]}".encode(["utf-8", "latin-1"][k % 2]) for k in range(40)]
    data = read(b"\n".join([b"name,ill", *lines, b"Other,no"]))
    assert data.domain.states[0] == ("Müller", "Other")
    assert "not UTF-8 and was read as UTF-8 in 20 lines, else Windows-1252" in data.notes[0]


def test_stata_floats_are_written_as_typed_and_named_codes_are_asked_about(tmp_path: Path) -> None:
    ages = [float(18 + k * 7 % 70) if k % 9 else 99.0 for k in range(120)]
    frame = pd.DataFrame({"age": ages, "dose": [0.1, 0.2, 0.3] * 40, "ill": [1.0, 2.0] * 60})
    labels = {"age": {99.0: "Refused"}, "ill": {1.0: "no", 2.0: "yes"}}
    frame.astype({"dose": "float32"}).to_stata(tmp_path / "a.dta", write_index=False)
    assert read_data(tmp_path / "a.dta", drop="age").domain.states[0] == ("0.1", "0.2", "0.3")
    ranges: dict[str, Any] = {"ill": [2.0]}
    pyreadstat.write_sav(
        frame, str(tmp_path / "a.sav"), variable_value_labels=labels, missing_ranges=ranges
    )
    found = summarize_data(tmp_path / "a.sav")
    assert "codes among the numbers of 'age': 99 is 'Refused'; --na age=99 if" in " ".join(
        found.notes
    )
    assert "missing by the file: 2 of 'ill'" in found.notes
    assert found.columns[2].missing == 60


def test_missing_values_that_are_a_state_are_told() -> None:
    text = rows(lambda k: "" if k % 4 == 0 else SEX[k % 2])
    (note,) = read(text, RowOptions(missing="state")).notes
    assert note.startswith("missing values are a state of 'x' (15), so results may be about who")
    assert "--missing drop leaves 45 of 60 rows; or leave out" in note
    assert note.endswith("the columns that lack most: --drop x")


def test_words_that_are_a_scale_are_asked_about(tmp_path: Path) -> None:
    words = ["Very good", "poor", "Good"]
    found = summary(rows(lambda k: words[k % 3]), tmp_path)
    (note,) = found.notes
    assert note.option == "--ordered 'x=poor|Good|Very good'"
    assert not summary(rows(lambda k: ["low", "red", "high"][k % 3]), tmp_path).notes


def test_columns_in_a_mapping() -> None:
    assert read_data({"a": [0, 1] * 9, "b": ["x", "y"] * 9}).domain.names == ("a", "b")


def test_words_in_several_cases_are_asked_about_and_merged(tmp_path: Path) -> None:
    words = ["Male", "male ", "MALE", "Female", "male"]
    text = rows(lambda k: words[k % 5], "sex,ill")
    found = summary(text, tmp_path)
    ((reason, remedies),) = found.columns[0].problems
    assert reason == "'Male' and 'male' and 'MALE': the same?"
    assert remedies == (("merge", "sex"), ("category", "sex"))
    data = read(text, found.remedy)
    assert data.domain.states[0] == ("Female", "male")
    assert "spellings of 'sex' merged: 'Male', 'MALE'" in data.notes
    assert read(text, RowOptions(category=("sex",))).domain.cardinalities[0] == 4
    how = RowOptions(learned=data.decisions)
    later = parse_data(b"sex,ill\nMALE,no\nfemale,yes\n", "later.csv", data.domain, how)
    assert later.labels() == [["male", "no"], ["Female", "yes"]]


@pytest.mark.parametrize("states", [["hid", "hId"], ["a", "A"], ["new  York", "new York"]])
def test_codes_that_differ_in_case_stay_apart(states: list[str], tmp_path: Path) -> None:
    found = summary(rows(lambda k: states[k % 2]), tmp_path)
    assert not found.unclear
    assert any("are different states of 'x'" in note for note in found.notes)
    merged = read(rows(lambda k: states[k % 2]), RowOptions(merge=("x",)))
    assert merged.domain.cardinalities[0] == 1


def test_lines_above_and_below_with_an_empty_line_between_are_dropped() -> None:
    table = rows(lambda k: f"{SEX[k % 2]},{k % 5}", "sex,score,ill")
    head = 'Office of Statistics\n\n"Counts of, persons"\n\nFilters:\n"Sum","Persons, by place"\n\n'
    foot = '\n"Dataset: census"\n\n"INFO","Cells were adjusted, slightly"\n\n(c) Office 2017\n'
    data = read(head + table + foot)
    assert data.domain.names == ("sex", "score", "ill")
    assert len(data) == 60
    assert data.notes[0].startswith("not part of the table, dropped: 7 lines (1, 3, 5, 6, 70, …)")


def test_an_empty_line_among_texts_that_all_differ_is_no_second_table() -> None:
    people = [f"Person {k},Street {k}" for k in range(30)]
    text = "\n".join(["name,street", *people[:20], "", *people[20:]])
    assert len(read(text, RowOptions(category=("name", "street")))) == 30
