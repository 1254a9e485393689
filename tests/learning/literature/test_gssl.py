"""GSSL: generated features, and the ones that are kept."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise.errors import DomainError
from contextwise.learning import GSSL
from contextwise.learning.literature.gssl import generate
from contextwise.models.domain import Domain
from contextwise.models.factors import conjunctions
from contextwise.support.arrays import IntArray


def chain(count: int, seed: int) -> IntArray:
    """Rows in which every variable mostly follows the one before."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (count, 5))
    for v in range(1, 5):
        copy = rng.random(count) < 0.6
        rows[copy, v] = rows[copy, v - 1]
    return rows


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.integers(0, 99), st.integers(0, 60))
def test_generated_features_hold_in_a_row(cards: list[int], seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    rows = np.stack([rng.integers(0, c, 4) for c in cards], axis=1)
    found = generate(rows, count, np.random.default_rng(seed))
    assert found.shape == (count, len(cards))
    kept = found >= 0
    holds = (found[:, None] == rows) | ~kept[:, None]
    assert holds.all(axis=2).any(axis=1).all()
    assert (kept.sum(axis=1) >= 1).all()
    if len(cards) > 1:
        assert (kept.sum(axis=1) < len(cards)).all()
    assert np.array_equal(found, generate(rows, count, np.random.default_rng(seed)))


def test_every_number_of_literals_is_as_likely() -> None:
    rows = np.arange(5)[None].repeat(1000, axis=0)
    lengths = (generate(rows, 1000, np.random.default_rng(0)) >= 0).sum(axis=1)
    # most parents are rows, of which 1 to 4 literals stay
    shares = np.bincount(lengths, minlength=6)[1:5] / 1000
    assert (np.diff(shares) < 0.02).all()
    assert shares.min() > 0.1
    variables = (generate(rows, 4000, np.random.default_rng(0)) >= 0).mean(axis=0)
    assert variables.max() - variables.min() < 0.05


def test_often_generated_features_are_kept_and_fitted() -> None:
    rows = chain(500, 8)
    found = GSSL(count=3000, min_count=5, l1=3.0, seed=7).fit(rows)
    assert found.kept_ <= found.generated_ <= 3000
    assert len(found.structure_) <= found.kept_
    assert (found.model_.weights != 0).all()
    again = GSSL(count=3000, min_count=5, l1=3.0, seed=7).fit(rows)
    assert again.model_ == found.model_
    assert GSSL(count=3000, min_count=5, l1=3.0, seed=8).fit(rows).model_ != found.model_
    assert found.score(rows) > -5 * np.log(2) + 0.3
    assert len(GSSL(count=3000, min_count=3001).fit(rows).structure_) == 0
    assert len(GSSL(count=0).fit(rows).structure_) == 0


def test_gssl_on_strange_data() -> None:
    empty = GSSL().fit(np.zeros((0, 2), dtype=int), domain={"A": 2, "B": 3})
    assert len(empty.structure_) == 0
    one = GSSL(count=50, min_count=1, l1=0.01).fit([[1, 64]], domain={"A": 2, "B": 65})
    assert one.kept_ == 2
    with pytest.raises(DomainError, match="min_count"):
        GSSL(min_count=0).fit([[0, 1]])
    domain = Domain({"A": 2, "B": 65})
    assert len(conjunctions(domain, np.array([[1, 64], [1, -1], [1, 64]]))) == 2
