"""Read the data files of Excel, SPSS, Stata, R, Parquet and Feather, known by their first bytes."""

from __future__ import annotations

import bz2
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

from contextwise.data.options import RowOptions
from contextwise.data.table import Sheet, frame_table, is_empty, label_of
from contextwise.data.text import rows_table, text_table
from contextwise.errors import ContextwiseError, ParseError, require

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
                message = f"cannot read this {kind} file: {error}"
                if kind == "R":
                    message += (
                        "; in R, write rows with write.csv(x, 'rows.csv') and a network of bnlearn "
                        "with write.bif(fit, 'network.bif')"
                    )
                raise ParseError(message, path=name) from None
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


def _r(content: bytes, name: str, _: RowOptions) -> Sheet:
    pyreadr = require("pyreadr", EXTRA)
    content = bz2.decompress(content) if content[:3] == b"BZh" else content
    if b"data.frame" not in content:  # a table or a matrix, which pyreadr reads as a wide frame
        raise ParseError(
            "this R object is no data frame; in R, write a table with "
            "write.csv(as.data.frame(x), 'rows.csv'), and a network of bnlearn with "
            "write.bif(fit, 'network.bif')",
            path=name,
        )
    with _as_file(content, ".rda" if b"RD" in content[:3] else ".rds") as path:
        objects = pyreadr.read_r(path)
    frames = {key: frame for key, frame in objects.items() if len(getattr(frame, "columns", ()))}
    if len(frames) != 1:
        held = ", ".join(map(str, frames)) or "none"
        raise ParseError(
            f"expected one data frame, got {held}; save one of them with saveRDS()", path=name
        )
    return frame_table(next(iter(frames.values())), name)


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
