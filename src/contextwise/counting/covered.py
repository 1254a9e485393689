"""Which pairs of variables some feature has in its scope: about the others all are independent.

The compiled one is in ``kernel/features.hpp``, `covered_in_python` its readable twin.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from contextwise.counting import native
from contextwise.counting.extraction import decode_pairs, scope_pairs, speaking_features
from contextwise.models.features import Features, IntArray

MOST_COLUMNS = 64
"""Up to so many pairs, a table of features by their variables is quicker than all pairs."""
MOST_MARKS = 2**26
"""Up to so many pairs of variables, a mark for each is quicker than sorting those that occur."""


def covered_pairs(*models: Features, among: IntArray | None = None) -> IntArray:
    """The pairs that a feature of any of the models has in its scope: shape (p, 2), in order.

    Parameters
    ----------
    *models : the features of each model, over the same variables
    among : pairs of which some are wanted, optional; others are left out

    Returns
    -------
    array of int, shape (p, 2)

    Examples
    --------
    >>> from contextwise.models.structure import Structure
    >>> model = Structure({"A": 2, "B": 2, "C": 2, "D": 2}, ["A=1 & B=1 & D=0", "B=1 & C=1"])
    >>> covered_pairs(model.features).tolist()
    [[0, 1], [0, 3], [1, 2], [1, 3]]
    >>> covered_pairs(model.features, among=np.array([[1, 3], [0, 2]])).tolist()
    [[1, 3]]
    """
    n = len(models[0].cardinalities)
    if among is not None:
        among = decode_pairs(np.unique(among[:, 0] * n + among[:, 1]), n)
    if native.missing() is None and (among is not None or n * n <= MOST_MARKS):
        return native.covered_pairs(models, among)
    return covered_in_python(models, among)


def covered_in_python(models: Sequence[Features], among: IntArray | None) -> IntArray:
    """The readable twin of the kernel.

    Parameters
    ----------
    models : as in `covered_pairs`
    among : the same; rising, each once

    Returns
    -------
    array of int, shape (p, 2)
    """
    n = len(models[0].cardinalities)
    if among is not None:
        return among[np.logical_or.reduce([_covers(features, among) for features in models])]
    codes = (code.ravel() for features in models for _, code, _, _ in scope_pairs(features))
    if n * n > MOST_MARKS:
        return decode_pairs(np.unique(np.concatenate([np.zeros(0, np.int64), *codes])), n)
    marked = np.zeros(n * n, dtype=bool)
    for code in codes:
        marked[code] = True
    return decode_pairs(np.flatnonzero(marked), n)


def _covers(features: Features, pairs: IntArray) -> npt.NDArray[np.bool_]:
    """Whether a feature has each of these pairs in its scope."""
    n = len(features.cardinalities)
    if len(pairs) > MOST_COLUMNS:
        return np.isin(
            pairs @ (n, 1), covered_in_python([speaking_features(features, pairs)], None) @ (n, 1)
        )
    chosen, places = np.unique(pairs, return_inverse=True)
    column = np.full(n, -1)
    column[chosen] = np.arange(len(chosen))
    columns = column[features.variables]
    literals = np.flatnonzero(columns >= 0)
    owners = np.searchsorted(features.starts, literals, side="right") - 1
    tests = np.zeros((len(features), len(chosen)), dtype=bool)
    tests[owners, columns[literals]] = True
    first, second = places.reshape(-1, 2).T
    covered: npt.NDArray[np.bool_] = np.logical_or.reduce(tests[:, first] & tests[:, second])
    return covered
