"""Rows of observed states from text: CSV files with or without a header, Libra's ``.data``.

One row per line, cells separated by commas, a cell is the label of a state. If the first line holds
exactly the names of the variables, in any order, it is a header and the columns are matched by
name (columns beyond them are left out); otherwise the columns are the variables in the order of the
domain. Cells may be quoted as in any CSV file; blanks around a cell do not count. An empty cell,
``*``, ``?``, ``NA`` and ``NaN`` mean that the value is missing, unless a state is called so: a
missing value is an error that says where, because a row without it is in no context. Libra's weight
of a row (``2.5|0,1,1``) is an error, too: counts are exact, and so rows count once each.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from io import StringIO
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from contextwise.errors import DomainError, ParseError, require
from contextwise.models.domain import Domain, State, listed
from contextwise.models.features import IntArray
from contextwise.models.observed import LARGEST_CODE, is_whole, sort_states
from contextwise.models.structure import LogLinear, Structure, structure_of
from contextwise.support import files
from contextwise.support.formatting import plural

MISSING = frozenset({"", "*", "?", "NA", "NaN", "nan"})

Row = tuple[int, list[str]]
"""A line number and its cells."""


def read_rows(path: str | os.PathLike[str], domain: Domain) -> npt.NDArray[Any]:
    """The rows of a data file, as labels in the order of the domain: what `Domain.encode` takes.

    Parameters
    ----------
    path : path of the file
    domain : Domain
        The variables and the states that cells may have.

    Returns
    -------
    array of shape (rows, variables)

    Raises
    ------
    ParseError
        For a cell that is no state, a missing value or a row of another length, with its line.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("age,smoker\\nold,yes\\nyoung,no\\n")
    >>> read_rows(path, Domain({"smoker": ["no", "yes"], "age": ["young", "old"]})).tolist()
    [['yes', 'old'], ['no', 'young']]
    """
    return parse_rows(files.read_bytes(path), os.fspath(path), domain)


def parse_rows(data: bytes, name: str, domain: Domain) -> npt.NDArray[Any]:
    """The rows of a data file that has been read.

    Parameters
    ----------
    data : bytes
        The contents of the file.
    name : str
        Of the file, for messages.
    domain : Domain
        The variables and the states that cells may have.

    Returns
    -------
    array of shape (rows, variables)
    """
    lines = _lines(data, name)
    first = next(lines, None)
    if first is None:
        raise ParseError("there are no rows in this file", path=name)
    columns = _header(first[1], domain)
    if columns is None:
        rows = _columns_of([first, *lines], range(len(domain)), len(domain), name, domain)
    else:
        rows = _columns_of(list(lines), columns, len(first[1]), name, domain)
    if not len(rows):
        raise ParseError("there are no rows below the header", path=name)
    return rows


def infer_domain(data: bytes, name: str) -> Domain:
    """The variables and states that a data file shows, where nothing else says them.

    A first line that holds only whole numbers is a row of codes: the variables are then ``v0``,
    ``v1``, … with the states 0 to the largest code. Any other first line is the header, and the
    states of a variable are the labels that occur, in order.

    Parameters
    ----------
    data : bytes
        The contents of the file.
    name : str
        Of the file, for messages.

    Examples
    --------
    >>> infer_domain(b"age,smoker\\nold,yes\\nyoung,no\\n", "people.csv")
    Domain(age: old|young, smoker: no|yes)
    >>> infer_domain(b"0,1\\n1,2\\n", "codes.data")
    Domain(v0: 0|1, v1: 0|1|2)
    """
    lines = list(_lines(data, name))
    if not lines:
        raise ParseError("there are no rows in this file", path=name)
    line, first = lines[0]
    coded = all(is_whole(cell) or cell in MISSING for cell in first)
    names = [f"v{k}" for k in range(len(first))] if coded else first
    if len(set(names)) < len(names):
        raise ParseError("two columns have one name", path=name, line=line)
    variables: dict[str, Sequence[str] | int] = {}
    for column, own in enumerate(names):
        cells = {row[column] for _, row in lines[not coded :] if column < len(row)} - MISSING
        largest = max(map(int, cells), default=0) if all(map(is_whole, cells)) else None
        if coded and largest is not None and largest <= LARGEST_CODE:
            variables[own] = largest + 1
        else:
            variables[own] = sort_states(cells) or 1
    return Domain(variables)


def count_rows(data: bytes, name: str, domain: Domain) -> int:
    """The number of rows of a data file, without its header.

    Parameters
    ----------
    data : bytes
        The contents of the file.
    name : str
        Of the file, for messages.
    domain : Domain
        The variables; a first line that names them all is the header.

    Examples
    --------
    >>> count_rows(b"A,B\\n0,1\\n1,1\\n", "rows.csv", Domain({"A": 2, "B": 2}))
    2
    """
    lines = [cells for _, cells in _lines(data, name)]
    return len(lines) - (bool(lines) and _header(lines[0], domain) is not None)


def format_rows(rows: npt.NDArray[Any], domain: Domain) -> str:
    """Rows of labels as CSV text, with the names of the variables as header.

    >>> print(format_rows(np.array([[1, 0]]), Domain({"A": 2, "B": 2})), end="")
    A,B
    1,0
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(domain.names)
    writer.writerows(rows.tolist())
    return text.getvalue()


