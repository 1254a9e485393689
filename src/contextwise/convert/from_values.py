"""Find where two variables interact from the numbers of a model, instead of its features.

The **strength** of a pair in a context is the largest absolute log odds ratio of its conditional
table. Only features with both variables matter: all others cancel in the ratio. A pair is claimed
dependent where its strength exceeds the tolerance. If some numbers are 0, the possible joint states
must form a product of states of each, otherwise the strength is infinite. An impossible context has
no interaction.

Zeros in tables with at most one of the two variables are ignored, so at tolerance 0 the claims
contain every dependence of the distribution, and more where other tables fix a variable. Without
zeros they are exactly the dependencies of the distribution.

The tables of a pair are added up over all their variables. If the sum would have more than
`MOST_CELLS_OF_A_PAIR` cells, the pair is claimed dependent where any single table makes it depend
by more than its share of the tolerance. That contains every dependence, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from contextwise.convert.from_claims import CubeMap, WantedIndependence, cubes_where, model_for
from contextwise.errors import DomainError, OpenResult, TooLargeError
from contextwise.models.claims import claims_of_cubes
from contextwise.models.domain import Domain
from contextwise.models.factors import Factor, factors_of, log_odds_ratio, spread
from contextwise.models.features import PairIndex
from contextwise.models.origin import ROUNDING, ByValues
from contextwise.models.structure import LogLinear, Structure
from contextwise.support.effort import Deadline

MOST_CELLS_OF_A_PAIR = 10**7
"""The most cells of the summed tables of a pair."""
CUBES = 20_000
"""The most regions of a pair; one with more is taken table by table."""
MOST_REGIONS_OF_ALL_PAIRS = 1_000_000
"""The most regions of all pairs."""


def by_values(
    model: LogLinear, *, tolerance: float = ROUNDING, time_limit: float | None = None
) -> Structure:
    """Return what the numbers of a model claim: where each pair interacts.

    The result is a `Structure` if features make exactly these claims, and `Claims` otherwise. Its
    ``origin.by_values`` has the tolerance, whether there are zeros, the number of pairs whose
    tables are too large to add up, and the model.

    Parameters
    ----------
    model : LogLinear
    tolerance : float
        The largest absolute log odds ratio that counts as no interaction.
    time_limit : seconds, optional
        Raises `OpenResult` if it passes.

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
    if not tolerance >= 0:
        raise DomainError(f"tolerance must be >= 0, got {tolerance}")
    deadline = Deadline.after(time_limit)
    domain = model.domain
    together: dict[PairIndex, list[Factor]] = {}
    for factor in factors_of(model, "the claims of such a model cannot be read from its numbers"):
        for pair in combinations(factor.scope, 2):
            together.setdefault(pair, []).append(factor)
    dependent: dict[PairIndex, list[CubeMap]] = {}
    independent: dict[PairIndex, list[CubeMap]] = {}
    pairs_by_table = regions = 0
    for pair in sorted(together):
        if deadline.passed:
            raise OpenResult(
                f"the claims of {len(dependent)} of {len(together)} pairs were read from the "
                "numbers within the time limit; allow more time"
            )
        factors = together[pair]
        others = sorted({v for factor in factors for v in factor.scope} - set(pair))
        try:
            if prod(domain.cardinalities[v] for v in (*pair, *others)) > MOST_CELLS_OF_A_PAIR:
                raise TooLargeError("the sum of the tables is too large")
            where = log_odds_ratio(_summed(domain, factors, pair, others)) > tolerance
            dependent[pair] = [*cubes_where(others, where, CUBES)]
            independent[pair] = [*cubes_where(others, ~where, CUBES)]
        except TooLargeError:
            pairs_by_table += 1
            dependent[pair] = list(_by_table(domain, factors, pair, tolerance))
        regions += len(dependent[pair])
        if regions > MOST_REGIONS_OF_ALL_PAIRS:
            raise TooLargeError(
                f"the numbers make more than {MOST_REGIONS_OF_ALL_PAIRS:,} regions after "
                f"{len(dependent):,} of {len(together):,} pairs; give a larger "
                "tolerance, or compare the features"
            )
    about = ByValues(
        tolerance=tolerance,
        zeros=bool(np.isneginf(model.weights).any()),
        pairs_by_table=pairs_by_table,
    )
    kept: Any = {
        "origin": replace(model.origin, by_values=about, numbers=model),
        "directions": model.directions,
    }
    if pairs_by_table:
        return claims_of_cubes(domain, dependent, **kept)
    wanted = WantedIndependence(domain, independent)
    return model_for(wanted, dependent=dependent, deadline=deadline, **kept)


def _summed(
    domain: Domain, factors: list[Factor], pair: PairIndex, others: list[int]
) -> npt.NDArray[np.float64]:
    """Add up tables; the axes are those of the pair, then of the other variables."""
    axes = [*pair, *others]
    logs = np.zeros([domain.cardinalities[v] for v in axes])
    for factor in factors:
        logs += spread(factor.logs, factor.scope, axes)
    return logs


def _by_table(
    domain: Domain, factors: list[Factor], pair: PairIndex, tolerance: float
) -> Iterator[CubeMap]:
    """Yield the cubes where some single table makes the pair depend."""
    # Strengths add up at most, so each table may have its share of the tolerance.
    share = tolerance / len(factors) if tolerance > ROUNDING else tolerance
    for factor in factors:
        others = sorted(set(factor.scope) - set(pair))
        strength = log_odds_ratio(_summed(domain, [factor], pair, others))
        yield from cubes_where(others, strength > share)
