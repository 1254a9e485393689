"""Bins: where to cut, even numbers of rows, and states that say which numbers they hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise.data.bins import bin_labels, binned, parse_bins, read_bins, upper_edges
from contextwise.data.table import column_of
from contextwise.errors import DomainError

NUMBERS = st.lists(
    st.one_of(st.integers(-50, 50), st.integers(-500, 500).map(lambda k: k / 10)), min_size=4
)


@given(numbers=NUMBERS, count=st.integers(2, 6))
def test_each_number_is_in_the_bin_that_its_label_says(numbers: list[float], count: int) -> None:
    column, edges = binned(column_of("x", numbers), count, None)
    assert len(column.declared or ()) == len(edges) + 1
    states = column.declared or ()
    for number, code in zip(numbers, column.codes.tolist(), strict=True):
        place = states.index(column.labels[code])
        assert place == np.searchsorted(edges, number)
    if len(states) > 1:
        again = upper_edges(states)
        assert again is not None
        assert again.tolist() == edges


@given(numbers=NUMBERS, count=st.integers(2, 6), times=st.integers(1, 4))
def test_counted_rows_are_cut_like_repeated_ones(
    numbers: list[float], count: int, times: int
) -> None:
    counts = np.arange(len(numbers)) % (times + 1)
    if not counts.any():
        return
    repeated = column_of("x", np.repeat(np.array(numbers), counts))
    kept = [number for number, c in zip(numbers, counts.tolist(), strict=True) if c]
    assert (
        binned(column_of("x", kept), count, counts[counts > 0])[1]
        == binned(repeated, count, None)[1]
    )


def test_where_to_cut_is_read_and_refused() -> None:
    assert (parse_bins("4"), parse_bins("20|30"), parse_bins("20|")) == (4, (20, 30), (20,))
    assert read_bins(["3", "age=20|30"], ["age"]) == (3, {"age": (20.0, 30.0)})
    for text in ("1", "1001", "30|20", "x|3", "many"):
        with pytest.raises(DomainError, match="bins must be a number from 2 to 1,000"):
            parse_bins(text)
    assert bin_labels([25, 40], True) == ["up to 25", "26 to 40", "above 40"]
    assert upper_edges(["low", "high"]) is None
