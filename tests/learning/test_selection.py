"""The choice of parameters: by other rows, by BIC, by stability."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import combinations
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import contextwise as cw
from contextwise.errors import ContextwiseError, OpenResult
from contextwise.learning import ChowLiu, Trees, as_data, select
from contextwise.learning.base import as_learner
from contextwise.learning.selection import instability
from hard import LATE

RNG = np.random.default_rng(4)
ROWS = RNG.integers(0, 2, (400, 5))
ROWS[:, 1] = ROWS[:, 0] ^ (RNG.random(400) < 0.1)
ROWS[:, 2] = ROWS[:, 1] ^ (RNG.random(400) < 0.3)
TRAIN, VALID = ROWS[:250], ROWS[250:]


def test_the_best_score_of_other_rows_wins_and_its_learner_is_fitted() -> None:
    grid: dict[str, list[Any]] = {"penalty": [0.0, 3.0, 1000.0], "min_count": [5, 20]}
    found = select(Trees(), grid, TRAIN, valid=VALID)
    assert len(found.candidates) == 6
    values = []
    for candidate in found.candidates:
        fitted = Trees(**candidate.parameters).fit(TRAIN)
        assert candidate.value == pytest.approx(fitted.score(VALID))
        assert candidate.features == len(fitted.structure_)
        values.append(fitted.score(VALID))
    assert found.best.value == pytest.approx(max(values))
    assert found.learner.structure_ == Trees(**found.best.parameters).fit(TRAIN).structure_


def test_bic_counts_weights_that_are_not_zero() -> None:
    found = select("trees", {"penalty": [1.0, 5.0, 1000.0]}, TRAIN, by="bic")
    for candidate in found.candidates:
        fitted = Trees(**candidate.parameters).fit(TRAIN)
        expected = -2 * 250 * fitted.score(TRAIN) + log(250) * len(fitted.model_)
        assert candidate.value == pytest.approx(expected)
    assert found.best.value == min(c.value for c in found.candidates if c.value is not None)


def test_of_equal_scores_the_first_is_taken() -> None:
    found = select(ChowLiu, {"prior": [1.0, 1.0]}, TRAIN, by="bic")
    assert found.best is found.candidates[0]


def test_stability_takes_the_weakest_penalty_below_the_threshold() -> None:
    grid = {"penalty": [1.0, 300.0, 20.0, 0.0]}
    found = select(Trees(), grid, ROWS, by="stability", subsamples=6, threshold=0.2, rng=3)
    assert [c.parameters["penalty"] for c in found.candidates] == [300.0, 20.0, 1.0, 0.0]
    drawn_from = np.random.default_rng(3)
    parts = [ROWS[drawn_from.choice(400, 200, replace=False)] for _ in range(6)]
    largest = 0.0
    best = found.candidates[0]
    for candidate in found.candidates:
        if largest > 0.2:
            assert candidate.value is None
            continue
        learned = [Trees(**candidate.parameters).fit(p).structure_ for p in parts]
        pairs = list(combinations(learned, 2))
        own = sum(cw.compare(a, b).normalized for a, b in pairs) / len(pairs)
        largest = max(largest, own)
        assert candidate.value == pytest.approx(largest)
        best = candidate if largest <= 0.2 else best
    assert largest > 0.2  # so that something was left out
    assert found.best is best
    assert found.learner.structure_ == Trees(**best.parameters).fit(ROWS).structure_


def test_stability_draws_whole_subjects() -> None:
    class Seen(Trees):
        """Keeps the rows that it learns from."""

        def fit(self, data: Any, *arguments: Any, **how: Any) -> Any:
            seen.append(data)
            return super().fit(data, *arguments, **how)

    seen: list[Any] = []
    data = replace(as_data(ROWS[:200], None), subjects=np.arange(200) % 40)
    select(Seen(), {"penalty": [1e6]}, data, by="stability", subsamples=4)
    *drawn, everything = seen
    assert len(everything) == 200
    for part in drawn:
        subjects, rows = np.unique(part.subjects, return_counts=True)
        assert len(subjects) == 20
        assert (rows == 5).all()
    with pytest.raises(ContextwiseError, match="2 subjects, got 20 and 1"):
        select(
            Trees(), {"penalty": [1]}, replace(data, subjects=np.zeros(200, int)), by="stability"
        )


def test_what_is_chosen_for_want_of_better_is_said() -> None:
    empty = select(Trees(), {"penalty": [1e6]}, ROWS, by="stability", subsamples=3)
    assert empty.note == "only a structure without dependencies is stable at 0.05"
    grid = {"penalty": [2.0, 1.0]}
    wild = select(Trees(), grid, ROWS, by="stability", subsamples=3, threshold=0.01)
    assert wild.best.parameters == {"penalty": 2.0}
    assert wild.note == "no penalty is stable at 0.01; this is the strongest"


def test_instability_is_the_mean_over_each_two() -> None:
    a = cw.Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=1"])
    b = cw.Structure(a.domain, ["A=1 & B=1"])
    assert instability([a, b, b]) == pytest.approx(2 * cw.compare(a, b).normalized / 3)


def test_a_function_with_parameters_and_data_of_other_kinds(tmp_path: Path) -> None:
    seen: list[Any] = []

    def learn(rows: Any) -> cw.Structure:
        seen.append(rows)
        return cw.Structure(as_data(ROWS).domain, ["v0=1 & v1=1"])

    function = as_learner(learn)
    grid = {"function": [learn]}
    select(function, grid, as_data(ROWS).frame(), by="stability", subsamples=2)
    assert [len(rows) for rows in seen] == [200, 200, 400]
    assert all(hasattr(rows, "columns") for rows in seen)
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(",".join(map(str, row)) for row in ROWS.tolist()))
    found = select("trees", {"penalty": [5.0]}, path, by="stability", subsamples=2)
    assert found.learner.structure_ == Trees(penalty=5.0).fit(ROWS).structure_


def test_progress_counts_the_fits() -> None:
    seen: list[tuple[int, int]] = []
    grid = {"penalty": [1.0, 5.0]}
    select(Trees(), grid, TRAIN, by="bic", show_progress=lambda *step: seen.append(step))
    assert seen == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"by": "magic"}, "by must be one of pseudo-likelihood, bic, stability"),
        ({}, "pass valid="),
        ({"grid": {}}, "the grid is empty"),
        ({"grid": {"penalty": []}}, "the grid is empty"),
        ({"by": "stability", "grid": {"penalty": [1], "prior": [1]}}, "one parameter"),
        ({"by": "stability", "strongest": "middle"}, "strongest must be"),
        ({"by": "stability", "subsamples": 1}, "at least 2 subsamples"),
        ({"by": "bic", "grid": {"colour": [1]}}, "colour"),
    ],
)
def test_what_cannot_be_selected_is_an_error(options: dict[str, Any], match: str) -> None:
    arguments = {"grid": {"penalty": [1.0]}, **options}
    with pytest.raises((ContextwiseError, TypeError), match=match):
        select(Trees(), arguments.pop("grid"), TRAIN, **arguments)


def test_a_time_limit_leaves_out_what_is_not_finished() -> None:
    class Slow(ChowLiu):
        def __init__(self, seconds: float = 0) -> None:
            super().__init__()
            self.seconds = seconds

        def learn(self, data: Any, run: Any) -> Any:
            until = time.monotonic() + self.seconds
            while time.monotonic() < until and not run.is_late():
                time.sleep(0.01)
            return super().learn(data, run)

    rows = [[0, 0], [1, 1]] * 20
    found = select(Slow(), {"seconds": [0, LATE, 0]}, rows, by="bic", time_limit=3)
    assert [candidate.value is None for candidate in found.candidates] == [False, True, True]
    assert found.best is found.candidates[0]
    assert found.note == "2 combinations not finished within the time limit"
    for by in ("bic", "stability"):
        with pytest.raises(OpenResult, match="not finished within the time limit"):
            select(Slow(), {"seconds": [LATE]}, rows, by=by, time_limit=0.2)
