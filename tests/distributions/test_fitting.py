"""Fitting: gradients, optimum, iterative proportional fitting, consistency, bad input."""

import csv
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from contextwise.data.rows import as_data
from contextwise.distributions import (
    fit,
    log_probability,
    probabilities,
)
from contextwise.distributions.conditionals import Conditionals, log_conditionals_of
from contextwise.distributions.fitting import ConvergenceWarning, Method
from contextwise.distributions.inference import exact_inference, states
from contextwise.distributions.potentials import distinct_rows
from contextwise.errors import ContextwiseError, DomainError, TooLargeError
from contextwise.models.domain import Domain
from contextwise.models.structure import LogLinear, Structure
from contextwise.support.arrays import FloatArray
from drawn_rows import sample, some_positions

METHODS: tuple[Method, ...] = ("likelihood", "pseudo-likelihood")
HAIR_EYE_COLOR = Path(__file__).parents[1] / "data" / "hair-eye-color.csv"


@pytest.mark.parametrize("method", METHODS)
def test_the_optimum_cannot_be_improved(method: Method) -> None:
    domain = Domain({"A": 2, "B": 3, "C": 2})
    structure = Structure(domain, ["A=1", "A=1 & B!=0", "B=2 & C=1", "A=0 & B=1 & C=0", "C=1"])
    rows = some_positions(domain, 60, 3)
    found = fit(structure, rows, method=method, l2=0.5, tolerance=1e-9)
    assert found.converged
    assert found.rows == 60

    def objective(weights: FloatArray) -> float:
        model = LogLinear(structure, weights)
        logs = (
            log_probability(model, rows)
            if method == "likelihood"
            else log_conditionals_of(model, as_data(rows, model.domain).rows).sum(axis=1)
        )
        return float(logs.sum()) - 0.25 * float(weights @ weights)

    best = objective(found.model.weights)
    assert found.value * 60 - 0.25 * float(found.model.weights @ found.model.weights) == (
        pytest.approx(best)
    )
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert objective(found.model.weights + rng.normal(0, 0.01, len(structure))) < best


def test_fitted_expectations_are_those_of_the_data() -> None:
    domain = Domain.of_cardinalities([2] * 30)  # far too many states to visit
    structure = Structure(domain, [f"v{i}=1 & v{i + 1}=1" for i in range(29)] + ["v0=1"])
    rows = some_positions(domain, 500, 1)
    found = fit(structure, rows, method="likelihood", l2=0, tolerance=1e-9)
    seen = [(rows[:, i] & rows[:, i + 1]).mean() for i in range(29)] + [rows[:, 0].mean()]
    assert np.allclose(exact_inference(found.model).expectations(), seen, atol=1e-6)


def hair_eye_color() -> tuple[Domain, FloatArray]:
    with HAIR_EYE_COLOR.open() as file:
        cells = list(csv.DictReader(file))
    names = ("Hair", "Eye", "Sex")
    domain = Domain({name: list(dict.fromkeys(cell[name] for cell in cells)) for name in names})
    table = np.zeros(domain.cardinalities)
    for cell in cells:
        place = tuple(domain.state_position(v, cell[name]) for v, name in enumerate(names))
        table[place] = int(cell["Freq"])
    return domain, table


def proportional_fitting(table: FloatArray, margins: list[tuple[int, ...]]) -> FloatArray:
    """Iterative proportional fitting, the textbook's loop."""
    fitted = np.full(table.shape, table.sum() / table.size)
    for _ in range(200):
        for margin in margins:
            others = tuple(k for k in range(table.ndim) if k not in margin)
            wanted = table.sum(axis=others, keepdims=True)
            fitted *= wanted / fitted.sum(axis=others, keepdims=True)
    return fitted


@pytest.mark.parametrize(
    ("margins", "deviance"),
    [([(0,), (1,), (2,)], 166.30), ([(0, 1), (2,)], 19.86), ([(0, 1), (0, 2), (1, 2)], 6.76)],
)
def test_hierarchical_models_are_what_proportional_fitting_gives(
    margins: list[tuple[int, ...]], deviance: float
) -> None:
    domain, table = hair_eye_color()
    features = [
        {domain.names[v]: domain.states[v][k] for v, k in zip(margin, cell, strict=True)}
        for margin in margins
        for cell in product(*(range(domain.cardinalities[v]) for v in margin))
    ]
    rows = np.repeat(states(domain), table.ravel().astype(int), axis=0)
    labels = [[own[k] for own, k in zip(domain.states, row, strict=True)] for row in rows]
    found = fit(Structure(domain, features), labels, method="likelihood", l2=0, tolerance=1e-9)
    fitted = probabilities(found.model) * table.sum()
    expected = proportional_fitting(table, margins)
    assert np.allclose(fitted, expected, rtol=1e-4)
    assert 2 * (table * np.log(table / expected)).sum() == pytest.approx(deviance, abs=0.01)
    assert 2 * (table * np.log(table / fitted)).sum() == pytest.approx(deviance, abs=0.01)


@pytest.mark.parametrize("method", METHODS)
def test_weights_are_recovered_as_the_sample_grows(method: Method) -> None:
    structure = Structure(
        {"A": 2, "B": 2, "C": 3}, ["A=1", "B=1", "C=1", "C=2", "A=1 & B=1", "B=1 & C=2"]
    )
    true = LogLinear(structure, np.array([0.5, -0.3, 0.2, -0.5, 1.2, -1.0]))
    errors = []
    for count in (200, 5000, 100_000):
        rows = sample(true, count, seed=11)
        found = fit(structure, rows, method=method)
        errors.append(np.abs(found.model.weights - true.weights).max())
    assert errors[2] < 0.05
    assert errors[2] < errors[0]


