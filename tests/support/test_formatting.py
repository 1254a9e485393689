"""Numbers of any size can be shown; ``str`` stops at 4,300 digits."""

from __future__ import annotations

import json
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from contextwise.support.formatting import (
    digits_of,
    is_readable,
    name,
    number,
    percent,
    plural,
    printable,
    rate,
)
from contextwise.support.records import as_csv, as_json

HUGE = 2**15_000


def test_numbers_of_more_than_4300_digits() -> None:
    assert digits_of(-(10**5_000)) == "-1" + "0" * 5_000
    assert number(HUGE) == "2.818e4515"
    assert number(HUGE + Fraction(1, 3)) == "2.818e4515"
    assert plural(HUGE, "context") == "2.818e4515 contexts"
    assert percent(HUGE, 4 * HUGE) == "25 %"


def test_records_of_more_than_4300_digits() -> None:
    digits = digits_of(HUGE)
    assert json.loads(as_json({"tp": HUGE, "share": Fraction(1, HUGE)})) == {
        "tp": digits,
        "share": f"1/{digits}",
    }
    assert as_csv([{"tp": HUGE}]) == f"tp\n{digits}\n"


@given(st.integers(min_value=0, max_value=10**30))
def test_a_readable_number_reads_back(value: int) -> None:
    text = number(value)
    if is_readable(value):
        assert int(text.replace(",", "")) == value
    else:
        assert abs(float(text) - value) <= value * 0.0005


@given(st.floats(min_value=0, max_value=1))
def test_only_exact_rates_read_as_zero_or_one(value: float) -> None:
    assert (rate(value) in ("0", "1")) == (value in (0, 1))


@given(st.text(min_size=1))
def test_a_name_is_one_printable_line(text: str) -> None:
    assert name(text).isprintable()
    assert len(name(text)) <= 40
    assert printable(text).isprintable()
