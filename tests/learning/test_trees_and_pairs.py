"""TreesAndPairs: it uses the features of both learners."""

from __future__ import annotations

import numpy as np

from contextwise.learning import SparsePairs, Trees, TreesAndPairs


def test_trees_and_pairs_score_no_worse_than_trees_alone() -> None:
    rng = np.random.default_rng(6)
    rows = rng.integers(0, 2, (1000, 5))
    for v in range(1, 5):
        copy = rng.random(1000) < 0.6
        rows[copy, v] = rows[copy, v - 1]
    both = TreesAndPairs(penalty=5, pairs_l1=5, l1=1).fit(rows)
    trees = Trees(penalty=5, refit="l1", l1=1).fit(rows)
    assert both.score(rows) >= trees.score(rows) - 1e-3
    assert (both.model_.weights != 0).all()
    features = Trees(penalty=5).fit(rows).structure_ | SparsePairs(l1=5).fit(rows).structure_
    assert both.structure_._key <= features._key
