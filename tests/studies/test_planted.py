"""Planted errors and the columns of KL: what the paper's experiment measures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from contextwise import Structure, compare, examples, study
from contextwise.cli import contextwise
from contextwise.distributions.small_fits import MOST_STATES_OF_A_TABLE
from contextwise.errors import ContextwiseError, TooLargeError
from contextwise.models.domain import Domain
from contextwise.models.structure import LogLinear, structure_of
from contextwise.studies.kl import Divergence
from contextwise.studies.planted import LABELS, effects, percentage

ROOT = Path(__file__).parents[2]

SIX = structure_of(examples.load("six"))

SMALL: dict[str, Any] = {"rows": [50, 200], "repeats": 1, "columns": [Divergence()]}


def untimed(result: Any) -> list[dict[str, Any]]:
    return [{k: v for k, v in record.items() if k != "seconds"} for record in result.results]


def test_structures_have_errors_of_one_kind_spread_over_the_possible_numbers() -> None:
    result = study("six", planted=10, rows=50, repeats=1)
    assert result.learners == []
    fp, fn = ([r for r in result.planted if r["learner"] == label] for label in LABELS.values())
    assert [r["structure"] for r in fp] == [r["structure"] for r in fn] == list(range(10))
    assert all(r["fn"] == 0 for r in fp)
    assert all(r["fp"] == 0 for r in fn)
    for side, planted, most in (("fp", fp, 80), ("fn", fn, 160)):
        wanted = [1 + round((most - 1) * (k + 0.5) / 10) for k in range(10)]
        assert all(abs(r[side] - w) <= 8 for r, w in zip(planted, wanted, strict=True))
    assert all(r["fp"] + r["tn"] == 80 and r["fn"] + r["tp"] == 160 for r in result.planted)
    assert percentage(fp[-1]) == 100 * fp[-1]["fp"] / 80
    assert percentage(fn[-1]) == 100 * fn[-1]["fn"] / 160


def test_planted_errors_are_the_same_over_processes_and_resume(tmp_path: Path) -> None:
    here = study("six", "mpl", planted=6, **SMALL)
    assert len(here.results) == 2 * (1 + 2 * 6)
    there = study("six", "mpl", planted=6, **SMALL, n_jobs=2, out=tmp_path)
    assert untimed(here) == untimed(there)
    more = study("six", "mpl", planted=6, weight_sets=2, **SMALL, out=tmp_path)
    assert untimed(more)[: len(here.results)] == untimed(here)
    assert {p.name for p in tmp_path.iterdir()} >= {"planted.png", "planted.svg", "planted.pdf"}


def test_the_facts_of_the_paper() -> None:
    result = study("six", planted=20, rows=[50, 10000], repeats=1, columns=[Divergence()])
    fp50, fn50, fp10000, fn10000 = sorted(effects(result.planted), key=lambda e: int(e["rows"]))
    assert float(fn10000["slope"]) > 100 * float(fp10000["slope"])
    assert float(fp10000["slope"]) < 0.02 * float(fp50["slope"])
    assert float(fn10000["slope"]) > 0.5 * float(fn50["slope"])
    assert float(fp10000["rank"]) > 0.7


def test_the_stored_effects_are_those_of_the_paper() -> None:
    table = pd.read_csv(ROOT / "studies/results/kl.csv").set_index(["errors", "rows"]).slope
    fp, fn = table["false positives"], table["false negatives"]
    assert fn[10000] / fp[10000] > 1000
    assert fp[10000] < 0.01 * fp[50]
    assert fn[10000] > fn[50]


def test_effects_of_made_up_records() -> None:
    records = [
        {
            "truth": "t",
            "learner": label,
            "rows": 100,
            "weights": weights,
            "structure": k,
            "fp": 10 * k if side == "fp" else 0,
            "tn": 100 - 10 * k,
            "fn": 10 * k if side == "fn" else 0,
            "tp": 100 - 10 * k,
            "kl": 0.02 * k + 0.1 * weights if side == "fn" else 0.5 + 0.001 * (k - 5) ** 2,
        }
        for side, label in LABELS.items()
        for k in range(11)
        for weights in range(2)
    ]
    flat, rising = effects(records)
    assert flat["slope"] == pytest.approx(0, abs=1e-9)
    assert rising["rank"] == pytest.approx(1)
    assert rising["slope"] == pytest.approx(0.002)


def test_what_cannot_be_measured_is_said_before_the_work(tmp_path: Path) -> None:
    full = Structure({"A": 2, "B": 2}, ["A=1 & B=1"])
    with pytest.raises(ContextwiseError, match="no room for false positives: every pair depends"):
        study(full, planted=3, out=tmp_path / "run")
    with pytest.raises(ContextwiseError, match="no room for false negatives: nothing depends"):
        study(Structure({"A": 2, "B": 2}), planted=3, out=tmp_path / "run")
    pairs = [f"v{a}=1 & v{b}=1" for a in range(40) for b in range(a)]
    large = Structure(Domain.of_cardinalities([2] * 40), pairs)
    model = LogLinear(large, np.zeros(len(large)))
    with pytest.raises(TooLargeError, match="KL needs exact inference"):
        study(model, "independent", columns=[Divergence()], out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    assert MOST_STATES_OF_A_TABLE < 2**40


def test_the_command_of_the_experiment(tmp_path: Path) -> None:
    command = "study six --planted 5 --rows 50,1000 --repeats 1 --weight-sets 2 --kl --out"
    result = CliRunner().invoke(contextwise, [*command.split(), str(tmp_path / "kl")])
    assert result.exit_code == 0, result.output
    frame = pd.read_csv(tmp_path / "kl/results.csv")
    assert len(frame) == 2 * 2 * 2 * 5
    assert frame.kl.notna().all()
    assert compare("six", SIX).distance == 0
    refused = CliRunner().invoke(contextwise, ["study", "six", "--out", str(tmp_path / "x")])
    assert "name guesses: --learners NAME,... or --planted N" in refused.output
