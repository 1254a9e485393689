"""MPL: the graph of the best blankets."""

from __future__ import annotations

import pytest

import contextwise as cw
from contextwise.data.rows import as_data
from contextwise.evidence.counted_rows import CountedRows
from contextwise.learning import MPL
from contextwise.learning.marginal_likelihood import BlanketScores
from known_truths import SWITCH, drawn_rows


def test_a_graph_cannot_see_contexts() -> None:
    found = MPL().fit(drawn_rows(SWITCH, 20_000, 0), domain=SWITCH.domain)
    assert found.graph_.sum() == 6
    assert cw.compare(SWITCH, found.structure_).fp == 1
    table = CountedRows.of(as_data(drawn_rows(SWITCH, 20_000, 0), SWITCH.domain))
    blankets = ([1, 2], [0, 2], [0, 1])
    expected = sum(
        BlanketScores(table, 1.0).of(v, frozenset(own)) for v, own in enumerate(blankets)
    )
    assert found.score_ == pytest.approx(expected)
