"""Tables over a few variables: the factors of Markov and Bayesian networks, as features.

A **factor** gives one number to each assignment (cell) of its scope, and a distribution is the
product of its factors up to a constant. In a log-linear model each cell is a feature and the log of
its number is the weight: ``log_linear`` goes that way, ``factors_of`` comes back. A table over
variables with ``c`` states each has ``c`` to the number of variables cells, so whoever makes one
states its size first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log10, prod
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from contextwise.errors import ContextwiseError, TooLargeError
from contextwise.models.domain import Domain, listed
from contextwise.models.features import IntArray, WordArray, members, single_values, words_of
from contextwise.models.structure import LogLinear, Model, Structure

FloatArray = npt.NDArray[np.float64]
Scope = TypeVar("Scope", bound=Sequence[int])

LITERALS = 2**23
"""The most literals of all tables that are made at once: their cells times their variables."""

AXES = 30
"""The most variables of one table: NumPy's arrays have so many axes, with one or two to spare."""


@dataclass(frozen=True, eq=False)
class Factor:
    """A table of logs: ``logs`` has one axis per variable of ``scope``, in its order."""

    scope: tuple[int, ...]
    logs: FloatArray


def check_scopes(domain: Domain, scopes: Iterable[Scope], advice: str = "") -> list[Scope]:
    """The scopes, if tables over them can be held; too large a table, or too many, are an error.

    They are taken one by one, so a long list ends with the first that is too much.

    Parameters
    ----------
    domain : Domain
    scopes : positions of the variables of each table
    advice : what to do instead, for the message

    Returns
    -------
    list of the scopes

    Raises
    ------
    TooLargeError
    """
    taken: list[Scope] = []
    total = 0
    for scope in scopes:
        cells = prod(domain.cardinalities[v] for v in scope)
        total += cells * len(scope)
        taken.append(scope)
        if cells * len(scope) > LITERALS or len(scope) > AXES:
            names = listed((domain.names[v] for v in scope), 3)
            reason = f"a table over {names} has {readable(cells)} cells, which is too large"
        elif total > LITERALS:
            reason = f"the tables have over {LITERALS:,} literals, which is too many"
        else:
            continue
        raise TooLargeError(f"{reason}; {advice}" if advice else reason)
    return taken


def readable(size: int) -> str:
    """A size for a message: its digits, or how many it has.

    >>> readable(2**20), readable(2**100)
    ('1048576', 'about 10**30')
    """
    return str(size) if size < 10**12 else f"about 10**{int(log10(size))}"


def tables(
    domain: Domain, scopes: Iterable[Sequence[int]], *, info: Mapping[str, Any] | None = None
) -> Structure:
    """The structure with one feature for each cell of a table over each scope.

    Parameters
    ----------
    domain : Domain
    scopes : positions of the variables of each table
    info : where the structure comes from, optional

    Returns
    -------
    Structure

    Examples
    --------
    >>> tables(Domain({"A": 2, "B": 2, "C": 2}), [(0, 1)])
    Structure(3 variables, 4 features: A=0 & B=0; A=0 & B=1; A=1 & B=0; A=1 & B=1)
    """
    return Structure.from_literals(domain, *cells_of(domain, scopes), info=info)[0]


def log_linear(
    domain: Domain, factors: Sequence[Factor], *, info: Mapping[str, Any] | None = None
) -> LogLinear:
    """The product of factors as a log-linear model: each cell is a feature, and its log the weight.

    Parameters
    ----------
    domain : Domain
    factors : tables of logs
    info : where the model comes from, optional

    Returns
    -------
    LogLinear

    Examples
    --------
    >>> log_linear(Domain({"A": 2, "B": 2}), [Factor((0, 1), np.array([[0.0, 0.5], [1.0, 0.0]]))])
    LogLinear(2 variables, 4 features: 0 A=0 & B=0; 0.5 A=0 & B=1; 1 A=1 & B=0; 0 A=1 & B=1)
    """
    owners, variables, values, _ = cells_of(domain, [factor.scope for factor in factors])
    weights = np.concatenate([np.zeros(0), *(factor.logs.ravel() for factor in factors)])
    return weighted(domain, owners, variables, values, weights, info=info)


