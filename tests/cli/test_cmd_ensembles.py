"""Ensembles on the command line: the numbers of Python, JSON and pages are the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import contextwise as cw
from commands import run
from contextwise.errors import ContextwiseError
from contextwise.evaluation import score_ensembles


@pytest.fixture(name="files")
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    cw.Ensemble(["six", "six-guess", "six-guess"]).write("draws.json")
    cw.Ensemble(["six", "six-graph"], [0.75, 0.25]).write("weights.json")
    return tmp_path


def test_compare_prints_the_numbers_of_python(files: Path) -> None:
    guesses = {name: cw.Ensemble.read(name) for name in ("draws.json", "weights.json")}
    scores = score_ensembles("six", {**guesses, "six-guess": "six-guess"})
    result = run("compare", "six", *guesses, "six-guess", "--json")
    document = json.loads(result.stdout)
    assert document["verdict"] == scores.verdict
    for printed, score in zip(document["guesses"], scores, strict=True):
        assert printed["brier"] == float(score.brier)
        assert printed["spread"] == float(score.spread)
    text = run("compare", "six", *guesses, "six-guess").stdout
    assert " ".join(text.split()).startswith(scores.verdict)
    assert "Reliability" in text
    assert run("compare", "six", *guesses, "--csv").stdout.count("\n") == 3


def test_matrices_of_probabilities_need_an_option(files: Path) -> None:
    names = cw.read("six").domain.names
    rows = [",".join(["0.5"] * 6)] * 6
    Path("edges.csv").write_text("\n".join([",".join(names), *rows]) + "\n")
    document = json.loads(run("compare", "six", "edges.csv", "--probabilities", "--json").stdout)
    assert document["guesses"][0]["brier"] == 0.25


def test_a_picture_of_an_ensemble(files: Path) -> None:
    result = run("plot", "reliability", "six", "draws.json", "--out", "reliability.svg")
    assert "The probabilities of draws.json differ" in result.stdout
    assert Path("reliability.svg").stat().st_size > 1000


def test_stability_writes_an_ensemble(files: Path) -> None:
    run("sample", "lung", "--rows", "100", "--out", "rows.csv")
    flags = ["--learner", "trees", "--resamples", "5", "--ensemble", "e.json"]
    run("stability", "rows.csv", *flags, "--domain-from", "lung")
    assert cw.Ensemble.read("e.json").draws == 5


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("compare six draws.json --score rows.csv", "--score is for single models"),
        ("compare draws.json six", "draws.json: one model is needed here, got an ensemble"),
        ("report draws.json six --out page.html", "one model is needed here, got an ensemble"),
        ("explain six draws.json", "contextwise compare TRUE ENSEMBLE scores it"),
        ("compare lung draws.json", "variable"),
        ("compare six --group a=draws.json", "a group holds single models, got an ensemble"),
    ],
)
def test_wrong_use_is_explained(files: Path, command: str, message: str) -> None:
    try:
        result = run(*command.split())
        assert result.exit_code == 2
        text = result.stderr
    except ContextwiseError as error:
        text = str(error)
    assert message in text
