"""Find pairs that a learned structure claims to be independent although they depend in its rows.

Two claims are tested. Pairs in different components of the structure's graph are independent
without any condition. Other pairs that are not adjacent are independent given the neighbours of
either variable; up to `MOST` of them are tested, given the neighbours with fewer states.

A pair counts as missed if two tests reject its independence: Pearson's X² with the exact moments of
its null (`contextwise.learning.pearson_test`), and G² with the chi-square distribution. The first
is too sure if two rare states meet by chance, the second if many cells have about one row. Both
p-values are corrected for the number of pairs (Bonferroni). The rows are those of learning, which
makes false alarms rarer: a pair that depends by chance is one that the learner connects.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log

import numpy as np

from contextwise.counting.extraction import covered_pairs
from contextwise.data.rows import Data
from contextwise.learning.counted_rows import CountedRows
from contextwise.learning.pearson_test import evaluate_given
from contextwise.models.domain import listed
from contextwise.models.notation import between
from contextwise.models.structure import Structure
from contextwise.support.arrays import IntArray
from contextwise.support.formatting import plural

LEVEL = 0.05
"""The probability that any of the pairs is missed by chance."""
MOST = 1_000
"""Most pairs of one component to test."""
ADVICE = {"trees": "penalty", "sparse-pairs": "l1"}
"""Learners that find more if this parameter is smaller; the first one is what others may try."""
WORK = 2**28
"""Most rows to count for the pairs of different components, over all these pairs."""


@dataclass(frozen=True)
class MissedPair:
    """A pair that is claimed to be independent and depends in the rows."""

    pair: tuple[str, str]
    given: tuple[str, ...]  # empty if the variables are in different components
    p_value: float  # the larger one of the two tests, not corrected

    def __str__(self) -> str:
        given = f" given {listed(self.given)}" if self.given else ""
        tiny = "p < 1e-300" if self.p_value < 1e-300 else f"p = {self.p_value:.2g}"
        return f"{between(self.pair)}{given}, {tiny}"


@dataclass(frozen=True)
class Missed:
    """The pairs that a learner missed, strongest first, and the number of pairs that were tested.

    >>> import contextwise as cw
    >>> learner = cw.learning.Independent().fit("berkeley")
    >>> print(learner.missed_)
    3 of 3 pairs that the structure claims to be independent clearly depend in the rows
    (Gender–Dept, p = 5.7e-229): the learner found too little.
    """

    pairs: tuple[MissedPair, ...]
    tested: int

    def __bool__(self) -> bool:
        return bool(self.pairs)

    def __str__(self) -> str:
        if not self.pairs:
            claims = plural(self.tested, "pair")
            return f"{claims} claimed to be independent: none clearly depends in the rows."
        depend = "depends" if len(self.pairs) == 1 else "depend"
        return (
            f"{len(self.pairs):,} of {plural(self.tested, 'pair')} that the structure claims to be "
            f"independent clearly {depend} in the rows ({self.pairs[0]}): the learner found too "
            "little."
        )


def advice(learner: str) -> str:
    """Return what to try after this learner; measured in "Which learner for which data"."""
    if learner in ADVICE:
        return f"Try a smaller {ADVICE[learner]}, chosen on held-out rows."
    first, second = ADVICE
    return (
        f"Try the learner {first!r}, or {second!r} with an {ADVICE[second]} chosen on held-out rows"
        "; see 'Which learner for which data' in the documentation."
    )


def missed_pairs(structure: Structure, data: Data) -> Missed:
    """Test the pairs that a structure claims to be independent against the rows it comes from."""
    table = CountedRows.of(data)
    if not structure.separation_holds or not len(table.rows):
        return Missed((), 0)
    names = structure.domain.names
    candidates, tested = [], 0
    groups = list(_claims(structure, table))
    tested = sum(len(others) for _, others, _ in groups)
    for target, others, given in groups:
        p_values = evaluate_given(table, target, others, given).p_values
        for k in np.flatnonzero(p_values * tested <= LEVEL):
            pair = (min(target, others[k]), max(target, others[k]))
            p_value, excess = _g_test(table, pair, given)
            p_value = max(p_value, float(p_values[k]))
            if p_value * tested <= LEVEL:
                by_name = MissedPair(
                    (names[pair[0]], names[pair[1]]), tuple(names[v] for v in given), p_value
                )
                candidates.append((p_value, -excess, by_name))
    return Missed(tuple(missed for *_, missed in sorted(candidates, key=lambda c: c[:2])), tested)


def _claims(structure: Structure, table: CountedRows) -> Iterator[tuple[int, list[int], list[int]]]:
    """Yield a variable, those that it is claimed to be independent of, and given which others."""
    from scipy.sparse.csgraph import connected_components

    n = len(structure.domain)
    graph = np.zeros((n, n), dtype=bool)
    edges = covered_pairs(structure.features)
    graph[edges[:, 0], edges[:, 1]] = graph[edges[:, 1], edges[:, 0]] = True
    component = connected_components(graph)[1]
    varying = np.array(table.varying, dtype=np.int64)
    first, second = np.triu_indices(len(varying), 1)
    pairs = np.stack([varying[first], varying[second]], axis=1)
    is_apart = component[pairs[:, 0]] != component[pairs[:, 1]]
    is_free = ~graph[pairs[:, 0], pairs[:, 1]]
    rng = np.random.default_rng(0)
    apart = _some(pairs[is_apart], max(MOST, WORK // len(table.rows)), rng)
    for target in np.unique(apart[:, 0]).tolist():
        yield target, apart[apart[:, 0] == target, 1].tolist(), []
    neighbours = [np.flatnonzero(row).tolist() for row in graph]
    sizes = [sum(log(table.cardinalities[u]) for u in near) for near in neighbours]
    others: dict[int, list[int]] = {}
    for a, b in _some(pairs[is_free & ~is_apart], MOST, rng).tolist():
        # Either blanket separates the pair; the smaller one leaves more rows per group.
        target, other = (b, a) if sizes[b] < sizes[a] else (a, b)
        others.setdefault(target, []).append(other)
    for target, untouched in others.items():
        yield target, untouched, neighbours[target]


def _some(pairs: IntArray, most: int, rng: np.random.Generator) -> IntArray:
    """Return all pairs, or as many as allowed, drawn at random."""
    return pairs if len(pairs) <= most else rng.choice(pairs, most, replace=False)


def _g_test(table: CountedRows, pair: tuple[int, int], given: list[int]) -> tuple[float, float]:
    """Return the p-value of G² within groups of rows, and G² minus its degrees of freedom."""
    from scipy.special import chdtrc, xlogy

    high, wide = (table.cardinalities[v] for v in pair)
    groups, count = table.groups(given) if given else (np.zeros(len(table.rows), np.int64), 1)
    codes = (groups * high + table.rows[:, pair[0]]) * wide + table.rows[:, pair[1]]
    cells = np.bincount(codes, weights=table.counts, minlength=count * high * wide)
    tables = cells.reshape(count, high, wide)
    r, c = tables.sum(axis=2), tables.sum(axis=1)
    total = r.sum(axis=1)
    sums = [xlogy(part, part).sum() for part in (tables, r, c, total)]
    statistic = 2 * float(sums[0] - sums[1] - sums[2] + sums[3])
    rows, columns = (r > 0).sum(axis=1), (c > 0).sum(axis=1)
    # States that do not occur in a group have no degree of freedom there.
    freedom = float((np.maximum(rows - 1, 0) * np.maximum(columns - 1, 0)).sum())
    return float(chdtrc(freedom, max(statistic, 0.0))), statistic - freedom
