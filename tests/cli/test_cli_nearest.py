"""``contextwise nearest``: for people, for programs, and restricted as `compare` is."""

from __future__ import annotations

import csv
import io
import json
from functools import partial

import pytest

import commands
from contextwise import compare, distance
from contextwise.comparison import neighbours
from contextwise.errors import ContextwiseError

OTHERS = ("six-graph", "six-guess", "six")
ORDER = ("six", "six-guess", "six-graph")


run = partial(commands.run, "nearest")


def test_for_people() -> None:
    out = run("six", *OTHERS).stdout
    rows = [line.split() for line in out.splitlines() if line.startswith("six")]
    assert [row[0] for row in rows] == list(ORDER)
    assert [int(row[1]) for row in rows] == [distance("six", name) for name in ORDER]
    assert "This took 3 exact comparisons." in out


def test_bounds_rule_models_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "FIRST", 8)  # of few pairs, all would be counted at once
    monkeypatch.setattr(neighbours, "ENOUGH", 9)
    out = run("six", *OTHERS, "-k", "1").stdout
    assert "This took 1 exact comparison; bounds ruled out 2 of 3 models." in out


def test_json() -> None:
    found = json.loads(run("six", *OTHERS, "-k", "2", "--json").stdout)
    assert [record["model"] for record in found["nearest"]] == ["six", "six-guess"]
    assert [record["distance"] for record in found["nearest"]] == [0, 16]
    assert found["nearest"][1]["normalized"] == 16 / 240
    assert (found["query"], found["assertions"], found["of"]) == ("six", 240, 3)
    assert 2 <= found["compared"] <= 3


def test_csv() -> None:
    head, *rows = csv.reader(io.StringIO(run("six", *OTHERS, "--csv").stdout))
    assert head == ["model", "distance", "normalized"]
    assert [row[:2] for row in rows] == [[name, str(distance("six", name))] for name in ORDER]


def test_restrictions_hold() -> None:
    options = ["--contexts", "canonical", "--variables", "X0,X1,X2"]
    found = json.loads(run("six", *OTHERS, "--json", *options).stdout)
    exact = [
        compare("six", name, contexts="canonical", variables=["X0", "X1", "X2"]).distance
        for name in ORDER
    ]
    assert sorted(record["distance"] for record in found["nearest"]) == sorted(exact)


def test_alignment_by_position_is_told() -> None:
    assert "aligned by position" in run("six", *OTHERS, "--by-position").stdout


def test_more_than_there_are_is_refused() -> None:
    with pytest.raises(ContextwiseError, match="k is between 1 and the number of models, 3, not 4"):
        run("six", *OTHERS, "-k", "4")


def test_contradictions_are_refused() -> None:
    result = run("six", *OTHERS, "--json", "--csv")
    assert (result.exit_code, "choose one of" in result.stderr) == (2, True)
