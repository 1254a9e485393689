"""Graphs of a structure, and separation in them.

The graph of a structure has an edge between two variables that depend in some context. The graph
**instantiated** by a context has the edges that remain there, over the variables that the context
does not assign. One graph cannot show context-specific independence: two structures with the same
graph can be far apart.

A **box** is a context in which a variable may have a set of values. A feature is compatible with it
if it is compatible with some assignment in the box.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from contextwise.comparison.question import active_pairs
from contextwise.errors import ContextwiseError, DomainError, require
from contextwise.formats import ModelLike, as_structure
from contextwise.models.box import Box
from contextwise.models.domain import Assignment
from contextwise.models.features import Features, as_words
from contextwise.support.arrays import IntArray

if TYPE_CHECKING:
    import networkx

Mask = npt.NDArray[np.bool_]
GraphLike = Any
"""`Edges` or a networkx graph."""

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Edges:
    """A graph as the names of its nodes, in the order of the domain, and its edges."""

    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]


def edges_of(model: ModelLike, context: Assignment | None = None) -> Edges:
    """Return the nodes and edges of the graph of a structure, over all contexts or in one.

    Parameters
    ----------
    model : Structure, LogLinear, path of a file, or name of an example
    context : partial assignment; only the edges that remain there, over the other variables

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


def graph(model: ModelLike, context: Assignment | None = None) -> networkx.Graph[str]:
    """Build the graph of a structure, or the graph instantiated by a context.

    Two variables are adjacent if they depend in some context, or occur together in a feature
    compatible with this one.

    Parameters
    ----------
    model : Structure, LogLinear, path of a file, or name of an example
    context : partial assignment, such as ``"C=0"``; the graph is over the other variables

    Returns
    -------
    networkx.Graph

    Examples
    --------
    >>> from contextwise import Structure
    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=0", "A=0 & C=1"])
    >>> graph(model).edges, graph(model, "C=1").edges
    (EdgeView([('A', 'B'), ('A', 'C'), ('B', 'C')]), EdgeView([]))
    """
    return _networkx(edges_of(model, context))


def _networkx(graph: GraphLike) -> networkx.Graph[str]:
    result: networkx.Graph[str] = require("networkx", "graphs").Graph()
    result.add_nodes_from(graph.nodes)
    result.add_edges_from(graph.edges)
    return result


