"""Groups over several truths: tables of results, the command ``rank``, and its picture."""

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
from contextwise.truths.generate import perturb, random_structure

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
    place = tmp_path_factory.mktemp("rank")
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
MODELS += [word for own in CHANGES for word in ("--group", f"{own}=@{own}-{{truth}}-*.json")]


def test_the_command_on_models(folder: Path) -> None:
    shown = run(folder, "rank", *MODELS)
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
    record = json.loads(run(folder, "rank", *MODELS, "--json").output)
    assert record["ranks"] == ranking.records()
    assert record["means"] == found.records()
    assert record["verdicts"] == {"normalized": ranking.verdict}
    rows = list(csv.DictReader(io.StringIO(run(folder, "rank", *MODELS, "--csv").output)))
    assert [row["group"] for row in rows] == ["near", "mid", "far"]
    assert r"\begin{tabular}" in run(folder, "rank", *MODELS, "--latex").output


def test_the_command_on_a_table(folder: Path) -> None:
    shown = run(folder, "rank", "--table", "@results.csv", "--metric", "SHD", "--better", "smaller")
    assert shown.exit_code == 0, shown.output
    assert "trees ranks first by SHD over 3 truths" in shown.output
    assert "shares of all assertions" not in shown.output
    larger = run(folder, "rank", "--table", "@results.csv", "--metric", "f1", "--csv")
    assert larger.output.splitlines()[1].startswith("f1,trees,1.3333")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give TRUTHs and a --group NAME=FILES for each learner, or a --table"),
        (["@net0.json", "--table", "@results.csv"], "give models, or a --table, not both"),
        (["@net0.json", "--group", "near=@near-*.json"], "where the name of the truth stands"),
        (["@net0.json", "@near-net0-0.json", "--group", "a=@no-{truth}.json"], "no-net0.json"),
        (["@net0.json", "--group", "a=@near-{truth}-*.json"], "two groups and two truths"),
        (["@net0.json", "@net0.json", "--group", "a=@near-{truth}-*.json"], "must differ"),
        ([*MODELS, "--metric", "f1"], "choose one of normalized, fp_share, fn_share"),
        (["--table", "@results.csv", "--metric", "SHD"], "--better smaller or larger"),
        (["--table", "@results.csv", "--csv", "--json"], "choose one of"),
    ],
)
def test_contradictions_are_told(folder: Path, words: list[str], message: str) -> None:
    shown = run(folder, "rank", *words)
    assert shown.exit_code != 0
    assert message in f"{shown.output}{shown.exception}"


def test_the_picture(folder: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "ranks.png")
    shown = run(folder, "plot", "ranks", *MODELS, "--out", out)
    assert shown.exit_code == 0, shown.output
    assert Path(out).read_bytes().startswith(b"\x89PNG")
    table = ["plot", "ranks", "--table", "@results.csv", "--out", out]
    assert isinstance(run(folder, *table).exception, ContextwiseError)  # two groups only
    both = run(folder, *table, "--metric", "f1", "--metric", "normalized")
    assert "a picture shows one --metric" in both.output
