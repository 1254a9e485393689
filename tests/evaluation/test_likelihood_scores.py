"""Scores reported alongside the metric, and the commands fit and sample."""

import csv
import gzip
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from contextwise.cli import contextwise
from contextwise.comparison.two_models import compare
from contextwise.data.rows import as_data
from contextwise.distributions import (
    cmll,
    fit,
    kl_divergence,
    log_probability,
    mean_pseudo_log_likelihood,
)
from contextwise.errors import ContextwiseError
from contextwise.evaluation.likelihood_scores import SCORES, score
from contextwise.formats import read, write
from contextwise.models.domain import Domain
from contextwise.models.structure import LogLinear, Structure
from drawn_rows import sample

DOMAIN = Domain({"A": 2, "B": ["no", "yes"], "C": 3})
TRUE = LogLinear(
    Structure(DOMAIN, ["A=1 & B=yes", "B=yes & C!=0", "C=2", "A=1"]),
    np.array([1.5, -1.0, 0.4, 0.2]),
)
GUESS = Structure(DOMAIN, ["A=1 & B=yes", "A=1 & C=1", "C=2", "B=yes"])


def test_each_score_is_that_of_its_function() -> None:
    train, test = sample(TRUE, 500, seed=1), sample(TRUE, 200, seed=2)
    fitted = fit(GUESS, train).model
    found = score(TRUE, fitted, rows=test, kl=True)
    assert found.values["kl_true_guess"] == kl_divergence(TRUE, fitted)
    assert found.values["kl_guess_true"] == kl_divergence(fitted, TRUE)
    total = float(log_probability(fitted, test).sum())
    assert float(found.values["log_likelihood"]) == pytest.approx(total / 200)
    pseudo = mean_pseudo_log_likelihood(fitted, test)
    assert float(found.values["pseudo_log_likelihood"]) == pytest.approx(pseudo)
    assert found.values["cmll"].value == pytest.approx(cmll(fitted, test).value)
    assert not found.missing


def test_what_cannot_be_had_has_its_reason() -> None:
    rows = sample(TRUE, 20, seed=1)
    bare = score(TRUE, GUESS, rows=rows, kl=True)
    assert not bare.values
    assert set(bare.missing) == {*SCORES}
    assert bare.missing["kl_true_guess"] == "the guess has no weights"
    assert bare.missing["cmll"].startswith("the guess has no weights")
    no_truth = score(TRUE.structure, TRUE, kl=True)
    assert no_truth.missing["kl_guess_true"] == "the true model has no weights"
    hard = LogLinear(TRUE.structure, np.array([-np.inf, 0, 0, 0]))
    limited = score(TRUE, hard, rows=rows, kl=True)
    assert limited.missing["cmll"] == "CMLL needs finite weights"
    assert limited.values["kl_true_guess"].value == np.inf
    assert not score(TRUE, TRUE).values


# -- the commands --------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(TRUE, tmp_path / "true.json")
    write(GUESS, tmp_path / "guess.json")
    return tmp_path


