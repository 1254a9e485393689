"""The page From the paper names everything that the room has."""

from pathlib import Path

import pytest

from contextwise import paper

PAGE = Path(__file__).parents[2] / "docs" / "from-the-paper.md"


@pytest.mark.parametrize("name", paper.__all__)
def test_every_name_is_on_the_page(name: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert f"`{name}`" in text or f"{name}(" in text
