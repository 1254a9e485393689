"""Read the data files of Excel, SPSS, Stata, R, Parquet and Feather, known by their first bytes."""

from __future__ import annotations

import io
import os
import re
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import numpy as np

from contextwise.data.notation import Written
from contextwise.data.options import RowOptions
from contextwise.data.table import Column, Sheet, column_of, frame_table, is_empty, label_of
from contextwise.data.text import sheet_table, text_table
from contextwise.errors import ContextwiseError, ParseError, require
from contextwise.formats.r_files import RArray, r_objects
from contextwise.support.files import unpacked

EXTRA = "containers"


def container_table(content: bytes, name: str, how: RowOptions) -> Sheet | None:
    """Read a file of another program; return None if it is text."""
    for start, message in REFUSED.items():
        if content.startswith(start):
            raise ParseError(message, path=name)
    for kind, (pattern, reader) in CONTAINERS.items():
        if re.match(pattern, content, re.S):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # about styles and types that do not matter
                    table = reader(content, name, how)
            except ContextwiseError:
                raise
            except Exception as error:  # these libraries raise errors of many kinds
                raise ParseError(f"cannot read this {kind} file: {error}", path=name) from None
            if not table.rows or not table.columns:
                raise ParseError(f"there are no rows in this {kind} file", path=name)
            return table if kind == "ZIP" else replace(table, notes=[kind, *table.notes])
    return None


def _zip(content: bytes, name: str, how: RowOptions) -> Sheet:
    """Read the first sheet with cells of an Excel workbook, or the only file of an archive."""
    if b"xl/" not in content:
        inside: list[str] = []
        if zipfile.is_zipfile(io.BytesIO(content)):
            archive = zipfile.ZipFile(io.BytesIO(content))
            inside = [
                entry  # macOS adds its own files
                for entry in archive.namelist()
                if not entry.endswith(("/", ".DS_Store")) and not entry.startswith("__MACOSX/")
            ]
        if len(inside) != 1:
            held = f" of {', '.join(inside[:5])}" if inside else ""
            raise ParseError(
                f"this is a ZIP archive{held}, not an Excel workbook; unpack it", path=name
            )
        content = unpacked(archive.read(inside[0]), name)
        return container_table(content, name, how) or text_table(content, name, how)
    book = require("openpyxl", EXTRA).load_workbook(io.BytesIO(content), data_only=True)
    sheets = {sheet.title: _cells_of(sheet) for sheet in book.worksheets}
    filled = {title: rows for title, rows in sheets.items() if any(map(any, rows))}
    if not filled:
        raise ParseError("this workbook is empty", path=name)
    title, rows = next(iter(filled.items()))
    columns = [column for column in zip_longest(*rows, fillvalue="") if any(column)]
    rows = [list(row) for row in zip(*columns, strict=True) if any(row)]
    notes = ["Excel"]
    if len(filled) > 1:
        notes.append(f"only the sheet {title!r} was read, of {', '.join(map(repr, filled))}")
    return sheet_table(rows, name, how, notes)


def _cells_of(sheet: Any) -> list[list[str]]:
    """Return the texts of a sheet; cells that are merged down a column all have its value."""
    cells = [[_text(cell) for cell in row] for row in sheet.iter_rows(values_only=True)]
    for area in sheet.merged_cells.ranges:
        if area.min_col == area.max_col:
            for row in cells[area.min_row : area.max_row]:
                row[area.min_col - 1] = cells[area.min_row - 1][area.min_col - 1]
    return cells


def _text(cell: Any) -> str:
    text = "" if is_empty(cell) else label_of(cell).strip()
    return text if isinstance(cell, str) else Written(text)


