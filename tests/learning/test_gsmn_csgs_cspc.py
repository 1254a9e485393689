"""Learners by tests: blankets over all rows, and graphs by context."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import contextwise as cw
from contextwise.distributions import probabilities
from contextwise.errors import ContextwiseError, DomainError
from contextwise.learning import CSGS, CSPC, GSMN, Learner
from contextwise.learning.base import fresh
from contextwise.learning.cspc import added_dependencies, from_row_graphs

CONTEXTUAL = [CSPC(), CSPC(max_size=1), CSGS(), CSGS(rule="or")]
ALL = [GSMN(), GSMN(rule="or"), *CONTEXTUAL]

SWITCH = cw.LogLinear(
    cw.Structure(
        {"A": 2, "B": 2, "C": 2},
        ["A=0 & B=0 & C=0", "A=0 & B=1 & C=1", "A=1 & B=1", "A=1 & C=1"],
    ),
    [1.5, 1.0, 2.5, 2.5],
)
"""B and C interact where A=0 only."""

CHAIN = cw.LogLinear(
    cw.Structure({"A": 2, "B": 3, "C": 2}, ["A=0 & B=0", "A=1 & B=2", "B=0 & C=1", "B=1 & C=0"]),
    [1.5, 1.0, 1.2, 1.5],
)


def exact_rows(model: cw.LogLinear, count: int) -> npt.NDArray[np.int64]:
    """Rows in the proportions of the model: what is drawn when chance plays no part."""
    table = probabilities(model)
    times = np.round(table.ravel() / table.sum() * count).astype(int)
    cells = np.stack(np.unravel_index(np.arange(table.size), table.shape), axis=1)
    return np.repeat(cells, times, axis=0)


def drawn_rows(model: cw.LogLinear, count: int, seed: int) -> npt.NDArray[np.int64]:
    table = probabilities(model)
    chosen = np.random.default_rng(seed).choice(table.size, count, p=table.ravel() / table.sum())
    return np.stack(np.unravel_index(chosen, table.shape), axis=1)


@pytest.mark.parametrize("learner", CONTEXTUAL, ids=repr)
def test_contexts_are_found(learner: Learner) -> None:
    found = fresh(learner).fit(exact_rows(SWITCH, 20_000), domain=SWITCH.domain)
    assert cw.distance(SWITCH, found.structure_) == 0
    noisy = fresh(learner).fit(drawn_rows(SWITCH, 20_000, 2), domain=SWITCH.domain)
    assert cw.distance(SWITCH, noisy.structure_) == 0


@pytest.mark.parametrize("learner", ALL, ids=repr)
def test_graphs_are_found(learner: Learner) -> None:
    found = fresh(learner).fit(drawn_rows(CHAIN, 20_000, 1), domain=CHAIN.domain)
    assert cw.distance(CHAIN, found.structure_) == 0
    chance = np.random.default_rng(8).integers(0, [2, 3, 2, 4], (5000, 4))
    assert fresh(learner).fit(chance).structure_.pairs() == []


def test_a_graph_cannot_see_contexts() -> None:
    found = GSMN().fit(exact_rows(SWITCH, 20_000), domain=SWITCH.domain)
    assert found.blankets_ == [(1, 2), (0, 2), (0, 1)]
    assert cw.compare(SWITCH, found.structure_).fp == 1


@pytest.mark.parametrize("learner", ALL, ids=repr)
def test_order_of_variables_and_labels_do_not_matter(learner: Learner) -> None:
    names, cards = ("A", "B", "C"), (2, 3, 2)
    rows = drawn_rows(CHAIN, 400, 5)
    plain = fresh(learner).fit(rows, domain=dict(zip(names, cards, strict=True))).structure_
    order, flips = [2, 0, 1], [np.array([1, 0]), np.array([2, 0, 1]), np.array([1, 0])]
    labels = np.stack([flips[v].argsort()[rows[:, v]] for v in order], axis=1)
    domain = cw.Domain({names[v]: [str(code) for code in flips[v]] for v in order})
    moved = [[domain.states[k][code] for k, code in enumerate(row)] for row in labels.tolist()]
    other = fresh(learner).fit(moved, domain=domain).structure_
    assert cw.distance(plain, other.aligned_to(plain.domain)) == 0
    assert len(plain) == len(other)


@pytest.mark.parametrize("learner", ALL, ids=repr)
@pytest.mark.parametrize(
    "rows",
    [
        np.zeros((0, 3), dtype=int),
        np.zeros((1, 3), dtype=int),
        np.ones((50, 3), dtype=int),
        np.random.default_rng(1).integers(0, 2, (4, 3)),
        np.random.default_rng(1).integers(0, 2, (50, 1)),
    ],
    ids=["no rows", "one row", "constant columns", "few rows", "one variable"],
)
def test_nothing_to_learn_from_gives_no_pairs(learner: Learner, rows: Any) -> None:
    domain = {f"v{k}": 2 for k in range(rows.shape[1])}
    found = fresh(learner).fit(rows, domain=domain).structure_
    assert found.pairs() == [] or isinstance(learner, CSPC)  # silent tests delete nothing


@pytest.mark.parametrize("learner", ALL, ids=repr)
def test_wide_tables_many_values_and_constants(learner: Learner) -> None:
    rng = np.random.default_rng(4)
    rows = np.concatenate([rng.integers(0, 2, (12, 14)), np.zeros((12, 1), dtype=int)], axis=1)
    constant = fresh(learner).fit(rows, domain={f"v{k}": 2 for k in range(15)}).structure_
    assert not any("v14" in pair for pair in constant.pairs())
    wide = rng.integers(0, 65, 4000)
    table = np.stack([wide, (wide // 8 + (rng.random(4000) < 0.1)) % 9, wide * 0], axis=1)
    found = fresh(learner).set_params(min_count=1).fit(table, domain={"A": 200, "B": 9, "C": 1})
    assert found.structure_.pairs() == [("A", "B")]


def test_features_of_graphs_and_what_they_add() -> None:
    rows = np.array(list(itertools.product((0, 1), repeat=3)))
    graphs = np.zeros((8, 3, 3), dtype=bool)
    graphs[0, 0, 1] = graphs[0, 1, 0] = True  # under v2=0, and the feature forgets it
    structure = from_row_graphs(cw.Domain.of_cardinalities([2, 2, 2]), rows, graphs)
    assert structure.pairs() == [("v0", "v1")]
    assert added_dependencies(structure, rows, graphs) == 7
    learner = CSPC().fit(exact_rows(SWITCH, 20_000), domain=SWITCH.domain)
    assert learner.added_ == 0
    assert learner.graphs_.shape == (8, 3, 3)


def test_progress_is_told_and_bad_parameters_are_errors() -> None:
    rows = drawn_rows(CHAIN, 300, 5)
    for kind in (GSMN, CSPC, CSGS):
        told: list[tuple[int, int]] = []
        kind(show_progress=lambda done, total, told=told: told.append((done, total))).fit(rows)  # type: ignore[misc]
        assert told
        assert all(0 < done <= total for done, total in told)
        with pytest.raises(DomainError, match="level must be > 0"):
            kind(level=0).fit(rows)
        with pytest.raises(DomainError, match="min_count must be >= 0"):
            kind(min_count=-1).fit(rows)
    for other in (GSMN, CSGS):
        with pytest.raises(ContextwiseError, match="rule must be 'and' or 'or'"):
            other(rule="xor").fit(rows)  # type: ignore[arg-type]
    with pytest.raises(DomainError, match="max_size must be >= 0"):
        CSPC(max_size=-1).fit(rows)
