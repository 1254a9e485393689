"""The KL experiment: repeatable bit for bit, resumable, and what it claims about its parts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from contextwise import Structure, compare, examples
from contextwise.cli import contextwise
from contextwise.distributions import probabilities
from contextwise.distributions.batch_fitting import empirical, fit_many
from contextwise.errors import ContextwiseError, TooLargeError
from contextwise.models.structure import structure_of
from contextwise.studies.kl_study import (
    Configuration,
    Study,
    configuration_of,
    effects,
    from_toml,
    means,
    run_kl,
    summary_text,
)
from contextwise.studies.run_study import to_toml
from contextwise.support.store import read_records
from contextwise.truths.generate import with_errors

TINY = configuration_of(
    structures=4, sizes=(50, 1000), parameter_sets=2, chunk=2, burn_in=30, thin=2, seed=7
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    outcome = run_kl(TINY, folder)
    assert (outcome.done, outcome.failed) == (4, ())
    return folder


def test_the_true_model_has_the_counts_of_the_paper() -> None:
    study = Study(replace(TINY, sizes=(10,), parameter_sets=1))
    assert len(study.model) == 50
    assert study.most == {"fp": 80, "fn": 160}


def test_two_processes_give_the_same_bits(finished: Path, tmp_path: Path) -> None:
    run_kl(TINY, tmp_path, n_jobs=2)
    assert read_records(tmp_path) == read_records(finished)


def test_a_run_repeats_from_its_configuration_alone(finished: Path, tmp_path: Path) -> None:
    again = from_toml(finished / "configuration.toml")
    assert again == TINY
    run_kl(again, tmp_path)
    assert read_records(tmp_path) == read_records(finished)


def test_a_finished_run_has_nothing_left_to_do(finished: Path) -> None:
    outcome = run_kl(TINY, finished)
    assert (outcome.before, outcome.done) == (4, 0)
    with pytest.raises(ContextwiseError, match="seed is 7 there and 8 here"):
        run_kl(replace(TINY, seed=8), finished)


def test_rows_are_tidy_and_their_errors_are_what_compare_counts(finished: Path) -> None:
    rows = read_records(finished)
    assert len(rows) == 2 * 4 * 2 * 2
    study = Study(TINY)
    for row in rows:
        structure, _ = study.structure(row["side"], row["structure"])
        counted = compare(study.model, structure)
        other = {"fp": counted.fn, "fn": counted.fp}[row["side"]]
        assert (getattr(counted, row["side"]), other) == (row["errors"], 0)
        assert row["percentage"] == 100 * row["errors"] / study.most[row["side"]]
        assert row["kl"] >= 0
        assert row["converged"] == 1


def test_false_positives_do_not_show_when_fitted_to_the_exact_distribution() -> None:
    study = Study(replace(TINY, sizes=(10,)))
    truths = [probabilities(study.originals[p]).ravel() for p in range(2)]
    made = [with_errors(study.model, false_positives=k, rng=k)[0] for k in (8, 24, 48, 80)]
    fitted = fit_many(made, truths)
    for parameters, truth in enumerate(truths):
        assert (fitted.kl_from(parameters, truth) < 1e-8).all()


def test_weights_are_strong_and_the_log_odds_ratio_is_as_drawn() -> None:
    study = Study(replace(TINY, sizes=(10,)))
    table = probabilities(study.originals[0])
    for i, j in ((1, 2), (3, 5)):
        cell = np.moveaxis(table[0], (i - 1, j - 1), (0, 1))[:, :, 0, 0, 0]
        ratio = np.log(cell[0, 0] * cell[1, 1] / (cell[0, 1] * cell[1, 0]))
        assert 1 <= abs(ratio) <= 3


def test_gibbs_data_have_the_exact_distribution() -> None:
    from scipy.stats import chisquare

    study = Study(replace(configuration_of(), sizes=(10,), parameter_sets=2))
    for parameters in range(2):
        original = study.originals[parameters]
        exact = probabilities(original).ravel()
        size = 20_000
        seen = empirical(study.plain, study.data(original, parameters, size)) * size
        cell = np.where(exact * size >= 5, np.arange(len(exact)), len(exact))  # rare states as one
        observed, expected = np.bincount(cell, seen), np.bincount(cell, exact * size)
        there = expected > 0
        assert chisquare(observed[there], expected[there]).pvalue > 1e-3


def test_the_summary_reads_the_conclusions_off_the_rows(finished: Path) -> None:
    rows = read_records(finished)
    found = effects(rows)
    assert [(e.side, e.size) for e in found] == [
        ("fp", 50),
        ("fp", 1000),
        ("fn", 50),
        ("fn", 1000),
    ]
    fp, fn = found[1], found[3]
    assert fn.slope > 5 * abs(fp.slope)
    assert fn.slope_interval[0] <= fn.slope <= fn.slope_interval[1]
    text = summary_text(effects(rows))
    assert "false negatives | 1,000 | 4 |" in text
    assert "**More data.**" in text


def test_effects_of_made_up_rows() -> None:
    rows = [
        {
            "structure": k,
            "side": side,
            "size": 100,
            "parameters": p,
            "percentage": 10.0 * k,
            "kl": (0.02 * k if side == "fn" else 0.5) + 0.1 * p,
        }
        for side in ("fp", "fn")
        for k in range(11)
        for p in range(2)
    ]
    flat, rising = effects(rows)
    assert flat.rank == 0
    assert flat.slope == pytest.approx(0)
    assert rising.rank == pytest.approx(1)
    assert rising.slope == pytest.approx(0.002)
    assert rising.slope_over_spread == pytest.approx(0.2 / (0.1 / np.sqrt(2)))
    assert means(rows, "fn", 100).deviation == pytest.approx(0.1 / np.sqrt(2))
    text = summary_text(effects(rows))
    assert "**KL follows false negatives.** The weakest rank correlation is 1.00" in text
    assert "No rank correlation with false positives" in text


def test_a_conclusion_that_does_not_come_out_is_said() -> None:
    rows = [
        {
            "structure": k,
            "side": side,
            "size": 100,
            "parameters": 0,
            "percentage": 10.0 * k,
            "kl": 0.0001 * k if side == "fp" else 1.0 - 0.01 * k,
        }
        for side in ("fp", "fn")
        for k in range(11)
    ]
    text = summary_text(effects(rows))
    assert "KL does not always follow false negatives" in text
    assert "That does not come out here: the rank correlation is 1.00 at 100 rows" in text


def test_few_structures_leave_the_conclusion_open() -> None:
    rows = [
        {
            "structure": k,
            "side": "fn",
            "size": 100,
            "parameters": 0,
            "percentage": 10.0 * k,
            "kl": 0.1 * k,
        }
        for k in range(3)
    ]
    text = summary_text(effects(rows))
    assert "**It is not clear that KL follows false negatives.** With 3 structures at 100" in text
    assert "does not always" not in text


def test_the_summary_for_a_terminal_has_no_markdown(finished: Path) -> None:
    text = summary_text(effects(read_records(finished)), markdown=False)
    assert "\n3. More data. From 50 to 1,000 rows" in text
    assert "*" not in text
    assert max(map(len, text.splitlines())) <= 100


def test_a_user_brings_a_model_of_their_own() -> None:
    own = structure_of(examples.load("survey"))
    configuration = configuration_of(own, structures=2)
    assert configuration.model() == own
    study = Study(replace(configuration, sizes=(20,), parameter_sets=1))
    assert study.targets.shape == (1, 36)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("features = [", "not a TOML file"),
        ("colour = 1", "unknown setting 'colour'"),
        ("seed = 1", "the setting 'features' is missing"),
        ("features = ['A=1']\nvariables = 3", "a setting is wrong"),
        ("features = ['A=9']\n[variables]\nA = ['0', '1']", "no state '9'"),
        ("features = []\nseed = -1\n[variables]\nA = ['0', '1']", "seed must be >= 0, got -1"),
    ],
)
def test_a_wrong_configuration(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text(text)
    with pytest.raises(ContextwiseError, match=message):
        from_toml(path)


def test_configurations_come_back_equal(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text(to_toml(TINY.record()))
    assert from_toml(tmp_path / "run.toml") == TINY
    assert isinstance(TINY, Configuration)
    assert isinstance(TINY.model(), Structure)


def test_the_command_leaves_tables_figures_and_a_summary(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text(to_toml(TINY.record()))
    out = tmp_path / "run"
    result = CliRunner().invoke(
        contextwise, ["experiment", "kl", "--out", str(out), "--config", str(tmp_path / "run.toml")]
    )
    assert result.exit_code == 0, result.output
    summary = (out / "summary.md").read_text()
    assert "|" not in result.stdout, "Markdown is for the file"
    assert max(map(len, result.stdout.splitlines()[:6])) < 100
    words = summary[summary.index("KL is in nats") :].replace("**", "").split()
    assert result.stdout.split()[-len(words) :] == words
    assert {path.name for path in out.iterdir()} == {
        "configuration.toml",
        "results.sqlite",
        "results.csv",
        "summary.md",
        *(f"kl-{size}.{suffix}" for size in (50, 1000) for suffix in ("png", "svg")),
    }


def test_a_configuration_and_settings_do_not_go_together(tmp_path: Path) -> None:
    for settings in (["--config", "x.toml", "--seed", "2"], ["--sizes", "1,x"]):
        result = CliRunner().invoke(
            contextwise, ["experiment", "kl", "--out", str(tmp_path / "run"), *settings]
        )
        assert result.exit_code == 2
        assert not (tmp_path / "run").exists()


def test_sizes_that_cannot_be_are_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(ContextwiseError, match="sizes must be numbers of rows >= 1, got 50, 0"):
        configuration_of(sizes=(50, 0))
    with pytest.raises(ContextwiseError, match=r"sizes must be numbers of rows >= 1, got 0$"):
        CliRunner().invoke(
            contextwise,
            ["experiment", "kl", "--out", str(tmp_path / "run"), "--sizes", "0"],
            catch_exceptions=False,
        )
    assert not (tmp_path / "run").exists()


def test_a_run_that_cannot_begin_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ContextwiseError, match="n_jobs must be >= 1"):
        run_kl(TINY, tmp_path / "run", n_jobs=0)
    assert not (tmp_path / "run").exists()
    wide = configuration_of(Structure({f"X{k}": 2 for k in range(11)}, ["X0=1 & X1=1"]))
    with pytest.raises(TooLargeError, match=r"2\.05e\+03 states, and at most 1,024"):
        run_kl(wide, tmp_path / "run")
    assert not (tmp_path / "run").exists()
