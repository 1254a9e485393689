"""Hold the columns of a source before anything is decided: distinct labels and a code per row."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from functools import cached_property
from typing import Any, Literal
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from contextwise.data.notation import (
    COMMA,
    POINT,
    SIGNS,
    UNCLEAR,
    decimal_sign,
    numbers_of,
    readings,
)
from contextwise.errors import ContextwiseError, DomainError, ParseError, require
from contextwise.models.domain import Domain, listed
from contextwise.support.arrays import BoolArray, FloatArray, IntArray
from contextwise.support.effort import check_reading

NoteKind = Literal["source", "separator", "decision", "dropped", "renamed", "question"]


class Note(str):
    """A sentence about how data was read, with its kind, its column and the option to change it.

    >>> note = Note("column 'id' dropped", "dropped", "id", "--columns")
    >>> print(note, note.kind, note.column, note.option, sep="; ")
    column 'id' dropped; dropped; id; --columns
    """

    __slots__ = ("column", "kind", "option")
    kind: NoteKind
    column: str
    option: str

    def __new__(
        cls, text: str, kind: NoteKind = "decision", column: str = "", option: str = ""
    ) -> Note:
        note = super().__new__(cls, text)
        note.kind, note.column, note.option = kind, column, option
        return note

    def __reduce__(self) -> tuple[Any, ...]:
        return Note, (str(self), self.kind, self.column, self.option)


@dataclass(frozen=True, eq=False)
class Column:
    """A column: its distinct labels, and for each row the place of its label, -1 if it is empty.

    ``declared`` has the states if the source declares the column a category, and ``in_order`` says
    that it orders them. ``decimal`` is the decimal sign of its numbers, if another column, the
    source or the user says so.
    """

    name: str
    labels: tuple[str, ...]
    codes: IntArray
    declared: tuple[str, ...] | None = None
    decimal: str = ""
    in_order: bool = False

    @cached_property
    def counts(self) -> IntArray:
        """How many rows have each label."""
        return np.bincount(self.codes + 1, minlength=len(self.labels) + 1)[1:]

    @cached_property
    def numbers(self) -> FloatArray:
        """The number that each label stands for; NaN if it is not a number."""
        return numbers_of(self.labels, self.decimal)

    @cached_property
    def has_two_readings(self) -> bool:
        """True if points or commas in the numbers may be decimal signs or mark thousands."""
        return decimal_sign(self.labels) == UNCLEAR

    @property
    def is_unclear(self) -> bool:
        """True if its numbers have two readings, and nothing decides."""
        return not self.decimal and self.has_two_readings

    @property
    def is_numeric(self) -> bool:
        """True if there are labels and all stand for numbers."""
        return len(self.labels) > 0 and not bool(np.isnan(self.numbers).any())

    @property
    def has_fractions(self) -> bool:
        """True if some label stands for a number that is not whole."""
        return bool((self.numbers % 1 > 0).any())

    @property
    def is_mostly_numeric(self) -> bool:
        """True if at most a tenth of the labels are no numbers, such as marks of missing values."""
        return 10 * int(np.isnan(self.numbers).sum()) <= max(10, len(self.labels))

    @cached_property
    def has_padded_twins(self) -> bool:
        """True for labels such as 250.1 and 250.10: equal numbers, but two codes."""
        padded = [x for x in self.labels if x[-1:] == "0" and POINT in x and x[-2:] != ".0"]
        return bool({x.rstrip("0") for x in padded} & set(self.labels))

    @property
    def missing(self) -> int:
        """The number of empty cells."""
        return int((self.codes < 0).sum())

    def take(self, rows: Any) -> Column:
        """Return some of the rows; labels that no longer occur are left out."""
        return self.mapped(self.labels, self.codes[rows])

    def mapped(self, labels: Sequence[str | None], codes: IntArray | None = None) -> Column:
        """Return the column with other labels: equal ones are merged, None becomes empty."""
        codes = self.codes if codes is None else codes
        # Shifted by one, because `bincount` refuses the -1 of empty cells.
        used = np.bincount(codes + 1, minlength=len(labels) + 1)[1:] > 0
        kept = dict.fromkeys(
            label for label, keep in zip(labels, used, strict=True) if keep and label is not None
        )
        if len(kept) == len(labels):  # all occur and differ, so each keeps its place
            return replace(self, labels=tuple(kept), codes=codes)
        place: dict[str | None, int] = {label: k for k, label in enumerate(kept)}
        # The last entry keeps the code -1 of empty cells.
        moved = np.array([place.get(label, -1) for label in labels] + [-1], dtype=np.int64)
        return replace(self, labels=tuple(kept), codes=moved[codes])


@dataclass(frozen=True, eq=False)
class Sheet:
    """The columns of a source, and what was decided while it was read.

    ``lines`` has the line of each row in a file. ``are_codes`` marks columns without names, whose
    whole numbers are codes. ``counts`` is the column that tells how often each row occurs, if the
    source says so. ``decimal`` is the decimal sign that the separator suggests. ``left_out`` counts
    rows that were dropped, by reason. ``given`` has the names of a frame, also those given twice.
    """

    columns: list[Column]
    rows: int
    file: str | None = None
    lines: IntArray | None = None
    are_codes: bool = False
    notes: list[Note] = field(default_factory=list)
    counts: str | None = None
    decimal: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)
    given: Sequence[str] = ()

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def is_array(self) -> bool:
        """True for cells without names or a file: an array or a list of rows."""
        return self.are_codes and self.file is None

    def column(self, name: str) -> Column:
        return self.columns[self.names.index(name)]

    def error(self, row: int, message: str) -> ContextwiseError:
        """Return an error about a row."""
        if self.file is None:
            return DomainError(f"row {row} of the data: {message}")
        line = None if self.lines is None else int(self.lines[row])
        return ParseError(message, path=self.file, line=line)

    def take(self, kept: BoolArray) -> Sheet:
        """Return some of the rows."""
        columns = [column.take(kept) for column in self.columns]
        lines = None if self.lines is None else self.lines[kept]
        return replace(self, columns=columns, rows=int(kept.sum()), lines=lines)

    def only(self, names: Iterable[str]) -> Sheet:
        """Return the table with some of its columns."""
        columns = {column.name: column for column in self.columns}
        return replace(self, columns=[columns[name] for name in names])


# -- numbers and labels ----------------------------------------------------------------------------


def with_decimals(
    table: Sheet, chosen: Mapping[str | None, str], learned: Mapping[str, str]
) -> Sheet:
    """Settle the decimal sign of each column whose numbers have two readings.

    The first of these decides: the user, the other values of the column, the other columns (not
    codes such as 250.1 and 250.10), and the rows that a model was learned from.
    """
    signs = []
    for column in table.columns:
        check_reading()
        signs.append(decimal_sign(column.labels))
    shown = {
        sign
        for sign, column in zip(signs, table.columns, strict=True)
        if sign in SIGNS and column.is_mostly_numeric and not column.has_padded_twins
    }
    columns, notes = [], [*table.notes]
    for sign, column in zip(signs, table.columns, strict=True):
        decimal = chosen.get(column.name, chosen.get(None, ""))
        if not decimal and sign == UNCLEAR and not column.decimal:
            decimal = next(iter(shown)) if len(shown) == 1 else learned.get(column.name, "")
            decimal = decimal or ("" if shown else table.decimal)
            if decimal and column.is_numeric:
                label, *numbers = readings(column.labels)
                number = label_of(numbers[decimal == COMMA][column.labels.index(label)])
                word = "comma" if decimal == POINT else "point"
                text = f"{label} of {column.name!r} is {number} (--decimal {word})"
                notes.append(Note(text, "question", column.name, f"--decimal {word}"))
        columns.append(replace(column, decimal=decimal) if decimal else column)
    return replace(table, columns=columns, notes=notes)


def label_of(cell: Any) -> str:
    """Return the label of a cell; a whole float stands for its int."""
    if isinstance(cell, str):
        return cell if cell.isascii() else normalize("NFC", cell)
    if isinstance(cell, bool | np.bool_):
        return str(bool(cell))
    if isinstance(cell, np.datetime64 | np.timedelta64):  # the latter is an integer for NumPy
        cell = cell.astype(f"{cell.dtype.name.partition('[')[0]}[us]").item()
    if isinstance(cell, int | np.integer):
        return str(int(cell))
    if isinstance(cell, float | np.floating):
        return str(int(cell)) if float(cell).is_integer() else repr(float(cell))
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace")
    if isinstance(cell, datetime) and cell.time() == time():
        cell = cell.date()
    if isinstance(cell, date | time | timedelta) or type(cell).__name__ in ("Interval", "Period"):
        return str(cell)
    if type(cell).__name__ == "Decimal":
        return label_of(float(cell))
    raise DomainError(f"{cell!r} is not a state; expected a text or a number")


def is_empty(cell: object) -> bool:
    """Check for None, NaN, and pandas' NA and NaT."""
    return (
        cell is None
        or (isinstance(cell, float | np.floating) and bool(np.isnan(cell)))
        or type(cell).__name__ in ("NAType", "NaTType")
        or (isinstance(cell, np.datetime64 | np.timedelta64) and bool(np.isnat(cell)))
    )


