"""ContextualMPL: edges that are absent in contexts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import contextwise as cw
from contextwise.learning import ContextualMPL
from contextwise.learning.contextual_mpl import EVERYWHERE, Edge, from_edge_contexts
from known_truths import SWITCH, drawn_rows


def test_blankets_beyond_the_limit_keep_their_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contextwise.learning.contextual_mpl.CONFIGURATIONS", 2)
    found = ContextualMPL().fit(drawn_rows(SWITCH, 5000, 0), domain=SWITCH.domain)
    assert cw.compare(SWITCH, found.structure_).fp == 1
    assert all(edge == EVERYWHERE for edge in found.edges_.values())


def test_contexts_that_add_more_than_they_save_are_not_written() -> None:
    domain = cw.Domain.of_cardinalities([2, 2, 2, 2])
    rows = np.array(list(itertools.product((0, 1), repeat=4)))
    edges = dict.fromkeys([(0, 2), (0, 3), (1, 2), (1, 3)], EVERYWHERE)
    # v0 and v1 are absent in one of four contexts of v2 and v3, which have no edge.
    edges[0, 1] = Edge([{2: [0]}, {2: [1], 3: [0]}], [{2: [1], 3: [1]}])
    found = from_edge_contexts(domain, edges, rows)
    assert ("v2", "v3") not in found.pairs()
    edges[2, 3] = EVERYWHERE
    written = from_edge_contexts(domain, edges, rows)
    assert written.restrict("v2=1 & v3=1").pairs() == []
    assert written.restrict("v2=1 & v3=0").pairs() == [("v0", "v1")]
