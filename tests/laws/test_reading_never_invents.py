"""Law: a table that is written and read again has its rows, names and states, or is refused.

Tables are drawn with every separator, with and without quotes, in three encodings, with and
without a header, and with columns of text, codes, years and numbers as states. Names are words,
years, numbers with letters, and words that repeat or that are also states.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise.data import Data, UnclearData, read_data
from contextwise.data.options import RowOptions, row_options
from contextwise.data.rows import parse_data
from contextwise.errors import DomainError, ParseError
from contextwise.formats import read_stream

SEPARATORS = [",", ";", "\t", "|", " "]
STATES = [
    ["0", "1"],
    ["1", "2", "3"],
    ["58", "60", "69"],
    ["1", "5", "99"],
    ["no", "yes"],
    ["low", "middle", "high"],
    ["Gruß, an uns", 'say "x"', "a;b|c"],
    ["é", "ø"],
    ["#1", "#2"],
    ["two\nlines", "one"],
]
NAMES = ["sex", "region", "2019", "2020", "v1", "1a", "yes", "Größe", "a b", "x, y"]
ROWS = 24


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    """Draw names and rows in which every state of a column occurs at least twice."""
    width = draw(st.integers(2, 5))
    columns = []
    for _ in range(width):
        states = draw(st.sampled_from(STATES))
        cells = [states[k % len(states)] for k in range(ROWS)]
        columns.append(draw(st.permutations(cells)))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=width, max_size=width))
    return names, [list(row) for row in zip(*columns, strict=True)]


def written(rows: list[list[str]], separator: str, quoting: Any, encoding: str) -> bytes:
    text = io.StringIO()
    quoting = csv.QUOTE_ALL if separator == " " else quoting
    csv.writer(text, delimiter=separator, quoting=quoting, lineterminator="\n").writerows(rows)
    return text.getvalue().encode(encoding)


def read(content: bytes, options: RowOptions | None = None) -> Data | None:
    try:
        return parse_data(content, "table.csv", options=options)
    except UnclearData:  # it names columns and remedies
        return None
    except ParseError as error:
        if error.line is None:
            raise
        return None


def assert_same(data: Data, rows: list[list[str]]) -> None:
    assert data.labels() == rows
    for place, states in enumerate(data.domain.states):
        assert set(states) == {row[place] for row in rows}


How = Callable[..., Any]
drawn: How = given(
    table=tables(),
    separator=st.sampled_from(SEPARATORS),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)


@drawn
def test_a_header_is_read_as_names(
    table: tuple[list[str], list[list[str]]], separator: str, quoting: Any, encoding: str
) -> None:
    names, rows = table
    states_above = any(n in {r[k] for r in rows} for k, n in enumerate(names))
    content = written([names, *rows], separator, quoting, encoding)
    # Names that are also states need the option.
    data = read(content, RowOptions(header=True) if states_above else None)
    if data is None:
        return
    assert_same(data, rows)
    kept = [n for n in data.domain.names if "." not in n]
    assert kept == list(dict.fromkeys(names))


@drawn
def test_rows_without_a_header_are_all_rows(
    table: tuple[list[str], list[list[str]]], separator: str, quoting: Any, encoding: str
) -> None:
    _, rows = table
    data = read(written(rows, separator, quoting, encoding))
    if data is not None:
        assert_same(data, rows)
        assert data.domain.names == tuple(f"v{k}" for k in range(len(rows[0])))


@pytest.mark.parametrize(
    "names", [["sex", "region", "2019", "2020"], ["sex", "region", "a", "a"], ["A", "B", "A", "B"]]
)
def test_years_and_repeated_names_are_names(names: list[str]) -> None:
    rows = [
        ["f" if k % 2 else "m", "n" if k % 3 else "s", str(k % 2), str(k // 2 % 2)]
        for k in range(60)
    ]
    data = parse_data(written([names, *rows], ",", csv.QUOTE_MINIMAL, "utf-8"), "x.csv")
    assert len(data) == 60
    assert data.labels() == rows


def test_repeated_names_above_text_are_names() -> None:
    rows = [
        ["f" if k % 2 else "m", "n" if k % 3 else "s", "x" if k % 5 else "y"] for k in range(30)
    ]
    data = parse_data(written([["A", "B", "A"], *rows], ",", csv.QUOTE_MINIMAL, "utf-8"), "x.csv")
    assert data.domain.names == ("A", "B", "A.2")
    assert data.labels() == rows


def test_states_of_a_file_without_names_are_those_that_occur() -> None:
    rows = [[str(58 + k % 12), str([1, 5, 99][k % 3])] for k in range(240)]
    data = parse_data(written(rows, ",", csv.QUOTE_MINIMAL, "utf-8"), "x.data")
    assert data.domain.cardinalities == (12, 3)


def test_letters_that_look_alike_are_one_name() -> None:
    composed, decomposed = "é", "e\u0301"
    text = f"{composed},b\n" + "".join(
        f"{composed if k % 2 else decomposed},{k % 3}\n" for k in range(30)
    )
    data = parse_data(text.encode(), "x.csv")
    assert data.domain.states[0] == (composed,)
    assert data.domain.names[0] == composed


@pytest.mark.parametrize("format", ["json", "bif", "modelstring", "dot", "edges"])
def test_letters_of_models_are_composed_as_those_of_rows(format: str) -> None:
    texts = {
        "json": '{"format": "contextwise", "version": 1, "variables": [{"name": "é", "states": '
        '["ä", "b"]}, {"name": "z", "states": ["0", "1"]}], "features": [{"é": "ä", "z": "1"}]}',
        "bif": "network n {} variable é {type discrete [2] {ä, b};} variable z {type discrete [2] "
        "{0, 1};} probability (é) {table .5, .5;} probability (z | é) {(ä) .1, .9; (b) .2, .8;}",
        "modelstring": "[é][z|é]",
        "dot": 'digraph { "é" -> z }',
        "edges": "from,to\né,z\n",
    }
    text = texts[format].replace("é", "e\u0301").replace("ä", "a\u0308")
    model = read_stream(io.BytesIO(text.encode()), format=format)
    assert model.domain.names[0] == "é"
    if format in ("json", "bif"):
        assert model.domain.states[0] == ("ä", "b")


def test_states_that_look_alike_are_named() -> None:
    rows = [[("TRUE", "true", "no")[k % 3], ("1", "1e0", "2")[k % 3]] for k in range(30)]
    content = written([["a", "b"], *rows], ",", csv.QUOTE_MINIMAL, "utf-8")
    with pytest.raises(UnclearData, match="'TRUE' and 'true': the same"):
        parse_data(content, "x.csv")
    data = parse_data(content, "x.csv", options=row_options(category="a"))
    notes = " ".join(data.notes)
    assert "'TRUE' and 'true' are different states of 'a'" in notes
    assert "'1' and '1e0' are different states of 'b'" in notes


def test_a_number_written_in_two_ways_is_one_state_and_it_is_said() -> None:
    rows = [[("1", "1.0", "2")[k % 3], ("x", "y")[k % 2]] for k in range(30)]
    data = parse_data(written([["a", "b"], *rows], ",", csv.QUOTE_MINIMAL, "utf-8"), "x.csv")
    assert data.domain.states[0] == ("1", "2")
    assert "'1' and '1.0' are one state of 'a'" in data.notes


@pytest.mark.parametrize(
    "bins",
    [
        "age=20,30,lwt=2",
        "age=30|20",
        "age=1",
        "age=x",
        "age=4,age=3",
        "1000000000",
        {"age": []},
        {"age": "x|"},
    ],
)
def test_bins_that_are_not_understood_are_refused(bins: Any) -> None:
    rows = [{"age": 15 + k % 30, "lwt": 100 + k} for k in range(90)]
    with pytest.raises(DomainError, match="bins"):
        read_data(rows, bins=bins)


def test_bins_are_cut_at_points_and_their_edges_are_told() -> None:
    rows = [{"age": 15 + k % 30, "lwt": 100 + k} for k in range(90)]
    assert read_data(rows, bins={"age": [30], "lwt": 2}).domain.cardinalities == (2, 2)
    for points in ([20.5, 30], (20.5, 30), "20.5|30"):
        states = read_data(rows, bins={"age": points, "lwt": 2}).domain.states
        assert states[0] == ("up to 20.5", "21 to 30", "above 30")
    data = read_data(rows, bins={"age": "20|30", "lwt": 2})
    assert data.domain.states[0] == ("up to 20", "21 to 30", "above 30")
    assert "'age' cut at 20, 30 into 3 bins (--bins)" in data.notes
    assert "'lwt' cut at 144 into 2 bins (--bins)" in data.notes


def test_numbers_in_the_first_line_that_may_be_names_are_mentioned() -> None:
    rows = [[str(1 + k % 3), str(k % 2)] for k in range(30)]
    data = parse_data(written([["1", "2019"], *rows], ",", csv.QUOTE_MINIMAL, "utf-8"), "x.csv")
    assert len(data) == 31
    assert "the first line was read as a row; --header if its numbers are names" in data.notes


def test_an_empty_first_cell_above_states_is_a_missing_value() -> None:
    rows = [["", "b", "1"], *[["x", "ab"[k % 2], str(k % 3)] for k in range(20)]]
    content = written(rows, ",", csv.QUOTE_MINIMAL, "utf-8")
    data = parse_data(content, "x.csv", options=RowOptions(missing="state"))
    assert data.labels()[0] == ["missing", "b", "1"]


def test_blanks_and_signs_that_look_alike_are_asked_about() -> None:
    for words in (("a b", "a\u00a0b"), ("yes", "yes\u200b")):
        rows = [[words[k % 2], ("x", "\uff58")[k // 2 % 2]] for k in range(20)]
        content = written([["p", "q"], *rows], ";", csv.QUOTE_MINIMAL, "utf-8")
        with pytest.raises(
            UnclearData, match=r"'a b' and 'a\\xa0b'|'yes' and 'yes\\u200b'"
        ) as caught:
            parse_data(content, "x.csv")
        assert caught.value.summary.remedy.merge == ("p",)
        assert [len(column.problems) for column in caught.value.summary.columns] == [1, 0]
        data = parse_data(content, "x.csv", options=row_options(category="p"))
        assert sum("are different states" in note for note in data.notes) == 2
    rows = [[f"900719925474099{k % 2 + 2}", "x"] for k in range(20)]  # equal as floats
    data = parse_data(written([["p", "q"], *rows], ";", csv.QUOTE_MINIMAL, "utf-8"), "x.csv")
    assert not any("are different states" in note for note in data.notes)


def test_a_stray_quote_is_an_error_with_its_line() -> None:
    lines = ["a;b;c", *("0;1;0" for _ in range(8)), '1;"0;1', "0;0;0", '1;0";1', "1;1;1"]
    with pytest.raises(ParseError, match=r":10: a quote"):
        parse_data("\n".join(lines).encode(), "asia.csv")


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (
            ["3", "99999999999999999999"],
            "x.csv:3: counts must be whole numbers from 0 to .*is 9999",
        ),
        (["3", ""], "x.csv:3: counts must be .*'n' is empty"),
        (["3", "-1"], "x.csv:3: counts must be"),
        (["3", "2.5"], "x.csv:3: counts must be"),
        (["0", "0"], "every row occurs 0 times by 'n'"),
    ],
)
def test_counts_that_are_none_are_refused(counts: list[str], message: str) -> None:
    rows = [["sex", "n"], *[["fm"[k], count] for k, count in enumerate(counts)]]
    content = written(rows, ",", csv.QUOTE_MINIMAL, "utf-8")
    with pytest.raises((ParseError, DomainError), match=message):
        parse_data(content, "x.csv", options=RowOptions(counts="n"))


def test_numbers_and_truth_values_in_one_column_are_named() -> None:
    rows = [[("1", "True", "0")[k % 3], "xy"[k % 2]] for k in range(30)]
    data = parse_data(written([["a", "b"], *rows], ",", csv.QUOTE_MINIMAL, "utf-8"), "x.csv")
    assert any("'1' and 'True' are different states of 'a'" in note for note in data.notes)
