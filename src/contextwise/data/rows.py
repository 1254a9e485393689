"""Read rows of observed states from files, frames, arrays and lists: `as_data` makes `Data`.

**Files.** One row per line; cells are separated by commas, semicolons or tabs (or blanks between
whole numbers) and may be quoted as in any CSV file. With a domain, a first line that contains all
its names is a header, and other columns are ignored; otherwise the columns are the variables in
order. Without a domain, a first line of whole numbers is a row of codes, and any other first line
is a header.

**Variables and states** without a domain. A named column has the labels that occur in it, sorted; a
pandas categorical has its categories. A column without a name is called ``v0``, ``v1``, …; whole
numbers in it are codes, so that it has the states 0 to the largest. A whole float stands for its
int, and a bool for ``True`` or ``False``. A column with too many values to be a category is
refused.

**Missing values** are refused: None, NaN and pandas' NA; in a file an empty cell, ``*``, ``?``,
``NA`` and ``NaN`` too, unless a state has that label. Libra's row weights (``2.5|0,1,1``) are
refused, because counts are exact.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import islice
from pkgutil import get_data
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from contextwise.errors import ContextwiseError, DomainError, ParseError, require
from contextwise.models.domain import Domain, State, listed
from contextwise.models.structure import LogLinear, Structure
from contextwise.support import files
from contextwise.support.arrays import IntArray
from contextwise.support.formatting import plural

M = TypeVar("M", Structure, LogLinear)

DomainLike = Domain | Mapping[str, Sequence[State] | int]
DataLike = Any
"""A frame, an array, a list of rows, a path, the name of a bundled data set, or `Data`."""

BUNDLED = ("titanic", "women-math")
"""The bundled data sets; see the README in this folder for their sources."""

MISSING = frozenset({"", "*", "?", "NA", "NaN", "nan"})
LARGEST_CODE = 9_999
"""The largest code of a column without a name; larger numbers are measurements."""
FEWEST_ROWS, MOST_VALUES, MOST_FRACTIONS = 30, 20, 12
"""A column is not a category if it has over `MOST_FRACTIONS` different numbers that are not whole,
or, from `FEWEST_ROWS` rows on, more different values than `MOST_VALUES` and half the rows."""
SEPARATORS = "\t;,"
SNIFFED = 20
"""The number of lines that decide about the separator."""


@dataclass(frozen=True, eq=False)
class Data:
    """Rows over a domain, as positions of states.

    Attributes
    ----------
    domain : Domain
    rows : int array of shape (rows, variables)

    Examples
    --------
    >>> data = as_data([[0, 1], [1, 2]])
    >>> data
    Data(2 rows, 2 variables)
    >>> data.domain.cardinalities, data.take([1]).rows.tolist()
    ((2, 3), [[1, 2]])
    """

    domain: Domain
    rows: IntArray

    def __post_init__(self) -> None:
        if self.rows.ndim != 2 or self.rows.shape[1] != len(self.domain):
            raise DomainError(
                f"the rows have shape {self.rows.shape}; expected {len(self.domain)} columns"
            )
        beyond = (self.rows < 0) | (self.rows >= np.array(self.domain.cardinalities))
        for row, variable in np.argwhere(beyond)[:1].tolist():
            raise DomainError(
                f"row {row} of the data: {self.rows[row, variable]} is not the position of a state "
                f"of {self.domain.names[variable]!r}"
            )

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Data({len(self)} rows, {len(self.domain)} variables)"

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of the rows and the domain."""
        digest = sha256(repr((self.domain.names, self.domain.states)).encode())
        kind = "<u1" if max(self.domain.cardinalities, default=1) <= 256 else "<u4"
        digest.update(self.rows.astype(kind, order="C").tobytes())
        return digest.hexdigest()[:16]

    def take(self, rows: Any) -> Data:
        """Return some of the rows, by number or mask."""
        return Data(self.domain, np.ascontiguousarray(self.rows[np.asarray(rows)]))

    def labels(self) -> list[list[str]]:
        """Return the rows as labels."""
        states = self.domain.states
        return [[states[v][code] for v, code in enumerate(row)] for row in self.rows.tolist()]

    def frame(self) -> Any:
        """Return a pandas DataFrame of categorical columns; every state is a category."""
        pandas = require("pandas", "frames")
        columns = zip(self.domain.names, self.domain.states, self.rows.T, strict=True)
        return pandas.DataFrame(
            {
                name: pandas.Categorical.from_codes(codes, categories=list(states))
                for name, states, codes in columns
            }
        )

    def counts(self) -> list[IntArray]:
        """Count how often each state of each variable occurs."""
        columns = zip(self.rows.T, self.domain.cardinalities, strict=True)
        return [np.bincount(codes, minlength=c).astype(np.int64) for codes, c in columns]


