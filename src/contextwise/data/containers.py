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

from contextwise.data.options import RowOptions
from contextwise.data.table import Sheet, frame_table, is_empty, label_of
from contextwise.data.text import rows_table, text_table
from contextwise.errors import ContextwiseError, ParseError, require
from contextwise.formats.r_files import RTable, column_names, r_objects

EXTRA = "containers"


def container_table(content: bytes, name: str, how: RowOptions) -> Sheet | None:
    """Read a file of another program; return None if it is text."""
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
            inside = [entry for entry in archive.namelist() if not entry.endswith("/")]
        if len(inside) != 1:
            held = f" of {', '.join(inside[:5])}" if inside else ""
            raise ParseError(
                f"this is a ZIP archive{held}, not an Excel workbook; unpack it", path=name
            )
        content = archive.read(inside[0])
        return container_table(content, name, how) or text_table(content, name, how)
    book = require("openpyxl", EXTRA).load_workbook(
        io.BytesIO(content), read_only=True, data_only=True
    )
    sheets = {
        sheet.title: [
            ["" if is_empty(cell) else label_of(cell).strip() for cell in row]
            for row in sheet.iter_rows(values_only=True)
        ]
        for sheet in book.worksheets
    }
    filled = {title: rows for title, rows in sheets.items() if any(map(any, rows))}
    if not filled:
        raise ParseError("this workbook is empty", path=name)
    title, rows = next(iter(filled.items()))
    columns = [column for column in zip_longest(*rows, fillvalue="") if any(column)]
    rows = [list(row) for row in zip(*columns, strict=True) if any(row)]
    notes = ["Excel"]
    if len(filled) > 1:
        notes.append(f"only the sheet {title!r} was read, of {', '.join(map(repr, filled))}")
    return rows_table(rows, name, how, notes)


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
            text = "no data frame, table or matrix; a network is a model, not rows"
        raise ParseError(f"this file of R has {text}", path=name)
    (value,) = usable.values()
    pandas = require("pandas", EXTRA)
    if isinstance(value, RTable):
        return replace(frame_table(_counts_frame(value.counts), name), counts=COUNTS)
    if not hasattr(value, "columns"):
        value = pandas.DataFrame(value.to_numpy(), columns=column_names(value))
    return frame_table(value, name)


COUNTS = "Freq"


def _kind_of(value: object) -> str:
    """Return what an object of R is, if it has rows."""
    if isinstance(value, RTable):
        return "table"
    shape = getattr(value, "shape", ())
    if len(shape) != 2 or 0 in shape:
        return ""
    return "data frame" if hasattr(value, "columns") else "matrix"


def _counts_frame(counts: Any) -> Any:
    """Return one row per cell of a table, with its states and its count."""
    pandas = require("pandas", EXTRA)
    names = [
        f"Var{k + 1}" if str(dim).startswith("dim_") else str(dim)
        for k, dim in enumerate(counts.dims)
    ]
    states = [[str(state) for state in counts.coords[dim].values] for dim in counts.dims]
    index = pandas.MultiIndex.from_product(states, names=names).to_frame(index=False)
    for column, labels in zip(names, states, strict=True):
        index[column] = pandas.Categorical(index[column], categories=labels)
    return index.assign(**{COUNTS: counts.to_numpy().astype(int).ravel()})


def _arrow(content: bytes, name: str, _: RowOptions) -> Sheet:
    pyarrow = require("pyarrow", EXTRA)
    if content[:4] == b"PAR1":
        table = require("pyarrow.parquet", EXTRA).read_table(pyarrow.BufferReader(content))
    else:
        table = require("pyarrow.feather", EXTRA).read_table(pyarrow.BufferReader(content))
    frame = table.to_pandas()
    index = [level for level in frame.index.names if level is not None]
    return frame_table(frame.reset_index() if index else frame, name)


def _old_excel(content: bytes, name: str, _: RowOptions) -> Sheet:
    raise ParseError("this is an old Excel workbook (.xls); save it as .xlsx or CSV", path=name)


def _database(content: bytes, name: str, _: RowOptions) -> Sheet:
    raise ParseError("this is an SQLite database; export one table as CSV", path=name)


CONTAINERS: dict[str, tuple[bytes, Callable[[bytes, str, RowOptions], Sheet]]] = {
    "ZIP": (rb"PK\x03\x04", _zip),
    "SPSS": (rb"\$FL[23]", lambda content, name, _: _labelled(content, name, ".sav")),
    "Stata": (
        rb"<stata_dta>|[\x6c-\x73][\x01\x02]\x01\x00",
        lambda content, name, _: _labelled(content, name, ".dta"),
    ),
    "R": (rb"RD[AX][23]\n|[XA]\n\x00\x00|BZh|\xfd7zXZ", _r),
    "Parquet": (rb"PAR1", _arrow),
    "Feather": (rb"ARROW1|FEA1", _arrow),
    "old Excel": (rb"\xd0\xcf\x11\xe0", _old_excel),
    "SQLite": (rb"SQLite format 3\x00", _database),
}
"""The first bytes of each kind of file, and its reader."""
