"""Features in rows: which hold, how many literals fail, and the sums of their weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise.distributions import potentials
from contextwise.models.structure import LogLinear
from contextwise.support.arrays import IntArray
from contextwise.testing import domains, log_linear_models
from drawn_rows import some_positions


def holds_by_definition(model: LogLinear, row: IntArray) -> list[bool]:
    return [
        all(allowed >> int(row[v]) & 1 for v, allowed in literals)
        for literals in model.structure.features.literals()
    ]


@given(
    log_linear_models(domains(min_variables=1)), st.integers(0, 99), st.sampled_from([1, 50, 2**23])
)
def test_features_hold_where_all_their_literals_do(model: LogLinear, seed: int, cells: int) -> None:
    features = model.structure.features
    rows = some_positions(model.domain, 13, seed)
    expected = np.array([holds_by_definition(model, row) for row in rows]).reshape(13, -1).T
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(potentials, "LITERAL_CELLS_IN_MEMORY", cells)
        blocks = [*potentials.held(features, rows)]
        shares = potentials.frequencies(features, rows, np.full(13, 1 / 13))
        total = potentials.log_potential_of(model, rows)
    found = np.concatenate([np.zeros((0, 13), dtype=bool), *(holds for _, holds in blocks)])
    assert (found == expected).all()
    assert np.allclose(shares, expected.mean(axis=1))
    assert np.allclose(total, model.weights @ expected)
    fails, misses = potentials.failures(features, rows)
    assert ((misses == 0) == expected).all()
    assert (misses.sum(axis=0) == fails.sum(axis=0)).all()


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), max_size=12))
def test_distinct_rows_and_how_often_they_occur(rows: list[tuple[int, int, int]]) -> None:
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    numbers, first = potentials.distinct(table)
    assert (table[first[numbers]] == table).all()
    assert len(first) == len(set(rows))
    values, counts = potentials.distinct_rows(table)
    assert {tuple(v): c for v, c in zip(values.tolist(), counts.tolist(), strict=True)} == {
        row: rows.count(row) for row in rows
    }
