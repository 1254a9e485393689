"""The marginal pseudo-likelihood of a blanket."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextwise.data.rows import as_data
from contextwise.evidence.counted_rows import CountedRows, not_compiled
from contextwise.learning.marginal_likelihood import BlanketScores, scale_of


def blanket_score(table: CountedRows, target: int, blanket: list[int]) -> float:
    return BlanketScores(table, 1.0).of(target, frozenset(blanket))


def classes_of(table: CountedRows, target: int, blanket: list[int]) -> Any:
    return table.need_compiled("test").classes(target, blanket, 1.0, scale_of(table))


def slow_score(rows: list[list[int]], cards: list[int], target: int, blanket: list[int]) -> float:
    """One row after the other: the probability of its value given the rows before it."""
    weight = 1 / math.prod(cards[v] for v in blanket)
    seen: dict[Any, list[int]] = {}
    total = 0.0
    for row in rows:
        counts = seen.setdefault(tuple(row[v] for v in blanket), [0] * cards[target])
        share = weight / cards[target]
        total += math.log((counts[row[target]] + share) / (sum(counts) + weight))
        counts[row[target]] += 1
    return total


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 1)), max_size=12))
@settings(max_examples=40, deadline=None)
def test_a_score_is_the_product_of_predictions(rows: list[tuple[int, int, int]]) -> None:
    cards = [2, 3, 2]
    table = CountedRows.of(
        as_data(np.array(rows, dtype=int).reshape(-1, 3), {"A": 2, "B": 3, "C": 2})
    )
    for target, blanket in ((0, []), (0, [1]), (1, [0, 2]), (2, [1])):
        expected = slow_score([list(row) for row in rows], cards, target, blanket)
        assert blanket_score(table, target, blanket) == pytest.approx(expected, abs=1e-9)
        if not not_compiled:
            classes = classes_of(table, target, blanket)
            assert classes.total() / scale_of(table) == pytest.approx(expected, abs=1e-9)
