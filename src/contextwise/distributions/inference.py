"""Compute probabilities, marginals, conditionals and expectations exactly.

If exact inference is too large, the error states how large (see `elimination`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from contextwise.distributions.elimination import exact_inference
from contextwise.distributions.potentials import FloatArray, encode_rows, log_potential_of
from contextwise.distributions.tables import log_potential_blocks
from contextwise.errors import DomainError
from contextwise.formats import ModelLike, as_log_linear
from contextwise.models.domain import Assignment


def log_potential(model: ModelLike, rows: Any) -> FloatArray:
    """Return the sum of the weights of the features that hold in each row: log p(x) + log Z.

    A feature of weight ``inf`` must hold and one of weight ``-inf`` must not: where they are
    violated the log-potential is ``-inf``, and elsewhere an infinite weight adds nothing.

    Parameters
    ----------
    model : LogLinear, path of a file, or name of an example
    rows : array, DataFrame, list of rows, or path of a file; see `Domain.encode`

    Returns
    -------
    array of float, one per row

    Examples
    --------
    >>> from contextwise import LogLinear, Structure
    >>> model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1", "A=1 & B=1"]), [0.5, 2.0])
    >>> log_potential(model, [[0, 1], [1, 0], [1, 1]]).tolist()
    [0.0, 0.5, 2.5]
    """
    own = as_log_linear(model)
    return log_potential_of(own, encode_rows(own.domain, rows))


def log_partition(model: ModelLike, *, context: Assignment | None = None) -> float:
    """Compute log Z, over all states or those in a context.

    Parameters
    ----------
    model : LogLinear, path of a file, or name of an example
    context : partial assignment, optional

    Returns
    -------
    float

    Raises
    ------
    TooLargeError
        If the treewidth is too large.

    Examples
    --------
    >>> from contextwise import LogLinear, Structure
    >>> model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), [np.log(5)])
    >>> round(float(np.exp(log_partition(model))), 12)
    8.0
    """
    own = as_log_linear(model)
    return exact_inference(own, pinned=own.domain.assignment(context)).log_partition


def log_probability(model: ModelLike, rows: Any) -> FloatArray:
    """Compute log p(x) of each row.

    Parameters
    ----------
    model : LogLinear, path of a file, or name of an example
    rows : array, DataFrame, list of rows, or path of a file; see `Domain.encode`

    Returns
    -------
    array of float, one per row

    Raises
    ------
    TooLargeError
        If the treewidth is too large.

    Examples
    --------
    >>> from contextwise import LogLinear, Structure
    >>> model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), [np.log(5)])
    >>> np.exp(log_probability(model, [[0, 1], [1, 1]])).round(3).tolist()
    [0.125, 0.625]
    """
    return log_potential(model, rows) - log_partition(model)


def probabilities(model: ModelLike) -> FloatArray:
    """Compute the probability of every state, of at most 2**24.

    Parameters
    ----------
    model : LogLinear, path of a file, or name of an example

    Returns
    -------
    array of float with one axis per variable

    Raises
    ------
    TooLargeError
        If there are more states.

    Examples
    --------
    >>> from contextwise import LogLinear, Structure
    >>> model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), [np.log(5)])
    >>> probabilities(model).round(3).tolist()
    [[0.125, 0.125], [0.125, 0.625]]
    """
    own = as_log_linear(model)
    table = np.concatenate([block for (block,) in log_potential_blocks(own)])
    top = table.max()
    if top == -np.inf:
        raise DomainError("infinite weights exclude every state; use finite weights")
    np.exp(table - top, out=table)
    table /= table.sum()
    return table.reshape(own.domain.cardinalities)


def marginal(
    model: ModelLike, variables: str | Sequence[str], *, context: Assignment | None = None
) -> FloatArray:
    """Compute the distribution of some variables, optionally in a context.

    Parameters
    ----------
    model : LogLinear, path of a file, or name of an example
    variables : a name, or several
    context : partial assignment, optional
        The states of other variables; the marginal is conditional on them.

    Returns
    -------
    array of float with one axis per variable asked for, in this order

    Raises
    ------
    TooLargeError
        If the treewidth is too large.

    Examples
    --------
    >>> from contextwise import LogLinear, Structure
    >>> model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), [np.log(5)])
    >>> marginal(model, "A").round(3).tolist()
    [0.25, 0.75]
    >>> marginal(model, "A", context="B=1").round(3).tolist()
    [0.167, 0.833]
    """
    own = as_log_linear(model)
    names = [variables] if isinstance(variables, str) else list(variables)
    positions = [own.domain.position(name) for name in names]
    pinned = own.domain.assignment(context)
    for name, position in zip(names, positions, strict=True):
        if position in pinned or names.count(name) > 1:
            raise DomainError(f"{name!r} must appear once, and not in the context")
    return exact_inference(own, pinned=pinned, together=[positions]).marginal(positions)


def expectations(model: ModelLike, *, context: Assignment | None = None) -> FloatArray:
    """Compute the probability of each feature.

    Parameters
    ----------
    model : LogLinear, path of a file, or name of an example
    context : partial assignment, optional

    Returns
    -------
    array of float, one per feature

    Raises
    ------
    TooLargeError
        If the treewidth is too large.

    Examples
    --------
    >>> from contextwise import LogLinear, Structure
    >>> model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1", "A=1 & B=1"]), [0.0, np.log(5)])
    >>> expectations(model).round(3).tolist()
    [0.75, 0.625]
    """
    own = as_log_linear(model)
    return exact_inference(own, pinned=own.domain.assignment(context)).expectations()
