"""Slow searches of the learners, written from their descriptions with plain loops.

Rows are tuples of codes. A graph is a set of pairs (a, b) with a < b. Nothing here uses the code of
the learners.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from scipy.special import gammaincc

Row = tuple[int, ...]
Pair = tuple[int, int]
Graph = set[Pair]

ROUNDING = 1e-9
"""Difference below which scores are equal; relative for p-values and statistics."""


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
        dependent = [(v, t) for v, t in tests if t.dependent]
        if not dependent:
            break
        least = min(t.p_value for _, t in dependent)
        first = [(v, t) for v, t in dependent if t.p_value <= least * (1 + ROUNDING) + 1e-320]
        most = max(t.excess for _, t in first)
        blanket.append(next(v for v, t in first if t.excess >= most - ROUNDING * abs(most)))
    while True:
        tests = [(v, test(v, [u for u in blanket if u != v])) for v in blanket]
        independent = [(v, t.p_value) for v, t in tests if t.independent]
        if not independent:
            return blanket
        most = max(p_value for _, p_value in independent)
        blanket.remove(next(v for v, p_value in independent if p_value >= most * (1 - ROUNDING)))


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


# -- marginal pseudo-likelihood --------------------------------------------------------------------

Context = dict[int, frozenset[int]]
"""The allowed values of each variable it restricts."""
Regions = dict[Pair, tuple[list[Context], list[Context]]]
"""The contexts in which each edge is present and absent; a missing pair is absent."""


def first_best(values: Sequence[float]) -> int:
    """Return the place of the first value that is largest up to rounding."""
    return next(k for k, value in enumerate(values) if value >= max(values) - ROUNDING)


def meets(first: Context, second: Context, ignored: Iterable[int] = ()) -> bool:
    """Return whether two contexts can hold together."""
    shared = first.keys() & second.keys() - set(ignored)
    return all(first[v] & second[v] for v in shared)


class Likelihood:
    """Marginal pseudo-likelihoods of variables given blankets whose edges vanish in contexts."""

    def __init__(self, rows: Sequence[Row], cards: Sequence[int]) -> None:
        self.cards, self.counts = cards, Counter(rows)
        self.varying = [v for v in range(len(cards)) if len({row[v] for row in rows}) > 1]

    def score(
        self, target: int, blanket: Iterable[int], absent: dict[int, list[Context]] | None = None
    ) -> float:
        """Score a variable; absent has the contexts in which members of the blanket vanish."""
        members = sorted(blanket)
        labels = self.classes(members, absent or {})
        sizes = Counter(labels.values())
        cells: Counter[tuple[int, int]] = Counter()
        for row, count in self.counts.items():
            cells[labels[tuple(row[v] for v in members)], row[target]] += count
        totals: Counter[int] = Counter()
        for (label, _), count in cells.items():
            totals[label] += count
        score = 0.0
        for label, count in totals.items():
            weight = sizes[label] / len(labels)
            score += math.lgamma(weight) - math.lgamma(weight + count)
        for (label, _), count in cells.items():
            share = sizes[label] / len(labels) / self.cards[target]
            score += math.lgamma(share + count) - math.lgamma(share)
        return score

    def classes(self, members: list[int], absent: dict[int, list[Context]]) -> dict[Row, int]:
        """Label configurations; those that differ in a vanished member alone get one label."""
        configurations = list(product(*(range(self.cards[v]) for v in members)))
        labels = {configuration: k for k, configuration in enumerate(configurations)}
        for place, member in enumerate(members):
            for start in configurations:
                at = {v: frozenset([k]) for v, k in zip(members, start, strict=True)}
                if start[place] or not any(meets(at, c) for c in absent.get(member, [])):
                    continue
                for value in range(1, self.cards[member]):
                    other = (*start[:place], value, *start[place + 1 :])
                    old, new = labels[other], labels[start]
                    if old != new:
                        labels = {c: new if k == old else k for c, k in labels.items()}
        return labels

    def best_graph(self) -> Graph:
        """Search for a blanket per variable, then for a graph among the edges of the blankets."""
        size = len(self.cards)
        blankets = [set[int]() for _ in range(size)]
        for target in self.varying:
            others = [v for v in self.varying if v != target]
            while others:
                scores = [self.score(target, blankets[target] ^ {v}) for v in others]
                best = first_best(scores)
                if scores[best] <= self.score(target, blankets[target]) + ROUNDING:
                    break
                blankets[target] ^= {others[best]}
        members = [sorted(blanket) for blanket in blankets]
        graph, candidates = graph_of(members, "and"), sorted(graph_of(members, "or"))
        while candidates:
            scores = [self.graph_score(graph ^ {pair}) for pair in candidates]
            best = first_best(scores)
            if scores[best] <= self.graph_score(graph) + ROUNDING:
                break
            graph ^= {candidates[best]}
        return graph

    def graph_score(self, graph: Graph) -> float:
        return sum(self.score(v, neighbours(graph, v)) for v in range(len(self.cards)))


def neighbours(graph: Iterable[Pair], v: int) -> set[int]:
    return {a if b == v else b for a, b in graph if v in (a, b)}


def contextual_mpl(rows: Sequence[Row], cards: Sequence[int]) -> Regions:
    """Start from the best graph and add the best context of an edge, while the score rises."""
    likelihood = Likelihood(rows, cards)
    graph = sorted(likelihood.best_graph())
    absent: dict[Pair, list[Context]] = {pair: [] for pair in graph}
    contexts: dict[Pair, list[Context]] = {}
    for a, b in graph:
        common = sorted(neighbours(graph, a) & neighbours(graph, b))
        values = product(*(range(cards[v]) for v in common)) if common else []
        contexts[a, b] = [
            {v: frozenset([k]) for v, k in zip(common, codes, strict=True)} for codes in values
        ]

    def around(v: int, extra: tuple[Pair, Context] | None = None) -> dict[int, list[Context]]:
        vanished = {u: list(absent[pair_of(u, v)]) for u in neighbours(graph, v)}
        if extra:
            vanished[sum(extra[0]) - v].append(extra[1])
        return vanished

    def gain(pair: Pair, context: Context) -> float:
        return sum(
            likelihood.score(v, neighbours(graph, v), around(v, (pair, context)))
            - likelihood.score(v, neighbours(graph, v), around(v))
            for v in pair
        )

    known: dict[Pair, list[float]] = {}
    while True:
        for pair in graph:
            if pair not in known:
                known[pair] = [gain(pair, context) for context in contexts[pair]]
        options = [(pair, k) for pair in graph for k in range(len(contexts[pair]))]
        gains = [known[pair][k] for pair, k in options]
        if not gains or max(gains) <= ROUNDING:
            break
        pair, k = options[first_best(gains)]
        absent[pair].append(contexts[pair].pop(k))
        known = {p: values for p, values in known.items() if not set(p) & set(pair)}
    # An edge is also absent where the contexts of other edges have merged its classes.
    regions: Regions = {}
    for pair in graph:
        implied = [
            context
            for context in contexts[pair]
            if all(
                class_count(likelihood, around(v))
                == class_count(likelihood, around(v, (pair, context)))
                for v in pair
            )
        ]
        present = [context for context in contexts[pair] if context not in implied]
        gone = absent[pair] + implied
        regions[pair] = (present, gone) if gone else ([{}], [])
    return regions


def class_count(likelihood: Likelihood, absent: dict[int, list[Context]]) -> int:
    """Return the number of classes of configurations of a blanket."""
    return len(set(likelihood.classes(sorted(absent), absent).values()))


# -- trees of contexts -----------------------------------------------------------------------------
