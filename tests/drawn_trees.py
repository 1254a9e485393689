"""Random rows with corners, and learners of trees."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import contextwise as cw
from contextwise.learning import Data, Trees, as_data


@st.composite
def tables(draw: st.DrawFn, most_rows: int = 40) -> Data:
    """Rows with corners: constant and equal columns, one value, 65 and 200 values, no rows."""
    cards = draw(st.lists(st.sampled_from([1, 2, 2, 2, 3, 65, 200]), min_size=1, max_size=5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    count = draw(st.integers(0, most_rows))
    rows = np.array([rng.integers(0, min(card, 4), count) for card in cards]).T
    rows = rows.reshape(count, len(cards))
    for v in range(1, len(cards)):
        kind = draw(st.sampled_from(["free", "equal", "opposite", "constant"]))
        if kind == "equal" and cards[v] >= cards[v - 1]:
            rows[:, v] = rows[:, v - 1]
        elif kind == "opposite" and cards[v] == cards[v - 1] == 2:
            rows[:, v] = 1 - rows[:, v - 1]
        elif kind == "constant":
            rows[:, v] = cards[v] - 1
    return as_data(rows, cw.Domain.of_cardinalities(cards))


learners = st.builds(
    Trees,
    penalty=st.sampled_from([0.0, 0.5, 2.0]),
    min_count=st.sampled_from([0, 1, 5]),
    prior=st.sampled_from([1.0, 0.3]),
    n_jobs=st.sampled_from([1, 3]),
)
