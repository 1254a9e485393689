"""Cells become texts, and rounded numbers keep their digits."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from contextwise.report.parts import (
    Column,
    Interval,
    Section,
    Share,
    Table,
    cell_text,
    exact_digits,
    is_rounded,
)


class TestCells:
    @given(st.integers(0, 10**40))
    def test_what_is_rounded_has_its_digits(self, value: int) -> None:
        column = Column("errors", "count")
        exact = exact_digits(value, column)
        shown = cell_text(value, column)
        assert (exact is None) == (shown == f"{value:,}")
        assert exact in (None, str(value))
        table = Table("", (column,), ((Interval(0, value),),))
        assert is_rounded([Section("", (table,))]) == (exact is not None)

    def test_each_style_has_its_words(self) -> None:
        assert cell_text(Fraction(1, 8), Column("", "share")) == "12.5 %"
        assert cell_text(2.5, Column("", "mean")) == "2.50"
        assert cell_text(float("inf"), Column("", "score")) == "inf"
        assert cell_text("a" * 99, Column("", "name")) != "a" * 99
        assert cell_text("a" * 99, Column("", "words")) == "a" * 99
        assert cell_text(Interval(3, 10**20), Column("", "count")) == "3 to 1.000e20"
        assert cell_text(0.99999, Column("", "rate")) == ">0.9999"
        assert cell_text(None, Column("", "rate")) == "–"
        third, column = Share(1, 3), Column("", "share")
        assert cell_text(third, column) == "33.3 %"
        assert cell_text(third, Column("", "counted")) == "33.3 % (1 of 3)"
        assert exact_digits(third, column) == "1 of 3"
