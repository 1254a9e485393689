"""Numbers of any size can be shown; ``str`` stops at 4,300 digits."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise.support.formatting import (
    LARGEST_EXACT,
    as_csv,
    as_json,
    digits_of,
    is_readable,
    name,
    number,
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
