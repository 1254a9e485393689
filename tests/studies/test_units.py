"""One unit of a study: a learner on one data set."""

from __future__ import annotations

import pytest

from contextwise import Structure, study
from contextwise.errors import ContextwiseError
from contextwise.models.structure import LogLinear


def test_a_structure_gets_strong_weights_and_a_model_keeps_its_own() -> None:
    structure = Structure({"A": 2, "B": 2}, ["A=1 & B=1", "A=0 & B=0"])
    result = study([structure, LogLinear(structure, [9.0, 9.0])], "mpl", rows=500, repeats=1)
    assert result.truths == ["truth 1", "truth 2"]
    assert all(r["distance"] == 0 for r in result.results)


def test_a_learner_that_fails_or_is_too_slow_has_a_record() -> None:
    def broken(rows: object) -> Structure:
        raise ValueError("no idea")

    result = study("six", {"broken": broken, "mpl": "mpl"}, rows=50, repeats=1)
    failed, done = sorted(result.results, key=lambda r: r["learner"])
    assert (failed["status"], failed["error"]) == ("failed", "ValueError: no idea")
    assert done["status"] == "done"
    assert result.ranking(50) == ["mpl"]
    assert "broken: failed on 1 of 1 data set, first on six with 50 rows" in str(result)
    slow = study("six", ["pair-blocks", "independent"], rows=50, repeats=1, time_limit=0)
    assert slow.results[0]["status"] == "too slow"


def test_tolerances_become_columns() -> None:
    result = study("lung", ["chow-liu"], at=(0.1, 0), rows=80, repeats=2)
    assert result.tolerances == ["0", "0.1"]
    for made in result.results:
        assert made["distance_at_0.1"] == made["fp_at_0.1"] + made["fn_at_0.1"]
    mean = sum(made["normalized_at_0"] for made in result.results) / 2
    assert result.mean_at("0", "chow-liu", 80) == pytest.approx(mean)
    assert "if only dependences stronger than t count" in str(result)
    with pytest.raises(ContextwiseError, match="got -1"):
        study("lung", ["chow-liu"], at=-1, rows=80, repeats=1)
