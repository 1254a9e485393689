"""Run units of work and keep their results in one SQLite file, so that a run can resume.

A **unit** is a key and the parameters that its result depends on. `run_units` computes the units
that the store does not have yet and writes each one, with its records, in one transaction. A
process killed at any moment loses only the units in flight. Records are returned in the order of
the keys, so they do not depend on the number of workers or on interruptions. Matrix products run on
one thread, because the way BLAS splits a sum changes its last bits.

A store belongs to one **configuration**, the values that define the run; a different one is
refused. A unit that fails is not kept, so the next run tries it again. One process at a time has a
store: SQLite's lock on the file ends with the process.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from contextwise.errors import ContextwiseError, MissingPackage
from contextwise.support.effort import QUIET, Effort
from contextwise.support.formatting import name, plural
from contextwise.support.machine import one_thread
from contextwise.support.maps import Finished, choose_map

FILE = "results.sqlite"
MOST_DIFFERENCES = 3
"""The most differences of configurations that a message shows."""

Record = Mapping[str, Any]
"""A result: JSON values under their names."""


@dataclass(frozen=True)
class Unit:
    """A piece of work: its key, and picklable parameters that determine its result."""

    key: str
    parameters: Any


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run: how many units were there before, how many were done, which failed."""

    before: int
    done: int
    failed: tuple[Finished[Unit, Any], ...]

    def __str__(self) -> str:
        text = f"{plural(self.done, 'unit')} done"
        if self.before:
            text += f", {self.before} {'was' if self.before == 1 else 'were'} there before"
        for unit in self.failed:
            text += f"\nfailed: {unit.item.key}: {unit.error}"
        return text


