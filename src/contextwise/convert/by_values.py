"""Find the interactions that vanish in some contexts from the weights of a model.

Equal rows of a conditional distribution are a context-specific independence, even if the graph
does not show it. `by_values` reads such independencies off the weights of a log-linear model.

The strength of an interaction in a context is the largest **log odds ratio** of the two variables
there; a strength up to ``tolerance`` counts as zero. Only features with both variables matter: all
others cancel in the ratio. If some probabilities are 0, the two variables are independent when
their possible joint states form a product and no ratio among them exceeds the tolerance. An
impossible context has no interactions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from contextwise.convert.from_claims import Claims, CubeMap, cubes_where, features_for
from contextwise.errors import DomainError
from contextwise.models.domain import Domain
from contextwise.models.factors import FloatArray, check_scopes
from contextwise.models.features import PairIndex, members
from contextwise.models.structure import LogLinear, Structure

TOLERANCE = 1e-9

Weighted = tuple[CubeMap, float]
"""A feature, as the values it allows, and its weight."""


def by_values(model: LogLinear, *, tolerance: float = TOLERANCE) -> Structure:
    """Return the structure of the interactions in the weights of a model.

    Parameters
    ----------
    model : LogLinear
    tolerance : float
        The largest log odds ratio that counts as no interaction.

    Returns
    -------
    Structure

    Raises
    ------
    NotRepresentable
        If no features make these claims.
    TooLargeError
        If the features that share a pair have too many variables together.

    Examples
    --------
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
    together: dict[PairIndex, list[Weighted]] = {}
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
    independent = {
        pair: _independent(domain, pair, others[pair], features, tolerance)
        for pair, features in together.items()
    }
    return features_for(Claims(domain, independent))


def _independent(
    domain: Domain,
    pair: PairIndex,
    others: Sequence[int],
    features: Iterable[Weighted],
    tolerance: float,
) -> Sequence[CubeMap]:
    """Find where a pair does not interact; ``others`` are the other variables of its features."""
    axes = [*pair, *others]
    logs = np.zeros([domain.cardinalities[v] for v in axes])
    everything = {v: (1 << domain.cardinalities[v]) - 1 for v in axes}
    for literals, weight in features:
        logs[np.ix_(*(members(literals.get(v, everything[v])) for v in axes))] += weight
    return cubes_where(others, odds_ratio(logs) <= tolerance)


def odds_ratio(logs: FloatArray) -> FloatArray:
    """Return the largest log odds ratio of the first two axes, for each cell of the others.

    It is infinite if the cells above ``-inf`` are not a product of rows and columns.

    >>> odds_ratio(np.log([[0.1, 0.2], [0.3, 0.6]])) < 1e-9
    np.True_
    >>> with np.errstate(divide="ignore"):
    ...     diagonal, column = np.log([[0.5, 0.0], [0.0, 0.5]]), np.log([[0.5, 0.0], [0.2, 0.0]])
    >>> float(odds_ratio(diagonal)), float(odds_ratio(column))
    (inf, 0.0)
    """
    possible = logs > -np.inf
    product = possible.any(axis=1, keepdims=True) & possible.any(axis=0, keepdims=True)
    largest = np.zeros(logs.shape[2:])
    for one, other in combinations(range(len(logs)), 2):
        both = possible[one] & possible[other]
        with np.errstate(invalid="ignore"):
            gap = logs[one] - logs[other]
        highest = np.where(both, gap, -np.inf).max(axis=0)
        lowest = np.where(both, gap, np.inf).min(axis=0)
        largest = np.maximum(largest, highest - lowest)
    return np.where((possible == product).all(axis=(0, 1)), largest, np.inf)
