"""Slow searches of the learners, written from their descriptions with plain loops.

Rows are tuples of codes. A graph is a set of pairs (a, b) with a < b. Nothing here uses the code of
the learners.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from scipy.special import gammaincc

Row = tuple[int, ...]
Pair = tuple[int, int]
Graph = set[Pair]


def pair_of(a: int, b: int) -> Pair:
    return (a, b) if a < b else (b, a)


# -- tests of independence -------------------------------------------------------------------------


@dataclass
class Verdict:
    """The result of a test. An undecided test is neither dependent nor independent."""

    p_value: float
    excess: float
    dependent: bool
    independent: bool


def independence(groups: Iterable[Sequence[Row]], a: int, b: int, level: float) -> Verdict:
    """Test a and b within groups of rows by Pearson's statistic and its permutation moments."""
    statistic = mean = variance = largest = 0.0
    rows = cells = 0
    for group in groups:
        n = len(group)
        table = Counter((row[a], row[b]) for row in group)
        r, c = Counter(row[a] for row in group), Counter(row[b] for row in group)
        if n <= 3 or len(r) < 2 or len(c) < 2:
            continue
        squares = math.fsum(k * k / (r[i] * c[j]) for (i, j), k in table.items())
        (v_r, w_r), (v_c, w_c) = (
            (
                (len(m) - 1) * (n - len(m)) / (n - 1),
                (n * math.fsum(1 / k for k in m.values()) - len(m) ** 2) / (n - 2),
            )
            for m in (r, c)
        )
        bound = min(
            math.fsum(min(1, k / min(other.values())) for k in m.values())
            for m, other in ((r, c), (c, r))
        )
        statistic += n * (squares - 1)
        mean += n / (n - 1) * (len(r) - 1) * (len(c) - 1)
        variance += 2 * n / (n - 3) * (v_r - w_r) * (v_c - w_c) + n**2 / (n - 1) * w_r * w_c
        largest += n * (bound - 1)
        rows += n
        cells += len(r) * len(c)

    def tail(value: float) -> float:
        if variance <= 1e-12:
            return 1.0
        return float(gammaincc(mean**2 / variance, max(value, 0.0) * mean / variance))

    p_value = tail(statistic)
    enough = cells > 0 and rows >= 5 * cells
    return Verdict(
        p_value,
        statistic - mean,
        enough and p_value <= level,
        enough and p_value > level and tail(largest) <= level,
    )


def level_of(rows: Sequence[Row]) -> float:
    return min(0.05, 1 / math.sqrt(len(rows)))


def grow_and_shrink(others: Iterable[int], test: Callable[[int, list[int]], Verdict]) -> list[int]:
    """Return the blanket of a variable; test(v, given) tests it and v."""
    blanket: list[int] = []
    while True:
        tests = [(v, test(v, blanket)) for v in others if v not in blanket]
        dependent = [(t.p_value, -t.excess, v) for v, t in tests if t.dependent]
        if not dependent:
            break
        blanket.append(min(dependent)[2])
    while True:
        tests = [(v, test(v, [u for u in blanket if u != v])) for v in blanket]
        independent = [(-t.p_value, blanket.index(v), v) for v, t in tests if t.independent]
        if not independent:
            return blanket
        blanket.remove(min(independent)[2])


def graph_of(blankets: Sequence[Sequence[int]], rule: str) -> Graph:
    """Join variables that are in the blankets of both, or of one of them."""
    need = 2 if rule == "and" else 1
    pairs = combinations(range(len(blankets)), 2)
    return {(a, b) for a, b in pairs if (b in blankets[a]) + (a in blankets[b]) >= need}


def gsmn(rows: Sequence[Row]) -> list[list[int]]:
    """Return a blanket per variable; the tests are within groups of equal values."""
    size, level = len(rows[0]), level_of(rows)

    def blanket(target: int) -> list[int]:
        def test(v: int, given: list[int]) -> Verdict:
            groups: dict[Row, list[Row]] = {}
            for row in rows:
                groups.setdefault(tuple(row[u] for u in given), []).append(row)
            return independence(groups.values(), target, v, level)

        return grow_and_shrink([v for v in range(size) if v != target], test)

    return [sorted(blanket(target)) for target in range(size)]


def agreeing(rows: Sequence[Row], row: Row, variables: Iterable[int]) -> list[Row]:
    """Return the rows that have the same values as one row."""
    fixed = list(variables)
    return [other for other in rows if all(other[v] == row[v] for v in fixed)]


def csgs(rows: Sequence[Row], rule: str) -> dict[Row, Graph]:
    """Return a graph per distinct row x; the tests use the rows that equal x in the blanket."""
    size, level = len(rows[0]), level_of(rows)
    known: dict[tuple[int, int, Row], Verdict] = {}

    def blanket(x: Row, target: int) -> list[int]:
        def test(v: int, given: list[int]) -> Verdict:
            key = target, v, tuple(x[u] if u in given else -1 for u in range(size))
            if key not in known:
                known[key] = independence([agreeing(rows, x, given)], target, v, level)
            return known[key]

        return grow_and_shrink([v for v in range(size) if v != target], test)

    return {x: graph_of([blanket(x, v) for v in range(size)], rule) for x in set(rows)}


def cspc(rows: Sequence[Row], max_size: int | None) -> dict[Row, Graph]:
    """Return a graph per distinct row x: start complete, delete edges by tests on agreeing rows."""
    level = level_of(rows)
    varying = [v for v in range(len(rows[0])) if len({row[v] for row in rows}) > 1]
    known: dict[tuple[int, int, Row], bool] = {}

    def independent(x: Row, a: int, b: int, given: tuple[int, ...]) -> bool:
        key = a, b, tuple(x[u] if u in given else -1 for u in range(len(x)))
        if key not in known:
            known[key] = independence([agreeing(rows, x, given)], a, b, level).independent
        return known[key]

    graphs = {}
    for x in set(rows):
        graph = set(combinations(varying, 2))
        sizes = range(len(varying) if max_size is None else max_size + 1)
        for k in sizes:
            neighbours = {v: {u for u in varying if pair_of(u, v) in graph} for v in varying}
            for a, b in sorted(graph):
                sets = {
                    s
                    for v, other in ((a, b), (b, a))
                    for s in combinations(sorted(neighbours[v] - {other}), k)
                }
                if any(independent(x, a, b, s) for s in sets):
                    graph.remove((a, b))
        graphs[x] = graph
    return graphs


def clique_features(graphs: dict[Row, Graph]) -> set[tuple[Pair, ...]]:
    """Return x_C for each maximal clique C of the graph of each row x, as (variable, value)s."""
    features = set()
    for x, graph in graphs.items():
        variables = range(len(x))
        cliques = [
            set(c)
            for size in range(1, len(x) + 1)
            for c in combinations(variables, size)
            if all(pair in graph for pair in combinations(c, 2))
        ]
        for clique in cliques:
            if not any(clique < other for other in cliques):
                features.add(tuple((v, x[v]) for v in sorted(clique)))
    return features
