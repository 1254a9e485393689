"""Texts for other programs: a reader that keeps numbers as doubles reads what was meant."""

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

from contextwise.support.records import LARGEST_EXACT, as_csv, as_json


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
