"""``contextwise matrix``: for people, for programs, into a file, and the nearest models."""

from __future__ import annotations

import csv
import io
import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import commands
from contextwise import LogLinear, Structure, compare, distance, examples, write
from contextwise.comparison import neighbours
from contextwise.comparison.estimate import estimate_matrix
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


def test_csv_to_standard_output_and_to_a_file(tmp_path: Path) -> None:
    out = tmp_path / "d.csv"
    assert run(*SIX, "--out", str(out)).stdout == ""
    assert out.read_text() == run(*SIX, "--csv").stdout
    head, *rows = csv.reader(io.StringIO(out.read_text()))
    assert head == ["model", *SIX]
    assert [row[0] for row in rows] == list(SIX)
    assert [list(map(int, row[1:])) for row in rows] == DISTANCES


def test_json_to_a_file(tmp_path: Path) -> None:
    out = tmp_path / "d.json"
    for options in (["--json"], []):
        run(*SIX, *options, "--out", str(out))
        assert json.loads(out.read_text())["distances"] == DISTANCES
    run(*SIX, "--csv", "--out", str(out))
    assert out.read_text().startswith("model,")


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


def test_ganak_is_named_on_standard_error() -> None:
    result = run("six", "six-guess", "--engine", "ganak", "--csv")
    assert "Ganak" in result.stderr
    assert "Ganak" not in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["six", "--json", "--csv"], "exclude each other"),
        (["-", "-"], "only one model"),
        (["six", "--jobs", "0"], "'--jobs': must be a number of processes"),
        (["six", "--assertions", "10"], "--assertions needs --approximate"),
        (["six", "--top", "3"], "--top needs --nearest"),
        (["six", "--nearest", "six", "--normalized"], "--normalized has no effect with --nearest"),
        (["six", "--nearest", "six", "--approximate"], "--approximate has no effect with --near"),
        (["six", "--approximate", "--jobs", "2"], "--jobs has no effect with --approximate"),
    ],
)
def test_contradictions_are_refused(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_suffix_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ContextwiseError, match=r"cannot write \.xlsx; use \.csv or \.json"):
        run("six", "six-guess", "--out", str(tmp_path / "m.xlsx"))
    assert not list(tmp_path.iterdir())


def test_a_store_keeps_the_matrix(tmp_path: Path) -> None:
    options = [*SIX, "--store", str(tmp_path / "run"), "--json"]
    first = run(*options).stdout
    assert json.loads(first)["distances"] == DISTANCES
    assert run(*options).stdout == first
    with pytest.raises(ContextwiseError, match="run with another configuration: fingerprint of m"):
        run("six", "six", "six", "--store", str(tmp_path / "run"))


