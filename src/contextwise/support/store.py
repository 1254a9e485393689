"""Run units of work and keep their results in one SQLite file, so that a run can resume.

A **unit** is a key and the parameters that its result depends on. `run_units` computes the units
that the store does not have yet and writes each one, with its records, in one transaction. A
process killed at any moment loses only the units in flight. Records are returned in the order of
the keys, so they do not depend on the number of workers or on interruptions. Matrix products run on
one thread, because the way BLAS splits a sum changes its last bits.

A store belongs to one **configuration**, the values that define the run; a different one is
refused. A unit that fails keeps its error and is tried again by the next run. One process writes at
a time. Each row has a checksum; damaged rows are dropped with a warning and computed again. The
store knows which versions made its results, and a run that resumes with others gets a warning.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from contextwise.errors import ContextwiseError, MissingPackage, require
from contextwise.support.effort import QUIET, Effort
from contextwise.support.formatting import digits_of, plural

FILE = "results.sqlite"
SUFFIX = ".sqlite"
TABLES = {
    "about": "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT, checksum TEXT) WITHOUT ROWID",
    "units": "CREATE TABLE units (key TEXT PRIMARY KEY, seconds REAL, tries INTEGER, error TEXT, "
    "records TEXT, checksum TEXT) WITHOUT ROWID",
}
MOST_DIFFERENCES = 3
"""The most differences of configurations that a message shows."""
LONGEST_VALUE = 60
"""The most characters of a value that a message shows."""

Record = Mapping[str, Any]
"""A result: JSON values under their names, ints of any size."""


class DamagedResults(UserWarning):
    """Some results in a store are damaged and will be computed again."""


class MixedVersions(UserWarning):
    """A run resumes with other versions than those of its first results."""


@dataclass(frozen=True)
class Unit:
    """A piece of work: its key, and picklable parameters that determine its result."""

    key: str
    parameters: Any


@dataclass(frozen=True)
class Ended:
    """A unit that has ended, with its records or with an error."""

    key: str
    seconds: float
    tries: int
    records: Sequence[Record] = ()
    error: str | None = None
    problem: Exception | None = None  # which the store does not keep


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run: how many units were there before, how many were done, which failed."""

    before: int
    done: int
    failed: tuple[Ended, ...]

    def __str__(self) -> str:
        text = f"{plural(self.done, 'unit')} done"
        if self.before:
            text += f", {self.before} {'was' if self.before == 1 else 'were'} there before"
        for unit in self.failed:
            times = f" {unit.tries} times" if unit.tries > 1 else ""
            text += f"\nfailed{times}: {unit.key}: {unit.error}"
        return text


