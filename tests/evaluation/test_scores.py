"""Scores reported alongside the metric, and the commands fit, sample, kl and score."""

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
from contextwise.comparison.compare import compare
from contextwise.data.rows import as_data
from contextwise.distributions import (
    cmll,
    divergences,
    fit,
    goodness_of_fit,
    log_probability,
    mean_pseudo_log_likelihood,
    sample,
)
from contextwise.errors import ContextwiseError
from contextwise.evaluation.scores import FITTED, SCORES, score
from contextwise.formats import read, write
from contextwise.models.domain import Domain
from contextwise.models.structure import LogLinear, Structure

DOMAIN = Domain({"A": 2, "B": ["no", "yes"], "C": 3})
TRUE = LogLinear(
    Structure(DOMAIN, ["A=1 & B=yes", "B=yes & C!=0", "C=2", "A=1"]),
    np.array([1.5, -1.0, 0.4, 0.2]),
)
GUESS = Structure(DOMAIN, ["A=1 & B=yes", "A=1 & C=1", "C=2", "B=yes"])


def test_each_score_is_that_of_its_function() -> None:
    train, test = sample(TRUE, 500, rng=1), sample(TRUE, 200, rng=2)
    found = score(TRUE, GUESS, test=test, fit_to=train)
    fitted = fit(GUESS, train).model
    assert found.comparison.distance == compare(TRUE, GUESS).distance
    expected = divergences(TRUE, fitted)
    assert found.values["kl_true_guess"] == expected.kl_p_q
    assert found.values["kl_guess_true"] == expected.kl_q_p
    assert found.values["total_variation"] == expected.total_variation
    total = float(log_probability(fitted, test).sum())
    assert float(found.values["log_likelihood"]) == pytest.approx(total / 200)
    exactly = goodness_of_fit(GUESS, train)
    assert {name: found.values[name].value for name in FITTED} == {
        name: getattr(exactly, name) for name in FITTED
    }
    assert found.values["parameters"].value == 4
    pseudo = mean_pseudo_log_likelihood(fitted, test)
    assert float(found.values["pseudo_log_likelihood"]) == pytest.approx(pseudo)
    assert found.values["cmll"].value == pytest.approx(cmll(fitted, test).value)
    assert found.features == {"features": 4, "mean_length": 1.5, "largest_length": 2}
    assert not found.missing
    assert "distance=" in repr(found)


def test_what_cannot_be_had_has_its_reason() -> None:
    bare = score(TRUE, GUESS)
    assert not bare.values
    assert set(bare.missing) == {*SCORES}
    assert bare.missing["kl_true_guess"] == "the guess has no weights"
    assert bare.missing["cmll"].startswith("there are no rows")
    rows = sample(TRUE, 20, rng=1)
    assert score(TRUE.structure, TRUE).missing["jensen_shannon"] == "the true model has no weights"
    assert score(TRUE, GUESS, test=rows).missing["cmll"] == "the guess has no weights"
    assert bare.missing["aic"] == "there are no rows to fit to"
    few = score(TRUE, GUESS, fit_to=rows)
    assert few.missing["p_value"] == "fewer than 5 rows for each of the cells"
    assert few.values["degrees_of_freedom"].value == 12 - 1 - 4
    hard = LogLinear(TRUE.structure, np.array([-np.inf, 0, 0, 0]))
    limited = score(TRUE, hard, test=rows)
    assert limited.missing["cmll"] == "CMLL needs finite weights"
    assert limited.values["kl_true_guess"].value == np.inf


def test_what_is_too_large_is_sampled_or_refused() -> None:
    n = 40
    domain = Domain.of_cardinalities([2] * n)
    pairs = [f"v{i}=1 & v{j}=1" for i in range(n) for j in range(i)]
    model = LogLinear(Structure(domain, pairs), np.full(len(pairs), -0.02))
    chain = LogLinear(
        Structure(domain, [f"v{i}=1 & v{i + 1}=1" for i in range(n - 1)]), np.ones(n - 1)
    )
    rows = sample(chain, 10, rng=1)
    exact = score(chain, model, test=rows, sampling=False, groups=10)
    assert "10^12" in exact.missing["log_likelihood"]
    fitted = score(chain, model, fit_to=rows, sampling=False)
    assert fitted.missing["aic"] == exact.missing["log_likelihood"]
    assert set(exact.values) == {"pseudo_log_likelihood", "cmll"}
    coarse = score(chain, model, test=rows, sampling=False, groups=2)
    assert "a group of 20 variables has more than 4,096 states" in coarse.missing["cmll"]
    itself = score(chain, chain, sampling=False)
    assert itself.values["kl_true_guess"].value == pytest.approx(0, abs=1e-9)
    assert "sampling estimates the rest" in itself.missing["jensen_shannon"]


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
    again = run("sample", folder / "true.json", "-n", 400, "--seed", 1)
    assert again.stdout == (folder / "data.csv").read_text()
    assert again.stdout.startswith("A,B,C\n")

    done = run("fit", folder / "guess.json", folder / "data.csv", "--out", folder / "fitted.json")
    assert "400 rows, 4 weights by pseudo-likelihood" in done.stderr
    assert "converged after" in done.stderr
    fitted = read(folder / "fitted.json")
    assert isinstance(fitted, LogLinear)
    assert np.allclose(fitted.weights, fit(GUESS, sample(TRUE, 400, rng=1)).model.weights)

    table = run("score", folder / "true.json", folder / "guess.json", folder / "fitted.json").stdout
    assert table.startswith("All 2 guesses are equally near: ")
    header = next(line for line in table.splitlines() if line.startswith("guess "))
    assert header.split() == ["guess", "guess.json", "fitted.json"]
    assert "\nnormalized distance " in table
    write(TRUE.structure, folder / "larger.json")
    both = Structure(DOMAIN, [*(TRUE.structure.feature_text(k) for k in range(3)), "A=1", "B=yes"])
    write(both, folder / "both.json")
    guesses = (folder / name for name in ("larger.json", "both.json", "guess.json"))
    nested = run("score", folder / "true.json", *guesses, "--fit", folder / "data.csv").stdout
    (line,) = [line for line in nested.splitlines() if "nested in" in line]
    assert re.match(r"larger.json is nested in both.json: G² = \d+.\d\d on 1 df, p = ", line)
    exact = run(
        *("fit", folder / "guess.json", folder / "data.csv", "--out", folder / "ml.json"),
        *("--method", "likelihood"),
    )
    assert re.search(
        r"4 free parameters, AIC [\d,.]+, BIC [\d,.]+, G² [\d.]+ on 7 df \(p = ", exact.stderr
    )
    assert max(map(len, table.splitlines())) < 100, "one line per score fits a terminal"
    assert (
        "guess.json: KL(true ‖ guess), KL(guess ‖ true), JS, TV: the guess has no weights" in table
    )
    options = ("--fit", folder / "data.csv", "--test", folder / "data.csv")
    one = json.loads(
        run("score", folder / "true.json", folder / "guess.json", *options, "--json").stdout
    )
    assert one["distance"] == compare(TRUE, GUESS).distance
    assert one["scores"]["cmll"]["how"] == "exact"
    assert one["missing"] == {}
    text = run("score", folder / "true.json", folder / "guess.json", *options, "--csv").stdout
    (row,) = csv.DictReader(io.StringIO(text))
    assert "aic_standard_error" not in row
    assert float(row["aic"]) == pytest.approx(one["scores"]["aic"]["value"])


