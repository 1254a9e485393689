"""Time limits: a command stops within a second of its limit and shows the results so far."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result

from contextwise import LogLinear, Structure, read, write
from contextwise.cli import contextwise, main
from hard import LATE, ends, hard_models, pigeons


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
    (row,) = (line for line in result.stdout.splitlines() if line.startswith("guess.json "))
    assert " to " in row


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


def test_an_interrupted_report_writes_no_page(models: list[str], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    command = [sys.executable, "-m", "contextwise", "report", *models, "--out", str(page)]
    with subprocess.Popen([*command, "--time-limit", "1000"], stderr=subprocess.PIPE) as process:
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130
    assert not page.exists()


# -- every command with the option -----------------------------------------------------------------

COMMANDS = [
    "compare TRUE GUESS",
    "compare TRUE GUESS GUESS --estimate",
    "compare ROWS_MODEL OTHER_MODEL --chance --draws 100000000",
    "compare TRUE --group GROUP",
    "matrix TRUE GUESS",
    "explain TRUE GUESS",
    "explain TRUE",
    "learn ROWS --learner sparse-pairs:l1=0.1 --out learned.json",
    "learn ROWS --learner gssl:min-count=1 --out learned.json",
    "learn ROWS --learner trees:refit=l1:penalty=0 --out learned.json",
    "check TRUE TRUE_ROWS",
    "check TRUE TRUE_ROWS --overall",
    "groups ROWS --by v0",
    "analyse ROWS --out page --force",
    "stability ROWS --learner pair-blocks --resamples 10000",
    "stability ROWS --learner chow-liu --resamples 10000 --medoid typical.json",
    "report TRUE GUESS --out page.html --chance --check TRUE_ROWS",
    "query PIGEONS QUERY",
    "plot pairs TRUE GUESS --out p.png",
    "plot graph TRUE GUESS --context X1=1 --out p.png",
    "plot groups TRUE --group GROUP --out p.png",
    "plot errors TRUE GUESS --out p.png",
    "plot matrix TRUE GUESS --out p.png",
    "plot strength WEIGHTED GUESS --out p.png",
    "compare WEIGHTED GUESS --at 0,0.1",
    "explain WEIGHTED GUESS --at 0.1",
]
"""Commands that would take minutes; the file names are those of the fixture."""


@pytest.fixture(name="files")
def _files(models: list[str], tmp_path: Path) -> dict[str, str]:
    files = {"TRUE": models[0], "GUESS": models[1], "GROUP": f"a={models[1]}"}
    generator = np.random.default_rng(0)
    tables = {
        "TRUE_ROWS": (read(models[0]).domain.names, np.tile(np.arange(153) % 2, (50, 1))),
        "ROWS": ([f"v{v}" for v in range(150)], generator.integers(2, size=(2000, 150))),
    }
    for name, (header, rows) in tables.items():
        files[name] = str(tmp_path / f"{name}.csv")
        np.savetxt(files[name], rows, "%d", ",", header=",".join(header), comments="")
    hard = read(models[0])
    assert isinstance(hard, Structure)
    files["WEIGHTED"] = str(tmp_path / "weighted.json")
    write(LogLinear(hard, generator.normal(size=len(hard))), files["WEIGHTED"])
    domain = {f"v{v}": 2 for v in range(150)}
    files["PIGEONS"] = str(tmp_path / "pigeons.json")
    write(pigeons(13, 12), files["PIGEONS"])
    files["QUERY"] = str(ends(pigeons(13, 12)))
    for name, step in (("ROWS_MODEL", 1), ("OTHER_MODEL", 2)):
        files[name] = str(tmp_path / f"{name}.json")
        pairs = [f"v{v}=1 & v{v + step}=1" for v in range(148)]
        write(Structure(domain, pairs), files[name])
    return files


def with_limit(command: click.Command, path: str, parent: click.Context | None) -> Iterator[str]:
    """List the commands that have the option."""
    context = click.Context(command, parent=parent)
    if any("--time-limit" in parameter.opts for parameter in command.params):
        yield path
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from with_limit(inner, f"{path} {name}".strip(), context)


def test_every_command_with_a_limit_is_tried() -> None:
    named = list(with_limit(contextwise, "", None))
    assert len(named) > 10
    named.remove("study")  # its limit is that of each learner
    for path in named:
        assert any(command.startswith(f"{path} ") for command in COMMANDS), path


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_limit_bounds_the_whole_command(
    command: str, files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With code 3, whatever could not be finished."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    words = [files.get(word, word) for word in command.split()]
    digits = sys.get_int_max_str_digits()
    for limit in ("0", "1"):  # the first time imports what the command needs
        start = time.monotonic()
        with pytest.raises(SystemExit) as ended:
            main([*words, "--time-limit", limit])
    assert time.monotonic() - start < LATE
    assert ended.value.code == 3
    sys.set_int_max_str_digits(digits)