def as_data(data: DataLike, domain: DomainLike | None = None) -> Data:
    """Read rows from a frame, an array, a list, a file or a bundled data set.

    Parameters
    ----------
    data : DataFrame, array, list of rows or mappings, path, name of a data set, or Data
        The names are ``titanic`` and ``women-math``; write ``./titanic`` for a file of that name.
    domain : Domain, or a mapping that makes one, optional
        The variables and their states. Without it they are inferred from the data.

    Examples
    --------
    >>> as_data([["yes", "old"], ["no", "old"]]).domain
    Domain(v0: no|yes, v1: old)
    >>> as_data([["yes", "old"]], {"smoker": ["no", "yes"], "age": ["young", "old"]}).rows
    array([[1, 1]])
    >>> as_data("titanic")
    Data(2201 rows, 4 variables)
    """
    known = domain if domain is None or isinstance(domain, Domain) else Domain(domain)
    if isinstance(data, Data):
        return data if known is None or known == data.domain else _aligned(data, known)
    if isinstance(data, str | os.PathLike):
        path = os.fspath(data)
        if isinstance(data, str) and path in BUNDLED:  # a Path drops "./", so it is a file
            return parse_data(get_data("contextwise", f"data/{path}.csv") or b"", path, known)
        if path and not os.path.splitext(path)[1] and not os.path.exists(path):
            raise ContextwiseError(
                f"{path}: no such file or bundled data set; the data sets are {', '.join(BUNDLED)}"
            )
        return parse_data(files.read_bytes(path), path, known)
    table = _python_table(data, known)
    return _encoded(table, _inferred(table) if known is None else known)


def infer_domain(data: DataLike) -> Domain:
    """Return the variables and states of data, which may have missing values unless in a file."""
    if isinstance(data, Data | str | os.PathLike):
        return as_data(data).domain
    return _inferred(_python_table(data, None))


def parse_data(content: bytes, name: str, domain: Domain | None = None) -> Data:
    """Read the rows of a data file from its bytes; ``name`` is for messages."""
    codes = _codes(content)
    if codes is not None and domain is None and codes.max(initial=0) <= LARGEST_CODE:
        for variable, column in enumerate(codes.T):
            if column.max() >= MOST_VALUES:
                labels = list(map(str, np.unique(column).tolist()))
                _check_category(f"v{variable}", labels, len(codes), name)
        return Data(Domain.of_cardinalities((codes.max(axis=0) + 1).tolist()), codes)
    if codes is not None and domain is not None and _are_codes(codes, domain):
        return Data(domain, codes)
    table = _file_table(content, name, domain)
    return _encoded(table, _inferred(table) if domain is None else domain)


def format_rows(rows: npt.NDArray[Any], names: Sequence[str] | None = None) -> str:
    """Write rows as CSV, with the names of the variables as header if given.

    Rows of positions without a header are Libra's ``.data`` format.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if names is not None:
        writer.writerow(names)
    writer.writerows(rows.tolist())
    return text.getvalue()


def read_once(data: DataLike, domain: DomainLike | None) -> tuple[DataLike, Data]:
    """Return data in their own form, which a user's learner may need, and as `Data`."""
    raw = as_data(data, domain) if isinstance(data, str | os.PathLike) else data
    return raw, as_data(raw, domain)


