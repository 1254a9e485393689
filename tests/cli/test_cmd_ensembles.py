"""Ensembles on the command line: the numbers of Python, JSON and pages are the same."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import contextwise as cw
from commands import run
from contextwise.errors import ContextwiseError
from contextwise.evaluation import compare_ensembles, ensemble_matrix, score_ensembles


@pytest.fixture(name="files")
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    cw.Ensemble(["six", "six-guess", "six-guess"]).write("draws.json")
    cw.Ensemble(["six", "six-graph"], [0.75, 0.25]).write("weights.json")
    return tmp_path


def test_score_prints_the_numbers_of_python(files: Path) -> None:
    guesses = {name: cw.Ensemble.read(name) for name in ("draws.json", "weights.json")}
    scores = score_ensembles("six", {**guesses, "six-guess": "six-guess"})
    result = run("score", "six", *guesses, "six-guess", "--json")
    document = json.loads(result.stdout)
    assert document["verdict"] == scores.verdict
    for printed, score in zip(document["guesses"], scores, strict=True):
        assert printed["brier"] == float(score.brier)
        assert printed["spread"] == float(score.spread)
    text = run("score", "six", *guesses, "six-guess").stdout
    assert " ".join(text.split()).startswith(scores.verdict)
    assert run("score", "six", *guesses, "--csv").stdout.count("\n") == 3
    agreed = json.loads(run("score", "six", "draws.json", "--consensus", "--json").stdout)
    assert agreed["guesses"][0]["consensus_distance"] == pytest.approx(16 / 240)
    sampled = json.loads(run("score", "six", "draws.json", "--assertions", "9999", "--json").stdout)
    assert sampled["guesses"][0]["brier_standard_error"] > 0


def test_compare_and_matrix_take_ensembles(files: Path) -> None:
    found = compare_ensembles("draws.json", "weights.json")
    document = json.loads(run("compare", "draws.json", "weights.json", "--json").stdout)
    assert document["distance"] == float(found.distance)
    assert document["pairs"][0]["distance"] == float(found.pairs[0][1])
    assert "Pairs that differ most" in run("compare", "draws.json", "weights.json").stdout
    cw.Ensemble.read("draws.json").write("copy.json")
    same = run("compare", "draws.json", "copy.json").stdout
    assert "they differ no more than two samples" in " ".join(same.split())
    assert "Pairs that differ most" not in same
    matrix = ensemble_matrix({"six": "six", "draws.json": "draws.json"})
    printed = json.loads(run("matrix", "six", "draws.json", "--json").stdout)
    assert printed["normalized"][0][1] == matrix.normalized[0, 1]
    text = run("matrix", "six", "draws.json", "weights.json").stdout
    assert "have the squared distance" in text


def test_matrices_of_probabilities_need_an_option(files: Path) -> None:
    names = cw.read("six").domain.names
    rows = [",".join(["0.5"] * 6)] * 6
    Path("edges.csv").write_text("\n".join([",".join(names), *rows]) + "\n")
    document = json.loads(run("score", "six", "edges.csv", "--probabilities", "--json").stdout)
    assert document["guesses"][0]["brier"] == 0.25
    np.save("graphs.npy", np.ones((3, 6, 6)) - np.eye(6))
    assert "graphs.npy has the Brier score" in run("score", "six", "graphs.npy").stdout


def test_reports_pictures_and_replicates_take_ensembles(files: Path) -> None:
    run("report", "six", "draws.json", "--out", "page.html")
    page = Path("page.html").read_text()
    assert "As ensembles" in page
    assert "Reliability of draws.json" in page
    assert "draws.json (medoid)" in page
    result = run("plot", "reliability", "six", "draws.json", "--out", "reliability.svg")
    assert "The probabilities of draws.json differ" in result.stdout
    assert Path("reliability.svg").stat().st_size > 1000
    for k in range(3):
        cw.Ensemble(["six"] * (k + 1) + ["six-guess"]).write(f"a{k}.json")
        cw.Ensemble(["six-graph"] * (k + 1) + ["six-guess"]).write(f"b{k}.json")
    document = json.loads(run("replicates", "six", "a=a*.json", "b=b*.json", "--json").stdout)
    assert document["verdict"].startswith("a has the smallest brier")


def test_stability_writes_and_judges_an_ensemble(files: Path) -> None:
    run("sample", "lung", "-n", "100", "--out", "rows.csv")
    flags = [
        "--learner",
        "trees",
        "--resamples",
        "5",
        "--ensemble",
        "e.json",
        "--true",
        "lung",
        "--domain-from",
        "lung",
    ]
    text = run("stability", "rows.csv", *flags).stdout
    assert "Reliability:" in text
    assert cw.Ensemble.read("e.json").draws == 5
    document = json.loads(run("stability", "rows.csv", *flags, "--json").stdout)
    assert sum(group["number"] for group in document["reliability"]["groups"]) == 2**18


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("score six draws.json --test rows.csv", "--test is for models with weights"),
        ("score six six-guess --consensus", "--consensus is for ensembles"),
        ("matrix six draws.json --store folder", "--store is not for ensembles"),
        ("compare six draws.json weights.json", "compare two ensembles at a time"),
        ("report draws.json six --out page.html", "is one structure, not an ensemble"),
        ("score lung draws.json", "variable"),
        ("replicates six a=draws.json b=weights.json --metric f1", "for ensembles choose one of"),
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
