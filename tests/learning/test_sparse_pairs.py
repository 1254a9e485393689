"""SparsePairs: optima, agreement with scikit-learn, groups, paths."""

from __future__ import annotations

import time
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

import contextwise as cw
from contextwise.distributions.fitting import ConvergenceWarning
from contextwise.errors import ContextwiseError, DomainError
from contextwise.learning import SparsePairs, as_data, sparse_pairs
from contextwise.learning.sparse_pairs import ValueColumns
from contextwise.support.arrays import FloatArray, IntArray


def chain(count: int, seed: int, cards: tuple[int, ...] = (2, 2, 2, 2, 2)) -> IntArray:
    """Rows in which every variable mostly follows the one before."""
    rng = np.random.default_rng(seed)
    rows = np.stack([rng.integers(0, c, count) for c in cards], axis=1)
    for v in range(1, len(cards)):
        copy = rng.random(count) < 0.6
        rows[copy, v] = rows[copy, v - 1] % cards[v]
    return rows


@pytest.mark.parametrize("l1", [12.0, 30.0])
def test_binary_regressions_are_those_of_scikit_learn(l1: float) -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    rows = chain(400, 1)
    for own in SparsePairs(l1=l1, tolerance=1e-9).fit(rows).regressions_:
        others = np.delete(rows, own.target, axis=1)
        weights = np.delete(own.weights[:, 0], 1 + own.target)
        solver = linear.LogisticRegression(
            l1_ratio=1, C=1 / l1, solver="saga", tol=1e-10, max_iter=20_000, random_state=0
        )
        theirs = solver.fit(others, rows[:, own.target])
        found = np.concatenate([theirs.intercept_, theirs.coef_[0]])
        assert np.allclose(weights, found, atol=2e-4)
        assert ((weights == 0) == (np.abs(found) < 1e-6)).all()


def brute_objective(rows: IntArray, cards: tuple[int, ...], target: int, l1: float) -> Any:
    """The objective of a regression from its definition, of a flat vector of weights."""
    options = cards[target] - 1
    others = [j for j in range(len(cards)) if j != target and cards[j] > 1]
    sizes = [options, *(options * (cards[j] - 1) for j in others)]
    ends = np.cumsum(sizes)

    def objective(x: FloatArray) -> float:
        parts = np.split(x, ends[:-1])
        tables = [
            part.reshape(cards[j] - 1, options) for part, j in zip(parts[1:], others, strict=True)
        ]
        total = l1 * sum(np.sqrt(part.size) * np.linalg.norm(part) for part in parts[1:])
        for row in rows.tolist():
            z = np.concatenate([[0.0], parts[0]])
            for table, j in zip(tables, others, strict=True):
                if row[j]:
                    z[1:] += table[row[j] - 1]
            total += np.logaddexp.reduce(z) - z[row[target]]
        return float(total)

    return objective, int(ends[-1])


@pytest.mark.parametrize("l1", [0.3, 1.5])
def test_groups_are_those_of_a_generic_solver(l1: float) -> None:
    cards = (3, 2, 4)
    rows = chain(25, 3, cards)
    domain = {f"v{k}": c for k, c in enumerate(cards)}
    found = SparsePairs(l1=l1, tolerance=1e-9).fit(rows, domain=domain)
    assert found.converged_
    columns = ValueColumns.of(as_data(rows, domain))
    for own in found.regressions_:
        objective, size = brute_objective(rows, cards, own.target, l1)
        x = own.weights[columns.others(own.target)].ravel()
        assert own.optimum.objective == pytest.approx(objective(x), rel=1e-10)
        rough = optimize.minimize(objective, np.full(size, 0.01), method="BFGS").fun
        assert own.optimum.objective <= rough + 1e-6
        rng = np.random.default_rng(0)
        for _ in range(20):
            assert objective(x + rng.normal(0, 0.02, size)) >= own.optimum.objective


@settings(max_examples=12)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=4),
    st.integers(0, 99),
    st.sampled_from([0.2, 1.0, 5.0]),
)
def test_tables_come_and_go_as_one(cards: list[int], seed: int, l1: float) -> None:
    rows = chain(40, seed, tuple(cards))
    domain = {f"v{k}": c for k, c in enumerate(cards)}
    for rule in ("or", "and"):
        found = SparsePairs(l1=l1, l2=0.01, rule=rule).fit(rows, domain=domain)
        assert found.converged_
        assert found.gap_ <= 1e-6
        starts = 1 + ValueColumns.of(as_data(rows, domain)).starts
        for own, (j, begin) in product(found.regressions_, enumerate(starts[:-1])):
            table = own.weights[begin : starts[j + 1]]
            assert table.all() or not table.any()
            assert own.target != j or not table.any()
        names = found.domain_.names
        assert found.structure_.pairs() == [(names[i], names[j]) for i, j in found.pairs_]
    assert found.pairs_ == [
        (i, j)
        for i, j in SparsePairs(l1=l1, l2=0.01).fit(rows, domain=domain).pairs_
        if found.regressions_[i].weights[starts[j] : starts[j + 1]].any()
        and found.regressions_[j].weights[starts[i] : starts[i + 1]].any()
    ]


