"""Scores reported alongside the metric, and the commands fit and sample."""

import numpy as np
import pytest

from contextwise.distributions import (
    cmll,
    fit,
    kl_divergence,
    log_probability,
    mean_pseudo_log_likelihood,
)
from contextwise.evaluation.likelihood_scores import SCORES, score
from contextwise.models.structure import LogLinear
from drawn_rows import sample
from known_weights import GUESS, TRUE


def test_each_score_is_that_of_its_function() -> None:
    train, test = sample(TRUE, 500, seed=1), sample(TRUE, 200, seed=2)
    fitted = fit(GUESS, train).model
    found = score(TRUE, fitted, rows=test, kl=True)
    assert found.values["kl_true_guess"] == kl_divergence(TRUE, fitted)
    assert found.values["kl_guess_true"] == kl_divergence(fitted, TRUE)
    total = float(log_probability(fitted, test).sum())
    assert float(found.values["log_likelihood"]) == pytest.approx(total / 200)
    pseudo = mean_pseudo_log_likelihood(fitted, test)
    assert float(found.values["pseudo_log_likelihood"]) == pytest.approx(pseudo)
    assert found.values["cmll"].value == pytest.approx(cmll(fitted, test).value)
    assert not found.missing


def test_what_cannot_be_had_has_its_reason() -> None:
    rows = sample(TRUE, 20, seed=1)
    bare = score(TRUE, GUESS, rows=rows, kl=True)
    assert not bare.values
    assert set(bare.missing) == {*SCORES}
    assert bare.missing["kl_true_guess"] == "the guess has no weights"
    assert bare.missing["cmll"].startswith("the guess has no weights")
    no_truth = score(TRUE.structure, TRUE, kl=True)
    assert no_truth.missing["kl_guess_true"] == "the true model has no weights"
    hard = LogLinear(TRUE.structure, np.array([-np.inf, 0, 0, 0]))
    limited = score(TRUE, hard, rows=rows, kl=True)
    assert limited.missing["cmll"] == "CMLL needs finite weights"
    assert limited.values["kl_true_guess"].value == np.inf
    assert not score(TRUE, TRUE).values
