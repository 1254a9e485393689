"""The commands fit, sample and check."""

import csv
import gzip
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import contextwise as cw
from contextwise.cli import contextwise
from contextwise.comparison.two_models import compare
from contextwise.data.rows import as_data, format_rows
from contextwise.distributions import (
    cmll,
    fit,
    kl_divergence,
)
from contextwise.errors import ContextwiseError
from contextwise.formats import read, write
from contextwise.models.domain import Domain
from contextwise.models.structure import LogLinear, Structure
from drawn_rows import sample
from known_weights import CHAIN, GUESS, TRUE, TRUTH


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
        r"4 free parameters, AIC [\d,.]+, BIC [\d,.]+, G² [\d.]+ on 7 df \(p < 0.001", exact.stderr
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


def test_the_command_says_how_near_it_is(tmp_path: Path) -> None:
    domain = Domain({f"X{i}": 2 for i in range(4)})
    structure = Structure(domain, [f"X{i}=1 & X{j}=1" for i in range(4) for j in range(i)])
    rows = sample(LogLinear(Structure(domain, ["X0=1 & X1=1"]), [2.0]), 500, seed=1)
    (tmp_path / "rows.csv").write_text(format_rows(rows, domain.names))
    write(structure, tmp_path / "all.json")
    arguments = ["fit", "all.json", "rows.csv", "--out", "sparse.json", "--l1", "30", "--l2", "0"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        done = CliRunner().invoke(contextwise, arguments, catch_exceptions=False)
    found = fit(structure, rows, l1=30, l2=0)
    assert done.exit_code == 0
    assert f"objective {found.objective:,.2f}, at most {found.gap:.1e} (relative)" in done.stderr
    kept = len(found.model)
    assert 0 < kept < 6
    assert f"dropped {6 - kept} weights that became exactly 0; {kept} remain" in done.stderr
    assert read(tmp_path / "sparse.json") == found.model
    assert fit(tmp_path / "all.json", tmp_path / "rows.csv", l1=30, l2=0).model == found.model


def test_command(tmp_path: Path) -> None:
    write(Structure(CHAIN.domain, ["v1=1 & v2=1"]), tmp_path / "model.json")
    rows = sample(TRUTH, 2_000, seed=0, method="exact")
    text = "\n".join(",".join(map(str, row)) for row in np.asarray(rows).tolist())
    (tmp_path / "rows.csv").write_text(text + "\n")
    words = ["check", str(tmp_path / "model.json"), str(tmp_path / "rows.csv")]
    shown = CliRunner().invoke(contextwise, [*words, "--exit-code"])
    assert shown.exit_code == 1, shown.output
    assert "Contradicted by the rows" in shown.output
    assert "v0–v1" in shown.output
    record = json.loads(CliRunner().invoke(contextwise, [*words, "--json"]).output)
    assert record["rows"] == 2_000
    first = next(c for c in record["claims"] if (c["first"], c["second"]) == ("v0", "v1"))
    assert first["verdict"] == "contradicted"
    table = CliRunner().invoke(contextwise, [*words, "--csv"]).output.splitlines()
    assert table[0].startswith("first,second,claim,when,verdict")
    assert len(table) == 1 + len(record["claims"])
    out = str(tmp_path / "tested.json")
    assert CliRunner().invoke(contextwise, [*words, "--out", out]).exit_code == 0
    evidence = cw.read(out).evidence
    assert evidence is not None
    assert [claim.record() for claim in evidence.claims] == record["claims"]
    for more, message in (
        (["--out", "x.mn"], "only .json files hold evidence"),
        (["--out", out, "--pairs", "v0,v1"], "--pairs leaves out claims"),
    ):
        refused = CliRunner().invoke(contextwise, [*words, *more])
        assert refused.exit_code == 2
        assert message in refused.output


def test_a_check_without_time_is_reported_as_that(tmp_path: Path) -> None:
    write(CHAIN, tmp_path / "model.json")
    (tmp_path / "rows.csv").write_text("v0,v1,v2,v3,v4\n0,1,0,1,0\n1,0,0,1,1\n")
    words = ["check", str(tmp_path / "model.json"), str(tmp_path / "rows.csv")]
    shown = CliRunner().invoke(contextwise, [*words, "--time-limit", "0"])
    assert shown.exit_code == 3
    assert "The time limit ended the check: 10 pairs not tested." in shown.output
    assert "information" not in shown.output


def test_divergences(folder: Path) -> None:
    write(LogLinear(GUESS, np.zeros(4)), folder / "flat.json")
    words = ("compare", folder / "true.json", folder / "flat.json", "--kl", "--json")
    expected = kl_divergence(TRUE, LogLinear(GUESS, np.zeros(4)))
    assert json.loads(run(*words).stdout)["kl_true_guess"] == pytest.approx(expected.value)
    write(LogLinear(GUESS, np.array([-np.inf, 0, 0, 0])), folder / "flat.json")
    assert json.loads(run(*words).stdout)["kl_true_guess"] == "inf"


def test_compare_over_observed_rows(folder: Path) -> None:
    rows = sample(TRUE, 50, seed=1)
    (folder / "rows.csv").write_text("A,B,C\n" + "".join(",".join(row) + "\n" for row in rows))
    result = run(
        *("compare", folder / "true.json", folder / "guess.json"),
        *("--contexts-of", folder / "rows.csv", "--json"),
    )
    found = json.loads(result.stdout)
    assert found["distance"] == compare(TRUE, GUESS, data=rows).distance
