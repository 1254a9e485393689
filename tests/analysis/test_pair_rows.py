"""The states that are shown: their order, and what would reveal few rows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contextwise.analysis.pair_rows import state_order, to_hide
from contextwise.data.options import row_options
from contextwise.data.rows import parse_data


@given(st.lists(st.integers(0, 30), min_size=1, max_size=8), st.integers(0, 9))
def test_totals_do_not_tell_what_is_hidden(counts: list[int], least: int) -> None:
    hidden = to_hide(counts, counts, least)
    assert all(counts[k] > 0 for k in hidden)
    small = {k for k, count in enumerate(counts) if 0 < count < least}
    assert small <= hidden
    assert bool(hidden) == bool(small)
    if hidden and len(hidden) < sum(count > 0 for count in counts):
        assert len(hidden) > 1
        assert sum(counts[k] for k in hidden) >= least


def test_numbers_are_in_order_even_if_the_first_cells_of_a_table_are_empty() -> None:
    table = "dose,ill,Freq\n0-39g,y,0\n120+,y,4\n0-39g,n,9\n40-79,y,2\n40-79,n,5\n120+,n,3\n"
    data = parse_data(table.encode(), "doses.csv", options=row_options(counts="Freq"))
    states = data.domain.states[0]
    assert [states[k] for k in state_order(data, "dose")] == ["0-39g", "40-79", "120+"]
