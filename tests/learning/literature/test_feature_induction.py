"""Feature induction: gains by brute force, and the growth of the likelihood."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from contextwise import LogLinear, Structure, compare, examples, sample
from contextwise.data.rows import as_data
from contextwise.distributions import mean_log_likelihood
from contextwise.errors import DomainError
from contextwise.learning.literature import feature_induction
from contextwise.learning.literature.feature_induction import (
    FeatureInduction,
    Holding,
    gains,
    model_shares,
)
from contextwise.models.structure import structure_of
from contextwise.support.arrays import IntArray
from contextwise.truths.named import strong_weights


def chain(seed: int, count: int = 200, variables: int = 4, states: int = 3) -> IntArray:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, states, (count, variables))
    for v in range(1, variables):
        copy = rng.random(count) < 0.6
        rows[copy, v] = rows[copy, v - 1]
    return rows


@given(st.integers(0, 99), st.integers(0, 2), st.integers(0, 2))
@settings(max_examples=8, deadline=None)
def test_a_gain_is_what_the_best_weight_adds_to_the_likelihood(seed: int, a: int, b: int) -> None:
    data = as_data(chain(seed), dict.fromkeys(["v0", "v1", "v2", "v3"], 3))
    model = LogLinear(Structure(data.domain, ["v0=1", f"v1={b}"]), [0.7, -0.4])
    table = np.array([[-1, b, -1, -1]])
    observed = Holding(data.rows, np.full(len(data), 1 / len(data)), data.domain.cardinalities)
    expected = model_shares(model, np.random.default_rng(0))
    gain = gains(observed.shares(table), expected.shares(table))[0, 3 * 2 + a]
    more = Structure(data.domain, ["v0=1", f"v1={b}", f"v1={b} & v2={a}"])

    def loss(weight: float) -> float:
        return -mean_log_likelihood(LogLinear(more, [0.7, -0.4, weight]), data.rows)

    best = minimize_scalar(loss, bounds=(-20, 20), method="bounded", options={"xatol": 1e-8})
    assert gain == pytest.approx(-best.fun + loss(0.0), abs=1e-6)


@given(st.integers(0, 99))
@settings(max_examples=4, deadline=None)
def test_features_grow_by_a_literal_and_the_likelihood_by_their_gain(seed: int) -> None:
    rows = chain(seed, states=2)
    learner = FeatureInduction(l2=1e-3).fit(rows)
    features = [frozenset(feature.items()) for feature in learner.structure_]
    for feature in features:
        shorter = [
            other for other in features if other < feature and len(other) + 1 == len(feature)
        ]
        assert len(feature) == 1 or shorter
    least = log(len(rows)) / 2 / len(rows)
    assert all(gain > least for gain in learner.gains_)
    alone = FeatureInduction(l2=1e-3, max_features=0).fit(rows)
    assert not alone.structure_.pairs()
    nothing = mean_log_likelihood(alone.model_, rows)
    reached = mean_log_likelihood(learner.model_, rows)
    assert reached >= nothing + sum(learner.gains_) - 2e-3


def test_it_finds_most_of_the_paper_s_model() -> None:
    six = structure_of(examples.load("six"))
    rows = sample(strong_weights(six, np.random.default_rng(1)), 500, seed=1)
    found = compare(six, FeatureInduction().fit(rows, domain=six.domain).structure_)
    assert found.fp + found.fn < 160 / 2 + 40  # without dependencies there are 160 errors
    assert found.tp > 80


def test_large_domains_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = chain(1, variables=3, states=2)
    exact = FeatureInduction(max_features=3).fit(rows).structure_.pairs()
    monkeypatch.setattr(feature_induction, "STATES_VISITED", 1)
    monkeypatch.setattr(feature_induction, "ROWS_PER_CHAIN", 4)
    found = FeatureInduction(max_features=3).fit(rows).structure_.pairs()
    assert set(exact) <= set(found)


def test_batches_and_limits() -> None:
    assert len(FeatureInduction(max_features=3).fit(chain(2)).structure_) == 4 * 3 + 3
    together = FeatureInduction(batch=5).fit(chain(2, states=2))
    assert together.structure_.pairs()
    with pytest.raises(DomainError, match="batch >= 1"):
        FeatureInduction(batch=0).fit(chain(2))
