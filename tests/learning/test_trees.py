"""Trees: the rules by a plain oracle, corners, scores, long work."""

from __future__ import annotations

import math
import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import contextwise as cw
from contextwise.errors import ContextwiseError, DomainError
from contextwise.learning import AcyclicTrees, Data, Trees, as_data
from contextwise.learning.base import fresh
from contextwise.learning.tree_features import Tree, network_of
from contextwise.learning.trees import not_compiled
from drawn_trees import learners, tables

pytestmark = pytest.mark.skipif(bool(not_compiled), reason=str(not_compiled))

Node = tuple[Any, ...]


def score(rows: list[list[int]], states: int, target: int, prior: float) -> float:
    total = 0.0
    for k in range(states):
        count = sum(row[target] == k for row in rows)
        if count:
            total += count * math.log((count + prior / states) / (len(rows) + prior))
    return total


def oracle(rows: list[list[int]], cards: tuple[int, ...], target: int, given: Trees) -> Node:
    """The tree as nested tuples: (variable, value, where it holds, where it fails) or counts."""
    states = cards[target]
    best: tuple[float, int, int] = (given.penalty, -1, -1)
    for v, card in enumerate(cards):
        for k in range(card) if card > 2 else range(card - 1):
            sides = [[r for r in rows if (r[v] == k) is holds] for holds in (True, False)]
            if v == target or min(map(len, sides)) < given.min_count:
                continue
            gain = sum(score(side, states, target, given.prior) for side in sides)
            gain -= score(rows, states, target, given.prior)
            if gain > best[0]:
                best = (gain, v, k)
    _, v, k = best
    if v < 0:
        return tuple(sum(row[target] == k for row in rows) for k in range(states))
    sides = [[r for r in rows if (r[v] == k) is holds] for holds in (True, False)]
    return (v, k, *(oracle(side, cards, target, given) for side in sides))


def nested(tree: Tree) -> Node:
    """A tree in preorder as nested tuples."""
    nodes: Iterator[tuple[int, int]] = iter(
        zip(tree.variables.tolist(), tree.values.tolist(), strict=True)
    )
    leaves = iter(tree.counts.tolist())

    def take() -> Node:
        variable, value = next(nodes)
        return tuple(next(leaves)) if variable < 0 else (variable, value, take(), take())

    return take()


def assert_follows_the_rules(data: Data, learner: Trees) -> int:
    """Check each tree against the oracle; return the number of leaves."""
    cards, rows = data.domain.cardinalities, data.rows.tolist()
    trees = learner.fit(data, domain=data.domain).trees_
    for tree in trees:
        assert nested(tree) == oracle(rows, cards, tree.target, learner)
    return sum(len(tree.counts) for tree in trees)


@given(data=tables(120), learner=learners)
def test_trees_follow_the_rules(data: Data, learner: Trees) -> None:
    assert_follows_the_rules(data, learner)


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 150])
def test_more_variables_and_words(rows: int) -> None:
    rng = np.random.default_rng(rows)
    hidden = rng.integers(0, 3, (rows, 1))
    table = (rng.integers(0, 3, (rows, 15)) + hidden > 2) + (hidden == 2) * rng.integers(0, 2, 15)
    data = as_data(table, cw.Domain.of_cardinalities([3] * 15))
    learner = Trees(penalty=0.5, min_count=2)
    assert (assert_follows_the_rules(data, learner) > 15) == (rows > 60)


def test_many_values_in_many_rows() -> None:
    # Here rows are counted one by one and not by sets.
    rng = np.random.default_rng(2)
    hidden = rng.integers(0, 65, 1300)
    noisy = [np.where(rng.random(1300) < 0.5, hidden, rng.integers(0, 65, 1300)) for _ in range(2)]
    rows = np.stack([*noisy, hidden % 2], axis=1)
    data = as_data(rows, cw.Domain.of_cardinalities([65, 65, 2]))
    assert assert_follows_the_rules(data, Trees(penalty=15.0, min_count=5)) > 10