def test_divergences(folder: Path) -> None:
    write(LogLinear(GUESS, np.zeros(4)), folder / "flat.json")
    found = json.loads(run("score", folder / "true.json", folder / "flat.json", "--json").stdout)
    expected = divergences(TRUE, LogLinear(GUESS, np.zeros(4)))
    assert found["scores"]["kl_true_guess"]["value"] == pytest.approx(expected.kl_p_q.value)
    write(LogLinear(GUESS, np.array([-np.inf, 0, 0, 0])), folder / "hard.json")
    infinite = json.loads(run("score", folder / "true.json", folder / "hard.json", "--json").stdout)
    assert infinite["scores"]["kl_true_guess"]["value"] == "inf"


def test_the_verdict_names_the_nearest_guess_and_what_other_scores_prefer(folder: Path) -> None:
    write(LogLinear(TRUE.structure, -TRUE.weights), folder / "opposite.json")
    write(LogLinear(GUESS, np.zeros(4)), folder / "flat.json")
    shown = run("score", *(folder / f"{name}.json" for name in ("true", "opposite", "flat"))).stdout
    verdict = shown.split("\n\n")[0]
    assert verdict.startswith("opposite.json is nearest to the true model: 0 % of all assertions")
    assert "\nKL(true ‖ guess) prefers flat.json.\n" in verdict
    shown = run("score", *(folder / f"{name}.json" for name in ("true", "true", "flat"))).stdout
    assert "\nKL(true ‖ guess) prefers no other guess.\n" in shown
    assert run("score", folder / "true.json", folder / "flat.json").stdout.startswith(
        compare(TRUE, GUESS).summary().splitlines()[0]
    )


def test_what_is_too_large_is_sampled_or_left_out(folder: Path) -> None:
    domain = Domain.of_cardinalities([2] * 30)
    pairs = [f"v{i}=1 & v{i + 1}=1" for i in range(29)]
    write(LogLinear(Structure(domain, pairs), np.ones(29)), folder / "chain.json")
    models = (folder / "chain.json", folder / "chain.json")
    scores = json.loads(run("score", *models, "--json").stdout)["scores"]
    assert scores["kl_true_guess"]["how"] == "exact by elimination"
    assert "exact samples" in scores["total_variation"]["how"]
    refused = json.loads(run("score", *models, "--no-sampling", "--json").stdout)["missing"]
    assert "sampling estimates the rest" in refused["jensen_shannon"]
    assert not any("how" in reason for reason in refused.values())


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
    rows = sample(TRUE, 50, rng=1)
    (folder / "rows.csv").write_text("A,B,C\n" + "".join(",".join(row) + "\n" for row in rows))
    result = run(
        *("compare", folder / "true.json", folder / "guess.json"),
        *("--data", folder / "rows.csv", "--json"),
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
    assert "of 4,000" in many.stderr
    assert "have not mixed" not in many.stderr


def test_rows_for_libra_are_codes_without_a_header(folder: Path) -> None:
    run("sample", folder / "true.json", "-n", 30, "--seed", 1, "--out", folder / "rows.data")
    labels = sample(TRUE, 30, rng=1)
    codes = np.loadtxt(folder / "rows.data", delimiter=",", dtype=int)
    assert codes.tolist() == as_data(labels, TRUE.domain).rows.tolist()
    run("sample", folder / "true.json", "-n", 3, "--out", folder / "rows.data.gz")
    assert gzip.decompress((folder / "rows.data.gz").read_bytes()).count(b"\n") == 3
    refused = run("sample", folder / "true.json", "--out", folder / "rows.xlsx", code=2)
    assert refused.exit_code != 0
    assert not (folder / "rows.xlsx").exists()
