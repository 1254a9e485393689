"""Lists of names as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise.errors import ParseError
from contextwise.models.notation import parse_names, quoted


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4))
def test_names_come_back_from_text(names: list[str]) -> None:
    assert parse_names(", ".join(map(quoted, names))) == names


@pytest.mark.parametrize("text", ["", "A,", ",A", "A,,B", "A=1", "A & B"])
def test_what_is_no_list_of_names_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_names(text)