class Store:
    """The results of one run, open for writing.

    ``path`` is a folder, which gets ``results.sqlite``, or a file named ``….sqlite``; None is a
    temporary folder, which `close` removes. Raises `ContextwiseError` if another process writes to
    it, if it holds another configuration, or if it is not a readable store.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> for count in (2, 3):
    ...     with Store(folder, {"seed": 1}) as store:
    ...         units = [Unit(f"square-{number}", number) for number in range(count)]
    ...         print(run_units(store, units, lambda number: [{"square": number**2}]))
    2 units done
    1 unit done, 2 were there before
    >>> read_records(folder)[-1]
    {'square': 4}
    """

    def __init__(self, path: str | os.PathLike[str] | None, configuration: Record) -> None:
        self._folder = TemporaryDirectory() if path is None else nullcontext(path)
        self.path = _file_of(self._folder.__enter__())
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = None if path is None else _lock(self.path)
        except OSError as error:
            raise ContextwiseError(f"{self.path}: {error.strerror or error}") from None
        self._db: sqlite3.Connection | None = None
        try:
            with _explained(self.path):
                self._db = sqlite3.connect(self.path, timeout=30, isolation_level=None)
                self._db.execute("PRAGMA synchronous = FULL")
                # As the file holds it, with lists instead of tuples, so that the two compare.
                self._begin(json.loads(json.dumps(configuration)))
        except BaseException:
            self.close()
            raise

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._db is None:
            raise ContextwiseError(f"{self.path}: the store is closed")
        return self._db

    def _begin(self, configuration: Record) -> None:
        """Create the store, or check the stored configuration and drop damaged rows."""
        with self._transaction() as db:
            if not self.path.stat().st_size:
                for statement in TABLES.values():
                    db.execute(statement)
                _describe(db, "configuration", configuration)
                _describe(db, "versions", [versions()])
                self._keys: set[str] = set()
                return
            _check_file(db)
            about = _about(db)
            stored = about["configuration"]
            if stored != configuration:
                what = "a run of another kind"
                if 2 * len(stored.keys() & configuration) >= len(stored.keys() | configuration):
                    differences = _differences(stored, configuration)
                    what = f"a run with another configuration: {differences}"
                raise ContextwiseError(f"{self.path.parent} holds {what}. Choose another folder")
            rows = list(_rows(db))
            damaged = [row.key for row in rows if not row.is_intact]
            self._keys = {row.key for row in rows if row.is_intact and row.error is None}
            for key in damaged:
                db.execute("DELETE FROM units WHERE key = ?", (key,))
            before = about["versions"]
            if versions() not in before:
                kept = before if self._keys else []
                _describe(db, "versions", [*kept, versions()])
        if self._keys and versions() != before[-1]:
            warnings.warn(
                f"{self.path.parent} holds results of other versions: "
                f"{_differences(before[-1], versions())}. To compute all with the same versions, "
                "choose another folder",
                MixedVersions,
                stacklevel=4,
            )
        if damaged:
            warnings.warn(
                f"{self.path}: {plural(len(damaged), 'result')} damaged; computing them again",
                DamagedResults,
                stacklevel=4,
            )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        db = self._connection
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
            db.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                db.execute("ROLLBACK")
            raise

    def done(self) -> set[str]:
        """Return the keys of the units that are done; failed units are not."""
        return set(self._keys)

    def add(self, unit: Ended) -> None:
        """Write a unit and its records in one transaction."""
        text = _dumped([dict(record) for record in unit.records])
        row = (unit.key, float(unit.seconds), unit.tries, unit.error, text)
        with _explained(self.path), self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO units VALUES (?, ?, ?, ?, ?, ?)", (*row, _sum(*row)))
        if unit.error is None:
            self._keys.add(unit.key)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield all records in the order of the keys; raise if a row was damaged meanwhile."""
        with _explained(self.path):
            intact = [row for row in _rows(self._connection) if row.is_intact]
            if not self._keys <= {row.key for row in intact}:
                raise sqlite3.DatabaseError("rows that were written are missing")
            for row in intact:
                yield from row.loaded()

    def close(self) -> None:
        """Close the file and release the lock."""
        if self._db is not None:
            self._db.close()
            self._db = None
        if self._lock is not None and self._lock.is_locked:
            with suppress(OSError):
                # Deleted while the lock is held: afterwards it may be that of another process.
                os.unlink(self._lock.lock_file)
            self._lock.release()
        self._folder.__exit__(None, None, None)

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

    ``function`` takes the parameters of a unit and returns its records. Stopping (Ctrl-C included)
    loses only the units in flight.
    """
    listed = list(units)
    if len({unit.key for unit in listed}) < len(listed):
        raise ContextwiseError("two units have the same key")
    stored = store.done()
    missing = [unit for unit in listed if unit.key not in stored]
    ended: list[Ended] = []
    with effort.showing("units of work") as shown:
        for done in shown.map(partial(_timed, function), missing):
            if isinstance(done.problem, MissingPackage):
                raise done.problem
            seconds, records = done.value or (0.0, ())
            of_unit = (done.item.key, seconds, done.tries, records, done.error, done.problem)
            ended.append(Ended(*of_unit))
            store.add(ended[-1])
            shown.report(len(ended), len(missing))
    failed = tuple(unit for unit in ended if unit.error is not None)
    return Outcome(len(listed) - len(missing), len(ended) - len(failed), failed)


