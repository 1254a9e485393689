"""Work is mapped the same way here and over processes, and failures are reported."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from contextwise.errors import ContextwiseError, require
from contextwise.support.effort import Effort
from contextwise.support.maps import choose_map
from contextwise.support.store import Store, Unit, run_units


def square(number: int) -> int:
    return number * number


def refuses_seven(number: int) -> int:
    if number == 7:
        raise ValueError("seven")
    return number


def dies_once(place: tuple[str, int]) -> int:
    """Kills its own process the first time it sees the number 3."""
    folder, number = place
    mark = Path(folder) / "died"
    if number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_unit_is_done(jobs: int) -> None:
    done = list(choose_map(n_jobs=jobs)(square, range(40)))
    assert {unit.value for unit in done} == {k * k for k in range(40)}
    assert len(done) == 40
    assert all(unit.error is None for unit in done)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_unit_that_fails_is_reported_and_the_rest_goes_on(jobs: int) -> None:
    done = {unit.item: unit for unit in choose_map(n_jobs=jobs)(refuses_seven, range(10))}
    assert done[7].error == "ValueError: seven"
    assert isinstance(done[7].problem, ValueError)
    if jobs == 2:  # an exception loses its traceback on the way here
        assert 'raise ValueError("seven")' in done[7].problem.__notes__[0]
    assert all(done[k].value == k for k in range(10) if k != 7)


class Stubborn(Exception):
    """It cannot be pickled."""

    def __reduce__(self) -> str:
        raise TypeError("no")


def raises_stubborn(number: int) -> int:
    raise Stubborn(number)


def test_an_exception_that_cannot_travel_keeps_its_text() -> None:
    (done,) = choose_map(n_jobs=2)(raises_stubborn, [3])
    assert done.error == "Stubborn: 3"
    assert isinstance(done.problem, RuntimeError)
    assert "raise Stubborn(number)" in done.problem.__notes__[0]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_internal_error_stays_what_it_is(jobs: int) -> None:
    with pytest.raises(ValueError, match="seven"):
        list(Effort(n_jobs=jobs).each("refusing", refuses_seven, range(10)))


def needs_a_package(number: int) -> Any:
    return require("no_such_package_at_all", "jobs")


def test_a_missing_package_stops_a_run_at_once(tmp_path: Path) -> None:
    with Store(tmp_path, {}) as store:
        with pytest.raises(ContextwiseError, match=r"^this needs the package"):
            run_units(store, [Unit(str(k), k) for k in range(3)], needs_a_package)
        assert not store.done()
    with pytest.raises(ContextwiseError, match=r"^this needs the package"):
        list(Effort(n_jobs=2).each("work", needs_a_package, [1, 2]))


def test_a_unit_whose_worker_died_goes_to_another_one(tmp_path: Path) -> None:
    items = [(str(tmp_path), k) for k in range(12)]
    done = list(choose_map(n_jobs=2)(dies_once, items))
    assert (tmp_path / "died").exists()
    assert {unit.value for unit in done} == set(range(12))
    assert len(done) == 12


def dies(folder: str) -> None:
    """Counts the attempts as files, and kills its own process each time."""
    (Path(folder) / str(os.getpid())).touch()
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_unit_that_kills_three_workers_is_given_up(tmp_path: Path) -> None:
    (done,) = choose_map(n_jobs=2)(dies, [str(tmp_path)])
    assert (done.error or "").startswith("3 workers died over it, the last by ")
    assert len(list(tmp_path.iterdir())) == 3


def sleeps(mark: str) -> int:
    """Writes down its process, and sleeps unless it is the first."""
    (Path(mark) / str(os.getpid())).touch()
    if len(list(Path(mark).iterdir())) > 1:
        time.sleep(600)
    return os.getpid()


def test_stopping_early_leaves_nothing_behind(tmp_path: Path) -> None:
    running = choose_map(n_jobs=2)(sleeps, [str(tmp_path)] * 8)
    assert next(running).error is None
    running.close()  # type: ignore[attr-defined]
    workers = [int(mark.name) for mark in tmp_path.iterdir()]
    assert workers
    for worker in workers:
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)
    assert [unit.value for unit in choose_map(n_jobs=2)(square, [3])] == [9]


def test_a_missing_package_names_the_packages() -> None:
    with pytest.raises(ContextwiseError, match=r"pip install .*'loky"):
        require("no_such_package_at_all", "jobs")
