"""Results of pairs: places, limits and families of tests."""

from __future__ import annotations

from dataclasses import replace

import pytest

from contextwise.evidence.pair_records import PairEvidence
from contextwise.evidence.pair_verdicts import corrected
from contextwise.evidence.row_tests import RowTests
from contextwise.support.effort import Effort
from small_tables import data_of, rows_of


@pytest.mark.parametrize("pair", [("A", "B"), ("B", "D"), ("A", "E")])
def test_both_variables_of_a_pair_have_the_same_place(pair: tuple[str, str]) -> None:
    tests = RowTests(data_of(rows_of(4)))
    one, other = tests.given(pair, effects=False), tests.given(pair[::-1], effects=False)
    assert one.p == pytest.approx(other.p)
    same, turned = (tests.same(p, "C", effects=False) for p in (pair, pair[::-1]))
    assert same.p == pytest.approx(turned.p, rel=1e-5)


def test_a_limit_and_a_family_of_what_was_asked() -> None:
    tests = RowTests(data_of(rows_of(9)))
    none = tests.pairs(effort=Effort.of(0.0))
    assert (len(none), none.unfinished) == (0, 10)
    outcome = tests.pairs(outcome="C", effects=False)
    assert [each.family for each in outcome.pairs[:5]] == ["pairs with C"] * 4 + ["the other pairs"]
    assert all("C" in each.pair for each in outcome.of_outcome)
    p = PairEvidence(("A", "B"), "suggestive", 0.02, None, "")
    assert [e.adjusted for e in corrected([p], "f", 4)] == [pytest.approx(0.08)]
    assert corrected([p], "f")[0].verdict == "associated"
    assert corrected([replace(p, average_p=0.3)], "f")[0].verdict == "associated, not on average"
