"""Chow and Liu's tree and the independent model against their definitions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwise as cw
from contextwise.data.rows import Data
from contextwise.distributions import mean_log_likelihood
from contextwise.errors import DomainError
from contextwise.learning import ChowLiu, Independent, as_data
from contextwise.learning.chow_liu import mutual_information

ROWS = np.random.default_rng(5).integers(0, 2, (60, 4)) | np.array([[0, 0, 1, 0]])
ROWS[:, 1] = ROWS[:, 0] ^ (np.arange(60) % 7 == 0)


def brute_mutual_information(data: Data, i: int, j: int, prior: float) -> float:
    """The definition, cell by cell."""
    cards, total = data.domain.cardinalities, len(data) + prior
    found = 0.0
    for a, b in itertools.product(range(cards[i]), range(cards[j])):
        both = sum(row[i] == a and row[j] == b for row in data.rows)
        p = (both + prior / (cards[i] * cards[j])) / total
        one = (sum(row[i] == a for row in data.rows) + prior / cards[i]) / total
        other = (sum(row[j] == b for row in data.rows) + prior / cards[j]) / total
        found += p * math.log(p / (one * other))
    return found


@given(st.data())
def test_chow_liu_is_the_best_of_all_trees(data: st.DataObject) -> None:
    cards = data.draw(st.lists(st.sampled_from([1, 2, 3, 66]), min_size=2, max_size=4))
    cells = st.tuples(*(st.integers(0, card - 1) for card in cards))
    rows = data.draw(st.lists(cells, min_size=1, max_size=12))
    own = as_data(np.array(rows), cw.Domain.of_cardinalities(cards))
    found = ChowLiu(prior=0.5).fit(own)
    weights = mutual_information(own, 0.5)
    pairs = list(itertools.combinations(range(len(cards)), 2))
    for i, j in pairs:
        assert weights[i, j] == pytest.approx(brute_mutual_information(own, i, j, 0.5), abs=1e-9)
    totals = [
        sum(weights[edge] for edge in tree)
        for tree in itertools.combinations(pairs, len(cards) - 1)
        if _spans(tree, len(cards))
    ]
    assert sum(weights[edge] for edge in found.edges_) == pytest.approx(max(totals), abs=1e-9)


def _spans(edges: tuple[tuple[int, int], ...], nodes: int) -> bool:
    reached = {0}
    for _ in edges:
        reached |= {v for edge in edges if reached & set(edge) for v in edge}
    return len(reached) == nodes


def test_chow_liu_is_a_distribution_and_its_weights_are_conditionals() -> None:
    found = ChowLiu().fit(ROWS)
    every = list(itertools.product(*map(range, found.domain_.cardinalities)))
    logs = [math.exp(_log_potential(found.model_, state)) for state in every]
    assert sum(logs) == pytest.approx(1.0)
    assert mean_log_likelihood(found.model_, ROWS) > mean_log_likelihood(
        Independent().fit(ROWS).model_, ROWS
    )


def _log_potential(model: cw.LogLinear, state: tuple[int, ...]) -> float:
    names = model.domain.names
    return sum(
        float(weight)
        for feature, weight in zip(model.structure, model.weights.tolist(), strict=True)
        if all(str(state[names.index(name)]) in allowed for name, allowed in feature.items())
    )


def test_without_rows_nothing_is_connected() -> None:
    domain = {"A": 2, "B": 3}
    nothing = np.zeros((0, 2), dtype=int)
    assert ChowLiu().fit(nothing, domain=domain).structure_.pairs() == []
    model = Independent().fit(nothing, domain=domain).model_
    assert model.weights.tolist() == pytest.approx(np.log([1 / 2] * 2 + [1 / 3] * 3).tolist())


def test_more_variables_than_rows() -> None:
    rows = np.random.default_rng(1).integers(0, 3, (5, 40))
    assert len(ChowLiu().fit(rows).edges_) == 39
    with pytest.raises(DomainError, match="prior"):
        ChowLiu(prior=0).fit(rows)
