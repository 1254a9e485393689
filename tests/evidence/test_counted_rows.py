"""The compiled counting and its readable twin: equal scores, tests, cliques and structures."""

from __future__ import annotations

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
    Tests,
    evaluate_given,
    evaluate_in_context,
    evaluate_on,
    evaluate_without_each,
)
from contextwise.learning import CSGS, CSPC, GSMN, MPL, ContextualMPL, Learner, PairBlocks, Trees
from contextwise.learning import trees as trees_module
from contextwise.learning.base import fresh
from contextwise.learning.marginal_likelihood import BlanketScores
from counted_tables import compiled, tables


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
