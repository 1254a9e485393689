"""Goodness of fit: dimensions against explicit ranks, and the numbers of R's loglm."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings

import contextwise as cw
from contextwise.distributions.fitting import MOST_FEATURES, dimension, goodness_of_fit
from contextwise.errors import DomainError
from contextwise.learning import as_data
from contextwise.models.factors import tables
from contextwise.support.arrays import IntArray
from contextwise.testing import structures


def explicit_dimension(structure: cw.Structure) -> int:
    """Compute the rank over the rationals from the table of all states."""
    states = list(product(*map(range, structure.domain.cardinalities)))
    features = [[], *structure.features.literals()]  # the first is the constant
    holds = [
        [all(values >> state[v] & 1 for v, values in literals) for literals in features]
        for state in states
    ]
    return int(np.linalg.matrix_rank(np.array(holds, dtype=float))) - 1


@given(structures())
@settings(max_examples=150, deadline=None)
def test_the_dimension_is_the_rank_of_the_features(structure: cw.Structure) -> None:
    assert dimension(structure) == explicit_dimension(structure)


@pytest.mark.parametrize(
    "scopes",
    [[(0,), (1,), (2,)], [(0, 1), (2,)], [(0, 1), (1, 2)], [(0, 1), (1, 2), (0, 2)], [(0, 1, 2)]],
)
def test_the_dimension_of_a_hierarchical_model_is_the_sum_over_its_interactions(
    scopes: list[tuple[int, ...]],
) -> None:
    cards = (2, 3, 5)
    interactions = {
        part
        for scope in scopes
        for keep in product((False, True), repeat=len(scope))
        if (part := tuple(v for v, kept in zip(scope, keep, strict=True) if kept))
    }
    expected = sum(prod(cards[v] - 1 for v in part) for part in interactions)
    assert dimension(tables(cw.Domain.of_cardinalities(cards), scopes)) == expected


def test_a_large_dimension_is_unknown() -> None:
    structure = tables(cw.Domain.of_cardinalities([2] * 13), [range(13)])
    assert len(structure) > MOST_FEATURES
    assert dimension(structure) is None
    found = goodness_of_fit(structure, np.zeros((5, 13), dtype=int))
    assert (found.aic, found.bic, found.degrees_of_freedom, found.p_value) == (None,) * 4


# R's tables, first index fastest: UCBAdmissions (admit, gender, department) and HairEyeColor (hair,
# eye, sex).
ADMISSIONS = """
    512 313 89 19 353 207 17 8 120 205 202 391 138 279 131 244 53 138 94 299 22 351 24 317
"""
HAIR = """
    32 53 10 3 11 50 10 30 10 25 7 5 3 15 7 8 36 66 16 4 9 34 7 64 5 29 7 5 2 14 7 8
"""


def rows_of(counts: str, shape: tuple[int, ...]) -> IntArray:
    cells = np.array(list(product(*map(range, shape[::-1]))))[:, ::-1]
    return np.repeat(cells, [int(count) for count in counts.split()], axis=0)


ADMITTED, HAIRS = rows_of(ADMISSIONS, (2, 2, 6)), rows_of(HAIR, (4, 4, 2))


@pytest.mark.parametrize(
    ("data", "scopes", "freedom", "g_squared"),
    [
        ("titanic", ["0", "1", "2", "3"], 25, 1243.66323),
        ("titanic", ["013", "023"], 8, 22.22167),
        ("titanic", ["01", "02", "03", "12", "13", "23"], 13, 116.588033),
        ("titanic", ["012", "3"], 15, 671.962215),
        ("titanic", ["012", "03", "13"], 11, 131.418307),
        ("admissions", ["0", "1", "2"], 16, 2097.67121),
        ("admissions", ["02", "12"], 6, 21.7355068),
        ("admissions", ["02", "12", "01"], 5, 20.2042753),
        ("hair", ["01", "2"], 15, 19.856561),
        ("hair", ["01", "02", "12"], 9, 6.76125042),
    ],
)
def test_loglm_reports_the_same(
    data: str, scopes: list[str], freedom: int, g_squared: float
) -> None:
    rows = {"titanic": "titanic", "admissions": ADMITTED, "hair": HAIRS}[data]
    known = as_data(rows)
    structure = tables(known.domain, [[int(v) for v in scope] for scope in scopes])
    found = goodness_of_fit(structure, known)
    assert found.degrees_of_freedom == freedom
    assert found.g_squared == pytest.approx(g_squared, rel=1e-6)
    enough = len(known) >= 5 * prod(known.domain.cardinalities)
    assert (found.p_value is not None) == enough


def test_the_likelihoods_and_the_bic_of_the_literature() -> None:
    data = as_data("titanic")  # class, sex, age, survived
    saturated = goodness_of_fit(tables(data.domain, [range(4)]), data)
    assert saturated.log_likelihood == pytest.approx(-5151.517, abs=1e-3)
    assert (saturated.degrees_of_freedom, saturated.p_value) == (0, None)
    independent = goodness_of_fit(tables(data.domain, [[v] for v in range(4)]), data)
    assert independent.log_likelihood == pytest.approx(-5773.349, abs=1e-3)
    network = goodness_of_fit(tables(data.domain, [(0, 1, 3), (0, 2, 3)]), data)
    assert (network.parameters, round(network.bic or 0, 2)) == (23, 10502.28)
    assert network.aic == pytest.approx(-2 * network.log_likelihood + 46)
    nested = independent.g_squared - network.g_squared
    assert nested == pytest.approx(1243.663 - 22.22167, rel=1e-6)
    assert (independent.degrees_of_freedom or 0) - (network.degrees_of_freedom or 0) == 17


def test_weights_of_minus_infinity_leave_the_dimension_unknown() -> None:
    structure = cw.Structure({"A": 2, "B": 2}, ["A=1 & B=1", "A=1"])
    hard = cw.LogLinear(structure, [-np.inf, 0.5])
    assert goodness_of_fit(hard, [[0, 0], [1, 0]]).parameters is None
    assert goodness_of_fit(structure, [[0, 0], [1, 0]]).parameters == 2
    with pytest.raises(DomainError, match="0 rows"):
        goodness_of_fit(structure, [])