class TestApproximate:
    """Estimates say that they are estimates, in every output."""

    def test_for_people(self) -> None:
        out = run(*SIX, "--approximate", "--assertions", "1000").stdout
        assert [line.split()[0] for line in out.splitlines()[1:4]] == ["1", "2", "3"]
        assert "These are estimates from 1,000 random assertions: each is within 0.0" in out

    def test_json_has_intervals_that_hold_the_exact_shares(self) -> None:
        found = json.loads(run(*SIX, "--approximate", "--json").stdout)
        assert found["estimated"]
        assert found["sampled_assertions"] == 2**18
        exact = np.array(DISTANCES) / 240
        assert (np.array(found["low"]) <= exact).all()
        assert (exact <= np.array(found["high"])).all()
        assert np.abs(np.array(found["normalized"]) - exact).max() < 0.01

    def test_csv_says_so_on_standard_error(self, tmp_path: Path) -> None:
        options = [*SIX, "--approximate", "--assertions", "500"]
        result = run(*options, "--csv")
        assert "These are estimates" in result.stderr
        head, *rows = csv.reader(io.StringIO(result.stdout))
        assert (head, len(rows)) == (["model", *SIX], 3)
        out = tmp_path / "d.csv"
        assert "These are estimates" in run(*options, "--out", str(out)).stderr
        assert out.read_text() == result.stdout

    def test_the_seed_decides(self) -> None:
        options = [*SIX, "--approximate", "--assertions", "500", "--csv", "--seed"]
        assert run(*options, "1").stdout == run(*options, "1").stdout != run(*options, "2").stdout

    def test_restrictions_hold(self) -> None:
        options = [
            "six",
            "six-guess",
            "--variables",
            "X0,X1,X2",
            "--contexts",
            "canonical",
            "--json",
        ]
        exact = json.loads(run(*options).stdout)["normalized"][0][1]
        found = json.loads(run(*options, "--approximate").stdout)
        assert found["low"][0][1] <= exact <= found["high"][0][1]

    def test_alignment_by_position_is_told(self) -> None:
        options = [*SIX, "--approximate", "--assertions", "10", "--by-position"]
        assert "aligned by position" in run(*options).stdout
        assert json.loads(run(*options, "--json").stdout)["by_position"]

    def test_an_estimate_has_no_engine(self) -> None:
        with pytest.raises(TypeError, match=r"got an unexpected .* 'engine'"):
            estimate_matrix(list(SIX), engine="native")  # type: ignore[call-arg]


# -- the nearest models ----------------------------------------------------------------------------

OTHERS = ("six-graph", "six-guess", "six")
ORDER = ("six", "six-guess", "six-graph")


def test_the_nearest_models() -> None:
    out = run(*OTHERS, "--nearest", "six").stdout
    rows = [line.split() for line in out.splitlines() if line.startswith("six")]
    assert [row[0] for row in rows] == list(ORDER)
    counts = [int(row[3].strip("(")) for row in rows]
    assert counts == [distance("six", name) for name in ORDER]
    assert "This took 3 exact comparisons." in out


def test_bounds_rule_models_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "FIRST", 8)  # of few pairs, all would be counted at once
    monkeypatch.setattr(neighbours, "ENOUGH", 9)
    out = run(*OTHERS, "--nearest", "six", "--top", "1").stdout
    assert "This took 1 exact comparison; bounds ruled out 2 of 3 models." in out


def test_the_nearest_as_json() -> None:
    found = json.loads(run(*OTHERS, "--nearest", "six", "--top", "2", "--json").stdout)
    assert [record["model"] for record in found["nearest"]] == ["six", "six-guess"]
    assert [record["distance"] for record in found["nearest"]] == [0, 16]
    assert found["nearest"][1]["normalized"] == 16 / 240
    assert (found["query"], found["assertions"], found["of"]) == ("six", 240, 3)
    assert 2 <= found["compared"] <= 3


def test_the_nearest_as_csv() -> None:
    head, *rows = csv.reader(io.StringIO(run(*OTHERS, "--nearest", "six", "--csv").stdout))
    assert head == ["model", "distance", "normalized"]
    assert [row[:2] for row in rows] == [[name, str(distance("six", name))] for name in ORDER]


def test_restrictions_hold_for_the_nearest() -> None:
    options = ["--contexts", "canonical", "--variables", "X0,X1,X2"]
    found = json.loads(run(*OTHERS, "--nearest", "six", "--json", *options).stdout)
    exact = [
        compare("six", name, contexts="canonical", variables=["X0", "X1", "X2"]).distance
        for name in ORDER
    ]
    assert sorted(record["distance"] for record in found["nearest"]) == sorted(exact)


def test_alignment_of_the_nearest_by_position_is_reported() -> None:
    assert "aligned by position" in run(*OTHERS, "--nearest", "six", "--by-position").stdout


def test_more_than_there_are_is_refused() -> None:
    with pytest.raises(ContextwiseError, match=r"k must be between 1 .*\(3\), got 4"):
        run(*OTHERS, "--nearest", "six", "--top", "4")
