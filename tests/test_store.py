"""The store of results: it resumes, refuses other configurations, and survives being killed."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from contextwise.errors import ContextwiseError
from contextwise.execution.maps import here, way_of
from contextwise.execution.runner import Unit, run
from contextwise.execution.store import Row, Store, export_csv, export_parquet, read_rows

COLUMNS = ("number", "square")
UNITS = [Unit(f"unit-{k:02}", str(k), k) for k in range(12)]


def squares(unit: Unit) -> Sequence[Row]:
    return [{"number": unit.work, "square": unit.work**2 + k} for k in range(3)]


def refuses(unit: Unit) -> Sequence[Row]:
    if unit.work == 5:
        raise ValueError("five")
    return squares(unit)


EXPECTED = [row for unit in UNITS for row in squares(unit)]


def test_rows_do_not_depend_on_workers(tmp_path: Path) -> None:
    for jobs in (1, 2):
        with Store(tmp_path / str(jobs), COLUMNS, {"seed": 1}) as store:
            outcome = run(store, UNITS, squares, way_of(jobs=jobs))
            assert (outcome.before, outcome.done, outcome.failed) == (0, 12, ())
            assert list(store.rows()) == EXPECTED
        assert read_rows(tmp_path / str(jobs)) == EXPECTED


def threads(unit: Unit) -> Sequence[Row]:
    return [{"threads": max(pool["num_threads"] for pool in threadpool_info())}]


@pytest.mark.parametrize("jobs", [1, 2])
def test_rows_do_not_depend_on_the_number_of_cores(jobs: int, tmp_path: Path) -> None:
    with Store(tmp_path, ("threads",), {"seed": 1}) as store:
        assert not run(store, UNITS[:2], threads, way_of(jobs=jobs)).failed
        assert list(store.rows()) == [{"threads": 1}] * 2


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with Store(tmp_path, COLUMNS, {"seed": 1}) as store:
        run(store, UNITS[:5], squares, here)
    with Store(tmp_path, COLUMNS, {"seed": 1}) as store:
        outcome = run(store, UNITS, squares, here)
        assert (outcome.before, outcome.done) == (5, 7)
        assert "5 were there before" in str(outcome)
        assert list(store.rows()) == EXPECTED


def test_another_configuration_is_refused_with_the_difference(tmp_path: Path) -> None:
    Store(tmp_path, COLUMNS, {"seed": 1, "sizes": [50]}).close()
    with pytest.raises(ContextwiseError, match="seed is 1 there and 2 here"):
        Store(tmp_path, COLUMNS, {"seed": 2, "sizes": [50]})
    with pytest.raises(
        ContextwiseError, match=r"sizes is \[50\] there and \[0, 1, .*… here"
    ) as many:
        Store(tmp_path, COLUMNS, {"seed": 1, "sizes": list(range(1000))})
    assert len(str(many.value)) < 300 + len(str(tmp_path))


def test_a_failed_unit_is_reported_with_its_seed_and_tried_again(tmp_path: Path) -> None:
    with Store(tmp_path, COLUMNS, {}) as store:
        outcome = run(store, UNITS, refuses, here)
        assert outcome.done == 11
        (failed,) = outcome.failed
        assert (failed.name, failed.seed, failed.error) == ("unit-05", "5", "ValueError: five")
        assert store.failed() == [failed]
        assert run(store, UNITS, squares, here).done == 1
        assert store.failed() == []
        assert list(store.rows()) == EXPECTED


def test_exports(tmp_path: Path) -> None:
    export_csv(EXPECTED, tmp_path / "rows.csv")
    with open(tmp_path / "rows.csv", newline="") as file:
        found = [{key: int(cell) for key, cell in row.items()} for row in csv.DictReader(file)]
    assert found == EXPECTED
    parquet = pytest.importorskip("pyarrow.parquet")
    export_parquet(EXPECTED, tmp_path / "rows.parquet")
    assert parquet.read_table(tmp_path / "rows.parquet").to_pylist() == EXPECTED


def test_what_is_not_a_store(tmp_path: Path) -> None:
    with pytest.raises(ContextwiseError, match="there is no run here"):
        read_rows(tmp_path)
    (tmp_path / "results.sqlite").write_bytes(b"garbage" * 500)
    with pytest.raises(ContextwiseError, match="not a store"):
        Store(tmp_path, COLUMNS, {})
    with pytest.raises(ContextwiseError, match="not the results"):
        read_rows(tmp_path)


WRITER = textwrap.dedent("""
    import sys
    from contextwise.execution.maps import here
    from contextwise.execution.runner import Unit, run
    from contextwise.execution.store import Store

    def work(unit):
        return [{"number": unit.work, "square": k} for k in range(200)]

    units = [Unit(f"unit-{k:04}", str(k), k) for k in range(400)]
    with Store(sys.argv[1], ("number", "square"), {"seed": 1}) as store:
        print("open", flush=True)
        run(store, units, work, here)
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
        with Store(tmp_path, COLUMNS, {"seed": 1}) as store:
            done = store.done()
            rows = list(store.rows())
        assert len(done) >= kept
        assert len(rows) == 200 * len(done), "a unit and its rows are written together"
        kept = len(done)
    subprocess.run([sys.executable, "-c", WRITER, str(tmp_path)], check=True, capture_output=True)
    assert len(read_rows(tmp_path)) == 200 * 400
