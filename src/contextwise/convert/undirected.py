"""Convert undirected graphs and stratified graphs.

An undirected graphical model (Markov network) draws an edge between two variables that may interact
directly. A missing edge makes its pair independent in every context, an edge makes it depend in
every context. So the distance of two graphs is a weighted Hamming distance: each edge that differs
counts once for each context of its pair.

A positive distribution with these independencies is a product of one table per maximal clique
(Hammersley and Clifford), so a graph becomes the features of these tables. Tables over the edges
make the same claims with fewer features and omit higher interactions.

>>> from_graph([("A", "B"), ("B", "C")], {"A": 2, "B": 2, "C": 2})
Structure(3 variables, 8 features: A=0 & B=0; A=0 & B=1; A=1 & B=0; A=1 & B=1; … 4 more)

**Stratified graphs** (Nyman, Pensar, Koski, Corander) are undirected graphs whose edges may carry a
**stratum**: outcomes of the common neighbours of the two ends in which the edge vanishes, so that
the ends are independent in that context: A and B depend, except where C=0.

An edge without a stratum becomes a table. A stratified edge A–B becomes the cells of A and B
together with literals of the common neighbours that stay outside the stratum.

Not every stratified graph has features. A feature makes all pairs of its scope depend, so a stratum
that distinguishes outcomes of *two* common neighbours needs an edge between these: if C
and D have no edge, "A–B vanishes where C=0, D=0 and where C=1, D=1" is `NotRepresentable`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import numpy as np

from contextwise.convert.from_claims import (
    Claims,
    CubeMap,
    DomainLike,
    cube_of,
    domain_of,
    features_for,
    pair_of,
)
from contextwise.errors import DomainError, require
from contextwise.models.domain import Domain, listed
from contextwise.models.factors import check_scopes, tables
from contextwise.models.features import PairIndex
from contextwise.models.literals import Feature
from contextwise.models.structure import Structure

GraphLike = Any
"""A networkx graph, an adjacency matrix (a NumPy array in the order of the domain), or edges."""


def from_graph(
    graph: GraphLike, domain: DomainLike, *, by: Literal["cliques", "edges"] = "cliques"
) -> Structure:
    """Convert an undirected graph to a structure.

    Parameters
    ----------
    graph : networkx.Graph, array or iterable of pairs
        A graph, a symmetric adjacency matrix in the order of the domain, or the edges.
    domain : Domain, or a mapping that makes one
        A variable that is no node of the graph is independent of all others.
    by : "cliques" or "edges"
        Which tables become features; the claims are the same. A clique of k binary variables has
        2**k cells, so large ones need "edges".

    Returns
    -------
    Structure

    Raises
    ------
    DomainError
        If the graph is directed, or names a variable that the domain lacks.
    TooLargeError
        If a clique is too large for a table.

    Examples
    --------
    >>> triangle = np.ones((3, 3)) - np.eye(3)
    >>> domain = Domain({"A": 2, "B": 2, "C": 2})
    >>> len(from_graph(triangle, domain)), len(from_graph(triangle, domain, by="edges"))
    (8, 12)
    """
    domain = domain_of(domain)
    nodes, edges = nodes_and_edges(domain, graph)
    if by == "edges":
        return tables(domain, sorted(edges))
    if by != "cliques":
        raise DomainError(f"unknown by={by!r}; choose 'cliques' or 'edges'")
    cliques = check_scopes(domain, maximal_cliques(nodes, edges), "use by='edges'")
    return tables(domain, sorted(cliques))


def nodes_and_edges(domain: Domain, graph: GraphLike) -> tuple[set[int], set[PairIndex]]:
    """Return nodes and edges of a graph as positions; with bare edges, all variables are nodes."""
    if hasattr(graph, "is_directed"):
        if graph.is_directed():
            raise DomainError("the graph is directed; use from_ldag for Bayesian networks")
        nodes = {domain.position(node) for node in graph.nodes}
        return nodes, {pair_of(domain, edge[:2]) for edge in graph.edges}
    nodes = set(range(len(domain)))
    if isinstance(graph, np.ndarray):
        return nodes, _edges_of_matrix(domain, graph)
    if isinstance(graph, str) or not isinstance(graph, Iterable):
        raise DomainError(
            f"{graph!r} is not a graph; give edges such as [('A', 'B')], a NumPy adjacency "
            "matrix or a networkx graph"
        )
    return nodes, {pair_of(domain, edge) for edge in graph}


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
    """Yield the maximal cliques, each sorted; an isolated node is one.

    >>> sorted(maximal_cliques(range(4), [(0, 1), (1, 2), (0, 2)]))
    [(0, 1, 2), (3,)]
    """
    networkx = require("networkx", "graphs")
    graph = networkx.Graph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(edges)
    return (tuple(sorted(clique)) for clique in networkx.find_cliques(graph))


def from_stratified(
    graph: GraphLike, domain: DomainLike, strata: Mapping[tuple[str, str], Iterable[Feature]]
) -> Structure:
    """Convert a stratified graphical model to a structure.

    Parameters
    ----------
    graph : as in `contextwise.convert.from_graph`
    domain : Domain, or a mapping that makes one
    strata : mapping
        For an edge, the outcomes of common neighbours where it vanishes, as texts or mappings.
        An outcome may leave common neighbours out (whatever they are), or allow several states.

    Returns
    -------
    Structure

    Raises
    ------
    NotRepresentable
        If no features make these claims.

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
    _, edges = nodes_and_edges(domain, graph)
    independent: dict[PairIndex, list[CubeMap]] = {edge: [] for edge in edges}
    for names, outcomes in strata.items():
        edge = pair_of(domain, names)
        if edge not in independent:
            raise DomainError(f"the graph has no edge between {' and '.join(map(repr, names))}")
        if isinstance(outcomes, str | Mapping):
            raise DomainError(f"give the stratum of {names!r} as a list of outcomes")
        for outcome in outcomes:
            cube = cube_of(domain, outcome)
            strange = [
                domain.names[v]
                for v in cube
                if v in edge or any((min(v, end), max(v, end)) not in edges for end in edge)
            ]
            if strange:
                raise DomainError(
                    f"the stratum of {names!r} mentions {listed(strange)}, which is not a common "
                    "neighbour"
                )
            independent[edge].append(cube)
    return features_for(Claims(domain, independent))
