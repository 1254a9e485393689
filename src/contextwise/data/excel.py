"""Read a sheet of an Excel workbook: only the cells that hold something, whatever is formatted."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import islice
from typing import Any

from contextwise.data.notation import Written
from contextwise.data.options import RowOptions
from contextwise.data.table import Note, Sheet, is_empty, label_of
from contextwise.data.text import LINES_AT_ONCE, SNIFFED, sheet_table
from contextwise.errors import ParseError, require
from contextwise.support.effort import check_reading
from contextwise.support.files import check_archive
from contextwise.support.machine import require_memory

CELL_BYTES = 200
"""The memory that a cell takes while a sheet is read."""
MOST_GRID, FEWEST_FILLED = 1_000_000, 0.02
"""A larger grid is refused if a smaller share of its cells holds something."""

Cells = dict[int, dict[int, str]]
"""The texts of a sheet by row and column."""


def workbook_table(content: bytes, name: str, how: RowOptions) -> Sheet:
    """Read the first visible sheet with cells of a workbook, or the one that the user names."""
    check_archive(content, name)
    book = require("openpyxl", "containers").load_workbook(
        io.BytesIO(content), data_only=True, read_only=True
    )
    shown = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    hidden = [sheet.title for sheet in book.worksheets if sheet not in shown]
    if how.object is not None:
        shown = [sheet for sheet in book.worksheets if sheet.title == how.object]
        if not shown:
            held = ", ".join(sheet.title for sheet in book.worksheets)
            raise ParseError(
                f"there is no sheet {how.object!r} to read; the sheets are {held}", path=name
            )
    notes = [Note("Excel", "source")]
    widths = {sheet.title: _width(sheet, name) for sheet in shown}
    filled = [title for title, width in widths.items() if width]
    if not filled:
        among = f"; its sheets {', '.join(map(repr, hidden))} are hidden (--object)" * bool(hidden)
        raise ParseError(f"this workbook is empty{among}", path=name)
    # One or two columns in front of a wider table are a title page.
    chosen = next((title for title in filled if widths[title] > 2), "") or max(
        filled, key=widths.__getitem__
    )
    cells = _cells(book[chosen], name)
    if len(filled) > 1:
        titles = ", ".join(map(repr, filled))
        text = f"only the sheet {chosen!r} was read, of {titles} (--object)"
        notes.append(Note(text, "dropped", option="--object"))
    if hidden and how.object is None:
        text = f"hidden and not read: {', '.join(map(repr, hidden))} (--object)"
        notes.append(Note(text, "dropped", option="--object"))
    return sheet_table(_grid(cells, name), sorted(cells), name, how, notes)


def _width(sheet: Any, name: str) -> int:
    """Return the largest number of cells that hold something in one of the first rows."""
    return max((len(texts) for _, texts in islice(_rows(sheet, name), SNIFFED)), default=0)


def _parser(sheet: Any, source: Any) -> Any:
    """Return openpyxl's parser of rows, which also collects formulas without a value."""
    reader = require("openpyxl.worksheet._reader", "containers")

    class Parser(reader.WorkSheetParser):  # type: ignore[misc, name-defined]
        uncomputed: list[str]

        def parse_cell(self, element: Any) -> Any:
            value = element.find(reader.VALUE_TAG)
            if element.find(reader.FORMULA_TAG) is not None:
                is_text = element.get("t") == "str"  # a formula may result in an empty text
                if value is None or not (value.text or is_text):
                    self.uncomputed = [*self.uncomputed[:4], element.get("r") or "?"]
            return super().parse_cell(element)

    book = sheet.parent
    parser = Parser(
        source,
        sheet._shared_strings,
        data_only=True,
        epoch=book.epoch,
        date_formats=book._date_formats,
        timedelta_formats=book._timedelta_formats,
    )
    parser.uncomputed = []
    return parser


def _rows(sheet: Any, name: str, parser: Any = None) -> Iterator[tuple[int, dict[int, str]]]:
    """Yield the number and the texts of each row that holds something."""
    with sheet._get_source() as source:
        parser = parser or _parser(sheet, source)
        parser.source = source
        for number, row in parser.parse():
            if not number % LINES_AT_ONCE:
                check_reading()
            texts = {cell["column"]: _text(cell["value"]) for cell in row}
            texts = {column: text for column, text in texts.items() if text}
            if texts:
                yield number, texts
        if parser.uncomputed:
            raise ParseError(
                f"sheet {sheet.title!r} has formulas whose results are not in the file (the first "
                f"at {parser.uncomputed[0]}); open it in Excel or LibreOffice and save it again",
                path=name,
            )


def _cells(sheet: Any, name: str) -> Cells:
    """Return the cells of a sheet; those merged down a column all have its value."""
    parser = _parser(sheet, None)
    cells = dict(_rows(sheet, name, parser))
    for area in parser.merged_cells.mergeCell if parser.merged_cells else ():
        first, row, last, bottom = area.bounds
        if first == last and first in cells.get(row, {}):
            for below in range(row + 1, bottom + 1) if bottom - row < len(cells) else cells:
                if row < below <= bottom and below in cells:
                    cells[below][first] = cells[row][first]
    return cells


def _grid(cells: Cells, name: str) -> list[list[str]]:
    """Return the rows and columns that hold something as a rectangle."""
    columns = sorted({column for row in cells.values() for column in row})
    size, filled = len(cells) * len(columns), sum(map(len, cells.values()))
    if size > MOST_GRID and filled < FEWEST_FILLED * size:
        raise ParseError(
            f"only {filled:,} of {size:,} cells of this sheet hold something; save the table by "
            "itself",
            path=name,
        )
    require_memory(CELL_BYTES * size, f"reading {name}", "save it as CSV")
    return [[row.get(column, "") for column in columns] for _, row in sorted(cells.items())]


def _text(cell: Any) -> str:
    text = "" if is_empty(cell) else label_of(cell).strip()
    return text if isinstance(cell, str) else Written(text)