def format_codes(positions: npt.NDArray[np.int64]) -> str:
    """Rows of positions as Libra's ``.data`` text: codes with commas between them, no header.

    >>> print(format_codes(np.array([[1, 0], [0, 2]])), end="")
    1,0
    0,2
    """
    return "".join(",".join(map(str, row)) + "\n" for row in positions.tolist())


def _lines(data: bytes, name: str) -> Iterator[Row]:
    """The lines that are not blank, with their numbers."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ParseError("this is not UTF-8 text", path=name, line=line) from None
    reader = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
    try:
        for raw in reader:
            cells = [cell.strip() for cell in raw]
            if cells not in ([], [""]):
                yield reader.line_num, cells
    except csv.Error as error:
        raise ParseError(_not_csv(error), path=name, line=reader.line_num) from None


def _not_csv(error: csv.Error) -> str:
    """What is wrong, in words; the module csv says it in its own terms."""
    if "field limit" in str(error):
        most = csv.field_size_limit()
        return f"a cell has more than {most:,} characters; is a closing quote missing?"
    return f"this is not CSV: {error}"


def _header(cells: list[str], domain: Domain) -> list[int] | None:
    """Where each variable's column is, if this line names them all."""
    if not set(domain.names) <= set(cells):
        return None
    return [cells.index(name) for name in domain.names]


def _columns_of(
    rows: list[Row], columns: Sequence[int], width: int, name: str, domain: Domain
) -> npt.NDArray[Any]:
    """The wanted columns as an array; the first bad cell is an error that says where it is."""
    for line, cells in rows:
        if len(cells) != width:
            raise ParseError(
                f"{plural(len(cells), 'cell')} where {width} are expected"
                + _hint(cells, domain, line == rows[0][0]),
                path=name,
                line=line,
            )
    table = np.array([cells for _, cells in rows], dtype=object).reshape(-1, width)
    table = table[:, list(columns)]
    for variable, column in enumerate(table.T):
        known = domain.state_positions[variable]
        for row, cell in enumerate(column.tolist()):
            if cell not in known:
                raise _bad_cell(cell, domain, variable, name, rows[row][0])
    return table


def _hint(cells: list[str], domain: Domain, is_first: bool) -> str:
    if len(cells) == 1:
        return "; cells are separated by commas"
    if not is_first:
        return ""
    missing = [name for name in domain.names if name not in cells]
    if len(missing) < len(domain):
        return f"; if this line is a header, it lacks {listed(missing)}"
    return f": the variables are {listed(domain.names)}"


