"""``contextwise replicates``: groups of guesses at one truth or several, tables, and pictures."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from contextwise import Domain, compare, read, write
from contextwise.cli import contextwise
from contextwise.errors import ContextwiseError
from contextwise.evaluation import summarize
from contextwise.evaluation.replicates import METRICS
from contextwise.truths.generate import random_structure
from perturbed import perturb

CHANGES = {"near": 1, "mid": 4, "far": 10}
TRUTHS = ("net0", "net1", "net2", "net3")
TABLE = """\
truth,learner,normalized,f1,SHD
a,trees,0.1,0.9,3
a,trees,0.3,,5
a,pairs,0.4,0.5,4
b,trees,0.2,0.8,1
b,pairs,0.1,0.6,2
c,trees,0.2,0.7,7
c,pairs,0.3,0.8,9
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four truths, and for each of them two guesses of each of three kinds."""
    place = tmp_path_factory.mktemp("models")
    (place / "results.csv").write_text(TABLE)
    domain = Domain.of_cardinalities([2, 3, 2, 2])
    for k, name in enumerate(TRUTHS):
        true = random_structure(domain, features=5, rng=k)
        write(true, place / f"{name}.json")
        for group, changes in CHANGES.items():
            for repeat in range(2):
                guess = perturb(true, changes=changes, rng=10 * k + repeat)
                write(guess, place / f"{group}-{name}-{repeat}.json")
    return place


def run(folder: Path, *arguments: str) -> Result:
    given = [a.replace("@", f"{folder}/") for a in arguments]
    return CliRunner().invoke(contextwise, given)


MODELS = [f"@{name}.json" for name in TRUTHS]
MODELS += [f"{group}=@{group}-{{truth}}-*.json" for group in CHANGES]


def test_groups_with_one_truth(folder: Path) -> None:
    words = ["replicates", "@net0.json", "near=@near-net0-*.json", "far=@far-net0-*.json"]
    shown = run(folder, *words)
    assert shown.exit_code == 0, shown.output
    assert "The mean of each group, with its 95 % interval" in shown.output
    assert "Differences between groups:" in shown.output
    assert "taken to be from the same rows" in " ".join(shown.output.split())
    found = summarize(
        {
            group: [
                compare(read(folder / "net0.json"), read(folder / f"{group}-net0-{repeat}.json"))
                for repeat in range(2)
            ]
            for group in ("near", "far")
        }
    )
    record = json.loads(run(folder, *words, "--json").output)
    assert record["means"] == found.records()
    rows = list(csv.DictReader(io.StringIO(run(folder, *words, "--csv").output)))
    assert rows[0]["group"] == "near"
    assert float(rows[0]["mean"]) == found.mean("near", "normalized").mean
    own = next(row for row in rows if row["minus"])
    assert (own["group"], own["minus"], own["metric"]) == ("near", "far", "normalized")
    assert float(own["mean"]) == found.differences[0].value.mean
    assert float(own["holm_p_value"]) == found.differences[0].adjusted
    assert len(rows) == len(found.means) + len(found.differences)
    assert r"\begin{tabular}" in run(folder, *words, "--latex").output
    half = run(folder, *words, "--training-share", "0.5")
    assert "Each replicate learned from 50 % of the same rows" in " ".join(half.output.split())


def test_the_command_on_models(folder: Path) -> None:
    shown = run(folder, "replicates", *MODELS)
    assert shown.exit_code == 0, shown.output
    found = summarize(
        {
            group: [
                compare(read(folder / f"{t}.json"), read(folder / f"{group}-{t}-{r}.json"))
                for t in TRUTHS
                for r in range(2)
            ]
            for group in CHANGES
        },
        truths={group: [t for t in TRUTHS for _ in range(2)] for group in CHANGES},
        metrics=["normalized"],
    )
    [ranking] = found.rankings
    assert ranking.groups == ("near", "mid", "far")
    assert "Mean ranks over 4 truths" in shown.output
    assert " ".join(ranking.verdict.split()) in " ".join(shown.output.split())
    record = json.loads(run(folder, "replicates", *MODELS, "--json").output)
    assert record["ranks"] == ranking.records()
    assert record["means"] == found.records()
    assert record["verdicts"] == {"normalized": ranking.verdict}
    rows = list(csv.DictReader(io.StringIO(run(folder, "replicates", *MODELS, "--csv").output)))
    assert [row["group"] for row in rows] == ["near", "mid", "far"]
    assert r"\begin{tabular}" in run(folder, "replicates", *MODELS, "--latex").output


def test_the_command_on_a_table(folder: Path) -> None:
    shown = run(
        folder, "replicates", "--table", "@results.csv", "--metric", "SHD", "--better", "smaller"
    )
    assert shown.exit_code == 0, shown.output
    assert "trees ranks first by SHD over 3 truths" in shown.output
    assert "shares of all assertions" not in shown.output
    larger = run(folder, "replicates", "--table", "@results.csv", "--metric", "f1", "--csv")
    assert larger.output.splitlines()[1].startswith("f1,trees,1.3333")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give a TRUTH and a group NAME=FILES for each learner"),
        (["@net0.json"], "give a TRUTH and a group NAME=FILES for each learner"),
        (["@net0.json", "=a.json"], "a group is written NAME=FILES"),
        (["@net0.json", "a=@none*.json"], "no file matches"),
        (["@net0.json", "--table", "@results.csv"], "give models or a --table, not both"),
        (["@net0.json", "@net1.json", "near=@near-*.json"], "mark the name of the truth"),
        (["@net0.json", "@near-net0-0.json", "a=@no-{truth}.json"], "no-net0.json"),
        (["@net0.json", "@net1.json", "a=@near-{truth}-*.json"], "two groups, and two truths"),
        (["@net0.json", "@net0.json", "a=@near-{truth}-*.json"], "must differ"),
        ([*MODELS, "--metric", "f1"], f"choose one of {', '.join(METRICS)}"),
        (["--table", "@results.csv", "--metric", "SHD"], "Add --better smaller or larger"),
        (["--table", "@results.csv", "--csv", "--json"], "exclude each other"),
    ],
)
def test_contradictions_are_told(folder: Path, words: list[str], message: str) -> None:
    shown = run(folder, "replicates", *words)
    assert shown.exit_code != 0
    assert message in f"{shown.output}{shown.exception}"


def test_the_picture(folder: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "ranks.png")
    shown = run(folder, "plot", "replicates", *MODELS, "--out", out)
    assert shown.exit_code == 0, shown.output
    assert Path(out).read_bytes().startswith(b"\x89PNG")
    table = ["plot", "replicates", "--table", "@results.csv", "--out", out]
    assert isinstance(run(folder, *table).exception, ContextwiseError)  # two groups only
    both = run(folder, *table, "--metric", "f1", "--metric", "normalized")
    assert "a figure shows one --metric" in both.output
