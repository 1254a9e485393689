"""EdgeTrees: a tree of contexts for each edge."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import contextwise as cw
from contextwise.learning import EdgeTrees
from contextwise.learning.edge_contexts import EVERYWHERE
from known_truths import SWITCH, drawn_rows


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


def test_without_depth_edges_are_present_everywhere() -> None:
    learner = EdgeTrees(depth=0).fit(drawn_rows(SWITCH, 300, 5))
    assert all(edge == EVERYWHERE for edge in learner.edges_.values())


def test_a_time_limit_holds_inside_a_pair() -> None:
    rng = np.random.default_rng(1)  # the trees of a pair given 100 states take longer
    rows = np.column_stack([np.arange(100), rng.integers(0, 2, (100, 5))])
    domain = cw.Domain.of_cardinalities([100, 2, 2, 2, 2, 2])
    learner = EdgeTrees().fit(rows, domain=domain, time_limit=0.2)
    assert not learner.finished_
