"""``contextwise query``."""

from __future__ import annotations

import json

import pytest

from commands import run
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
