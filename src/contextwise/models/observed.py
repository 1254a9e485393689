"""The variables and states that data show, where nothing else says them.

- A pandas DataFrame has one column per variable; a categorical column brings its categories as
  states, any other column the labels that occur in it, in order.
- A list of mappings goes from names to labels, one mapping per row.
- An array or a list of rows has no names: the variables are ``v0``, ``v1``, …. Whole numbers are
  codes, and a variable has the states 0 to the largest of them; anything else is a label.

Whole floats, which is what a column of whole numbers with a gap becomes, stand for their ints, and
bools for the labels ``False`` and ``True``. A missing value is no state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from contextwise.errors import DomainError

LARGEST_CODE = 9_999
"""A larger number in a column of codes is no code: a measurement should be binned first."""


def observed_states(data: Any) -> dict[str, Sequence[str] | int]:
    """The states of each variable of the data: what makes a `Domain`.

    Parameters
    ----------
    data : DataFrame, array, list of mappings or list of rows

    Returns
    -------
    dict from names to states, or to their number

    Raises
    ------
    DomainError
        If these are no data, or a cell can be no state.

    Examples
    --------
    >>> observed_states([{"smoker": True, "age": "old"}, {"smoker": False, "age": "young"}])
    {'smoker': ['False', 'True'], 'age': ['old', 'young']}
    >>> observed_states([[0, "a"], [2, "b"]])
    {'v0': 3, 'v1': ['a', 'b']}
    """
    if hasattr(data, "columns"):
        return {str(name): _frame_states(data[name]) for name in data.columns}
    if hasattr(data, "shape"):
        rows = np.asarray(data)
        if rows.ndim != 2:
            raise DomainError(f"the data has shape {rows.shape}; expected rows of cells")
        return {f"v{v}": _code_states(f"v{v}", column) for v, column in enumerate(rows.T)}
    if isinstance(data, str | bytes) or not isinstance(data, Iterable):
        raise DomainError(f"{type(data).__name__!r} is no data; give a frame, an array or rows")
    listed = list(data)
    if listed and isinstance(listed[0], Mapping):
        names = dict.fromkeys(name for row in listed for name in row)
        return {n: _labels(row[n] for row in listed if n in row) for n in names}
    width = len(listed[0]) if listed else 0
    columns = ([row[v] for row in listed if v < len(row)] for v in range(width))
    return {f"v{v}": _code_states(f"v{v}", column) for v, column in enumerate(columns)}


def observed_label(cell: Any) -> Any:
    """A cell as the label or int that it stands for.

    >>> observed_label(True), observed_label(2.0), observed_label("yes")
    ('True', 2, 'yes')
    """
    if isinstance(cell, bool | np.bool_):
        return str(bool(cell))
    if isinstance(cell, float | np.floating) and float(cell).is_integer():
        return int(cell)
    return cell


def is_missing(cell: object) -> bool:
    """Whether a cell says that nothing was observed: None, NaN, or pandas' NA and NaT."""
    not_a_number = isinstance(cell, float | np.floating) and bool(np.isnan(cell))
    return cell is None or not_a_number or type(cell).__name__ in ("NAType", "NaTType")


def sort_states(labels: Iterable[str]) -> list[str]:
    """Labels in order: by number if all are whole numbers, by their letters otherwise.

    >>> sort_states(["10", "9"]), sort_states(["yes", "no"])
    (['9', '10'], ['no', 'yes'])
    """
    found = sorted(labels)
    return sorted(found, key=int) if all(map(is_whole, found)) else found


def is_whole(cell: str) -> bool:
    """Whether a text is a whole number; a very long row of digits is a label."""
    return cell.isdecimal() and len(cell) < 19


def _frame_states(column: Any) -> list[str]:
    categories = getattr(getattr(column, "cat", None), "categories", None)
    if categories is not None:
        return [str(observed_label(category)) for category in categories]
    return _labels(column.unique())


def _labels(cells: Iterable[Any]) -> list[str]:
    return sort_states({str(label) for label in _observed(cells)}) or ["0"]


def _code_states(name: str, cells: Iterable[Any]) -> list[str] | int:
    """The states of a column without a name: all codes up to the largest, or the labels."""
    found = set(_observed(cells))
    if not found or not all(isinstance(label, int) for label in found):
        return _labels(found)
    for code in sorted(found):
        if not 0 <= code <= LARGEST_CODE:
            raise DomainError(
                f"{code} is not a code of {name!r} (codes are 0 to {LARGEST_CODE}); give the "
                "domain, or bin the values first"
            )
    return int(max(found)) + 1


def _observed(cells: Iterable[Any]) -> Iterable[Any]:
    """The distinct labels and ints of some cells, without the missing ones."""
    for cell in set(cells):
        label = observed_label(cell)
        if isinstance(label, str | int | np.integer):
            yield label if isinstance(label, str) else int(label)
        elif not is_missing(cell):
            raise DomainError(f"{cell!r} is not a state; bin the values of a measurement first")
