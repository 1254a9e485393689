"""The study of learners: the same rows for all, repeatable, resumable, and the answer first."""

from __future__ import annotations

import csv
import json
from itertools import product
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from contextwise import Structure, compare, compare_groups, examples, read, sample, study, write
from contextwise.cli import contextwise
from contextwise.convert import by_values
from contextwise.errors import ContextwiseError
from contextwise.learning import ChowLiu, Trees
from contextwise.models.structure import LogLinear, numbers_of
from contextwise.report.studies import study_figure, study_parts, verdict
from contextwise.studies.learner_study import ChangedStudy, Study
from contextwise.studies.summary import ALL, paired_tests, summaries
from contextwise.studies.units import compute

SMALL: dict[str, Any] = {"rows": [50, 200], "repeats": 2}


def untimed(result: Study) -> list[dict[str, Any]]:
    return [{k: v for k, v in record.items() if k != "seconds"} for record in result.results]


def record(learner: str, repeat: int = 0, fp: int = 0, fn: int = 0, **more: Any) -> dict[str, Any]:
    made = {"truth": "t", "rows": 100, "repeat": repeat, "learner": learner, "status": "done"}
    made |= {"error": None, "seconds": 0.1, "assertions": 10, "fp": fp, "fn": fn, "kappa": 0.5}
    return {**made, "normalized": (fp + fn) / 10, "rows_from": "exact", **more}


def test_records_are_what_compare_counts() -> None:
    result = study("lung", {"tree": "chow-liu"}, rows=80, repeats=1, seed=3)
    (made,) = result.results
    assert (made["truth"], made["rows"], made["learner"]) == ("lung", 80, "tree")
    drawn = np.random.default_rng([3, crc32(b"lung"), 0, 80, 0, 0])
    rows = sample("lung", 80, seed=drawn, array=True)
    true = examples.load("lung")
    learned = ChowLiu().fit(rows, domain=true.domain)
    found = compare(true, learned.structure_)
    assert (made["distance"], made["fp"], made["fn"]) == (found.distance, found.fp, found.fn)
    assert made["assertions"] == found.total


def test_two_processes_give_the_same_records() -> None:
    learners = ["chow-liu", Trees(penalty=5.0)]
    here = study(["lung", "random-6"], learners, **SMALL)
    there = study(["lung", "random-6"], learners, **SMALL, n_jobs=2)
    assert untimed(here) == untimed(there)
    assert here.learners == ["chow-liu", "trees"]


def test_a_study_resumes_and_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[str] = []

    def noted(task: Any) -> Any:
        computed.append(f"{task.source.label} {task.data.place}")
        return compute(task)

    monkeypatch.setattr("contextwise.studies.learner_study.compute", noted)
    first = study("six", "chow-liu", **SMALL, out=tmp_path)
    assert len(computed) == 4
    assert study("six", "chow-liu", **SMALL, out=tmp_path).results == first.results
    assert len(computed) == 4
    more = study("six", ["chow-liu", "mpl"], rows=[50, 200], repeats=3, out=tmp_path)
    assert len(computed) == 12
    assert [r for r in first.results if r not in more.results] == []
    with pytest.warns(ChangedStudy, match=r"learner was chow-liu and is trees.*4 units of 4 are"):
        other = study("six", {"chow-liu": Trees(penalty=9.0)}, **SMALL, out=tmp_path)
    assert len(computed) == 16, "other parameters under the same label are other units"
    assert {r["learner"] for r in other.results} == {"chow-liu"}
    with pytest.raises(ContextwiseError, match="seed is 0 there and 1 here"):
        study("six", "chow-liu", **SMALL, out=tmp_path, seed=1)


def test_a_structure_gets_strong_weights_and_a_model_keeps_its_own() -> None:
    structure = Structure({"A": 2, "B": 2}, ["A=1 & B=1", "A=0 & B=0"])
    result = study([structure, LogLinear(structure, [9.0, 9.0])], "mpl", rows=500, repeats=1)
    assert result.truths == ["truth 1", "truth 2"]
    assert all(r["distance"] == 0 for r in result.results)


def test_a_learner_that_fails_or_is_too_slow_has_a_record() -> None:
    def broken(rows: object) -> Structure:
        raise ValueError("no idea")

    result = study("six", {"broken": broken, "mpl": "mpl"}, rows=50, repeats=1)
    failed, done = sorted(result.results, key=lambda r: r["learner"])
    assert (failed["status"], failed["error"]) == ("failed", "ValueError: no idea")
    assert done["status"] == "done"
    assert result.ranking(50) == ["mpl"]
    assert "broken: failed on 1 of 1 data set, first on six with 50 rows" in str(result)
    slow = study("six", ["pair-blocks", "independent"], rows=50, repeats=1, time_limit=0)
    assert slow.results[0]["status"] == "too slow"


