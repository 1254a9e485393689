"""The compiled counting and its readable twin: equal scores, tests, cliques and structures."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import contextwise as cw
from contextwise.errors import ContextwiseError
from contextwise.evidence import counted_rows as counted_rows_module
from contextwise.evidence.counted_rows import CountedRows, maximal_cliques
from contextwise.evidence.independence_test import (
    DecisionRule,
    Tests,
    evaluate_given,
    evaluate_in_context,
    evaluate_on,
    evaluate_tables,
    evaluate_without_each,
    tables_within,
)
from contextwise.learning import CSGS, CSPC, GSMN, MPL, ContextualMPL, Learner, PairBlocks, Trees
from contextwise.learning import trees as trees_module
from contextwise.learning.base import Run, fresh
from contextwise.learning.marginal_likelihood import BlanketScores
from contextwise.support.arrays import BoolArray

compiled = pytest.mark.skipif(
    bool(counted_rows_module.not_compiled), reason=str(counted_rows_module.not_compiled)
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[CountedRows, CountedRows]:
    """The same rows for both twins; some variables have many values."""
    cards = draw(st.lists(st.sampled_from([1, 2, 2, 3, 9, 70]), min_size=2, max_size=6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = np.stack([rng.integers(0, min(c, 12), 60) for c in cards], axis=1)
    rows = rows[: draw(st.integers(0, 60))]
    if draw(st.booleans()) and cards[0] == cards[1]:
        rows[:, 1] = rows[:, 0]
    counts = rng.integers(1, 5, len(rows))
    fast, slow = (CountedRows(rows, counts, tuple(cards)) for _ in range(2))
    vars(slow)["compiled"] = None
    return fast, slow


def assert_alike(fast: Tests, slow: Tests) -> None:
    for a, b in zip(fast.parts, slow.parts, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@compiled
@given(tables(), st.data())
@settings(max_examples=60, deadline=None)
def test_twins_test_alike(twins: tuple[CountedRows, CountedRows], data: st.DataObject) -> None:
    fast, _ = twins
    size = len(fast.cardinalities)
    target = data.draw(st.integers(0, size - 1))
    others = [v for v in range(size) if v != target]
    blanket = data.draw(st.lists(st.sampled_from(others), unique=True, min_size=1))
    assert_alike(*(evaluate_given(t, target, others, blanket) for t in twins))
    assert_alike(*(evaluate_given(t, target, others, []) for t in twins))
    assert_alike(*(evaluate_without_each(t, target, blanket) for t in twins))
    chosen = np.flatnonzero(np.arange(len(fast.rows)) % 3)
    assert_alike(*(evaluate_on(t, chosen, target, others) for t in twins))
    if len(fast.rows):
        context = {v: int(fast.rows[0, v]) for v in blanket}
        assert_alike(*(evaluate_in_context(t, target, context) for t in twins))


def context_graphs(
    table: CountedRows, rule: DecisionRule, max_size: int | None = None
) -> BoolArray:
    """Return the graphs that CSPC finds, by one test of all pairs per set of neighbours."""
    edges = _complete_graphs(table)
    sets: list[tuple[int, ...]] = [()]
    while sets and (edges.sum(axis=1) > len(sets[0])).any():
        if max_size is not None and len(sets[0]) > max_size:
            break
        sets = _delete_edges(table, sets, edges, rule)
        sets = [(*s, v) for s in sets for v in table.varying if v > max(s, default=-1)]
    return np.ascontiguousarray(edges.transpose(2, 0, 1))


def _complete_graphs(table: CountedRows) -> BoolArray:
    """Return the complete graph over the variables that vary: (variables, variables, rows)."""
    size = len(table.cardinalities)
    varies = np.zeros(size, dtype=bool)
    varies[table.varying] = True
    graph = varies[:, None] & varies & ~np.eye(size, dtype=bool)
    return np.repeat(graph[:, :, None], len(table.rows), axis=2)


def _delete_edges(
    table: CountedRows, sets: Iterable[tuple[int, ...]], edges: BoolArray, rule: DecisionRule
) -> list[tuple[int, ...]]:
    """Delete edges in place by tests given each of the sets.

    Return the sets that are neighbours of a variable in some row with enough rows to test; only
    their supersets can matter later.
    """
    # Neighbours as of now, so that the order of the sets does not matter.
    before, useful = edges.copy(), []
    for fixed in sets:
        groups, count = table.groups(fixed)
        sizes = np.bincount(groups, weights=table.counts, minlength=count)
        large = sizes[groups] >= max(4, 4 * rule.min_count)
        adjacent = before[:, list(fixed)].all(axis=1) & large
        if adjacent.any():
            useful.append(fixed)
            others = [v for v in table.varying if v not in fixed]
            wanted = {
                (a, b): (adjacent[a] | adjacent[b]) & edges[a, b]
                for a, b in combinations(others, 2)
            }
            tested = [pair for pair, rows in wanted.items() if rows.any()]
            if not tested:
                continue
            for a, b in tested:
                shape = table.cardinalities[a], table.cardinalities[b]
                within = tables_within(table.rows, table.counts, (a, b), shape, groups)
                independent = evaluate_tables(within).independent(rule)
                if independent.any():
                    deleted = independent[groups] & wanted[a, b]
                    edges[a, b, deleted] = edges[b, a, deleted] = False
    return useful


@compiled
@given(tables(), st.sampled_from([0.0, 0.3, 2.0]), st.sampled_from([0.05, 0.5]), st.integers(1, 3))
@settings(max_examples=100, deadline=None)
def test_graphs_of_contexts_follow_from_the_tests(
    twins: tuple[CountedRows, CountedRows], min_count: float, level: float, n_jobs: int
) -> None:
    rule = DecisionRule(level, min_count)
    fast, slow = twins
    found = CSPC(n_jobs=n_jobs).find_graphs(fast, rule, Run())
    np.testing.assert_array_equal(found, context_graphs(slow, rule))


@compiled
def test_graphs_of_contexts_of_many_pairs() -> None:
    rng = np.random.default_rng(3)
    hidden = rng.integers(0, 2, (400, 1))
    rows = np.where(rng.random((400, 24)) < 0.4, hidden, rng.integers(0, 2, (400, 24)))
    fast, slow = (CountedRows(rows, np.arange(400) % 7 + 1, (2,) * 24) for _ in range(2))
    vars(slow)["compiled"] = None
    found = CSPC(max_size=2).find_graphs(fast, DecisionRule(0.05, 5.0), Run())
    assert (found == context_graphs(slow, DecisionRule(0.05, 5.0), 2)).all()


@compiled
@given(tables(), st.data())
@settings(max_examples=60, deadline=None)
def test_twins_score_alike(twins: tuple[CountedRows, CountedRows], data: st.DataObject) -> None:
    size = len(twins[0].cardinalities)
    target = data.draw(st.integers(0, size - 1))
    others = [v for v in range(size) if v != target]
    blanket = frozenset(data.draw(st.lists(st.sampled_from(others), unique=True)))
    fast, slow = (BlanketScores(t, 0.7).changed(target, blanket, others) for t in twins)
    np.testing.assert_allclose(fast, slow, rtol=1e-10, atol=1e-8)


def test_scores_do_not_depend_on_the_order_of_rows() -> None:
    rng = np.random.default_rng(1)
    rows, counts = rng.integers(0, 2, (500, 5)), rng.integers(1, 9, 500)
    order = rng.permutation(500)
    plain, moved = (CountedRows(rows[o], counts[o], (2,) * 5) for o in (np.arange(500), order))
    for table in (plain, moved):
        turned = CountedRows(1 - table.rows, table.counts, table.cardinalities)
        for target in range(5):
            blanket = frozenset({0, 2, 4} - {target})
            expected = BlanketScores(plain, 1.0).of(target, blanket)
            assert BlanketScores(table, 1.0).of(target, blanket) == expected
            assert BlanketScores(turned, 1.0).of(target, blanket) == expected


@compiled
@given(st.integers(1, 70), st.floats(0, 0.6), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_cliques_are_those_of_networkx(nodes: int, share: float, seed: int) -> None:
    networkx = pytest.importorskip("networkx")
    if nodes > 20:
        share /= 5
    upper = np.triu(np.random.default_rng(seed).random((nodes, nodes)) < share, 1)
    cliques = networkx.find_cliques(networkx.from_numpy_array(upper | upper.T))
    expected = sorted(sorted(clique) for clique in cliques if len(clique) > 1)
    assert sorted(maximal_cliques(upper | upper.T)) == expected


@compiled
@pytest.mark.parametrize("learner", [MPL(), GSMN(), CSGS(), PairBlocks()], ids=repr)
def test_twins_learn_the_same_structures(learner: Learner, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        cards = [2, 3, 2, 2, 4, 2]
        hidden = rng.integers(0, 4, 300)
        columns: list[Any] = [
            np.where(rng.random(300) < 0.5, hidden % c, rng.integers(0, c, 300)) for c in cards
        ]
        rows = np.stack(columns, axis=1)
        domain = cw.Domain.of_cardinalities(cards)
        fast = fresh(learner).fit(rows, domain=domain).structure_
        with monkeypatch.context() as patch:
            patch.setattr(counted_rows_module, "not_compiled", "switched off")
            slow = fresh(learner).fit(rows, domain=domain).structure_
        assert fast == slow


@pytest.mark.parametrize("learner", [CSPC(), ContextualMPL(), Trees()], ids=repr)
def test_learners_without_a_twin_need_the_compiled_module(
    learner: Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counted_rows_module, "not_compiled", "no compiler")
    monkeypatch.setattr(trees_module, "not_compiled", "no compiler")
    with pytest.raises(ContextwiseError, match=r"no version in Python \(no compiler\)"):
        fresh(learner).fit([[0, 1], [1, 0]])
