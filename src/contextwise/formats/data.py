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
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from contextwise.errors import ParseError
from contextwise.execution import files
from contextwise.models.domain import Domain, listed
from contextwise.models.numbers import plural
from contextwise.models.observed import LARGEST_CODE, is_whole, sort_states

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
