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
from typing import Any

import numpy as np

from contextwise.data.excel import workbook_table
from contextwise.data.options import RowOptions
from contextwise.data.table import (
    Column,
    Note,
    Sheet,
    arrow_table,
    column_of,
    frame_table,
    label_of,
)
from contextwise.data.text import text_table
from contextwise.errors import ContextwiseError, ParseError, require
from contextwise.formats.r_files import RArray, r_objects
from contextwise.support.effort import check_reading
from contextwise.support.files import most_unpacked, read_up_to, too_large, unpacked

EXTRA = "containers"
SPSS_ROWS_AT_ONCE = 2**14
"""The rows of a Parquet file that are unpacked before its size is checked again."""


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
            return (
                table
                if kind == "ZIP"
                else replace(table, notes=[Note(kind, "source"), *table.notes])
            )
    return None


def _zip(content: bytes, name: str, how: RowOptions) -> Sheet:
    """Read a sheet of an Excel workbook, or the only file of an archive."""
    if b"xl/" in content:
        return workbook_table(content, name, how)
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
    limit = most_unpacked(len(content))
    with archive.open(inside[0]) as file:
        content = unpacked(read_up_to(file, limit, name), name, limit)
    return container_table(content, name, how) or text_table(content, name, how)


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
        read = getattr(pyreadstat, f"read_{suffix[1:]}")
        how: dict[str, Any] = {"user_missing": True} if suffix == ".sav" else {}
        _, meta = read(path, metadataonly=True, **how)
        declared = meta.missing_ranges if how else {}
        width = sum(meta.variable_storage_width.values()) or 8
        most = most_unpacked(len(content)) // width
        rows = meta.number_rows or 0
        if rows <= most:  # the number may be unknown, or wrong
            frame, meta = read(path, row_limit=most + 1)
            rows = len(frame)
        if rows > most:
            raise too_large(name, most * width)
    notes = [
        Note(f"missing by the file: {_spans(spans)} of {column!r}", "decision", column)
        for column, spans in declared.items()
    ]
    short = [name for name, kind in meta.readstat_variable_types.items() if kind == "float"]
    frame = frame.astype(dict.fromkeys(short, "float32"))  # 0.1 is not 0.10000000149
    for column, labels in meta.variable_value_labels.items():
        values = set(frame[column].dropna().unique())
        used = {value: str(label) for value, label in labels.items() if value in values}
        if values and len(used) == len(values):
            distinct, twice = _distinct_labels(used)
            if twice:
                text = f"several codes of {column!r} are called {twice}: now with the code"
                notes.append(Note(text, "renamed", column))
            frame[column] = pandas.Categorical(
                frame[column].map(distinct),
                categories=[*distinct.values()],
                ordered=meta.variable_measure.get(column) == "ordinal",
            )
        else:
            notes += _named_codes(column, used)
    table = frame_table(frame, name)
    return replace(table, notes=[*table.notes, *notes])


def _spans(spans: list[dict[str, Any]]) -> str:
    ends = [(label_of(span["lo"]), label_of(span["hi"])) for span in spans]
    return ", ".join(low if low == high else f"{low} to {high}" for low, high in ends)


def _named_codes(column: str, labels: dict[Any, str]) -> list[Note]:
    """Ask about the codes among numbers that the file gives a name, such as 99 Refused."""
    shown = ", ".join(f"{label_of(value)} is {label.strip()!r}" for value, label in labels.items())
    lost = [label_of(value) for value, label in labels.items() if _NO_ANSWER.search(label)]
    if lost:
        option = "--na " + ",".join(f"{column}={code}" for code in lost)
        text = (
            f"codes among the numbers of {column!r}: {shown}; {option} if they are missing values"
        )
        return [Note(text, "question", column, option)]
    text = f"the names of some codes of {column!r} are left out: {shown}"
    return [Note(text, "dropped", column)] if labels else []


_NO_ANSWER = re.compile(
    r"refus|know|no answer|not answer|missing|not appl|\bn/?a\b|\bi?nap\b|\biap\b|\bdk\b|skip|"
    r"no response|not asked|keine angabe|weiß nicht",
    re.I,
)


def _distinct_labels(labels: dict[Any, str]) -> tuple[dict[Any, str], str]:
    """Add the code to labels that occur twice, and return the first of them, else ""."""
    plain = [label_of(label).strip() for label in labels.values()]
    twice = {label for label in plain if plain.count(label) > 1}
    distinct = {
        value: f"{label} ({label_of(value)})" if label in twice else label
        for (value, _), label in zip(labels.items(), plain, strict=True)
    }
    return distinct, repr(min(twice)) if twice else ""


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
    """Read Parquet or Feather in parts, up to the limit of what may be unpacked."""
    pyarrow, most = require("pyarrow", EXTRA), most_unpacked(len(content))
    source = pyarrow.BufferReader(content)
    if content[:4] == b"FEA1":
        table = require("pyarrow.feather", EXTRA).read_table(source)
    else:
        parts: Iterator[Any]
        if content[:4] == b"PAR1":
            file = require("pyarrow.parquet", EXTRA).ParquetFile(source)
            schema, described = file.schema_arrow, file.metadata
            groups = map(described.row_group, range(described.num_row_groups))
            if sum(group.total_byte_size for group in groups) > most:
                raise too_large(name, most)
            parts = file.iter_batches(batch_size=SPSS_ROWS_AT_ONCE)
        else:
            file = require("pyarrow.ipc", EXTRA).open_file(source)
            schema = file.schema
            parts = map(file.get_batch, range(file.num_record_batches))
        batches, size = [], 0
        for part in parts:
            check_reading()
            size += part.nbytes
            if size > most:
                raise too_large(name, most)
            batches.append(part)
        table = pyarrow.Table.from_batches(batches, schema)
    return arrow_table(table, name)


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
