"""Words of numbers: percentages, p-values, odds ratios, lists."""

from __future__ import annotations

import json
import shutil
import subprocess
from fractions import Fraction

import pytest

from contextwise.report.html import static
from contextwise.support.words import (
    exact_percent,
    p_is,
    p_text,
    percent,
    points,
    ratio,
)


@pytest.mark.parametrize("parts", range(1, 40))
def test_only_all_is_100_percent_and_only_none_is_0(parts: int) -> None:
    """Shares near 0 and 1, in Python and on the page."""
    whole = 2**parts
    shares = {part: exact_percent(part, whole) for part in (0, 1, whole - 1, whole)}
    assert [part for part, text in shares.items() if text == "100 %"] == [whole]
    assert [part for part, text in shares.items() if text == "0 %"] == [0]


def test_shares_below_all_have_as_many_digits_as_they_need() -> None:
    assert exact_percent(4095, 4096) == "99.98 %"
    assert exact_percent(9995, 10_000) == "99.95 %"
    assert exact_percent(9994, 10_000) == "99.9 %"
    assert exact_percent(9999, 10_000) == "99.99 %"


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_pages_format_shares_in_the_same_way() -> None:
    script = static("heatmap.js")
    function = script[script.index("function percent") :].split("\n}\n")[0] + "\n}"
    shares = [k / 4099 for k in range(4100)] + [1e-5, 0.99995, 0.9996, 0.99951]
    code = f"{function}; console.log(JSON.stringify({json.dumps(shares)}.map(percent)))"
    shown = json.loads(subprocess.run(["node", "-e", code], capture_output=True, check=True).stdout)
    assert shown == [exact_percent(Fraction(share), 1) for share in shares]


def test_shares_without_decimals_are_all_or_nothing_only_if_they_are() -> None:
    shares = (0, 0.0049, 0.5, 0.9951, 1)
    assert [percent(share) for share in shares] == ["0 %", "< 1 %", "50 %", "> 99 %", "100 %"]


def test_a_p_value_never_hides_its_side_of_the_level() -> None:
    assert [p_text(p) for p in (0.0496, 0.0504, 0.05, 0.0123)] == [
        "0.0496",
        "0.0504",
        "0.05",
        "0.012",
    ]
    assert [p_is(p) for p in (0.00099, 0.001, 0.995)] == ["p < 0.001", "p = 0.001", "p = 1"]


def test_an_odds_ratio_never_hides_its_side_of_1() -> None:
    assert [ratio(x) for x in (0.004, 0.95, 1.04, 1.2, 12.4)] == [
        "< 0.01",
        "0.95",
        "1.04",
        "1.2",
        "12",
    ]
    assert ratio(1e9) == "> 999"


def test_points_have_a_sign_unless_they_are_0() -> None:
    assert [points(x) for x in (0.051, -0.051, 0.001, -0.001)] == ["+5", "−5", "0", "0"]
