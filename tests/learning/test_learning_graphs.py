"""Features of graphs, one per row, and the dependencies they add."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import contextwise as cw
from contextwise import Domain
from contextwise.data.rows import as_data
from contextwise.evidence.counted_rows import CountedRows
from contextwise.learning import CSPC
from contextwise.learning.graphs import claimed_dependencies, from_row_graphs
from contextwise.learning.literature.row_graphs import by_context
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


@given(st.integers(0, 99))
@settings(max_examples=20, deadline=None)
def test_equal_graphs_are_read_as_their_graph(seed: int) -> None:
    """Without a disagreement, the direct reading has exactly the edges of the graph."""
    rng = np.random.default_rng(seed)
    edges = np.triu(rng.random((4, 4)) < 0.5, 1)
    table = CountedRows.of(as_data(rng.integers(0, 2, (20, 4)), dict.fromkeys("ABCD", 2)))
    graphs = np.repeat((edges | edges.T)[None], len(table.rows), axis=0)
    made = by_context(Domain(dict.fromkeys("ABCD", 2)), table, graphs)
    assert made.pairs() == [("ABCD"[a], "ABCD"[b]) for a, b in np.argwhere(edges)]
