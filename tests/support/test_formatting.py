"""Numbers of any size can be shown; ``str`` stops at 4,300 digits."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise.report.html import static
from contextwise.support.formatting import (
    LARGEST_EXACT,
    as_csv,
    as_json,
    digits_of,
    is_readable,
    name,
    number,
    percent,
    plural,
    printable,
    rate,
)

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


# -- for other programs: a reader that keeps numbers as doubles reads what was meant ---------------


def read_with_doubles(text: str) -> Any:
    """What JavaScript and jq do: every number is a double."""
    return json.loads(text, parse_int=float)


@given(st.integers())
def test_no_count_is_read_as_another_one(count: int) -> None:
    assert int(read_with_doubles(as_json({"count": count}))["count"]) == count


@pytest.mark.parametrize("count", [LARGEST_EXACT, LARGEST_EXACT + 1, 2**64, 10**400, -(2**60)])
def test_counts_around_the_limit(count: int) -> None:
    found = read_with_doubles(as_json([count]))[0]
    assert isinstance(found, str) == (abs(count) > LARGEST_EXACT)
    assert int(found) == count


def test_what_json_does_not_know_is_a_text() -> None:
    value = {"share": Fraction(1, 3), "kl": float("inf"), "nothing": None, "yes": True, 1: (2**70,)}
    assert json.loads(as_json(value)) == {
        "share": "1/3",
        "kl": "inf",
        "nothing": None,
        "yes": True,
        "1": [str(2**70)],
    }


def test_a_whole_fraction_is_its_int() -> None:
    assert json.loads(as_json([Fraction(6, 2), Fraction(2**70)])) == [3, str(2**70)]


def test_numbers_of_numpy_are_numbers() -> None:
    value = {"one": np.int64(3), "cells": np.array([[1, 2**70]], dtype=object)}
    assert json.loads(as_json(value)) == {"one": 3, "cells": [[1, str(2**70)]]}


def test_csv_keeps_every_digit() -> None:
    records = [{"number": k, "square": 10**40 * k, "open": None} for k in range(3)]
    found = list(csv.DictReader(io.StringIO(as_csv(records))))
    assert [int(row["square"]) for row in found] == [10**40 * k for k in range(3)]
    assert {row["open"] for row in found} == {""}


@pytest.mark.parametrize("parts", range(1, 40))
def test_only_all_is_100_percent_and_only_none_is_0(parts: int) -> None:
    """Shares near 0 and 1, in Python and on the page."""
    whole = 2**parts
    shares = {part: percent(part, whole) for part in (0, 1, whole - 1, whole)}
    assert [part for part, text in shares.items() if text == "100 %"] == [whole]
    assert [part for part, text in shares.items() if text == "0 %"] == [0]


def test_shares_below_all_have_as_many_digits_as_they_need() -> None:
    assert percent(4095, 4096) == "99.98 %"
    assert percent(9995, 10_000) == "99.95 %"
    assert percent(9994, 10_000) == "99.9 %"
    assert percent(9999, 10_000) == "99.99 %"


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_pages_format_shares_in_the_same_way() -> None:
    script = static("heatmap.js")
    function = script[script.index("function percent") :].split("\n}\n")[0] + "\n}"
    shares = [k / 4099 for k in range(4100)] + [1e-5, 0.99995, 0.9996, 0.99951]
    code = f"{function}; console.log(JSON.stringify({json.dumps(shares)}.map(percent)))"
    shown = json.loads(subprocess.run(["node", "-e", code], capture_output=True, check=True).stdout)
    assert shown == [percent(Fraction(share), 1) for share in shares]
