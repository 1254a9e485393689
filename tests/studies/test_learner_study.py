"""The study of learners: the same rows for all, repeatable, resumable, and the answer first."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from click.testing import CliRunner

from contextwise import Structure, compare, examples, read, sample, study, write
from contextwise.cli import contextwise
from contextwise.convert import by_values
from contextwise.errors import ContextwiseError
from contextwise.learning import ChowLiu, Trees
from contextwise.models.structure import LogLinear, numbers_of
from contextwise.studies.learner_study import ChangedStudy, Study
from contextwise.studies.units import compute

SMALL: dict[str, Any] = {"rows": [50, 200], "repeats": 2}


def untimed(result: Study) -> list[dict[str, Any]]:
    return [{k: v for k, v in record.items() if k != "seconds"} for record in result.results]


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


def test_a_study_in_which_all_fail_is_an_error_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(
        ContextwiseError, match="no learner finished: pair-blocks on 50 rows of six: too slow"
    ):
        study("six", "pair-blocks", rows=50, repeats=1, time_limit=0, out=tmp_path)
    assert "too slow" in (tmp_path / "results.csv").read_text()


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
    assert "chow-liu $-$ mpl" in latex
    with open(out / "results.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 16
    page = (out / "study.html").read_text()
    assert "data:image/svg+xml;base64," in page
    assert "is nearest to the truth" in page
    assert page.index("is nearest") < page.index("<img")


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


def test_a_file_gives_the_same_rows_in_each_folder(tmp_path: Path) -> None:
    results = []
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / "net.json"
        write(examples.truth("bnlearn-cancer"), path)
        found = study(str(path), "chow-liu", rows=60, repeats=1).results[0]
        results.append({**found, "seconds": 0})
    assert results[0] == results[1]
    assert results[0]["truth"] == "net.json"
    both = [str(tmp_path / folder / "net.json") for folder in ("here", "there")]
    assert study(both, "chow-liu", rows=60, repeats=1).truths == both


def test_named_truths_are_models_of_every_command() -> None:
    for command in ("compare paper six", "compare paper#0 six", "sample paper#2 --rows 2"):
        result = CliRunner().invoke(contextwise, command.split())
        assert result.exit_code == 0, result.output
    assert "agree on all 240" in CliRunner().invoke(contextwise, ["compare", "paper", "six"]).output
