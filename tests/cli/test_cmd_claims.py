"""``contextwise query``, and ``explain`` of one model."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from commands import run
from contextwise import Structure, read, read_data, write
from contextwise.errors import ContextwiseError
from contextwise.evidence.claim_tests import judge_claims


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
    assert lines[1] == "  X1 – X2: X0=0 & X1=0 & X2=0"
    assert lines[2].startswith("This is what the model claims; to see what rows say, run: ")


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
        ("X1 ⫫ X9", "unknown variable 'X9'; the variables are X0, X1"),
        ("X1 ⫫ x2", "unknown variable 'x2'; did you mean 'X2'?"),
        ("X1 ⫫ X2 | X0=7", "no state '7'"),
        ("X1 ⫫ X2 | X1", "is on a side of the query and given"),
    ],
)
def test_bad_queries_are_one_line(question: str, message: str) -> None:
    with pytest.raises(ContextwiseError, match=message) as caught:
        run("query", "six", question)
    assert "\n" not in str(caught.value)


def test_the_claims_of_a_model() -> None:
    text = run("explain", "six").stdout
    assert text.startswith("15 pairs: 10 depend in some contexts only, 5 depend in every context.")
    assert "\nX1 – X2  independent  X0=1         50 %\n" in text
    assert "\nX1 – X2  dependent    X0=0         50 %\n" in text
    assert text.splitlines()[-1].startswith("Depend in every context: X0 – X1, X0 – X2, ")


def test_the_claims_about_a_pair() -> None:
    text = run("explain", "six", "--pairs", "X2,X1").stdout
    assert text.startswith("1 pair: 1 depends in some contexts only.")
    always = run("explain", "six", "--pairs", "X0,X1").stdout
    assert always.splitlines()[-1] == "Depend in every context: X0 – X1."
    result = run("explain", "six", "--peers")
    assert result.exit_code == 2
    assert "--peers needs a GUESS" in result.stderr
    with pytest.raises(ContextwiseError, match="no pair of variables is left"):
        run("explain", "six", "--variables", "X0")


@pytest.fixture(name="many")
def _many(tmp_path: Path) -> str:
    """A pair with several regions: it depends where two neighbours in a chain are 1."""
    names = [f"x{k}" for k in range(8)]
    features = [{"A": 1, "B": 1, a: 1, b: 1} for a, b in pairwise(names)]
    path = tmp_path / "many.json"
    write(Structure({"A": 2, "B": 2, **dict.fromkeys(names, 2)}, features), path)
    return str(path)


def test_the_largest_regions_and_the_rest(many: str) -> None:
    text = run("explain", many, "--pairs", "A,B", "--top", "1").stdout
    whole = json.loads(run("explain", many, "--pairs", "A,B", "--top", "1000", "--json").stdout)
    claims = [claim["claim"] for claim in whole["pairs"][0]["claims"]]
    assert f"independent  … {claims.count('independent') - 1} more regions" in text
    assert f"dependent    … {claims.count('dependent') - 1} more regions" in text


def test_a_time_limit_is_told(many: str) -> None:
    result = run("explain", many, "--pairs", "A,B", "--time-limit", "0")
    assert result.exit_code == 3
    assert "The time limit left some contexts or pairs undecided." in result.stdout


def test_claims_as_json(many: str) -> None:
    record = json.loads(run("explain", many, "--pairs", "A,B", "--json", "--top", "99").stdout)
    assert record["counts"] == {"somewhere": 1, "never": 0, "always": 0, "separations": 0}
    (pair,) = record["pairs"]
    contexts = {"independent": 0, "dependent": 0}
    for claim in pair["claims"]:
        contexts[claim["claim"]] += claim["contexts"]
    assert pair["contexts"] == 2**8
    assert pair["independent"] == contexts["independent"] == 55
    assert contexts["dependent"] == 2**8 - 55
    assert pair["undecided"] == pair["unlisted"] == 0


def test_how_many_pairs_were_left_out(tmp_path: Path) -> None:
    names = [f"v{k}" for k in range(12)]
    chain = [{a: 1, b: 1} for a, b in pairwise(names)]
    chain.append({"v0": 1, "v2": 1, "v4": 0})
    path = tmp_path / "chain.json"
    write(Structure(dict.fromkeys(names, 2), chain), path)
    text = run("explain", str(path), "--top", "3").stdout
    never = 12 * 11 // 2 - 14
    assert f"Independent in every context, 3 of {never} pairs:" in text
    record = json.loads(run("explain", str(path), "--json", "--top", "1000").stdout)
    assert record["counts"]["never"] == never
    shares = [pair["independent"] / pair["contexts"] for pair in record["pairs"]]
    somewhere = record["counts"]["somewhere"]
    assert shares[:somewhere] == sorted(shares[:somewhere], reverse=True)


def test_rows_are_shown_next_to_the_claims(tmp_path: Path) -> None:
    path = tmp_path / "titanic.json"
    rows = read_data("titanic")
    model = Structure(rows.domain, ["sex=male & survived=yes", "class=3rd & survived=yes"])
    write(model.with_evidence(judge_claims(model, rows)), path)
    text = run("explain", str(path)).stdout
    assert "The 2,201 rows contradict " in text
    assert re.search(r"\nclass – sex +survived +contradicted: p < ", text)
    record = json.loads(run("explain", str(path), "--json").stdout)
    claims = [claim for pair in record["pairs"] for claim in pair["claims"]]
    assert {claim["evidence"]["verdict"] for claim in claims} == {"contradicted", "supported"}
    answer = run("query", str(path), "class _||_ sex | survived")
    assert answer.stdout.startswith(
        "independent: every path goes through survived\nThe 2,201 rows: class–sex"
    )
    assert "contradicted, p < " in answer.stdout
    tested = json.loads(run("query", str(path), "class _||_ sex", "--json").stdout)["tested"]
    assert (tested["rows"], tested["seen_by_learner"]) == (2201, False)
    assert record["tested"] == tested
    other = read(path).restrict("class=1st")
    write(other, path)
    assert "rows:" not in run("query", str(path), "age _||_ sex | survived").stdout
