"""Features and networks of trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from contextwise.distributions import mean_pseudo_log_likelihood
from contextwise.errors import DomainError
from contextwise.learning import Data, Trees
from contextwise.learning.tree_features import network_of, tree_logs
from contextwise.learning.trees import not_compiled
from drawn_trees import learners, tables
from features_invariant import check_features

pytestmark = pytest.mark.skipif(bool(not_compiled), reason=str(not_compiled))


@given(data=tables(), learner=learners)
def test_features_are_the_paths(data: Data, learner: Trees) -> None:
    trees = learner.fit(data, domain=data.domain).trees_
    network = network_of(data.domain, trees, learner.prior)
    check_features(network.structure.features)
    potential = np.zeros(len(data))
    for feature, weight in zip(
        network.structure.features.literals(), network.weights.tolist(), strict=True
    ):
        holds = [
            np.array([allowed >> int(x) & 1 for x in data.rows[:, v]]) for v, allowed in feature
        ]
        potential += weight * np.prod(holds, axis=0) if holds else weight
    logs: Any = sum(tree_logs(tree, data.rows, learner.prior) for tree in trees)
    assert potential == pytest.approx(logs)


def test_scores_are_those_of_the_trees_and_of_the_network() -> None:
    rng = np.random.default_rng(8)
    rows = rng.integers(0, 2, (300, 5))
    rows[:, 4] = rows[:, 0] & rows[:, 1]
    found = Trees(penalty=2).fit(rows[:200])
    expected = sum(tree_logs(t, rows[200:], 1.0) for t in found.trees_)
    assert found.conditional_score(rows[200:]) == pytest.approx(np.mean(expected))
    assert found.score(rows[200:]) == pytest.approx(
        mean_pseudo_log_likelihood(found.model_, rows[200:])
    )
    refitted = Trees(penalty=2, refit="l1", l1=1.0).fit(rows[:200])
    assert refitted.trees_ == found.trees_
    assert (refitted.model_.weights != 0).all()
    assert refitted.structure_._key <= found.structure_._key
    assert refitted.score(rows[:200]) > found.score(rows[:200])
    with pytest.raises(DomainError, match="cannot score 0 rows"):
        found.conditional_score(np.zeros((0, 5), dtype=int))
