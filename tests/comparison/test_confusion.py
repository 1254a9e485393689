"""Counts with more than 4,300 digits, the limit of Python's conversion to decimals."""

from __future__ import annotations

import math
from itertools import combinations, product
from pathlib import Path

import pytest

from contextwise import Domain, Structure, compare, distance_matrix
from contextwise.comparison.confusion import Confusion
from contextwise.comparison.two_models import comparison_record
from contextwise.support.formatting import rate
from hard import chain

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
        distance_matrix(models, folder=tmp_path, weights=weights),  # type: ignore[arg-type]
        distance_matrix(models, folder=tmp_path, weights=weights),  # type: ignore[arg-type]
        distance_matrix(models, weights=weights),  # type: ignore[arg-type]
    ]
    assert matrices[0].distances.tolist() == matrices[1].distances.tolist()
    assert matrices[0].distances.tolist() == matrices[2].distances.tolist()
    assert matrices[0]._repr_html_()


@pytest.mark.parametrize("size", [10**3, 10**20, 10**400])
def test_rates_are_0_or_1_only_if_they_are_exactly_that(size: int) -> None:
    for tp, fn, fp, tn in product((0, 1, size), repeat=4):
        matrix = Confusion(tp, fn, fp, tn)
        shares = {
            "accuracy": (tp + tn, tp + fn + fp + tn),
            "precision": (tp, tp + fp),
            "recall": (tp, tp + fn),
            "jaccard": (tp, tp + fp + fn),
            "normalized": (fp + fn, tp + fn + fp + tn),
        }
        for name, (part, whole) in shares.items():
            if whole:
                assert (matrix.rate(name) == 0) == (part == 0)
                assert (matrix.rate(name) == 1) == (part == whole)
        for name in ("mcc", "kappa"):
            value = matrix.rate(name, float("nan"))
            if not math.isnan(value):
                assert (value == 0) == (tp * tn == fp * fn)
                assert (value == 1) == (fp + fn == 0)
                # MCC is -1 if the models disagree everywhere, kappa if they also balance
                assert (value == -1) == (tp + tn == 0 and (name == "mcc" or fp == fn))


def test_the_mean_over_pairs_is_1_only_if_every_context_differs() -> None:
    true = chain(200)
    features = [{a: 1, b: 1} for a, b in combinations(true.domain.names, 2)]
    everything = Structure(true.domain, features)
    almost = Structure(true.domain, [*features[1:], dict.fromkeys(true.domain.names, 1)])
    nothing = Structure(true.domain)
    assert compare(nothing, everything).mean_pair_distance == 1
    assert compare(nothing, almost).mean_pair_distance < 1
    assert rate(compare(nothing, almost).mean_pair_distance) == "0.9999"