def test_a_study_in_which_all_fail_is_an_error_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(
        ContextwiseError, match="no learner finished: pair-blocks on 50 rows of six: too slow"
    ):
        study("six", "pair-blocks", rows=50, repeats=1, time_limit=0, out=tmp_path)
    assert "too slow" in (tmp_path / "results.csv").read_text()


def test_means_are_over_truths_of_means_over_repeats() -> None:
    values = {("a", 0): 1, ("a", 1): 3, ("b", 0): 4, ("b", 1): 4}
    result = Study([record("x", r, fp=fp, truth=truth) for (truth, r), fp in values.items()])
    first, _, over_all = summaries(result.results)
    assert over_all["normalized"] == over_all["fp_share"] == pytest.approx((0.2 + 0.4) / 2)
    assert (over_all["truth"], over_all["fn_share"], over_all["rank"]) == (ALL, 0, 1)
    # Truth b does not vary, so the interval has the one degree of freedom of a.
    half = stats.t.ppf(0.975, 1) * np.sqrt(0.02 / 2) / 2
    assert over_all["low"] == pytest.approx(max(0, 0.3 - half))
    assert over_all["high"] == pytest.approx(min(1, 0.3 + half))
    alone = stats.t.interval(0.95, 1, 0.2, np.sqrt(0.02 / 2))
    assert (first["low"], first["high"]) == (max(0, alone[0]), min(1, alone[1]))


def test_the_tests_are_those_of_compare_groups() -> None:
    guesses = {"x": [0, 1, 0, 2, 1], "y": [3, 4, 2, 3, 5]}
    true = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "B=1 & C=1"])
    features = ["A=1 & B=1", "B=1 & C=1", "A=1 & C=1", "A=0 & C=0 & B=0", "A=1 & B=1 & C=1"]
    groups = {
        name: [compare(true, Structure(true.domain, features[:k])) for k in counts]
        for name, counts in guesses.items()
    }
    records = [
        record(name, k, int(c.fp), int(c.fn), normalized=c.normalized, assertions=int(c.total))
        for name, comparisons in groups.items()
        for k, c in enumerate(comparisons)
    ]
    expected = compare_groups(groups).differences[0]
    (found,) = paired_tests(records)
    assert found["p_value"] == expected.p_value
    assert found["holm_p_value"] == expected.adjusted
    assert found["difference"] == pytest.approx(expected.value.mean)
    assert found["low"] == pytest.approx(expected.value.low)


def test_tests_are_blocked_by_truth() -> None:
    """All signs by brute force, for a mean over truths of means over repeats."""
    gaps = {"a": [1, 2, -1, 3], "b": [2, 1]}
    records = [
        record(name, k, fp=5 + (gap if name == "y" else 0), truth=truth)
        for name in ("x", "y")
        for truth, own in gaps.items()
        for k, gap in enumerate(own)
    ]
    weighted = [gap / len(own) / 2 for own in gaps.values() for gap in own]
    sums = [
        abs(sum(s * w for s, w in zip(signs, weighted, strict=True)))
        for signs in product((1, -1), repeat=6)
    ]
    expected = np.mean([value >= abs(sum(weighted)) - 1e-9 for value in sums])
    assert paired_tests(records)[0]["p_value"] == pytest.approx(expected)


def test_a_learner_without_all_results_has_no_mean_and_no_rank() -> None:
    records = [record("x", k, fp=1) for k in range(3)] + [record("y", k, fp=0) for k in range(2)]
    records.append(record("y", 2, status="failed", normalized=None))
    x, y = summaries(records)
    assert (x["done"], x["rank"], y["done"], y["rank"], y["normalized"]) == (3, 1, 2, None, None)


def test_the_answer_names_the_nearest_and_what_cannot_be_told() -> None:
    clear = [record("x", k, fp=1) for k in range(6)] + [record("y", k, fn=5) for k in range(6)]
    assert verdict(Study(clear)) == (
        "x is nearest to the truth: it is wrong in 10 % of all assertions at 100 rows (mean over "
        "6 data sets of 1 truth), y in 50 %."
    )
    close = [record("x", k, fp=k) for k in range(3)] + [record("y", k, fp=4 - k) for k in range(3)]
    assert verdict(Study(close)).endswith("Paired tests do not distinguish x from y.")
    assert verdict(Study(clear[:3])).startswith("x is wrong in 10 % of all assertions at 100 rows")
    chains = [record("x", rows_from="from 100 Gibbs chains")]
    assert "Gibbs chains" in str(study_parts(Study(chains))[-1])


