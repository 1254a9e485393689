"""KL-divergence: its definition, the chain rule, zeros, and the accuracy of estimates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise.distributions import (
    kl_divergence,
    marginal,
    probabilities,
)
from contextwise.distributions.divergence import _exact_kl, _sampled
from contextwise.distributions.sampling import Estimate
from contextwise.errors import DomainError, TooLargeError
from contextwise.models.structure import LogLinear, Structure
from contextwise.testing import domains, log_linear_models
from drawn_models import grid


@st.composite
def pairs_of_models(draw: st.DrawFn) -> tuple[LogLinear, LogLinear]:
    domain = draw(domains(min_variables=1))
    return draw(log_linear_models(domain)), draw(log_linear_models(domain))


@given(pairs_of_models())
def test_the_divergence_is_its_definition(models: tuple[LogLinear, LogLinear]) -> None:
    p, q = models
    a, b = probabilities(p).ravel(), probabilities(q).ravel()
    found = kl_divergence(p, q)
    assert found.value == pytest.approx((a * np.log(a / b)).sum(), abs=1e-9)
    assert found.exact
    assert found.value >= 0
    assert kl_divergence(p, p).value == pytest.approx(0, abs=1e-12)
    # Pinsker's inequality
    assert np.abs(a - b).sum() / 2 <= np.sqrt(found.value / 2) + 1e-9


@given(pairs_of_models())
def test_the_chain_rule(models: tuple[LogLinear, LogLinear]) -> None:
    p, q = models
    name = p.domain.names[0]
    own, other = marginal(p, name), marginal(q, name)
    total = float((own * np.log(own / other)).sum())
    for k, state in enumerate(p.domain.states[0]):
        rest = list(p.domain.names[1:])
        a = marginal(p, rest, context={name: state}).ravel()
        b = marginal(q, rest, context={name: state}).ravel()
        total += own[k] * (a * np.log(a / b)).sum()
    assert kl_divergence(p, q).value == pytest.approx(total, abs=1e-9)


def test_large_models_are_exact_by_elimination_and_samples_agree() -> None:
    rng = np.random.default_rng(1)
    p, q = grid(5, 6, rng), grid(5, 6, rng)
    exact = kl_divergence(p, q)
    assert exact.how == "exact by elimination"
    for first, second in ((p, q), (q, p)):
        truth = kl_divergence(first, second, seed=3)
        estimate = _sampled(first, second, np.random.default_rng(3))
        assert 0 < estimate.standard_error < 0.1 * truth.value
        assert abs(estimate.value - truth.value) < 4 * estimate.standard_error
    wide = grid(26, 26, rng)
    with pytest.raises(TooLargeError, match="exact inference needs tables"):
        kl_divergence(wide, wide)


def test_elimination_and_enumeration_agree_to_the_ninth_place() -> None:
    rng = np.random.default_rng(2)
    p, q = grid(3, 4, rng), grid(3, 4, rng)
    a, b = probabilities(p).ravel(), probabilities(q).ravel()
    by_elimination = _exact_kl(p, q)
    assert by_elimination is not None
    assert by_elimination.value == pytest.approx((a * np.log(a / b)).sum(), abs=1e-9)


def test_models_are_aligned_by_name() -> None:
    p = LogLinear(Structure({"A": 2, "B": ["x", "y"]}, ["A=1 & B=y"]), np.array([1.0]))
    q = LogLinear(Structure({"B": ["y", "x"], "A": 2}, ["A=1 & B=y"]), np.array([1.0]))
    assert kl_divergence(p, q).value == pytest.approx(0, abs=1e-12)
    with pytest.raises(DomainError, match="different variables"):
        kl_divergence(p, LogLinear(Structure({"A": 2}, []), np.zeros(0)))


def test_zero_probabilities_follow_the_conventions() -> None:
    structure = Structure({"A": 2, "B": 2}, ["A=1 & B=1"])
    narrow = LogLinear(structure, np.array([-np.inf]))
    wide = LogLinear(structure, np.array([0.0]))
    assert kl_divergence(narrow, wide).value == pytest.approx(np.log(4 / 3))
    assert kl_divergence(wide, narrow).value == np.inf
    sampled = _sampled(wide, narrow, np.random.default_rng(1))
    assert sampled == Estimate(np.inf, 0.0, sampled.how)
    nothing = LogLinear(Structure({"A": 2}, ["A=0", "A=1"]), np.full(2, -np.inf))
    with pytest.raises(DomainError, match="exclude every state"):
        kl_divergence(nothing, nothing)
