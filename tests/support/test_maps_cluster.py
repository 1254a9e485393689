"""Work on a Dask cluster: a scheduler and workers as processes of this machine, one of them killed.

The results are those of the work done here, and what goes wrong is one clear line.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from contextwise import distance_matrix, examples, study
from contextwise.errors import ContextwiseError
from contextwise.support.effort import Effort
from contextwise.support.maps import Finished, _result, _workers_of, choose_map
from contextwise.support.store import Record, Store, Unit, run_units

distributed = pytest.importorskip("distributed")

ALONE = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file"]
WORKER = ["--nthreads", "1", "--no-nanny"]


@dataclass(frozen=True)
class Cluster:
    """The processes of a cluster, and where its scheduler listens."""

    address: str
    scheduler: subprocess.Popen[bytes]
    workers: tuple[subprocess.Popen[bytes], ...]


def start(folder: Path, role: str, *options: str) -> subprocess.Popen[bytes]:
    # Workers import the functions of this module, and the same package as this process.
    places = [
        str(Path(__file__).parent),
        str(Path(__file__).parents[1]),
        *filter(None, [os.environ.get("PYTHONPATH")]),
    ]
    with open(folder / f"{role}.log", "ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", role, *ALONE, str(folder / "scheduler"), *options],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(places), "OMP_NUM_THREADS": "1"},
            stdout=log,
            stderr=log,
        )


@pytest.fixture(name="cluster", scope="module")
def _cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    scheduler = start(folder, "scheduler", "--port", "0")
    workers = tuple(start(folder, "worker", *WORKER) for _ in range(2))
    try:
        with distributed.Client(scheduler_file=str(folder / "scheduler"), timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
            address = client.scheduler.address
        yield Cluster(address, scheduler, workers)
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


def slow_square(number: int) -> int:
    time.sleep(0.01)
    return number * number


def refuses_seven(number: int) -> int:
    if number == 7:
        raise ValueError("seven")
    return number


def one_record(number: int) -> list[Record]:
    return [{"number": slow_square(number)}]


def kills_its_worker_once(unit: tuple[str, int]) -> int:
    folder, number = unit
    mark = Path(folder) / "killed"
    if number == 5 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return slow_square(number)


# The tests of the cluster run in this order: the first loses a worker, the last the scheduler.


def test_the_same_results_though_a_worker_is_killed(cluster: Cluster, tmp_path: Path) -> None:
    units = [(str(tmp_path), k) for k in range(30)]
    done = list(choose_map(cluster=cluster.address)(kills_its_worker_once, units))
    assert (tmp_path / "killed").exists()
    assert not [unit.error for unit in done if unit.error is not None]
    assert {unit.value for unit in done} == {k * k for k in range(30)}
    assert len(done) == 30
    assert sorted(process.poll() is None for process in cluster.workers) == [False, True]


def test_a_unit_that_fails_is_reported_and_the_rest_goes_on(cluster: Cluster) -> None:
    there = {
        unit.item: unit for unit in choose_map(cluster=cluster.address)(refuses_seven, range(10))
    }
    assert there == {unit.item: unit for unit in choose_map()(refuses_seven, range(10))}
    assert there[7].error == "ValueError: seven"


def test_a_matrix_is_the_same_on_a_cluster(cluster: Cluster) -> None:
    models = [examples.load(name) for name in ("six", "six-graph", "six-guess")]
    there = distance_matrix(models, cluster=cluster.address)
    assert there.distances.tolist() == distance_matrix(models).distances.tolist()


def test_the_units_of_a_study_give_the_same_records(cluster: Cluster, tmp_path: Path) -> None:
    units = [Unit(f"unit-{k}", k) for k in range(8)]
    records = {}
    for place, chosen in {
        "here": Effort(),
        "there": Effort(cluster=cluster.address),
    }.items():
        with Store(tmp_path / place, {"seed": 1}) as store:
            assert run_units(store, units, one_record, chosen).done == 8
            records[place] = list(store.records())
    assert records["here"] == records["there"]


def test_a_study_is_the_same_on_a_cluster(cluster: Cluster) -> None:
    small: Any = {"truths": "paper", "learners": ["chow-liu", "trees"], "rows": 60, "repeats": 2}
    here, there = study(**small), study(**small, cluster=cluster.address)
    for record in (*here.results, *there.results):
        del record["seconds"]
    assert len(here.results) == 4
    assert here.results == there.results


def test_a_client_of_the_caller_stays_open(cluster: Cluster) -> None:
    with distributed.Client(cluster.address, timeout=30) as client:
        running = choose_map(cluster=client)(slow_square, range(10_000))
        assert next(running).error is None
        running.close()  # type: ignore[attr-defined]
        assert client.status == "running"
        assert [done.value for done in choose_map(cluster=client)(slow_square, [3])] == [9]


def test_a_cluster_that_goes_away_is_one_line(cluster: Cluster) -> None:
    running = choose_map(cluster=cluster.address)(slow_square, range(10_000))
    assert next(running).error is None
    cluster.scheduler.kill()
    with pytest.raises(ContextwiseError, match="the cluster stopped"):
        list(running)


# -- without a cluster ---------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "no address at all"])
def test_no_scheduler_is_one_line(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contextwise.support.maps.SECONDS_FOR_A_CLUSTER", 0.5)
    with pytest.raises(ContextwiseError, match=f"no Dask scheduler answers at '{address}'"):
        next(choose_map(cluster=address)(slow_square, [1]))


@dataclass(frozen=True)
class Client:
    """Fake client with the methods that are called before work is handed out."""

    versions: dict[str, Any]

    def wait_for_workers(self, count: int, timeout: float) -> None:
        if len(self.versions) < count:
            raise TimeoutError

    def run(self, *_: object, **__: object) -> dict[str, Any]:
        return self.versions


@pytest.mark.parametrize(
    ("versions", "message"),
    [
        ({}, "has no workers"),
        ({"tcp://w": "0.0.0"}, "the worker tcp://w has contextwise 0.0.0"),
        ({"tcp://w": PackageNotFoundError("contextwise")}, "the worker tcp://w has no contextwise"),
    ],
)
def test_workers_that_cannot_do_the_work(versions: dict[str, Any], message: str) -> None:
    with pytest.raises(ContextwiseError, match=message):
        _workers_of(Client(versions))


def test_a_unit_that_kills_every_worker_is_reported() -> None:
    future: Future[Finished[int, int]] = Future()
    last = SimpleNamespace(address="tcp://last")
    future.set_exception(distributed.KilledWorker("unit", last, 3))
    done = _result(future, 7, 1)
    assert done is not None
    assert done.item == 7
    assert "KilledWorker" in str(done.error)