class Store:
    """The results of one run.

    ``folder`` gets ``results.sqlite``; None keeps the results in memory. Raises
    `ContextwiseError` if another process has the store, if it holds another configuration, or if it
    is not a readable store.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> for count in (2, 3):
    ...     with Store(folder, {"seed": 1}) as store:
    ...         units = [Unit(f"square-{number}", number) for number in range(count)]
    ...         print(run_units(store, units, lambda number: [{"square": number**2}]))
    ...         print(list(store.records())[-1])
    2 units done
    {'square': 1}
    1 unit done, 2 were there before
    {'square': 4}
    """

    def __init__(self, folder: str | os.PathLike[str] | None, configuration: Record) -> None:
        self.path = Path(":memory:" if folder is None else folder) / FILE
        try:
            if folder is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            text = f"{self.path.parent} is a file; name a folder for the results"
            raise ContextwiseError(text) from None
        except OSError as error:
            raise ContextwiseError(f"{self.path}: {error.strerror or error}") from None
        place = ":memory:" if folder is None else self.path
        with _explained(self.path):
            self._db = sqlite3.connect(place, timeout=1, isolation_level=None)
            try:
                self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
                self._db.execute("PRAGMA synchronous = FULL")
                self._begin(configuration)
            except BaseException:
                self.close()
                raise

    def _begin(self, configuration: Record) -> None:
        """Create the store, or check the stored configuration."""
        (problem,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
        if problem != "ok":
            raise sqlite3.DatabaseError(problem)
        with self._transaction() as db:
            tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
            if not tables:
                db.execute("CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID")
                db.execute("CREATE TABLE units (key TEXT PRIMARY KEY, records TEXT) WITHOUT ROWID")
                row = ("configuration", json.dumps(configuration))
                db.execute("INSERT INTO about (key, value) VALUES (?, ?)", row)
            elif not tables >= {"about", "units"}:
                raise sqlite3.DatabaseError("it has other tables")
            else:
                self._check(configuration)
            self._keys = {key for (key,) in db.execute("SELECT key FROM units")}

    def _check(self, configuration: Record) -> None:
        """Raise if the file has another configuration."""
        query = "SELECT value FROM about WHERE key = 'configuration'"
        row = self._db.execute(query).fetchone()
        stored = json.loads(row[0]) if row else {}
        # As the file holds them, with lists instead of tuples, so that they compare.
        wanted = json.loads(json.dumps(configuration))
        if stored == wanted:
            return
        what = "a run of another kind"
        if 2 * len(stored.keys() & wanted) >= len(stored.keys() | wanted):
            what = f"a run with another configuration: {_differences(stored, wanted)}"
        raise ContextwiseError(f"{self.path.parent} holds {what}. Choose another folder")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._db.execute("BEGIN EXCLUSIVE")
        try:
            yield self._db
            self._db.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            raise

    def done(self) -> set[str]:
        """Return the keys of the units that are done; failed units are not."""
        return set(self._keys)

    def add(self, key: str, records: Sequence[Record]) -> None:
        """Write the records of a unit in one transaction."""
        text = json.dumps([dict(record) for record in records], default=_plain)
        with _explained(self.path), self._transaction() as db:
            db.execute("DELETE FROM units WHERE key = ?", (key,))
            db.execute("INSERT INTO units (key, records) VALUES (?, ?)", (key, text))
        self._keys.add(key)

    def records(self, keys: Collection[str] | None = None) -> Iterator[dict[str, Any]]:
        """Yield the records of these units in their order, by default of all, sorted by key."""
        with _explained(self.path):
            for key in sorted(self._keys) if keys is None else keys:
                if key in self._keys:
                    query = "SELECT records FROM units WHERE key = ?"
                    (text,) = self._db.execute(query, (key,)).fetchone()
                    yield from json.loads(text)

    def remember(self, key: str, value: object) -> None:
        """Keep a JSON value under a name."""
        with _explained(self.path), self._transaction() as db:
            row = (f"note {key}", json.dumps(value, default=_plain))
            db.execute("INSERT OR REPLACE INTO about (key, value) VALUES (?, ?)", row)

    def remembered(self, key: str) -> Any:
        """Return the value kept under a name, or None."""
        with _explained(self.path):
            query = "SELECT value FROM about WHERE key = ?"
            row = self._db.execute(query, (f"note {key}",)).fetchone()
        return json.loads(row[0]) if row else None

    def close(self) -> None:
        """Close the file, for another process to open."""
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def run_units(
    store: Store,
    units: Iterable[Unit],
    function: Callable[[Any], Sequence[Record]],
    effort: Effort = QUIET,
) -> Outcome:
    """Compute every unit that the store does not have yet, and write each as it ends.

    ``function`` takes the parameters of a unit and returns its records. Stopping (Ctrl-C and the
    deadline included) loses only the units in flight.
    """
    listed = list(units)
    if len({unit.key for unit in listed}) < len(listed):
        raise ContextwiseError("two units have the same key")
    stored = store.done()
    missing = [unit for unit in listed if unit.key not in stored]
    failed: list[Finished[Unit, Any]] = []
    with effort.showing("units of work") as shown:
        how = {"n_jobs": shown.n_jobs, "cluster": shown.cluster, "deadline": shown.deadline}
        finished = choose_map(**how)(partial(_on_one_thread, function), missing)
        for count, done in enumerate(finished, start=1):
            if isinstance(done.problem, MissingPackage):
                raise done.problem
            if done.error is None:
                store.add(done.item.key, done.value or ())
            else:
                failed.append(done)
            shown.report(count, len(missing))
    return Outcome(len(listed) - len(missing), len(missing) - len(failed), tuple(failed))


def _on_one_thread(function: Callable[[Any], Sequence[Record]], unit: Unit) -> Sequence[Record]:
    with one_thread():
        return function(unit.parameters)


@contextmanager
def _explained(file: Path) -> Iterator[None]:
    """Turn an error of SQLite into one that names the file and the remedy."""
    try:
        yield
    except (sqlite3.Error, ValueError, TypeError, RecursionError) as error:
        # The low byte of an extended code is the basic code.
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            reason = (
                "another process is writing to it; wait for it to end, stop it, or choose another "
                "folder"
            )
        elif code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            reason = f"cannot write ({error}); free some disk space and run again to resume"
        elif code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
            reason = f"cannot write here ({error}); check the permissions, or delete the file"
        else:
            what = "not the results of a run, or damaged"
            reason = f"{what} ({error}); delete this file and run again"
        raise ContextwiseError(f"{file}: {reason}") from None


# -- values ----------------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    """Convert a NumPy number."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{value!r} is not a JSON value")


def _differences(stored: Record, current: Record) -> str:
    """Describe the differences between two configurations in a few words."""
    keys = sorted(key for key in {**stored, **current} if stored.get(key) != current.get(key))
    text = [
        f"{key} is {_short(stored.get(key))} there and {_short(current.get(key))} here"
        for key in keys[:MOST_DIFFERENCES]
    ]
    more = len(keys) - len(text)
    return "; ".join(text) + (f"; and {more} more" if more else "")


def _short(value: object) -> str:
    return "not set" if value is None else name(json.dumps(value, ensure_ascii=False), 60)
