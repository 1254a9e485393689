"""Results that survive: one SQLite file, one transaction a unit of work.

A run is a folder with ``results.sqlite`` in it. The file holds the configuration that defines the
run, the versions it was made with, one line a finished unit (its seed, seconds and tries, or why it
failed), and the unit's rows. A unit and its rows are written together or not at all, so a process
that is killed at any moment, while it writes included, loses at most the unit in flight; opened
again, the store says which units are done. A folder belongs to one configuration: another one is
refused, and the difference is shown.
"""

from __future__ import annotations

import csv
import io
import json
import os
import platform
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from contextwise.errors import ContextwiseError, require
from contextwise.execution.files import write_bytes

FILE = "results.sqlite"
LONGEST_SETTING = 60  # characters of a setting that a message shows
_SCHEMA = """
CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS units (
  name TEXT PRIMARY KEY, seed TEXT NOT NULL, seconds REAL NOT NULL, tries INTEGER NOT NULL,
  error TEXT);
"""

Row = Mapping[str, str | int | float | None]


@dataclass(frozen=True)
class Finished:
    """A unit that has ended: with rows, or with the error that ended it."""

    name: str
    seed: str
    seconds: float
    tries: int
    rows: Sequence[Row] = ()
    error: str | None = None


class Store:
    """The results of one run.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    columns : names of the columns of a row, in order
    configuration : mapping of JSON values
        What defines the run. A folder that holds another one is refused.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        columns: Sequence[str],
        configuration: Mapping[str, Any],
    ) -> None:
        self.folder = Path(folder)
        self.columns = tuple(columns)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._db = _connect(self.folder / FILE)
        try:
            self._claim(configuration)
        except BaseException:
            self.close()
            raise

    def _claim(self, configuration: Mapping[str, Any]) -> None:
        """Write the configuration into a new store; refuse a store that has another one."""
        quoted = ", ".join(f'"{column}"' for column in self.columns)
        with self._db:
            self._db.executescript(_SCHEMA)
            self._db.execute(f"CREATE TABLE IF NOT EXISTS rows (unit TEXT NOT NULL, {quoted})")
        mine = json.loads(json.dumps(configuration))
        stored = self.about().get("configuration")
        if stored is None:
            about = {"configuration": mine, "versions": versions()}
            with self._db:
                self._db.executemany(
                    "INSERT INTO about VALUES (?, ?)",
                    [(key, json.dumps(value)) for key, value in about.items()],
                )
        elif stored != mine:
            raise ContextwiseError(
                f"{self.folder} holds a run with another configuration: "
                f"{'; '.join(_differences(stored, mine))}. Choose another folder"
            )

    def about(self) -> dict[str, Any]:
        """The configuration and the versions that the run was begun with."""
        return {key: json.loads(value) for key, value in self._db.execute("SELECT * FROM about")}

    def done(self) -> set[str]:
        """The names of the units that have rows; a failed unit is tried again by the next run."""
        return {name for (name,) in self._db.execute("SELECT name FROM units WHERE error IS NULL")}

    def failed(self) -> list[Finished]:
        """The units that failed, with their seeds."""
        found = self._db.execute(
            "SELECT name, seed, seconds, tries, error FROM units WHERE error IS NOT NULL"
        )
        return [Finished(n, s, seconds, tries, (), error) for n, s, seconds, tries, error in found]

    def add(self, unit: Finished) -> None:
        """Write a unit and its rows, in one transaction."""
        marks = ", ".join("?" * (1 + len(self.columns)))
        with self._db:
            self._db.execute(
                "INSERT OR REPLACE INTO units VALUES (?, ?, ?, ?, ?)",
                (unit.name, unit.seed, unit.seconds, unit.tries, unit.error),
            )
            self._db.execute("DELETE FROM rows WHERE unit = ?", (unit.name,))
            self._db.executemany(
                f"INSERT INTO rows VALUES ({marks})",
                [(unit.name, *(row[column] for column in self.columns)) for row in unit.rows],
            )

    def rows(self) -> Iterator[dict[str, Any]]:
        """All rows, in an order that does not depend on which unit ended first."""
        return _rows(self._db)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_rows(folder: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The rows of a run, without opening it for writing."""
    path = Path(folder) / FILE
    if not path.exists():
        raise ContextwiseError(f"{folder}: there is no run here; {FILE} is missing")
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
        try:
            return list(_rows(db))
        except sqlite3.DatabaseError as error:
            raise ContextwiseError(f"{path}: not the results of a run: {error}") from None


def _rows(db: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    found = db.execute("SELECT * FROM rows ORDER BY unit, rowid")
    names = [column[0] for column in found.description]
    for values in found:
        row = dict(zip(names, values, strict=True))
        del row["unit"]
        yield row


def export_csv(rows: Iterable[Mapping[str, Any]], path: str | os.PathLike[str]) -> None:
    """The rows as a CSV file with a header."""
    listed = list(rows)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(listed[0]) if listed else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(listed)
    write_bytes(path, text.getvalue().encode())


def export_parquet(rows: Iterable[Mapping[str, Any]], path: str | os.PathLike[str]) -> None:
    """The rows as a Parquet file (``pip install 'contextwise[parquet]'``)."""
    arrow, parquet = require("pyarrow", "parquet"), require("pyarrow.parquet", "parquet")
    data = io.BytesIO()
    parquet.write_table(arrow.Table.from_pylist(list(rows)), data)
    write_bytes(path, data.getvalue())


def versions() -> dict[str, str]:
    """What a result was made with."""
    return {
        "contextwise": version("contextwise"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
    }


def _connect(path: Path) -> sqlite3.Connection:
    db = None
    try:
        db = sqlite3.connect(path, timeout=30)
        db.execute("PRAGMA synchronous = FULL")
        db.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.DatabaseError as error:
        if db is not None:
            db.close()
        raise ContextwiseError(f"{path}: not a store of results: {error}") from None
    return db


def _differences(stored: Mapping[str, Any], mine: Mapping[str, Any]) -> list[str]:
    return [
        f"{key} is {_shown(stored.get(key))} there and {_shown(mine.get(key))} here"
        for key in sorted({*stored, *mine})
        if stored.get(key) != mine.get(key)
    ]


def _shown(value: object) -> str:
    """A setting for a message; of a model's features the first is enough."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_SETTING else f"{text[:LONGEST_SETTING]}…"
