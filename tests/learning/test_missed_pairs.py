"""Learning says when pairs that it claims to be independent depend in the rows."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import contextwise as cw
from contextwise import Structure
from contextwise.cli import contextwise
from contextwise.data.rows import Data, as_data
from contextwise.learning import MPL, ChowLiu, Independent, Trees
from contextwise.learning.missed_pairs import missed_pairs
from contextwise.learning.pearson_test import evaluate_tables

FACTORS, EACH = 3, 5


def items(seed: int, rows: int = 400) -> np.ndarray[Any, Any]:
    """Five-point answers; items of one factor depend on each other."""
    rng = np.random.default_rng(seed)
    factors = np.repeat(rng.normal(size=(rows, FACTORS)), EACH, axis=1)
    answers = 0.7 * factors + 0.7 * rng.normal(size=(rows, FACTORS * EACH))
    return np.searchsorted([-1.5, -0.5, 0.5, 1.5], answers)


def factors_of(pair: tuple[str, str]) -> set[int]:
    return {int(name[1:]) // EACH for name in pair}


def test_every_pair_of_a_factor_is_missed_without_interactions() -> None:
    missed = Independent().fit(items(1)).missed_
    assert missed.tested == 105
    assert len(missed.pairs) == FACTORS * EACH * (EACH - 1) // 2
    assert all(len(factors_of(pair.pair)) == 1 and not pair.given for pair in missed.pairs)
    assert [p.p_value for p in missed.pairs] == sorted(p.p_value for p in missed.pairs)


def test_p_values_are_those_of_scipy() -> None:
    rows = items(2)
    (first, *_) = Independent().fit(rows).missed_.pairs
    a, b = (int(name[1:]) for name in first.pair)
    table = stats.contingency.crosstab(rows[:, a], rows[:, b]).count
    g_test = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
    assert first.p_value >= g_test.pvalue * (1 - 1e-9)
    pearson = stats.chi2_contingency(table, correction=False)
    assert first.p_value == pytest.approx(max(g_test.pvalue, pearson.pvalue), rel=0.5)


def test_given_the_neighbours() -> None:
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, 500)
    b, c = (np.where(rng.random(500) < 0.9, a, 1 - a) for _ in range(2))
    rows = as_data(np.stack([a, b, c], axis=1))
    right = Structure(rows.domain, ["v0=1 & v1=1", "v0=1 & v2=1"])
    assert not missed_pairs(right, rows)
    wrong = Structure(rows.domain, ["v0=1 & v1=1", "v1=1 & v2=1"])
    (missed,) = missed_pairs(wrong, rows).pairs
    assert (missed.pair, missed.given) == (("v0", "v2"), ("v1",))
    assert "given v1" in str(missed_pairs(wrong, rows))


def test_counted_rows_are_rows() -> None:
    data = as_data(items(4)[:, :6])
    cells, counts = np.unique(data.rows, axis=0, return_counts=True)
    counted = Data(data.domain, cells, counts)
    learned = [MPL().fit(rows) for rows in (data, counted)]
    assert learned[0].missed_ == learned[1].missed_
    assert learned[0].missed_


def test_two_rare_states_that_meet_are_no_evidence() -> None:
    rows = np.random.default_rng(1).integers(0, 2, (400, 8))
    rows[0, :2] = 2  # X² is above 400, although two single rows meet in 1 of 400 cases
    table = stats.contingency.crosstab(rows[:, 0], rows[:, 1]).count
    assert evaluate_tables(table.astype(float)).p_values * 28 < 0.05
    assert not Independent().fit(rows).missed_


@pytest.mark.parametrize("learner", [Independent, ChowLiu])
def test_false_alarms_are_rare(learner: Any) -> None:
    """At most 5 % by design; 10 of 60 would have a probability below 0.001."""
    alarms = 0
    for seed in range(60):
        rows = np.random.default_rng(seed).integers(0, 3, (80, 8))
        alarms += bool(learner().fit(rows).missed_)
    assert alarms < 10


def test_learn_warns_in_python_and_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    with path.open("w", newline="") as file:
        names = [f"N{k}" for k in range(FACTORS * EACH)]
        csv.writer(file).writerows([names, *items(5).tolist()])
    with pytest.warns(UserWarning, match=r"claims to be independent clearly depend.*'trees'"):
        learned = cw.learn(path, "mpl")
    said = CliRunner().invoke(
        contextwise, ["learn", "mpl", str(path), "--out", str(tmp_path / "m.json")]
    )
    assert str(learned.missed_) in said.stderr
    assert said.exit_code == 0
    assert not Trees(penalty=4).fit(path).missed_


def test_a_variable_of_one_state_and_no_rows() -> None:
    assert Independent().fit([[0, 1], [0, 0], [0, 1]]).missed_.tested == 0
    assert not missed_pairs(Structure({"A": 2, "B": 2}), as_data([], {"A": 2, "B": 2}))