@contextmanager
def _as_file(content: bytes, suffix: str) -> Iterator[str]:
    """Put the content into a file, for libraries that read only files."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"data{suffix}")
        with open(path, "wb") as file:
            file.write(content)
        yield path


def _labelled(content: bytes, name: str, suffix: str) -> Sheet:
    """Read SPSS or Stata; a column whose values all have labels is a declared category."""
    pyreadstat, pandas = require("pyreadstat", EXTRA), require("pandas", EXTRA)
    with _as_file(content, suffix) as path:
        frame, meta = getattr(pyreadstat, f"read_{suffix[1:]}")(path)
    for column, labels in meta.variable_value_labels.items():
        values = set(frame[column].dropna().unique())
        if values and values <= set(labels):
            used = [label for value, label in labels.items() if value in values]
            frame[column] = pandas.Categorical(
                frame[column].map(labels), categories=list(dict.fromkeys(used))
            )
    return frame_table(frame, name)


def _r(content: bytes, name: str, how: RowOptions) -> Sheet:
    """Read a data frame, a table or a matrix of R."""
    objects = r_objects(content, name)
    usable = {key: value for key, value in objects.items() if _kind_of(value)}
    if how.object is not None:
        if how.object not in usable:
            held = ", ".join(usable) or "none"
            raise ParseError(
                f"there is no object {how.object!r} to read; the objects are {held}", path=name
            )
        usable = {how.object: usable[how.object]}
    if len(usable) != 1:
        shown = ", ".join(f"{key} ({_kind_of(value)})" for key, value in usable.items())
        text = f"several objects: {shown}; choose one with --object NAME"
        if not usable:
            text = (
                "no data frame, table or matrix; in R, make one with as.data.frame(x) or "
                "as.table(x) (a network is a model, not rows)"
            )
        raise ParseError(f"this file of R has {text}", path=name)
    (value,) = usable.values()
    if not isinstance(value, RArray):
        return frame_table(value, name)
    if value.is_table:
        return _counts_table(value, name)
    cells, (rows, columns) = value.cells, value.labels
    columns = columns or [f"V{k + 1}" for k in range(cells.shape[1])]
    named = [column_of(label, cells[:, k].tolist()) for k, label in enumerate(columns)]
    return Sheet([column_of("", rows), *named] if rows else named, len(cells), name)


COUNTS = "Freq"


def _kind_of(value: object) -> str:
    """Return what an object of R is, if it has rows."""
    if not isinstance(value, RArray):
        return "data frame" if hasattr(value, "columns") else ""
    if value.is_table:
        return "table"
    return "matrix" if value.cells.ndim == 2 and value.cells.size and not value.classes else ""


def _counts_table(table: RArray, name: str) -> Sheet:
    """Return one row per cell of a table, with its states and its count."""
    columns = []
    for k, places in enumerate(np.indices(table.cells.shape).reshape(table.cells.ndim, -1)):
        states = tuple(table.labels[k]) or tuple(map(str, range(1, table.cells.shape[k] + 1)))
        columns.append(Column(table.dims[k] or f"Var{k + 1}", states, places, states))
    counts = column_of(COUNTS, table.cells.ravel().tolist())
    return Sheet([*columns, counts], table.cells.size, name, counts=COUNTS)


def _arrow(content: bytes, name: str, _: RowOptions) -> Sheet:
    pyarrow = require("pyarrow", EXTRA)
    if content[:4] == b"PAR1":
        table = require("pyarrow.parquet", EXTRA).read_table(pyarrow.BufferReader(content))
    else:
        table = require("pyarrow.feather", EXTRA).read_table(pyarrow.BufferReader(content))
    frame = table.to_pandas()
    index = [level for level in frame.index.names if level is not None]
    return frame_table(frame.reset_index() if index else frame, name)


CONTAINERS: dict[str, tuple[bytes, Callable[[bytes, str, RowOptions], Sheet]]] = {
    "ZIP": (rb"PK\x03\x04", _zip),
    "SPSS": (rb"\$FL[23]", lambda content, name, _: _labelled(content, name, ".sav")),
    "Stata": (
        rb"<stata_dta>|[\x6c-\x73][\x01\x02]\x01\x00",
        lambda content, name, _: _labelled(content, name, ".dta"),
    ),
    "R": (rb"RD[AX][23]\n|X\n\x00\x00|A\n[23]\n|BZh|\xfd7zXZ", _r),
    "Parquet": (rb"PAR1", _arrow),
    "Feather": (rb"ARROW1|FEA1", _arrow),
}
"""The first bytes of each kind of file, and its reader."""
REFUSED = {
    b"\xd0\xcf\x11\xe0": "this is an old Excel workbook (.xls); save it as .xlsx or CSV",
    b"SQLite format 3\x00": "this is an SQLite database; export one table as CSV",
}
"""The first bytes of files that are not read, and what to do about them."""
