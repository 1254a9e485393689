"""ContextualMPL: edges in contexts."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import contextwise as cw
from contextwise.data.rows import as_data
from contextwise.evidence.counted_rows import CountedRows, not_compiled
from contextwise.learning import ContextualMPL
from contextwise.learning.literature.contextual_mpl import (
    EVERYWHERE,
    EdgeContexts,
    from_edge_contexts,
)
from contextwise.learning.marginal_likelihood import BlanketScores, scale_of
from known_truths import SWITCH, drawn_rows


def classes_of(table: CountedRows, target: int, blanket: list[int]) -> Any:
    return table.need_compiled("test").classes(target, blanket, 1.0, scale_of(table))


@pytest.mark.skipif(bool(not_compiled), reason=str(not_compiled))
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
    classes = classes_of(table, 0, [1, 2])
    for other, context in ((2, {1: first}), (1, {2: second}), (2, {})):
        before, gain = classes.total(), classes.gain(other, context)
        classes.merge(other, context)
        assert classes.total() == before + gain
        assert classes.gain(other, context) == 0
        assert classes.is_merged(other, context)
    # Without C, and with B distinguished, the blanket is B alone.
    classes = classes_of(table, 0, [1, 2])
    classes.merge(2, {})
    expected = BlanketScores(table, 1.0).of(0, frozenset([1]))
    assert classes.total() / scale_of(table) == pytest.approx(expected, abs=1e-9)


# -- contexts --------------------------------------------------------------------------------------


def test_blankets_beyond_the_limit_keep_their_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contextwise.learning.literature.contextual_mpl.CONFIGURATIONS", 2)
    found = ContextualMPL().fit(drawn_rows(SWITCH, 5000, 0), domain=SWITCH.domain)
    assert cw.compare(SWITCH, found.structure_).fp == 1
    assert all(edge == EVERYWHERE for edge in found.edges_.values())


def test_contexts_that_add_more_than_they_save_are_not_written() -> None:
    domain = cw.Domain.of_cardinalities([2, 2, 2, 2])
    rows = np.array(list(itertools.product((0, 1), repeat=4)))
    edges = dict.fromkeys([(0, 2), (0, 3), (1, 2), (1, 3)], EVERYWHERE)
    # v0 and v1 are absent in one of four contexts of v2 and v3, which have no edge.
    edges[0, 1] = EdgeContexts([{2: [0]}, {2: [1], 3: [0]}], [{2: [1], 3: [1]}])
    found = from_edge_contexts(domain, edges, rows)
    assert ("v2", "v3") not in found.pairs()
    edges[2, 3] = EVERYWHERE
    written = from_edge_contexts(domain, edges, rows)
    assert written.restrict("v2=1 & v3=1").pairs() == []
    assert written.restrict("v2=1 & v3=0").pairs() == [("v0", "v1")]