def column_of(name: str, cells: Any) -> Column:
    """Return a column of Python objects or of an array."""
    try:
        return _column(name, *_distinct(cells))
    except DomainError as error:
        raise DomainError(f"column {name!r}: {error}") from None


def _column(name: str, distinct: Sequence[Any], codes: IntArray) -> Column:
    """Return the column of some distinct cells, and for each row the number of its cell."""
    labels = [None if is_empty(cell) else label_of(cell) for cell in distinct]
    are_texts = any(isinstance(cell, str) for cell in distinct)
    return Column(name, (), codes, decimal="" if are_texts else POINT).mapped(labels, codes)


def category_of(name: str, states: Iterable[Any], codes: Any, in_order: bool = False) -> Column:
    """Return the column of a declared category; a state that no row has stays declared."""
    places = np.asarray(codes, dtype=np.int64)
    labels = tuple(map(label_of, states))
    return Column(name, (), places, labels, in_order=in_order).mapped(labels, places)


def _distinct(cells: Any) -> tuple[list[Any], IntArray]:
    """Return the distinct cells, and for each row the number of its cell."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "iuf":
        distinct, inverse = np.unique(cells, return_inverse=True)
        if cells.dtype.kind == "f" and cells.dtype.itemsize < 8:
            return [float(str(cell)) for cell in distinct], inverse.reshape(-1).astype(np.int64)
        return distinct.tolist(), inverse.reshape(-1).astype(np.int64)
    known: dict[tuple[type, Any], int] = {}  # with the type as key too, because True == 1 == 1.0
    try:
        numbers = (known.setdefault((type(cell), cell), len(known)) for cell in cells)
        codes = np.fromiter(numbers, np.int64, len(cells))
    except TypeError:
        raise DomainError("a cell is a list or a mapping; expected a text or a number") from None
    return [cell for _, cell in known], codes


# -- tables of Python objects ----------------------------------------------------------------------


def python_table(data: Any, domain: Domain | None) -> Sheet:
    """Return the table of a frame, an array, a list of rows or of mappings."""
    if hasattr(data, "iloc") and hasattr(data, "columns"):
        table = frame_table(data)
    elif hasattr(data, "lazy") and hasattr(data, "collect"):  # a LazyFrame of polars
        return python_table(data.collect(), domain)
    elif hasattr(data, "__arrow_c_stream__"):
        table = arrow_table(require("pyarrow", "containers").table(data))
    elif hasattr(data, "__dataframe__"):
        table = arrow_table(_interchanged(data))
    elif hasattr(data, "to_pandas"):
        table = frame_table(data.to_pandas())
    else:
        return _rows_table(data, domain)
    if domain is not None:
        check_unique([name for name in table.given if name in domain.positions])
    return table


def _interchanged(data: Any) -> Any:
    """Return the pyarrow Table of an object with only the interchange protocol of frames."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the protocol is deprecated
            return require("pyarrow.interchange", "containers").from_dataframe(data)
    except Exception as error:  # its types are few, and its errors of many kinds
        raise DomainError(
            f"cannot read this {type(data).__name__}: {error}; convert it to pandas first"
        ) from None