def test_a_recorded_case() -> None:
    # 12 rows of (A, B, C), C = A where B=0 and noise where B=1; counted and scored by hand.
    rows = [[0, 0, 0]] * 3 + [[1, 0, 1]] * 3 + [[0, 1, 0], [0, 1, 1], [1, 1, 0]] * 2
    found = Trees(penalty=0.1, min_count=2).fit(rows)
    tree = found.trees_[2]
    assert nested(tree) == (0, 0, (1, 0, (3, 0), (2, 2)), (1, 0, (0, 3), (2, 0)))
    alone = network_of(found.domain_, [tree], 1.0)
    expected = {
        "v0=0 & v1=0 & v2=0": 3.5 / 4,
        "v0=0 & v1=0 & v2=1": 0.5 / 4,
        "v0=0 & v1=1 & v2=0": 2.5 / 5,
        "v0=0 & v1=1 & v2=1": 2.5 / 5,
        "v0=1 & v1=0 & v2=0": 0.5 / 4,
        "v0=1 & v1=0 & v2=1": 3.5 / 4,
        "v0=1 & v1=1 & v2=0": 2.5 / 3,
        "v0=1 & v1=1 & v2=1": 0.5 / 3,
    }
    texts = map(alone.structure.feature_text, range(len(alone)))
    weights = dict(zip(texts, np.exp(alone.weights).tolist(), strict=True))
    assert weights == pytest.approx(expected)


def test_ties_go_to_the_first_candidate() -> None:
    column = np.repeat([0, 1], 30)
    rows = np.stack([column] * 4, axis=1)
    found = Trees(penalty=1).fit(rows)
    assert [int(tree.variables[0]) for tree in found.trees_] == [1, 0, 0, 0]
    turned = rows.copy()
    turned[:, 1] = 1 - column  # the opposite column divides the rows in the same way
    found = Trees(penalty=1).fit(turned)
    assert [int(tree.variables[0]) for tree in found.trees_] == [1, 0, 0, 0]


def test_nothing_is_split_without_rows_values_or_gain() -> None:
    domain = cw.Domain({"A": 2, "B": 1, "C": 3})
    for learner in (Trees(penalty=0, min_count=0), AcyclicTrees()):
        for rows in (np.zeros((0, 3), dtype=int), [[0, 0, 2]], [[1, 0, 1]] * 50):
            found = learner.fit(rows, domain=domain)
            assert found.structure_.pairs() == []
            assert len(found.model_) == 6  # the values of A and C, and the one of B, which is true


def test_parameters_that_make_no_sense_are_errors() -> None:
    rows = [[0, 1], [1, 0]]
    for parameters in ({"penalty": -1}, {"penalty": math.nan}, {"min_count": -1}, {"prior": 0}):
        with pytest.raises(DomainError, match=next(iter(parameters))):
            Trees(**parameters).fit(rows)
    with pytest.raises(ContextwiseError, match="n_jobs"):
        Trees(n_jobs=0).fit(rows)
    with pytest.raises(ContextwiseError, match="refit must be 'l1' or None"):
        Trees(refit="l2").fit(rows)  # type: ignore[arg-type]


def test_threads_do_not_change_the_trees() -> None:
    rows = np.random.default_rng(0).integers(0, 2, (500, 30))
    one, two = (Trees(penalty=1, n_jobs=n).fit(rows) for n in (1, -1))
    assert one.trees_ == two.trees_
    assert one.structure_.origin.learned == two.structure_.origin.learned


ENDLESS = Trees(penalty=0.0, min_count=1, n_jobs=2)


def _many_rows() -> Data:
    rows = np.random.default_rng(0).integers(0, 2, (50_000, 300))
    return as_data(rows, cw.Domain.of_cardinalities([2] * 300))


def test_growth_can_be_interrupted() -> None:
    rows = _many_rows()

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            fresh(ENDLESS).fit(rows)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_growth_that_is_stopped_gives_whole_trees() -> None:
    rows = _many_rows()
    found = fresh(ENDLESS).fit(rows, time_limit=0.2)
    trees = found.trees_
    assert not found.finished_
    assert [tree.target for tree in trees] == list(range(300))
    for tree in trees:
        assert len(tree.variables) == 2 * len(tree.counts) - 1
        assert tree.counts.sum() == len(rows)


def test_growth_tells_how_far_it_is_and_passes_errors_on() -> None:
    seen: list[tuple[int, int]] = []

    def report(done: int, total: int) -> None:
        seen.append((done, total))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fresh(ENDLESS).fit(_many_rows(), show_progress=report)
    assert seen[0][1] == 300
