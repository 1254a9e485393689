"""Graphs as adjacency matrices: from blankets to one graph or one per row, and to structures.

**Features of one graph** are the tables of its edges.

**Features of one graph per row** are x_C for each maximal clique C of the graph of each row x. A
feature makes its pairs depend wherever its other literals hold, which can be more than the graphs
claim; `added_` counts the difference over the rows. A missing edge therefore costs twice: cliques
are smaller, so features have fewer literals and also claim dependencies in contexts whose graphs
have none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from contextwise.comparison.two_models import compare
from contextwise.data.rows import by_position
from contextwise.distributions.potentials import distinct
from contextwise.errors import ContextwiseError
from contextwise.evidence.counted_rows import maximal_cliques
from contextwise.models.domain import Domain
from contextwise.models.factors import conjunctions, tables
from contextwise.models.structure import Structure
from contextwise.support.arrays import BoolArray, IntArray

EdgeRule = Literal["and", "or"]


def check_edge_rule(rule: str) -> None:
    """Raise unless the rule is "and" or "or"."""
    if rule not in ("and", "or"):
        raise ContextwiseError(f"rule must be 'and' or 'or', got {rule!r}")


def edges_of(inside: BoolArray, rule: EdgeRule) -> BoolArray:
    """Return adjacency matrices from blankets.

    >>> edges_of(np.array([[False, True], [False, False]]), "or")
    array([[False,  True],
           [ True, False]])
    """
    other = np.swapaxes(inside, -1, -2)
    return np.asarray(inside & other if rule == "and" else inside | other)


def from_edges(domain: Domain, graph: BoolArray) -> Structure:
    """Return the tables of a graph's edges, and of the variables without edges.

    >>> from_edges(Domain({"A": 2, "B": 2}), np.zeros((2, 2), dtype=bool))
    Structure(2 variables, 4 features: A=0; A=1; B=0; B=1)
    """
    edges = [(a, b) for a, b in np.argwhere(graph).tolist() if a < b]
    alone = [(v,) for v in np.flatnonzero(~graph.any(axis=1)).tolist()]
    return tables(domain, sorted([*edges, *alone]))


def from_row_graphs(domain: Domain, rows: IntArray, graphs: BoolArray) -> Structure:
    """Return the features x_C for each maximal clique C of the graph of each row x.

    >>> graph = np.array([[[False, True], [True, False]], [[False, False], [False, False]]])
    >>> from_row_graphs(Domain({"A": 2, "B": 2}), np.array([[0, 1], [1, 1]]), graph)
    Structure(2 variables, 3 features: A=1; A=0 & B=1; B=1)
    """
    parts = [np.zeros((0, len(domain)), dtype=np.int64)]
    for clique, members in _cliques(graphs):
        values = rows[members[:, None], clique]
        values = values[distinct(values)[1]]
        table = np.full((len(values), len(domain)), -1, dtype=np.int64)
        # `lexsort` sorts by its last key first.
        table[:, clique] = values[np.lexsort(values.T[::-1])]
        parts.append(table)
    return conjunctions(domain, np.concatenate(parts))


def _cliques(graphs: BoolArray) -> Iterator[tuple[list[int], IntArray]]:
    """Yield each maximal clique with the rows in whose graph it is one."""
    members: dict[tuple[int, ...], list[IntArray]] = {}
    packed = np.packbits(graphs.reshape(len(graphs), graphs.shape[1] ** 2), axis=1)
    # Rows with equal graphs share their cliques.
    graph, first = distinct(packed)
    order = np.argsort(graph, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(graph))[:-1]) if len(graph) else []
    for example, rows in zip(first.tolist(), parts, strict=True):
        for clique in maximal_cliques(graphs[example]):
            members.setdefault(tuple(clique), []).append(rows)
    for v in range(graphs.shape[1]):
        alone = np.flatnonzero(~graphs[:, v].any(axis=1))
        if len(alone):
            members[v,] = [alone]
    for variables, lists in sorted(members.items()):
        yield list(variables), np.concatenate(lists)


def claimed_dependencies(structure: Structure, rows: IntArray) -> int:
    """Count the pairs that depend according to a structure, over some rows."""
    plain = by_position(structure)
    return int(compare(plain, Structure(plain.domain), data=rows).fn)


def separator(edges: BoolArray, a: int, b: int) -> set[int]:
    """Return a smallest set of variables that separates a and b, apart from their own edge.

    >>> edges = np.zeros((4, 4), dtype=bool)
    >>> for v, w in [(0, 1), (0, 2), (2, 1), (2, 3), (3, 1)]:
    ...     edges[v, w] = edges[w, v] = True
    >>> separator(edges, 0, 1)
    {2}
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    # Each variable v is an arc of capacity 1 from v to n + v, so a smallest cut of arcs is a
    # smallest set of variables.
    n = len(edges)
    links = n * edges.astype(np.int32)
    links[a, b] = links[b, a] = 0
    none = np.zeros_like(links)
    network = csr_array(np.block([[none, np.eye(n, dtype=np.int32)], [links, none]]))
    left = csr_array(network - maximum_flow(network, n + a, b).flow)
    left.eliminate_zeros()
    reached = np.zeros(2 * n, dtype=bool)
    reached[breadth_first_order(left, n + a, return_predecessors=False)] = True
    return set(np.flatnonzero(reached[:n] & ~reached[n:]).tolist())
