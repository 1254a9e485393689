"""KL-divergence and likelihoods: closed forms, brute force, laws, and accuracy of estimates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise.distributions import (
    cmll,
    marginal,
    mean_log_likelihood,
    mean_pseudo_log_likelihood,
    probabilities,
)
from contextwise.distributions.likelihood import _by_gibbs
from contextwise.errors import DomainError
from contextwise.models.structure import LogLinear
from contextwise.testing import domains, log_linear_models
from drawn_models import grid
from drawn_rows import sample


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
