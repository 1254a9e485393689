"""The default learner: which of both it takes, and what it says about it."""

from __future__ import annotations

import numpy as np
import pytest

from contextwise.data.rows import Data, as_data
from contextwise.learning import AcyclicTrees, BestOfTwo, PairBlocks
from contextwise.models.domain import Domain


def collider(count: int, seed: int = 0) -> Data:
    """Draw rows in which a fifth variable depends on whether any of four is 1."""
    rng = np.random.default_rng(seed)
    causes = rng.integers(0, 2, (count, 4))
    effect = rng.random(count) < np.where(causes.any(axis=1), 0.8, 0.2)
    return as_data(np.column_stack([causes, effect.astype(int)]))


def chain(count: int, seed: int = 0) -> Data:
    """Draw rows of a chain, which both learners can represent."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, 2, count)]
    for _ in range(3):
        columns.append(np.where(rng.random(count) < 0.2, 1 - columns[-1], columns[-1]))
    return as_data(np.column_stack(columns))


@pytest.mark.parametrize("data", [collider(2000), chain(2000), collider(300), chain(300)])
def test_the_result_is_that_of_the_learner_it_names(data: Data) -> None:
    learned = BestOfTwo().fit(data)
    name = learned.structure_.origin.learner
    other = {"pair-blocks": PairBlocks(), "acyclic-trees": AcyclicTrees()}[name]
    assert learned.structure_ == other.fit(data).structure_
    origin = learned.structure_.origin.learned
    assert origin is not None
    assert origin.reason
    assert origin.reason in origin.sentence


def test_a_network_is_chosen_where_the_rows_prefer_it() -> None:
    learned = BestOfTwo().fit(collider(2000))
    assert learned.structure_.origin.learner == "acyclic-trees"
    assert learned.structure_.directions is not None


@pytest.mark.parametrize("count", [300, 900])
def test_the_choice_does_not_depend_on_the_order_of_the_rows(count: int) -> None:
    data = collider(count)
    order = np.random.default_rng(1).permutation(count)
    again = Data(data.domain, data.rows[order])
    first, second = (BestOfTwo().fit(each) for each in (data, again))
    assert (first.chosen_.name, first.reason_) == (second.chosen_.name, second.reason_)


def test_a_large_table_keeps_pair_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("acyclic-trees was fitted")

    monkeypatch.setattr(AcyclicTrees, "learn", refuse)
    rows = np.random.default_rng(0).integers(0, 2, (100, 18))
    learned = BestOfTwo().fit(Data(Domain.of_cardinalities((2,) * 18), rows))
    assert learned.chosen_.name == "pair-blocks"
    assert "262,144 cells" in learned.reason_


def test_parts_of_the_rows_keep_the_choice() -> None:
    data = collider(2000)
    learner = BestOfTwo()
    assert learner.settled(data).name == "acyclic-trees"
    assert PairBlocks().settled(data).name == "pair-blocks"
