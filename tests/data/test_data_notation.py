"""Numbers as people write them: one reading, or a question."""

from __future__ import annotations

import numpy as np
import pytest

from contextwise.data import UnclearData, read_data
from contextwise.data.notation import decimal_sign, numbers_of
from contextwise.data.options import row_options
from contextwise.data.rows import as_advised, parse_data
from contextwise.errors import DomainError

INCOMES = ["437", "2.674", "699", "9.205", "1.240"] * 8
HEIGHTS = ["1,75", "1,55", "1,8", "2,00", "1,61"] * 8


def lines(*columns: list[str], separator: str = ";") -> bytes:
    names = [f"column{k}" for k in range(len(columns))]
    rows = [names, *zip(*columns, strict=True)]
    return "\n".join(separator.join(row) for row in rows).encode()


@pytest.mark.parametrize(
    ("labels", "sign"),
    [
        (["1.234", "12.5"], "."),
        (["1.234", "0.123"], "."),
        (["1.234", "1.234.567"], ","),
        (["1.234,50"], ","),
        (["1,234.50"], "."),
        (["1,234"], "?"),
        (["-1.234", "437"], "?"),
        (["1.5", "2,5"], "."),  # and 2,5 is a text
        (["250", "yes", "192.168.1"], ""),
    ],
)
def test_the_other_values_decide_about_the_decimal_sign(labels: list[str], sign: str) -> None:
    assert decimal_sign(labels) == sign


def test_units_that_differ_are_no_numbers() -> None:
    assert np.isnan(numbers_of(["5%", "0.05"])).tolist() == [True, False]
    assert numbers_of(["5%", "7%", "0"]).tolist() == [5, 7, 0]
    assert np.isnan(numbers_of(["$5", "€7"])).all()


def test_blanks_and_apostrophes_between_thousands() -> None:
    assert numbers_of(["1 234", "1\u202f234,5", "12'345"]).tolist() == [1234, 1234.5, 12345]
    assert np.isnan(numbers_of(["12 34", "1 2345"])).all()


def test_another_column_shows_the_decimal_sign() -> None:
    data = parse_data(
        lines(INCOMES, HEIGHTS), "d.csv", options=row_options(bins={"column0": [1000]})
    )
    assert np.bincount(data.rows[:, 0]).tolist() == [16, 24]
    assert "2.674 of 'column0' is 2674 (--decimal point)" in data.notes


def test_codes_show_no_decimal_sign() -> None:
    codes = ["250.1", "250.10", "401.9", "3.5"] * 10
    with pytest.raises(UnclearData, match="may be 2674 or"):
        parse_data(lines(INCOMES, codes), "d.csv", options=row_options(category="column1"))


@pytest.mark.parametrize("bins", [{"column0": [1000]}, {"column0": 2}, 2])
@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_two_readings_are_asked_for_with_bins_too(bins: object, separator: str) -> None:
    content = lines(INCOMES, ["a", "b"] * 20, separator=separator)
    with pytest.raises(UnclearData, match="may be 2674 or") as raised:
        parse_data(content, "d.csv", options=row_options(bins=bins))
    assert raised.value.summary.remedy.decimal == ("column0=comma",)


@pytest.mark.parametrize(("word", "above"), [("comma", 24), (",", 24), ("point", 0)])
def test_the_user_decides(word: str, above: int) -> None:
    options = row_options(bins={"column0": "9|1000|"}, decimal={"column0": word})
    data = parse_data(lines(INCOMES, ["a", "b"] * 20), "d.csv", options=options)
    assert np.bincount(data.rows[:, 0], minlength=3)[2] == above
    following = row_options()._replace(learned=data.decisions)
    again = parse_data(lines(INCOMES, ["a", "b"] * 20), "d.csv", data.domain, following)
    assert (again.rows == data.rows).all()


def test_nobody_follows_advice_about_decimals(tmp_path: object) -> None:
    rows = [{"income": income, "sex": "fm"[k % 2]} for k, income in enumerate(INCOMES)]
    with pytest.raises(UnclearData, match="may be 2674"):
        as_advised(rows)


def test_numbers_that_are_numbers_already_have_points() -> None:
    rows = [{"width": 1.234 + k, "sex": "fm"[k % 2]} for k in range(40)]
    assert read_data(rows, bins=2).decisions["bins"]["width"][0] > 9


def test_only_a_trailing_zero_is_dropped() -> None:
    texts = ["250.1", "250.10", "3", "3.0", "1.00", "1"] * 5
    data = parse_data(
        lines(texts, ["a", "b"] * 15), "d.csv", options=row_options(category="column0")
    )
    assert set(data.domain.states[0]) == {"250.1", "250.10", "3", "1.00", "1"}


def test_rows_that_follow_a_model_are_asked_for_too() -> None:
    options = row_options(bins={"column0": [9, 1000]}, decimal="comma")
    learned = parse_data(lines(INCOMES, ["a", "b"] * 20), "d.csv", options=options)
    with pytest.raises(DomainError, match=r"--decimal column0=comma, or --decimal column0=point"):
        parse_data(lines(INCOMES, ["a", "b"] * 20), "d.csv", learned.domain)
