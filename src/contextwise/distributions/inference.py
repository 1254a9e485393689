"""What a model says: probabilities, marginals, conditionals and expectations, exactly.

Rows and evidence are given by names and labels, as everywhere; what comes back are arrays. Where
exact inference is too large, the error says how large (see `distributions.elimination`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from contextwise.distributions.elimination import calibrated
from contextwise.distributions.firing import FloatArray, log_potential_of
from contextwise.distributions.tables import log_potential_blocks
from contextwise.errors import DomainError
from contextwise.formats import ModelLike, as_log_linear
from contextwise.models.domain import Assignment


def log_potential(model: ModelLike, rows: Any) -> FloatArray:
    """The sum of the weights of the features that hold in each row: log p(x) + log Z.

    A feature of weight ``inf`` must hold and one of weight ``-inf`` must not: where they are
    violated the log-potential is ``-inf``, and elsewhere an infinite weight adds nothing.

    Parameters
    ----------
    rows : array, DataFrame or list of rows; see `Domain.encode`

    Examples
    --------
    >>> from contextwise.models.structure import LogLinear, Structure
    >>> model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1", "A=1 & B=1"]), [0.5, 2.0])
    >>> log_potential(model, [[0, 1], [1, 0], [1, 1]]).tolist()
    [0.0, 0.5, 2.5]
    """
    model = as_log_linear(model)
    return log_potential_of(model, model.domain.encode(rows))


def log_partition(model: ModelLike, *, given: Assignment | None = None) -> float:
    """log Z: the log of the sum of exp(log-potential) over all states that agree with ``given``.

    >>> from contextwise.models.structure import LogLinear, Structure
    >>> model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), [np.log(5)])
    >>> round(float(np.exp(log_partition(model))), 12)
    8.0
    """
    model = as_log_linear(model)
    return calibrated(model, pinned=model.domain.assignment(given)).log_partition


def log_probability(model: ModelLike, rows: Any) -> FloatArray:
    """log p(x) of each row."""
    model = as_log_linear(model)
    return log_potential(model, rows) - log_partition(model)


def probabilities(model: ModelLike) -> FloatArray:
    """The probability of every state: an array with an axis a variable.

    For up to 2**24 states.

    >>> from contextwise.models.structure import LogLinear, Structure
    >>> model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), [np.log(5)])
    >>> probabilities(model).round(3).tolist()
    [[0.125, 0.125], [0.125, 0.625]]
    """
    model = as_log_linear(model)
    table = np.concatenate([block for (block,) in log_potential_blocks(model)])
    top = table.max()
    if top == -np.inf:
        raise DomainError("no state is possible: the infinite weights exclude every one")
    np.exp(table - top, out=table)
    table /= table.sum()
    return table.reshape(model.domain.cardinalities)


def marginal(
    model: ModelLike, variables: str | Sequence[str], *, given: Assignment | None = None
) -> FloatArray:
    """The distribution of some variables, given the states of others.

    Parameters
    ----------
    variables : a name, or several; the result has an axis for each, in this order
    given : partial assignment, optional
        The evidence; the marginal is conditional on it.

    Examples
    --------
    >>> from contextwise.models.structure import LogLinear, Structure
    >>> model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), [np.log(5)])
    >>> marginal(model, "A").round(3).tolist(), marginal(model, "A", given="B=1").round(3).tolist()
    ([0.25, 0.75], [0.167, 0.833])
    """
    model = as_log_linear(model)
    domain = model.domain
    names = [variables] if isinstance(variables, str) else list(variables)
    positions = [domain.position(name) for name in names]
    pinned = domain.assignment(given)
    for name, position in zip(names, positions, strict=True):
        if position in pinned or names.count(name) > 1:
            raise DomainError(f"{name!r} is asked for twice, or asked for and given")
    return calibrated(model, pinned=pinned, together=[positions]).marginal(positions)


def expectations(model: ModelLike, *, given: Assignment | None = None) -> FloatArray:
    """The probability of each feature, in the order of the structure's features.

    >>> from contextwise.models.structure import LogLinear, Structure
    >>> model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1", "A=1 & B=1"]), [0.0, np.log(5)])
    >>> expectations(model).round(3).tolist()
    [0.75, 0.625]
    """
    model = as_log_linear(model)
    return calibrated(model, pinned=model.domain.assignment(given)).expectations()
