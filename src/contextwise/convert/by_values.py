"""Find the interactions that vanish in some contexts from the weights of a model.

The strength of an interaction in a context is the largest **log odds ratio** of the two variables
there; a strength up to ``tolerance`` counts as zero. Only features with both variables matter: all
others cancel in the ratio. If some probabilities are 0, the two variables are independent when
their possible joint states form a product and no ratio among them exceeds the tolerance. An
impossible context has no interactions.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from contextwise.convert.from_claims import (
    CubeMap,
    WantedIndependence,
    cube_index,
    cubes_where,
    features_for,
)
from contextwise.errors import DomainError
from contextwise.models.factors import check_scopes
from contextwise.models.features import PairIndex
from contextwise.models.structure import LogLinear, Structure
from contextwise.support.arrays import FloatArray


def by_values(model: LogLinear, *, tolerance: float = 1e-9) -> Structure:
    """Return the structure of the interactions in the weights of a model.

    Parameters
    ----------
    model : LogLinear
    tolerance : float
        The largest log odds ratio that counts as no interaction.

    Examples
    --------
    >>> from contextwise import Domain
    >>> from contextwise.models.factors import Factor, log_linear
    >>> rows = np.log([[[0.5, 0.5], [0.5, 0.5]], [[0.2, 0.8], [0.6, 0.4]]])  # p(Y | A, B)
    >>> model = log_linear(Domain({"A": 2, "B": 2, "Y": 2}), [Factor((0, 1, 2), rows)])
    >>> structure = by_values(model)
    >>> structure.restrict("A=0").pairs(), structure.restrict("A=1").pairs()
    ([], [('B', 'Y')])
    """
    if not isinstance(model, LogLinear):
        raise DomainError("by_values needs weights, got a structure; fit weights first")
    if (model.weights == np.inf).any():
        raise DomainError("a weight is infinite, so odds ratios are undefined; use finite ones")
    domain = model.domain
    together: dict[PairIndex, list[tuple[CubeMap, float]]] = {}
    for literals, weight in zip(
        model.structure.features.literals(), model.weights.tolist(), strict=True
    ):
        feature = dict(literals), weight
        for i, j in combinations(feature[0], 2):
            together.setdefault((i, j), []).append(feature)
    others = {
        pair: sorted({v for literals, _ in features for v in literals} - set(pair))
        for pair, features in together.items()
    }
    for pair, scope in others.items():
        check_scopes(domain, [[*pair, *scope]])
    independent = {}
    for pair, features in together.items():
        axes = [*pair, *others[pair]]
        logs = np.zeros([domain.cardinalities[v] for v in axes])
        for cube, weight in features:
            logs[cube_index(domain, axes, cube)] += weight
        independent[pair] = cubes_where(others[pair], _odds_ratio(logs) <= tolerance)
    return features_for(WantedIndependence(domain, independent))


def _odds_ratio(logs: FloatArray) -> FloatArray:
    """Return the largest log odds ratio of the first two axes, for each cell of the others.

    It is infinite if the cells above ``-inf`` are not a product of rows and columns.
    """
    possible = logs > -np.inf
    product = possible.any(axis=1, keepdims=True) & possible.any(axis=0, keepdims=True)
    largest = np.zeros(logs.shape[2:])
    for first, second in combinations(range(len(logs)), 2):
        both = possible[first] & possible[second]
        with np.errstate(invalid="ignore"):
            gap = logs[first] - logs[second]
        highest = np.where(both, gap, -np.inf).max(axis=0)
        lowest = np.where(both, gap, np.inf).min(axis=0)
        largest = np.maximum(largest, highest - lowest)
    return np.where((possible == product).all(axis=(0, 1)), largest, np.inf)