def _rows_table(data: Any, domain: Domain | None) -> Sheet:
    """Return the table of an array, a list of rows or of mappings."""
    width = None if domain is None else len(domain)
    if hasattr(data, "shape"):
        array = _unmasked(data)
        if array.ndim != 2 or width not in (None, array.shape[1]):
            expected = "cells" if width is None else f"{width} cells"
            raise DomainError(
                f"the data has shape {array.shape}; expected rows of {expected}, as in a list of "
                "lists or a frame"
            )
        return _unnamed(list(array.T), len(array), domain)
    if isinstance(data, Mapping) and _are_columns(list(data.values())):
        columns = [column_of(str(name), cells) for name, cells in data.items()]
        return Sheet(columns, len(columns[0].codes))
    if isinstance(data, bytes | Mapping) or not isinstance(data, Iterable):
        raise DomainError(
            f"{type(data).__name__!r} cannot be read as data; pass a frame, an array, a list of "
            "rows (lists or mappings), or a path"
        )
    rows = list(data)
    if rows and isinstance(rows[0], Mapping):
        return _mappings_table(rows, domain)
    cells = []
    for r, row in enumerate(rows):
        if isinstance(row, str | bytes) or not isinstance(row, Iterable):
            raise DomainError(f"row {r} of the data is {row!r}; expected a list of cells")
        cells.append(list(row))
        width = len(cells[0]) if width is None else width
        if len(cells[r]) != width:
            raise DomainError(
                f"row {r} of the data has {len(cells[r])} cells for {width} variables"
            )
    return _unnamed([[row[v] for row in cells] for v in range(width or 0)], len(rows), domain)


