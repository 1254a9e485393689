"""Shares of contexts are those of the comparison."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from contextwise import Structure, compare
from contextwise.report.shares import edges_of
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
