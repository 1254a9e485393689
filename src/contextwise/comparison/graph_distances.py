"""Distances of the graphs of two Bayesian networks: SHD, SID, adjustment identification.

The metric of contexts ignores directions: a network and its reversal can be at distance 0, and
parents of one child depend on each other, although no arc connects them. These distances compare
the arcs:

- The **structural Hamming distance** (SHD) counts the pairs of variables with another edge: none
  instead of one, or an arc reversed, which counts once. On the equivalence classes (CPDAGs) it
  leaves out directions that no data can show.
- The **structural intervention distance** (SID) and the **adjustment identification distances**
  count the ordered pairs for which adjusting as the guess says gives a wrong causal effect. They
  need the package ``gadjid`` (``pip install '.[causal]'``).

A partly directed graph is compared by its equivalence class, so it has no SHD and no SID of DAGs.
"""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import numpy.typing as npt

from contextwise.errors import require
from contextwise.models.directions import Directions

Matrix = npt.NDArray[np.int8]
"""1 in row r, column c for an arc r -> c; 2 in both places for an undirected edge."""


def adjacency(directions: Directions, *, of_class: bool) -> Matrix:
    """Return the matrix of the DAG, or of its equivalence class."""
    count = len(directions.parents)
    matrix = np.zeros((count, count), dtype=np.int8)
    for parent, child in directions.arcs:
        if of_class and (parent, child) not in directions.compelled:
            matrix[parent, child] = matrix[child, parent] = 2
        else:
            matrix[parent, child] = 1
    return matrix


BY_GADJID = ("sid", "ancestor_aid", "parent_aid", "oset_aid")


def between_graphs(name: str, true: Directions | None, guess: Directions | None) -> int | None:
    """Return a distance of two graphs; None if it is not defined, or its package is missing."""
    if true is None or guess is None or true.confounded or guess.confounded:
        return None
    if name in ("shd", "sid") and (true.undirected or guess.undirected):
        return None
    classes = name == "cpdag_shd"
    first, second = (adjacency(d, of_class=classes or bool(d.undirected)) for d in (true, guess))
    if name.endswith("shd"):
        return int(np.triu(first + 4 * first.T != second + 4 * second.T, 1).sum())
    if find_spec("gadjid") is None:
        return None
    function = getattr(require("gadjid", "causal"), name)
    return int(function(first, second, edge_direction="from row to column")[1])
