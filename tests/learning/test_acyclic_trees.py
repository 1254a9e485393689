"""AcyclicTrees: scores and orders by brute force, contexts that were planted, limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwise as cw
from contextwise.distributions.inference import log_partition
from contextwise.errors import ContextwiseError, DomainError
from contextwise.evidence.counted_rows import CountedRows
from contextwise.learning import AcyclicTrees, Data, as_data
from contextwise.learning.acyclic_trees import Limits, TreeScores, _exact, _moves, _pruned
from contextwise.learning.base import Run
from contextwise.support.arrays import IntArray


@st.composite
def tables(draw: st.DrawFn) -> Data:
    cards = draw(st.lists(st.integers(1, 4), min_size=2, max_size=4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    count = draw(st.integers(1, 60))
    rows = np.array([rng.integers(0, card, count) for card in cards]).T
    copied = rng.random(rows.shape) < 0.6
    for v in range(1, len(cards)):
        rows[:, v] = np.where(copied[:, v], rows[:, v - 1] % cards[v], rows[:, v])
    return as_data(rows, cw.Domain.of_cardinalities(cards))


def leaf(counts: Sequence[int], weight: float) -> float:
    part = weight / len(counts)
    score = math.lgamma(weight) - math.lgamma(weight + sum(counts))
    return score + sum(math.lgamma(part + c) - math.lgamma(part) for c in counts)


def best_tree(
    rows: IntArray, states: list[list[int]], child: int, free: dict[int, list[int]], prior: float
) -> float:
    """Return the score of the best tree by recursion over all splits."""
    share = math.prod(len(free[v]) / len(states[v]) for v in free)
    counts = [int((rows[:, child] == k).sum()) for k in states[child]]
    best = leaf(counts, prior * len(counts) * share)
    for v, allowed in free.items():
        size = len(states[v])
        partitions = [[[k] for k in allowed]] if len(allowed) in (size, size - 1) else []
        if len(allowed) == size > 2:
            partitions += [[[k], [x for x in allowed if x != k]] for k in allowed]
        cost = math.log(max(len(states) - 1, 1)) + (math.log(size + 1) if size > 2 else 0)
        for partition in partitions:
            if len(partition) < 2:
                continue
            parts = (
                best_tree(rows[np.isin(rows[:, v], p)], states, child, {**free, v: p}, prior)
                for p in partition
            )
            best = max(best, sum(parts) - cost)
    return best


def scores_of(data: Data, most: int) -> TreeScores:
    nothing = (0,) * len(data.domain)
    scores = TreeScores(CountedRows.of(data), 1.0, Limits(nothing, nothing, nothing))
    scores.find_families(most, Run())
    return scores


@given(data=tables())
def test_families_have_the_score_of_the_best_tree(data: Data) -> None:
    states = [np.unique(data.rows[:, v]).tolist() for v in range(len(data.domain))]
    families = scores_of(data, 2).families
    for child, family in enumerate(families):
        for mask, score in family.items():
            parents = [v for v in range(len(states)) if mask >> v & 1]
            expected = best_tree(data.rows, states, child, {v: states[v] for v in parents}, 1.0)
            assert score == pytest.approx(expected)


@given(data=tables())
def test_the_best_order_is_found(data: Data) -> None:
    scores = scores_of(data, 2)
    families = scores.families
    limits, run = scores.limits, Run()
    pruned = [_pruned(family, 0) for family in families]

    def value(masks: list[int]) -> float:
        return sum(families[v][mask] for v, mask in enumerate(masks))

    def of_order(order: Sequence[int]) -> float:
        before, total = 0, 0.0
        for v in order:
            total += max(s for mask, s in families[v].items() if mask & ~before == 0)
            before |= 1 << v
        return total

    expected = max(map(of_order, permutations(range(len(families)))))
    assert value(_exact(pruned, limits, run)) == pytest.approx(expected)
    assert value(_moves(pruned, limits, run)) <= expected + 1e-9


@given(data=tables())
def test_the_model_is_a_distribution_with_acyclic_arcs(data: Data) -> None:
    found = AcyclicTrees().fit(data)
    assert log_partition(found.model_) == pytest.approx(0)
    assert found.structure_.directions is not None
    for tree in found.trees_:
        assert tree.counts.sum() == len(data)
        assert len(tree.variables) == 2 * len(tree.counts) - 1


def test_moves_find_the_best_order_of_a_network() -> None:
    truth = cw.examples.truth("random-8#1")
    scores = scores_of(as_data(cw.sample(truth, 2000, seed=1, array=True), truth.domain), 3)
    families = scores.families
    pruned = [_pruned(family, 0) for family in families]
    values = [
        sum(families[v][mask] for v, mask in enumerate(search(pruned, scores.limits, Run())))
        for search in (_exact, _moves)
    ]
    assert values[1] == pytest.approx(values[0])


@pytest.mark.parametrize("name", ["random-8", "cstree-8#3", "bnlearn-sachs", "random-20"])
def test_planted_networks_are_found(name: str) -> None:
    truth = cw.examples.truth(name)
    rows = cw.sample(truth, 10_000, seed=1, array=True)
    found = AcyclicTrees().fit(as_data(rows, truth.domain))
    assert cw.compare(truth, found.structure_).normalized < 0.05


def test_a_split_into_one_state_and_the_rest() -> None:
    rng = np.random.default_rng(2)
    a = rng.integers(0, 5, 2000)
    b = np.where(a == 3, rng.random(2000) < 0.9, rng.random(2000) < 0.2).astype(int)
    found = AcyclicTrees(order=["v0", "v1"]).fit(np.stack([a, b], axis=1))
    assert found.trees_[1].variables.tolist() == [0, -1, -1]
    assert found.trees_[1].values[0] == 3


def test_states_that_do_not_occur_change_nothing() -> None:
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 2, (300, 3)) * 2
    rows[:, 2] = rows[:, 0]
    small, large = (
        AcyclicTrees().fit(rows // (2 // step), domain=cw.Domain.of_cardinalities([card] * 3))
        for step, card in ((1, 2), (2, 4))
    )
    assert small.structure_.pairs() == large.structure_.pairs() == [("v0", "v2")]


# -- limits ----------------------------------------------------------------------------------------


@pytest.fixture
def chain() -> IntArray:
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 2, (500, 4))
    for v in (1, 2):
        rows[:, v] = rows[:, v - 1] ^ (rng.random(500) < 0.1)
    return np.asarray(rows)


def test_an_order_decides_which_variables_are_parents(chain: IntArray) -> None:
    for order in permutations(["v0", "v1", "v2"]):
        found = AcyclicTrees(order=order).fit(chain)
        directions = found.structure_.directions
        assert directions is not None
        for first, second in combinations(order, 2):
            assert int(second[1]) not in directions.parents[int(first[1])]


@pytest.mark.parametrize("pair", [("v0", "v3"), ("v3", "v1")])
def test_required_pairs_depend_in_every_context(chain: IntArray, pair: tuple[str, str]) -> None:
    assert tuple(sorted(pair)) not in AcyclicTrees().fit(chain).structure_.pairs()
    found = AcyclicTrees(require=[pair]).fit(chain).structure_
    for v in {"v0", "v1", "v2", "v3"} - {*pair}:
        for state in (0, 1):
            assert tuple(sorted(pair)) in found.restrict({v: state}).pairs()


def test_forbidden_pairs_are_never_joined(chain: IntArray) -> None:
    collider = chain.copy()
    collider[:, 3] = collider[:, 0] & (1 - collider[:, 2]) ^ (chain[:, 3] & chain[:, 1])
    for pair in combinations(["v0", "v1", "v2", "v3"], 2):
        assert pair not in AcyclicTrees(forbid=[pair]).fit(collider).structure_.pairs()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_parents": -1}, "max_parents must be >= 0"),
        ({"prior": 0}, "prior must be > 0"),
        ({"order": ["v0", "v0"]}, "order has a variable twice"),
        ({"order": ["x"]}, "x"),
        ({"require": [("v0", "v1")], "forbid": [("v1", "v0")]}, "required and forbidden"),
        ({"require": [("v0", "v1"), ("v0", "v2"), ("v1", "v2")], "max_parents": 1}, "no network"),
    ],
)
def test_parameters_that_make_no_sense_are_errors(
    chain: IntArray, parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises((ContextwiseError, DomainError), match=message):
        AcyclicTrees(**parameters).fit(chain)


def test_without_parents_everything_is_independent(chain: IntArray) -> None:
    assert AcyclicTrees(max_parents=0).fit(chain).structure_.pairs() == []


def test_a_time_limit_gives_the_network_so_far() -> None:
    rows = np.random.default_rng(0).integers(0, 3, (3000, 40))
    found = AcyclicTrees().fit(rows, time_limit=0.3)
    assert not found.finished_
    assert log_partition(found.model_) == pytest.approx(0)


@pytest.mark.parametrize("pairs", [[("v0", "v3")], [("v0", "v3"), ("v1", "v3")]])
def test_a_time_limit_keeps_required_pairs(chain: IntArray, pairs: list[tuple[str, str]]) -> None:
    found = AcyclicTrees(require=pairs).fit(chain, time_limit=0)
    assert not found.finished_
    assert found.structure_.pairs()
    assert {*pairs} <= {*found.structure_.pairs()}


@pytest.mark.parametrize("steps", [1, 3])
def test_an_interrupt_keeps_the_network_so_far(chain: IntArray, steps: int) -> None:
    def interrupt(done: int, total: int) -> None:
        calls.append(done)
        if len(calls) == steps:
            raise KeyboardInterrupt

    calls: list[int] = []
    learner = AcyclicTrees(require=[("v0", "v3")])
    with pytest.raises(KeyboardInterrupt):
        learner.fit(chain, show_progress=interrupt)
    assert not learner.finished_
    assert "unfinished" in learner.structure_.origin.words
    assert ("v0", "v3") in learner.structure_.pairs()
    assert log_partition(learner.model_) == pytest.approx(0)
