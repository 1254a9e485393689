"""CSPC: a graph for each row, and the features they give."""

from __future__ import annotations

import itertools

import numpy as np

import contextwise as cw
from contextwise.learning import CSPC
from contextwise.learning.row_graphs import added_dependencies, from_row_graphs
from known_truths import SWITCH, exact_rows


def test_features_of_graphs_and_what_they_add() -> None:
    rows = np.array(list(itertools.product((0, 1), repeat=3)))
    graphs = np.zeros((8, 3, 3), dtype=bool)
    graphs[0, 0, 1] = graphs[0, 1, 0] = True  # under v2=0, and the feature forgets it
    structure = from_row_graphs(cw.Domain.of_cardinalities([2, 2, 2]), rows, graphs)
    assert structure.pairs() == [("v0", "v1")]
    assert added_dependencies(structure, rows, graphs) == 7
    learner = CSPC().fit(exact_rows(SWITCH, 20_000), domain=SWITCH.domain)
    assert learner.added_ == 0
    assert learner.graphs_.shape == (8, 3, 3)