def take_rows(data: DataLike, rows: IntArray) -> DataLike:
    """Return some rows of a frame, an array, a list or `Data`, in the same form."""
    if isinstance(data, Data):
        return data.take(rows)
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    return data[rows] if hasattr(data, "shape") else [data[row] for row in rows.tolist()]


def by_position(model: M) -> M:
    """Return the model with codes for labels, to use with rows of codes."""
    plain = Domain.of_cardinalities(model.domain.cardinalities)
    return model.aligned_to(plain, align="position")


def _aligned(data: Data, domain: Domain) -> Data:
    """Return the rows over another domain, matched by names and labels."""
    rows = np.empty((len(data), len(domain)), dtype=np.int64)
    for variable, name in enumerate(domain.names):
        source = data.domain.position(name)
        places = np.zeros(data.domain.cardinalities[source], dtype=np.int64)
        for code in np.unique(data.rows[:, source]).tolist():
            places[code] = domain.state_position(variable, data.domain.states[source][code])
        rows[:, variable] = places[data.rows[:, source]]
    return Data(domain, rows)


# -- from any source to columns --------------------------------------------------------------------


@dataclass(frozen=True)
class _Table:
    """Columns of cells with their names, and how to report an error in a row."""

    names: list[str]
    columns: list[Any]
    rows: int
    error: Callable[[int, str], ContextwiseError]
    are_coded: bool = False
    path: str | None = None
    categories: Mapping[str, list[str]] = field(default_factory=dict)

    @cached_property
    def distinct(self) -> list[tuple[list[Any], IntArray]]:
        return [_distinct(column) for column in self.columns]

    def is_missing(self, cell: Any) -> bool:
        return _is_empty(cell) or (self.path is not None and cell in MISSING)


def _python_table(data: Any, domain: Domain | None) -> _Table:
    if hasattr(data, "columns"):
        return _frame_table(data, domain)
    width = None if domain is None else len(domain)
    if hasattr(data, "shape"):
        array = _unmasked(data)
        if array.ndim != 2 or width not in (None, array.shape[1]):
            expected = "cells" if width is None else f"{width} cells"
            raise DomainError(f"the data has shape {array.shape}; expected rows of {expected}")
        columns: list[Any] = list(array.T)
        return _Table(_names(columns, domain), columns, len(array), _row_error, domain is None)
    if isinstance(data, bytes) or not isinstance(data, Iterable):
        raise DomainError(
            f"{type(data).__name__!r} cannot be read as data; pass a frame, an array, a list of "
            "rows or a path"
        )
    rows = list(data)
    if rows and isinstance(rows[0], Mapping):
        seen = dict.fromkeys(name for row in rows for name in row)
        names = list(seen) if domain is None else list(domain.names)
        for r, row in enumerate(rows):
            lacking = [name for name in names if name not in row]
            if lacking:
                raise DomainError(f"row {r} of the data lacks {listed(map(str, lacking))}")
        return _Table(
            list(map(str, names)), [[row[n] for row in rows] for n in names], len(rows), _row_error
        )
    for r, row in enumerate(rows):
        if isinstance(row, str | bytes) or not isinstance(row, Iterable):
            raise DomainError(f"row {r} of the data is {row!r}; expected a list of cells")
        rows[r] = list(row)
        width = len(rows[r]) if width is None else width
        if len(rows[r]) != width:
            raise DomainError(f"row {r} of the data has {len(rows[r])} cells for {width} variables")
    columns = [[row[v] for row in rows] for v in range(width or 0)]
    return _Table(_names(columns, domain), columns, len(rows), _row_error, domain is None)


