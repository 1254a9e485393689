"""Weights of contexts: a probability for each state of each variable, as exact rationals.

With weights, a context counts by its probability if the variables are drawn independently, for
instance with their frequencies in some data. The distance is then the expected number of pairs on
which the models disagree. The numbers stay exact: the weight 0.1 is one tenth, the weights of a
variable are divided by their sum, and engines count with integer numerators.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import lcm
from typing import Any

from contextwise.errors import DomainError
from contextwise.models.domain import Domain, State

__all__ = ["marginals"]

Weight = float | Fraction | Decimal
Weights = Mapping[str, Sequence[Weight] | Mapping[State, Weight]]
"""For some variables, a weight for each state: in the order of the states, or by label."""

TOLERANCE = Fraction(1, 10**9)
"""The sum of the weights of a variable may differ from 1 by this much, because of rounding."""
LARGEST_EXPONENT = 1000
"""Of a weight, because exact arithmetic with 1e-100000000 takes minutes."""


def value_weights(domain: Domain, weights: Weights) -> tuple[tuple[int, ...], ...]:
    """Return weights as integers: for each variable the numerators of its probabilities.

    Variables that are not named are uniform.
    """
    whole = [(1,) * cardinality for cardinality in domain.cardinalities]
    for name, states in weights.items():
        variable = domain.position(name)
        exact = [_exact(name, weight) for weight in _in_order(domain, variable, states)]
        total = sum(exact, start=Fraction(0))
        if abs(total - 1) > TOLERANCE:
            raise DomainError(f"the weights of {name!r} add up to {float(total):.10g}, not to 1")
        shares = [share / total for share in exact]
        common = lcm(*(share.denominator for share in shares))
        whole[variable] = tuple(int(share * common) for share in shares)
    return tuple(whole)


def marginals(domain: Domain, data: Any) -> dict[str, dict[str, Fraction]]:
    """Return the frequencies of the states of each variable in some rows: weights for ``compare``.

    Parameters
    ----------
    domain : Domain
    data : rows, a DataFrame or the path of a file; see `contextwise.learning.as_data`

    Examples
    --------
    >>> marginals(Domain({"A": 2, "B": ["no", "yes"]}), [[1, "yes"], [0, "yes"], [1, "yes"]])
    {'A': {'0': Fraction(1, 3), '1': Fraction(2, 3)}, 'B': {'no': Fraction(0, 1), 'yes': ...}}
    """
    from contextwise.data.rows import as_data  # loads modules that most comparisons do not need

    rows = as_data(data, domain)
    if not len(rows):
        raise DomainError("the data has no rows; frequencies need at least one")
    shares = ([Fraction(n, len(rows)) for n in counts.tolist()] for counts in rows.counts())
    columns = zip(domain.names, domain.states, shares, strict=True)
    return {name: dict(zip(states, column, strict=True)) for name, states, column in columns}


def _in_order(
    domain: Domain, variable: int, weights: Sequence[Weight] | Mapping[State, Weight] | str
) -> list[Weight]:
    """Return one weight per state, in the order of the states."""
    name, states = domain.names[variable], domain.states[variable]
    if not isinstance(weights, Mapping):
        if isinstance(weights, str) or len(weights) != len(states):
            raise DomainError(
                f"the weights of {name!r} must be one number for each of its {len(states)} states, "
                f"got {weights!r}"
            )
        return list(weights)
    placed = {domain.state_position(variable, state): w for state, w in weights.items()}
    for k, state in enumerate(states):
        if k not in placed:
            raise DomainError(f"the weights of {name!r} lack its state {state!r}")
    return [placed[k] for k in range(len(states))]


def _exact(name: str, weight: object) -> Fraction:
    """Return a weight as the rational that its decimal form denotes: 0.1 is one tenth."""
    exponent = re.search(r"[eE]([-+]?\d[\d_]*)\s*$", str(weight))
    try:
        if isinstance(weight, bool):
            raise TypeError
        too_long = exponent and abs(int(exponent[1])) > LARGEST_EXPONENT
        share = Fraction(0 if too_long else weight if isinstance(weight, Fraction) else str(weight))
    except (TypeError, ValueError, InvalidOperation, ZeroDivisionError):
        raise DomainError(f"a weight of {name!r} is not a number: {weight!r}") from None
    if too_long:
        raise DomainError(
            f"a weight of {name!r} has an exponent beyond {LARGEST_EXPONENT}: {weight}; round it"
        )
    if share < 0:
        raise DomainError(f"a weight of {name!r} is negative: {weight!r}")
    return share
