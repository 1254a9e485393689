"""Graphs as adjacency matrices: from blankets, and to structures."""

from __future__ import annotations

from typing import Literal

import numpy as np

from contextwise.errors import ContextwiseError
from contextwise.models.domain import Domain
from contextwise.models.factors import tables
from contextwise.models.structure import Structure
from contextwise.support.arrays import BoolArray

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
