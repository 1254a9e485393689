"""Many structures at once: the optimum, its independence of the batch, exact expectations."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise.distributions import fit, log_probability, probabilities
from contextwise.distributions.batch_fitting import Method, empirical, fit_many
from contextwise.distributions.conditionals import conditional_log_probabilities
from contextwise.distributions.inference import states
from contextwise.distributions.potentials import failures
from contextwise.errors import DomainError, TooLargeError
from contextwise.models.domain import Domain
from contextwise.models.structure import LogLinear, Structure
from contextwise.testing import domains, families

SIX = Domain({f"X{i}": 2 for i in range(6)})
PAIRWISE = [f"X0=1 & X{i}={a}" for i in range(1, 6) for a in (0, 1)] + [
    f"X0=0 & X{i}={a} & X{j}={b}"
    for i, j in combinations(range(1, 6), 2)
    for a, b in product((0, 1), (0, 1))
]


def six_variables(rng: np.random.Generator) -> LogLinear:
    structure = Structure(SIX, PAIRWISE)
    return LogLinear(structure, rng.normal(0, 1, len(structure)))


def random_rows(domain: Domain, count: int, rng: np.random.Generator) -> list[list[str]]:
    return [[own[rng.integers(len(own))] for own in domain.states] for _ in range(count)]


@given(families(2, domains(min_variables=1, max_variables=3)), st.integers(0, 99))
def test_likelihood_fits_match_expectations(structures: tuple[Structure, ...], seed: int) -> None:
    domain = structures[0].domain
    target = empirical(domain, random_rows(domain, 30, np.random.default_rng(seed)))
    fits = fit_many(structures, target, sizes=30, l2=0.5)
    assert fits.converged.all()
    for k, structure in enumerate(structures):
        design = failures(structure.features, states(domain))[1] == 0
        fitted = np.exp(fits.log_probabilities[k, 0])
        assert fitted.sum() == pytest.approx(1)
        pull = design @ (target - fitted) - 0.5 / 30 * fits.weights[k][0]
        assert np.abs(pull).max(initial=0) < 1e-4  # the gradient at the optimum
        rows = [[own[s] for own, s in zip(domain.states, r, strict=True)] for r in states(domain)]
        assert np.allclose(
            log_probability(fits.model(k, 0), rows), fits.log_probabilities[k, 0], atol=1e-8
        )


@pytest.mark.parametrize("method", ["likelihood", "pseudo-likelihood"])
def test_a_batch_and_a_single_fit_agree(method: Method) -> None:
    rng = np.random.default_rng(5)
    model = six_variables(rng)
    rows = states(SIX)[rng.choice(64, size=500, p=probabilities(model).ravel())]
    batch = fit_many(
        [model.structure],
        empirical(SIX, rows),
        sizes=500,
        method=method,
        l2=0.1,
    )
    single = fit(model.structure, rows, method=method, l2=0.1, tolerance=1e-9)
    assert batch.converged.all()
    assert np.allclose(batch.weights[0][0], single.model.weights, atol=2e-3)
    value = (
        log_probability(batch.model(0, 0), rows)
        if method == "likelihood"
        else conditional_log_probabilities(batch.model(0, 0), rows).sum(axis=1)
    )
    assert value.mean() == pytest.approx(single.value, abs=1e-6)


def test_a_result_does_not_depend_on_the_rest_of_the_batch() -> None:
    rng = np.random.default_rng(1)
    structures = [
        Structure(SIX, [PAIRWISE[k] for k in np.flatnonzero(rng.random(50) < 0.6)])
        for _ in range(6)
    ]
    targets = rng.dirichlet(np.ones(64), size=4)
    whole = fit_many(structures, targets, sizes=[50, 100, 1000, 10000])
    parts = fit_many(structures[2:3], targets[1:2], sizes=[100])
    assert np.array_equal(whole.weights[2][1], parts.weights[0][0])
    assert np.array_equal(whole.log_probabilities[2, 1], parts.log_probabilities[0, 0])


def test_supersets_fitted_to_exact_expectations_lose_nothing() -> None:
    rng = np.random.default_rng(2)
    model = six_variables(rng)
    truth = probabilities(model).ravel()
    supersets = [
        Structure(SIX, [*PAIRWISE, *extra])
        for extra in (
            [],
            ["X0=1 & X1=1 & X2=1"],
            [f"X0=1 & X{i}={a} & X{j}=1" for i, j in combinations(range(1, 6), 2) for a in (0, 1)],
        )
    ]
    methods: tuple[Method, ...] = ("likelihood", "pseudo-likelihood")
    for method in methods:
        fits = fit_many(supersets, truth, method=method)
        assert fits.converged.all()
        assert (fits.kl_from(0, truth) < 1e-8).all()
    missing = fit_many([Structure(SIX, PAIRWISE[4:])], truth)
    assert missing.kl_from(0, truth)[0] > 1e-3


def test_data_that_separate_have_a_finite_fit_with_a_penalty() -> None:
    structure = Structure({"A": 2, "B": 2}, ["A=1", "B=1", "A=1 & B=1"])
    target = empirical(structure.domain, [[0, 0]] * 10)
    fits = fit_many([structure], target, sizes=10)
    assert fits.converged.all()
    assert np.isfinite(fits.weights[0]).all()
    assert np.exp(fits.log_probabilities[0, 0, 0]) > 0.9


def test_kl_from_follows_the_conventions_for_zeros() -> None:
    structure = Structure({"A": 2}, ["A=1"])
    fits = fit_many([structure], [[0.5, 0.5]])
    assert fits.kl_from(0, np.array([1.0, 0.0]))[0] == pytest.approx(np.log(2))


def test_bad_batches() -> None:
    structure = Structure({"A": 2, "B": 2}, ["A=1"])
    with pytest.raises(DomainError, match="structures is empty"):
        fit_many([], [[1.0]])
    with pytest.raises(DomainError, match="must have 4 states"):
        fit_many([structure], [[0.5, 0.5]])
    with pytest.raises(DomainError, match="sum to 1"):
        fit_many([structure], [[0.5, 0.5, 0.5, 0.5]])
    with pytest.raises(DomainError, match="the same domain"):
        fit_many([structure, Structure({"A": 2}, [])], [[0.25] * 4])
    with pytest.raises(DomainError, match="sizes must be > 0"):
        fit_many([structure], [[0.25] * 4], sizes=0)
    with pytest.raises(DomainError, match="0 rows"):
        empirical(structure.domain, [])
    large = Structure(Domain.of_cardinalities([2] * 11), [])
    with pytest.raises(TooLargeError, match="at most 1,024"):
        fit_many([large], [[1.0]])
