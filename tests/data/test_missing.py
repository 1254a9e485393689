"""Cells that stand for missing values."""

from __future__ import annotations

import pytest

from contextwise.data.missing import without_missing
from contextwise.data.options import row_options
from contextwise.data.table import Sheet, column_of
from contextwise.errors import DomainError


def missing(*columns: list[object], **options: object) -> list[list[str]]:
    sheet = Sheet([column_of(f"v{k}", cells) for k, cells in enumerate(columns)], len(columns[0]))
    found = without_missing(sheet, row_options(**options))[1]
    return [found.get(column.name, []) for column in sheet.columns]


def test_usual_tokens_are_missing_and_doubtful_ones_among_numbers() -> None:
    assert missing(["a", "NA", "n/a", "?"]) == [["NA", "n/a", "?"]]
    assert missing(["a", "-", "None"]) == [[]]
    assert missing(["1", "2", "-"]) == [["-"]]
    assert missing(["1", "2", "-"], ["a", "-", "b"]) == [["-"], ["-"]]  # then in the whole file


def test_tokens_of_the_user() -> None:
    assert missing([1, 2, 99], [1, 2, 99], na="99") == [["99"], ["99"]]
    assert missing([1, 2, 99], [1, 2, 99], na="v1=99") == [[], ["99"]]
    assert missing(["1", "2", "99.0"], na="99") == [["99.0"]]
    with pytest.raises(DomainError, match="there is no column 'w'"):
        missing([1, 2], na="w=99")
