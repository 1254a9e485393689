"""Excel: far cells, hidden sheets, formulas without results."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

import openpyxl
import pytest

from contextwise.data import UnclearData
from contextwise.data.excel import MOST_GRID
from contextwise.data.options import row_options
from contextwise.data.rows import parse_data
from contextwise.errors import ParseError
from memory import peak


def workbook(*sheets: Sequence[Sequence[object]]) -> tuple[openpyxl.Workbook, Callable[[], bytes]]:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for k, rows in enumerate(sheets):
        sheet = book.create_sheet(f"sheet{k}")
        for row in rows:
            sheet.append(row)

    def content() -> bytes:
        file = io.BytesIO()
        book.save(file)
        return file.getvalue()

    return book, content


PEOPLE = [["f", "no"], ["m", "yes"], ["f", "yes"]] * 4

ROWS: Sequence[Sequence[object]] = [["sex", "ill"], *PEOPLE]


def test_far_formatted_cells_cost_nothing() -> None:
    book, content = workbook(ROWS)
    book["sheet0"].cell(1_048_576, 16_384).number_format = "0.00"
    parse_data(workbook(ROWS)[1](), "rows.xlsx")  # so that everything is imported
    far = content()
    with peak(2**22):
        assert len(parse_data(far, "rows.xlsx")) == 12


def test_a_sheet_of_far_cells_is_read_as_its_cells() -> None:
    book, content = workbook([["a", "b"]])
    book["sheet0"].cell(1_048_576, 1, "x")
    book["sheet0"].cell(1_048_576, 16_384, "y")
    with pytest.raises(UnclearData, match="1 column cannot") as raised:
        parse_data(content(), "rows.xlsx")
    assert [column.name for column in raised.value.summary.columns] == ["a", "b", "v2"]


def test_a_sheet_that_is_nearly_empty_is_refused() -> None:
    count = int(MOST_GRID**0.5) + 1
    book, content = workbook([])
    for k in range(1, count + 1):
        book["sheet0"].cell(k, k, "x")
    with pytest.raises(ParseError, match="of this sheet hold something"):
        parse_data(content(), "rows.xlsx")


def test_hidden_sheets_are_left_out() -> None:
    book, content = workbook([["old", "names"], ["x", "y"]], ROWS)
    book["sheet0"].sheet_state = "hidden"
    data = parse_data(content(), "rows.xlsx")
    assert data.domain.names == ("sex", "ill")
    assert "hidden and not read: 'sheet0' (--object)" in data.notes
    named = parse_data(content(), "rows.xlsx", options=row_options(object="sheet0"))
    assert named.domain.names == ("old", "names")


def test_formulas_without_results_are_refused() -> None:
    _, content = workbook([*ROWS, ["m", '=IF(A2="f","no","yes")']])
    with pytest.raises(ParseError, match=r"'sheet0' has formulas .* \(the first at B14\)"):
        parse_data(content(), "rows.xlsx")


def test_a_title_page_in_front_of_the_table_is_left_out() -> None:
    about = [["About", ""], ["Made by", "somebody"], ["Date", "2020"]]
    table: list[Sequence[object]] = [["a", "b", "c"], *([k % 2, k % 3, k % 4] for k in range(24))]
    _, content = workbook(about, table)
    data = parse_data(content(), "rows.xlsx")
    assert data.domain.names == ("a", "b", "c")
    assert "only the sheet 'sheet1' was read, of 'sheet0', 'sheet1' (--object)" in data.notes
    first = parse_data(
        content(), "rows.xlsx", options=row_options(object="sheet0", category="About")
    )
    assert "About" in first.domain.names
    _, content = workbook(table, [[1, 2, 3, 4]])  # two tables: the first
    assert parse_data(content(), "rows.xlsx").domain.names == ("a", "b", "c")
