"""The choice of parameters: by other rows, by BIC."""

from __future__ import annotations

import time
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import contextwise as cw
from contextwise.errors import ContextwiseError, OpenResult
from contextwise.learning import ChowLiu, Trees, as_data, select
from contextwise.learning.base import as_learner
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
    found = select("trees", {"penalty": [1.0, 5.0, 1000.0]}, TRAIN)
    for candidate in found.candidates:
        fitted = Trees(**candidate.parameters).fit(TRAIN)
        expected = -2 * 250 * fitted.score(TRAIN) + log(250) * len(fitted.model_)
        assert candidate.value == pytest.approx(expected)
    assert found.best.value == min(c.value for c in found.candidates if c.value is not None)


def test_of_equal_scores_the_first_is_taken() -> None:
    found = select(ChowLiu, {"prior": [1.0, 1.0]}, TRAIN)
    assert found.best is found.candidates[0]


def test_a_function_with_parameters_and_data_of_other_kinds(tmp_path: Path) -> None:
    seen: list[Any] = []

    def learn(rows: Any) -> cw.Structure:
        seen.append(rows)
        return cw.Structure(as_data(ROWS).domain, ["v0=1 & v1=1"])

    function = as_learner(learn)
    grid = {"function": [learn]}
    select(function, grid, as_data(ROWS).frame())
    (rows,) = seen
    assert len(rows) == 400
    assert hasattr(rows, "columns")
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(",".join(map(str, row)) for row in ROWS.tolist()))
    found = select("trees", {"penalty": [5.0]}, path)
    assert found.learner.structure_ == Trees(penalty=5.0).fit(ROWS).structure_


def test_progress_counts_the_fits() -> None:
    seen: list[tuple[int, int]] = []
    grid = {"penalty": [1.0, 5.0]}
    select(Trees(), grid, TRAIN, show_progress=lambda *step: seen.append(step))
    assert seen == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"grid": {}}, "the grid is empty"),
        ({"grid": {"penalty": []}}, "the grid is empty"),
        ({"grid": {"colour": [1]}}, "colour"),
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
    found = select(Slow(), {"seconds": [0, LATE, 0]}, rows, time_limit=3)
    assert [candidate.value is None for candidate in found.candidates] == [False, True, True]
    assert found.best is found.candidates[0]
    assert found.note == "2 combinations not finished within the time limit"
    with pytest.raises(OpenResult, match="not finished within the time limit"):
        select(Slow(), {"seconds": [LATE]}, rows, time_limit=0.2)
