"""Structures as graphs, and what a distance between graphs would say.

The graph of a structure has an edge between two variables that depend in some context; the graph
*instantiated* by a context has the edges that are left there, over the variables that the context
does not assign. One graph cannot show context-specific independence: two structures with the same
graph can be far apart, which is why `hamming` is offered beside the distance and not instead of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from contextwise.comparison.confusion import Confusion
from contextwise.comparison.pairs import active_pairs
from contextwise.errors import DomainError, require
from contextwise.independence.separation import network
from contextwise.models.domain import Assignment
from contextwise.models.structure import Model, structure_of

if TYPE_CHECKING:
    import networkx


def graph(model: Model) -> networkx.Graph[str]:
    """The graph of a structure: two variables are adjacent if they depend in some context.

    >>> from contextwise.models.structure import Structure
    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=0", "A=0 & C=1"])
    >>> sorted(graph(model).edges)
    [('A', 'B'), ('A', 'C'), ('B', 'C')]
    """
    return instantiated_graph(model, None)


def instantiated_graph(model: Model, context: Assignment | None) -> networkx.Graph[str]:
    """The graph instantiated by a context, over the variables that it does not assign.

    Its edges are the pairs that occur together in a feature compatible with the context.

    >>> from contextwise.models.structure import Structure
    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=0", "A=0 & C=1"])
    >>> instantiated_graph(model, "C=0").edges, instantiated_graph(model, "C=1").edges
    (EdgeView([('A', 'B')]), EdgeView([]))
    """
    nx = require("networkx", "graphs")
    restricted = structure_of(model).restrict({} if context is None else context)
    names = restricted.domain.names
    result: networkx.Graph[str] = nx.Graph()
    result.add_nodes_from(names)
    result.add_edges_from((names[i], names[j]) for i, j in active_pairs(restricted).tolist())
    return result


def markov_blanket(model: Model, variable: str, *, context: Assignment | None = None) -> set[str]:
    """The variables given which a variable is independent of all others, in a context.

    These are its neighbours in the graph that the context instantiates.

    >>> from contextwise.models.structure import Structure
    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=0", "A=0 & C=1"])
    >>> markov_blanket(model, "B", context="C=0"), markov_blanket(model, "B", context="C=1")
    ({'A'}, set())
    """
    structure = structure_of(model)
    domain = structure.domain
    fixed = domain.assignment(context)
    position = domain.position(variable)
    if position in fixed:
        raise DomainError(f"the context assigns {variable!r} itself; it has no blanket there")
    instantiated = network(structure.features, {v: 1 << state for v, state in fixed.items()})
    near = instantiated.neighbours(instantiated.mask([position]))
    near[position] = False
    return {domain.names[v] for v in near.nonzero()[0].tolist()}


def compare_graphs(true: Model, guess: Model) -> Confusion:
    """The edges of the two graphs against each other: what a graph distance would have told.

    ``tp`` edges of both, ``fn`` of the true graph only, ``fp`` of the guess only, ``tn`` of
    neither; precision and recall on edges are the rates of this matrix.

    >>> from contextwise.models.structure import Structure
    >>> domain = {"A": 2, "B": 2, "C": 2}
    >>> compare_graphs(Structure(domain, ["A=1 & B=1"]), Structure(domain, ["A=1 & B=1 & C=1"]))
    Confusion(tp=1, fn=0, fp=2, tn=0)
    """
    a = structure_of(true)
    b = structure_of(guess).aligned_to(a.domain)
    edges_a, edges_b = (set(map(tuple, active_pairs(one).tolist())) for one in (a, b))
    n = len(a.domain)
    return Confusion(
        tp=len(edges_a & edges_b),
        fn=len(edges_a - edges_b),
        fp=len(edges_b - edges_a),
        tn=n * (n - 1) // 2 - len(edges_a | edges_b),
    )


def hamming(true: Model, guess: Model) -> int:
    """The number of edges that one graph has and the other has not.

    >>> from contextwise.models.structure import Structure
    >>> saturated = Structure({"A": 2, "B": 2, "C": 2}, ["A=0 & B=0 & C=0", "A=1 & B=1 & C=1"])
    >>> partial = Structure({"A": 2, "B": 2, "C": 2}, ["A=0 & B=0 & C=0"])
    >>> hamming(saturated, partial)
    0
    """
    matrix = compare_graphs(true, guess)
    return int(matrix.distance)