def test_the_chain_is_found_and_scores_are_those_of_the_regressions() -> None:
    rows = chain(2000, 4)
    found = SparsePairs(l1=40.0, n_jobs=2).fit(rows)
    assert found.pairs_ == [(0, 1), (1, 2), (2, 3), (3, 4)]
    alone = SparsePairs(l1=40.0).fit(rows)
    assert alone.model_ == found.model_
    seen: list[tuple[int, int]] = []
    SparsePairs().fit(rows, show_progress=lambda done, total: seen.append((done, total)))
    assert seen == [(k, 5) for k in range(1, 6)]


def test_strange_data() -> None:
    constant = SparsePairs(l1=1.0).fit([[0, 1], [0, 0], [0, 1]])
    assert constant.pairs_ == []
    assert constant.converged_
    assert SparsePairs(l1=1.0).fit([[0], [1], [1]]).model_.weights[0] == pytest.approx(np.log(2))
    none = SparsePairs().fit(np.zeros((0, 3), dtype=int), domain={"A": 2, "B": 3, "C": 2})
    assert none.pairs_ == []
    assert none.converged_
    one = SparsePairs(l1=0.1, l2=0.1).fit([[1, 0, 1]], domain={"A": 2, "B": 2, "C": 2})
    assert one.converged_
    wide = SparsePairs(l1=1.0, l2=0.1).fit(chain(60, 1, (65, 2)), domain={"A": 65, "B": 2})
    assert wide.converged_
    assert wide.regressions_[0].weights.shape == (66, 64)
    always = SparsePairs().fit([[1, 0], [1, 1]] * 9, domain={"A": 2, "B": 2})  # A is never 0
    assert always.converged_
    assert 5 < always.regressions_[0].weights[0, 0] < 50
    more_variables = SparsePairs(l1=2.0).fit(np.random.default_rng(0).integers(0, 2, (8, 30)))
    assert more_variables.converged_
    with pytest.raises(ContextwiseError, match="rule must be 'or' or 'and'"):
        SparsePairs(rule="xor").fit([[0, 1]])  # type: ignore[arg-type]
    with pytest.raises(DomainError, match="-1"):
        SparsePairs(l1=-1).fit([[0, 1]])


def test_a_regression_that_ends_early_says_so() -> None:
    with pytest.warns(ConvergenceWarning, match="5 regressions of 5 did not converge"):
        found = SparsePairs(l1=1.0, max_iterations=1).fit(chain(200, 4))
    assert not found.converged_
    assert found.gap_ > 1e-6


@pytest.mark.parametrize("l1", [1.0, 8.0, 40.0])
@pytest.mark.parametrize("count", [30, 300])
def test_the_optimum_does_not_depend_on_the_start(
    l1: float, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = as_data(chain(count, 4, (3, 2, 5, 4)), cw.Domain.of_cardinalities((3, 2, 5, 6)))
    found = SparsePairs(l1=l1).fit(data)
    best = sparse_pairs.ValueColumns.intercept

    def zero_if_seen(columns: sparse_pairs.ValueColumns, target: int) -> Any:
        intercept = best(columns, target)
        seen = len(np.unique(columns.rows[:, target])) == columns.cardinalities[target]
        return 0 * intercept if seen else intercept

    monkeypatch.setattr(sparse_pairs.ValueColumns, "intercept", zero_if_seen)
    searched = SparsePairs(l1=l1).fit(data)
    assert found.pairs_ == searched.pairs_
    assert found.objective_ == pytest.approx(searched.objective_, rel=1e-5)
    assert found.gap_ <= 1e-6


def test_wide_columns_make_no_table_of_their_product() -> None:
    codes = np.random.default_rng(1).integers(0, 1000, (300, 3))
    data = as_data(codes, cw.Domain.of_cardinalities([1000] * 3))
    began = time.process_time()
    assert SparsePairs().fit(data).pairs_ == []
    assert time.process_time() - began < 10