@pytest.mark.parametrize("method", METHODS)
def test_a_model_in_place_of_data_gives_its_own_distribution(method: Method) -> None:
    rng = np.random.default_rng(4)
    structure = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "B=0 & C=1", "A=0", "B=1"])
    model = LogLinear(structure, rng.normal(0, 1, 4))
    found = fit(structure, model, method=method, tolerance=1e-9)
    assert np.allclose(probabilities(found.model), probabilities(model), atol=1e-6)
    with pytest.raises(DomainError, match="must have the same domain"):
        fit(Structure({"A": 2}, ["A=1"]), model)


def test_an_l1_penalty_leaves_weights_at_exactly_zero() -> None:
    domain = Domain({f"X{i}": 2 for i in range(5)})
    structure = Structure(domain, [f"X{i}=1 & X{j}=1" for i in range(5) for j in range(i)])
    true = LogLinear(Structure(domain, ["X0=1 & X1=1"]), np.array([2.0]))
    rows = sample(true, 2000, seed=1)
    found = fit(structure, rows, l1=50.0, l2=0, tolerance=1e-9)
    assert found.converged
    weights = found.weights
    assert 0 < np.count_nonzero(weights) == len(found.model) < len(structure)
    distinct, counts = distinct_rows(as_data(rows, domain).rows)
    loss = Conditionals.of(structure.features, distinct).loss(counts.astype(float))
    pull = -loss.at(weights).gradient
    # the pull is at most l1 on a zero weight and exactly l1 on any other
    assert (np.abs(pull[weights == 0]) <= 50.0 + 1e-3).all()
    assert np.allclose(pull[weights != 0], 50.0 * np.sign(weights[weights != 0]), atol=1e-3)
    assert not len(fit(structure, rows, l1=1e6).model)


def test_redundant_features_share_and_unseen_ones_stay_finite() -> None:
    domain = Domain({"A": 2, "B": 2})
    table = Structure(domain, ["A=0 & B=0", "A=0 & B=1", "A=1 & B=0", "A=1 & B=1"])
    rows = [[0, 0], [0, 1], [0, 1], [1, 1]]
    for method in METHODS:
        found = fit(table, rows, method=method)
        assert found.converged
        assert np.isfinite(found.model.weights).all()
        assert abs(found.model.weights.sum()) < 1e-3  # nothing along the direction that is free
        assert found.unseen.tolist() == [2]
    constant = fit(Structure(domain, ["", "A=1"]), rows)
    assert constant.model.weights[0] == 0
    always = fit(Structure(domain, ["A=1"]), [[1, 0], [1, 1]])
    assert 1 < always.model.weights[0] < 10


def test_frames_are_matched_by_name() -> None:
    structure = Structure({"A": ["no", "yes"], "B": 2}, ["A=yes & B=1", "A=yes"])
    frame = pd.DataFrame({"B": [1, 0, 1, 0], "A": ["yes", "no", "yes", "yes"]})
    by_rows = fit(structure, [["yes", 1], ["no", 0], ["yes", 1], ["yes", 0]])
    assert np.array_equal(fit(structure, frame).model.weights, by_rows.model.weights)
    frame.loc[2, "A"] = None
    with pytest.raises(DomainError, match="row 2 of the data: the value of 'A' is missing"):
        fit(structure, frame)


def test_bad_data() -> None:
    structure = Structure({"A": 2, "B": 2}, ["A=1 & B=1"])
    with pytest.raises(DomainError, match="0 rows"):
        fit(structure, np.zeros((0, 2), dtype=int))
    with pytest.raises(DomainError, match="has no state '2'"):
        fit(structure, [[0, 2]])
    with pytest.raises(DomainError, match="1 cells for 2 variables"):
        fit(structure, [[0]])
    for wrong in (-1, np.nan, np.inf):
        with pytest.raises(DomainError, match="penalties must be finite and >= 0"):
            fit(structure, [[0, 1]], l2=wrong)
        with pytest.raises(DomainError, match="penalties must be finite and >= 0"):
            fit(structure, [[0, 1]], l1=wrong)
    with pytest.raises(DomainError, match="tolerance must be > 0, got -1"):
        fit(structure, [[0, 1]], tolerance=-1)
    with pytest.raises(ContextwiseError, match="needs the method 'pseudo-likelihood'"):
        fit(structure, [[0, 1]], method="likelihood", l1=1.0)
    with pytest.raises(ContextwiseError, match="unknown method"):
        fit(structure, [[0, 1]], method="magic")  # type: ignore[arg-type]
    wide = Domain.of_cardinalities([2] * 40)
    dense = Structure(wide, [f"v{i}=1 & v{j}=1" for i in range(40) for j in range(i)])
    with pytest.raises(TooLargeError, match="pseudo-likelihood"):
        fit(dense, np.zeros((1, 40), dtype=int), method="likelihood")
    assert fit(Structure({"A": 2}, []), [[0], [1]]).value == pytest.approx(np.log(0.5))


def test_a_fit_that_ends_early_says_so() -> None:
    structure = Structure({"A": 2, "B": 2}, ["A=1", "B=1", "A=1 & B=1"])
    with pytest.warns(ConvergenceWarning, match="not converged after 1 iter"):
        found = fit(structure, [[0, 0], [1, 1], [1, 0]], max_iterations=1)
    assert not found.converged
    assert "NOT converged" in repr(found)