def _bad_cell(cell: str, domain: Domain, variable: int, name: str, line: int) -> ParseError:
    column = domain.names[variable]
    if cell in MISSING:
        return ParseError(
            f"the value of {column!r} is missing; rows with missing values have to be left out or "
            "filled in first",
            path=name,
            line=line,
        )
    if not variable and "|" in cell:
        return ParseError(
            f"{cell!r} looks like a row with a weight (weight|…), which is not read; "
            "repeat the row as often as it counts",
            path=name,
            line=line,
        )
    return ParseError(
        f"variable {column!r} has no state {cell!r}; its states are "
        f"{listed(domain.states[variable])}",
        path=name,
        line=line,
    )


# -- What learners learn from: rows of codes over a domain, from whatever people have at hand.


M = TypeVar("M", Structure, LogLinear)

DomainLike = Domain | Mapping[str, Sequence[State] | int]
DataLike = Any
"""A frame, an array, a list of rows, a path, or `Data`."""


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
                f"row {row} of the data: {self.rows[row, variable]} is no position of a state of "
                f"{self.domain.names[variable]!r}"
            )

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Data({len(self)} rows, {len(self.domain)} variables)"

    @cached_property
    def fingerprint(self) -> str:
        """A short text that is the same for the same rows over the same domain."""
        digest = sha256(repr((self.domain.names, self.domain.states)).encode())
        kind = "<u1" if max(self.domain.cardinalities, default=1) <= 256 else "<u4"
        digest.update(self.rows.astype(kind, order="C").tobytes())
        return digest.hexdigest()[:16]

    def take(self, rows: Any) -> Data:
        """Some of the rows, by number or mask, over the same domain."""
        return Data(self.domain, np.ascontiguousarray(self.rows[np.asarray(rows)]))

    def labels(self) -> list[list[str]]:
        """The rows as labels, for people and other packages."""
        states = self.domain.states
        return [[states[v][code] for v, code in enumerate(row)] for row in self.rows.tolist()]

    def frame(self) -> Any:
        """The rows as a pandas DataFrame of categorical columns, every state a category."""
        pandas = require("pandas", "frames")
        columns = zip(self.domain.names, self.domain.states, self.rows.T, strict=True)
        return pandas.DataFrame(
            {
                name: pandas.Categorical.from_codes(codes, categories=list(states))
                for name, states, codes in columns
            }
        )

    def counts(self) -> list[IntArray]:
        """How often each state of each variable occurs."""
        cards = self.domain.cardinalities
        columns = zip(self.rows.T, cards, strict=True)
        return [np.bincount(codes, minlength=c).astype(np.int64) for codes, c in columns]


def as_data(data: DataLike, domain: DomainLike | None = None) -> Data:
    """Rows of codes, from a frame, an array, rows, or the path of a file.

    Parameters
    ----------
    data : frame, array, list of rows, path, or Data
        See the head of this module.
    domain : Domain, or a mapping that makes one, optional
        The variables and their states; without it they are read off the data.

    Returns
    -------
    Data

    Raises
    ------
    DomainError, ParseError
        For a missing value, or a cell that is no state; the message says where.

    Examples
    --------
    >>> as_data([["yes", "old"], ["no", "old"]]).domain
    Domain(v0: no|yes, v1: old)
    >>> as_data([["yes", "old"]], {"smoker": ["no", "yes"], "age": ["young", "old"]}).rows
    array([[1, 1]])
    """
    known = domain if domain is None or isinstance(domain, Domain) else Domain(domain)
    if isinstance(data, Data):
        return data if known is None or known == data.domain else _laid(data, known)
    if isinstance(data, str | os.PathLike):
        return parse_data(files.read_bytes(data), os.fspath(data), known)
    if isinstance(data, Iterator):
        data = list(data)
    if known is None:
        known = Domain.from_data(data)
    return Data(known, known.encode(data))


