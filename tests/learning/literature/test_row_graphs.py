"""CSGS and CSPC: one graph per row, and the features of one graph per row."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import contextwise as cw
import reference_searches as reference
from contextwise.evidence.counted_rows import not_compiled
from contextwise.learning import CSPC
from contextwise.learning.graphs import claimed_dependencies, from_row_graphs
from known_truths import SWITCH, exact_rows


def test_features_of_graphs_and_what_they_add() -> None:
    rows = np.array(list(itertools.product((0, 1), repeat=3)))
    graphs = np.zeros((8, 3, 3), dtype=bool)
    graphs[0, 0, 1] = graphs[0, 1, 0] = True  # under v2=0, and the feature forgets it
    structure = from_row_graphs(cw.Domain.of_cardinalities([2, 2, 2]), rows, graphs)
    assert structure.pairs() == [("v0", "v1")]
    assert claimed_dependencies(structure, rows) == 1 + 7
    learner = CSPC().fit(exact_rows(SWITCH, 20_000), domain=SWITCH.domain)
    assert learner.added_ == 0
    assert learner.graphs_.shape == (8, 3, 3)


@pytest.mark.skipif(bool(not_compiled), reason=str(not_compiled))
@pytest.mark.parametrize("max_size", [0, 1])
def test_an_edge_is_deleted_by_any_test_given_its_neighbours(max_size: int) -> None:
    """v0 to v3 are a chain and v4 is alone; every test is made by plain loops."""
    rng = np.random.default_rng(4)
    rows = rng.integers(0, 2, (400, 5))
    for v in (1, 2, 3):
        rows[:, v] = np.where(rng.random(400) < 0.8, rows[:, v - 1], rows[:, v])
    learned = CSPC(max_size=max_size).fit(rows)
    plain = [tuple(row) for row in rows.tolist()]
    pairs = list(itertools.combinations(range(5), 2))

    def independent(a: int, b: int, agreeing: list[tuple[int, ...]]) -> bool:
        return reference.independence([agreeing], a, b, reference.level_of(plain)).independent

    first = {(a, b) for a, b in pairs if not independent(a, b, plain)}
    assert 4 not in {v for pair in first for v in pair}
    deleted = 0
    for x, graph in zip(learned.table_.rows.tolist(), learned.graphs_, strict=True):
        expected = {
            (a, b)
            for a, b in first
            if max_size == 0
            or not any(
                independent(a, b, [row for row in plain if row[s] == x[s]])
                for s in range(5)
                if s not in (a, b) and {tuple(sorted((s, a))), tuple(sorted((s, b)))} & first
            )
        }
        assert {(a, b) for a, b in pairs if graph[a, b]} == expected
        deleted += len(first) - len(expected)
    assert (deleted > 0) == (max_size == 1)
