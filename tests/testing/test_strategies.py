"""Strategies: what they draw is valid, within their limits, and reaches the corners."""

from __future__ import annotations

import numpy as np
from hypothesis import find, given
from hypothesis import strategies as st

from contextwise import Domain, LogLinear, Structure
from contextwise.testing import domains, families, log_linear_models, rows, structures
from features_invariant import check_features


@given(domain=domains(min_variables=2, max_variables=3, max_states=4))
def test_domains_keep_their_limits(domain: Domain) -> None:
    assert 2 <= len(domain) <= 3
    assert all(1 <= cardinality <= 4 for cardinality in domain.cardinalities)


@given(structure=structures())
def test_structures_have_valid_features(structure: Structure) -> None:
    check_features(structure.features)


@given(models=families(3, with_claims=True))
def test_a_family_has_one_domain(models: tuple[Structure, ...]) -> None:
    assert len(models) == 3
    assert {model.domain for model in models} == {models[0].domain}


def test_families_reach_claims_and_features_of_sets_of_values() -> None:
    find(families(1, with_claims=True), lambda models: models[0].given_by_claims)
    find(structures(), lambda s: any("|" in s.feature_text(f) for f in range(len(s))))


@given(model=log_linear_models(max_features=2))
def test_models_have_finite_weights(model: LogLinear) -> None:
    assert len(model) <= 2
    assert np.isfinite(model.weights).all()


@given(data=st.data())
def test_rows_hold_states_of_the_domain(data: st.DataObject) -> None:
    domain = data.draw(domains())
    drawn = data.draw(rows(domain, max_rows=5))
    assert len(drawn) <= 5
    for row in drawn:
        assert all(label in states for label, states in zip(row, domain.states, strict=True))
