"""The paper's experiment on KL-divergence: its parts are what it claims, its numbers are stored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from studies.kl import Experiment, Settings, basis_of, effects, fit

from contextwise import Domain, examples
from contextwise.distributions import probabilities
from contextwise.models.structure import structure_of
from contextwise.truths.planted import plant

ROOT = Path(__file__).parents[2]

SIX = structure_of(examples.load("six"))
rng = np.random.default_rng
seeds = st.integers(0, 2**32 - 1)
domains = st.lists(st.integers(1, 4), min_size=2, max_size=5).map(Domain.of_cardinalities)


@pytest.fixture(scope="module")
def experiment() -> Experiment:
    return Experiment(Settings(sizes=(50, 1000), parameter_sets=2))


def test_the_stored_numbers_come_out(experiment: Experiment) -> None:
    (first, *_), (second, *_) = experiment.records("fn", 0), experiment.records("fp", 900)
    assert (first["errors"], second["errors"]) == (1, 72)
    assert first["kl"] == pytest.approx(0.2499286225922565, abs=1e-9)
    assert second["kl"] == pytest.approx(0.48461887622979183, abs=1e-9)


def test_the_stored_effects_are_those_of_the_paper() -> None:
    table = pd.read_csv(ROOT / "studies/results/kl.csv").set_index(["errors", "rows"]).slope
    fp, fn = table["false positives"], table["false negatives"]
    assert fn[10000] / fp[10000] > 1000
    assert fp[10000] < 0.01 * fp[50]
    assert fn[10000] > fn[50]


def test_the_true_model_has_the_counts_of_the_paper(experiment: Experiment) -> None:
    assert len(experiment.model) == 50
    assert experiment.most == {"fp": 80, "fn": 160}


def test_false_positives_do_not_show_when_fitted_to_the_exact_distribution(
    experiment: Experiment,
) -> None:
    for truth in experiment.truths[:: len(experiment.settings.sizes)]:
        for errors in (8, 24, 48, 80):
            structure, _ = plant(SIX, "fp", errors, rng(errors))
            fitted = fit(basis_of(structure), truth, 0.0)
            assert float((truth * (np.log(truth) - fitted)).sum()) < 1e-8


def test_gibbs_data_have_the_exact_distribution(experiment: Experiment) -> None:
    from scipy.stats import chisquare

    exact = experiment.truths[0]
    size = 20_000
    model = experiment.weighted[0]
    seen = experiment.data(model, 0, size) * size
    cell = np.where(exact * size >= 5, np.arange(len(exact)), len(exact))  # rare states as one
    observed, expected = np.bincount(cell, seen), np.bincount(cell, exact * size)
    there = expected > 0
    assert chisquare(observed[there], expected[there]).pvalue > 1e-3
    assert probabilities(model).ravel() == pytest.approx(exact)


def test_effects_of_made_up_records() -> None:
    records = [
        {
            "structure": k,
            "side": side,
            "rows": 100,
            "parameters": p,
            "percentage": 10.0 * k,
            "kl": 0.02 * k + 0.1 * p if side == "fn" else 0.5 + 0.001 * (k - 5) ** 2,
        }
        for side in ("fp", "fn")
        for k in range(11)
        for p in range(2)
    ]
    flat, rising = effects(records)
    assert flat["slope"] == pytest.approx(0, abs=1e-9)
    assert rising["rank"] == pytest.approx(1)
    assert rising["slope"] == pytest.approx(0.002)