def read_once(data: DataLike, domain: DomainLike | None) -> tuple[DataLike, Data]:
    """Data as a learner may want them, and as rows of codes; a file is read here and only here.

    Parameters
    ----------
    data : frame, array, list of rows, path, or Data
    domain : Domain, or a mapping that makes one, optional

    Returns
    -------
    given : frame, array, list of rows, or Data
        What was given, or the rows of the file.
    rows : Data
    """
    given = as_data(data, domain) if isinstance(data, str | os.PathLike) else data
    return given, as_data(given, domain)


def take_rows(data: DataLike, rows: IntArray) -> DataLike:
    """Some rows of a frame, an array, a list or `Data`, as the same kind of thing.

    Parameters
    ----------
    data : frame, array, list of rows, or Data
    rows : int array
        The numbers of the rows.

    Examples
    --------
    >>> take_rows([[0, 1], [1, 1], [1, 0]], np.array([2, 0]))
    [[1, 0], [0, 1]]
    """
    if isinstance(data, Data):
        return data.take(rows)
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    return data[rows] if hasattr(data, "shape") else [data[row] for row in rows.tolist()]


def by_position(model: M) -> M:
    """The same model with codes for labels: what predicts rows of codes."""
    plain = Domain.of_cardinalities(model.domain.cardinalities)
    structure = Structure(plain, structure_of(model).features)
    if isinstance(model, LogLinear):
        return LogLinear(structure, model.weights)
    return structure


def _laid(data: Data, domain: Domain) -> Data:
    """The same rows over another domain, matched by names and labels."""
    rows = np.empty((len(data), len(domain)), dtype=np.int64)
    for variable, name in enumerate(domain.names):
        own = data.domain.position(name)
        seen = np.unique(data.rows[:, own])
        places = np.zeros(data.domain.cardinalities[own], dtype=np.int64)
        for code in seen.tolist():
            places[code] = domain.state_position(variable, data.domain.states[own][code])
        rows[:, variable] = places[data.rows[:, own]]
    return Data(domain, rows)


# -- files -----------------------------------------------------------------------------------------


def parse_data(content: bytes, name: str, domain: Domain | None = None) -> Data:
    """The rows of a data file that has been read.

    Parameters
    ----------
    content : bytes
    name : str
        Of the file, for messages.
    domain : Domain, optional
        Without it the variables and states are read off the rows.

    Examples
    --------
    >>> parse_data(b"age,smoker\\nold,yes\\nyoung,no\\n", "people.csv").rows.tolist()
    [[0, 1], [1, 0]]
    """
    codes = _codes(content)
    if codes is not None and domain is None and codes.max(initial=0) <= LARGEST_CODE:
        domain = Domain.of_cardinalities((codes.max(axis=0) + 1).tolist())
    if codes is not None and domain is not None and _are_codes(codes, domain):
        return Data(domain, codes)
    domain = infer_domain(content, name) if domain is None else domain
    return Data(domain, domain.encode(parse_rows(content, name, domain)))


def _codes(content: bytes) -> IntArray | None:
    """The rows of a file of codes, quickly; None if it is anything else, or not well formed."""
    if not content.strip() or content.translate(None, b"0123456789,\r\n"):
        return None
    if re.search(rb"(?:^|[,\r\n])0[0-9]|[0-9]{6}", content):
        return None
    try:
        rows = np.loadtxt(StringIO(content.decode("ascii")), np.int64, delimiter=",", ndmin=2)
    except ValueError:
        return None
    return rows


def _are_codes(rows: IntArray, domain: Domain) -> bool:
    """Whether the labels of the domain are the codes, and the rows keep to them."""
    if rows.shape[1] != len(domain) or (rows.max(axis=0) >= domain.cardinalities).any():
        return False
    return all(own == tuple(map(str, range(len(own)))) for own in set(domain.states))
