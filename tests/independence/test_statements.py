"""Queries as text: what is written comes back, and what cannot be read is one clear line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise.errors import ContextwiseError, DomainError, ParseError
from contextwise.independence import Statement, parse_statement
from contextwise.testing import names

ANY = names() | st.text(st.sampled_from('A⫫_|" ,='), max_size=5)


@given(
    st.lists(ANY, min_size=1, max_size=3).map(tuple),
    st.lists(ANY, min_size=1, max_size=3).map(tuple),
    st.lists(ANY, max_size=3).map(tuple),
    st.dictionaries(ANY, ANY, max_size=3),
)
def test_what_is_written_comes_back(
    first: tuple[str, ...],
    second: tuple[str, ...],
    conditions: tuple[str, ...],
    context: dict[str, str],
) -> None:
    statement = Statement(first, second, conditions, context)
    assert parse_statement(str(statement)) == statement


@given(st.text(st.sampled_from('AB ⫫_|,="\\&!<')) | st.text())
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    message = ""
    try:
        parse_statement(text)
    except ContextwiseError as error:
        message = str(error)
    assert "\n" not in message


def test_both_signs_say_the_same() -> None:
    assert parse_statement("A _||_ B|C,D=yes") == parse_statement("A ⫫ B | C & D = yes")
    assert parse_statement('"A_||_x" ⫫ B').first == ("A_||_x",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A B", "needs one ⫫ or _||_"),
        ("A ⫫ B ⫫ C", "needs one ⫫ or _||_"),
        ("A ⫫ ", "expected a name but found the end"),
        (" ⫫ B", "expected a name but found the end"),
        ("A ⫫ B |", "expected a name but found the end"),
        ("A ⫫ B | C | D", "a second bar"),
        ("A ⫫ B=1", "'B' has a state left of the bar"),
        ("A ⫫ B | C=", "expected a comma but found '='"),
        ("A ⫫ B | C!=1", "expected a comma but found '!='"),
    ],
)
def test_bad_texts(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_statement(text)
    assert message in str(caught.value)


def test_two_states_of_one_variable() -> None:
    with pytest.raises(DomainError, match="two states to 'C'"):
        parse_statement("A ⫫ B | C=1, C=0")
