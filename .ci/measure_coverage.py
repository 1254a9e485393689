"""Measure test coverage of the Python and C++ code and print tables, one row per room.

Run it in a clean checkout, with the dev extra installed and GCC at hand; arguments go to pytest::

    python .ci/measure_coverage.py -n 2 > coverage.md

The commit is unpacked into a folder of its own and its compiled parts are built there with
counters, so nothing in the checkout changes. The C++ is driven by the Python tests and by its own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

COUNTED = "--coverage -fprofile-update=atomic -O1 -g0"
"""For the compiler: count each line, from several threads, and keep the lines apart."""

OWN_TESTS = {
    "tests/kernel/kernel_test.cpp": "src/contextwise/counting/kernel",
    "tests/compiled/growth_test.cpp": "src/contextwise/learning/grow",
    "tests/compiled/count_test.cpp": "src/contextwise/evidence/count",
    "tests/compiled/descent_test.cpp": "src/contextwise/distributions",
}
"""The tests written in C++, and where their headers are."""

LEFT_OUT = (
    "tests/cli/test_main.py::TestStart::test_what_a_small_question_does_not_use_is_not_loaded",
    "tests/laws/test_limits.py::test_interruption_keeps_what_is_known",
    "tests/cli/test_cmd_compare_limits.py::test_interruption_prints_what_is_known",
)
"""The recording itself loads sqlite3; a signal that arrives during it can wait for ever."""


def run(command: Sequence[str], folder: Path, **environment: str) -> str:
    """Run a command in a folder and give what it prints; progress goes to standard error."""
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        sys.stderr.write(done.stdout)
        raise SystemExit(f"{' '.join(command)} failed with {done.returncode}")
    return done.stdout


def unpack(folder: Path) -> str:
    """Put the files of the current commit into a folder; its name."""
    packed = subprocess.run(["git", "archive", "HEAD"], check=True, stdout=subprocess.PIPE).stdout
    subprocess.run(["tar", "x"], cwd=folder, input=packed, check=True)
    return run(["git", "rev-parse", "--short", "HEAD"], Path()).strip()


def build(folder: Path) -> None:
    """Build the compiled parts and their own tests with counters."""
    flags = {"CXXFLAGS": COUNTED, "LDFLAGS": "--coverage"}
    kind = ["-DCMAKE_BUILD_TYPE=Coverage", f"-DPython_EXECUTABLE={sys.executable}"]
    run(["cmake", "-S", ".", "-B", "build", *kind], folder, **flags)
    run(["cmake", "--build", "build", "--parallel"], folder)
    run(["cmake", "--install", "build", "--prefix", "src"], folder)
    if not list(folder.glob("build/**/*.gcno")):
        raise SystemExit("the compiled parts were built without counters")
    for number, (test, headers) in enumerate(OWN_TESTS.items()):
        compiler = ["g++", "-std=c++20", "-pthread", *COUNTED.split(), "-I", headers]
        run([*compiler, test, "-o", f"build/own_test_{number}"], folder)


def drive(folder: Path, arguments: Sequence[str]) -> None:
    """Run the tests: those in C++, then those in Python."""
    for number in range(len(OWN_TESTS)):
        run([f"build/own_test_{number}"], folder)
    pytest = [sys.executable, "-m", "pytest", "--cov", "--cov-report=json:python.json"]
    pytest += [f"--deselect={test}" for test in LEFT_OUT]
    run([*pytest, *arguments], folder, PYTHONPATH=str(folder / "src"))


def python_lines(folder: Path) -> dict[str, tuple[int, int]]:
    """Each Python file: how many of its lines and branches ran, and how many there are."""
    files = json.loads((folder / "python.json").read_text(encoding="utf-8"))["files"]
    sums = {path: found["summary"] for path, found in files.items()}
    return {
        path.removeprefix("src/"): (
            found["covered_lines"] + found["covered_branches"],
            found["num_statements"] + found["num_branches"],
        )
        for path, found in sums.items()
    }


def compiled_lines(folder: Path) -> dict[str, tuple[int, int]]:
    """Each C++ file: how many of its lines ran, and how many there are."""
    gcovr = ["gcovr", "--root", ".", "--filter", "src/", "--merge-lines", "--json-summary"]
    tool = shutil.which(gcovr[0], path=str(Path(sys.executable).parent)) or gcovr[0]
    files = json.loads(run([tool, *gcovr[1:]], folder))["files"]
    return {
        found["filename"].removeprefix("src/"): (found["line_covered"], found["line_total"])
        for found in files
    }


def room_of(path: str) -> str:
    """Return the room of a file: its folder in the package, or "top level" outside of these."""
    parts = Path(path).parts
    return parts[1] if len(parts) > 2 else "top level"


def table(files: dict[str, tuple[int, int]]) -> Iterable[str]:
    """One row per room, with its share and the three files that lack the most."""
    ran, there = Counter[str](), Counter[str]()
    for path, (covered, total) in files.items():
        for room in (room_of(path), "all"):
            ran[room] += covered
            there[room] += total
    for room in sorted(there, key=lambda room: (room == "all", room)):
        lacking = sorted(
            ((total - covered, path) for path, (covered, total) in files.items()), reverse=True
        )
        named = [f"`{Path(p).name}` {n}" for n, p in lacking if n and room_of(p) == room][:3]
        share = 100 * ran[room] / there[room]
        yield f"| {room} | {there[room]:,} | {share:.1f} % | {', '.join(named)} |"


def main() -> None:
    """Measure, and print both tables."""
    with tempfile.TemporaryDirectory(prefix="contextwise-coverage-") as name:
        folder = Path(name)
        commit = unpack(folder)
        build(folder)
        drive(folder, sys.argv[1:])
        found = {
            "Python: lines and branches": python_lines(folder),
            "C++: lines": compiled_lines(folder),
        }
    print(f"Commit {commit}, Python {sys.version.split()[0]}.")
    for title, files in found.items():
        print(f"\n{title}\n\n| room | there are | run | not run, most in |\n|---|--:|--:|---|")
        print(*table(files), sep="\n")


if __name__ == "__main__":
    main()