def markov_blanket(
    model: ModelLike, variable: str, *, context: Assignment | None = None
) -> set[str]:
    """Find the neighbours of a variable in a context: given them it is independent of all others.

    Parameters
    ----------
    model : Structure, LogLinear, path of a file, or name of an example
    variable : name
    context : partial assignment of other variables, optional

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
    box = Box.of(domain, context)
    if domain.position(variable) in box.fixed:
        raise DomainError(f"the context assigns {variable!r}, so it has no blanket there")
    structure = structure.restrict(box)
    domain, position = structure.domain, structure.domain.position(variable)
    instantiated = network(structure.features, {})
    near = instantiated.neighbours(instantiated.mask([position]))
    near[position] = False
    return {domain.names[v] for v in near.nonzero()[0].tolist()}


# -- separation ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Network:
    """The graph instantiated by a box, as the free literals of the compatible features.

    The graph is never built: neighbours and components are found by passes over the literals.
    """

    size: int  # number of variables, including assigned ones
    assigned: Mask  # the variables of the box, which are not in the graph
    owners: IntArray  # the feature of each remaining literal
    variables: npt.NDArray[np.int32]
    count: int  # number of all features

    def mask(self, variables: Iterable[int]) -> Mask:
        """Return a mask of some variables."""
        result = np.zeros(self.size, dtype=bool)
        result[list(variables)] = True
        return result

    def neighbours(self, nodes: Mask) -> Mask:
        """Return the variables that share a feature with one of these, and these themselves."""
        result = nodes.copy()
        result[self.variables[self.touching(nodes)[self.owners]]] = True
        return result

    def touching(self, nodes: Mask) -> Mask:
        """Mask the features with at least one of these variables."""
        result = np.zeros(self.count, dtype=bool)
        result[self.owners[nodes[self.variables]]] = True
        return result

    def linking(self, nodes: Mask) -> IntArray:
        """Return the features with at least two of these variables."""
        shared = np.bincount(self.owners[nodes[self.variables]], minlength=self.count)
        return np.flatnonzero(shared > 1)

    def component(self, start: Mask, blocked: Mask) -> Mask:
        """Return what can be reached from ``start`` without entering ``blocked``."""
        reached = start
        while True:
            further = self.neighbours(reached) & ~blocked
            if (further == reached).all():
                return reached
            reached = further

    def path(self, first: Mask, second: Mask, blocked: Mask) -> tuple[list[int], list[int]]:
        """Return a shortest path between two connected sets: its variables, and its features."""
        layers = [first]
        while not (layers[-1] & second).any():
            layers.append(self.neighbours(layers[-1]) & ~blocked)
        here = int((layers.pop() & second).argmax())
        variables, features = [here], []
        for layer in reversed(layers):
            near = self.touching(layer)[self.owners]
            feature = int(self.owners[(self.variables == here) & near][0])
            scope = self.variables[self.owners == feature]
            here = int(scope[layer[scope]][0])
            variables.append(here)
            features.append(feature)
        return variables[::-1], features[::-1]


def network(features: Features, box: Mapping[int, int]) -> Network:
    """Instantiate the graph of a box, with the features compatible with some assignment in it."""
    words = features.values.shape[1]
    values = np.full((len(features.cardinalities), words), ~np.uint64(0))
    for variable, allowed in box.items():
        values[variable] = as_words(allowed, words)
    refused = ~(features.values & values[features.variables]).any(axis=1)
    compatible = np.ones(len(features), dtype=bool)
    compatible[features.owners[refused]] = False
    assigned = np.zeros(len(features.cardinalities), dtype=bool)
    assigned[list(box)] = True
    owners, variables = features.covered
    stays = compatible[owners] & ~assigned[variables]
    return Network(len(assigned), assigned, owners[stays], variables[stays], len(features))


def minimal_separator(graph: Network, first: Mask, second: Mask, within: Mask) -> Mask | None:
    """Find a minimal set inside ``within`` that separates two sets; None if all of it does not.

    Of the two minimal sets nearest to either side, return the smaller.
    """
    near = _nearest(graph, first, second, within)
    if near is None:
        return None
    other = _nearest(graph, second, first, within)
    return near if other is None or near.sum() <= other.sum() else other


def _nearest(graph: Network, first: Mask, second: Mask, within: Mask) -> Mask | None:
    """Return the part of the border of the first set's component that the second set touches."""
    component = graph.component(first, within)
    if (component & second).any():
        return None
    border = graph.neighbours(component) & within
    far = graph.component(second, border)
    return graph.neighbours(far) & border


# -- as files --------------------------------------------------------------------------------------


def encode_graph(graph: GraphLike, format: str) -> bytes:
    """Encode a graph as "dot" or "graphml"; GraphML needs networkx."""
    if format == "dot":
        nodes = [f"  {_dot_name(name)};\n" for name in graph.nodes]
        edges = [f"  {_dot_name(a)} -- {_dot_name(b)};\n" for a, b in graph.edges]
        return f"graph {{\n{''.join(nodes)}{''.join(edges)}}}\n".encode()
    for name in graph.nodes:
        if _NOT_IN_XML.search(name):
            raise ContextwiseError(
                f"GraphML cannot hold the name {name!r}; rename the variable, or use dot"
            )
    file = io.BytesIO()
    require("networkx", "graphs").write_graphml(_networkx(graph), file)
    return file.getvalue()


def _dot_name(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
