"""Conditionals of rows: ratios of joint probabilities, gradients and curvature."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise.data.rows import as_data
from contextwise.distributions import (
    marginal,
)
from contextwise.distributions.conditionals import Conditionals, log_conditionals_of
from contextwise.distributions.inference import states
from contextwise.distributions.potentials import distinct_rows
from contextwise.models.structure import LogLinear, Structure
from contextwise.testing import domains, log_linear_models
from drawn_rows import some_positions


@given(log_linear_models(domains(min_variables=1)), st.integers(0, 99))
def test_conditionals_are_ratios_of_joint_probabilities(model: LogLinear, seed: int) -> None:
    domain = model.domain
    rows = [
        [own[k] for own, k in zip(domain.states, row, strict=True)]
        for row in some_positions(domain, 5, seed)
    ]
    found = log_conditionals_of(model, as_data(rows, domain).rows)
    for row, logs in zip(rows, found, strict=True):
        for v, name in enumerate(domain.names):
            rest = {n: s for n, s in zip(domain.names, row, strict=True) if n != name}
            own = marginal(model, name, context=rest)[domain.state_position(v, row[v])]
            assert np.exp(logs[v]) == pytest.approx(own)


@given(log_linear_models(domains(min_variables=1)), st.integers(0, 99))
def test_the_gradient_is_that_of_finite_differences(model: LogLinear, seed: int) -> None:
    rows, counts = distinct_rows(some_positions(model.domain, 20, seed))
    loss = Conditionals.of(model.structure.features, rows).loss(counts / counts.sum())
    gradient = loss.at(model.weights).gradient
    for k in range(len(model)):
        step = np.zeros(len(model))
        step[k] = 1e-5
        above, below = (loss.at(model.weights + sign * step).value for sign in (1, -1))
        assert gradient[k] == pytest.approx((above - below) / 2e-5, abs=1e-6)


@given(log_linear_models(domains(min_variables=1)), st.integers(0, 99))
def test_the_curvature_is_that_of_the_gradient(model: LogLinear, seed: int) -> None:
    rows, counts = distinct_rows(some_positions(model.domain, 20, seed))
    loss = Conditionals.of(model.structure.features, rows).loss(counts / counts.sum())
    rng = np.random.default_rng(seed)
    chosen = np.flatnonzero(rng.random(len(model)) < 0.7)
    direction = np.zeros(len(model))
    direction[chosen] = rng.normal(0, 1, len(chosen))
    above, below = (loss.at(model.weights + sign * 1e-5 * direction).gradient for sign in (1, -1))
    found = loss.at(model.weights).curvature(chosen) @ direction[chosen]
    assert np.allclose(found, (above - below)[chosen] / 2e-5, atol=1e-6)


def test_rows_that_agree_on_what_matters_are_one_setting() -> None:
    structure = Structure({"A": 2, "B": 2, "C": 2, "D": 3}, ["A=1 & B=1", "A=1 & C=1"])
    rows = states(structure.domain)
    prepared = Conditionals.of(structure.features, rows)
    # A looks at B and C, each of them at A, and D at nothing
    assert [len(np.unique(of_variable)) for of_variable in prepared.settings] == [4, 2, 2, 1]
    loss = prepared.loss(np.full(len(rows), 1 / len(rows)))
    assert loss.totals.sum() == pytest.approx(4)
    own = prepared.settings[3, 0]
    begin, end = prepared.options.starts[own : own + 2]
    assert loss.totals[own] == pytest.approx(1)
    assert loss.chosen[begin:end].tolist() == pytest.approx([1 / 3] * 2)
