"""Numbers of any size can be shown; ``str`` stops at 4,300 digits."""

from __future__ import annotations

import json
from fractions import Fraction

from contextwise.support.formatting import digits_of, number, percent, plural
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
