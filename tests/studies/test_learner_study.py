"""The study of learners: repeatable, resumable, fair, and honest about learners that fail."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from contextwise import Structure, compare
from contextwise.cli import contextwise
from contextwise.errors import ContextwiseError
from contextwise.learning import learner_named
from contextwise.learning.base import Learner
from contextwise.report.text import as_text
from contextwise.studies import learner_study as units_module
from contextwise.studies.learner_report import publish_learners, study_figures
from contextwise.studies.learner_results import (
    DISTANCE,
    KL,
    agreements,
    by_rows,
    change_with_rows,
    disagreement,
    failures_table,
    hypotheses_sentences,
    labels_of,
    of_truths,
    rank,
    slopes,
    study_parts,
)
from contextwise.studies.learner_study import (
    COLUMNS,
    TIMINGS,
    Configuration,
    Plan,
    TooSlowError,
    configuration_of,
    do_unit,
    from_toml,
    marginals,
    plans_of,
    refit,
    run_learners,
    time_limited,
    train_rows,
    units,
    within,
)
from contextwise.studies.run_study import to_toml
from contextwise.support.deadline import Deadline, OutOfTime
from contextwise.support.store import Store, read_records, run_units

TINY = configuration_of(
    truths=["paper", "random-6", "lung"],
    learners=["true-structure", "independent", "chow-liu", "trees"],
    sizes=(60, 300),
    repeats=2,
    test_rows=100,
    seed=7,
)


def lasting(folder: Path) -> list[dict[str, Any]]:
    """The records without what differs from run to run."""
    return [{k: v for k, v in r.items() if k not in TIMINGS} for r in read_records(folder)]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    outcome = run_learners(TINY, folder)
    assert (outcome.done, outcome.failed) == (3 * 2 * 2 * 4, ())
    return folder


def test_every_record_has_every_column(finished: Path) -> None:
    for record in read_records(finished):
        assert tuple(record) == COLUMNS
        assert record["status"] == "done"
        assert record["fp"] + record["fn"] == record["distance"]
        assert record["refit"] == "likelihood"
        assert record["kl"] >= 0
        assert record["kl_exact"]
        assert not record["doubtful"]


def test_the_true_structure_is_at_distance_0_and_the_empty_one_misses_all(finished: Path) -> None:
    for own in by_rows(read_records(finished)).values():
        assert own["true-structure"]["distance"] == own["true-structure"]["hamming"] == 0
        assert own["independent"]["fp"] == 0
        if own["trees"]["oracle_distance"] is not None:
            assert own["trees"]["oracle_distance"] <= own["trees"]["distance"]


def test_a_run_that_was_stopped_goes_on_to_the_same_numbers(finished: Path, tmp_path: Path) -> None:
    listed = list(units(TINY))
    with Store(tmp_path, TINY.record()) as store:
        run_units(store, listed[5:20:3], do_unit)
    outcome = run_learners(TINY, tmp_path, n_jobs=2)
    assert (outcome.before, outcome.done) == (5, len(listed) - 5)
    assert lasting(tmp_path) == lasting(finished)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_run_that_was_killed_goes_on_to_the_same_numbers(finished: Path, tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(to_toml(TINY.record()), encoding="utf-8")
    arguments = ["experiment", "learners", "--config", "tiny.toml", "--out", "run"]
    command = [sys.executable, "-m", "contextwise", *arguments]
    folder = tmp_path / "run"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=tmp_path, **quiet) as running:  # type: ignore[call-overload]
        while running.poll() is None and len(stored(folder)) < 3:
            time.sleep(0.02)
        running.kill()
    survived = stored(folder)
    assert 3 <= len(survived) < len(list(units(TINY)))
    outcome = run_learners(TINY, folder)
    assert outcome.before == len(survived)
    assert lasting(folder) == lasting(finished)


def stored(folder: Path) -> list[dict[str, Any]]:
    """The records of a folder that may not be there yet."""
    try:
        return list(read_records(folder))
    except (ContextwiseError, sqlite3.Error):
        return []


def test_a_run_repeats_from_its_configuration_alone(finished: Path, tmp_path: Path) -> None:
    again = from_toml(finished / "configuration.toml")
    assert again == TINY
    some = list(units(again))[::7]
    with Store(tmp_path, again.record()) as store:
        run_units(store, some, do_unit)
    known = {(r["truth"], r["size"], r["repeat"], r["learner"]): r for r in lasting(finished)}
    for r in lasting(tmp_path):
        assert r == known[r["truth"], r["size"], r["repeat"], r["learner"]]


def test_learners_see_the_same_rows_and_repeats_do_not() -> None:
    tasks = [unit.parameters for unit in units(TINY)]
    rows: dict[tuple[str, int, int], Any] = {}
    for task in tasks:
        key = task.truth, task.size, task.repeat
        own = train_rows(task).drawn.positions
        assert (rows.setdefault(key, own) == own).all()
    assert not np.array_equal(rows["paper", 60, 0], rows["paper", 60, 1])


class Slow(Learner):
    """Never comes to an end."""

    def learn(self, data: Any, run: Any) -> Structure:
        while True:
            sum(range(1000))


class Broken(Learner):
    """Always fails."""

    def learn(self, data: Any, run: Any) -> Structure:
        raise ValueError("no idea")


@pytest.fixture
def with_bad_learners(monkeypatch: pytest.MonkeyPatch) -> Configuration:
    own: Mapping[str, type[Learner]] = {"slow": Slow, "broken": Broken}
    known = learner_named
    monkeypatch.setattr(units_module, "learner_named", lambda name: own.get(name) or known(name))
    learners = {**plans_of(["chow-liu"]), "slow": Plan("slow"), "broken": Plan("broken")}
    return replace(
        TINY, truths=("paper", "lung"), learners=learners, sizes=(60,), repeats=1, unit_limit=0.2
    )


def test_a_learner_that_fails_or_is_too_slow_is_counted_and_ranks_last(
    with_bad_learners: Configuration, tmp_path: Path
) -> None:
    outcome = run_learners(with_bad_learners, tmp_path)
    assert not outcome.failed
    records = read_records(tmp_path)
    ended = {(r["learner"], r["status"], r["error"]) for r in records}
    assert ("broken", "failed", "ValueError: no idea") in ended
    assert ("slow", "too slow", "took longer than 0.2 seconds") in ended
    ranks = rank(records, DISTANCE)
    assert ranks.labels == ("broken", "chow-liu", "slow")
    assert all(own.tolist() == [2.5, 1, 2.5] for own in ranks.ranks.values())
    table = {row[0]: row[1:] for row in failures_table(records).rows}
    assert table == {
        "broken": (2, 0, 2, 0, 0),
        "chow-liu": (2, 2, 0, 0, 0),
        "slow": (2, 0, 0, 2, 0),
    }
    assert "slow" in as_text(study_parts(records))
    assert len(study_figures(records)) == 5, "one size has no learning curve"


def test_exact_and_estimated_values_are_never_ranked_together(finished: Path) -> None:
    records = [dict(r) for r in read_records(finished)]
    records[0]["kl_exact"] = False
    assert rank(records, KL).left_out == (records[0]["learner"] != "true-structure")
    for r in records:
        r["kl_exact"] = False
    assert rank(records, KL).left_out == 0


def made_up(truth: str, learner: str, repeat: int, d: float, kl: float) -> dict[str, Any]:
    return dict.fromkeys(COLUMNS) | {
        "truth": truth,
        "size": 100,
        "repeat": repeat,
        "learner": learner,
        "status": "done",
        "normalized": d,
        "kl": kl,
        "kl_exact": True,
        "kl_error": 0.0,
    }


def test_the_best_by_kl_that_is_worse_by_d_counts_only_if_kl_is_sure() -> None:
    sure = [(0.1, 0.2), (0.1, 0.21), (0.11, 0.2)]
    unsure = [(0.1, 0.2), (0.3, 0.1), (0.1, 0.25)]
    for differences, expected in ((sure, (0, 0, 1)), (unsure, (0, 1, 0))):
        records = [
            made_up("t", learner, k, d, kl[place])
            for k, kl in enumerate(differences)
            for place, (learner, d) in enumerate((("dense", 0.4), ("right", 0.1)))
        ]
        found = disagreement(records, KL)
        assert (found.same, found.ties, found.worse) == expected
    assert found.excess.value is None
    assert disagreement([], KL).worse_share.value is None
    once = [made_up("t", "a", 0, 0.1, 0.1), made_up("t", "b", 0, 0.2, 0.3)]
    twice = [*once, made_up("t", "a", 1, 0.1, 0.1), made_up("t", "b", 1, 0.2, 0.35)]
    found = disagreement(twice, KL)
    assert (found.same, found.pairs, found.pairs_worse.value) == (1, 1, 0.0)
    unknown_error = disagreement(once, KL)
    assert (unknown_error.cells, unknown_error.pairs_worse.value) == (0, None)
    assert "two repeats" in next(iter(hypotheses_sentences([unknown_error], [], None)))


def test_a_cell_of_estimates_is_judged_and_a_mixed_one_by_its_exact_values() -> None:
    records = [
        made_up("t", learner, k, d, kl + 0.001 * k) | {"kl_exact": False, "kl_error": 0.01}
        for k in range(2)
        for learner, d, kl in (("dense", 0.4, 0.1), ("right", 0.1, 0.3), ("other", 0.2, 0.4))
    ]
    assert disagreement(records, KL).worse == 1
    assert disagreement([r | {"kl_error": 0.5} for r in records], KL).ties == 1
    mixed = [r | {"kl_exact": r["learner"] != "dense"} for r in records]
    found = disagreement(mixed, KL)
    assert (found.same, found.worse, found.pairs) == (1, 0, 1)


def test_slopes_are_those_that_made_the_rows() -> None:
    rng = np.random.default_rng(1)
    records = []
    for truth in "abcd":
        base = rng.random()
        for k in range(6):
            fp, fn = rng.random(2)
            one = made_up(truth, f"l{k}", 0, fp + fn, base + 100 * (0.001 * fp + 0.02 * fn))
            records.append(one | {"fp_share": fp, "fn_share": fn})
    (found,) = slopes(records)
    assert [found.fp.value, found.fn.value] == pytest.approx([0.001, 0.02])
    assert list(found.fp.interval or ()) == pytest.approx([0.001, 0.001])


def test_a_change_with_rows_is_clear_only_beyond_its_interval() -> None:
    rng = np.random.default_rng(2)
    records: list[dict[str, Any]] = []
    for truth in "abcd":
        for k in range(6):
            fp, fn = rng.random(2)
            for size, cost in ((100, 0.005), (1000, 0.001)):
                one = made_up(truth, f"l{k}", 0, fp + fn, 100 * (cost * fp + 0.02 * fn))
                records.append(one | {"size": size, "fp_share": fp, "fn_share": fn})
    found = change_with_rows(records)
    assert found is not None
    assert found.value == pytest.approx(-0.004)
    assert found.excludes_0
    assert change_with_rows([r for r in records if r["size"] == 100]) is None
    noisy = [r | {"kl": r["kl"] + 5 * rng.random()} for r in records]
    unclear = change_with_rows(noisy)
    assert unclear is not None
    assert not unclear.excludes_0


def test_rankings_that_are_opposite_have_tau_of_minus_1() -> None:
    records = [made_up(t, x, 0, d, 1 - d) for t in "ab" for x, d in (("a", 0.1), ("b", 0.4))]
    ((_, _, tau, truths),) = agreements([rank(records, DISTANCE), rank(records, KL)])
    assert (tau.value, truths) == (-1.0, 2)


def test_a_refit_keeps_the_claims_and_fits_the_marginals() -> None:
    structure = Structure({"v0": 2, "v1": 2, "v2": 2}, ["v0=1 & v1=1"])
    rows = np.random.default_rng(1).integers(0, 2, (50, 3))
    model, method = refit(structure, rows, l2=1e-6)
    assert method == "likelihood"
    assert compare(structure, model).distance == 0
    assert len(marginals(structure)) == 6


def test_time_is_limited() -> None:
    def work() -> None:
        with time_limited(0.05):
            while True:
                pass

    with pytest.raises(TooSlowError, match=r"longer than 0\.05 seconds"):
        work()
    with ThreadPoolExecutor() as threads:  # which cannot be stopped
        late = threads.submit(within, 0.01, lambda: time.sleep(0.05))
    assert late.result() is None
    with pytest.raises(OutOfTime), Deadline.after(0.05).enforced():  # the limit of a caller
        within(60, lambda: time.sleep(60))
    assert within(5, lambda: 3) == 3

    def refuse() -> int:
        raise ContextwiseError("too large")

    assert within(5, refuse) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("truths = [", "not a TOML file"),
        ("colour = 1", "unknown setting 'colour'"),
        ("truths = ['paper']", "learners must be given"),
        ("[learners.trees]\nname = 1", "a setting is wrong"),
        ("repeats = 0\n[learners.trees]\nlearner = 'trees'", "repeats must be >= 1"),
        ("files = {x = '0'}\n[learners.trees]\nlearner = 'trees'", "x has changed since this run"),
    ],
)
def test_a_wrong_configuration(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text(text)
    with pytest.raises(ContextwiseError, match=message):
        from_toml(tmp_path / "run.toml")


def test_learners_that_are_not_there_are_errors_when_asked_for() -> None:
    with pytest.raises(ContextwiseError, match="there is no learner 'tree'"):
        configuration_of(truths=["paper"], learners=["tree"])
    assert "true-structure" in plans_of()
    assert "pgmpy" not in plans_of()


def test_the_command_leaves_tables_figures_a_summary_and_a_page(
    finished: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    out.mkdir()
    for name in ("results.sqlite", "configuration.toml"):
        (out / name).write_bytes((finished / name).read_bytes())
    command = ["experiment", "learners", "--out", str(out)]
    result = CliRunner().invoke(
        contextwise, [*command, "--config", str(out / "configuration.toml")]
    )
    assert result.exit_code == 0, result.output
    assert "The best learner by KL of the refitted structures" in result.stdout
    names = {path.name for path in out.iterdir()}
    figures = {"learning-curves", "errors-plane", "kl-against-errors", "ranks", "times"}
    figures.add("critical-differences")
    assert {f"{name}.{suffix}" for name in figures for suffix in ("png", "svg")} <= names
    assert {"units.csv", "summary.md", "tables.tex", "page.html"} <= names
    summary = (out / "summary.md").read_text()
    assert summary.count(" on 3 truths") == 2 * len(figures), "in the text, and for who cannot see"
    assert "mathdefault" not in (out / "learning-curves.svg").read_text()
    page = (out / "page.html").read_text()
    assert page.count("<figcaption>") == len(figures)
    assert "<script" not in page
    assert (out / "units.csv").read_text().startswith("truth,size,repeat,learner,status")


def test_real_data_are_scored_without_a_truth(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    folder = tmp_path / "data"
    folder.mkdir()
    for part, count in (("train", 200), ("valid", 50), ("test", 50)):
        first = rng.integers(0, 2, count)
        rows = np.stack([first, first ^ (rng.random(count) < 0.1), rng.integers(0, 3, count)], 1)
        text = "\n".join(",".join(map(str, row)) for row in rows.tolist())
        (folder / f"small.{part}.data").write_text(text + "\n")
    learners = ["true-structure", "independent", "chow-liu", "trees"]
    made = configuration_of(learners=learners, data=folder, resamples=3)
    assert made.truths == ()
    (tmp_path / "run.toml").write_text(to_toml(made.record()))
    assert from_toml(tmp_path / "run.toml") == made
    run_learners(made, tmp_path / "run")
    records = read_records(tmp_path / "run")
    assert [r["learner"] for r in records] == ["chow-liu", "independent", "trees"]
    assert not of_truths(records)
    by_label = {r["learner"]: r for r in records}
    assert by_label["chow-liu"]["pll_own"] > by_label["independent"]["pll_own"]
    assert by_label["independent"]["instability"] == 0
    assert json.loads(by_label["trees"]["settings"])["penalty"] in (2.0, 5.0, 10.0, 20.0)
    text = publish_learners(tmp_path / "run")
    assert "small: normalized distance between learners" in text
    with open(folder / "small.test.data", "a") as file:
        file.write("0,0,0\n")
    with pytest.raises(ContextwiseError, match=r"small\.test\.data has changed since this run"):
        from_toml(tmp_path / "run.toml")


def test_ensembles_of_resamples_are_ranked_by_the_brier_score(tmp_path: Path) -> None:
    labels = ["true-structure", "mpl", "mpl-bootstrap"]
    small = configuration_of(
        truths=["lung", "paper"], learners=labels, sizes=(200,), repeats=1, test_rows=100
    )
    run_learners(small, tmp_path, n_jobs=1)
    records = read_records(tmp_path)
    for record in records:
        if record["learner"] != "mpl-bootstrap":
            assert record["brier"] == record["expected_distance"] == record["normalized"]
            assert record["spread"] == 0
        else:
            assert record["brier"] == pytest.approx(
                record["expected_distance"] - record["spread"] / 2
            )
    assert any(record["spread"] for record in records)
    assert "Brier score" in as_text(study_parts(records))
    mixed = from_toml(tmp_path / "configuration.toml")
    assert mixed.learners["mpl-bootstrap"] == Plan("mpl", resamples=20)


def test_labels_leave_the_reference_out() -> None:
    assert labels_of([{"learner": "true-structure"}, {"learner": "trees"}]) == ["trees"]