def test_the_command_prints_the_answer_and_writes_four_files(tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = ["study", "lung", "six", "--learners", "chow-liu,mpl", "--rows", "50,100"]
    result = CliRunner().invoke(contextwise, [*command, "--repeats", "2", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert " is nearest to the truth: it is wrong in " in " ".join(result.stdout.split())
    names = {path.name for path in out.iterdir()}
    assert names >= {"results.csv", "results.sqlite", "study.html", "study.json", "study.png"}
    assert names >= {"study.pdf", "study.svg", "study.tex", "summary.csv", "tests.csv"}
    latex = (out / "study.tex").read_text()
    assert latex.count("\\begin{tabular}") == 2
    assert "chow-liu − mpl" in latex
    with open(out / "results.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 16
    page = (out / "study.html").read_text()
    assert "data:image/svg+xml;base64," in page
    assert "is nearest to the truth" in page
    assert page.index("is nearest") < page.index("<img")


def test_the_figure_has_a_panel_with_labels_and_every_learner() -> None:
    records = [record(name, k, fp=k) for name in ("x", "y") for k in range(3)]
    figure = study_figure(Study(records))
    (axes,) = figure.axes
    assert axes.has_data()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("rows", "wrong assertions, %")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["x", "y"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"truths": []}, "pass at least one truth"),
        ({"learners": []}, "pass at least one learner"),
        ({"rows": []}, "rows must be numbers >= 2, got none"),
        ({"repeats": 0}, "repeats must be >= 1, got 0"),
        ({"n_jobs": 0}, "n_jobs must be >= 1"),
    ],
)
def test_what_cannot_be_studied(wrong: dict[str, Any], message: str, tmp_path: Path) -> None:
    good: dict[str, Any] = {"truths": "six", "learners": "mpl", "out": tmp_path / "run"}
    with pytest.raises(ContextwiseError, match=message):
        study(**{**good, **wrong})
    assert not (tmp_path / "run").exists()


def test_tolerances_become_columns() -> None:
    result = study("lung", ["chow-liu"], at=(0.1, 0), rows=80, repeats=2)
    assert result.tolerances == ["0", "0.1"]
    for made in result.results:
        assert made["distance_at_0.1"] == made["fp_at_0.1"] + made["fn_at_0.1"]
    mean = sum(made["normalized_at_0"] for made in result.results) / 2
    assert result.mean_at("0", "chow-liu", 80) == pytest.approx(mean)
    assert "if only dependences stronger than t count" in str(result)
    with pytest.raises(ContextwiseError, match="got -1"):
        study("lung", ["chow-liu"], at=-1, rows=80, repeats=1)


def test_a_truth_by_values_keeps_its_tables(tmp_path: Path) -> None:
    network = examples.truth("bnlearn-cancer")
    small: dict[str, Any] = {"rows": 300, "repeats": 1}
    plain, by_numbers = (study(network, "mpl", **small, by_values=v) for v in (None, 0.0))
    seen = [result.results[0] for result in (plain, by_numbers)]
    assert seen[0]["features"] == seen[1]["features"]  # the same rows
    # a file of claims keeps the numbers, so its rows are drawn from them, not from random weights
    path = tmp_path / "claims.json"
    write(by_values(LogLinear(*_parts(network))), path)
    kept = numbers_of(read(path))
    assert kept == LogLinear(*_parts(network))
    again = study(read(path), "mpl", **small).results[0]
    assert again == {**seen[1], "seconds": again["seconds"]}
    document = json.loads(path.read_text())
    assert len(document["numbers"]["weights"]) == len(document["numbers"]["features"])
    del document["numbers"]
    path.write_text(json.dumps(document))
    with pytest.raises(ContextwiseError, match="claims were read from numbers that the file does"):
        study(str(path), "mpl", **small)


def _parts(model: Any) -> tuple[Structure, Any]:
    return model.structure, model.weights


def test_named_truths_are_models_of_every_command() -> None:
    for command in ("compare paper six", "compare paper#0 six", "sample paper#2 --rows 2"):
        result = CliRunner().invoke(contextwise, command.split())
        assert result.exit_code == 0, result.output
    assert "agree on all 240" in CliRunner().invoke(contextwise, ["compare", "paper", "six"]).output
