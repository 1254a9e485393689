"""``contextwise compare --chance``."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import commands
from contextwise import Structure, write
from contextwise.errors import OpenResult
from contextwise.evaluation import chance

DOMAIN = {"A": 2, "B": 2, "C": 3, "D": 2}
TRUE = Structure(DOMAIN, ["A=1 & B=1 & C!=0", "B=1 & D=1"])
GUESSES = [
    Structure(DOMAIN, texts)
    for texts in (
        ["A=1 & B=1"],
        ["A=1 & B=1 & C=1", "B=1 & D=1"],
    )
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(TRUE, tmp_path / "true.json")
    for k, guess in enumerate(GUESSES):
        write(guess, tmp_path / f"guess{k}.json")
    return tmp_path


def run(folder: Path, *arguments: str) -> Result:
    return commands.run("compare", *(text.replace("@", f"{folder}/") for text in arguments))


def test_chance(folder: Path) -> None:
    shown = run(folder, "@true.json", "@guess1.json", "--chance", "--draws", "19", "--seed", "3")
    assert shown.exit_code == 0, shown.output
    verdict, *_, drawn = shown.output.split("\n\n")
    expected = chance(TRUE, GUESSES[1], draws=19, seed=3)
    assert expected.verdict in verdict.splitlines()
    assert drawn.strip() in str(expected)
    question = ["--chance", "--draws", "9", "--context", "D=1"]
    record = json.loads(run(folder, "@true.json", "@guess1.json", "--json", *question).output)
    found = chance(TRUE, GUESSES[1], draws=9, context="D=1")
    assert record["chance_p_value"] == found.p_value
    assert record["chance_skill"] == found.skill
    several = run(folder, "@true.json", "@guess0.json", "@guess1.json", "--chance", "--draws", "5")
    assert several.output.count("Random guesses (5 draws):") == 2
    assert "guess1.json:\nRandom guesses" in several.output
    assert record["chance_verdict"] == found.verdict
    rows = run(folder, "@true.json", "@guess1.json", "--csv", *question).output
    assert next(csv.DictReader(io.StringIO(rows)))["chance_verdict"] == found.verdict


def test_ctrl_c_during_the_draws_shows_the_comparison(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("contextwise.chance", stop)
    with pytest.warns(UserWarning, match="the random guesses were interrupted"):
        shown = run(folder, "@true.json", "@guess1.json", "--chance")
    assert shown.exit_code == 3
    assert "All pairs that differ" in shown.output
    assert "Random guesses" not in shown.output


def test_a_report_tells_ctrl_c_from_the_time_limit(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = folder / "report.html"
    arguments = ["report", *(f"{folder}/{name}.json" for name in ("true", "guess1"))]
    arguments += ["--chance", "--out", str(page)]

    def raising(error: BaseException) -> Callable[..., None]:
        def stop(*_: object, **__: object) -> None:
            raise error

        return stop

    monkeypatch.setattr("contextwise.chance", raising(KeyboardInterrupt()))
    with pytest.warns(UserWarning, match="interrupted"):
        assert commands.run(*arguments).exit_code == 1  # of click; `main` exits with 130
    assert not page.exists()
    monkeypatch.setattr("contextwise.chance", raising(OpenResult("too late")))
    with pytest.warns(UserWarning, match="too late"):
        assert commands.run(*arguments).exit_code == 3
    assert page.exists()
