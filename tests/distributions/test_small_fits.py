"""Fits of small structures: the optimum, and what the fit for models of any size finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import Structure
from contextwise.distributions import fit
from contextwise.distributions.inference import probabilities
from contextwise.distributions.small_fits import (
    basis_of,
    fit_table,
    is_small,
)
from contextwise.models.domain import Domain
from contextwise.testing import domains, random_structure, structures
from drawn_rows import some_positions


@given(structures(domains(min_variables=1)), st.integers(0, 99), st.sampled_from([0.0, 0.01]))
def test_the_gradient_vanishes(structure: Structure, seed: int, ridge: float) -> None:
    """Without a ridge, features are as frequent in the fit as in the rows, if rows have both."""
    cards = structure.domain.cardinalities
    shares = np.random.default_rng(seed).dirichlet(np.ones(int(np.prod(cards))))
    logs = fit_table(structure, shares, ridge)
    assert np.exp(logs).sum() == pytest.approx(1)
    basis = basis_of(structure)
    point = np.linalg.lstsq(basis, logs - logs.mean(), rcond=None)[0] if basis.size else 0.0
    gradient = basis.T @ (shares - np.exp(logs))
    if not ridge:
        assert np.abs(gradient).max(initial=0) < 1e-4
    assert np.isfinite(point).all()


def test_it_is_the_fit_by_maximum_likelihood() -> None:
    domain = Domain({"A": 2, "B": 3, "C": 2})
    structure = Structure(domain, ["A=1", "B=1", "B=2", "C=1", "A=1 & B=2", "B=1 & C=1"])
    rows = some_positions(domain, 300, 1)
    shares = np.zeros(domain.cardinalities)
    np.add.at(shares, tuple(rows.T), 1 / len(rows))
    fitted = fit(structure, rows, method="likelihood", l2=0.3).model
    table = np.exp(fit_table(structure, shares.ravel(), 0.3 / len(rows)))
    assert np.allclose(table, probabilities(fitted).ravel(), atol=2e-3)


def test_redundant_features_leave_the_basis() -> None:
    domain = Domain({"A": 2, "B": 2})
    assert basis_of(Structure(domain, ["A=0", "A=1"])).shape == (4, 2)
    assert basis_of(Structure(domain, ["A=0 & B=0", "A=0 & B=1", "A=0"])).shape == (4, 2)
    assert basis_of(Structure(domain)).shape == (4, 0)


def test_what_is_small() -> None:
    assert is_small(Domain.of_cardinalities([2] * 10))
    assert not is_small(Domain.of_cardinalities([2] * 11))


@pytest.mark.parametrize("seed", range(8))
def test_a_table_is_fitted_as_the_general_fit_does(seed: int) -> None:
    domain = Domain.of_cardinalities([2, 3, 1, 2])
    structure = random_structure(domain, features=5, set_literals=0.4, seed=seed)
    rows = np.random.default_rng(seed).integers(0, domain.cardinalities, (60, 4))
    places = np.ravel_multi_index(tuple(rows.T), domain.cardinalities)
    shares = np.bincount(places, minlength=12) / 60
    logs = fit_table(structure, shares, 0.3 / 60)
    other = fit(structure, rows, method="likelihood", l2=0.3, tolerance=1e-10).model
    assert np.exp(logs) == pytest.approx(probabilities(other).ravel(), abs=1e-5)
