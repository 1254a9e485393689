"""``contextwise matrix``: for people, for programs, into a file."""

from __future__ import annotations

import csv
import io
import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import commands
from contextwise import LogLinear, Structure, distance, examples, write
from contextwise.errors import ContextwiseError

SIX = ("six", "six-graph", "six-guess")
DISTANCES = [[distance(examples.load(a), examples.load(b)) for b in SIX] for a in SIX]


run = partial(commands.run, "matrix")


def test_for_people() -> None:
    verdict, table = run(*SIX).stdout.split("\n\n")
    assert "six and six-guess are nearest: they differ in 6.67 % of all assertions." in verdict
    assert "(tied with 1 other pair)" in verdict
    lines = [line.split() for line in table.splitlines()]
    assert lines[0] == ["model", "1", "2", "3"]
    assert [line[1] for line in lines[1:]] == list(SIX)
    shares = [list(map(float, line[2:])) for line in lines[1:]]
    assert np.abs(np.array(shares) - np.array(DISTANCES) / 240).max() < 1e-4


def test_large_counts_are_exact_in_json(tmp_path: Path) -> None:
    domain = {f"X{k}": 2 for k in range(60)}
    files = [str(tmp_path / "a.json"), str(tmp_path / "b.json")]
    write(Structure(domain, ["X0=1 & X1=1"]), files[0])
    write(Structure(domain, []), files[1])
    record = json.loads(run(*files, "--json").stdout)
    assert record["distances"] == [[0, str(2**58)], [str(2**58), 0]]
    assert record["normalized"] == [[0, 1 / 1770], [1 / 1770, 0]]


def test_json() -> None:
    found = json.loads(run(*SIX, "--json").stdout)
    assert found["models"] == list(SIX)
    assert found["distances"] == DISTANCES
    assert found["assertions"] == 240
    shares = json.loads(run(*SIX, "--json", "--normalized").stdout)["normalized"]
    assert shares == [[d / 240 for d in row] for row in DISTANCES]


def test_csv() -> None:
    head, *rows = csv.reader(io.StringIO(run(*SIX, "--csv").stdout))
    assert head == ["model", *SIX]
    assert [row[0] for row in rows] == list(SIX)
    assert [list(map(int, row[1:])) for row in rows] == DISTANCES


def test_processes_give_the_same() -> None:
    assert run(*SIX, "--jobs", "2").stdout == run(*SIX).stdout


def test_zero_weights_can_be_dropped(tmp_path: Path) -> None:
    structure = Structure({"A": 2, "B": 2}, ["A=1 & B=1", "A=0 & B=1"])
    names = [str(tmp_path / "zeros.json"), str(tmp_path / "none.json")]
    write(LogLinear(structure, np.zeros(2)), names[0])
    write(Structure(structure.domain, []), names[1])
    assert json.loads(run(*names, "--json").stdout)["distances"][0][1] == 1
    dropped = run(*names, "--json", "--zero-weights", "drop").stdout
    assert json.loads(dropped)["distances"][0][1] == 0


def test_the_same_model_twice_has_two_rows() -> None:
    assert json.loads(run("six", "six", "--json").stdout)["distances"] == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["six", "--json", "--csv"], "exclude each other"),
        (["-", "-"], "only one model"),
        (["six", "--jobs", "0"], "'--jobs': must be a number of processes"),
    ],
)
def test_contradictions_are_refused(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_store_keeps_the_matrix(tmp_path: Path) -> None:
    options = [*SIX, "--folder", str(tmp_path / "run"), "--json"]
    first = run(*options).stdout
    assert json.loads(first)["distances"] == DISTANCES
    assert run(*options).stdout == first
    with pytest.raises(ContextwiseError, match="run with another configuration: fingerprint of m"):
        run("six", "six", "six", "--folder", str(tmp_path / "run"))
