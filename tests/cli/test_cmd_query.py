"""``contextwise query``."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from commands import run
from contextwise import Structure, write
from contextwise.errors import ContextwiseError


@pytest.mark.parametrize(
    ("question", "code", "answer"),
    [
        ("X1 _||_ X2 | X0=1", 0, "independent: no path connects them\n"),
        ("X1 ⫫ X2, X3 | X0", 1, "dependent: they are connected by X1 – X2 when X0=0\n"),
        ("X1 _||_ X2", 1, "dependent: they are connected by X1 – X2\n"),
    ],
)
def test_query(question: str, code: int, answer: str) -> None:
    result = run("query", "six", question)
    assert result.exit_code == code
    assert result.stdout.startswith(answer)


def test_query_shows_the_features_of_the_path() -> None:
    lines = run("query", "six", "X1 ⫫ X2 | X0").stdout.splitlines()
    assert lines[1:] == ["  X1 – X2: X0=0 & X1=0 & X2=0"]


def test_query_as_json() -> None:
    result = run("query", "lung", "smoker _||_ asbestos | cancer", "--json")
    record = json.loads(result.stdout)
    assert result.exit_code == 1
    assert record["answer"] == "dependent"
    assert record["query"] == "smoker ⫫ asbestos | cancer"
    assert record["path"] == ["smoker", "asbestos"]
    assert record["assignment"] == {"cancer": "yes"}


def test_an_undecided_query_has_its_own_exit_code() -> None:
    result = run("query", "lung", "smoker _||_ asbestos | cancer", "--time-limit", "0")
    assert result.exit_code == 1  # what is found at once needs no time
    with pytest.MonkeyPatch.context() as patch:
        from contextwise.independence import queries

        patch.setattr(queries, "_favoured", lambda features, given: {2: 0})
        result = run("query", "lung", "smoker _||_ asbestos | cancer", "--time-limit", "0")
    assert result.exit_code == 3
    assert result.stdout.startswith("undecided: ")


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("A", "needs one ⫫"),
        ("X1 ⫫ X9", "unknown variable 'X9'"),
        ("X1 ⫫ X2 | X0=7", "no state '7'"),
        ("X1 ⫫ X2 | X1", "is on a side of the query and given"),
    ],
)
def test_bad_queries_are_one_line(question: str, message: str) -> None:
    with pytest.raises(ContextwiseError, match=message) as caught:
        run("query", "six", question)
    assert "\n" not in str(caught.value)


def test_all_independencies() -> None:
    lines = run("independencies", "six").stdout.splitlines()
    assert len(lines) == 10
    assert lines[0] == "X1 ⫫ X2 | X0=1  (50 %)"


def test_the_independencies_of_a_pair() -> None:
    assert run("independencies", "six", "X2", "X1").stdout == "X1 ⫫ X2 | X0=1  (50 %)\n"
    assert run("independencies", "six", "X0", "X1").stdout == "X0 and X1 depend in every context\n"
    assert run("independencies", "six", "X0").exit_code == 2


@pytest.fixture(name="many")
def _many(tmp_path: Path) -> str:
    """A pair with several regions: it depends where two neighbours in a chain are 1."""
    names = [f"x{k}" for k in range(8)]
    features = [{"A": 1, "B": 1, a: 1, b: 1} for a, b in pairwise(names)]
    path = tmp_path / "many.json"
    write(Structure({"A": 2, "B": 2, **dict.fromkeys(names, 2)}, features), path)
    return str(path)


def test_the_most_general_statements_and_the_rest(many: str) -> None:
    shown = run("independencies", many, "A", "B", "--top", "1").stdout.splitlines()
    assert len(shown) == 2
    assert shown[1].startswith("  … ")
    whole = run("independencies", many, "A", "B", "--top", "1000").stdout.splitlines()
    assert f"… {len(whole) - 1} more statements on A and B" in shown[1]


def test_a_time_limit_is_told(many: str) -> None:
    result = run("independencies", many, "A", "B", "--time-limit", "0")
    assert result.exit_code == 3
    assert result.stdout == ""
    assert result.stderr == "contextwise: A and B: 100 % of the contexts are undecided\n"


def test_independencies_as_json(many: str) -> None:
    (pair,) = json.loads(run("independencies", many, "A", "B", "--json", "--top", "99").stdout)
    assert pair["contexts"] == 2**8
    assert pair["independent"] == sum(one["contexts"] for one in pair["statements"]) == 55
    assert pair["undecided"] == 0
    assert pair["statements"][0]["text"].startswith("A ⫫ B | ")


def test_the_strongest_pairs_first_and_how_many_were_left_out(tmp_path: Path) -> None:
    names = [f"v{k}" for k in range(12)]
    chain = [{a: 1, b: 1} for a, b in pairwise(names)]
    chain.append({"v0": 1, "v2": 1, "v4": 0})
    path = tmp_path / "chain.json"
    write(Structure(dict.fromkeys(names, 2), chain), path)
    whole = run("independencies", str(path), "--most", "1000")
    assert whole.stderr == ""
    shares = ["%" in line for line in whole.stdout.splitlines()]
    assert shares == sorted(shares), "what holds in every context comes first"
    few = run("independencies", str(path), "--most", "3")
    assert few.stdout.splitlines() == whole.stdout.splitlines()[:3]
    left = len(shares) - sum(shares) - 3
    assert few.stderr == (
        f"contextwise: not listed: {left} pairs in every context and 3 pairs in some contexts; "
        "list more with --most\n"
    )
    some = run("independencies", str(path), "--context-specific", "--most", "1000", "--json")
    records = json.loads(some.stdout)
    assert [record["share"] for record in records] == sorted(
        (record["share"] for record in records), reverse=True
    )
    assert all(0 < record["share"] < 1 for record in records)
