"""The number of cores: affinity and containers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from contextwise.support import machine as module
from contextwise.support.machine import container_cores, cores

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
    monkeypatch.setattr(module, "GROUPS", str(tmp_path))
    everywhere = cores()
    container_cores.cache_clear()
    cores.cache_clear()
    try:
        assert container_cores() == limit
        assert 1 <= cores() <= (limit or everywhere)
    finally:
        container_cores.cache_clear()
        cores.cache_clear()
