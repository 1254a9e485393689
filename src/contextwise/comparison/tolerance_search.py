"""Decide where a pair depends at a tolerance: the readable twin of the compiled ``odds``.

In a context the pair has a table of sums of weights. A **contrast** is the log odds ratio of two
states of one variable and two of the other; the strength is the largest absolute contrast. The
search branches on variables of the context. At each node it knows an interval for the strength in
each model, because every open feature may still hold or not. A node is a leaf once the intervals
decide both models. Leaves are disjoint, so their sizes add up to exact counts.

>>> both = {0: 0b10, 1: 0b10}
>>> strong = [PairFeature({2: 0b10}, both, 3), PairFeature({}, both, 1)]  # 4 where C=1, otherwise 1
>>> weak = [PairFeature({}, both, 1)]
>>> tables = Tables((0, 1), (2, 2, 2), (strong, weak))
>>> [(leaf.context, leaf.verdicts, leaf.size) for leaf in leaves(tables, 2)]
[({2: 1}, (0, 0), 1), ({2: 2}, (1, 0), 1)]

The weights are ints (see `contextwise.comparison.tolerances`), so sums are exact.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, count
from math import inf, prod
from typing import NamedTuple

from contextwise.models.features import PairIndex, members
from contextwise.support.effort import NEVER, Deadline

INDEPENDENT, DEPENDENT, OPEN = 0, 1, 2
"""Verdicts about a model in some contexts."""


@dataclass(frozen=True)
class PairFeature:
    """A feature that contains both variables of a pair; value sets are ints."""

    cube: Mapping[int, int]  # its literals on other variables
    own: Mapping[int, int]  # its literals on the pair
    weight: int | None  # None: the weight is -inf


@dataclass(frozen=True)
class Tables:
    """The terms of one pair in two models; ``claims`` marks models without weights."""

    pair: PairIndex
    cardinalities: Sequence[int]
    terms: tuple[Sequence[PairFeature], Sequence[PairFeature]]
    claims: tuple[bool, bool] = (False, False)

    def size(self, context: Mapping[int, int]) -> int:
        """Count the contexts in which each variable has one of these values."""
        free = (c for v, c in enumerate(self.cardinalities) if v not in (*self.pair, *context))
        return prod(free) * prod(values.bit_count() for values in context.values())

    def strength(self, model: int, context: Mapping[int, int]) -> tuple[float, float]:
        """Return the least and the largest possible strength in some contexts."""
        live = [(t, state) for t in self.terms[model] if (state := holds(t, context)) is not False]
        if self.claims[model]:
            return (any(state for _, state in live), inf if live else 0)
        i, j = self.pair
        sure: set[tuple[int, int]] = set()
        possible: set[tuple[int, int]] = set()
        for term, state in live:
            if term.weight is None:
                cells = {(a, b) for a in members(term.own[i]) for b in members(term.own[j])}
                (sure if state else possible).update(cells)
        if possible - sure:  # a cell may become impossible
            return 0, inf
        if not is_product(sure, self.cardinalities[i], self.cardinalities[j]):
            return inf, inf
        low = high = 0
        for a, b in combinations(range(self.cardinalities[i]), 2):
            for c, d in combinations(range(self.cardinalities[j]), 2):
                if not sure.isdisjoint([(a, c), (b, d), (a, d), (b, c)]):
                    continue
                least = most = 0
                for term, state in live:
                    row = (term.own[i] >> a & 1) - (term.own[i] >> b & 1)
                    column = (term.own[j] >> c & 1) - (term.own[j] >> d & 1)
                    value = row * column * (term.weight or 0)
                    least += value if state else min(value, 0)
                    most += value if state else max(value, 0)
                low, high = max(low, least, -most), max(high, most, -least)
        return low, high

    def verdicts(self, context: Mapping[int, int], threshold: int) -> tuple[int, int]:
        """Return the verdicts about both models in some contexts."""
        first, second = (
            self._verdict(*self.strength(m, context), 0 if self.claims[m] else threshold)
            for m in (0, 1)
        )
        return first, second

    @staticmethod
    def _verdict(low: float, high: float, threshold: int) -> int:
        if low > threshold:
            return DEPENDENT
        return OPEN if high > threshold else INDEPENDENT

    def branches(self, context: Mapping[int, int]) -> Iterator[dict[int, int]]:
        """Split a context on the variable that most open terms test.

        Values that these terms do not distinguish stay together.
        """
        live = [t for terms in self.terms for t in terms if holds(t, context) is None]
        tests: dict[int, list[int]] = {}
        for term in live:
            for variable, allowed in term.cube.items():
                if variable not in context:
                    tests.setdefault(variable, []).append(allowed)
        variable = max(tests, key=lambda v: (len(tests[v]), -v))
        classes: dict[tuple[int, ...], int] = {}
        for value in range(self.cardinalities[variable]):
            key = tuple(allowed >> value & 1 for allowed in tests[variable])
            classes[key] = classes.get(key, 0) | 1 << value
        for values in classes.values():
            yield {**context, variable: values}


def holds(term: PairFeature, context: Mapping[int, int]) -> bool | None:
    """Decide whether a term holds in all of some contexts; None if it is open."""
    known = True
    for variable, allowed in term.cube.items():
        if variable not in context:
            known = False
        elif not allowed & context[variable]:
            return False
    return known or None


def is_product(impossible: set[tuple[int, int]], rows: int, columns: int) -> bool:
    """Test whether the possible cells of a table are all those of some rows and some columns."""
    possible = {(a, b) for a in range(rows) for b in range(columns)} - impossible
    return len(possible) == len({a for a, _ in possible}) * len({b for _, b in possible})


class Leaf(NamedTuple):
    """Contexts in which both models are decided, or that a budget left open."""

    context: dict[int, int]  # the values of some variables, as ints
    verdicts: tuple[int, int]
    size: int


def leaves(
    tables: Tables, threshold: int, *, node_budget: float = inf, deadline: Deadline = NEVER
) -> Iterator[Leaf]:
    """Yield disjoint leaves that contain all contexts; search the largest nodes first.

    Nodes past the budget or the deadline are leaves with an open verdict.
    """
    order = count()  # decides between nodes of equal size
    waiting = [(-tables.size({}), next(order), dict[int, int]())]
    while waiting:
        size, number, context = heapq.heappop(waiting)
        verdicts = tables.verdicts(context, threshold)
        if OPEN not in verdicts or number >= node_budget or deadline.passed:
            yield Leaf(context, verdicts, -size)
            continue
        for branch in tables.branches(context):
            heapq.heappush(waiting, (-tables.size(branch), next(order), branch))


def largest_differences(
    tables: Tables, threshold: int, *, nodes: int, deadline: Deadline = NEVER
) -> list[tuple[dict[int, int], int, int]]:
    """Return the largest regions where the models differ: context, model that depends, size.

    Neighbours are merged. At the limits only the largest leaves are known.
    """
    only: dict[int, list[dict[int, int]]] = {0: [], 1: []}
    for leaf in leaves(tables, threshold, node_budget=nodes, deadline=deadline):
        if leaf.verdicts in ((DEPENDENT, INDEPENDENT), (INDEPENDENT, DEPENDENT)):
            only[leaf.verdicts[1]].append(leaf.context)
    regions = [
        (context, model, tables.size(context))
        for model, contexts in only.items()
        for context in merged(contexts, tables.cardinalities)
    ]
    return sorted(regions, key=lambda region: -region[2])


def merged(contexts: list[dict[int, int]], cardinalities: Sequence[int]) -> list[dict[int, int]]:
    """Merge disjoint contexts that differ in the values of one variable only.

    >>> merged([{0: 1, 1: 1}, {0: 1, 1: 2}, {0: 2}], (3, 2))
    [{0: 3}]
    """
    while True:
        before = len(contexts)
        for variable in sorted({v for context in contexts for v in context}):
            union: dict[frozenset[tuple[int, int]], int] = {}
            every = (1 << cardinalities[variable]) - 1
            for context in contexts:
                rest = frozenset(item for item in context.items() if item[0] != variable)
                union[rest] = union.get(rest, 0) | context.get(variable, every)
            contexts = [
                {**dict(rest), **({} if values == every else {variable: values})}
                for rest, values in union.items()
            ]
        if len(contexts) == before:
            return contexts
