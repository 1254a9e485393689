"""Sparse fits: optimality conditions, bounds that hold, a slow generic solver, compiled twins."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, sparse

from contextwise.distributions import conditionals, fit, logistic_loss, proximal_newton
from contextwise.distributions.conditionals import Conditionals
from contextwise.distributions.logistic_loss import LogisticLoss, PackedMatrix, gram
from contextwise.distributions.proximal_newton import (
    Penalty,
    curvatures,
    descend,
    descend_in_python,
    minimise,
)
from contextwise.models.domain import Domain
from contextwise.models.structure import LogLinear, Structure
from contextwise.support.arrays import FloatArray, IntArray
from contextwise.testing import domains, log_linear_models

compiled = pytest.mark.skipif(
    not proximal_newton.available(), reason="the compiled twin was not built"
)


def some_rows(domain: Domain, count: int, seed: int) -> IntArray:
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(c, size=count) for c in domain.cardinalities], axis=1)


def labels(domain: Domain, rows: IntArray) -> list[list[str]]:
    return [[own[k] for own, k in zip(domain.states, row, strict=True)] for row in rows]


def brute_loss(structure: Structure, rows: IntArray) -> Callable[[FloatArray], float]:
    """Minus the pseudo-log-likelihood, from its definition."""
    literals = structure.features.literals()
    cards = structure.domain.cardinalities

    def potential(weights: FloatArray, row: list[int]) -> float:
        holds = [all(s >> row[v] & 1 for v, s in feature) for feature in literals]
        return float(weights @ np.array(holds, dtype=float)) if literals else 0.0

    def loss(weights: FloatArray) -> float:
        total = 0.0
        for row in rows.tolist():
            for v, card in enumerate(cards):
                every = [potential(weights, [*row[:v], k, *row[v + 1 :]]) for k in range(card)]
                total += float(np.logaddexp.reduce(every)) - every[row[v]]
        return total

    return loss


def generic_optimum(loss: Callable[[FloatArray], float], size: int, l1: float, l2: float) -> float:
    """The smallest objective by SciPy, on positive and negative parts, with no gradient given."""
    if not size:
        return loss(np.zeros(0))

    def objective(x: FloatArray) -> float:
        w = x[:size] - x[size:]
        return loss(w) + l1 * float(x.sum()) + l2 / 2 * float(w @ w)

    found = optimize.minimize(
        objective,
        np.zeros(2 * size),
        method="L-BFGS-B",
        bounds=[(0, None)] * (2 * size),
        options={"maxiter": 500, "maxfun": 100_000, "ftol": 1e-13, "gtol": 1e-9},
    )
    return float(found.fun)


small_models = log_linear_models(domains(min_variables=1, max_variables=3), max_features=5)


@settings(max_examples=15)
@given(small_models, st.integers(0, 99), st.sampled_from([0.3, 1.0, 4.0]), st.sampled_from([0, 1]))
def test_a_generic_solver_finds_nothing_better(
    model: LogLinear, seed: int, l1: float, l2: float
) -> None:
    rows = some_rows(model.domain, 6, seed)
    found = fit(model, labels(model.domain, rows), l1=l1, l2=l2, tolerance=1e-7)
    assert found.converged
    assert found.gap <= 1e-7
    loss = brute_loss(model.structure, rows)
    price = l1 * np.abs(found.weights).sum() + l2 / 2 * (found.weights @ found.weights)
    assert found.objective == pytest.approx(loss(found.weights) + price, rel=1e-9)
    best = generic_optimum(loss, len(model), l1, l2)
    assert found.objective <= best * (1 + 1e-6)
    assert best >= found.objective * (1 - found.gap) - 1e-9


@given(log_linear_models(domains(min_variables=1)), st.integers(0, 99), st.floats(0.01, 20))
def test_the_conditions_of_an_optimum_hold(model: LogLinear, seed: int, l1: float) -> None:
    rows = some_rows(model.domain, 30, seed)
    found = fit(model, labels(model.domain, rows), l1=l1, l2=0.5, tolerance=1e-9)
    loss = Conditionals.of(model.structure.features, rows).loss(np.ones(len(rows)))
    weights = found.weights
    pull = -loss.at(weights).gradient - 0.5 * weights
    # the pull is at most l1 on a zero weight and exactly l1 on any other
    assert (np.abs(pull[weights == 0]) <= l1 + 1e-3).all()
    assert np.allclose(pull[weights != 0], l1 * np.sign(weights[weights != 0]), atol=1e-3)
    assert found.model == LogLinear(model.structure, weights).without_zero_weights()


@given(log_linear_models(domains(min_variables=1)), st.integers(0, 99), st.floats(0.01, 20))
def test_the_bound_holds_at_any_weights(model: LogLinear, seed: int, l1: float) -> None:
    rows = some_rows(model.domain, 10, seed)
    loss = Conditionals.of(model.structure.features, rows).loss(np.ones(len(rows)))
    for ridge in (0.0, 0.7):
        penalty = Penalty.l1(l1, len(model), ridge)
        best = minimise(loss, penalty, tolerance=1e-8)
        now = loss.at(model.weights)
        bound = penalty.lower_bound(model.weights, now.gradient, now.entropy)
        assert bound <= best.objective * (1 + 1e-9) + 1e-9
        assert best.converged


def test_a_high_price_leaves_nothing_and_no_price_is_no_penalty() -> None:
    domain = Domain({"A": 2, "B": 3, "C": 2, "D": 1})
    structure = Structure(domain, ["A=1", "A=1 & B!=0", "B=2 & C=1", "A=0 & B=1 & C=0", "C=1"])
    rows = some_rows(domain, 200, 3)
    nothing = fit(structure, rows, l1=1e4, l2=0)
    assert nothing.converged
    assert not nothing.weights.any()
    assert nothing.objective == pytest.approx(200 * np.log(2 * 3 * 2))
    plain = fit(structure, rows, l2=0, tolerance=1e-9)
    assert plain.gap == np.inf
    assert "gap" not in repr(plain)
    cheap = fit(structure, rows, l1=1e-7, l2=0, tolerance=1e-10)
    assert np.allclose(cheap.weights, plain.weights, atol=1e-4)
    # just below the price at which the first weight appears, and just above
    loss = Conditionals.of(structure.features, rows).loss(np.ones(200))
    first = float(np.abs(loss.at(np.zeros(5)).gradient).max())
    assert len(fit(structure, rows, l1=first * 1.01, l2=0, tolerance=1e-9).model) == 0
    assert len(fit(structure, rows, l1=first * 0.99, l2=0, tolerance=1e-9).model) == 1


def test_the_likelihood_states_a_gap_too() -> None:
    domain = Domain({"A": 2, "B": 3, "C": 2})
    structure = Structure(domain, ["A=1", "A=1 & B!=0", "B=2 & C=1", "A=0 & B=1 & C=0", "C=1"])
    rows = some_rows(domain, 200, 3)
    found = fit(structure, rows, method="likelihood", l2=3.0, tolerance=1e-10)
    assert found.converged
    assert 0 <= found.gap < 1e-5
    better = fit(structure, rows, method="likelihood", l2=3.0, tolerance=1e-12)
    assert better.objective >= found.objective * (1 - found.gap) - 1e-9


def quadratic(rng: np.random.Generator, size: int) -> Any:
    matrix: Any = sparse.random_array((3 * size, size), density=0.4, rng=rng, format="csr")
    return gram(matrix, matrix.T.tocsr(), rng.random(3 * size), np.arange(size))


@compiled
@given(st.integers(0, 10_000), st.integers(1, 12), st.sampled_from([1, 3, 40]))
def test_both_descents_are_one(seed: int, size: int, passes: int) -> None:
    rng = np.random.default_rng(seed)
    model = quadratic(rng, size)
    starts = np.unique(np.concatenate([[0, size], rng.integers(0, size + 1, size // 2)]))
    prices = rng.choice([0.0, 0.1, 1.0], len(starts) - 1)
    given_point = rng.normal(0, 1, size) * (rng.random(size) < 0.5)
    pull = rng.normal(0, 1, size)
    fast = descend(
        model, given_point, pull, starts=starts, prices=prices, passes=passes, tolerance=1e-9
    )
    slow = descend_in_python(
        model.indptr,
        model.indices,
        model.data,
        starts,
        curvatures(model, starts),
        prices,
        given_point,
        pull,
        passes,
        1e-9,
    )
    assert np.allclose(fast, slow, atol=1e-9)
    assert ((fast == 0) == (slow == 0)).all()


def test_a_fit_without_the_compiled_twin_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = Domain({"A": 2, "B": 3, "C": 2})
    structure = Structure(domain, ["A=1", "A=1 & B!=0", "B=2 & C=1", "A=0 & B=1 & C=0", "C=1"])
    rows = some_rows(domain, 60, 3)
    fast = fit(structure, rows, l1=2.0)
    monkeypatch.setattr(proximal_newton, "_descent", None)
    monkeypatch.setattr(logistic_loss, "_descent", None)
    slow = fit(structure, rows, l1=2.0)
    assert np.allclose(fast.weights, slow.weights, atol=1e-6)


def test_a_fit_with_packed_bits_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    structure = Structure(
        Domain.of_cardinalities([2] * 4), ["v0=1", "v0=1 & v1=0", "v1=1 & v2=1 & v3=0", "v3=1"]
    )
    rows = some_rows(structure.domain, 60, 3)
    fits = [fit(structure, rows, l1=2.0, tolerance=1e-8)]
    monkeypatch.setattr(conditionals, "MANY", 0)
    monkeypatch.setattr(conditionals, "DENSE", 0)
    packed = conditionals.Conditionals.of(structure.features, rows).options.matrix
    assert isinstance(packed, PackedMatrix)
    fits.append(fit(structure, rows, l1=2.0, tolerance=1e-8))
    assert np.allclose(fits[0].weights, fits[1].weights, atol=1e-5)


def group_problem(seed: int) -> tuple[LogisticLoss, IntArray]:
    domain = Domain({"A": 3, "B": 3, "C": 2, "D": 4})
    features = [
        {a: i, b: j}
        for a, b in (("A", "B"), ("B", "C"), ("C", "D"), ("A", "D"))
        for i in range(1, domain.cardinalities[domain.position(a)])
        for j in range(1, domain.cardinalities[domain.position(b)])
    ]
    rows = some_rows(domain, 200, seed)
    rows[:, 1] = np.where(rows[:, 3] < 2, rows[:, 0], rows[:, 1])  # A and B agree, mostly
    loss = Conditionals.of(Structure(domain, features).features, rows).loss(np.ones(len(rows)))
    return loss, np.array([0, 4, 6, 9, 15])


@pytest.mark.parametrize("price", [0.5, 4.0, 9.0])
def test_groups_come_and_go_as_one(price: float) -> None:
    loss, starts = group_problem(1)
    penalty = Penalty(price * np.sqrt(np.diff(starts)), starts)
    found = minimise(loss, penalty, tolerance=1e-9)
    assert found.converged
    slope = penalty.slope(found.weights, loss.at(found.weights).gradient)
    assert np.abs(slope).max() < 1e-3
    alive = [found.weights[a:b].astype(bool) for a, b in pairwise(starts)]
    assert all(own.all() or not own.any() for own in alive)
    assert alive[0].all() or price > 4

    def objective(w: FloatArray) -> float:
        return loss.at(w).value + penalty.value(w)

    rng = np.random.default_rng(0)
    for _ in range(50):
        assert objective(found.weights + rng.normal(0, 0.02, 15)) >= found.objective


def test_groups_of_one_are_the_l1_penalty() -> None:
    loss, _ = group_problem(2)
    single = minimise(loss, Penalty.l1(3.0, 15), tolerance=1e-9)
    assert single.converged
    slow = Penalty(np.full(15, 3.0), np.arange(16))
    assert np.allclose(minimise(loss, slow, tolerance=1e-9).weights, single.weights)


def test_an_unpaid_group_is_at_its_own_optimum() -> None:
    loss, starts = group_problem(3)
    prices = np.array([0.0, 5.0, 5.0, 5.0])
    found = minimise(loss, Penalty(prices, starts), tolerance=1e-8)
    assert found.converged
    assert np.abs(loss.at(found.weights).gradient[:4]).max() < 1e-3


def test_a_start_near_the_optimum_saves_steps() -> None:
    loss, _ = group_problem(4)
    cold = minimise(loss, Penalty.l1(2.0, 15), tolerance=1e-8)
    warm = minimise(loss, Penalty.l1(2.1, 15), tolerance=1e-8, start=cold.weights)
    again = minimise(loss, Penalty.l1(2.0, 15), tolerance=1e-8, start=cold.weights)
    assert again.iterations == 0
    assert warm.iterations <= cold.iterations
    assert warm.converged


def test_many_features_come_in_by_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    loss, _ = group_problem(5)
    whole = minimise(loss, Penalty.l1(1.0, 15), tolerance=1e-9)
    monkeypatch.setattr(proximal_newton, "FEWEST", 1)
    few = minimise(loss, Penalty.l1(1.0, 15), tolerance=1e-9)
    assert np.allclose(whole.weights, few.weights, atol=1e-4)


def test_a_step_too_far_is_not_the_end() -> None:
    structure = Structure({"A": 2, "B": 65}, ["A=1", "B=64"])
    found = fit(structure, [[1, 64]], l1=0.01, l2=0)
    assert found.converged
    assert np.allclose(found.weights, [np.log(99), np.log(99 * 64)], atol=0.01)


def test_no_passes_of_no_size() -> None:
    empty = fit(Structure({"A": 2, "B": 1}, []), [[0, 0], [1, 0]], l1=1.0)
    assert empty.converged
    assert empty.objective == pytest.approx(2 * np.log(2))
    model = sparse.csr_array(np.eye(2))
    starts = np.arange(3)
    found = descend(
        model,
        np.zeros(2),
        np.array([-3.0, 0.5]),
        starts=starts,
        prices=np.ones(2),
        passes=9,
        tolerance=1e-9,
    )
    assert found.tolist() == [2.0, 0.0]
