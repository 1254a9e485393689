"""Learners by marginal pseudo-likelihood: graphs, and edges that vanish in contexts."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import contextwise as cw
from contextwise.data.rows import as_data
from contextwise.distributions import probabilities
from contextwise.errors import DomainError
from contextwise.learning import MPL, ContextualMPL, EdgeTrees, Learner
from contextwise.learning.base import fresh
from contextwise.learning.contextual_mpl import (
    EVERYWHERE,
    Classes,
    Edge,
    classes_of,
    from_edge_contexts,
)
from contextwise.learning.mpl import Scores, scale_of
from contextwise.learning.table import Table

CONTEXTUAL = [ContextualMPL(), EdgeTrees()]
ALL = [MPL(), *CONTEXTUAL]

SWITCH = cw.LogLinear(
    cw.Structure(
        {"A": 2, "B": 2, "C": 2},
        ["A=0 & B=0 & C=0", "A=0 & B=1 & C=1", "A=1 & B=1", "A=1 & C=1"],
    ),
    [1.5, 1.0, 2.5, 2.5],
)
"""B and C interact where A=0 only."""

WIDE = cw.LogLinear(
    cw.Structure(
        {"A": 3, "B": 2, "C": 3},
        [
            "A=2 & B=0 & C=0",
            "A=2 & B=1 & C=2",
            "A=0 & B=1",
            "A=1 & B=0",
            "A=0 & C=0",
            "A=1 & C=2",
        ],
    ),
    [2.0, 2.0, 1.5, 1.5, 1.2, 1.4],
)
"""B and C interact where A=2 only; more than two values."""

CHAIN = cw.LogLinear(
    cw.Structure({"A": 2, "B": 3, "C": 2}, ["A=0 & B=0", "A=1 & B=2", "B=0 & C=1", "B=1 & C=0"]),
    [1.5, 1.0, 1.2, 1.5],
)


def drawn_rows(model: cw.LogLinear, count: int, seed: int) -> npt.NDArray[np.int64]:
    table = probabilities(model)
    chosen = np.random.default_rng(seed).choice(table.size, count, p=table.ravel() / table.sum())
    return np.stack(np.unravel_index(chosen, table.shape), axis=1)


def blanket_score(table: Table, target: int, blanket: list[int]) -> float:
    return Scores(table, 1.0).of(target, frozenset(blanket))


def both_classes(table: Table, target: int, blanket: list[int]) -> list[Any]:
    return [Classes(table, target, blanket, 1.0), classes_of(table, target, blanket, 1.0)]


# -- scores ----------------------------------------------------------------------------------------


def slow_score(rows: list[list[int]], cards: list[int], target: int, blanket: list[int]) -> float:
    """One row after the other: the probability of its value given the rows before it."""
    weight = 1 / math.prod(cards[v] for v in blanket)
    seen: dict[Any, list[int]] = {}
    total = 0.0
    for row in rows:
        counts = seen.setdefault(tuple(row[v] for v in blanket), [0] * cards[target])
        share = weight / cards[target]
        total += math.log((counts[row[target]] + share) / (sum(counts) + weight))
        counts[row[target]] += 1
    return total


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 1)), max_size=12))
@settings(max_examples=40, deadline=None)
def test_a_score_is_the_product_of_predictions(rows: list[tuple[int, int, int]]) -> None:
    cards = [2, 3, 2]
    table = Table.of(as_data(np.array(rows, dtype=int).reshape(-1, 3), {"A": 2, "B": 3, "C": 2}))
    for target, blanket in ((0, []), (0, [1]), (1, [0, 2]), (2, [1])):
        expected = slow_score([list(row) for row in rows], cards, target, blanket)
        assert blanket_score(table, target, blanket) == pytest.approx(expected, abs=1e-9)
        for classes in both_classes(table, target, blanket):
            assert classes.total() / scale_of(table) == pytest.approx(expected, abs=1e-9)


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 1)), max_size=12),
    st.integers(0, 2),
    st.integers(0, 1),
)
@settings(max_examples=40, deadline=None)
def test_classes_gain_what_they_say(
    rows: list[tuple[int, int, int]], first: int, second: int
) -> None:
    table = Table.of(as_data(np.array(rows, dtype=int).reshape(-1, 3), {"A": 2, "B": 3, "C": 2}))
    gains = []
    for classes in both_classes(table, 0, [1, 2]):
        for other, context in ((2, {1: [first]}), (1, {2: [second]}), (2, {})):
            before, gain = classes.total(), classes.gain(other, [context])
            gains.append(gain)
            classes.merge(other, context)
            assert classes.total() == before + gain
            assert classes.gain(other, [context]) == 0
            assert classes.is_merged(other, context)
    # Both twins agree up to rounding.
    assert gains[:3] == pytest.approx(gains[-3:], abs=1e-8 * scale_of(table))
    # Without C, and with B distinguished, the blanket is B alone.
    for classes in both_classes(table, 0, [1, 2]):
        classes.merge(2, {})
        expected = blanket_score(table, 0, [1])
        assert classes.total() / scale_of(table) == pytest.approx(expected, abs=1e-9)


# -- structures ------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", CONTEXTUAL, ids=repr)
@pytest.mark.parametrize("truth", [SWITCH, WIDE], ids=["two values", "three values"])
def test_contexts_are_found(learner: Learner, truth: cw.LogLinear) -> None:
    for seed in range(3):
        found = fresh(learner).fit(drawn_rows(truth, 20_000, seed), domain=truth.domain)
        assert cw.distance(truth, found.structure_) == 0
        assert found.added_ == 0


@pytest.mark.parametrize("learner", ALL, ids=repr)
def test_graphs_are_found(learner: Learner) -> None:
    found = fresh(learner).fit(drawn_rows(CHAIN, 20_000, 1), domain=CHAIN.domain)
    assert cw.distance(CHAIN, found.structure_) == 0
    chance = np.random.default_rng(8).integers(0, [2, 3, 2, 4], (5000, 4))
    assert fresh(learner).fit(chance).structure_.pairs() == []


def test_a_graph_cannot_see_contexts() -> None:
    found = MPL().fit(drawn_rows(SWITCH, 20_000, 0), domain=SWITCH.domain)
    assert found.graph_.sum() == 6
    assert cw.compare(SWITCH, found.structure_).fp == 1
    table = Table.of(as_data(drawn_rows(SWITCH, 20_000, 0), SWITCH.domain))
    blankets = ([1, 2], [0, 2], [0, 1])
    expected = sum(blanket_score(table, v, own) for v, own in enumerate(blankets))
    assert found.score_ == pytest.approx(expected)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=12, deadline=None)
def test_trees_say_only_what_features_can_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, [2, 2, 3, 2], (60, 4))
    rows[:, 1] ^= rows[:, 0] & (rng.random(60) < 0.9)
    rows[:, 3] = (rows[:, 3] | rows[:, 1]) ^ (rows[:, 2] == 1)
    learner = EdgeTrees().fit(rows, domain={"A": 2, "B": 2, "C": 3, "D": 2})
    plain = cw.Structure({"A": 2, "B": 2, "C": 3, "D": 2})
    claimed = int(cw.compare(learner.structure_, plain).fn)
    cards = (2, 2, 3, 2)
    own = 0
    for pair, edge in learner.edges_.items():
        others = [v for v in range(4) if v not in pair]
        for values in itertools.product(*(range(cards[v]) for v in others)):
            at = dict(zip(others, values, strict=True))
            there = [all(at[v] in c[v] for v in c) for c in edge.present]
            gone = [all(at[v] in c[v] for v in c) for c in edge.absent]
            assert sum(there) + sum(gone) == 1
            own += sum(there)
    assert claimed == own


@pytest.mark.parametrize("learner", ALL, ids=repr)
def test_order_of_variables_and_labels_do_not_matter(learner: Learner) -> None:
    names = ("A", "B", "C")
    rows = drawn_rows(WIDE, 700, 5)
    plain = fresh(learner).fit(rows, domain=WIDE.domain).structure_
    order, flips = [2, 0, 1], [np.array([1, 2, 0]), np.array([1, 0]), np.array([2, 0, 1])]
    domain = cw.Domain({names[v]: [str(code) for code in flips[v]] for v in order})
    moved = [[str(row[v]) for v in order] for row in rows.tolist()]
    other = fresh(learner).fit(moved, domain=domain).structure_
    assert cw.distance(plain, other.aligned_to(plain.domain)) == 0


@pytest.mark.parametrize("learner", ALL, ids=repr)
@pytest.mark.parametrize(
    "rows",
    [
        np.zeros((0, 3), dtype=int),
        np.zeros((1, 3), dtype=int),
        np.ones((50, 3), dtype=int),
        np.random.default_rng(1).integers(0, 2, (50, 1)),
    ],
    ids=["no rows", "one row", "constant columns", "one variable"],
)
def test_nothing_to_learn_from_gives_no_pairs(learner: Learner, rows: Any) -> None:
    domain = {f"v{k}": 2 for k in range(rows.shape[1])}
    assert fresh(learner).fit(rows, domain=domain).structure_.pairs() == []


@pytest.mark.parametrize("learner", ALL, ids=repr)
def test_wide_tables_many_values_and_constants(learner: Learner) -> None:
    rng = np.random.default_rng(4)
    rows = np.concatenate([rng.integers(0, 2, (8, 12)), np.zeros((8, 1), dtype=int)], axis=1)
    found = fresh(learner).fit(rows, domain={f"v{k}": 2 for k in range(13)}).structure_
    assert not any("v12" in pair for pair in found.pairs())
    wide = rng.integers(0, 65, 4000)
    table = np.stack([wide, (wide // 8 + (rng.random(4000) < 0.1)) % 9, wide * 0], axis=1)
    many = fresh(learner).fit(table, domain={"A": 200, "B": 9, "C": 1})
    assert many.structure_.pairs() == [("A", "B")]


def test_blankets_beyond_the_limit_keep_their_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contextwise.learning.contextual_mpl.CONFIGURATIONS", 2)
    monkeypatch.setattr("contextwise.learning.edge_trees.CONFIGURATIONS", 2)
    for learner in CONTEXTUAL:
        found = fresh(learner).fit(drawn_rows(SWITCH, 5000, 0), domain=SWITCH.domain)
        assert cw.compare(SWITCH, found.structure_).fp == 1
        assert all(edge == EVERYWHERE for edge in found.edges_.values())


def test_contexts_that_add_more_than_they_save_are_not_written() -> None:
    domain = cw.Domain.of_cardinalities([2, 2, 2, 2])
    rows = np.array(list(itertools.product((0, 1), repeat=4)))
    edges = dict.fromkeys([(0, 2), (0, 3), (1, 2), (1, 3)], EVERYWHERE)
    # v0 and v1 are absent in one of four contexts of v2 and v3, which have no edge.
    edges[0, 1] = Edge([{2: [0]}, {2: [1], 3: [0]}], [{2: [1], 3: [1]}])
    found = from_edge_contexts(domain, edges, rows)
    assert ("v2", "v3") not in found.pairs()
    edges[2, 3] = EVERYWHERE
    written = from_edge_contexts(domain, edges, rows)
    assert written.restrict("v2=1 & v3=1").pairs() == []
    assert written.restrict("v2=1 & v3=0").pairs() == [("v0", "v1")]


def test_progress_is_told_and_bad_parameters_are_errors() -> None:
    rows = drawn_rows(SWITCH, 300, 5)
    for kind in (MPL, ContextualMPL, EdgeTrees):
        told: list[tuple[int, int]] = []
        kind(show_progress=lambda done, total, told=told: told.append((done, total))).fit(rows)  # type: ignore[misc]
        assert told
        assert all(0 < done <= total for done, total in told)
        with pytest.raises(DomainError, match="prior must be > 0"):
            kind(prior=0).fit(rows)
    with pytest.raises(DomainError, match="depth must be >= 0"):
        EdgeTrees(depth=-1).fit(rows)
    assert all(edge == EVERYWHERE for edge in EdgeTrees(depth=0).fit(rows).edges_.values())
