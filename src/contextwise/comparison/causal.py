"""Distances between the graphs of two Bayesian networks, next to the metric of this package.

The metric ignores directions: a network and its reversal can be at distance 0, and parents of one
child depend on each other, although no arc connects them. The distances here compare the arcs.

- The **structural Hamming distance** (SHD) counts the pairs of variables with another edge: none
  instead of one, or an arc reversed, which counts once. On the equivalence classes (CPDAGs) it
  leaves out directions that no data can show.
- The **structural intervention distance** (SID) and the **adjustment identification distances**
  count the ordered pairs for which adjusting as the guess says gives a wrong causal effect. They
  need the package ``gadjid`` (``pip install '.[causal]'``).

A partly directed graph is compared by its equivalence class, so it has no SHD and no SID of DAGs.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt

from contextwise.errors import require
from contextwise.models.directions import Directions

Matrix = npt.NDArray[np.int8]
"""1 in row r, column c for an arc r -> c; 2 in both places for an undirected edge."""

BY_GADJID = ("sid", "ancestor_aid", "parent_aid", "oset_aid")


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


def _shd(true: Matrix, guess: Matrix) -> int:
    """Count the pairs whose edges differ."""
    marks = (matrix + 4 * matrix.T for matrix in (true, guess))
    first, second = marks
    return int(np.triu(first != second, 1).sum())


def has_gadjid() -> bool:
    """Return whether the package of the last four distances is installed."""
    return find_spec("gadjid") is not None


def _by_gadjid(name: str, true: Matrix, guess: Matrix) -> int | None:
    if not has_gadjid():
        return None
    function = getattr(require("gadjid", "causal"), name)
    return int(function(true, guess, edge_direction="from row to column")[1])


def _distance(name: str) -> Callable[[Directions | None, Directions | None], int | None]:
    def distance(true: Directions | None, guess: Directions | None) -> int | None:
        if true is None or guess is None:
            return None
        partly = bool(true.undirected or guess.undirected)
        if name in ("shd", "sid") and partly:
            return None
        if name == "cpdag_shd":
            return _shd(adjacency(true, of_class=True), adjacency(guess, of_class=True))
        first, second = (adjacency(d, of_class=bool(d.undirected)) for d in (true, guess))
        return _shd(first, second) if name == "shd" else _by_gadjid(name, first, second)

    return distance


DISTANCES = {name: _distance(name) for name in ("shd", "cpdag_shd", *BY_GADJID)}
"""Each distance by its name; None if a model has no directions, or the distance is not defined."""
