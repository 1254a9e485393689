"""Each learner finds the same structure as a slow search written from its description."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import reference_searches as reference

import contextwise as cw
from contextwise.learning import CSGS, CSPC, GSMN
from contextwise.models.features import IntArray

SETS = range(20)


def random_data(seed: int) -> tuple[IntArray, list[int]]:
    """Draw rows of 3 to 6 variables that depend on each other, some of them in contexts only."""
    rng = np.random.default_rng(seed)
    cards = rng.integers(2, 4, rng.integers(3, 7)).tolist()
    count = int(np.exp(rng.uniform(np.log(50), np.log(2000))))
    rows = rng.integers(0, cards, (count, len(cards)))
    for v in range(1, len(cards)):
        kind = rng.choice(["free", "noisy", "context", "equal", "constant"], p=NOISE)
        source, switch = rng.integers(0, v, 2)
        follows = rng.random(count) < rng.uniform(0.2, 0.9)
        if kind == "context":
            follows &= rows[:, switch] == 0
        if kind in ("noisy", "context"):
            rows[follows, v] = rows[follows, source] % cards[v]
        elif kind == "equal":
            rows[:, v] = rows[:, source] % cards[v]
        elif kind == "constant":
            rows[:, v] = 0
    return rows[:, rng.permutation(len(cards))] if len(set(cards)) == 1 else rows, cards


NOISE = [0.15, 0.35, 0.35, 0.1, 0.05]


def plain(rows: IntArray) -> list[reference.Row]:
    return [tuple(row) for row in rows.tolist()]


def domain_of(cards: list[int]) -> dict[str, int]:
    return {f"v{k}": card for k, card in enumerate(cards)}


def features_of(structure: cw.Structure) -> set[str]:
    return {structure.feature_text(k) for k in range(len(structure))}


def texts_of(features: set[tuple[reference.Pair, ...]]) -> set[str]:
    return {" & ".join(f"v{v}={value}" for v, value in feature) for feature in features}


@pytest.mark.parametrize("rule", ["and", "or"])
@pytest.mark.parametrize("seed", SETS)
def test_gsmn(seed: int, rule: str) -> None:
    rows, cards = random_data(seed)
    learned = GSMN(rule=rule).fit(rows, domain=domain_of(cards))  # type: ignore[arg-type]
    blankets = reference.gsmn(plain(rows))
    assert [list(blanket) for blanket in learned.blankets_] == blankets
    graph = reference.graph_of(blankets, rule)
    assert learned.structure_.pairs() == [(f"v{a}", f"v{b}") for a, b in sorted(graph)]


@pytest.mark.parametrize("seed", SETS)
@pytest.mark.parametrize("learner", [CSGS(), CSGS(rule="or"), CSPC(), CSPC(max_size=1)], ids=repr)
def test_graph_per_row(learner: CSGS | CSPC, seed: int) -> None:
    rows, cards = random_data(seed)
    learned = learner.fit(rows, domain=domain_of(cards))
    if isinstance(learner, CSGS):
        graphs = reference.csgs(plain(rows), learner.rule)
    else:
        graphs = reference.cspc(plain(rows), learner.max_size)
    for row, graph in zip(learned.table_.rows.tolist(), learned.graphs_, strict=True):
        pairs = combinations(range(len(row)), 2)
        assert {(a, b) for a, b in pairs if graph[a, b]} == graphs[tuple(row)]
    assert features_of(learned.structure_) == texts_of(reference.clique_features(graphs))
