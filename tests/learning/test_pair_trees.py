"""The tree of contexts of each pair."""

from itertools import product

import numpy as np
import pytest

import contextwise as cw
from contextwise.learning.logit import Context
from contextwise.learning.pair_trees import EVERYWHERE, NOWHERE, PairTrees


@pytest.mark.parametrize("seed", range(20))
def test_trees_agree_with_enumeration(seed: int) -> None:
    """What a tree leaves out, what it covers and what is possible, cell by cell."""
    rng = np.random.default_rng(seed)
    cards = [2, 2, 3, 2]
    cells = list(product(*(range(card) for card in cards[2:])))

    def holds(context: Context, cell: tuple[int, ...]) -> bool:
        return all(states >> cell[v - 2] & 1 for v, states in context)

    def draw() -> Context:
        scope = [v for v in (2, 3) if rng.random() < 0.6]
        return tuple((v, int(rng.integers(1, (1 << cards[v]) - 1))) for v in scope)

    tree = tuple({draw() for _ in range(2)})
    trees = PairTrees(cards)
    absent = trees.absent(tree)
    for cell in cells:
        inside = any(holds(context, cell) for context in tree)
        assert sum(holds(context, cell) for context in absent) == (not inside)
    region = draw()
    expected = all(any(holds(c, x) for c in tree) for x in cells if holds(region, x))
    assert trees.covers(tree, region) == expected


def test_features_claim_what_the_trees_do() -> None:
    trees = PairTrees([2, 2, 2])
    trees[0, 2] = trees[1, 2] = EVERYWHERE
    assert trees.is_possible((0, 1), (((2, 1),),))
    trees[0, 1] = (((2, 1),),)
    assert not trees.is_possible((0, 2), NOWHERE)
    assert not trees.is_possible((0, 2), (((1, 1),),))
    domain = cw.Domain({"A": 2, "B": 2, "C": 2})
    structure = trees.structure(domain, [[[0], [1]]] * 3)
    assert structure.restrict("C=0").pairs() == [("A", "B")]
    assert structure.restrict("C=1").pairs() == []