def _are_columns(cells: Sequence[Any]) -> bool:
    """Check for lists or arrays of one length."""
    are_lists = all(
        hasattr(c, "__len__") and not isinstance(c, str | bytes | Mapping) for c in cells
    )
    return are_lists and len({*map(len, cells)}) == 1


def _mappings_table(rows: Sequence[Mapping[Any, Any]], domain: Domain | None) -> Sheet:
    seen = dict.fromkeys(name for row in rows for name in row)
    needed = seen if domain is None else dict.fromkeys(domain.names)
    for r, row in enumerate(rows):
        lacking = [name for name in needed if name not in row]
        if lacking:
            raise DomainError(f"row {r} of the data lacks {listed(map(str, lacking))}")
    # Besides a domain, such as counts and subjects.
    names = [*needed, *(n for n in seen if n not in needed and all(n in row for row in rows))]
    named = [column_of(str(name), [row[name] for row in rows]) for name in names]
    return Sheet(named, len(rows))


def _unnamed(columns: Sequence[Any], rows: int, domain: Domain | None) -> Sheet:
    names = [f"v{v}" for v in range(len(columns))] if domain is None else domain.names
    cells = zip(names, columns, strict=True)
    return Sheet([column_of(*both) for both in cells], rows, are_codes=domain is None)


