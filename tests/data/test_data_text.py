"""Text files as tables: the compiled splitter agrees with Python's csv module."""

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from contextwise import read_data
from contextwise.data import text as reading
from contextwise.data.options import row_options
from contextwise.data.rows import parse_data
from contextwise.data.text import text_table
from contextwise.errors import ContextwiseError, ParseError

pytestmark = pytest.mark.skipif(reading._splitter is None, reason="the splitter was not built")

CELLS = st.sampled_from(
    [
        "yes",
        "no",
        " no ",
        "",
        "7",
        "1.5",
        '"a,b"',
        '"x"',
        "é",
        "\u00a0",
        "#",
        "a b",
        '"a""b"',
        "'q'",
    ]
)
TABLES = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), max_size=12)
)


def result(text: str, separator: str | None) -> Any:
    try:
        table = text_table(text.encode(), "a.csv", row_options(separator=separator))
    except ContextwiseError as error:
        return str(error)
    cells = [
        (column.name, [None if k < 0 else column.labels[k] for k in column.codes])
        for column in table.columns
    ]
    return cells, table.rows, table.notes, None if table.lines is None else table.lines.tolist()


def check_both(text: str, separator: str | None = None) -> None:
    fast = result(text, separator)
    with patch.object(reading, "_splitter", None):
        assert fast == result(text, separator)


@given(TABLES, st.sampled_from([",", ";", "\t", " "]), st.sampled_from(["", "\n", "\n\n"]))
def test_tables_are_read_in_both_ways_alike(
    rows: list[list[str]], separator: str, end: str
) -> None:
    check_both("\n".join(separator.join(row) for row in rows) + end, separator)


@given(st.text(alphabet='ab1,;\t\n" #', max_size=40))
@example("a,b\n1,2\n\n3,4\n")
@example("Title\na,b\n1,2\n")
@example('a,b\n"1" ,2\n')
@example("a,b,c\n1,,\n2,3,4\n")
def test_any_text_is_read_in_both_ways_alike(text: str) -> None:
    check_both(text)


def test_plain_tables_are_read_by_compiled_code() -> None:
    text = 'a,"b c",d\n' + "".join(f'{k % 3},"x{k}",\n' for k in range(1_000))
    coded, labels = reading._splitter.coded_columns(text, ",")
    assert coded.shape == (3, 1_001)
    assert [len(names) for names in labels] == [4, 1_001, 2]
    check_both(text)
    for strange in ('a,b\n1"2,3\n', "a,b\n1\n", "a,b\n,\n", "a\n1\n", "", "\n", 'a,"b\nc"\n1,2\n'):
        assert reading._splitter.coded_columns(strange, ",") is None


ORANGE = """size\tcolour\tripe
d\tsmall large\td
\t\tclass
small\tred\tyes
large\tred\tno
small\tgreen\tno
"""


@pytest.mark.parametrize("roles", ["\t\tclass", "\t\t", "", "class", "\tmeta"])
def test_lines_of_orange_files_may_be_short(roles: str, tmp_path: Path) -> None:
    path = tmp_path / "fruit.tab"
    path.write_text(ORANGE.replace("\t\tclass", roles))
    data = read_data(path)
    assert data.domain.states == (("large", "small"), ("green", "red"), ("no", "yes"))
    assert len(data) == 3
    path.write_text(ORANGE.replace("\t\tclass", roles).replace("red\tyes", "red"))
    assert len(read_data(path, missing="drop")) == 2


def test_letters_that_occur_again_are_states(tmp_path: Path) -> None:
    path = tmp_path / "letters.csv"
    path.write_text("first,second\nc,d\nd,c\nc,d\n")
    assert len(read_data(path)) == 3


def test_quotes_inside_of_cells_are_letters(tmp_path: Path) -> None:
    path = tmp_path / "pipes.csv"
    path.write_text('pipe,ok\n5" pipe,1\n4",0\n5" pipe,1\n')
    data = read_data(path)
    assert data.domain.states[0] == ('4"', '5" pipe')
    assert len(data) == 3


def test_a_file_of_very_many_columns_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contextwise.data.text.MOST_COLUMNS", 9)
    assert len(parse_data(b"a,b,c\n1,0,1\n0,0,1\n", "x").domain) == 3
    with pytest.raises(ParseError, match="x: 10 columns; at most 9 are read"):
        parse_data(b"1,0,1,0,1,0,1,0,1,0\n" * 3, "x")


def test_quotes_after_a_backslash_are_read_as_r_writes_them() -> None:
    lines = ['"title" "n"', *(f'"{k % 2} \\"day\\" - of rest" {k % 3}' for k in range(12))]
    data = parse_data("\n".join(lines).encode(), "rows.txt")
    assert data.domain.states[0] == ('0 "day" - of rest', '1 "day" - of rest')
    folders = ["path,n", *(f'"C:\\{"ab"[k % 2]}\\",{k % 3}' for k in range(12))]
    data = parse_data("\n".join(folders).encode(), "rows.csv")
    assert data.domain.states[0] == ("C:\\a\\", "C:\\b\\")
