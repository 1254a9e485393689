"""The results of a run, from files that anybody may have made.

A run's folder or its ``results.sqlite`` holds the study of KL-divergence, the study of learners, or
what was learned from resamples; its configuration says which. A CSV file holds rows of the first:
each says, for one structure and one set of parameters, how many errors the structure has and how
large its KL-divergence is. What is looked at is checked here, so that the views need not doubt it:
numbers are numbers, they are finite, and each structure has a row for each set of parameters.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from math import isfinite
from typing import Any, Literal

from contextwise.errors import ContextwiseError, ParseError
from contextwise.studies.summary import NAMES
from contextwise.support.store import read_configuration, read_records

Row = Mapping[str, Any]
Kind = Literal["kl", "learners", "stability"]
"""What a run is: a study of KL-divergence or of learners, or structures from resamples."""
LONGEST = 40
"""How much of a value that makes no sense a message shows."""


def kind_of_run(path: str, *, name: str) -> Kind:
    """What a run's folder, its ``results.sqlite`` or a CSV file holds.

    Parameters
    ----------
    path : where it is
    name : what people call it; messages use it

    Raises
    ------
    ContextwiseError
        If it is another run, or none.
    """
    if name.lower().endswith(".csv"):
        return "kl"
    from contextwise.evaluation.stability import KEPT

    with _named_errors(path, name):
        configuration = read_configuration(path)
    if configuration.keys() >= KEPT:
        return "stability"
    if "learners" in configuration:
        return "learners"
    if "structures" in configuration:
        return "kl"
    raise ContextwiseError(f"{name}: this is no run of contextwise experiment or stability")


@contextmanager
def _named_errors(path: str, name: str) -> Iterator[None]:
    """Let messages call a file what people call it."""
    try:
        yield
    except ContextwiseError as error:
        raise ContextwiseError(str(error).replace(path, name)) from None
    except RecursionError:
        raise ContextwiseError(f"{name}: not the results of a run: nested too deeply") from None


def read_results(path: str, *, name: str) -> list[Row]:
    """The rows of the study of KL-divergence, checked.

    Parameters
    ----------
    path : where a run's folder, its ``results.sqlite`` or a CSV file is
    name : what people call it; messages use it, and its suffix says what the file is
    """
    rows = list(_rows_of_csv(path, name) if name.lower().endswith(".csv") else _stored(path, name))
    if not rows:
        raise ContextwiseError(f"{name}: there are no results in it")
    _check_complete(rows, name)
    return rows


def read_units(path: str, *, name: str) -> list[Row]:
    """The units of the study of learners.

    Parameters
    ----------
    path : where a run's folder or its ``results.sqlite`` is
    name : what people call it; messages use it
    """
    from contextwise.studies.learners.unit import COLUMNS

    with _named_errors(path, name):
        found = read_records(path)
    if not found:
        raise ContextwiseError(f"{name}: there are no results in it yet")
    for k, record in enumerate(found, start=1):
        missing = [
            key for key in (COLUMNS if "truth" in record else ("data",)) if key not in record
        ]
        if missing:
            raise _error_in_row(name, k, f"this is no unit of the study: {missing[0]} is missing")
    return list(found)


def _whole(value: Any) -> int:
    if isinstance(value, str):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, int):
        raise ValueError
    return value


def _finite(value: Any) -> float:
    if not isinstance(value, str | int | float):
        raise ValueError
    number = float(value)
    if not isfinite(number):
        raise ValueError
    return number


def _side(value: Any) -> str:
    if not isinstance(value, str) or value not in NAMES:
        raise ValueError
    return value


NEEDED: Mapping[str, tuple[Callable[[Any], Any], str]] = {
    "structure": (_whole, "a whole number"),
    "side": (_side, " or ".join(NAMES)),
    "size": (_whole, "a whole number"),
    "parameters": (_whole, "a whole number"),
    "percentage": (_finite, "a finite number"),
    "kl": (_finite, "a finite number"),
}
"""The columns that are looked at: how each is read, and what it has to be."""


def _parse_row(row: Mapping[str, Any], place: Callable[[str], ContextwiseError]) -> Row:
    """The row with its numbers as numbers; ``place`` makes an error that says where it stands."""
    missing = [key for key in NEEDED if key not in row]
    if missing:
        raise place(
            "these are not the results of an experiment; it takes rows with the columns "
            f"{', '.join(NEEDED)}"
        )
    numbers = {}
    for key, (read, kind) in NEEDED.items():
        try:
            numbers[key] = read(row[key])
        except (ValueError, OverflowError):
            shown = repr(row[key])[:LONGEST]
            raise place(f"{key} is {shown}; it has to be {kind}") from None
    return {**row, **numbers}


def _stored(path: str, name: str) -> Iterator[Row]:
    with _named_errors(path, name):
        found = read_records(path)
    for k, row in enumerate(found, start=1):
        yield _parse_row(row, partial(_error_in_row, name, k))


def _error_in_row(name: str, row: int, words: str) -> ContextwiseError:
    return ContextwiseError(f"{name}: row {row}: {words}")


def _rows_of_csv(path: str, name: str) -> Iterator[Row]:
    with open(path, encoding="utf-8", errors="replace", newline="") as file:
        reader = csv.DictReader(file, restval="")

        def place(words: str) -> ContextwiseError:
            return ParseError(words, path=name, line=reader.line_num)

        try:
            for row in reader:
                yield _parse_row({k: v for k, v in row.items() if k is not None}, place)
        except csv.Error as error:
            raise place(f"this is not a CSV file: {error}") from None


def _check_complete(rows: Sequence[Row], name: str) -> None:
    """Each structure of one side and size has a row for each set of parameters."""
    groups: dict[tuple[str, int], dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        groups[row["side"], row["size"]][row["structure"]].add(row["parameters"])
    for (side, size), structures in groups.items():
        wanted = set().union(*structures.values())
        for structure, there in structures.items():
            if there != wanted:
                missing = min(wanted - there)
                raise ContextwiseError(
                    f"{name}: structure {structure} ({NAMES[side]}, {size} rows) has no row for "
                    f"the parameter set {missing}"
                )


def sizes(rows: Iterable[Row]) -> list[int]:
    """The numbers of rows of data that were fitted to.

    >>> sizes([{"size": 100}, {"size": 10}, {"size": 100}])
    [10, 100]
    """
    return sorted({row["size"] for row in rows})