def frame_table(frame: Any, file: str | None = None) -> Sheet:
    """Return the table of a pandas frame; its categoricals are declared categories."""
    columns = []
    given = [normalize("NFC", str(name)) for name in frame.columns]
    names, notes = unique_names(given)
    index = ", ".join(str(name) for name in frame.index.names if name is not None)
    if index:
        text = f"the index ({index}) is left out; reset_index() makes it a column"
        notes.append(Note(text, "dropped"))
    elif frame.index.dtype.kind not in "iuf":
        notes.append(Note("the names of the rows are left out", "dropped"))
    for place, name in enumerate(names):
        series = frame.iloc[:, place]
        kind = getattr(series, "cat", None)
        if kind is None:
            columns.append(column_of(name, np.asarray(series)))
        else:
            columns.append(category_of(name, kind.categories, kind.codes, bool(kind.ordered)))
    return Sheet(columns, len(frame), file, notes=notes, given=given)


def arrow_table(table: Any, file: str | None = None) -> Sheet:
    """Return the table of a pyarrow Table; its dictionaries are declared categories."""
    columns = []
    table = table.unify_dictionaries()
    index = re.compile(r"__index_level_\d+__")  # as pandas stores the names of the rows
    kept = [k for k, name in enumerate(table.column_names) if not index.fullmatch(name)]
    given = [normalize("NFC", table.column_names[k]) for k in kept]
    names, notes = unique_names(given)
    if len(kept) < table.num_columns:
        notes.append(Note("the names of the rows are left out", "dropped"))
    for name, place in zip(names, kept, strict=True):
        try:
            columns.append(_arrow_column(name, table.column(place), table.field(place).metadata))
        except DomainError as error:
            raise DomainError(f"column {name!r}: {error}") from None
    return Sheet(columns, table.num_rows, file, notes=notes, given=given)


def _arrow_column(name: str, cells: Any, metadata: Mapping[bytes, bytes] | None) -> Column:
    import pyarrow

    kind, is_category = cells.type, pyarrow.types.is_dictionary(cells.type)
    try:
        coded = cells if is_category else cells.dictionary_encode()
    except pyarrow.ArrowException:  # of lists and other types
        return column_of(name, cells.to_pylist())
    parts = coded.chunks
    codes = [part.indices.cast("int64").fill_null(-1).to_numpy() for part in parts]
    places = np.concatenate([np.empty(0, dtype=np.int64), *codes])
    distinct = parts[0].dictionary.to_pylist() if parts else []
    if pyarrow.types.is_float32(kind) or pyarrow.types.is_float16(kind):
        distinct = [x and float(str(np.float32(x))) for x in distinct]
    if not is_category:
        return _column(name, distinct, places)
    # The dictionary of a Categorical of polars may have states of other frames.
    column = category_of(name, distinct, places, kind.ordered)
    is_shared = any(b"PL_CATEGORICAL" in key for key in metadata or ())
    return replace(column, declared=column.labels) if is_shared else column


def unique_names(names: Sequence[str]) -> tuple[list[str], list[Note]]:
    """Number the names that occur twice, and return what was renamed."""
    unique: dict[str, None] = {}
    stated, notes = set(names), list[Note]()
    for name in names:
        free, number = name, 1
        while free in unique or (number > 1 and free in stated):
            number += 1
            free = f"{name}.{number}"
        if free != name:
            text = f"two columns are called {name!r}; the second is called {free!r} here"
            notes.append(Note(text, "renamed", free))
        unique[free] = None
    return list(unique), notes


def check_unique(names: Sequence[str], path: str | None = None, line: int | None = None) -> None:
    """Raise if two of the columns that are wanted have the same name."""
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise ParseError(
            f"two columns have the name {listed(twice)}; rename or remove one of them",
            path=path,
            line=line,
        )


def _unmasked(array: Any) -> npt.NDArray[Any]:
    """Return a plain array; masked cells become None, which is missing."""
    plain = np.asarray(array)
    if np.ma.is_masked(array):
        plain = plain.astype(object)
        plain[np.ma.getmaskarray(array)] = None
    return plain
