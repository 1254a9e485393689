"""Shares of contexts are those of the comparison."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from contextwise import Structure, compare
from contextwise.report.shares import Edge, edge_text, edges_of, select_edges
from contextwise.testing import families


class TestAgreement:
    @given(families(2))
    @settings(max_examples=40, deadline=None)
    def test_shares_are_those_of_the_comparison(self, models: tuple[Structure, Structure]) -> None:
        found = compare(*models)
        for edge in edges_of(found):
            pair = found.pair(*edge.pair)
            assert edge.tp == pytest.approx(pair.tp / pair.total)
            assert edge.errors == pytest.approx(pair.normalized)


def test_a_selection_and_an_edge_in_words() -> None:
    pairs = ("A", "B"), ("B", "C"), ("C", "D")
    same, small, large = (
        Edge(pair, *shares)
        for pair, shares in zip(pairs, ((1.0, 0, 0), (0, 0.25, 0), (0, 0, 1.0)), strict=True)
    )
    edges = [same, small, large]
    assert select_edges(edges, most_edges=1).description == "1 of 2 differences, the largest first"
    assert select_edges(edges, around=["B"]).description == "both dependencies of B"
    assert edge_text(Edge(("A", "B"), tp=0.5, fp=0.25, fn=0.0)) == (
        "A – B: in both in 50 % of contexts, only in guess in 25 % of contexts"
    )
