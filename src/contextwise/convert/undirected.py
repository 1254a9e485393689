"""Convert undirected graphs: one for all contexts, with strata, or one for each context.

In an **undirected graph** a missing edge makes its pair independent in every context, an edge makes
it depend in every context. So the distance of two graphs is a weighted Hamming distance. A positive
distribution with these independencies is a product of one table per maximal clique (Hammersley and
Clifford), so a graph becomes the features of these tables.

An edge of a **stratified graph** (Nyman, Pensar, Koski, Corander) may carry a stratum: outcomes of
the common neighbours of its two ends in which the edge vanishes.

A **canonical model** (Edera, Schlüter, Bromberg) gives an **instantiated graph** to each context. A
context may be partial: ``X0=0`` has one graph for all assignments with X0=0. A graph makes claims
about the pairs of its nodes. The variables of its context are usually not nodes; their pairs are
unrestricted and therefore depend: with one set of parameters where X0=0 and another where X0=1,
every variable depends on X0.

A feature makes all pairs of its scope depend, so some strata and graphs have no features. Examples:
"A–B vanishes where C=0, D=0 and where C=1, D=1" if C and D have no edge; an edge that is present
under X0=0 only, while X0 itself is claimed to be independent of its ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, product
from typing import Any, Literal, NamedTuple

import numpy as np

from contextwise.convert.from_claims import (
    CubeMap,
    DomainLike,
    WantedIndependence,
    converter,
    cubes_of,
    domain_of,
    model_for,
)
from contextwise.counting.cover import class_space
from contextwise.counting.regions import complement
from contextwise.errors import DomainError, require
from contextwise.formats.graphs import is_pyagrum_graph
from contextwise.models import notation
from contextwise.models.domain import Domain, value_sets_of
from contextwise.models.factors import check_scopes, tables
from contextwise.models.features import PairIndex
from contextwise.models.structure import Feature, Structure

GraphLike = Any
"""A networkx graph, an adjacency matrix (a NumPy array in the order of the domain), or edges."""


def from_graph(
    graph: GraphLike, domain: DomainLike, *, by: Literal["cliques", "edges"] = "cliques"
) -> Structure:
    """Convert a graph to a structure.

    Parameters
    ----------
    graph : graph of networkx or pyAgrum, array or iterable of pairs
        A graph (a directed one by d-separation), a symmetric adjacency matrix in the order of the
        domain, or the edges.
    domain : Domain, or a mapping that makes one
        A variable that is no node of the graph is independent of all others.
    by : "cliques" or "edges"
        Which tables become features; the claims are the same. A clique of k binary variables has
        2**k cells, so large ones need "edges".

    Examples
    --------
    >>> triangle = np.ones((3, 3)) - np.eye(3)
    >>> domain = Domain({"A": 2, "B": 2, "C": 2})
    >>> len(from_graph(triangle, domain)), len(from_graph(triangle, domain, by="edges"))
    (8, 12)
    """
    domain = domain_of(domain)
    if is_pyagrum_graph(graph) or (hasattr(graph, "is_directed") and graph.is_directed()):
        from contextwise.convert.packages import from_pgmpy  # which converts graphs by this module

        directed: Structure = from_pgmpy(graph, domain)
        return directed
    nodes, edges = _nodes_and_edges(domain, graph)
    if by == "edges":
        return tables(domain, sorted(edges))
    if by != "cliques":
        raise DomainError(f"unknown by={by!r}; choose 'cliques' or 'edges'")
    cliques = check_scopes(domain, maximal_cliques(nodes, edges), "use by='edges'")
    return tables(domain, sorted(cliques))


def _nodes_and_edges(domain: Domain, graph: GraphLike) -> tuple[set[int], set[PairIndex]]:
    """Return nodes and edges of a graph as positions; with bare edges, all variables are nodes."""
    if hasattr(graph, "is_directed"):
        nodes = {domain.position(node) for node in graph.nodes}
        return nodes, {domain.pair(edge[:2]) for edge in graph.edges}
    nodes = set(range(len(domain)))
    if isinstance(graph, np.ndarray):
        return nodes, _edges_of_matrix(domain, graph)
    if isinstance(graph, str) or not isinstance(graph, Iterable):
        raise DomainError(
            f"{graph!r} is not a graph; give edges such as [('A', 'B')], a NumPy adjacency "
            "matrix or a networkx graph"
        )
    return nodes, {domain.pair(edge) for edge in graph}


def _edges_of_matrix(domain: Domain, matrix: np.ndarray[Any, Any]) -> set[PairIndex]:
    n = len(domain)
    if matrix.shape != (n, n):
        raise DomainError(f"the adjacency matrix has shape {matrix.shape}; expected ({n}, {n})")
    present = matrix != 0
    crooked = np.argwhere(present != present.T)
    if len(crooked):
        i, j = (domain.names[v] for v in crooked[0].tolist())
        raise DomainError(
            f"the adjacency matrix is not symmetric: {i!r} and {j!r} have an edge one way only"
        )
    for loop in np.flatnonzero(np.diag(present)).tolist():
        raise DomainError(f"{domain.names[loop]!r} cannot have an edge to itself")
    return {(i, j) for i, j in np.argwhere(np.triu(present)).tolist()}


def maximal_cliques(nodes: Iterable[int], edges: Iterable[PairIndex]) -> Iterator[tuple[int, ...]]:
    """Yield the maximal cliques, each sorted; an isolated node is one."""
    networkx = require("networkx", "graphs")
    graph = networkx.Graph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(edges)
    return (tuple(sorted(clique)) for clique in networkx.find_cliques(graph))


@converter
def from_stratified(
    graph: GraphLike, domain: DomainLike, strata: Mapping[tuple[str, str], Iterable[Feature]]
) -> Structure:
    """Convert a stratified graphical model to a structure.

    Parameters
    ----------
    graph : as in `contextwise.convert.from_graph`
    strata : mapping
        For an edge, the outcomes of common neighbours where it vanishes, as texts or mappings.
        An outcome may leave common neighbours out (whatever they are), or allow several states.

    Examples
    --------
    >>> model = from_stratified(
    ...     [("A", "B"), ("A", "C"), ("B", "C")],
    ...     {"A": 2, "B": 2, "C": 2}, {("A", "B"): ["C=0"]},
    ... )
    >>> model.restrict("C=0").pairs(), model.restrict("C=1").pairs()
    ([], [('A', 'B')])
    """
    domain = domain_of(domain)
    _, edges = _nodes_and_edges(domain, graph)
    independent: dict[PairIndex, list[CubeMap]] = {edge: [] for edge in edges}
    for names, outcomes in strata.items():
        edge = domain.pair(names)
        if edge not in independent:
            raise DomainError(f"the graph has no edge between {' and '.join(map(repr, names))}")
        common = [
            v
            for v in range(len(domain))
            if all((min(v, end), max(v, end)) in edges for end in edge)
        ]
        what = f"the stratum of {names!r}"
        independent[edge] += cubes_of(domain, outcomes, what, common, "is not a common neighbour")
    return model_for(WantedIndependence(domain, independent))


class _Instantiated(NamedTuple):
    """A graph and the context where it holds."""

    text: str
    context: CubeMap
    nodes: set[int]
    edges: set[PairIndex]


@converter
def from_canonical(graphs: Mapping[str, GraphLike], domain: DomainLike) -> Structure:
    """Convert a canonical model to a structure.

    Every assignment must have a graph, and no two graphs may contradict each other.

    Parameters
    ----------
    graphs : mapping from contexts to graphs
        Contexts as text, such as ``"X0=0 & X1=1"``; graphs as in `contextwise.convert.from_graph`.
        The nodes of bare edges are the variables outside the context and those the edges name.

    Examples
    --------
    >>> model = from_canonical(
    ...     {"X0=0": [("X1", "X2"), ("X2", "X3")], "X0=1": []},
    ...     {"X0": 2, "X1": 2, "X2": 2, "X3": 2},
    ... )
    >>> model.restrict("X0=0").pairs(), model.restrict("X0=1").pairs()
    ([('X1', 'X2'), ('X2', 'X3')], [])
    """
    domain = domain_of(domain)
    parts = []
    for context, graph in graphs.items():
        cube = value_sets_of(domain, context)
        nodes, edges = _nodes_and_edges(domain, graph)
        if not hasattr(graph, "is_directed"):
            nodes = nodes - cube.keys() | {v for edge in edges for v in edge}
        parts.append(_Instantiated(context, cube, nodes, edges))
    contexts = [list(part.context.items()) for part in parts]
    for region in complement(class_space(domain.cardinalities, contexts), contexts):
        place = notation.write_literals(domain.literal(*literal) for literal in region.literals)
        raise DomainError(f"no graph covers the context {place or 'without literals'}; add one")
    independent: dict[PairIndex, list[CubeMap]] = {}
    for pair in combinations(range(len(domain)), 2):
        cubes = _independent(domain, pair, parts)
        if {} not in cubes:
            independent[pair] = cubes
    return model_for(WantedIndependence(domain, independent))


def _independent(domain: Domain, pair: PairIndex, parts: list[_Instantiated]) -> list[CubeMap]:
    """Find where the graphs make a pair independent; raise if two contradict each other."""
    claiming: list[tuple[_Instantiated, CubeMap]] = [
        (part, {v: allowed for v, allowed in part.context.items() if v not in pair})
        for part in parts
        if part.nodes.issuperset(pair)
    ]
    having = [(part, cube) for part, cube in claiming if pair in part.edges]
    without = [(part, cube) for part, cube in claiming if pair not in part.edges]
    for (part, cube), (other, other_cube) in product(having, without):
        if all(cube[v] & allowed for v, allowed in other_cube.items() if v in cube):
            first, second = (notation.quoted(domain.names[v]) for v in pair)
            raise DomainError(
                f"the graphs contradict each other: {first} and {second} have an edge in the "
                f"graph of {part.text!r} and none in that of {other.text!r}"
            )
    return [cube for _, cube in without]
