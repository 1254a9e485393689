"""``contextwise compare --group``, and the picture of groups."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from commands import run
from contextwise import Structure, compare, compare_groups, write
from contextwise.errors import ContextwiseError

DOMAIN = {f"v{k}": 2 for k in range(4)}
TEXTS = ["v0=1 & v1=1", "v1=1 & v2=1", "v2=1 & v3=1"]
TRUE = Structure(DOMAIN, TEXTS)
GROUPS = {
    "near": [Structure(DOMAIN, TEXTS[:2]), Structure(DOMAIN, TEXTS)],
    "far": [Structure(DOMAIN, TEXTS[:1]), Structure(DOMAIN, [])],
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(TRUE, "true.json")
    for group, members in GROUPS.items():
        for k, guess in enumerate(members):
            write(guess, f"{group}{k}.json")


WORDS = ("true.json", "--group", "near=near*.json", "--group", "far=far0.json", "--group")


def test_groups_are_those_of_python() -> None:
    members = {name: [compare(TRUE, guess) for guess in each] for name, each in GROUPS.items()}
    found = compare_groups(members)
    shown = run("compare", *WORDS, "far=far1.json").stdout
    assert shown.rstrip() == str(found)
    record = json.loads(run("compare", *WORDS, "far=far1.json", "--json").stdout)
    assert record["verdict"] == found.verdict
    assert record["differences"][0]["p_value"] == found.differences[0].p_value
    rows = list(
        csv.DictReader(io.StringIO(run("compare", *WORDS, "far=far1.json", "--csv").stdout))
    )
    assert [row["measure"] for row in rows] == [r["measure"] for r in found.records()]


def test_an_interval_only_for_overlapping_rows() -> None:
    shown = run("compare", *WORDS, "far=far1.json", "--training-share", "0.5").stdout
    assert "no test is valid" in " ".join(shown.split())


def test_the_restriction_holds_for_groups() -> None:
    words = (*WORDS, "far=far1.json", "--pairs", "v0,v1", "--json")
    record = json.loads(run("compare", *words).stdout)
    assert record["groups"][0]["mean"] == 0


def test_a_picture_of_groups() -> None:
    run("plot", "groups", *WORDS, "far=far1.json", "--out", "groups.svg")
    assert Path("groups.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["true.json"], "give one GUESS or more, or groups"),
        (
            ["true.json", "near0.json", "--group", "a=far*.json"],
            "give one GUESS or more, or groups",
        ),
        (["true.json", "--group", "far*.json"], "a group is written NAME=FILES"),
        (["true.json", "--group", "a=none*.json"], "a: no file matches none*.json"),
        (["true.json", "--group", "a=far*.json", "--chance"], "--chance is for single guesses"),
        (["true.json", "near0.json", "--training-share", "0.5"], "--training-share needs --group"),
    ],
)
def test_wrong_use_is_explained(words: list[str], message: str) -> None:
    try:
        result = run("compare", *words)
        assert result.exit_code == 2
        text = result.stderr
    except ContextwiseError as error:
        text = str(error)
    assert message in text
