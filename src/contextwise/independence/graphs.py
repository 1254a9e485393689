"""Graphs of a structure, and distances between graphs.

The graph of a structure has an edge between two variables that depend in some context. The graph
**instantiated** by a context has the edges that remain there, over the variables that the context
does not assign. One graph cannot show context-specific independence: two structures with the same
graph can be far apart.

A graph can be written as DOT, GraphML or node-link JSON. Only GraphML needs networkx.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from contextwise.comparison.confusion import Confusion
from contextwise.comparison.pairs import active_pairs
from contextwise.errors import ContextwiseError, DomainError, require
from contextwise.formats import ModelLike, as_structure
from contextwise.independence.separation import network
from contextwise.models.domain import Assignment
from contextwise.support.records import as_json

if TYPE_CHECKING:
    import networkx

GraphLike = Any
"""`Edges` or a networkx graph."""

FORMATS = ("dot", "graphml", "json")
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Edges:
    """A graph as its nodes and edges, by name, without networkx.

    Attributes
    ----------
    nodes : names of variables, in the order of the domain
    edges : pairs of them

    Examples
    --------
    >>> Edges(("A", "B", "C"), (("A", "B"),)).edges
    (('A', 'B'),)
    """

    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]


def edges_of(model: ModelLike, context: Assignment | None = None) -> Edges:
    """Return the nodes and edges of the graph of a structure, over all contexts or in one.

    Parameters
    ----------
    model : Structure, LogLinear, path of a file, or name of an example
    context : partial assignment, optional
        Only the edges that remain there, over the variables that it does not assign.

    Returns
    -------
    Edges

    Examples
    --------
    >>> from contextwise import Structure
    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=0", "A=0 & C=1"])
    >>> edges_of(model, "C=0").edges
    (('A', 'B'),)
    """
    restricted = as_structure(model).restrict({} if context is None else context)
    names = restricted.domain.names
    pairs = active_pairs(restricted).tolist()
    return Edges(names, tuple((names[i], names[j]) for i, j in pairs))


def graph(model: ModelLike) -> networkx.Graph[str]:
    """Build the graph of a structure: two variables are adjacent if they depend in some context.

    Parameters
    ----------
    model : Structure, LogLinear, path of a file, or name of an example

    Returns
    -------
    networkx.Graph

    Examples
    --------
    >>> from contextwise import Structure
    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=0", "A=0 & C=1"])
    >>> sorted(graph(model).edges)
    [('A', 'B'), ('A', 'C'), ('B', 'C')]
    """
    return instantiated_graph(model, None)


def instantiated_graph(model: ModelLike, context: Assignment | None) -> networkx.Graph[str]:
    """Build the graph instantiated by a context, over the variables that it does not assign.

    Its edges are the pairs that occur together in a feature compatible with the context.

    Parameters
    ----------
    model : Structure, LogLinear, path of a file, or name of an example
    context : partial assignment
        Such as ``"C=0"`` or ``{"C": 0}``; None for the graph over all contexts.

    Returns
    -------
    networkx.Graph

    Examples
    --------
    >>> from contextwise import Structure
    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=0", "A=0 & C=1"])
    >>> instantiated_graph(model, "C=0").edges, instantiated_graph(model, "C=1").edges
    (EdgeView([('A', 'B')]), EdgeView([]))
    """
    found = edges_of(model, context)
    result: networkx.Graph[str] = require("networkx", "graphs").Graph()
    result.add_nodes_from(found.nodes)
    result.add_edges_from(found.edges)
    return result


def markov_blanket(
    model: ModelLike, variable: str, *, context: Assignment | None = None
) -> set[str]:
    """Find the variables given which a variable is independent of all others, in a context.

    These are its neighbours in the graph instantiated by the context.

    Parameters
    ----------
    model : Structure, LogLinear, path of a file, or name of an example
    variable : name
    context : partial assignment, optional
        It must not assign the variable itself.

    Returns
    -------
    set of names

    Examples
    --------
    >>> from contextwise import Structure
    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=0", "A=0 & C=1"])
    >>> markov_blanket(model, "B", context="C=0"), markov_blanket(model, "B", context="C=1")
    ({'A'}, set())
    """
    structure = as_structure(model)
    domain = structure.domain
    fixed = domain.assignment(context)
    position = domain.position(variable)
    if position in fixed:
        raise DomainError(f"the context assigns {variable!r}, so it has no blanket there")
    instantiated = network(structure.features, {v: 1 << state for v, state in fixed.items()})
    near = instantiated.neighbours(instantiated.mask([position]))
    near[position] = False
    return {domain.names[v] for v in near.nonzero()[0].tolist()}


def compare_graphs(true: ModelLike, guess: ModelLike) -> Confusion:
    """Compare the edges of two graphs.

    ``tp`` counts edges of both, ``fn`` of the true graph only, ``fp`` of the guess only, ``tn`` of
    neither. Precision and recall on edges are the rates of this matrix.

    Parameters
    ----------
    true, guess : Structure, LogLinear, path of a file, or name of an example

    Returns
    -------
    Confusion

    Examples
    --------
    >>> from contextwise import Structure
    >>> domain = {"A": 2, "B": 2, "C": 2}
    >>> compare_graphs(Structure(domain, ["A=1 & B=1"]), Structure(domain, ["A=1 & B=1 & C=1"]))
    Confusion(tp=1, fn=0, fp=2, tn=0)
    """
    a = as_structure(true)
    b = as_structure(guess).aligned_to(a.domain)
    edges_a, edges_b = (set(map(tuple, active_pairs(one).tolist())) for one in (a, b))
    n = len(a.domain)
    return Confusion(
        tp=len(edges_a & edges_b),
        fn=len(edges_a - edges_b),
        fp=len(edges_b - edges_a),
        tn=n * (n - 1) // 2 - len(edges_a | edges_b),
    )


def hamming(true: ModelLike, guess: ModelLike) -> int:
    """Count the edges that only one of the two graphs has.

    Parameters
    ----------
    true, guess : Structure, LogLinear, path of a file, or name of an example

    Returns
    -------
    int

    Examples
    --------
    >>> from contextwise import Structure
    >>> saturated = Structure({"A": 2, "B": 2, "C": 2}, ["A=0 & B=0 & C=0", "A=1 & B=1 & C=1"])
    >>> partial = Structure({"A": 2, "B": 2, "C": 2}, ["A=0 & B=0 & C=0"])
    >>> hamming(saturated, partial)
    0
    """
    matrix = compare_graphs(true, guess)
    return int(matrix.distance)


# -- as files --------------------------------------------------------------------------------------


def encode_graph(graph: GraphLike, format: str) -> bytes:
    """Encode a graph as "dot", "graphml" or "json".

    >>> from contextwise import Structure
    >>> model = Structure({"A": 2, "B": 2}, ["A=1 & B=1"])
    >>> print(encode_graph(edges_of(model), "dot").decode())
    graph {
      "A";
      "B";
      "A" -- "B";
    }
    """
    if format == "dot":
        return _dot(graph).encode()
    if format == "graphml":
        return _graphml(graph)
    if format == "json":
        node_link = {  # what networkx.node_link_graph reads
            "directed": False,
            "multigraph": False,
            "graph": {},
            "nodes": [{"id": name} for name in graph.nodes],
            "edges": [{"source": a, "target": b} for a, b in graph.edges],
        }
        return (as_json(node_link) + "\n").encode()
    raise ContextwiseError(f"unknown graph format {format!r}; use one of {', '.join(FORMATS)}")


def _dot(graph: GraphLike) -> str:
    nodes = [f"  {_dot_name(name)};\n" for name in graph.nodes]
    edges = [f"  {_dot_name(a)} -- {_dot_name(b)};\n" for a, b in graph.edges]
    return f"graph {{\n{''.join(nodes)}{''.join(edges)}}}\n"


def _dot_name(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _graphml(graph: GraphLike) -> bytes:
    for name in graph.nodes:
        if _NOT_IN_XML.search(name):
            raise ContextwiseError(
                f"GraphML cannot hold the name {name!r}; rename the variable, or use dot or json"
            )
    networkx = require("networkx", "graphs")
    plain = networkx.Graph()
    plain.add_nodes_from(graph.nodes)
    plain.add_edges_from(graph.edges)
    file = io.BytesIO()
    networkx.write_graphml(plain, file)
    return file.getvalue()
