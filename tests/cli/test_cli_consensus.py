"""``contextwise consensus`` as a person types it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from click.testing import CliRunner

from contextwise import read
from contextwise.cli import contextwise


def run(*arguments: str) -> str:
    result = CliRunner().invoke(contextwise, ["consensus", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_answer_has_the_sum_its_bound_and_supports(tmp_path: Path) -> None:
    out = tmp_path / "consensus.json"
    said = run("six", "six-guess", "six-graph", "--top", "1", "--out", str(out))
    assert "Sum of distances 88" in said
    assert "No structure has a smaller sum than 88" in said
    assert "of 3 models have the dependence" in said
    assert len(read(out)) > 0


def test_records_for_programs() -> None:
    record = json.loads(run("six", "six-guess", "six-graph", "--json"))
    assert (record["sum"], record["majority_is_exact"]) == (88, True)
    rows = list(csv.DictReader(io.StringIO(run("six", "six-guess", "--csv"))))
    assert {row["of"] for row in rows} == {"2"}
    assert len(json.loads(run("six", "six-guess", "--json"))["supports"]) == len(rows)


def test_one_model_is_told() -> None:
    result = CliRunner().invoke(contextwise, ["consensus", "six"])
    assert result.exit_code != 0
    assert "at least two models" in str(result.exception)


def test_only_the_asked_pairs_are_told() -> None:
    rows = list(csv.DictReader(io.StringIO(run("lung", "lung-learned", "--csv"))))
    assert len({(row["first"], row["second"]) for row in rows}) == 3
    asked = ("--variables", "smoker,cancer", "--csv")
    rows = list(csv.DictReader(io.StringIO(run("lung", "lung-learned", *asked))))
    assert {(row["first"], row["second"]) for row in rows} == {("smoker", "cancer")}


def test_no_pair_is_nothing_to_compare(tmp_path: Path) -> None:
    out = tmp_path / "consensus.json"
    arguments = ["consensus", "lung", "lung-learned", "--variables", "smoker", "--out", str(out)]
    result = CliRunner().invoke(contextwise, arguments)
    assert "no pair of variables is left" in str(result.exception)
    assert not out.exists()


def test_a_bound_of_distances_is_an_int() -> None:
    said = run("lung", "lung", "lung-learned", "lung-learned", "--top", "0")
    assert "No structure has a smaller sum than 3;" in said  # 8/3, of distances that are ints
