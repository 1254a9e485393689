"""Weighted contexts: each variable's states with their probabilities, as exact rationals.

Counting treats all contexts alike. With weights a context counts as much as its probability when
the variables are drawn independently, each from its own distribution, for instance the frequencies
in some data; the distance is then the expected number of pairs on which the models disagree. The
numbers stay exact: a weight is the decimal number as it is written (0.1 is one tenth), the weights
of a variable are divided by their sum, and engines count with their integer numerators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from contextwise.data.rows import as_data
from contextwise.errors import DomainError
from contextwise.models.domain import Domain, State

__all__ = ["marginals", "value_weights"]

Weight = float | Fraction | Decimal
Weights = Mapping[str, Sequence[Weight] | Mapping[State, Weight]]
"""For some variables a weight for each state: in the order of the states, or by label."""

TOLERANCE = Fraction(1, 10**9)
"""How far the weights of a variable may be from 1 in all: decimals are rounded somewhere."""


def value_weights(domain: Domain, weights: Weights) -> list[list[int]]:
    """The weights as whole numbers: for each variable the numerators of its probabilities.

    Variables that are not named are uniform.

    Parameters
    ----------
    domain : Domain
    weights : mapping from some variables to the weights of their states
        In the order of the states, or by label; those of a variable add up to 1.

    Returns
    -------
    list of lists of int
        One list per variable of the domain, one number per state.

    Raises
    ------
    DomainError
        If a variable or a state is unknown, a weight is missing or negative, or those of a
        variable do not add up to 1.

    Examples
    --------
    >>> domain = Domain({"A": 2, "B": ["no", "yes"], "C": 3})
    >>> value_weights(domain, {"A": [0.9, 0.1], "B": {"yes": Fraction(1, 3), "no": Fraction(2, 3)}})
    [[9, 1], [2, 1], [1, 1, 1]]
    """
    whole = [[1] * cardinality for cardinality in domain.cardinalities]
    for name, given in weights.items():
        variable = domain.position(name)
        shares = _distribution(name, _in_order(domain, variable, given))
        common = lcm(*(share.denominator for share in shares))
        whole[variable] = [int(share * common) for share in shares]
    return whole


def marginals(domain: Domain, data: Any) -> dict[str, dict[str, Fraction]]:
    """How often each state of each variable occurs in some rows: weights for ``compare``.

    Parameters
    ----------
    domain : Domain
    data : rows, a DataFrame or the path of a file; see `contextwise.learning.as_data`

    Returns
    -------
    dict from variables to dicts from states to Fractions

    Raises
    ------
    DomainError
        If there are no rows.

    Examples
    --------
    >>> marginals(Domain({"A": 2, "B": ["no", "yes"]}), [[1, "yes"], [0, "yes"], [1, "yes"]])
    {'A': {'0': Fraction(1, 3), '1': Fraction(2, 3)}, 'B': {'no': Fraction(0, 1), 'yes': ...}}
    """
    rows = as_data(data, domain).rows
    if not len(rows):
        raise DomainError("the data has no rows, so its variables have no frequencies")
    result = {}
    for variable, (name, states) in enumerate(zip(domain.names, domain.states, strict=True)):
        counts = np.bincount(rows[:, variable], minlength=len(states)).tolist()
        result[name] = {
            state: Fraction(count, len(rows)) for state, count in zip(states, counts, strict=True)
        }
    return result


def _in_order(
    domain: Domain, variable: int, given: Sequence[Weight] | Mapping[State, Weight] | str
) -> list[Weight]:
    """One weight per state, in the order of the states; a string is refused by name."""
    name, states = domain.names[variable], domain.states[variable]
    if not isinstance(given, Mapping):
        if isinstance(given, str) or len(given) != len(states):
            raise DomainError(
                f"the weights of {name!r} are one number for each of its {len(states)} states, "
                f"not {given!r}"
            )
        return list(given)
    placed: dict[int, Weight] = {}
    for state, weight in given.items():
        placed[domain.state_position(variable, state)] = weight
    if len(placed) < len(states):
        lacking = next(state for k, state in enumerate(states) if k not in placed)
        raise DomainError(f"the weights of {name!r} lack its state {lacking!r}")
    return [placed[k] for k in range(len(states))]


def _distribution(name: str, weights: Sequence[Weight]) -> list[Fraction]:
    """The weights as rationals that add up to 1."""
    shares = [_exact(name, weight) for weight in weights]
    total = sum(shares, start=Fraction(0))
    if abs(total - 1) > TOLERANCE:
        raise DomainError(f"the weights of {name!r} add up to {float(total):.10g}, not to 1")
    return [share / total for share in shares]


def _exact(name: str, weight: object) -> Fraction:
    """A weight as it is written: the float 0.1 is one tenth."""
    try:
        if isinstance(weight, bool):
            raise TypeError
        share = weight if isinstance(weight, Fraction) else Fraction(str(weight))
    except (TypeError, ValueError, InvalidOperation, ZeroDivisionError):
        raise DomainError(f"a weight of {name!r} is not a number: {weight!r}") from None
    if share < 0:
        raise DomainError(f"a weight of {name!r} is negative: {weight!r}")
    return share
