"""Cores and memory: of the process, of its container; work that does not fit is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from contextwise import Domain, Structure, compare, distance_matrix, read
from contextwise.counting.pair_counts import PairCounts
from contextwise.errors import TooLargeError
from contextwise.evaluation import chance
from contextwise.support import machine
from contextwise.support.machine import (
    SMALL,
    container_cores,
    cores,
    free_memory,
    require_memory,
)


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({"memory.max": "900", "memory.current": "200"}, 700),
        (
            {
                "memory.max": "900",
                "memory.current": "200",
                "memory.stat": "file 9\ninactive_file 50",
            },
            750,
        ),
        ({"memory.max": "900", "memory.current": "901"}, 0),
        ({"memory/memory.limit_in_bytes": "900", "memory/memory.usage_in_bytes": "100"}, 800),
    ],
)
def test_the_limit_of_a_container_counts(
    files: dict[str, str], free: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(machine, "GROUPS", tmp_path)
    assert free_memory() == free


def test_no_limit_of_a_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "memory.max").write_text("max\n")
    monkeypatch.setattr(machine, "GROUPS", tmp_path)
    free = free_memory()
    assert free is None or free > SMALL


@pytest.mark.skipif(sys.platform != "linux", reason="needs the limits of Linux")
def test_the_limit_of_a_process_counts() -> None:
    code = (
        "import resource\n"
        "from contextwise.support.machine import free_memory\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**33, 2**33))\n"
        "print(0 < free_memory() < 2**33)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "True\n"


def test_small_work_is_never_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "free_memory", lambda: 0)
    require_memory(SMALL, "this", "stop")
    with pytest.raises(TooLargeError, match=r"^this needs about 10 GB of memory, .*; stop$"):
        require_memory(10 * 2**30, "this", "stop")


def test_an_unknown_amount_refuses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "free_memory", lambda: None)
    require_memory(2**60, "this", "stop")


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave a megabyte of memory."""
    monkeypatch.setattr(machine, "free_memory", lambda: 2**20)
    monkeypatch.setattr(machine, "SMALL", 2**19)


@pytest.mark.usefixtures("little")
def test_a_comparison_that_does_not_fit_is_refused_with_an_estimate() -> None:
    domain = Domain({f"X{k}": 2 for k in range(300)})
    model = Structure(domain, [dict.fromkeys(domain.names, 1)])
    with pytest.raises(TooLargeError, match=r"needs about .* MB of memory, and 1.0 MB is free; "):
        compare(model, model)
    assert compare(model, model, variables=domain.names[:20]).distance == 0


@pytest.mark.usefixtures("little")
def test_exact_counts_that_do_not_fit_are_refused_and_their_sum_is_not() -> None:
    ones = np.ones((1000, 3), dtype=np.int64)
    counts = PairCounts(ones, ones, unit=2**100_000)
    assert counts.total(ones) == [1000 * 2**100_000] * 3
    with pytest.raises(TooLargeError, match="exact counts of all pairs"):
        _ = counts.lower


@pytest.mark.usefixtures("little")
def test_chance_that_does_not_fit_is_refused() -> None:
    domain = Domain({f"X{k}": 2 for k in range(400)})
    model = Structure(domain, ["X0=1 & X1=1 & X2=1"])
    with pytest.raises(TooLargeError, match="comparing with chance needs about"):
        chance(model, model)
    assert chance(model, model, variables=domain.names[:3], draws=1).draws == 1


@pytest.mark.usefixtures("little")
def test_a_matrix_that_does_not_fit_is_refused() -> None:
    model = Structure({f"X{k}": 2 for k in range(3)})
    with pytest.raises(TooLargeError, match="the matrix of these models needs about"):
        distance_matrix([model] * 200)


@pytest.mark.usefixtures("little")
def test_a_file_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    path.write_bytes(b" " * 2**20)
    with pytest.raises(TooLargeError, match=r"reading .*large.json needs about 8.0 MB of memory"):
        read(path)


# -- cores ----------------------------------------------------------------------------------------

PINNED = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from contextwise.support.machine import cores
from contextwise.learning.base import threads_of
print(cores(), threads_of(-1))
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs affinities")
def test_a_process_that_is_pinned_to_one_core_has_one() -> None:
    found = subprocess.run(
        [sys.executable, "-c", PINNED], capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == ["1", "1"]


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu.max": "50000 100000\n"}, 1),
        ({"cpu.max": "max 100000\n"}, None),
        ({"cpu/cpu.cfs_quota_us": "100000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 1),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({"cpu.max": "nonsense"}, None),
        ({}, None),
    ],
)
def test_a_container_limits_the_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], limit: int | None
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(machine, "GROUPS", str(tmp_path))
    everywhere = cores()
    container_cores.cache_clear()
    cores.cache_clear()
    try:
        assert container_cores() == limit
        assert 1 <= cores() <= (limit or everywhere)
    finally:
        container_cores.cache_clear()
        cores.cache_clear()