def run(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(contextwise, list(map(str, arguments)))
    if code == 0 and result.exception is not None:
        raise result.exception
    return result


def test_sample_fit_and_score(folder: Path) -> None:
    run("sample", folder / "true.json", "-n", 400, "--seed", 1, "--out", folder / "data.csv")
    again = run("sample", folder / "true.json", "--rows", 400, "--seed", 1)
    assert again.stdout == (folder / "data.csv").read_text()
    assert again.stdout.startswith("A,B,C\n")

    done = run("fit", folder / "guess.json", folder / "data.csv", "--out", folder / "fitted.json")
    assert "400 rows, 4 weights by pseudo-likelihood" in done.stderr
    assert "converged after" in done.stderr
    fitted = read(folder / "fitted.json")
    assert isinstance(fitted, LogLinear)
    assert np.allclose(fitted.weights, fit(GUESS, sample(TRUE, 400, seed=1)).model.weights)

    exact = run(
        *("fit", folder / "guess.json", folder / "data.csv", "--out", folder / "ml.json"),
        *("--method", "likelihood"),
    )
    assert re.search(
        r"4 free parameters, AIC [\d,.]+, BIC [\d,.]+, G² [\d.]+ on 7 df \(p = ", exact.stderr
    )
    models = (folder / "true.json", folder / "guess.json", folder / "fitted.json")
    options = ("--kl", "--score", folder / "data.csv")
    table = run("compare", *models, *options).stdout
    assert table.startswith("All 2 guesses are equally near: ")
    assert max(map(len, table.splitlines())) < 101, "one line per score fits a terminal"
    assert "KL(guess ‖ true): the guess has no weights (guess.json)." in " ".join(table.split())
    one = json.loads(run("compare", models[0], models[2], *options, "--json").stdout)
    assert one["distance"] == compare(TRUE, GUESS).distance
    assert one["cmll"] == pytest.approx(cmll(fitted, sample(TRUE, 400, seed=1)).value)
    assert one["missing_scores"] == {}
    text = run("compare", models[0], models[2], *options, "--csv").stdout
    (row,) = csv.DictReader(io.StringIO(text))
    assert float(row["log_likelihood"]) == pytest.approx(one["log_likelihood"])


def test_divergences(folder: Path) -> None:
    write(LogLinear(GUESS, np.zeros(4)), folder / "flat.json")
    words = ("compare", folder / "true.json", folder / "flat.json", "--kl", "--json")
    expected = kl_divergence(TRUE, LogLinear(GUESS, np.zeros(4)))
    assert json.loads(run(*words).stdout)["kl_true_guess"] == pytest.approx(expected.value)
    write(LogLinear(GUESS, np.array([-np.inf, 0, 0, 0])), folder / "flat.json")
    assert json.loads(run(*words).stdout)["kl_true_guess"] == "inf"


def test_evidence_and_errors(folder: Path) -> None:
    text = run("sample", folder / "true.json", "-n", 5, "--context", "B=yes & C=2").stdout
    assert all(line.split(",")[1:] == ["yes", "2"] for line in text.splitlines()[1:])
    for arguments, message in (
        (("sample", folder / "guess.json"), "this model has no weights"),
        (("sample", folder / "guess.json"), "contextwise fit"),
        (("sample", folder / "true.json", "--context", "B=maybe"), "has no state 'maybe'"),
    ):
        failed = run(*arguments, code=2)
        assert isinstance(failed.exception, ContextwiseError)
        assert message in str(failed.exception)
    (folder / "bad.csv").write_text("A,B,C\n0,no,\n")
    failed = run("fit", folder / "guess.json", folder / "bad.csv", "--out", folder / "x.mn", code=2)
    assert "bad.csv:2: the value of 'C' is missing" in str(failed.exception)
    assert not (folder / "x.mn").exists()


def test_compare_over_observed_rows(folder: Path) -> None:
    rows = sample(TRUE, 50, seed=1)
    (folder / "rows.csv").write_text("A,B,C\n" + "".join(",".join(row) + "\n" for row in rows))
    result = run(
        *("compare", folder / "true.json", folder / "guess.json"),
        *("--contexts-of", folder / "rows.csv", "--json"),
    )
    found = json.loads(result.stdout)
    assert found["distance"] == compare(TRUE, GUESS, data=rows).distance


def test_rows_of_gibbs_chains_say_so_and_how_well_they_mixed(folder: Path) -> None:
    exact = run("sample", folder / "true.json", "-n", 10)
    assert exact.stderr == ""
    few = run("sample", folder / "true.json", "-n", 50, "--method", "gibbs")
    assert "the rows come from 50 Gibbs chains and are not independent; too few" in (few.stderr)
    many = run("sample", folder / "true.json", "-n", 4000, "--method", "gibbs")
    assert "400 Gibbs chains" in many.stderr
    assert "the largest R-hat is 1.0" in many.stderr
    assert "have not mixed" not in many.stderr


def test_rows_for_libra_are_codes_without_a_header(folder: Path) -> None:
    run("sample", folder / "true.json", "-n", 30, "--seed", 1, "--out", folder / "rows.data")
    labels = sample(TRUE, 30, seed=1)
    codes = np.loadtxt(folder / "rows.data", delimiter=",", dtype=int)
    assert codes.tolist() == as_data(labels, TRUE.domain).rows.tolist()
    run("sample", folder / "true.json", "-n", 3, "--out", folder / "rows.data.gz")
    assert gzip.decompress((folder / "rows.data.gz").read_bytes()).count(b"\n") == 3
    refused = run("sample", folder / "true.json", "--out", folder / "rows.xlsx", code=2)
    assert refused.exit_code != 0
    assert not (folder / "rows.xlsx").exists()
