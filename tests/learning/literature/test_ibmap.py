"""IBMAP: its score by brute force, and its search."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb, factorial, log, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextwise import Structure, sample
from contextwise.data.rows import as_data
from contextwise.errors import DomainError
from contextwise.evidence.counted_rows import CountedRows
from contextwise.learning.literature.ibmap import IBMAP, StatementScores, log_independence
from contextwise.support.arrays import IntArray
from contextwise.truths.named import strong_weights


def drawn(seed: int, cards: list[int], count: int) -> IntArray:
    rng = np.random.default_rng(seed)
    rows = np.stack([rng.integers(0, c, count) for c in cards], axis=1)
    rows[:, 1] = np.where(rng.random(count) < 0.5, rows[:, 0] % cards[1], rows[:, 1])
    return rows


def likelihood(values: list[object], cells: int) -> float:
    """The probability of values in order under a uniform prior: a product of fractions."""
    counts = Counter(values).values()
    return prod(map(factorial, counts)) / (
        factorial(len(values)) * comb(len(values) + cells - 1, cells - 1)
    )


def independence(rows: IntArray, cards: list[int], x: int, y: int, given: list[int]) -> float:
    """The posterior of independence, by fractions."""
    groups: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for row in rows.tolist():
        groups.setdefault(tuple(row[v] for v in given), []).append((row[x], row[y]))
    prior, result = 0.5 ** (1 / len(groups)), 1.0
    for pairs in groups.values():
        apart = likelihood([a for a, _ in pairs], cards[x])
        apart *= likelihood([b for _, b in pairs], cards[y])
        together = likelihood(list(pairs), cards[x] * cards[y])
        result *= prior * apart / (prior * apart + (1 - prior) * together)
    return result


CASES = st.tuples(
    st.integers(0, 999), st.lists(st.integers(2, 3), min_size=3, max_size=4), st.integers(1, 25)
)


@given(CASES)
@settings(max_examples=30)
def test_the_score_by_brute_force(case: tuple[int, list[int], int]) -> None:
    seed, cards, count = case
    rows = drawn(seed, cards, count)
    domain = {f"v{k}": c for k, c in enumerate(cards)}
    table = CountedRows.of(as_data(rows, domain))
    assert log_independence(table, 0, 1, [2]) == pytest.approx(
        log(independence(rows, cards, 0, 1, [2]))
    )
    learner = IBMAP().fit(rows, domain=domain)
    graph, total = learner.graph_, 0.0
    for x in range(len(cards)):
        blanket = np.flatnonzero(graph[x]).tolist()
        for y in set(range(len(cards))) - {x}:
            p = independence(rows, cards, x, y, [v for v in blanket if v != y])
            total += log(1 - p) if y in blanket else log(p)
    assert learner.score_ == pytest.approx(total)


@given(CASES)
@settings(max_examples=20)
def test_no_flip_of_a_pair_improves_the_result(case: tuple[int, list[int], int]) -> None:
    seed, cards, count = case
    learner = IBMAP().fit(drawn(seed, cards, count))
    scores = StatementScores(CountedRows.of(as_data(drawn(seed, cards, count))))
    empty = np.zeros_like(learner.graph_)
    assert learner.score_ >= scores.of(empty).sum() - 1e-6
    for a, b in combinations(range(len(cards)), 2):
        other = learner.graph_.copy()
        other[[a, b], [b, a]] ^= True
        assert scores.of(other).sum() <= learner.score_ + 1e-6


def test_it_finds_a_cycle() -> None:
    edges = [("A", "B"), ("B", "C"), ("C", "D"), ("A", "D")]
    domain = dict.fromkeys("ABCD", 2)
    truth = Structure(domain, [{a: 1, b: 1} for a, b in edges])
    rows = sample(strong_weights(truth, np.random.default_rng(3)), 3000, seed=1)
    assert IBMAP().fit(rows).structure_.pairs() == sorted(edges)


def test_tries_must_be_positive() -> None:
    with pytest.raises(DomainError, match="tries must be >= 1"):
        IBMAP(tries=0).fit([[0, 1], [1, 0]])
