"""Fit weights to data by penalised pseudo-likelihood or likelihood.

The objective, in total over the rows, is ::

    - log-(pseudo-)likelihood  +  l1 · Σ |w|  +  l2/2 · Σ w²

The search starts at weights of 0. For the pseudo-likelihood it takes the steps of
`proximal_newton`, where a weight that is not worth its price ends at exactly 0. For the likelihood,
whose curvature is out of reach, it is SciPy's L-BFGS-B, without an L1 penalty. The result states
its *gap*: a bound on the distance from the optimum.

**Redundant features.** The four features of a 2 × 2 table have three degrees of freedom, and a
feature that never (or always) holds in the data pulls its weight to infinity. Along directions that
do not change the distribution the gradient is 0, and the search, which starts at 0, does not move.
A penalty selects the smallest of equally good weights and keeps all weights finite. Without one, a
weight grows until the gain falls below the tolerance. The fitted distribution is unique; the
weights of a redundant structure are not.

**Goodness of fit** is by maximum likelihood without a penalty, as log-linear analysis defines it
(R's ``loglm`` reports the same numbers). The dimension of a model, its number of free parameters,
is the rank of the features and the constant as functions on the states, minus one. The states are
too many to list, but the rank is that of the matrix of inner products, the shares of states in
which two features hold together: a product over the variables.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from math import log, prod
from typing import Any, Literal

import numpy as np

from contextwise.data.rows import as_data, following
from contextwise.distributions.conditionals import Conditionals
from contextwise.distributions.inference import calibrate, plan, probabilities, states
from contextwise.distributions.potentials import allowed_values, distinct_rows, frequencies
from contextwise.distributions.proximal_newton import (
    FLOOR,
    Optimum,
    Penalty,
    minimise,
    relative_gap,
)
from contextwise.errors import ContextwiseError, DomainError
from contextwise.formats import ModelLike, as_model, as_structure
from contextwise.models.structure import LogLinear, Structure, require_features, structure_of
from contextwise.support.arrays import FloatArray, IntArray
from contextwise.support.effort import NEVER, Deadline, Progress, progress_of
from contextwise.support.formatting import plural
from contextwise.support.machine import one_thread

Method = Literal["likelihood", "pseudo-likelihood"]
L2 = 0.1
"""The default penalty: a normal prior of variance 10 on each weight."""
TOLERANCE = 1e-6
"""Default largest gap."""


class ConvergenceWarning(UserWarning):
    """A fit that ended before its optimum."""


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """A fitted model and how the fit went.

    Attributes
    ----------
    model : LogLinear
        After a fit with an L1 penalty it has only the features whose weight is not 0.
    weights : array of float
        One per feature of the structure that was fitted, zeros included.
    method : "likelihood" or "pseudo-likelihood"
    converged : bool
        Whether the gap is as small as was asked for.
    iterations : int
    objective : float
        What was minimised: the loss in total over the rows, and the penalties.
    gap : float
        The objective is at most this part of itself above the optimum. Infinite where there is no
        penalty, and so no bound.
    value : the mean log-(pseudo-)likelihood of a row, without the penalties
    rows : the number of rows; 0 if the fit is to the exact expectations of a model
    unseen : the features that hold in no row

    Examples
    --------
    >>> from contextwise.distributions import sample
    >>> fitted = fit("lung", sample("lung", 500, seed=1), l1=1.0, l2=0.0)
    >>> fitted.converged, fitted.gap < 1e-6, fitted.rows
    (True, True, 500)
    """

    model: LogLinear
    weights: FloatArray
    method: Method
    converged: bool
    iterations: int
    objective: float
    gap: float
    value: float
    rows: int
    unseen: IntArray

    def __repr__(self) -> str:
        state = "converged" if self.converged else "NOT converged"
        gap = f", gap {self.gap:.1e}" if np.isfinite(self.gap) else ""
        return (
            f"Fit({len(self.model)} weights by {self.method}, {state} after {self.iterations} "
            f"iterations{gap}, {self.value:.6g} per row)"
        )


def fit(
    structure: ModelLike,
    data: Any,
    *,
    method: Method = "pseudo-likelihood",
    l2: float | None = None,
    l1: float = 0.0,
    tolerance: float = TOLERANCE,
    max_iterations: int = 2000,
    deadline: Deadline = NEVER,
    show_progress: bool | Progress = False,
) -> Fit:
    """Fit the weights of a structure to data.

    Parameters
    ----------
    structure : Structure, path of a file, or name of an example
        Weights that it has are ignored.
    data : rows (see `Domain.encode`), the path of a data file, or a LogLinear
        A model means its exact distribution, with the weight of one row.
    method : "pseudo-likelihood" or "likelihood"
        The second needs exact inference, and is refused where that is too large.
    l2 : float, optional
        The price of half the sum of the squared weights; 1 / sd² for a normal prior of standard
        deviation sd. By default 0.1 (0 if the data are a model).
    l1 : float
        The price of the sum of the sizes of the weights, by pseudo-likelihood only. Features whose
        weight ends at exactly 0 are left out of the fitted model.
    tolerance : float
        The largest gap to the optimum, as a part of the objective. By likelihood a search ends when
        a step gains less than 1e-3 of it.
    max_iterations : int
        Largest number of steps.
    deadline : Deadline
        After it, the fit raises `OutOfTime`.
    show_progress : bool, or a function of (done, total)
        In percent of the gap, or, by likelihood, in steps.

    Warns
    -----
    ConvergenceWarning
        If the search ended before it was at its optimum.

    Examples
    --------
    >>> from contextwise.models.structure import Structure
    >>> structure = Structure({"A": 2, "B": 2}, ["A=1 & B=1", "A=1"])
    >>> rows = [[0, 0], [0, 1], [1, 0], [1, 1], [1, 1], [1, 1]]
    >>> fit(structure, rows, method="likelihood", l2=1e-6)
    Fit(2 weights by likelihood, converged after ... iterations, gap ..., -1.24245 per row)
    >>> fit(structure, rows, l1=0.5, l2=0).model.weights.round(3)
    array([0.788])
    """
    structure = require_features(as_structure(structure), "fitting")
    rows, counts, total = _sample(structure, data)
    ridge = (L2 if total else 0.0) if l2 is None else l2
    check_penalties(ridge, l1)
    if not tolerance > 0:
        raise DomainError(f"tolerance must be > 0, got {tolerance}")
    if method not in ("pseudo-likelihood", "likelihood"):
        raise ContextwiseError(
            f"unknown method {method!r}; choose 'pseudo-likelihood' or 'likelihood'"
        )
    if l1 and method == "likelihood":
        raise ContextwiseError("an L1 penalty needs the method 'pseudo-likelihood', or use l2")
    penalty = Penalty.l1(l1, len(structure), ridge)
    deadline.check()
    with progress_of(show_progress, "fitting weights") as progress:
        search: dict[str, Any] = {"tolerance": tolerance, "max_iterations": max_iterations}
        search["deadline"] = deadline
        if method == "likelihood":
            loss = _Likelihood(structure, rows, counts)
            best = _by_likelihood(loss, penalty, progress=progress, **search)
        else:
            import scipy.linalg  # noqa: F401 (so that its threads are limited, too)

            losses = Conditionals.of(structure.features, rows).loss(counts)
            with one_thread():
                best = minimise(losses, penalty, progress=progress, **search)
    if not best.converged:
        deadline.check()
        warnings.warn(
            f"the fit has not converged after {plural(best.iterations, 'iteration')}; allow more "
            "of them, or a larger penalty",
            ConvergenceWarning,
            stacklevel=2,
        )
    model = LogLinear(structure, best.weights)
    return Fit(
        model.without_zero_weights() if l1 else model,
        model.weights,
        method,
        best.converged,
        best.iterations,
        best.objective,
        best.gap,
        -best.loss / float(counts.sum()),
        total,
        np.flatnonzero(frequencies(structure.features, rows, counts) == 0),
    )


def check_penalties(*penalties: float) -> None:
    """Raise `DomainError` unless each penalty is finite and >= 0."""
    for penalty in penalties:
        if not 0 <= penalty < np.inf:
            raise DomainError(f"penalties must be finite and >= 0, got {penalty}")


def _sample(structure: Structure, data: Any) -> tuple[IntArray, FloatArray, int]:
    """Return distinct rows, their weights, and the number of rows (0 for a whole distribution)."""
    domain = structure.domain
    if isinstance(data, LogLinear):
        if data.domain != domain:
            raise DomainError("the structure and the model to fit to must have the same domain")
        share = probabilities(data).ravel()
        possible = share > 0
        return states(domain)[possible], share[possible], 0
    rows = as_data(data, domain, following(structure))
    if not len(rows):
        raise DomainError("cannot fit to 0 rows; pass at least one")
    distinct, counts = distinct_rows(rows.rows, rows.multiplicity)
    return distinct, counts.astype(np.float64), len(rows)


class _Likelihood:
    """Minus the total log-likelihood of rows."""

    def __init__(self, structure: Structure, rows: IntArray, counts: FloatArray) -> None:
        self.total = float(counts.sum())
        self.seen = frequencies(structure.features, rows, counts)
        self.entropy_of_rows = float(-counts @ np.log(counts / self.total))
        self._plan = plan(structure)

    def at(self, weights: FloatArray) -> tuple[float, FloatArray, float]:
        """Return the loss, its gradient, and the entropy of the model times the number of rows."""
        calibrated = calibrate(self._plan, weights)
        expected = self.total * calibrated.expectations()
        log_z = self.total * calibrated.log_partition
        loss = log_z - float(weights @ self.seen)
        # The entropy of a log-linear model is log Z - Σ w E[f].
        return loss, expected - self.seen, log_z - float(weights @ expected)


def _by_likelihood(
    loss: _Likelihood,
    penalty: Penalty,
    *,
    tolerance: float,
    max_iterations: int,
    deadline: Deadline,
    progress: Progress | None,
) -> Optimum:
    """Minimise by L-BFGS-B until the gap is small enough or nothing is gained any more.

    The search works on weights scaled by the root of their curvature.
    """
    from scipy import optimize

    total, ridge = loss.total, penalty.ridge
    # Where expected counts equal the seen ones, this is the variance of each count.
    curvature = loss.seen * (1 - loss.seen / total)
    unit = 1.0 / np.sqrt(curvature + max(ridge, 1e-6 * total))  # the weight at a coordinate of 1
    weights = np.zeros(len(loss.seen))
    floor = FLOOR * loss.at(weights)[0]
    objective, iterations = np.inf, 0

    def scaled(x: FloatArray) -> tuple[float, FloatArray]:
        deadline.check()
        tried = unit * x
        value, gradient, _ = loss.at(tried)
        return (value + penalty.value(tried)) / total, unit * (gradient + ridge * tried) / total

    def report(_: FloatArray) -> None:
        nonlocal iterations
        iterations += 1
        if progress:
            progress(min(iterations, max_iterations), max_iterations)

    while True:
        value, gradient, entropy = loss.at(weights)
        before, objective = objective, value + penalty.value(weights)
        # the entropy of a mixture is at least the mixed entropies
        mixed = partial(np.interp, xp=(0.0, 1.0), fp=(loss.entropy_of_rows, entropy))
        gap = relative_gap(objective, penalty.lower_bound(weights, gradient, mixed), floor)
        steep = np.abs(gradient + ridge * weights).max(initial=0) >= 1e-8 * total
        converged = gap <= tolerance or not steep
        # A whole search gained no more than rounding.
        stuck = objective >= before * (1 - 1e-15)
        if not np.isfinite(gap) and objective >= before * (1 - 1e-4 * tolerance):
            converged = True  # without a penalty there is no bound; a whole search gained nothing
        if converged or stuck or iterations >= max_iterations:
            return Optimum(weights, objective, value, gap, iterations, bool(converged))
        most = max_iterations - iterations
        result = optimize.minimize(  # type: ignore[call-overload]  # "ftol" as a float
            scaled,
            weights / unit,
            jac=True,
            method="L-BFGS-B",
            callback=report,
            options={
                "maxiter": most,
                "maxfun": 4 * most,
                "maxcor": 20,
                "gtol": 1e-12,
                "ftol": 1e-4 * tolerance,
            },
        )
        weights = unit * result.x


# -- goodness of fit -------------------------------------------------------------------------------

MOST_FEATURES = 5_000
"""The most features whose dimension is computed."""
REDUNDANT_PART = 1e-9
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
    if len(structure) > MOST_FEATURES:
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
    *_, rank, _ = dpstrf(together / norms / norms[:, None], tol=REDUNDANT_PART)
    return int(rank) - 1
