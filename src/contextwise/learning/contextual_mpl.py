"""ContextualMPL: a graph whose edges vanish in contexts, by marginal pseudo-likelihood.

Pensar, Nyman and Corander (2017), "Structure learning of contextual Markov networks using marginal
pseudo-likelihood". `contextwise.learning.edge_contexts` defines contexts of edges, their scores and
their features. A context is added to an edge if the sum of the scores of both ends rises.

The search starts from the graph of `MPL` and adds contexts one by one, always the best. Each
context is a configuration of all common neighbours, and all sets of contexts have the same prior
probability. At the end, an edge is also absent in the configurations where the contexts of other
edges have merged its classes at both ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from contextwise.learning.counted_rows import CountedRows
from contextwise.learning.edge_contexts import (
    CONFIGURATIONS,
    EVERYWHERE,
    Context,
    Edge,
    EdgeContexts,
    classes_of,
)
from contextwise.learning.marginal_likelihood import LEAST, configurations_of, scale_of
from contextwise.learning.run import Run
from contextwise.models.features import PairIndex
from contextwise.support.arrays import BoolArray
from contextwise.support.effort import Progress, progress_of


@dataclass(eq=False, repr=False, kw_only=True)
class ContextualMPL(EdgeContexts):
    """A graph by marginal pseudo-likelihood, then contexts in which edges vanish (Pensar et al.).

    A context is a configuration of all common neighbours of an edge. All sets of contexts have the
    same prior probability.

    Parameters
    ----------
    prior : float
        Weight of the prior per variable, in rows, spread evenly over all cells of its table.
    show_progress : bool or function
        Show a progress bar on standard error, or call a function of (done, total) for each phase.

    Attributes
    ----------
    edges_ : dict from pairs of positions to Edge
        Where each edge is present, and where it is absent.
    table_ : CountedRows
        The distinct rows.
    added_ : int
        Number of (row, pair) where the features claim a dependency whose edge is absent.

    Examples
    --------
    B and C are equal where A=0, and independent where A=1, where both are 1 more often:

    >>> ones = [[1, b, c] for b in (0, 1, 1, 1) for c in (0, 1, 1, 1)]
    >>> rows = [[0, 0, 0], [0, 1, 1]] * 80 + ones * 10
    >>> learned = ContextualMPL().fit(rows, domain={"A": 2, "B": 2, "C": 2}).structure_
    >>> learned.restrict("A=0").pairs(), learned.restrict("A=1").pairs()
    ([('B', 'C')], [])
    """

    prior: float = 1.0
    show_progress: bool | Progress = False

    def find_edges(self, table: CountedRows, graph: BoolArray, run: Run) -> dict[PairIndex, Edge]:
        """Add contexts to the edges of the graph, the best first."""
        blankets = [np.flatnonzero(row).tolist() for row in graph]
        small = [configurations_of(table, blanket) <= CONFIGURATIONS for blanket in blankets]
        nodes = [
            classes_of(table, v, blankets[v] if small[v] else [], self.prior)
            for v in range(len(graph))
        ]
        pairs = [(a, b) for a, b in np.argwhere(np.triu(graph)).tolist()]
        common = {(a, b): np.flatnonzero(graph[a] & graph[b]).tolist() for a, b in pairs}
        left = {
            (a, b): _configurations(table, common[a, b]) if small[a] and small[b] else []
            for a, b in pairs
        }
        absent: dict[PairIndex, list[Context]] = {pair: [] for pair in pairs}
        total, scale = sum(map(len, left.values())), scale_of(table)
        gains = {pair: _gains(nodes, pair, left[pair]) for pair in pairs}
        with progress_of(run.show_progress, "finding contexts") as progress:
            while pairs and not run.is_late():
                pair = max(pairs, key=lambda p: max(gains[p], default=0))
                if max(gains[pair], default=0) <= LEAST * scale:
                    break
                context = left[pair].pop(int(np.argmax(gains[pair])))
                absent[pair].append(context)
                for v, other in (pair, pair[::-1]):
                    nodes[v].merge(other, context)
                # Only the two variables of this pair have new classes.
                gains |= {p: _gains(nodes, p, left[p]) for p in pairs if set(p) & set(pair)}
                if progress:
                    progress(sum(map(len, absent.values())), total)
        for a, b in pairs:  # contexts of other edges can imply that this one is absent
            absent[a, b] += (
                context
                for context in left[a, b]
                if nodes[a].is_merged(b, context) and nodes[b].is_merged(a, context)
            )
        return {pair: _edge(table, common[pair], absent[pair]) for pair in pairs}


def _configurations(table: CountedRows, common: Sequence[int]) -> list[Context]:
    if not common:
        return []
    values = product(*(range(table.cardinalities[v]) for v in common))
    return [{v: [k] for v, k in zip(common, codes, strict=True)} for codes in values]


def _gains(nodes: Sequence[Any], pair: PairIndex, contexts: Sequence[Context]) -> list[int]:
    """Return how much both scores rise together if the edge vanishes in each context."""
    a, b = pair
    return [nodes[a].gain(b, [context]) + nodes[b].gain(a, [context]) for context in contexts]


def _edge(table: CountedRows, common: Sequence[int], absent: Sequence[Context]) -> Edge:
    """Return the edge that is absent in these configurations of the common neighbours."""
    if not absent:
        return EVERYWHERE
    present = np.ones([table.cardinalities[v] for v in common], dtype=bool)
    for context in absent:
        present[tuple(context[v][0] for v in common)] = False
    everything = {v: list(range(table.cardinalities[v])) for v in common}
    edge = Edge([], [])
    for context, is_present in _cubes(present, common, everything):
        (edge.present if is_present else edge.absent).append(context)
    return edge


def _cubes(
    where: BoolArray, axes: Sequence[int], inside: Context
) -> Iterator[tuple[Context, bool]]:
    """Yield disjoint contexts of equal cells, by splits that leave few exceptions."""
    part = where[np.ix_(*(np.array(inside[v]) for v in axes))]
    if part.all() or not part.any():
        full = dict(zip(axes, where.shape, strict=True))
        yield {v: k for v, k in inside.items() if len(k) < full[v]}, bool(part.all())
        return
    splits = []
    for axis, v in enumerate(axes):
        slices: dict[bytes, list[int]] = {}  # the values with equal cells
        exceptions = 0  # cells that differ from the majority of their slice
        for place, value in enumerate(inside[v]):
            cells = part.take(place, axis=axis)
            slices.setdefault(cells.tobytes(), []).append(value)
            exceptions += min(int(cells.sum()), int((~cells).sum()))
        if len(slices) > 1:
            splits.append((exceptions, axis, list(slices.values())))
    _, axis, groups = min(splits)
    for values in groups:
        yield from _cubes(where, axes, {**inside, axes[axis]: values})
