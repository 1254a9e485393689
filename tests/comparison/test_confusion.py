"""Counts with more than 4,300 digits, the limit of Python's conversion to decimals."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextwise import Domain, Structure, compare, distance_matrix
from contextwise.comparison.compare import comparison_record
from contextwise.comparison.neighbours import nearest

DOMAIN = Domain.of_cardinalities([2] * 15_000)
TRUE = Structure(DOMAIN, ["v0=1 & v1=1"])
GUESS = Structure(DOMAIN)


def test_results_show_themselves() -> None:
    comparison = compare(TRUE, GUESS)
    assert comparison.fn == 2**14_998
    assert "fn=≈7.045e4514" in repr(comparison.confusion)
    assert "7.045e4514" in repr(comparison)
    assert "7.045e4514" in comparison._repr_html_()
    assert comparison.summary()
    assert "7.045e4514" in repr(nearest(TRUE, [GUESS]))


def test_frames_and_records_have_exact_numbers() -> None:
    comparison = compare(TRUE, GUESS)
    assert comparison.to_frame()["fn"].tolist() == [2**14_998]
    assert comparison_record(comparison)["distance"] == 2**14_998
    frame = distance_matrix([TRUE, GUESS], names=["a", "b"]).to_frame()
    assert frame.loc["a", "b"] == 2**14_998


@pytest.mark.parametrize("weights", [None, {"v2": ["1/3", "2/3"]}])
def test_a_stored_matrix_has_exact_numbers(weights: object, tmp_path: Path) -> None:
    models = [Structure(DOMAIN, ["v0=1 & v1=1 & v2=1"]), GUESS]
    matrices = [
        distance_matrix(models, store=tmp_path, weights=weights),  # type: ignore[arg-type]
        distance_matrix(models, store=tmp_path, weights=weights),  # type: ignore[arg-type]
        distance_matrix(models, weights=weights),  # type: ignore[arg-type]
    ]
    assert matrices[0].distances.tolist() == matrices[1].distances.tolist()
    assert matrices[0].distances.tolist() == matrices[2].distances.tolist()
    assert matrices[0]._repr_html_()
