"""``contextwise consensus`` as a person types it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from click.testing import CliRunner

from contextwise import Structure, read, write
from contextwise.cli import contextwise


def run(*arguments: str) -> str:
    result = CliRunner().invoke(contextwise, ["consensus", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_answer_has_the_sum_its_bound_and_supports(tmp_path: Path) -> None:
    out = tmp_path / "consensus.json"
    said = run("six", "six-guess", "six-graph", "--top", "1", "--out", str(out))
    rows = dict(line.rsplit(maxsplit=2)[:2] for line in said.splitlines() if "  88  " in line)
    assert rows.keys() >= {"consensus", "lower bound for any structure"}
    assert "a local optimum" in " ".join(said.split())
    assert "models with the dependence" in said
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


def test_no_pair_is_nothing_to_compare(tmp_path: Path) -> None:
    out, single = tmp_path / "consensus.json", str(tmp_path / "single.json")
    write(Structure({"A": 2}), single)
    result = CliRunner().invoke(contextwise, ["consensus", single, single, "--out", str(out)])
    assert "no pair of variables is left" in str(result.exception)
    assert not out.exists()


def test_a_bound_of_distances_is_an_int() -> None:
    said = run("lung", "lung", "lung-learned", "lung-learned", "--top", "0")
    bound = next(line for line in said.splitlines() if line.startswith("lower bound"))
    assert bound.split()[-2] == "3"  # 8/3, of distances that are ints
