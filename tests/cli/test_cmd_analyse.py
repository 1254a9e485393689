"""``contextwise analyse``: the page and the model it writes, its lines, and bad input."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import contextwise as cw
from contextwise.cli import contextwise
from contextwise.errors import ContextwiseError

QUICK = ("--resamples", "2")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(contextwise, ["analyse", *arguments])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_writes_a_page_and_the_model_with_its_evidence(folder: Path) -> None:
    result = run("titanic", *QUICK)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0].startswith("All 6 pairs are associated (1 of them not on average), with")
    assert "6 pairs: 5 associated, 1 associated, not on average." in lines
    assert lines[-1] == "Page: titanic.html   Structure: titanic.json"
    assert sorted(path.name for path in folder.iterdir()) == ["titanic.html", "titanic.json"]
    model = cw.read("titanic.json")
    evidence = model.evidence
    assert evidence is not None
    assert (evidence.count, evidence.seen_by_learner) == (2201, True)
    page = (folder / "titanic.html").read_text("utf-8")
    assert "contextwise analyse titanic --resamples 2" in page


def test_an_existing_page_is_not_overwritten_without_force(folder: Path) -> None:
    (folder / "titanic.html").write_text("mine")
    result = run("titanic", *QUICK)
    assert isinstance(result.exception, ContextwiseError)
    assert "--force" in str(result.exception)
    assert (folder / "titanic.html").read_text() == "mine"
    assert run("titanic", *QUICK, "--force").exit_code == 0
    evidence = cw.read("titanic.json").evidence
    assert evidence is not None
    assert evidence.seen_by_learner


def test_a_folder_that_cannot_be_written_is_an_error_before_the_work(folder: Path) -> None:
    result = run("titanic", "--out", os.path.join("nowhere", "page"))
    assert isinstance(result.exception, ContextwiseError)
    assert "nowhere" in str(result.exception)
    result = run("titanic", "--out", ".")
    assert ". is a folder; name the files" in str(result.exception)


def test_the_advice_is_followed_and_told(folder: Path) -> None:
    rng = np.random.default_rng(0)
    lines = ["id,age,ill,town"]
    for k in range(120):
        town = rng.choice(["a", "b", ""], p=[0.5, 0.4, 0.1])
        lines.append(f"{1000 + 7 * k},{20 + k % 57},{rng.integers(2)},{town}")
    (folder / "people.csv").write_text("\n".join(lines))
    result = run("people.csv", *QUICK, "--outcome", "ill")
    assert result.exit_code == 0, result.output
    page = " ".join(re.sub(r"<[^>]+>", " ", (folder / "people.html").read_text("utf-8")).split())
    assert "left out: 18 with another missing value. --missing state" in page
    assert "age Cut at 31, 46 and 61 into 4 groups; other numbers change that: --bins" in page
    assert "Left out id." in page
    assert "15 % of the rows were left out because a value is missing" in page


def test_counted_rows_are_people(folder: Path) -> None:
    result = run("berkeley", *QUICK, "--outcome", "Admit")
    assert result.exit_code == 0, result.output
    evidence = cw.read("berkeley.json").evidence
    assert evidence is not None
    assert evidence.count == 4526


def test_groups_have_a_section(folder: Path) -> None:
    result = run("titanic", *QUICK, "--by", "sex")
    assert result.exit_code == 0, result.output
    assert "Associations differ by sex" in (folder / "titanic.html").read_text("utf-8")


def test_rows_of_a_subject_belong_together(folder: Path) -> None:
    rng = np.random.default_rng(0)
    lines = ["patient,a,b"]
    for patient in range(300):
        a = rng.integers(2)
        lines += [f"p{patient},{a},{int(rng.random() < 0.3 + 0.4 * a)}" for _ in range(2)]
    (folder / "visits.csv").write_text("\n".join(lines))
    result = run("visits.csv", *QUICK, "--subject", "patient")
    assert result.exit_code == 0, result.output
    evidence = cw.read("visits.json").evidence
    assert evidence is not None
    assert (evidence.count, evidence.subject) == (600, "patient")
    (claim,) = evidence.claims
    assert claim.effect is not None
    assert 0.3 < claim.effect.low < claim.effect.value < claim.effect.high < 0.5


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a,b\n1,2\n", "too few"),
        ("a\n" + "1\n0\n" * 20, "two columns that vary"),
        ("a,b\n" + "x,y\n" * 20, "never vary"),
        ("a,b\n" + "x,y\nx,z\n" * 20, "1 usable column"),
        (
            ",".join(f"c{k}" for k in range(500))
            + "\n"
            + "\n".join(",".join(str((k * j) % 3) for k in range(500)) for j in range(20)),
            "--columns",
        ),
    ],
)
def test_bad_input_is_answered_with_what_to_do(folder: Path, content: str, words: str) -> None:
    (folder / "bad.csv").write_text(content)
    result = run("bad.csv")
    assert isinstance(result.exception, ContextwiseError), result.output
    assert words in str(result.exception)
    assert [path.name for path in folder.iterdir()] == ["bad.csv"]


def test_an_unknown_outcome_is_named(folder: Path) -> None:
    result = run("titanic", "--outcome", "surv")
    assert isinstance(result.exception, ContextwiseError)
    assert "surv" in str(result.exception)


def test_the_model_is_version_2_json(folder: Path) -> None:
    assert run("women-math", *QUICK).exit_code == 0
    document = json.loads((folder / "women-math.json").read_text("utf-8"))
    assert "evidence" in json.dumps(document)
