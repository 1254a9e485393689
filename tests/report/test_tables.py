"""Comparisons as text and as records: what people and programs read off them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import Comparison, Structure, compare
from contextwise.comparison.compare import comparison_record, pair_records, worst_pair_records
from contextwise.errors import ParseError
from contextwise.models.notation import parse_names, quoted
from contextwise.report.comparisons import Guess, comparison_parts, guesses_parts
from contextwise.report.text import as_text
from contextwise.support.formatting import is_readable, name, number, printable, rate


def comparison_table(comparison: Comparison, *, top: int = 10) -> str:
    return as_text(comparison_parts(comparison, top=top))


def chain(length: int) -> Structure:
    """A chain of binary variables: each depends on the next, in every context."""
    variables = {f"X{i}": 2 for i in range(length)}
    return Structure(variables, [f"X{i}=1 & X{i + 1}=1" for i in range(length - 1)])


@pytest.fixture(name="small")
def _small() -> Comparison:
    domain = {"A": 2, "B": 2, "C": 3}
    true = Structure(domain, ["A=1 & B=1 & C=0"])
    return compare(true, Structure(domain, ["A=1 & B=1"]))


def test_the_table_shows_the_counts(small: Comparison) -> None:
    # A–B depends in C=0 in the true model and always in the guess: TP 1, FP 2.
    # A–C and B–C depend in one of two contexts in the true model and never in the guess: FN 2.
    lines = comparison_table(small).splitlines()
    assert "All pairs that differ:" in lines
    (dependent,) = (line for line in lines if line.startswith("true dependent"))
    assert re.split(" {2,}", dependent)[1:] == ["14.3 % (1 of 7)", "28.6 % (2 of 7)"]
    (distance,) = (line for line in lines if line.startswith("distance"))
    assert distance.split()[1] == "4"
    (first,) = (line for line in lines if line.startswith("A – B"))
    assert re.split(" {2,}", first)[1:] == ["66.7 % (2 of 3)", "0 %", "66.7 %", "50 %"]


def test_top_limits_the_pairs(small: Comparison) -> None:
    assert "The 2 pairs with the most errors, of 3 that differ" in comparison_table(small, top=2)
    assert "B – C" not in comparison_table(small, top=2)
    assert "The" not in comparison_table(small, top=0)


def test_equal_models_say_so() -> None:
    assert comparison_table(compare(chain(3), chain(3))).endswith("No pair differs.")


def test_shares_are_shown_and_records_are_exact() -> None:
    true, guess = chain(200), Structure(chain(200).domain, [])
    comparison = compare(true, guess)
    assert "1 % of all assertions differ, all of them false negatives" in comparison_table(
        comparison
    )
    assert comparison_record(comparison)["fn"] == 199 * 2**198
    assert next(worst_pair_records(comparison, 1))["fn"] == 2**198


def test_several_guesses_are_a_row_each(small: Comparison) -> None:
    table = as_text(
        guesses_parts([Guess("one", small), Guess("two", compare(small.true, small.true))])
    )
    verdict, _, table = table.partition("\n\n")
    assert verdict.startswith("two is nearest to the true model: 0 % of all assertions differ.")
    head, one, two = (line.split("  ") for line in table.splitlines())
    assert [title for title in head if title][:3] == ["guess", "features", "normalized distance"]
    assert "57.1 % (4 of 7)" in [cell.strip() for cell in one]
    assert "0 % (0 of 7)" in [cell.strip() for cell in two]


def test_pair_records_add_up(small: Comparison) -> None:
    records = list(pair_records(small))
    assert [(r["first"], r["second"]) for r in records] == [("A", "B"), ("A", "C"), ("B", "C")]
    assert [sum(int(str(r[key])) for r in records) for key in ("tp", "fn", "fp", "tn")] == [
        small.tp,
        small.fn,
        small.fp,
        small.tn,
    ]


def test_an_undefined_rate_is_a_dash_and_none() -> None:
    nothing = Structure({"A": 2, "B": 2}, [])
    comparison = compare(nothing, nothing)
    assert comparison_record(comparison)["precision"] is None
    assert "precision  –" in comparison_table(comparison)


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


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4))
def test_names_come_back_from_text(names: list[str]) -> None:
    assert parse_names(", ".join(map(quoted, names))) == names


@pytest.mark.parametrize("text", ["", "A,", ",A", "A,,B", "A=1", "A & B"])
def test_what_is_no_list_of_names_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_names(text)