def _frame_table(frame: Any, domain: Domain | None) -> _Table:
    held = list(map(str, frame.columns))
    names = held if domain is None else list(domain.names)
    lacking = [name for name in names if name not in held]
    if lacking:
        raise DomainError(f"the data has no column for {listed(lacking)}")
    _check_unique([name for name in held if name in set(names)])
    columns, categories = [], {}
    for name in names:
        column = frame.iloc[:, held.index(name)]
        states = getattr(getattr(column, "cat", None), "categories", None)
        if states is not None:
            categories[name] = [_label(state) for state in states]
        columns.append(np.asarray(column))
    return _Table(names, columns, len(frame), _row_error, categories=categories)


def _unmasked(array: Any) -> npt.NDArray[Any]:
    """Return a plain array; masked cells become None, which is missing."""
    plain = np.asarray(array)
    if np.ma.is_masked(array):
        plain = plain.astype(object)
        plain[np.ma.getmaskarray(array)] = None
    return plain


def _names(columns: Sequence[object], domain: Domain | None) -> list[str]:
    return [f"v{v}" for v in range(len(columns))] if domain is None else list(domain.names)


def _row_error(row: int, message: str) -> ContextwiseError:
    return DomainError(f"row {row} of the data: {message}")


def _check_unique(
    names: Sequence[object], path: str | None = None, line: int | None = None
) -> None:
    twice = [str(name) for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ParseError(
            f"two columns have the name {listed(twice)}; rename or remove one of them",
            path=path,
            line=line,
        )


# -- files -----------------------------------------------------------------------------------------


def _codes(content: bytes) -> IntArray | None:
    """Read a file of codes quickly; return None for any other file."""
    if not content.strip() or content.translate(None, b"0123456789,\r\n"):
        return None
    if re.search(rb"(?:^|[,\r\n])0[0-9]|[0-9]{6}", content):
        return None
    try:
        text = io.StringIO(content.decode("ascii"))
        return np.loadtxt(text, np.int64, delimiter=",", ndmin=2)
    except ValueError:
        return None


def _are_codes(rows: IntArray, domain: Domain) -> bool:
    """Check that the labels of the domain are codes and include all codes of the rows."""
    if rows.shape[1] != len(domain) or (rows.max(axis=0) >= domain.cardinalities).any():
        return False
    if set(domain.names) <= set(map(str, rows[0].tolist())):
        return False  # the first row is a header
    return all(states == tuple(map(str, range(len(states)))) for states in set(domain.states))


def _file_table(content: bytes, path: str, domain: Domain | None) -> _Table:
    lines = _lines(files.decoded(content, path), path, domain)
    if not lines:
        raise ParseError("there are no rows in this file", path=path)
    number, first = lines[0]
    if domain is None:
        are_coded = all(_is_whole(cell) or cell in MISSING for cell in first)
        has_header = not are_coded
        names = [f"v{k}" for k in range(len(first))] if are_coded else first
        places: Sequence[int] = range(len(first))
        if "" in names:
            raise ParseError(
                f"column {names.index('') + 1} has no name; name it, or remove it if it is an "
                "index (pandas: to_csv(..., index=False))",
                path=path,
                line=number,
            )
        _check_unique(names, path, number)
    else:
        are_coded, names = False, list(domain.names)
        has_header = set(names) <= set(first)
        places = [first.index(name) for name in names] if has_header else range(len(names))
        if has_header:
            _check_unique([cell for cell in first if cell in set(names)], path, number)
    width = len(first) if has_header else len(names)
    body = lines[has_header:]
    if not body:
        raise ParseError("there are no rows below the header", path=path)
    for line, cells in body:
        if len(cells) != width:
            raise ParseError(
                f"{plural(len(cells), 'cell')} where {width} are expected"
                + _hint(cells, domain, line == number),
                path=path,
                line=line,
            )

    def error(row: int, message: str) -> ContextwiseError:
        return ParseError(message, path=path, line=body[row][0])

    columns: list[Sequence[str]] = [[cells[place] for _, cells in body] for place in places]
    return _Table(names, columns, len(body), error, are_coded, path)


def _lines(text: str, path: str, domain: Domain | None) -> list[tuple[int, list[str]]]:
    """Split a text into the cells of its lines, without blank lines, with line numbers."""
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=_separator(text, domain),
        skipinitialspace=True,
        strict=True,
    )
    lines = []
    try:
        for raw in reader:
            cells = [cell.strip() for cell in raw]
            if cells not in ([], [""]):
                lines.append((reader.line_num, cells))
    except csv.Error as error:
        message = f"this is not CSV: {error}"
        if "field limit" in str(error):
            most = csv.field_size_limit()
            message = f"a cell has more than {most:,} characters; is a closing quote missing?"
        raise ParseError(message, path=path, line=reader.line_num) from None
    return lines


