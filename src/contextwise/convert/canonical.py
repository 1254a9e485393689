"""Canonical models (Edera, Schlüter, Bromberg): one graph for each context.

A canonical model gives an **instantiated graph** to each context. A missing edge claims that its
two variables are independent where the context holds, given all the others. A context may be
partial: ``X0=0`` has one graph for all assignments with X0=0. So the model of the paper's example
is two graphs: where X0=1, nothing depends; where X0=0, all the others do.

A graph makes claims about the pairs of its nodes. The variables of its context are usually not
nodes. Their pairs are unrestricted and therefore depend: with one set of parameters where X0=0 and
another where X0=1, every variable depends on X0. A graph that has X0 among its nodes (or in an
edge) makes claims about its pairs as well.

Two graphs must not contradict each other, and every assignment must have a graph. Not every
canonical model has features: an edge that is present under X0=0 only, while X0 itself is claimed to
be independent of its ends, is `NotRepresentable`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np

from contextwise.convert.from_claims import (
    Claims,
    CubeMap,
    DomainLike,
    cube_of,
    domain_of,
    features_for,
)
from contextwise.convert.undirected import GraphLike, nodes_and_edges
from contextwise.counting.cover import class_space
from contextwise.counting.extraction import pair_features
from contextwise.counting.regions import complement
from contextwise.errors import DomainError, TooLargeError, require
from contextwise.formats import ModelLike, as_structure
from contextwise.models.domain import Domain, listed
from contextwise.models.features import PairIndex
from contextwise.models.notation import Literal, quoted, write_literals
from contextwise.models.structure import Structure

Edge = tuple[str, str]
GRAPHS = 4096
"""The most graphs that `to_graphs` makes."""


@dataclass(frozen=True)
class _Instantiated:
    """A graph and the context where it holds."""

    text: str
    context: dict[int, int]
    nodes: set[int]
    edges: set[PairIndex]


def from_canonical(graphs: Mapping[str, GraphLike], domain: DomainLike) -> Structure:
    """Convert a canonical model to a structure.

    Parameters
    ----------
    graphs : mapping from contexts to graphs
        Contexts as text, such as ``"X0=0 & X1=1"``; graphs as in `contextwise.convert.from_graph`.
        The nodes of bare edges are the variables outside the context and those the edges name.
    domain : Domain, or a mapping that makes one

    Returns
    -------
    Structure

    Raises
    ------
    NotRepresentable
        If no features make these claims.
    DomainError
        If two graphs contradict each other, or some context has no graph.

    Examples
    --------
    >>> model = from_canonical(
    ...     {"X0=0": [("X1", "X2"), ("X2", "X3")], "X0=1": []},
    ...     {"X0": 2, "X1": 2, "X2": 2, "X3": 2},
    ... )
    >>> [(context, sorted(graph.edges)) for context, graph in to_graphs(model, by=["X0"]).items()]
    [('X0=0', [('X1', 'X2'), ('X2', 'X3')]), ('X0=1', [])]
    """
    domain = domain_of(domain)
    parts = [_instantiated(domain, context, graph) for context, graph in graphs.items()]
    _require_complete(domain, parts)
    independent: dict[PairIndex, list[CubeMap]] = {}
    for pair in combinations(range(len(domain)), 2):
        cubes = _independent(domain, pair, parts)
        if {} not in cubes:
            independent[pair] = cubes
    return features_for(Claims(domain, independent))


def to_graphs(model: ModelLike, by: Iterable[str]) -> dict[str, Any]:
    """Return the instantiated graph of each assignment of the variables ``by``.

    A graph has the other variables as nodes, and an edge for each pair that occurs together in a
    feature compatible with the assignment: the pairs that depend in *some* context with it. The
    keys are texts such as ``"X0=0 & X1=1"``, so that `from_canonical` takes the result; that gives
    the structure back if within each assignment it is a graph and all depends on ``by``.

    Parameters
    ----------
    model : Structure or LogLinear
    by : names
        The variables to assign.

    Returns
    -------
    dict from contexts to networkx graphs

    Raises
    ------
    TooLargeError
        If there are more than `GRAPHS` assignments.

    Examples
    --------
    >>> model = Structure({"X0": 2, "A": 2, "B": 2}, ["X0=0 & A=1 & B=1", "X0=1 & A=1"])
    >>> {context: list(graph.edges) for context, graph in to_graphs(model, by=["X0"]).items()}
    {'X0=0': [('A', 'B')], 'X0=1': []}
    """
    networkx = require("networkx", "graphs")
    structure = as_structure(model)
    domain = structure.domain
    if isinstance(by, str):
        raise DomainError(f"give the variables as a list, such as by=[{by!r}]")
    fixed = list(dict.fromkeys(map(domain.position, by)))
    count = prod(domain.cardinalities[v] for v in fixed)
    if count > GRAPHS:
        raise TooLargeError(
            f"{listed(domain.names[v] for v in fixed)} have {count} assignments, a graph each; "
            f"the limit is {GRAPHS}"
        )
    nodes = [name for v, name in enumerate(domain.names) if v not in fixed]
    graphs = {}
    for context, edges in _edges_by(structure, fixed):
        graph = networkx.Graph()
        graph.add_nodes_from(nodes)
        graph.add_edges_from(edges)
        graphs[context] = graph
    return graphs


def _edges_by(structure: Structure, fixed: list[int]) -> Iterator[tuple[str, list[Edge]]]:
    """Yield each assignment of ``fixed`` and the pairs of other variables that depend in it."""
    domain, features = structure.domain, structure.features
    pairs, starts, owners = pair_features(features)
    others = ~np.isin(pairs, fixed).any(axis=1)
    first, second = (np.array(domain.names, dtype=object)[column] for column in pairs.T)
    for chosen in product(*(range(domain.cardinalities[v]) for v in fixed)):
        left = np.ones(len(features), dtype=bool)
        for variable, state in zip(fixed, chosen, strict=True):
            left &= features.allowing(variable, state)
        here = others & np.logical_or.reduceat(left[owners], starts[:-1])
        context = write_literals(
            Literal(domain.names[v], (domain.states[v][state],))
            for v, state in zip(fixed, chosen, strict=True)
        )
        yield context, list(zip(first[here], second[here], strict=True))


def _instantiated(domain: Domain, context: str, graph: GraphLike) -> _Instantiated:
    cube = cube_of(domain, context)
    nodes, edges = nodes_and_edges(domain, graph)
    if not hasattr(graph, "is_directed"):
        nodes = nodes - cube.keys() | {v for edge in edges for v in edge}
    return _Instantiated(context, cube, nodes, edges)


def _require_complete(domain: Domain, parts: list[_Instantiated]) -> None:
    contexts = [list(part.context.items()) for part in parts]
    for region in complement(class_space(domain.cardinalities, contexts), contexts):
        place = write_literals(domain.literal(v, allowed) for v, allowed in region.literals)
        raise DomainError(f"no graph covers the context {place or 'without literals'}; add one")


def _independent(domain: Domain, pair: PairIndex, parts: list[_Instantiated]) -> list[CubeMap]:
    """Find where the graphs make a pair independent."""
    speaking = [
        (part, {v: allowed for v, allowed in part.context.items() if v not in pair})
        for part in parts
        if part.nodes.issuperset(pair)
    ]
    without = [(part, cube) for part, cube in speaking if pair not in part.edges]
    for part, cube in speaking:
        if pair not in part.edges:
            continue
        for other, theirs in without:
            if all(cube[v] & allowed for v, allowed in theirs.items() if v in cube):
                first, second = (quoted(domain.names[v]) for v in pair)
                raise DomainError(
                    f"the graphs contradict each other: {first} and {second} have an edge in the "
                    f"graph of {part.text!r} and none in that of {other.text!r}"
                )
    return [cube for _, cube in without]
