"""``contextwise compare``: what it prints for people and for programs, and how it leaves."""

from __future__ import annotations

import csv
import io
import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import commands
from contextwise import LogLinear, Structure, compare, write
from contextwise.counting.contract import ENGINES
from contextwise.errors import ContextwiseError

DOMAIN = {"age": ["young", "old", "very old"], "smoker": ["no", "yes"], "cough": ["no", "yes"]}
TRUE = Structure(DOMAIN, ["age=old & smoker=yes & cough=yes"])
GUESS = Structure(DOMAIN, ["smoker=yes & cough=yes"])


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write model files and make their folder the current one."""
    write(TRUE, tmp_path / "true.json")
    write(GUESS, tmp_path / "guess.json")
    write(LogLinear(TRUE | GUESS, np.array([0.5, 0.0])), tmp_path / "zeros.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


run = partial(commands.run, "compare")


def records(*arguments: str) -> list[dict[str, Any]]:
    found = json.loads(run(*arguments, "--json").stdout)
    return found if isinstance(found, list) else [found]


@pytest.mark.usefixtures("folder")
class TestForPeople:
    def test_the_whole_table(self) -> None:
        blocks = run("true.json", "guess.json").stdout.split("\n\n")
        verdict, head, confusion, measures, pairs, variables = (b.splitlines() for b in blocks)
        assert "57.1 % of all assertions differ (4 of 7): 28.6 % false" in "\n".join(verdict)
        assert head == [
            "true   true.json: 3 variables, 1 feature",
            "guess  guess.json: 3 variables, 1 feature",
            "over   3 pairs, 7 assertions",
        ]
        assert confusion == [
            "                  guess dependent  guess independent",
            "true dependent    14.3 % (1 of 7)    28.6 % (2 of 7)",
            "true independent  28.6 % (2 of 7)    28.6 % (2 of 7)",
        ]
        assert measures[1].split()[:4] == ["distance", "4", "recall", "0.3333"]
        assert pairs == [
            "All pairs that differ:",
            "pair                    differs    FN      FP  of all errors",
            "smoker – cough  66.7 % (2 of 3)   0 %  66.7 %           50 %",
            "age – smoker      50 % (1 of 2)  50 %     0 %           25 %",
            "age – cough       50 % (1 of 2)  50 %     0 %           25 %",
        ]
        assert variables[-1].split()[0] == "age"

    def test_the_contexts_that_were_asked_for_are_named(self) -> None:
        first = [states[0] for states in DOMAIN.values()]
        Path("rows.csv").write_text(",".join(first))
        shown = run("true.json", "guess.json", "--contexts-of", "rows.csv").stdout
        assert "over   3 pairs, 3 assertions in the contexts of the rows of rows.csv\n" in shown
        shown = run("true.json", "guess.json", "--context", "").stdout
        assert "over   3 pairs, 7 assertions\n" in shown

    def test_several_guesses_are_a_row_each(self) -> None:
        shown = run("true.json", "guess.json", "true.json").stdout
        verdict, head, table = shown.split("\n\n")
        assert "true.json is nearest to the true model: 0 % of all assertions" in verdict
        assert "true.json: 3 variables, 1 feature" in head
        assert [line.split()[:3] for line in table.splitlines()[1:]] == [
            ["guess.json", "1", "57.1"],
            ["true.json", "1", "0"],
        ]

    def test_features_of_weight_zero_are_told(self) -> None:
        kept = run("true.json", "zeros.json").stdout
        assert "zeros.json: 3 variables, 2 features" in kept
        assert "weight 0: 1 in zeros.json (kept; --zero-weights drop drops them)" in kept
        dropped = run("true.json", "zeros.json", "--zero-weights", "drop").stdout
        assert "zeros.json: 3 variables, 1 feature\n" in dropped
        assert "weight 0: 1 in zeros.json (dropped)" in dropped
        assert "No pair differs." in dropped

    def test_top_limits_the_worst_pairs(self) -> None:
        out = run("true.json", "guess.json", "--top", "1").stdout
        assert "1 of the 3 pairs that differ, most errors first:" in out
        assert "age – smoker" not in out

    def test_what_was_asked_for_is_said(self) -> None:
        out = run("true.json", "guess.json", "--context", "age=old").stdout
        assert "over   1 pair, 1 assertion in the context age=old" in out
        assert (
            "on full assignments"
            in run("true.json", "guess.json", "--contexts", "canonical").stdout
        )


@pytest.mark.usefixtures("folder")
class TestForPrograms:
    def test_json_is_what_compare_says(self) -> None:
        (record,) = records("true.json", "guess.json")
        c = compare(TRUE, GUESS)
        assert [record[key] for key in ("tp", "fn", "fp", "tn")] == [c.tp, c.fn, c.fp, c.tn]
        assert record["distance"] == c.distance
        assert record["mcc"] == c.mcc
        assert record["mean_pair_distance"] == c.mean_pair_distance
        assert record["worst_pairs"][0] == {
            "first": "smoker",
            "second": "cough",
            "tp": 1,
            "fn": 0,
            "fp": 2,
            "tn": 0,
            "tp_share": 1 / 3,
            "fn_share": 0.0,
            "fp_share": 2 / 3,
            "tn_share": 0.0,
        }
        assert record["fp_share"] == c.fp / c.total
        assert "per_pair" not in record

    def test_json_per_pair(self) -> None:
        (record,) = records("true.json", "guess.json", "--per-pair")
        assert [(p["first"], p["second"]) for p in record["per_pair"]] == [
            ("age", "smoker"),
            ("age", "cough"),
            ("smoker", "cough"),
        ]

    def test_json_has_an_object_a_guess(self) -> None:
        found = records("true.json", "guess.json", "zeros.json")
        assert [record["guess"] for record in found] == ["guess.json", "zeros.json"]
        assert [record["guess_zero_weights"] for record in found] == [0, 1]

    def test_json_is_exact_and_valid(self, tmp_path: Path) -> None:
        chain = Structure({f"X{i}": 2 for i in range(300)}, ["X0=1 & X1=1"])
        write(chain, tmp_path / "long.json")
        write(Structure(chain.domain, []), tmp_path / "empty.json")
        (record,) = records("long.json", "empty.json")
        assert record["fn"] == str(2**298), "a reader that only has doubles reads every digit"
        assert record["fn_share"] == record["normalized"] == 2**298 / (300 * 299 // 2 * 2**298)
        assert record["worst_pairs"][0]["fn_share"] == 1
        assert record["precision"] is None

    def test_csv_has_a_row_a_guess(self) -> None:
        out = run("true.json", "guess.json", "true.json", "--csv").stdout
        rows = list(csv.DictReader(io.StringIO(out)))
        assert [(row["guess"], row["distance"]) for row in rows] == [
            ("guess.json", "4"),
            ("true.json", "0"),
        ]
        nested = {"worst_pairs", "open"}
        assert set(rows[0]) == set(records("true.json", "guess.json")[0]) - nested

    def test_csv_per_pair_has_a_row_a_pair(self) -> None:
        out = run("true.json", "guess.json", "--csv", "--per-pair").stdout
        rows = list(csv.reader(io.StringIO(out)))
        counts = ["tp", "fn", "fp", "tn"]
        shares = [f"{count}_share" for count in counts]
        assert rows[0] == ["guess", "first", "second", *counts, *shares]
        assert rows[3][:7] == ["guess.json", "smoker", "cough", "1", "0", "2", "0"]
        assert [float(cell) for cell in rows[3][7:]] == [1 / 3, 0, 2 / 3, 0]


@pytest.mark.usefixtures("folder")
class TestWhatIsCompared:
    @pytest.mark.parametrize(
        ("options", "keywords"),
        [
            (["--pairs", "cough,smoker"], {"pairs": [("smoker", "cough")]}),
            (
                ["--pairs", "age,smoker", "--pairs", "age,cough"],
                {"pairs": [("age", "smoker"), ("age", "cough")]},
            ),
            (["--variables", "age, cough"], {"variables": ["age", "cough"]}),
            (["--context", "age=very old"], {"context": {"age": "very old"}}),
            (["--contexts", "canonical"], {"contexts": "canonical"}),
            (["--engine", "enumerate"], {"engine": "enumerate"}),
        ],
    )
    def test_an_option_is_the_keyword_of_compare(
        self, options: list[str], keywords: dict[str, Any]
    ) -> None:
        (record,) = records("true.json", "guess.json", *options)
        c = compare(TRUE, GUESS, **keywords)
        assert [record[key] for key in ("tp", "fn", "fp", "tn")] == [c.tp, c.fn, c.fp, c.tn]
        assert record["engine"] == c.engine
        assert c.engine in ENGINES
        assert record["context"] == ("age=very old" if "--context" in options else None)

    def test_standard_input(self, folder: Path) -> None:
        result = run("true.json", "-", "--json", stdin=(folder / "guess.json").read_bytes())
        assert json.loads(result.stdout)["distance"] == 4

    def test_another_format_than_the_suffix_says(self, folder: Path) -> None:
        (folder / "true.txt").write_bytes((folder / "true.json").read_bytes())
        assert records("true.txt", "guess.json", "--format", "json")[0]["distance"] == 4


@pytest.mark.usefixtures("folder")
class TestExitCode:
    def test_without_the_option_it_is_zero(self) -> None:
        assert run("true.json", "guess.json").exit_code == 0

    def test_zero_for_the_same_and_one_for_different(self) -> None:
        assert run("true.json", "true.json", "--exit-code").exit_code == 0
        assert run("true.json", "guess.json", "--exit-code").exit_code == 1
        assert run("true.json", "true.json", "guess.json", "--exit-code").exit_code == 1

    @pytest.mark.parametrize(
        "arguments",
        [
            ["true.json"],
            ["true.json", "guess.json", "--json", "--csv"],
            ["true.json", "guess.json", "--per-pair"],
            ["true.json", "guess.json", "--pairs", "age"],
            ["-", "-"],
        ],
    )
    def test_wrong_usage_is_two(self, arguments: list[str]) -> None:
        assert run(*arguments).exit_code == 2


def test_one_pair_that_differs_is_one() -> None:
    shown = commands.run("explain", "lung", "lung-learned", "--pairs", "smoker,asbestos").stdout
    assert "1 of 1 pair differs" in shown


@pytest.mark.usefixtures("folder")
class TestAtTolerances:
    def test_text_json_and_csv_have_one_line_each(self) -> None:
        text = run("zeros.json", "guess.json", "--at", "0.6,0").stdout
        assert "differ at t = 0" in text
        assert "The guess has no weights and keeps its claims" in " ".join(text.split())
        (found,) = records("zeros.json", "guess.json", "--at", "0,0.6")
        assert [line["tolerance"] for line in found["at"]] == [0, 0.6]
        at = compare("zeros.json", "guess.json", at=(0, 0.6)).at
        assert at is not None
        assert [line["fp"] for line in found["at"]] == [at[0].fp, at[0.6].fp]
        (row,) = csv.DictReader(
            io.StringIO(run("zeros.json", "guess.json", "--at", "0.6", "--csv").stdout)
        )
        assert (row["fp_at_0.6"], row["distance_at_0.6"]) == ("3", "3")

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["zeros.json", "guess.json", "--at", "0,-1"], "must be a number >= 0, got -1.0"),
            (["zeros.json", "guess.json", "--at", "a"], "expected numbers such as 0,0.1,0.3"),
            (["zeros.json", "guess.json", "--at", "1,1"], "the tolerance 1 is given twice"),
            (["true.json", "guess.json", "--at", "1"], "neither model has any"),
            (["true.json", "--group", "a=guess.json", "--at", "1"], "single guesses"),
        ],
    )
    def test_bad_input_is_one_sentence(self, arguments: list[str], words: str) -> None:
        with pytest.raises((ContextwiseError, AssertionError), match=re.escape(words)):
            assert not run(*arguments).stderr
