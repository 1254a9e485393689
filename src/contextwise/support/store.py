"""Long work that survives: units of work, their results in one SQLite file, and who runs them.

A **unit** is a key and the parameters that its result depends on. A function takes the parameters
and gives records: mappings of JSON values, none or many. `run_units` does the units that the store
does not have yet and stores each as it ends. So a run that was stopped or killed goes on where it
was, with the same call.

A unit and its records are written in one transaction: a process that is killed at any moment, while
it writes included, loses at most the units in flight. Records come back in the order of the keys,
so they are the same, bit for bit, whatever the number of workers and however often the run was
stopped. So that they do not depend on the number of cores either, matrices are multiplied on one
thread: how BLAS shares out a sum decides its last bits.

A store belongs to one **configuration**, the values that define the run. Another one is refused,
and the difference is shown. A unit that raises is tried again (`contextwise.support.maps`); if it
fails for good, its error is stored, the rest goes on, and the next run tries it once more.

Examples
--------
The squares of some numbers, over two processes if ``choose_map(n_jobs=2)`` is given:

>>> import tempfile
>>> folder = tempfile.mkdtemp()
>>> def squares(number):
...     return [{"number": number, "square": number**2}]
>>> units = [Unit(f"square-{number}", number) for number in range(3)]
>>> with Store(folder, {"numbers": 3}) as store:
...     print(run_units(store, units[:2], squares))
2 units done
>>> with Store(folder, {"numbers": 3}) as store:
...     print(run_units(store, units, squares, choose_map(n_jobs=1)))
1 unit done, 2 were there before
>>> read_records(folder)[-1]
{'number': 2, 'square': 4}
"""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from contextwise.errors import ContextwiseError, require
from contextwise.support.maps import Map, choose_map, here
from contextwise.support.progress import Progress, progress_of
from contextwise.support.records import LONGEST_VALUE, difference_words

__all__ = [
    "Ended",
    "Outcome",
    "Store",
    "Unit",
    "choose_map",
    "read_configuration",
    "read_records",
    "run_units",
]

T = TypeVar("T")

FILE = "results.sqlite"
SUFFIX = ".sqlite"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS units (
  key TEXT PRIMARY KEY, seconds REAL NOT NULL, tries INTEGER NOT NULL, error TEXT);
