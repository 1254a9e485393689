"""The store under faults: killed writers, two writers, truncated files, a full disk.

After each fault the results are those of an undisturbed run, or the error names the remedy.
``python tests/support/test_store_faults.py`` repeats the faults many times and prints a table.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from contextwise.errors import ContextwiseError
from contextwise.support.store import (
    Record,
    Store,
    Unit,
    run_units,
)

UNITS = [Unit(f"unit-{k:03}", k) for k in range(40)]
CONFIGURATION = {"seed": 1, "sizes": [50, 100]}


def work(number: int) -> Sequence[Record]:
    return [{"number": number, "power": number**50, "share": number / 7, "k": k} for k in range(4)]


EXPECTED = [record for unit in UNITS for record in work(unit.parameters)]

WRITER = textwrap.dedent("""
    import sys
    sys.path.insert(0, sys.argv[2])
    from test_store_faults import CONFIGURATION, UNITS, work
    from contextwise.errors import ContextwiseError
    from contextwise.support.store import Store, run_units
    if sys.argv[3] != "-1":
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        with Store(sys.argv[1], CONFIGURATION) as store:
            run_units(store, UNITS, work)
    except ContextwiseError as error:
        sys.exit(f"refused: {error}")
""")


def writer(folder: Path, limit: int = -1) -> subprocess.Popen[str]:
    """Start a process that has loaded everything and waits for a line before it writes."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(Path(__file__).parent), str(limit)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def start(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def finished(folder: Path) -> list[dict[str, object]]:
    with Store(folder, CONFIGURATION) as store:
        assert not run_units(store, UNITS, work).failed
        return list(store.records())


def killed(folder: Path, delay: float) -> None:
    """Kill a writer some time after it starts; the next run must complete the results."""
    process = writer(folder)
    start(process)
    time.sleep(delay)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert finished(folder) == EXPECTED


def two_writers(folder: Path) -> str:
    """Start two writers at once; each succeeds or is refused because the other one writes."""
    pair = [writer(folder), writer(folder)]
    for process in pair:
        start(process)
    refused = 0
    for process in pair:
        _, errors = process.communicate()
        if process.returncode:
            refused += 1
            assert "refused: " in errors
            assert "another process is writing to it; wait for it to end" in errors
    assert refused < 2
    assert finished(folder) == EXPECTED
    return f"{refused} refused"


def full_disk(folder: Path, limit: int) -> str:
    """Limit the size of files, as a full disk does; later the run completes."""
    process = writer(folder, limit)
    start(process)
    try:
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    if process.returncode:
        assert "refused: " in errors
        assert "free some disk space" in errors
    assert finished(folder) == EXPECTED
    return "error that names the remedy" if process.returncode else "large enough"


def store_bytes(folder: Path) -> bytes:
    assert finished(folder) == EXPECTED
    return (folder / "results.sqlite").read_bytes()


@pytest.mark.parametrize("delay", [0.0, 0.002, 0.01, 0.03, 0.06, 0.1])
def test_a_killed_run_resumes(tmp_path: Path, delay: float) -> None:
    killed(tmp_path, delay)


def test_two_writers_at_once(tmp_path: Path) -> None:
    for attempt in range(4):
        two_writers(tmp_path / str(attempt))


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    with (
        Store(tmp_path, CONFIGURATION),
        pytest.raises(ContextwiseError, match="another process is writing to it"),
    ):
        Store(tmp_path, CONFIGURATION)
    Store(tmp_path, CONFIGURATION).close()
    assert [path.name for path in tmp_path.iterdir()] == ["results.sqlite"]


def test_a_truncated_store_is_found(tmp_path: Path) -> None:
    intact = store_bytes(tmp_path)
    for length in range(100, len(intact), len(intact) // 9):
        (tmp_path / "results.sqlite").write_bytes(intact[:length])
        with pytest.raises(ContextwiseError, match="delete this file and run again"):
            finished(tmp_path)


@pytest.mark.parametrize("limit", [0, 1, 40, 1_000, 9_000, 14_000])
def test_a_full_disk(tmp_path: Path, limit: int) -> None:
    assert full_disk(tmp_path, limit) == "error that names the remedy"


def main(times: int) -> None:
    """Repeat every fault and print how often each outcome occurred."""
    rng = random.Random(2)
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for k in range(times):
            killed(root / f"killed-{k}", rng.uniform(0, 0.15))
        print(f"kill -9: {times} tried, 0 failed")
        outcomes = Counter(two_writers(root / f"two-{k}") for k in range(times))
        print(f"two writers: {times} tried, 0 failed; {dict(outcomes)}")
        largest = 2 * len(store_bytes(root / "whole"))
        limits = [rng.randrange(200, largest) for _ in range(times)]
        outcomes = Counter(full_disk(root / f"full-{k}", limit) for k, limit in enumerate(limits))
        print(f"full disk: {times} tried, 0 failed; {dict(outcomes)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
