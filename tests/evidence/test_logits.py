"""Fit logits, leave variables out, and compare the compiled sums with their Python twins."""

from __future__ import annotations

import numpy as np
import pytest

from contextwise.evidence import logits
from contextwise.evidence.logits import Logit, Term, contrasts, score_contrasts
from contextwise.support.arrays import FloatArray, IntArray

RNG = np.random.default_rng(0)
ROWS = 400
CODES = np.stack([RNG.integers(3, size=ROWS), RNG.integers(4, size=ROWS)], axis=1)
STATES = (CODES[:, 0] + RNG.integers(2, size=ROWS)) % 3
WEIGHTS = RNG.integers(1, 4, size=ROWS).astype(float)


def logit(slopes: FloatArray, high: int, variables: tuple[int, ...] = (0, 1)) -> Logit:
    terms = [Term(np.zeros(ROWS, dtype=np.int64), np.ones((1, 1)), 0, slopes.shape[1], 1e-6)]
    for v in variables:
        basis = contrasts(3 + v)
        terms.append(Term(CODES[:, v], basis, 0, high, 0.2, frozenset([v])))
    return Logit(terms, slopes, STATES, WEIGHTS)


CASES = [(contrasts(3), 2), (score_contrasts(3), 1)]


@pytest.mark.parametrize(("slopes", "high"), CASES)
def test_the_compiled_sums_equal_those_in_python(slopes: FloatArray, high: int) -> None:
    compiled = pytest.importorskip("contextwise.evidence._logits", exc_type=ImportError)
    model = logit(slopes, high)
    theta = np.random.default_rng(1).normal(size=len(model.theta))
    asked = (*model.layout, theta, slopes, STATES, WEIGHTS)
    here, there = logits.evaluate_in_python(*asked), compiled.evaluate(*asked)
    assert np.allclose(here[0], there[0], rtol=1e-10)
    assert here[1] == pytest.approx(there[1])
    assert np.allclose(here[2], there[2], rtol=1e-10)
    asked_too = (*model.layout, here[0], slopes, WEIGHTS)
    assert np.allclose(logits.curvature_in_python(*asked_too), compiled.curvature(*asked_too))


@pytest.mark.parametrize(("slopes", "high"), CASES)
def test_gradient_and_hessian_are_those_of_the_objective(slopes: FloatArray, high: int) -> None:
    model = logit(slopes, high)
    theta = np.random.default_rng(2).normal(size=len(model.theta))
    gradient = model.evaluate(theta)[2]
    hessian = model.hessian(model.evaluate(theta)[0])
    for k, step in enumerate(1e-5 * np.eye(len(theta))):
        up, down = model.evaluate(theta + step), model.evaluate(theta - step)
        assert gradient[k] == pytest.approx((up[1] - down[1]) / 2e-5, rel=1e-4, abs=1e-4)
        assert np.allclose(-hessian[k], (up[2] - down[2]) / 2e-5, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize(("slopes", "high"), CASES)
def test_leaving_out_equals_fitting_again(slopes: FloatArray, high: int) -> None:
    model = logit(slopes, high)
    model.fit()
    for v in (0, 1):
        shares = model.without(model.parameters_of(frozenset([v])))
        assert np.allclose(shares, logit(slopes, high, (1 - v,)).fit(), atol=1e-3)


def test_a_fit_without_ridge_reproduces_the_margins() -> None:
    model = logit(contrasts(3), 2)
    model.ridge[:] = 1e-9
    shares = model.fit()
    for v in (0, 1):
        for code in range(3 + v):
            inside = CODES[:, v] == code
            counted: IntArray = np.bincount(STATES[inside], WEIGHTS[inside], minlength=3)
            assert np.allclose(WEIGHTS[inside] @ shares[inside], counted, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("count", [2, 3, 7])
def test_contrasts_are_orthogonal_and_sum_to_zero(count: int) -> None:
    for columns in (contrasts(count), score_contrasts(count)):
        assert np.allclose(columns.sum(axis=0), 0)
        product = columns.T @ columns
        assert np.allclose(product, np.diag(np.diag(product)))
    assert np.ptp(score_contrasts(count)[:, 0]) == pytest.approx(1.0)
