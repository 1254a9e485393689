"""Goodness of fit: the number of free parameters, AIC, BIC and G².

Everything is by maximum likelihood without a penalty, as log-linear analysis defines it (R's
``loglm`` reports the same numbers).

**Dimension.** Features can be redundant: the four cells of a 2 × 2 table have three free
parameters. The dimension is the rank of the features and the constant as functions on the states,
minus one. The states are too many to list, but the rank is that of the matrix of inner products,
the shares of states in which two features hold together: a product over the variables.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, prod
from typing import Any

import numpy as np

from contextwise.data.rows import as_data, following
from contextwise.distributions.fitting import fit
from contextwise.distributions.potentials import allowed_values, distinct_rows
from contextwise.formats import ModelLike, as_model
from contextwise.models.structure import LogLinear, Structure, structure_of
from contextwise.support.effort import Progress

LARGEST = 5_000
"""The most features whose dimension is computed."""
ROUNDING = 1e-9
"""Part of a feature that the others do not explain, below which it is redundant."""
ROWS_PER_CELL = 5
"""With fewer rows per cell the chi-square distribution of G² is no good approximation."""


@dataclass(frozen=True, eq=False)
class GoodnessOfFit:
    """How well a structure fits rows, by maximum likelihood without a penalty.

    Attributes
    ----------
    structure : Structure
    rows : int
    cells : int
        Number of states of all variables together.
    log_likelihood : float
        The maximum, in total over the rows, in nats.
    parameters : int or None
        Number of free parameters: the dimension of the model. None if it is unknown, because the
        structure has more than 5,000 features or the model has weights of -inf; then AIC, BIC and
        degrees of freedom are None, too.
    g_squared : float
        Twice the difference to the log-likelihood of the saturated model.

    Examples
    --------
    >>> rows = [[0, 0]] * 30 + [[0, 1]] * 10 + [[1, 0]] * 10 + [[1, 1]] * 30
    >>> fit = goodness_of_fit(Structure({"A": 2, "B": 2}, ["A=1", "B=1"]), rows)
    >>> fit.parameters, fit.degrees_of_freedom, round(fit.g_squared, 2), round(fit.bic, 2)
    (2, 1, 20.93, 230.57)
    """

    structure: Structure
    rows: int
    cells: int
    log_likelihood: float
    parameters: int | None
    g_squared: float

    @property
    def aic(self) -> float | None:
        """-2 · log-likelihood + 2 · parameters."""
        return self._penalised(2.0)

    @property
    def bic(self) -> float | None:
        """-2 · log-likelihood + ln(rows) · parameters."""
        return self._penalised(log(self.rows))

    def _penalised(self, price: float) -> float | None:
        if self.parameters is None:
            return None
        return -2 * self.log_likelihood + price * self.parameters

    @property
    def degrees_of_freedom(self) -> int | None:
        """Cells - 1 - parameters. Cells without rows are not subtracted."""
        return None if self.parameters is None else self.cells - 1 - self.parameters

    @property
    def p_value(self) -> float | None:
        """Of G², by chi-square; None with fewer than 5 rows per cell, or if there is no test."""
        if not self.degrees_of_freedom or self.cells * ROWS_PER_CELL > self.rows:
            return None
        from scipy.special import chdtrc

        return float(chdtrc(self.degrees_of_freedom, self.g_squared))


def goodness_of_fit(
    model: ModelLike, rows: Any, *, show_progress: bool | Progress = False
) -> GoodnessOfFit:
    """Fit a structure to rows by maximum likelihood, and compute what log-linear analysis reports.

    Parameters
    ----------
    model : model, path of a model file, or name of a bundled example
        Finite weights are ignored.
    rows : frame, array, list of rows, or path of a data file
    show_progress : bool, or a function of (done, total)

    Returns
    -------
    GoodnessOfFit
        AIC, BIC, degrees of freedom, G² and its p-value.

    Raises
    ------
    TooLargeError
        If the treewidth is too large for exact inference.

    Examples
    --------
    Titanic without the interaction of sex and age, given class and survival:

    >>> from contextwise.learning import as_data
    >>> from contextwise.models.factors import tables
    >>> data = as_data("titanic")
    >>> structure = tables(data.domain, [(0, 1, 3), (0, 2, 3)])
    >>> fit = goodness_of_fit(structure, data)
    >>> fit.parameters, round(fit.bic, 2)
    (23, 10502.28)
    """
    loaded = as_model(model)
    structure = structure_of(loaded)
    data = as_data(rows, structure.domain, following(structure))
    total = len(data)
    fitted = fit(structure, data, method="likelihood", l2=0.0, show_progress=show_progress)
    _, counts = distinct_rows(data.rows, data.multiplicity)
    saturated = float(counts @ np.log(counts / total))
    log_likelihood = fitted.value * total
    hard = isinstance(loaded, LogLinear) and not np.isfinite(loaded.weights).all()
    return GoodnessOfFit(
        structure=structure,
        rows=total,
        cells=prod(structure.domain.cardinalities),
        log_likelihood=log_likelihood,
        parameters=None if hard else dimension(structure),
        g_squared=max(0.0, 2 * (saturated - log_likelihood)),
    )


def dimension(structure: Structure) -> int | None:
    """Return the number of free parameters of a structure, or None above 5,000 features.

    >>> dimension(Structure({"A": 2, "B": 2}, ["A=0 & B=0", "A=0 & B=1", "A=1 & B=0", "A=1 & B=1"]))
    3
    """
    if len(structure) > LARGEST:
        return None
    from scipy.linalg.lapack import dpstrf

    features = structure.features
    allowed = allowed_values(features)
    together = np.ones((len(features) + 1, len(features) + 1))  # the last one is the constant
    for variable in np.unique(features.variables).tolist():
        literals = np.flatnonzero(features.variables == variable)
        owners, states = features.owners[literals], structure.domain.cardinalities[variable]
        holds = allowed[literals, :states].astype(np.float64)
        alone = holds.mean(axis=1)
        together[owners] *= alone[:, None]
        together[:, owners] *= alone
        both = holds @ holds.T / states
        together[np.ix_(owners, owners)] *= both / alone / alone[:, None]
    norms = np.sqrt(together.diagonal())
    # A Cholesky factorization with pivots ends where the rest is explained.
    *_, rank, _ = dpstrf(together / norms / norms[:, None], tol=ROUNDING)
    return int(rank) - 1
