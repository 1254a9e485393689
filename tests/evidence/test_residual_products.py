"""Sums of residual products: the compiled sums and draws, p-values, and the interval of V."""

from __future__ import annotations

import numpy as np
import pytest

from contextwise.evidence import logits, residual_products, variable_fits
from contextwise.evidence.partial_v import limits
from contextwise.evidence.residual_products import gamma_tail, rao_scott, uniforms

COMPILED = "contextwise.evidence._logits"

RNG = np.random.default_rng(0)

CODES = np.stack([RNG.integers(3, size=60), RNG.integers(2, size=60)], axis=1).astype(np.int64)

STARTS = np.array([0, 3])

VALUES = RNG.normal(size=(60, 2))


def test_the_compiled_sums_by_code_equal_those_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = pytest.importorskip(COMPILED, exc_type=ImportError)
    cross = variable_fits.cross_sums_in_python(CODES, STARTS, 5, VALUES)
    assert np.allclose(cross, compiled.cross_sums(CODES, STARTS, 5, VALUES))
    by_code = compiled.sums_by_code(CODES, STARTS, 5, VALUES)
    monkeypatch.setattr(logits, "KERNEL", None)
    assert np.allclose(by_code, logits.sums_by_code(CODES, STARTS, 5, VALUES))


@pytest.mark.parametrize("permutes", [False, True])
def test_the_compiled_draws_equal_those_in_python(permutes: bool) -> None:
    compiled = pytest.importorskip(COMPILED, exc_type=ImportError)
    cumulated = np.cumsum(np.tile([0.2, 0.5, 0.3], (60, 1)), axis=1)
    states = CODES[:, 0].astype(np.int64) if permutes else np.zeros(0, dtype=np.int64)
    asked = VALUES, cumulated, states, 7, 3, 5
    here = residual_products.drawn_sums_in_python(*asked)
    assert np.allclose(here, compiled.drawn_sums(*asked))
    assert np.allclose(here.sum(axis=1), VALUES.sum(axis=0))


def test_the_stream_of_numbers_is_uniform() -> None:
    u = uniforms(3, 0, 20_000)
    assert np.allclose(np.histogram(u, 10, (0, 1))[0], 2000, atol=250)
    assert np.array_equal(u[500:510], uniforms(3, 500, 10))


def test_tails_of_known_distributions() -> None:
    from scipy.stats import chi2

    draws = np.random.default_rng(0).chisquare(4, size=200_000)
    assert gamma_tail(draws, 25.0) == pytest.approx(chi2.sf(25.0, 4), rel=0.1)
    p, design = rao_scott(9.0, np.eye(3), 10**7)
    assert p == pytest.approx(chi2.sf(9.0, 3), rel=1e-3)
    assert design == pytest.approx(1.0)
    assert rao_scott(18.0, 2 * np.eye(3), 10**7)[0] == pytest.approx(p)
    assert rao_scott(9.0, np.eye(3), 10)[0] > p


@pytest.mark.parametrize("freedom", [1, 2, 9])
def test_the_limits_are_those_of_noncentral_chi_square(freedom: int) -> None:
    from scipy.stats import ncx2

    low, high = limits(40.0, freedom, 1.0)
    if freedom > 1:
        assert ncx2.sf(40.0, freedom, low) == pytest.approx(0.025, abs=0.002)
        assert ncx2.cdf(40.0, freedom, high) == pytest.approx(0.025, abs=0.002)
    assert limits(40.0, freedom, 2.0)[0] < low < high < limits(40.0, freedom, 2.0)[1]
    assert limits(0.1, freedom, 1.0)[0] == 0
