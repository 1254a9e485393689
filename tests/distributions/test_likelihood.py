"""KL-divergence and likelihoods: closed forms, brute force, laws, and accuracy of estimates."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise.distributions import (
    cmll,
    kl_divergence,
    marginal,
    mean_log_likelihood,
    mean_pseudo_log_likelihood,
    probabilities,
)
from contextwise.distributions.divergence import _exact_kl, _sampled
from contextwise.distributions.likelihood import _by_gibbs
from contextwise.distributions.sampling import Estimate
from contextwise.errors import DomainError, TooLargeError
from contextwise.models.domain import Domain
from contextwise.models.structure import LogLinear, Structure
from contextwise.testing import domains, log_linear_models
from drawn_rows import sample


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


def grid(rows: int, columns: int, rng: np.random.Generator) -> LogLinear:
    domain = Domain({f"g{r}{c}": 2 for r in range(rows) for c in range(columns)})
    edges = [
        f"g{r}{c}=1 & g{r + i}{c + j}=1"
        for r, c in product(range(rows), range(columns))
        for i, j in ((0, 1), (1, 0))
        if r + i < rows and c + j < columns
    ]
    structure = Structure(domain, [*edges, *(f"{name}=1" for name in domain.names)])
    return LogLinear(structure, rng.normal(0, 0.6, len(structure)))


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


def by_definition(model: LogLinear, rows: list[list[str]], groups: list[list[str]]) -> float:
    total = 0.0
    for row in rows:
        named = dict(zip(model.domain.names, row, strict=True))
        for group in groups:
            evidence = {name: s for name, s in named.items() if name not in group}
            for name in group:
                v = model.domain.position(name)
                own = marginal(model, name, context=evidence)
                total += np.log(own[model.domain.state_position(v, named[name])])
    return total / len(rows)


@given(log_linear_models(domains(min_variables=1, max_variables=4)), st.integers(1, 5), st.data())
def test_cmll_is_its_definition(model: LogLinear, count: int, data: st.DataObject) -> None:
    domain = model.domain
    rows = [[data.draw(st.sampled_from(own)) for own in domain.states] for _ in range(3)]
    parts = np.array_split(np.arange(len(domain)), min(count, len(domain)))
    groups = [[domain.names[v] for v in part] for part in parts]
    found = cmll(model, rows, groups=count)
    assert found.exact
    assert found.value == pytest.approx(by_definition(model, rows, groups), abs=1e-9)
    assert cmll(model, rows, groups=groups[::-1]).value == pytest.approx(found.value)
    alone = cmll(model, rows, groups=len(domain)).value
    assert alone == pytest.approx(mean_pseudo_log_likelihood(model, rows), abs=1e-9)


def test_cmll_by_gibbs_is_near_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    model = grid(3, 4, np.random.default_rng(3))
    rows = sample(model, 60, seed=1)
    exact = cmll(model, rows, groups=2)
    assert _by_gibbs(model, rows[:3], [0, 1], np.random.default_rng(1)).shape == (8, 3)
    monkeypatch.setattr("contextwise.distributions.likelihood.GROUP_STATES", 4)
    found = cmll(model, rows, groups=2, seed=5)
    assert not found.exact
    assert 0 < found.standard_error < 0.05
    assert abs(found.value - exact.value) < 4 * found.standard_error
    monkeypatch.setattr("contextwise.distributions.likelihood.SAMPLED_ROWS", 30)
    fewer = cmll(model, rows, groups=2, seed=5)
    assert "30 of 60 rows" in fewer.how
    assert abs(fewer.value - exact.value) < 4 * fewer.standard_error


def test_likelihood_of_rows() -> None:
    model = grid(2, 2, np.random.default_rng(1))
    rows = sample(model, 10, seed=1)
    expected = np.mean([np.log(probabilities(model)[tuple(row)]) for row in rows])
    assert mean_log_likelihood(model, rows) == pytest.approx(expected)
    for ask in (mean_log_likelihood, mean_pseudo_log_likelihood, cmll):
        with pytest.raises(DomainError, match="0 rows"):
            ask(model, np.zeros((0, 4), dtype=int))
    with pytest.raises(DomainError, match="every variable exactly once"):
        cmll(model, rows, groups=[["g00"]])
    with pytest.raises(DomainError, match="at least one group"):
        cmll(model, rows, groups=0)
    infinite = LogLinear(model.structure, np.full(len(model), np.inf))
    for ask in (mean_pseudo_log_likelihood, cmll):
        with pytest.raises(DomainError, match="finite weights"):
            ask(infinite, rows)