def _timed(
    function: Callable[[Any], Sequence[Record]], unit: Unit
) -> tuple[float, Sequence[Record]]:
    began = time.perf_counter()
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:  # with several processes it is installed; see `maps`
        records = function(unit.parameters)
    else:
        with threadpool_limits(1):
            records = function(unit.parameters)
    return time.perf_counter() - began, records


def read_records(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return the records of a run, from its folder or its ``.sqlite`` file."""
    with _opened(path) as db:
        rows = list(_rows(db))
        damaged = sum(not row.is_intact for row in rows)
        if damaged:
            raise ContextwiseError(
                f"{_file_of(path)}: {damaged} of {len(rows)} results are damaged; run the same "
                "command again to compute them anew"
            )
        return [record for row in rows for record in row.loaded()]


def read_configuration(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the configuration of a run, from its folder or its ``.sqlite`` file."""
    with _opened(path) as db:
        configuration: dict[str, Any] = _about(db)["configuration"]
        return configuration


def read_versions(path: str | os.PathLike[str]) -> dict[str, str]:
    """Return the versions that made the results of a run; several if it resumed with others."""
    with _opened(path) as db:
        used: list[dict[str, str]] = _about(db)["versions"]
    names = dict.fromkeys(name for each in used for name in each)
    return {
        name: ", then ".join(dict.fromkeys(each[name] for each in used if name in each))
        for name in names
    }


def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    return {
        "contextwise": version("contextwise"),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "machine": platform.machine(),
    }


# -- the file --------------------------------------------------------------------------------------


class _Row(NamedTuple):
    key: str
    seconds: float
    tries: int
    error: str | None
    records: str
    checksum: str

    @property
    def is_intact(self) -> bool:
        return self.checksum == _sum(*self[:-1])

    def loaded(self) -> list[dict[str, Any]]:
        try:
            records = json.loads(self.records, parse_int=_int)
        except (ValueError, TypeError, RecursionError):
            records = None
        if not isinstance(records, list) or not all(isinstance(r, dict) for r in records):
            raise sqlite3.DatabaseError(
                f"{self.records[:LONGEST_VALUE]!r} is not a list of records"
            )
        return records


def _rows(db: sqlite3.Connection) -> Iterator[_Row]:
    return (_Row(*row) for row in db.execute("SELECT * FROM units ORDER BY key"))


def _about(db: sqlite3.Connection) -> dict[str, Any]:
    rows = list(db.execute("SELECT key, value, checksum FROM about"))
    if [key for key, *_ in rows] != ["configuration", "versions"] or any(
        checksum != _sum(key, value) for key, value, checksum in rows
    ):
        raise sqlite3.DatabaseError("its description is damaged")
    about = {key: json.loads(value) for key, value, _ in rows}
    if isinstance(about["versions"], dict):  # as written before versions were compared
        about["versions"] = [about["versions"]]
    return about


def _describe(db: sqlite3.Connection, key: str, value: Any) -> None:
    text = json.dumps(value)
    db.execute("INSERT OR REPLACE INTO about VALUES (?, ?, ?)", (key, text, _sum(key, text)))


def _check_file(db: sqlite3.Connection) -> None:
    """Raise `sqlite3.DatabaseError` unless this is a store whose pages are consistent."""
    tables = dict(db.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))
    if tables != TABLES:
        raise sqlite3.DatabaseError("it has other tables")
    (problem,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if problem != "ok":
        raise sqlite3.DatabaseError(problem)


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[sqlite3.Connection]:
    """Open a store for reading, also while another process writes to it."""
    file = _file_of(path)
    if not file.exists():
        raise ContextwiseError(f"{path}: there is no run here; {file.name} is missing")
    # Writing is allowed where possible: SQLite may have to undo what a killed process left.
    mode = "rw" if os.access(file, os.W_OK) and os.access(file.parent, os.W_OK) else "ro"
    with _explained(file):
        uri = f"{file.absolute().as_uri()}?mode={mode}"
        with closing(sqlite3.connect(uri, uri=True, timeout=30)) as db:
            db.execute("PRAGMA query_only = ON")
            _check_file(db)
            yield db


@contextmanager
def _explained(file: Path) -> Iterator[None]:
    """Turn an error of SQLite into one that names the file and the remedy."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        # The low byte of an extended code is the basic code.
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            reason = "another process is writing to it; wait for it to end and run again"
        elif code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            reason = f"cannot write ({error}); free some disk space and run again to resume"
        elif code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
            reason = f"cannot write here ({error}); check the permissions, or delete the file"
        else:
            what = "not the results of a run, or damaged"
            reason = f"{what} ({error}); delete this file and run again"
        raise ContextwiseError(f"{file}: {reason}") from None


def _lock(file: Path) -> Any:
    """Take the lock of a store for this process; raise if another process holds it."""
    filelock = require("filelock", "jobs")
    # Another thread may close the store.
    lock = filelock.FileLock(f"{file}.lock", timeout=0, thread_local=False)
    place = Path(lock.lock_file)
    try:
        lock.acquire()
    except filelock.Timeout:
        holder = ""
        with suppress(OSError):
            holder = place.read_text(errors="replace")
        raise ContextwiseError(
            f"{file}: {holder or 'another process'} is writing to it; wait for it to end, stop it, "
            "or choose another folder"
        ) from None
    with suppress(OSError):  # a full disk is reported when results are written
        place.write_text(f"process {os.getpid()} on {platform.node()}, started {time.ctime()},")
    return lock


def _file_of(path: str | os.PathLike[str]) -> Path:
    place = Path(path)
    return place if place.suffix == SUFFIX or place.is_file() else place / FILE


# -- values ----------------------------------------------------------------------------------------


def _sum(*values: object) -> str:
    return blake2b(repr(values).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _dumped(records: list[dict[str, Any]]) -> str:
    """Write records as JSON; ints may have more digits than ``str`` writes."""
    try:
        return json.dumps(records, default=_plain)
    except ValueError:
        text = json.dumps(_with_marked_ints(records), default=_plain)
        return re.sub(r'"\\u0000(-?[0-9]+)"', r"\1", text)


def _with_marked_ints(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_marked_ints(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_marked_ints(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return f"\0{digits_of(value)}"
    return value


def _int(digits: str) -> int:
    return int(digits) if len(digits) < 4000 else int(Decimal(digits))


def _plain(value: Any) -> Any:
    """Convert a NumPy number."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{value!r} is not a JSON value")


def _differences(stored: Record, current: Record) -> str:
    """Describe the differences between two configurations in a few words."""
    left, right = _flat(stored, current), _flat(current, stored)
    keys = sorted(key for key in left | right if left.get(key) != right.get(key))
    text = [
        f"{key} is {_short(left.get(key))} there and {_short(right.get(key))} here"
        for key in keys[:MOST_DIFFERENCES]
    ]
    more = len(keys) - len(text)
    return "; ".join(text) + (f"; and {more} more" if more else "")


def _flat(record: Record, other: Record) -> dict[str, Any]:
    """Flatten mappings that both records have with the same keys."""
    flat: dict[str, Any] = {}
    for key, value in record.items():
        twin = other.get(key)
        if isinstance(value, Mapping) and isinstance(twin, Mapping) and value.keys() == twin.keys():
            flat |= {f"{key}.{inner}": item for inner, item in value.items()}
        else:
            flat[key] = value
    return flat


def _short(value: object) -> str:
    text = "not set" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
