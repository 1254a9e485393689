"""Time limits: a command stops within a second of its limit and shows the results so far."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from contextwise import read, write
from contextwise.cli import contextwise
from hard import LATE, hard_models


@pytest.fixture(name="models")
def _models(tmp_path: Path) -> list[str]:
    """Write two models with a pair that no engine finishes."""
    paths = [str(tmp_path / name) for name in ("true.json", "guess.json")]
    for model, path in zip(hard_models(), paths, strict=True):
        write(model, path)
    return paths


def run(*arguments: str) -> Result:
    return CliRunner().invoke(contextwise, ["compare", "--time-limit", "0.3", *arguments])


def test_the_table_has_bounds_and_open_pairs(models: list[str]) -> None:
    result = run(*models, "--pairs", "A,B")
    assert result.exit_code == 3
    assert "Not decided in time" in result.stdout
    assert "A – B" in result.stdout
    assert "precision" not in result.stdout


def test_what_is_not_finished_can_be_estimated(models: list[str]) -> None:
    result = run(*models, "--estimate")
    assert result.exit_code == 3
    assert "Estimated from 16,384 draws of each kind: false positives" in result.stdout
    record = json.loads(run(*models, "--estimate", "--json").stdout)
    assert record["fn_estimate_low"] <= record["fn_estimate"] <= record["fn_estimate_high"]


def test_several_guesses_have_bounds_and_dashes(models: list[str]) -> None:
    result = run(*models, models[0])
    assert result.exit_code == 3
    assert " to " in result.stdout.splitlines()[4]


def test_json_is_valid_and_exact(models: list[str]) -> None:
    result = run(*models, "--json", "--per-pair")
    assert result.exit_code == 3
    record = json.loads(result.stdout)
    assert record["distance"] is None
    assert record["f1"] is None
    low, high = int(record["distance_lower"]), int(record["distance_upper"])
    assert 0 <= low < high <= int(record["assertions"])
    assert record["open_pairs"] == len(record["open"]) > 0
    assert {"A", "B"} in [{pair["first"], pair["second"]} for pair in record["open"]]
    unknown = [pair for pair in record["per_pair"] if pair["tp"] is None]
    assert len(unknown) == record["open_pairs"]


def test_csv_has_empty_cells(models: list[str]) -> None:
    result = run(*models, "--csv")
    assert result.exit_code == 3
    (row,) = csv.DictReader(io.StringIO(result.stdout))
    assert row["distance"] == ""
    assert int(row["distance_lower"]) < int(row["distance_upper"])


def test_a_proven_difference_is_a_difference(models: list[str]) -> None:
    """The pair A–C differs, and is easy: with --exit-code the answer is known."""
    result = run(*models, "--engine", "native", "--exit-code")
    assert result.exit_code == 1 or "0 of" in result.stdout


def test_interruption_prints_what_is_known(models: list[str]) -> None:
    command = [sys.executable, "-m", "contextwise", "compare", *models, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=60)
    assert process.returncode == 3
    record = json.loads(printed)
    assert record["interrupted"] is True
    assert record["distance_lower"] < record["distance_upper"]


@pytest.mark.parametrize(
    "command",
    [
        "compare TRUE GUESS",
        "compare TRUE GUESS GUESS --estimate",
        "compare TRUE GUESS --chance",
        "matrix TRUE GUESS",
        "consensus TRUE GUESS",
        "explain TRUE GUESS",
        "score TRUE GUESS",
        "check TRUE ROWS",
        "check TRUE ROWS --overall",
        "report TRUE GUESS --out page.html --chance --check ROWS",
        "query TRUE A_||_B|C",
        "independencies TRUE",
        "plot pairs TRUE GUESS --out p.png",
        "plot graph TRUE GUESS --context X1=1 --out p.png",
        "plot neighbours TRUE GUESS A --out p.png",
        "plot confusion TRUE GUESS --out p.png",
        "plot matrix TRUE GUESS --out p.png",
    ],
)
def test_a_limit_bounds_the_whole_command(
    command: str, models: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = read(models[0]).domain.names
    row = ",".join("01"[k % 2] for k in range(len(names)))
    Path("rows.csv").write_text("\n".join([",".join(names), *[row] * 50]))
    places = {"TRUE": models[0], "GUESS": models[1], "ROWS": "rows.csv"}
    words = [places.get(word, word) for word in command.split()]
    runner = CliRunner()
    runner.invoke(contextwise, [*words, "--time-limit", "0"])  # import what the command needs
    start = time.monotonic()
    runner.invoke(contextwise, [*words, "--time-limit", "1"])
    assert time.monotonic() - start < LATE
