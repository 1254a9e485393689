"""CSGS and CSPC: one graph per row, and the features of one graph per row."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import contextwise as cw
import reference_searches as reference
from contextwise import Domain, compare, examples, sample
from contextwise.data.rows import as_data
from contextwise.errors import DomainError
from contextwise.evidence.counted_rows import CountedRows, not_compiled
from contextwise.learning import CSGS, CSPC
from contextwise.learning.graphs import claimed_dependencies, from_row_graphs
from contextwise.learning.literature.row_graphs import by_context
from contextwise.models.structure import structure_of
from contextwise.truths.named import strong_weights
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


@pytest.mark.parametrize("kind", [CSGS, CSPC])
def test_the_direct_reading_sees_the_contexts_of_the_paper_s_model(kind: type[CSGS]) -> None:
    """Features of cliques claim most pairs without X0=0 too."""
    six = structure_of(examples.load("six"))
    rows = sample(strong_weights(six, np.random.default_rng(1)), 10_000, seed=1)
    cliques = compare(six, kind().fit(rows, domain=six.domain).structure_)
    direct = compare(six, kind(reading="contexts").fit(rows, domain=six.domain).structure_)
    assert cliques.fp >= 64
    assert direct.fp < cliques.fp / 2
    assert direct.distance < cliques.distance


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


def test_an_unknown_reading() -> None:
    with pytest.raises(DomainError, match="reading must be"):
        CSGS(reading="both").fit([[0, 1], [1, 0]])  # type: ignore[arg-type]