CREATE TABLE IF NOT EXISTS records (unit TEXT NOT NULL, record TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS of_unit ON records (unit);
"""

Record = Mapping[str, Any]
"""A result: JSON values under their names. Ints of any size come back as they were."""


@dataclass(frozen=True)
class Unit:
    """A piece of work.

    Attributes
    ----------
    key : str
        What the store knows it by. Records are given in the order of the keys.
    parameters : anything that can be pickled
        Everything that the result depends on, seeds included.
    """

    key: str
    parameters: Any


@dataclass(frozen=True)
class Ended:
    """A unit that has ended: with records, or with the error that ended it.

    Attributes
    ----------
    key : the unit's
    seconds : how long its function took
    tries : how often it was tried
    records : what it gave
    error : why it failed, or None
    """

    key: str
    seconds: float
    tries: int
    records: Sequence[Record] = ()
    error: str | None = None


@dataclass(frozen=True)
class Outcome:
    """How a run ended: units that were there before, that were done now, and that failed."""

    before: int
    done: int
    failed: tuple[Ended, ...]

    def __str__(self) -> str:
        text = f"{self.done} {'unit' if self.done == 1 else 'units'} done"
        if self.before:
            text += f", {self.before} {'was' if self.before == 1 else 'were'} there before"
        for unit in self.failed:
            text += f"\nfailed {unit.tries} times: {unit.key}: {unit.error}"
        return text


class Store:
    """The results of one run, in one SQLite file.

    Parameters
    ----------
    path : path
        A folder, which gets ``results.sqlite``; or the file itself, named ``….sqlite``. Made if it
        is not there.
    configuration : mapping of JSON values
        What defines the run. A store that holds another one is refused.

    Raises
    ------
    ContextwiseError
        If the file is no store, or holds another configuration.

    Examples
    --------
    >>> import tempfile
    >>> with Store(tempfile.mkdtemp(), {"seed": 1}) as store:
    ...     store.add(Ended("first", seconds=0.5, tries=1, records=[{"errors": 2**70}]))
    ...     print(store.done(), list(store.records()))
    {'first'} [{'errors': 1180591620717411303424}]
    """

    def __init__(self, path: str | os.PathLike[str], configuration: Record) -> None:
        self.path = _file_of(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._db = _connect(self.path)
        try:
            self._claim(configuration)
        except BaseException:
            self.close()
            raise

    def _claim(self, configuration: Record) -> None:
        """Write the configuration into a new store; refuse a store that has another one."""
        with self._db:
            self._db.executescript(_SCHEMA)
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
            what = f"a run with another configuration: {difference_words(stored, mine)}"
            if _is_other_kind(stored, mine):
                what = "a run of another kind"
            raise ContextwiseError(f"{self.path.parent} holds {what}. Choose another folder")

    def about(self) -> dict[str, Any]:
        """The configuration and the versions that the run was begun with."""
        return _about(self._db)

    def done(self) -> set[str]:
        """The keys of the units that are done; a failed unit is tried again by the next run."""
        return {key for (key,) in self._db.execute("SELECT key FROM units WHERE error IS NULL")}

    def failed(self) -> list[Ended]:
        """The units that failed, with their errors."""
        found = self._db.execute(
            "SELECT key, seconds, tries, error FROM units WHERE error IS NOT NULL ORDER BY key"
        )
        return [Ended(key, seconds, tries, (), error) for key, seconds, tries, error in found]

    def add(self, unit: Ended) -> None:
        """Write a unit and its records, in one transaction."""
        records = [(unit.key, json.dumps(record, default=_plain)) for record in unit.records]
        with self._db:
            self._db.execute(
                "INSERT OR REPLACE INTO units VALUES (?, ?, ?, ?)",
                (unit.key, unit.seconds, unit.tries, unit.error),
            )
            self._db.execute("DELETE FROM records WHERE unit = ?", (unit.key,))
            self._db.executemany("INSERT INTO records VALUES (?, ?)", records)

    def records(self) -> Iterator[dict[str, Any]]:
        """All records, in an order that does not depend on which unit ended first."""
        return _records(self._db)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def run_units(
    store: Store,
    units: Iterable[Unit],
    function: Callable[[Any], Sequence[Record]],
    map_units: Map = here,
    *,
    show_progress: bool | Progress = False,
) -> Outcome:
    """Do every unit that the store does not have yet, and store each as it ends.

    Stopping (Ctrl-C included) loses what is in flight and nothing else.

    Parameters
    ----------
    store : Store
        Open; it says which units are done.
    units : Unit objects
        With a key each, no two the same.
    function : function of a unit's parameters
        Gives records. For several processes or a cluster it must be picklable, which a function at
        the top of a module is.
    map_units : Map
        Where the work is done: what `choose_map` gives; by default one unit after the other here.
    show_progress : bool or function of (done, total)
        Done and total of the units that were missing.

    Returns
    -------
    Outcome
        How many units were there before, how many were done, and which failed.
    """
    listed = list(units)
    if len({unit.key for unit in listed}) < len(listed):
        raise ContextwiseError("two units have the same key")
    there = store.done()
    missing = [unit for unit in listed if unit.key not in there]
    ended: list[Ended] = []
    with progress_of(show_progress, "units of work") as progress:
        for done in map_units(partial(_timed, function), missing):
            seconds, records = done.value or (0.0, ())
            ended.append(Ended(done.item.key, seconds, done.tries, records, done.error))
            store.add(ended[-1])
            if progress:
                progress(len(ended), len(missing))
    failed = tuple(unit for unit in ended if unit.error is not None)
    return Outcome(len(listed) - len(missing), len(ended) - len(failed), failed)


def _timed(
    function: Callable[[Any], Sequence[Record]], unit: Unit
) -> tuple[float, Sequence[Record]]:
    began = time.perf_counter()
    with require("threadpoolctl", "jobs").threadpool_limits(1):
        records = function(unit.parameters)
    return time.perf_counter() - began, records


def read_records(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The records of a run, without opening it for writing.

    Parameters
    ----------
    path : path
        The run's folder, or its ``.sqlite`` file.

    Raises
    ------
    ContextwiseError
        If there is no run, or the file is no store.
    """
    return _read(path, lambda db: list(_records(db)))


def read_configuration(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What defines a run, without opening it for writing.

    Parameters
    ----------
    path : path
        The run's folder, or its ``.sqlite`` file.

    Returns
    -------
    dict
        Empty for a store that was never begun.

    Raises
    ------
    ContextwiseError
        If there is no run, or the file is no store.
    """
    found = _read(path, _about).get("configuration", {})
    return found if isinstance(found, dict) else {}


def _read(path: str | os.PathLike[str], look: Callable[[sqlite3.Connection], T]) -> T:
    """What a function finds in a store, which is only read."""
    file = _file_of(path)
    if not file.exists():
        raise ContextwiseError(f"{path}: there is no run here; {file.name} is missing")
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as db:
        try:
            return look(db)
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            raise ContextwiseError(f"{file}: not the results of a run: {error}") from None


def versions() -> dict[str, str]:
    """What a result was made with."""
    return {
        "contextwise": version("contextwise"),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "machine": platform.machine(),
    }


def _file_of(path: str | os.PathLike[str]) -> Path:
    place = Path(path)
    return place if place.suffix == SUFFIX or place.is_file() else place / FILE


def _about(db: sqlite3.Connection) -> dict[str, Any]:
    return {key: json.loads(value) for key, value in db.execute("SELECT * FROM about")}


def _records(db: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    for (text,) in db.execute("SELECT record FROM records ORDER BY unit, rowid"):
        record = json.loads(text)
        if not isinstance(record, dict):
            raise ValueError(f"{text[:LONGEST_VALUE]!r} is no record")
        yield record


def _plain(value: Any) -> Any:
    """A NumPy number as Python's own."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{value!r} is no JSON value")


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


def _is_other_kind(stored: Record, mine: Record) -> bool:
    """Whether two configurations share so few settings that their runs do different work."""
    return 2 * len(stored.keys() & mine.keys()) < len(stored.keys() | mine.keys())
