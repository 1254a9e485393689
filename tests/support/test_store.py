"""The store of results: it resumes, refuses other configurations, and survives being killed."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from contextwise.errors import ContextwiseError
from contextwise.support.effort import Effort
from contextwise.support.store import Record, Store, Unit, run_units

UNITS = [Unit(f"unit-{k:02}", k) for k in range(12)]


def squares(number: int) -> Sequence[Record]:
    return [{"number": number, "square": number**2 + k} for k in range(3)]


def refuses(number: int) -> Sequence[Record]:
    if number == 5:
        raise ValueError("five")
    return squares(number)


EXPECTED = [record for unit in UNITS for record in squares(unit.parameters)]


def test_rows_do_not_depend_on_workers(tmp_path: Path) -> None:
    for jobs in (1, 2):
        with Store(tmp_path / str(jobs), {"seed": 1}) as store:
            outcome = run_units(store, UNITS, squares, Effort(n_jobs=jobs))
            assert (outcome.before, outcome.done, outcome.failed) == (0, 12, ())
            assert list(store.records()) == EXPECTED


def threads(_: int) -> Sequence[Record]:
    blas = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return [{"threads": max(pool["num_threads"] for pool in blas)}]


@pytest.mark.parametrize("jobs", [1, 2])
def test_rows_do_not_depend_on_the_number_of_cores(jobs: int, tmp_path: Path) -> None:
    with Store(tmp_path, {"seed": 1}) as store:
        assert not run_units(store, UNITS[:2], threads, Effort(n_jobs=jobs)).failed
        assert list(store.records()) == [{"threads": 1}] * 2


def test_a_run_resumes(tmp_path: Path) -> None:
    with Store(tmp_path, {"seed": 1}) as store:
        run_units(store, UNITS[:5], squares)
    with Store(tmp_path, {"seed": 1}) as store:
        outcome = run_units(store, UNITS, squares)
        assert (outcome.before, outcome.done) == (5, 7)
        assert "5 were there before" in str(outcome)
        assert list(store.records()) == EXPECTED


def test_another_configuration_is_refused_with_the_difference(tmp_path: Path) -> None:
    Store(tmp_path, {"seed": 1, "sizes": [50]}).close()
    with pytest.raises(ContextwiseError, match="seed is 1 there and 2 here"):
        Store(tmp_path, {"seed": 2, "sizes": [50]})
    with pytest.raises(
        ContextwiseError, match=r"sizes is \[50\] there and \[0, 1, .*….*, 999\] here"
    ) as many:
        Store(tmp_path, {"seed": 1, "sizes": list(range(1000))})
    assert len(str(many.value)) < 300 + len(str(tmp_path))


def test_a_failed_unit_is_reported_and_tried_again(tmp_path: Path) -> None:
    with Store(tmp_path, {}) as store:
        outcome = run_units(store, UNITS, refuses)
        assert outcome.done == 11
        (failed,) = outcome.failed
        assert failed.item.key == "unit-05"
        assert failed.error == "ValueError: five"
        assert store.done() == {unit.key for unit in UNITS} - {"unit-05"}
        assert run_units(store, UNITS, squares).done == 1
        assert list(store.records()) == EXPECTED


def test_a_key_stands_for_one_unit(tmp_path: Path) -> None:
    with Store(tmp_path, {}) as store:
        with pytest.raises(ContextwiseError, match="two units have the same key"):
            run_units(store, [Unit("same", 1), Unit("same", 2)], squares)
        assert store.done() == set()


def mixed(_: int) -> Sequence[Record]:
    return [{"count": 2**200, "share": np.float64(0.5), "names": ["A", "B"], "open": None}]


def test_records_are_json_of_any_shape() -> None:
    expected = {"count": 2**200, "share": 0.5, "names": ["A", "B"], "open": None}
    with Store(None, {}) as store:
        assert run_units(store, [Unit("one", 1), Unit("none", 0)], mixed).done == 2
        assert list(store.records()) == [expected, expected]
        assert list(store.records(["one", "other"])) == [expected]


def test_progress_tells_of_what_was_missing(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    with Store(tmp_path, {}) as store:
        run_units(store, UNITS[:9], squares)
        run_units(store, UNITS, squares, Effort(show_progress=lambda *place: told.append(place)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_what_is_not_a_store(tmp_path: Path) -> None:
    (tmp_path / "results.sqlite").write_bytes(b"garbage" * 500)
    with pytest.raises(ContextwiseError, match=r"results.sqlite: not the results.*delete"):
        Store(tmp_path, {})
    (tmp_path / "results.sqlite").unlink()
    with closing(sqlite3.connect(tmp_path / "results.sqlite")) as db, db:
        db.execute("CREATE TABLE other (key TEXT)")
    with pytest.raises(ContextwiseError, match=r"results.sqlite: not the results.*other tables"):
        Store(tmp_path, {})


WRITER = textwrap.dedent("""
    import sys
    from contextwise.support.store import Store, Unit, run_units

    def work(number):
        return [{"number": number, "square": k} for k in range(200)]

    units = [Unit(f"unit-{k:04}", k) for k in range(400)]
    with Store(sys.argv[1], {"seed": 1}) as store:
        print("open", flush=True)
        run_units(store, units, work)
""")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_killed_again_and_again_it_loses_nothing_that_was_done(tmp_path: Path) -> None:
    kept = 0
    for attempt in range(4):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE
        )
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(0.05 + 0.07 * attempt)
        os.kill(writer.pid, signal.SIGKILL)
        writer.communicate()
        with Store(tmp_path, {"seed": 1}) as store:
            done = store.done()
            rows = list(store.records())
        assert len(done) >= kept
        assert len(rows) == 200 * len(done), "a unit and its rows are written together"
        kept = len(done)
    subprocess.run([sys.executable, "-c", WRITER, str(tmp_path)], check=True, capture_output=True)
    with Store(tmp_path, {"seed": 1}) as store:
        assert len(list(store.records())) == 200 * 400