def weighted(
    domain: Domain,
    owners: npt.ArrayLike,
    variables: npt.ArrayLike,
    values: WordArray,
    weights: npt.ArrayLike,
    *,
    info: Mapping[str, Any] | None = None,
) -> LogLinear:
    """A log-linear model from arrays of literals; the weights of equal features add up.

    Parameters
    ----------
    domain : Domain
    owners, variables, values
        As in `contextwise.models.features.normalized`.
    weights : one for each raw feature
    info : where the model comes from, optional

    Returns
    -------
    LogLinear
    """
    given = np.asarray(weights, dtype=np.float64)
    structure, places = Structure.from_literals(
        domain, owners, variables, values, len(given), info=info
    )
    total = np.zeros(len(structure))
    alive = places >= 0
    with np.errstate(invalid="ignore"):
        np.add.at(total, places[alive], given[alive])
    return LogLinear(structure, total)


def factors_of(model: LogLinear, advice: str = "") -> list[Factor]:
    """One table for each scope of the model: the sum of the weights that hold in each cell.

    >>> model = LogLinear(Structure({"A": 3, "B": 2}, ["A!=0 & B=1", "A=2 & B=1"]), [0.5, 1.0])
    >>> [(factor.scope, factor.logs.tolist()) for factor in factors_of(model)]
    [((0, 1), [[0.0, 0.0], [0.0, 0.5], [0.0, 1.5]])]
    """
    domain = model.domain
    by_scope: dict[tuple[int, ...], list[tuple[list[list[int]], float]]] = {}
    for literals, weight in zip(
        model.structure.features.literals(), model.weights.tolist(), strict=True
    ):
        scope = tuple(variable for variable, _ in literals)
        allowed = [members(value_set) for _, value_set in literals]
        by_scope.setdefault(scope, []).append((allowed, weight))
    check_scopes(domain, by_scope, advice)
    factors = []
    for scope, entries in by_scope.items():
        logs = np.zeros([domain.cardinalities[v] for v in scope])
        for allowed, weight in entries:
            logs[np.ix_(*allowed)] += weight
        factors.append(Factor(scope, logs))
    return factors


def factors_to_write(model: Model, what: str) -> list[Factor]:
    """The tables of a model for something that holds numbers, such as ``"a .uai file"``."""
    if not isinstance(model, LogLinear):
        raise ContextwiseError(f"{what} holds numbers and this structure has no weights")
    return factors_of(model, f"{what} holds whole tables, a .mn or .json file features")


def numbers(factor: Factor, what: str) -> FloatArray:
    """The numbers of a table; what is too large or too small for one is an error."""
    with np.errstate(over="ignore", under="ignore"):
        values = np.exp(factor.logs)
    if not np.isfinite(values).all() or (values == 0)[factor.logs > -np.inf].any():
        raise ContextwiseError(
            f"a weight is too large or too small for {what}, which holds numbers and not their logs"
        )
    return np.asarray(values)


def cells_of(
    domain: Domain, scopes: Iterable[Sequence[int]]
) -> tuple[IntArray, IntArray, WordArray, int]:
    """All cells of tables over these scopes, as `Structure.from_literals` takes them.

    Returns the feature, the variable and the value set of each literal, and the number of cells.
    """
    words = words_of(domain.cardinalities)
    owners, variables, states = [], [], []
    count = 0
    for scope in check_scopes(domain, scopes):
        shape = [domain.cardinalities[v] for v in scope]
        cells = np.indices(shape).reshape(len(scope), prod(shape)).T
        owners.append(np.repeat(np.arange(count, count + len(cells)), len(scope)))
        variables.append(np.tile(np.array(scope, dtype=np.int64), len(cells)))
        states.append(cells.ravel())
        count += len(cells)
    empty = np.zeros(0, dtype=np.int64)
    values = single_values(np.concatenate([empty, *states]), words)
    return np.concatenate([empty, *owners]), np.concatenate([empty, *variables]), values, count
