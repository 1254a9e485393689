"""Minimise a penalised quadratic by coordinate descent: the inner loop of every sparse fit.

The objective is ::

    pull · (x - x₀)  +  ½ (x - x₀)ᵀ M (x - x₀)  +  Σ_groups price · |x_group|₂

minimised group by group. A group moves to the minimum of a model with equal curvature in all
directions and is then shortened by its price, at most to 0. For a single weight this is the exact
minimum. For a larger group the curvature is an upper bound, so no move increases the objective.
Most passes visit only nonzero groups; the search ends after a pass over all.

`gram` computes the matrix Aᵀ D A for a sparse A. `descend_in_python` is the readable twin of
``descent.hpp`` and replaces it where it was not compiled, at least fifty times slower.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from contextwise.distributions.potentials import FloatArray
from contextwise.errors import require
from contextwise.models.features import IntArray

try:
    from contextwise.distributions import _descent
except ImportError:  # built without a compiler
    _descent = None  # type: ignore[assignment]

ALL_GROUPS = 10
"""Number of passes between two visits of all groups."""


def available() -> bool:
    """Return whether the compiled twin was built."""
    return _descent is not None


def descend(
    model: Any,
    point: FloatArray,
    pull: FloatArray,
    *,
    starts: IntArray,
    prices: FloatArray,
    passes: int,
    tolerance: float,
) -> FloatArray:
    """Minimise a quadratic with penalties on groups; ``model`` is the matrix M in CSR form."""
    function = _descent.descend if available() else descend_in_python
    return function(
        model.indptr,
        model.indices,
        model.data,
        starts.astype(np.int64),
        curvatures(model, starts),
        prices,
        point,
        pull,
        passes,
        tolerance,
    )


def gram(matrix: Any, transposed: Any, scale: FloatArray, chosen: IntArray) -> Any:
    """Return Aᵀ D A over some columns of A, with D diagonal, as a CSR array.

    For a dense A, ``transposed`` has 32-bit floats.
    """
    if isinstance(matrix, np.ndarray):
        sparse = require("scipy.sparse", "distributions")
        # half the precision is twice the speed, and the model of a step needs no more
        part = transposed[chosen] * np.sqrt(scale).astype(np.float32)
        return sparse.csr_array((part @ part.T).astype(np.float64))
    if not available():
        part = matrix[:, chosen]
        part.data = part.data * np.repeat(scale, np.diff(part.indptr))
        return transposed[chosen] @ part
    matrix.sort_indices()
    indptr, indices, data = _descent.gram(
        matrix.indptr,
        matrix.indices,
        matrix.data,
        transposed.indptr,
        transposed.indices,
        transposed.data,
        scale,
        chosen,
    )
    return type(matrix)((data, indices, indptr), shape=(len(chosen), len(chosen)))


def curvatures(model: Any, starts: IntArray) -> FloatArray:
    """Bound the curvature of each group by its largest absolute row sum."""
    if len(starts) - 1 == model.shape[0]:
        return np.asarray(model.diagonal(), dtype=np.float64)
    groups = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    rows = np.repeat(np.arange(model.shape[0]), np.diff(model.indptr))
    own = groups[rows] == groups[model.indices]
    sums = np.bincount(rows[own], np.abs(model.data[own]), minlength=model.shape[0])
    return np.maximum.reduceat(sums, starts[:-1])


def descend_in_python(
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    starts: IntArray,
    curvatures: FloatArray,
    prices: FloatArray,
    point: FloatArray,
    pull: FloatArray,
    passes: int,
    tolerance: float,
) -> FloatArray:
    """Do the same as ``descent.hpp``, readably."""
    x, pull = point.copy(), pull.copy()
    bounds = starts.tolist()
    visit_all = True
    for done in range(1, passes + 1):
        violation = 0.0
        for group, (a, b) in enumerate(pairwise(bounds)):
            old = x[a:b].copy()
            if curvatures[group] <= 0 or not (visit_all or old.any()):
                continue
            violation = max(violation, _violation(old, pull[a:b], float(prices[group])))
            x[a:b] = _shortened(
                old - pull[a:b] / curvatures[group], prices[group] / curvatures[group]
            )
            for j in np.flatnonzero(x[a:b] != old) + a:
                row = slice(indptr[j], indptr[j + 1])
                pull[indices[row]] += (x[j] - old[j - a]) * data[row]
        if violation <= tolerance and visit_all:
            break
        visit_all = violation <= tolerance or done % ALL_GROUPS == 0
    return x


def _violation(weights: FloatArray, pull: FloatArray, price: float) -> float:
    """Return how far a group is from its optimality condition."""
    size = float(np.linalg.norm(weights))
    if size > 0:
        return float(np.linalg.norm(pull + price / size * weights))
    return max(0.0, float(np.linalg.norm(pull)) - price)


def _shortened(weights: FloatArray, by: float) -> FloatArray:
    """Shorten a vector by a length, at most to 0."""
    size = float(np.linalg.norm(weights))
    return weights * max(0.0, 1.0 - by / size) if size > 0 else weights
