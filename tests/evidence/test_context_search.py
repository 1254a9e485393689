"""The compiled search for graphs of contexts, and its readable twin."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from contextwise.evidence.counted_rows import CountedRows
from contextwise.evidence.independence_test import (
    DecisionRule,
    evaluate_tables,
    tables_within,
)
from contextwise.learning import CSPC
from contextwise.learning.base import Run
from contextwise.support.arrays import BoolArray
from counted_tables import compiled, tables


def context_graphs(
    table: CountedRows, rule: DecisionRule, max_size: int | None = None
) -> BoolArray:
    """Return the graphs that CSPC finds, by one test of all pairs per set of neighbours."""
    edges = _complete_graphs(table)
    sets: list[tuple[int, ...]] = [()]
    while sets and (edges.sum(axis=1) > len(sets[0])).any():
        if max_size is not None and len(sets[0]) > max_size:
            break
        sets = _delete_edges(table, sets, edges, rule)
        sets = [(*s, v) for s in sets for v in table.varying if v > max(s, default=-1)]
    return np.ascontiguousarray(edges.transpose(2, 0, 1))


def _complete_graphs(table: CountedRows) -> BoolArray:
    """Return the complete graph over the variables that vary: (variables, variables, rows)."""
    size = len(table.cardinalities)
    varies = np.zeros(size, dtype=bool)
    varies[table.varying] = True
    graph = varies[:, None] & varies & ~np.eye(size, dtype=bool)
    return np.repeat(graph[:, :, None], len(table.rows), axis=2)


def _delete_edges(
    table: CountedRows, sets: Iterable[tuple[int, ...]], edges: BoolArray, rule: DecisionRule
) -> list[tuple[int, ...]]:
    """Delete edges in place by tests given each of the sets.

    Return the sets that are neighbours of a variable in some row with enough rows to test; only
    their supersets can matter later.
    """
    # Neighbours as of now, so that the order of the sets does not matter.
    before, useful = edges.copy(), []
    for fixed in sets:
        groups, count = table.groups(fixed)
        sizes = np.bincount(groups, weights=table.counts, minlength=count)
        large = sizes[groups] >= max(4, 4 * rule.min_count)
        adjacent = before[:, list(fixed)].all(axis=1) & large
        if adjacent.any():
            useful.append(fixed)
            others = [v for v in table.varying if v not in fixed]
            wanted = {
                (a, b): (adjacent[a] | adjacent[b]) & edges[a, b]
                for a, b in combinations(others, 2)
            }
            tested = [pair for pair, rows in wanted.items() if rows.any()]
            if not tested:
                continue
            for a, b in tested:
                shape = table.cardinalities[a], table.cardinalities[b]
                within = tables_within(table.rows, table.counts, (a, b), shape, groups)
                independent = evaluate_tables(within).independent(rule)
                if independent.any():
                    deleted = independent[groups] & wanted[a, b]
                    edges[a, b, deleted] = edges[b, a, deleted] = False
    return useful


@compiled
@given(tables(), st.sampled_from([0.0, 0.3, 2.0]), st.sampled_from([0.05, 0.5]), st.integers(1, 3))
@settings(max_examples=100, deadline=None)
def test_graphs_of_contexts_follow_from_the_tests(
    twins: tuple[CountedRows, CountedRows], min_count: float, level: float, n_jobs: int
) -> None:
    rule = DecisionRule(level, min_count)
    fast, slow = twins
    found = CSPC(n_jobs=n_jobs).find_graphs(fast, rule, Run())
    np.testing.assert_array_equal(found, context_graphs(slow, rule))


@compiled
def test_graphs_of_contexts_of_many_pairs() -> None:
    rng = np.random.default_rng(3)
    hidden = rng.integers(0, 2, (400, 1))
    rows = np.where(rng.random((400, 24)) < 0.4, hidden, rng.integers(0, 2, (400, 24)))
    fast, slow = (CountedRows(rows, np.arange(400) % 7 + 1, (2,) * 24) for _ in range(2))
    vars(slow)["compiled"] = None
    found = CSPC(max_size=2).find_graphs(fast, DecisionRule(0.05, 5.0), Run())
    assert (found == context_graphs(slow, DecisionRule(0.05, 5.0), 2)).all()
