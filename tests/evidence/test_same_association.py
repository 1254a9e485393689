"""Whether an association is the same in all states of a third variable."""

from __future__ import annotations

from contextwise.evidence.row_tests import RowTests
from small_tables import data_of, rows_of


def test_three_variables_have_one_interaction() -> None:
    tests = RowTests(data_of(rows_of(5, 2000)))
    asked = [(("A", "B"), "C"), (("A", "C"), "B"), (("B", "C"), "A")]
    found = tests.interactions(asked, "three forms", effects=False)
    assert len({each.p for each in found}) == len({each.adjusted for each in found}) == 1
    assert found[0].adjusted == found[0].p  # a family of one