def _separator(text: str, domain: Domain | None) -> str:
    """Return the separator that gives the first lines the same number of cells, above one."""
    head = text[: 2**16]
    for separator in SEPARATORS:
        reader = csv.reader(io.StringIO(head, newline=""), delimiter=separator)
        try:
            widths = [len(cells) for cells in islice(reader, SNIFFED) if cells]
        except csv.Error:
            continue
        if len(head) < len(text) and len(widths) > 1:
            widths.pop()  # the last line may be cut
        if len(set(widths)) == 1 and widths[0] > 1 and (domain is None or len(domain) > 1):
            return separator
    first = head.lstrip().partition("\n")[0].split()
    return " " if len(first) > 1 and all(map(_is_whole, first)) else ","


def _hint(cells: list[str], domain: Domain | None, is_first: bool) -> str:
    if len(cells) == 1:
        return "; cells are separated by commas, semicolons or tabs"
    if not is_first or domain is None:
        return ""
    missing = [name for name in domain.names if name not in cells]
    if len(missing) < len(domain):
        return f"; if this line is a header, it lacks {listed(missing)}"
    return f": the variables are {listed(domain.names)}"


# -- from cells to states --------------------------------------------------------------------------


def _inferred(table: _Table) -> Domain:
    """Infer the states of each column."""
    variables: dict[str, Sequence[str] | int] = {}
    for name, (distinct, _) in zip(table.names, table.distinct, strict=True):
        if name in table.categories:
            variables[name] = table.categories[name]
            continue
        cells = [cell for cell in distinct if not table.is_missing(cell)]
        labels = sorted(set(map(_label, cells)))
        _check_category(name, labels, table.rows, table.path)
        codes = [_code(cell, table.path is not None) for cell in cells] if table.are_coded else []
        numbers = [code for code in codes if code is not None]
        if numbers and len(numbers) == len(cells):
            if min(numbers) >= 0 and max(numbers) <= LARGEST_CODE:
                variables[name] = max(numbers) + 1
                continue
            if table.path is None:
                bad = min(numbers) if min(numbers) < 0 else max(numbers)
                raise DomainError(
                    f"{bad} is not a code of {name!r} (codes are 0 to {LARGEST_CODE:,}); pass the "
                    "domain, or bin the values first"
                )
        are_whole = all(map(_is_whole, labels))
        variables[name] = (sorted(labels, key=int) if are_whole else labels) or ["0"]
    return Domain(variables)


def _check_category(name: str, labels: Sequence[str], rows: int, path: str | None) -> None:
    """Raise if a column has too many different values to be a category."""
    fractions = sum(map(_is_fraction, labels))
    if fractions > MOST_FRACTIONS:
        reason = f"it has {fractions:,} different numbers that are not whole"
    elif rows >= FEWEST_ROWS and len(labels) > max(MOST_VALUES, rows / 2):
        reason = f"it has {len(labels):,} different values in {rows:,} rows"
    else:
        return
    message = (
        f"column {name!r} is not a category: {reason}. Remove it, bin its values, or give its "
        "states (domain= in Python, --domain-from on the command line)"
    )
    raise DomainError(message) if path is None else ParseError(message, path=path)


