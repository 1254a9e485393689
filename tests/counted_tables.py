"""Counted rows with and without the compiled twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

from contextwise.evidence import counted_rows as counted_rows_module
from contextwise.evidence.counted_rows import CountedRows

compiled = pytest.mark.skipif(
    bool(counted_rows_module.not_compiled), reason=str(counted_rows_module.not_compiled)
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[CountedRows, CountedRows]:
    """The same rows for both twins; some variables have many values."""
    cards = draw(st.lists(st.sampled_from([1, 2, 2, 3, 9, 70]), min_size=2, max_size=6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = np.stack([rng.integers(0, min(c, 12), 60) for c in cards], axis=1)
    rows = rows[: draw(st.integers(0, 60))]
    if draw(st.booleans()) and cards[0] == cards[1]:
        rows[:, 1] = rows[:, 0]
    counts = rng.integers(1, 5, len(rows))
    fast, slow = (CountedRows(rows, counts, tuple(cards)) for _ in range(2))
    vars(slow)["compiled"] = None
    return fast, slow
