"""Cells become texts, and rounded numbers keep their digits."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from contextwise.report.parts import LONGEST_TIP, Interval, Share, cell_text, exact_digits


class TestCells:
    @given(st.integers(0, 10**40))
    def test_what_is_rounded_has_its_digits(self, value: int) -> None:
        exact = exact_digits(value, "count")
        shown = cell_text(value, "count")
        assert (exact is None) == (shown == f"{value:,}")
        assert exact in (None, str(value))

    def test_each_style_has_its_words(self) -> None:
        assert cell_text(Fraction(1, 8), "share") == "12.5 %"
        assert cell_text(2.5, "mean") == "2.50"
        assert cell_text(float("inf"), "score") == "inf"
        assert cell_text("a" * 99, "name") != "a" * 99
        assert cell_text("a" * 99, "text") == "a" * 99
        assert cell_text(Interval(3, 10**20), "count") == "3 to 1.000e20"
        assert cell_text(0.99999, "rate") == ">0.9999"
        assert cell_text(None, "rate") == "–"
        third = Share(1, 3)
        assert cell_text(third, "share") == "33.3 %"
        assert cell_text(third, "counted") == "33.3 % (1 of 3)"
        assert exact_digits(third, "share") == "1 of 3"

    @given(st.integers(0, 10**450), st.integers(1, 10**450))
    def test_tips_of_shares_have_all_digits_or_are_short(self, part: int, whole: int) -> None:
        tip = exact_digits(Share(part, whole), "share")
        assert tip is not None
        assert len(tip) <= LONGEST_TIP
        assert tip.startswith("about ") or tip == f"{part} of {whole}"

    def test_two_long_numbers_are_too_long_together(self) -> None:
        share = Share(10**250, 10**300)
        assert exact_digits(share, "share") == "about 1.000e250 of 1.000e300"
        assert exact_digits(Share(10**150, 10**200), "share") == f"{10**150} of {10**200}"
