"""GSMN: a graph by Markov blankets."""

from __future__ import annotations

import contextwise as cw
from contextwise.learning import GSMN
from known_truths import SWITCH, exact_rows


def test_a_graph_cannot_see_contexts() -> None:
    found = GSMN().fit(exact_rows(SWITCH, 20_000), domain=SWITCH.domain)
    assert found.blankets_ == [(1, 2), (0, 2), (0, 1)]
    assert cw.compare(SWITCH, found.structure_).fp == 1
