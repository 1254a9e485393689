"""Tables of counts: which column counts, and which only looks like it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from contextwise.data import summarize_data
from contextwise.data.counted import (
    Candidates,
    check_counts,
    counts_by_name,
    counts_by_values,
    weights_by_name,
    wide_table,
)
from contextwise.data.table import Column, Sheet, column_of
from contextwise.errors import DomainError

CELLS = list(product(["f", "m"], ["no", "yes"], ["a", "b", "c"]))


def among(numbers: list[float], name: str, rows: int = 12) -> Candidates:
    columns = [column_of(str(k), [cell[k] for cell in CELLS[:rows]]) for k in range(3)]
    used = [*columns, column_of(name, numbers[:rows])]
    return Candidates(rows, used, [], [], frozenset())


UNEVEN = [120.0, 3, 44, 5, 61, 7, 8, 92, 10, 11, 12, 0]


@pytest.mark.parametrize("name", ["Freq", "count", "N"])
def test_counts_are_found_by_name(name: str) -> None:
    found = counts_by_name(among(UNEVEN, name))
    assert found is not None
    assert found.name == name
    assert counts_by_name(among([1.0] * 12, name)) is None  # constant
    assert counts_by_name(among([-1, *UNEVEN[1:]], name)) is None
    assert counts_by_name(among([0.5, *UNEVEN[1:]], name)) is None


def test_counts_under_another_name_fill_a_table_unevenly() -> None:
    found = counts_by_values(among(UNEVEN, "people"))
    assert found is not None
    assert found.name == "people"
    assert counts_by_values(among([2.0, 3.0] * 6, "people")) is None  # hardly varies
    repeated = Candidates(12, among(UNEVEN, "people").used[1:], [], [], frozenset())
    assert counts_by_values(repeated) is None  # without sex the others repeat


def test_shares_are_no_counts() -> None:
    shares = among([x / 1000 for x in UNEVEN], "share")
    assert weights_by_name(shares) is shares.used[-1]
    assert weights_by_name(among(UNEVEN, "share")) is None


def test_a_matrix_of_counts_is_wide_and_years_are_no_counts() -> None:
    names = column_of("town", ["A", "B", "C", "D", "E"])
    first, second = column_of("yes", [30, 41, 52, 63, 74]), column_of("no", [9, 28, 37, 46, 55])
    year = column_of("year", [1990, 1991, 1995, 1998, 1999])
    wide = Candidates(5, [names, year, first, second], [], [], frozenset())
    assert wide_table(wide, None) == (["town"], ["yes", "no"])
    assert wide_table(Candidates(5, [names, year, first], [], [], frozenset()), None) is None
    assert wide_table(Candidates(5, [first, second], [], [], frozenset()), names) is not None


def test_counts_that_are_not_whole_are_refused_with_their_place() -> None:
    column = column_of("Freq", [1, 2.5, 3])
    sheet = Sheet([column], 3)
    with pytest.raises(DomainError, match=r"row 1 of the data: counts must be whole numbers"):
        check_counts(column, sheet)
    assert check_counts(column_of("Freq", [1, 0, 3]), sheet).tolist() == [1, 0, 3]
    empty = Column("Freq", (), np.full(3, -1))
    with pytest.raises(DomainError, match="is empty"):
        check_counts(empty, sheet)


def test_counts_that_the_user_left_out_are_asked_for() -> None:
    rows = [
        {"sex": s, "ill": i, "Freq": n} for (s, i, _), n in zip(CELLS[::3], UNEVEN, strict=False)
    ]
    assert summarize_data(rows).remedy.counts == "Freq"
