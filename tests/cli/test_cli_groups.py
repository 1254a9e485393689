"""``compare`` with chance, groups of guesses, and many truths."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from contextwise import Structure, compare, write
from contextwise.cli import contextwise
from contextwise.evaluation import chance, compare_truths, summarize

DOMAIN = {"A": 2, "B": 2, "C": 3, "D": 2}
TRUE = Structure(DOMAIN, ["A=1 & B=1 & C!=0", "B=1 & D=1"])
GUESSES = [
    Structure(DOMAIN, texts)
    for texts in (
        ["A=1 & B=1"],
        ["A=1 & B=1 & C=1", "B=1 & D=1"],
        ["B=1 & D=1"],
        ["A=1 & D=1"],
        ["C=2 & D=1 & B=1"],
        ["A=0 & C=1", "A=1 & B=1"],
    )
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(TRUE, tmp_path / "true.json")
    for k, guess in enumerate(GUESSES):
        write(guess, tmp_path / f"guess{k}.json")
    return tmp_path


def run(folder: Path, *arguments: str) -> Result:
    given = [a.replace("@", f"{folder}/") for a in arguments]
    return CliRunner().invoke(contextwise, ["compare", *given])


def test_chance(folder: Path) -> None:
    shown = run(folder, "@true.json", "@guess1.json", "--chance", "--draws", "19", "--seed", "3")
    assert shown.exit_code == 0, shown.output
    assert str(chance(TRUE, GUESSES[1], draws=19, rng=3)) in shown.output
    question = ["--chance", "--null", "variables", "--draws", "9", "--context", "D=1"]
    record = json.loads(run(folder, "@true.json", "@guess1.json", "--json", *question).output)
    found = chance(TRUE, GUESSES[1], null="variables", draws=9, context="D=1")
    assert record["chance_p_value"] == found.p_value
    assert record["chance_skill"] == found.skill
    several = run(folder, "@true.json", "@guess0.json", "@guess1.json", "--chance", "--draws", "5")
    assert several.output.count("Random guesses (5 draws):") == 2
    assert "guess1.json:\nRandom guesses" in several.output
    assert record["chance_verdict"] == found.verdict
    rows = run(folder, "@true.json", "@guess1.json", "--csv", *question).output
    assert next(csv.DictReader(io.StringIO(rows)))["chance_verdict"] == found.verdict


def test_pairs_beside_chance(folder: Path) -> None:
    words = ["@true.json", "@guess1.json", "--chance", "--draws", "19", "--per-pair"]
    found = {c.pair: c for c in chance(TRUE, GUESSES[1], draws=19).pair_chances()}
    record = json.loads(run(folder, *words, "--json").output)
    rows = list(csv.DictReader(io.StringIO(run(folder, *words, "--csv").output)))
    assert len(rows) == len(record["per_pair"]) > 0
    for row, own in zip(rows, record["per_pair"], strict=True):
        beside = found[own["first"], own["second"]]
        assert own["chance_skill"] == beside.skill
        assert own["chance_p_value"] == beside.p_value
        assert row["chance_p_value"] == ("" if beside.p_value is None else str(beside.p_value))
    plain = run(folder, "@true.json", "@guess1.json", "--per-pair", "--csv").output
    assert "chance" not in plain.splitlines()[0]


def test_groups(folder: Path) -> None:
    groups = ["--group", "near=@guess[0-2].json", "--group", "far=@guess[3-5].json"]
    shown = run(folder, "@true.json", *groups)
    assert shown.exit_code == 0, shown.output
    assert "The mean of each group, with its 95 % interval" in shown.output
    assert "Differences between groups:" in shown.output
    assert "taken to be from the same rows" in " ".join(shown.output.split())
    found = summarize(
        {
            "near": [compare(TRUE, guess) for guess in GUESSES[:3]],
            "far": [compare(TRUE, guess) for guess in GUESSES[3:]],
        }
    )
    record = json.loads(run(folder, "@true.json", *groups, "--json").output)
    assert record["means"] == found.records()
    rows = list(csv.DictReader(io.StringIO(run(folder, "@true.json", *groups, "--csv").output)))
    assert rows[0]["group"] == "near"
    assert float(rows[0]["mean"]) == found.mean("near", "normalized").mean
    own = next(row for row in rows if row["minus"])
    assert (own["group"], own["minus"], own["metric"]) == ("near", "far", "normalized")
    assert float(own["mean"]) == found.differences[0].value.mean
    assert float(own["holm_p_value"]) == found.differences[0].adjusted
    assert len(rows) == len(found.means) + len(found.differences)
    assert r"\begin{tabular}" in run(folder, "@true.json", *groups, "--latex").output
    half = run(folder, "@true.json", *groups, "--training-share", "0.5")
    assert "Each replicate learned from 50 % of the same rows" in " ".join(half.output.split())


def test_truths(folder: Path) -> None:
    shown = run(folder, "@true.json", "@guess0.json", "--truths", "@guess[1-3].json")
    assert shown.exit_code == 0, shown.output
    found = compare_truths([TRUE, *GUESSES[1:4]], GUESSES[0])
    assert shown.output.strip() == str(found)
    arguments = ["@true.json", "@guess0.json", "--truths", "@guess[1-3].json", "--json"]
    assert json.loads(run(folder, *arguments).output)["metrics"] == found.records()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["@true.json"], "Missing argument 'GUESS...'"),
        (["@true.json", "@guess0.json", "--group", "a=@guess1.json"], "as groups only"),
        (["@true.json", "--group", "guess1.json"], "--group takes NAME=FILES"),
        (["@true.json", "--group", "a=@none*.json"], "no file matches"),
        (["@true.json", "@guess0.json", "--latex"], "--latex goes with --group"),
        (["@true.json", "--group", "a=@guess1.json", "--chance"], "about single guesses"),
        (["@true.json", "--truths", "@guess*.json"], "--truths takes one GUESS"),
        (["@true.json", "@guess0.json", "--json", "--csv"], "choose one of"),
    ],
)
def test_contradictions(folder: Path, arguments: list[str], message: str) -> None:
    shown = run(folder, *arguments)
    assert shown.exit_code != 0
    assert message in f"{shown.output}{shown.exception}"
