"""The benchmarks run, check what they time, and write their report."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from contextwise.counting import native

ROOT = Path(__file__).parent.parent


@pytest.mark.skipif(native.missing() is not None, reason=str(native.missing()))
def test_a_line_is_measured_and_reported(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    command = [sys.executable, "-m", "benchmarks", "--lines", "threads", "growth"]
    command += ["learned", "--results"]
    subprocess.run([*command, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    run = json.loads((tmp_path / "generated.json").read_text())
    assert run["lines"].keys() == {"threads", "growth", "learned"}
    for line in run["lines"].values():
        assert line["figures"]
        assert all(measured["seconds"] > 0 for measured in line["measurements"])
        assert line["machine"]["cores"] >= 1
    report = (tmp_path / "generated.md").read_text()
    assert "two threads" in report
    assert (tmp_path / "generated-growth.png").stat().st_size > 0
