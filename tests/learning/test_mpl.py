"""MPL: scores of blankets, and the graph of the best ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import contextwise as cw
from contextwise.data.rows import as_data
from contextwise.learning import MPL
from contextwise.learning.contextual_mpl import Classes, classes_of
from contextwise.learning.counted_rows import CountedRows
from contextwise.learning.mpl import Scores, scale_of
from known_truths import SWITCH, drawn_rows


def blanket_score(table: CountedRows, target: int, blanket: list[int]) -> float:
    return Scores(table, 1.0).of(target, frozenset(blanket))


def both_classes(table: CountedRows, target: int, blanket: list[int]) -> list[Any]:
    return [Classes(table, target, blanket, 1.0), classes_of(table, target, blanket, 1.0)]


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
        for classes in both_classes(table, target, blanket):
            assert classes.total() / scale_of(table) == pytest.approx(expected, abs=1e-9)


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 1)), max_size=12),
    st.integers(0, 2),
    st.integers(0, 1),
)
@settings(max_examples=40, deadline=None)
def test_classes_gain_what_they_say(
    rows: list[tuple[int, int, int]], first: int, second: int
) -> None:
    table = CountedRows.of(
        as_data(np.array(rows, dtype=int).reshape(-1, 3), {"A": 2, "B": 3, "C": 2})
    )
    gains = []
    for classes in both_classes(table, 0, [1, 2]):
        for other, context in ((2, {1: [first]}), (1, {2: [second]}), (2, {})):
            before, gain = classes.total(), classes.gain(other, [context])
            gains.append(gain)
            classes.merge(other, context)
            assert classes.total() == before + gain
            assert classes.gain(other, [context]) == 0
            assert classes.is_merged(other, context)
    # Both twins agree up to rounding.
    assert gains[:3] == pytest.approx(gains[-3:], abs=1e-8 * scale_of(table))
    # Without C, and with B distinguished, the blanket is B alone.
    for classes in both_classes(table, 0, [1, 2]):
        classes.merge(2, {})
        expected = blanket_score(table, 0, [1])
        assert classes.total() / scale_of(table) == pytest.approx(expected, abs=1e-9)


def test_a_graph_cannot_see_contexts() -> None:
    found = MPL().fit(drawn_rows(SWITCH, 20_000, 0), domain=SWITCH.domain)
    assert found.graph_.sum() == 6
    assert cw.compare(SWITCH, found.structure_).fp == 1
    table = CountedRows.of(as_data(drawn_rows(SWITCH, 20_000, 0), SWITCH.domain))
    blankets = ([1, 2], [0, 2], [0, 1])
    expected = sum(blanket_score(table, v, own) for v, own in enumerate(blankets))
    assert found.score_ == pytest.approx(expected)
