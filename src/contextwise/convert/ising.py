"""Convert Ising models: binary variables with a weight for each pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from contextwise.errors import DomainError
from contextwise.formats.matrices import ising
from contextwise.models.domain import Domain
from contextwise.models.factors import weighted
from contextwise.models.features import single_values
from contextwise.models.structure import LogLinear


def from_ising(
    weights: Any,
    thresholds: Any = None,
    *,
    names: Sequence[str] | None = None,
    values: tuple[int, int] = (0, 1),
) -> LogLinear:
    """Convert an Ising model, as IsingFit, mgm and bgms estimate it, to a log-linear model.

    The model is log p(x) = sum of thresholds[i] x[i] + sum over pairs of weights[i, j] x[i] x[j].
    Its claims are those of the graph of the weights that are not 0.

    Parameters
    ----------
    weights : square array or DataFrame
        Symmetric, with 0 on the diagonal. Of IsingFit this is ``weiadj``.
    thresholds : sequence of numbers, optional
        One for each variable; 0 if left out. They do not change the claims.
    names : sequence of str, optional
        By default the columns of a DataFrame, or ``X1``, ``X2``, …
    values : (0, 1) or (-1, 1)
        The values of the variables: (0, 1) in IsingFit and bgms.

    Examples
    --------
    >>> from_ising([[0, 0.5], [0.5, 0]], thresholds=[-1, 0], names=["sad", "tired"])
    LogLinear(2 variables, 2 features: -1 sad=1; 0.5 sad=1 & tired=1)
    """
    columns = getattr(weights, "columns", None)
    matrix = np.asarray(weights, dtype=np.float64)
    size = len(matrix)
    if matrix.shape != (size, size):
        raise DomainError(f"weights must be a square matrix, got the shape {matrix.shape}")
    if not np.isfinite(matrix).all() or np.diag(matrix).any():
        raise DomainError("weights must be finite, with 0 on the diagonal")
    if not np.allclose(matrix, matrix.T, rtol=1e-9, atol=0):
        raise DomainError("weights must be symmetric")
    single = np.zeros(size) if thresholds is None else np.asarray(thresholds, dtype=np.float64)
    if single.shape != (size,) or not np.isfinite(single).all():
        raise DomainError(f"thresholds must be {size} finite numbers")
    if tuple(values) not in ((0, 1), (-1, 1)):
        raise DomainError(f"values must be (0, 1) or (-1, 1), got {values!r}")
    if tuple(values) == (-1, 1):  # x = 2y - 1 with y in {0, 1}, up to a constant
        single = 2 * single - 2 * matrix.sum(axis=0)
        matrix = 4 * matrix
    if names is None:
        labels = range(1, size + 1) if columns is None else columns
        names = [str(name) if columns is not None else f"X{name}" for name in labels]
    if len(set(names)) != size or len(names) != size:
        raise DomainError(f"names must be {size} different names")
    domain = Domain({name: list(map(str, values)) for name in names})
    lengths, variables, numbers = ising(matrix, single)
    owners = np.repeat(np.arange(len(lengths)), lengths)
    ones = single_values(np.ones(len(variables), dtype=np.int64), 1)
    return weighted(domain, owners, variables, ones, numbers)
