"""KL, held-out likelihood and CMLL of guesses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from contextwise import examples, study
from contextwise.distributions import cmll, fit, kl_divergence, mean_log_likelihood, probabilities
from contextwise.distributions.small_fits import fit_table
from contextwise.learning.base import as_learner
from contextwise.models.structure import numbers_of, structure_of
from contextwise.studies.kl import HELD_OUT, Divergence
from contextwise.studies.units import DataSet
from contextwise.truths import named
from contextwise.truths.planted import plant

SIX = structure_of(examples.load("six"))

SMALL: dict[str, Any] = {"rows": [50, 200], "repeats": 1, "columns": [Divergence()]}


def test_the_columns_of_kl_are_what_the_public_functions_compute() -> None:
    columns = Divergence(l2=0.5)
    truth = named.truth("six")
    result = study("six", ["mpl", "chow-liu"], rows=200, repeats=1, columns=[columns], seed=4)
    data = DataSet("six", truth, 0, 200, 0, 4)
    for record in result.results:
        learned = as_learner(record["learner"]).fit(data.rows, domain=truth.domain).structure_
        fitted = fit(learned, data.rows, method="likelihood", l2=0.5, tolerance=1e-10).model
        new = data.held_out(HELD_OUT)
        assert record["kl"] == pytest.approx(float(kl_divergence(truth, fitted)), rel=1e-4)
        assert record["cmll"] == pytest.approx(float(cmll(fitted, new, groups=4)), rel=1e-5)
        assert record["log_likelihood"] == pytest.approx(mean_log_likelihood(fitted, new), rel=1e-5)


def test_both_ways_to_fit_give_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    here = study("survey", "mpl", **SMALL)
    monkeypatch.setattr("contextwise.studies.kl.is_small", lambda domain: False)
    there = study("survey", "mpl", **SMALL)
    for a, b in zip(here.results, there.results, strict=True):
        assert a["distance"] == b["distance"]
        for key in Divergence.keys:
            assert a[key] == pytest.approx(b[key], rel=2e-3)


def test_false_positives_do_not_show_when_fitted_to_the_exact_distribution() -> None:
    numbers = numbers_of(named.truth("six"))
    assert numbers is not None
    truth = probabilities(numbers).ravel()
    for errors in (8, 24, 48, 80):
        structure, _ = plant(SIX, "fp", errors, np.random.default_rng(errors))
        fitted = fit_table(structure, truth, 0.0)
        assert float((truth * (np.log(truth) - fitted)).sum()) < 1e-8
