"""The benchmarks run, check what they time, and write their report."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.switches import LISTED, STEPS

from contextwise.counting import native

ROOT = Path(__file__).parent.parent


@pytest.mark.skipif(native.missing() is not None, reason=str(native.missing()))
def test_a_line_is_measured_and_reported(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    command = [sys.executable, "-m", "benchmarks", "--lines", "threads", "growth"]
    command += ["weights", "--results"]
    subprocess.run([*command, str(tmp_path)], cwd=ROOT, check=True)
    run = json.loads((tmp_path / "generated.json").read_text())
    assert run["lines"].keys() == {"threads", "growth", "weights"}
    for line in run["lines"].values():
        assert line["figures"]
        assert all(measured["seconds"] > 0 for measured in line["measurements"])
        assert line["machine"]["cores"] >= 1
    report = (tmp_path / "generated.md").read_text()
    assert "two threads" in report
    assert (tmp_path / "generated-growth.png").stat().st_size > 0


DISTANCES = """
import sys
from pathlib import Path
from benchmarks import report
from benchmarks.lines import learners_d
from benchmarks.measure import save
learners_d.SIZES, learners_d.REPEATS = (50, 100), 1
slow = {"best-of-two", "blm", "feature-induction", "gssl", "ibmap", "trees"}
every = learners_d._learners()
learners_d._learners = lambda: {name: own for name, own in every.items() if name not in slow}
save(Path(sys.argv[1]), [learners_d.run(None)], "made")
report.write(Path(sys.argv[1]))
"""


def test_distances_of_learners_are_measured_and_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("scipy")
    kept = tmp_path / "made.json"
    command = [sys.executable, "-c", DISTANCES, str(kept)]
    subprocess.run(command, cwd=ROOT, check=True)
    line = json.loads(kept.read_text())["lines"]["distances"]
    measured = [m["notes"] for m in line["measurements"]]
    kinds = {"paper", "switched", "scattered", "grown", "network"}
    assert {m["truth"] for m in measured} == kinds
    assert all(m["distance"] <= m["assertions"] for m in measured)
    assert all(m["distance"] == m["fp"] + m["fn"] for m in measured)
    nothing = [m["notes"] for m in line["measurements"] if m["contender"] == "independent"]
    assert all(m["fp"] == 0 < m["fn"] for m in nothing)
    assert (tmp_path / "made-distances.png").stat().st_size > 0


def test_every_step_of_the_kernel_has_its_switch() -> None:
    listed = re.findall(r"^  ([A-Z_]+),", LISTED.read_text(), re.MULTILINE)
    kernel = "".join(path.read_text() for path in LISTED.parent.glob("*.hpp"))
    assert len(listed) == len(STEPS) > 0
    assert all(f"uses(Step::{step})" in kernel for step in listed)
