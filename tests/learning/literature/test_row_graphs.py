"""CSGS and CSPC: one graph per row, and the features of one graph per row."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import reference_searches as reference
from contextwise import compare, examples, sample
from contextwise.errors import DomainError
from contextwise.evidence.counted_rows import not_compiled
from contextwise.learning import CSGS, CSPC
from contextwise.models.structure import structure_of
from contextwise.truths.named import strong_weights


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


def test_an_unknown_reading() -> None:
    with pytest.raises(DomainError, match="reading must be"):
        CSGS(reading="both").fit([[0, 1], [1, 0]])  # type: ignore[arg-type]