def _encoded(table: _Table, domain: Domain) -> Data:
    """Look up the position of every cell."""
    rows = np.empty((table.rows if len(domain) else 0, len(domain)), dtype=np.int64)
    for variable, (cells, inverse) in enumerate(table.distinct):
        known = domain.state_positions[variable]
        positions = np.empty(len(cells), dtype=np.int64)
        for d, cell in enumerate(cells):
            place = next((known[text] for text in _spellings(cell) if text in known), None)
            if place is None:
                row = int(np.flatnonzero(inverse == d)[0])
                raise table.error(row, _problem(cell, variable, domain, table))
            positions[d] = place
        rows[:, variable] = positions[inverse]
    return Data(domain, rows)


def _problem(cell: Any, variable: int, domain: Domain, table: _Table) -> str:
    name = domain.names[variable]
    if table.is_missing(cell):
        return (
            f"the value of {name!r} is missing; remove such rows (pandas: dropna()), fill them in, "
            "or make 'missing' a state of its own"
        )
    if table.path is not None and not variable and "|" in cell:
        return (
            f"{cell!r} looks like a row with a weight (weight|…), which is not supported; repeat "
            "the row as often as it counts"
        )
    states = listed(domain.states[variable])
    return f"variable {name!r} has no state {_label(cell)!r}; its states are {states}"


def _distinct(column: Any) -> tuple[list[Any], IntArray]:
    """Return the distinct cells of a column, and for each row the number of its cell."""
    if isinstance(column, np.ndarray) and np.issubdtype(column.dtype, np.integer):
        distinct, inverse = np.unique(column, return_inverse=True)
        return distinct.tolist(), inverse
    known: dict[tuple[type, Any], int] = {}  # with the type as key too, because True == 1 == 1.0
    try:
        numbers = (known.setdefault((type(cell), cell), len(known)) for cell in column)
        inverse = np.fromiter(numbers, np.int64, len(column))
    except TypeError:
        raise DomainError("a cell is a list or a mapping; expected a text or a number") from None
    return [cell for _, cell in known], inverse


def _label(cell: Any) -> str:
    """Return the label of a state; a whole float stands for its int."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool | np.bool_):
        return str(bool(cell))
    if isinstance(cell, int | np.integer):
        return str(int(cell))
    if isinstance(cell, float | np.floating):
        return str(int(cell)) if float(cell).is_integer() else repr(float(cell))
    raise DomainError(f"{cell!r} is not a state; expected a text or a number")


def _spellings(cell: Any) -> list[str]:
    """Return the labels that a cell can mean; a bool may be called ``True``, ``true`` or ``1``."""
    if _is_empty(cell):
        return []
    label = _label(cell)
    if isinstance(cell, bool | np.bool_):
        return [label, label.lower(), label.upper(), str(int(cell))]
    return [label]


def _code(cell: Any, is_file: bool) -> int | None:
    """Return the code that a cell without a name for its column stands for, if any."""
    label = _label(cell)
    is_number = is_file or not isinstance(cell, str | bool | np.bool_)
    return int(label) if is_number and _is_whole(label.removeprefix("-")) else None


def _is_empty(cell: object) -> bool:
    """Check for None, NaN, and pandas' NA and NaT."""
    is_nan = isinstance(cell, float | np.floating) and bool(np.isnan(cell))
    return cell is None or is_nan or type(cell).__name__ in ("NAType", "NaTType")


def _is_whole(text: str) -> bool:
    """Check for a whole number; a very long row of digits is a label."""
    return text.isdecimal() and len(text) < 19


def _is_fraction(text: str) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    return np.isfinite(value) and not value.is_integer()
