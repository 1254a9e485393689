"""The command report: what it writes and what it refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from contextwise.cli import contextwise
from contextwise.errors import ContextwiseError
from self_contained import Reader, assert_self_contained

ROWS = np.random.default_rng(4).integers(2, size=(90, 6)).tolist()


def test_the_command(tmp_path: Path) -> None:
    out = tmp_path / "a report.html"
    words = ["report", "six", "six-guess", "six-graph", "--out", str(out), "--top", "3"]
    result = CliRunner().invoke(contextwise, words, catch_exceptions=False)
    assert (result.exit_code, result.output) == (0, "")
    page = out.read_text("utf-8")
    assert_self_contained(page)
    assert f"contextwise report six six-guess six-graph --out '{out}' --top 3" in Reader(page).text
    assert [path.name for path in tmp_path.iterdir()] == ["a report.html"]


def test_the_command_asks_all_questions(tmp_path: Path) -> None:
    out, rows = tmp_path / "page.html", tmp_path / "rows.csv"
    lines = [",".join(f"X{k}" for k in range(6)), *(",".join(map(str, row)) for row in ROWS)]
    rows.write_text("\n".join(lines) + "\n")
    words = ["report", "six", "six-guess", "--out", str(out), "--chance", "--draws", "9"]
    result = CliRunner().invoke(contextwise, [*words, "--check", str(rows)], catch_exceptions=False)
    assert result.exit_code == 0
    text = Reader(out.read_text("utf-8")).text
    assert "Compared with chance" in text
    assert "six-guess checked on data" in text
    assert "six checked on data" not in text
    peers = ["report", "six", "six-guess", "--peers", "--check", str(rows), "--out", str(out)]
    assert CliRunner().invoke(contextwise, peers, catch_exceptions=False).exit_code == 0
    text = Reader(out.read_text("utf-8")).text
    assert "six checked on data" in text
    assert "six-guess checked on data" in text


def test_the_command_reports_one_model_with_evidence(tmp_path: Path) -> None:
    out, rows = tmp_path / "page.html", tmp_path / "rows.csv"
    lines = [",".join(f"X{k}" for k in range(6)), *(",".join(map(str, row)) for row in ROWS)]
    rows.write_text("\n".join(lines) + "\n")
    words = ["report", "six", "--check", str(rows), "--out", str(out)]
    result = CliRunner().invoke(contextwise, words, catch_exceptions=False)
    assert result.exit_code == 0
    text = Reader(out.read_text("utf-8")).text
    assert "15 pairs:" in text
    assert "X0" in text.rsplit("claims of the structure", 1)[1]
    assert "claims of the structure, tested on these rows" in text
    assert "contextwise report six --check" in text
    rows.write_text("A,B\n1,0\n")
    result = CliRunner().invoke(contextwise, words)
    assert result.exit_code != 0
    assert "X0" in str(result.exception)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["six", "--chance"], "--chance needs a GUESS"),
        (["six", "--context", "X0=1"], "--context needs a GUESS"),
    ],
)
def test_contradictions_are_told(tmp_path: Path, words: list[str], message: str) -> None:
    out = tmp_path / "page.html"
    result = CliRunner().invoke(contextwise, ["report", *words, "--out", str(out)])
    assert result.exit_code == 2
    assert message in result.output
    assert not out.exists()


def test_a_report_is_an_html_file_and_nothing_else(tmp_path: Path) -> None:
    out = str(tmp_path / "x.pdf")
    with pytest.raises(ContextwiseError, match=r"cannot write \.pdf; use \.html or \.htm"):
        CliRunner().invoke(
            contextwise, ["report", "lung", "lung-learned", "--out", out], catch_exceptions=False
        )
    assert not list(tmp_path.iterdir())
