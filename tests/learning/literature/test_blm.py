"""BLM: gains by brute force, and features that are generalised rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from contextwise import LogLinear, Structure
from contextwise.data.rows import as_data, by_position
from contextwise.distributions import mean_pseudo_log_likelihood
from contextwise.errors import DomainError
from contextwise.learning.literature.blm import BLM, Gain, generalisations
from contextwise.models.factors import conjunctions
from contextwise.support.arrays import IntArray

DOMAIN = {"v0": 2, "v1": 3, "v2": 2, "v3": 2}


def copies(seed: int, count: int = 150) -> IntArray:
    rng = np.random.default_rng(seed)
    rows = np.stack([rng.integers(0, c, count) for c in DOMAIN.values()], axis=1)
    same = rng.random(count) < 0.6
    rows[same, 1] = rows[same, 0]
    return rows


@given(st.integers(0, 99), st.integers(1, 15))
@settings(max_examples=30, deadline=None)
def test_a_gain_is_what_the_best_weight_adds(seed: int, scope: int) -> None:
    rows = copies(seed)
    data = as_data(rows, DOMAIN)
    feature = np.array([rows[0, v] if scope >> v & 1 else -1 for v in range(4)])
    old = Structure(data.domain, ["v0=1", "v1=2 & v2=0"])
    gain = Gain(LogLinear(old, [0.5, -0.8]), data.rows, np.ones(len(rows)), price=0.3)
    new = old | conjunctions(data.domain, feature[None])
    if len(new) == len(old):
        return

    def loss(weight: float) -> float:
        model = by_position(LogLinear(new, [0.5, -0.8, weight]))
        return -mean_pseudo_log_likelihood(model, rows)

    best = minimize_scalar(loss, bounds=(-20, 20), method="bounded", options={"xatol": 1e-9})
    expected = len(rows) * (loss(0.0) - best.fun) - 0.3 * int((feature >= 0).sum())
    assert gain.of(feature) == pytest.approx(expected, abs=1e-3)
    gain.add(feature)
    assert gain.of(feature) == pytest.approx(-0.3 * int((feature >= 0).sum()), abs=1e-3)


@given(st.integers(0, 99), st.integers(1, 4))
@settings(max_examples=30)
def test_generalisations_hold_in_another_row(seed: int, count: int) -> None:
    rows = copies(seed, 12)
    feature = rows[0]
    while found := list(generalisations(feature, rows, count)):
        for shorter in found:
            kept = shorter >= 0
            assert (shorter[kept] == feature[kept]).all()
            now = (rows[:, kept] == shorter[kept]).all(axis=1).sum()
            scope = feature >= 0
            assert now > (rows[:, scope] == feature[scope]).all(axis=1).sum()
        feature = found[0]


def test_features_are_generalised_rows_and_predict_better() -> None:
    rows = copies(1, 400)
    learner = BLM().fit(rows, domain=DOMAIN)
    assert ("v0", "v1") in learner.structure_.pairs()
    for feature in learner.structure_:
        assert all(len(values) == 1 for values in feature.values())
        if len(feature) > 1:
            chosen = [int(name[1:]) for name in feature]
            wanted = [int(value) for (value,) in feature.values()]
            assert (rows[:, chosen] == wanted).all(axis=1).any()
    alone = BLM(passes=0).fit(rows, domain=DOMAIN)
    assert not alone.structure_.pairs()
    assert learner.score(rows) > alone.score(rows)
    assert BLM(penalty=100).fit(rows, domain=DOMAIN).structure_.pairs() == []


def test_parameters() -> None:
    with pytest.raises(DomainError, match="neighbours >= 1"):
        BLM(neighbours=0).fit(copies(0))
