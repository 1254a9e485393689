"""Each learner finds the same structure as a slow search written from its description."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import combinations, product

import numpy as np
import pytest

import contextwise as cw
import reference_searches as reference
from contextwise.evidence import counted_rows as counted_rows_module
from contextwise.learning import CSGS, GSMN, ContextualMPL
from contextwise.support.arrays import IntArray

SETS = [*range(40), 2020]


@pytest.fixture(autouse=True, params=["compiled", "readable"])
def twin(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every test with the compiled counting and with its readable twin."""
    if request.param == "readable":
        monkeypatch.setattr(counted_rows_module, "not_compiled", "switched off")
    elif counted_rows_module.not_compiled:
        pytest.skip(counted_rows_module.not_compiled)


def random_data(seed: int, largest: int = 6) -> tuple[IntArray, list[int]]:
    """Draw rows of 3 or more variables; some dependencies hold in contexts only.

    A variable is constant, a function of an earlier one, or drawn given up to three earlier ones.
    """
    rng = np.random.default_rng(seed)
    cards = rng.integers(2, 4, rng.integers(3, largest + 1)).tolist()
    count = int(np.exp(rng.uniform(np.log(50), np.log(2000))))
    rows = np.zeros((count, len(cards)), dtype=np.int64)
    for v, card in enumerate(cards):
        kind = rng.choice(["drawn", "equal", "constant"], p=[0.9, 0.06, 0.04])
        parents = rng.permutation(v)[: rng.integers(1, 4)]
        if kind == "equal" and v:
            rows[:, v] = rows[:, parents[0]] % card
        elif kind == "drawn":
            values = rows[:, parents]
            if len(parents) > 1 and rng.random() < 0.7:
                values[values[:, 0] == 0, 1] = 0  # the second parent matters in a context only
            chances = rng.dirichlet([rng.choice([0.5, 1, 3])] * card, [3] * len(parents))
            at = chances[tuple(values.T)].cumsum(axis=-1)
            rows[:, v] = (rng.random((count, 1)) > at[..., :-1]).sum(axis=-1)
    order = rng.permutation(len(cards))
    return rows[:, order], [cards[v] for v in order]


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
@pytest.mark.parametrize("rule", ["and", "or"])
def test_graph_per_row(rule: str, seed: int) -> None:
    rows, cards = random_data(seed)
    learned = CSGS(rule=rule).fit(rows, domain=domain_of(cards))  # type: ignore[arg-type]
    graphs = reference.csgs(plain(rows), rule)
    for row, graph in zip(learned.table_.rows.tolist(), learned.graphs_, strict=True):
        pairs = combinations(range(len(row)), 2)
        assert {(a, b) for a, b in pairs if graph[a, b]} == graphs[tuple(row)]
    assert features_of(learned.structure_) == texts_of(reference.clique_features(graphs))


def holds(context: Mapping[int, Collection[int]], row: reference.Row) -> bool:
    return all(row[v] in values for v, values in context.items())


def claimed(structure: cw.Structure, pair: reference.Pair, row: reference.Row) -> bool:
    """Return whether a feature has both variables and holds in the others."""
    for literals in structure.features.literals():
        rest = [(v, values) for v, values in literals if v not in pair]
        if len(literals) == len(rest) + 2 and all(values >> row[v] & 1 for v, values in rest):
            return True
    return False


@pytest.mark.parametrize("twin", ["compiled"], indirect=True)  # it has no version in Python
@pytest.mark.parametrize("seed", SETS)
def test_edges(seed: int) -> None:
    rows, cards = random_data(seed, largest=5)
    learned = ContextualMPL().fit(rows, domain=domain_of(cards))
    edges = reference.contextual_mpl(plain(rows), cards)
    assert sorted(learned.edges_) == sorted(edges)
    seen, added = set(plain(rows)), 0
    for row in product(*map(range, cards)):
        for pair in combinations(range(len(cards)), 2):
            present, absent = edges.get(pair, ([], [{}]))
            is_present = any(holds(context, row) for context in present)
            assert is_present != any(holds(context, row) for context in absent)
            if pair in edges:
                contexts = learned.edges_[pair].present
                assert is_present == any(holds(context, row) for context in contexts)
            claim = claimed(learned.structure_, pair, row)
            assert claim or not is_present
            added += row in seen and claim and not is_present
    assert learned.added_ == added
