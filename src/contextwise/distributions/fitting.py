"""Weights from data: maximum pseudo-likelihood, and maximum likelihood where that is possible.

What is maximised, in total over the rows, is ::

    log-(pseudo-)likelihood  -  l1 · Σ |w|  -  l2/2 · Σ w²

with SciPy's optimisers, from weights of 0, with analytic gradients: truncated Newton for the
pseudo-likelihood, whose curvature in a direction costs no more than the gradient; L-BFGS-B for the
likelihood, and wherever there is an L1 penalty. Then each weight is the difference of two that are
not negative, and what is not needed ends at exactly 0.

**What cannot be identified.** Features are often redundant: the four of a full 2 × 2 table move
three things, and a feature that never holds in the data (or always) pulls its weight to infinity.
Along directions that leave the distribution as it is the gradient is 0, and the search, which
starts at 0, never moves; a penalty picks the smallest of all equally good weights. Where the best
weight is infinite, the L2 penalty makes it finite; without one, it grows until the gain falls below
the tolerance. The fitted distribution is what is determined; single weights of a redundant
structure are not.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from contextwise.distributions.batch import L2, Method
from contextwise.distributions.elimination import calibrate, plan
from contextwise.distributions.firing import FloatArray, distinct_rows, frequencies
from contextwise.distributions.inference import probabilities
from contextwise.distributions.pseudo import Conditionals
from contextwise.distributions.tables import states
from contextwise.errors import ContextwiseError, DomainError, require
from contextwise.execution.progress import Progress, progress_of
from contextwise.models.features import IntArray
from contextwise.models.structure import LogLinear, Model, structure_of

FLAT = 1e-8
"""Where no entry of the gradient is larger, a search that cannot go on is at its optimum."""

Objective = Callable[[FloatArray], tuple[float, FloatArray]]
"""The mean log-(pseudo-)likelihood at some weights, and its gradient."""


class ConvergenceWarning(UserWarning):
    """A fit ended before it was at its optimum."""


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """A fitted model, and how the fit went.

    Attributes
    ----------
    model : LogLinear
    method : "likelihood" or "pseudo-likelihood"
    converged : bool
    iterations : int
    message : what the optimiser said at the end
    value : the mean log-(pseudo-)likelihood of a row, without the penalties
    rows : the number of rows; 0 if the fit is to the exact expectations of a model
    unseen : the features that hold in no row
    """

    model: LogLinear
    method: Method
    converged: bool
    iterations: int
    message: str
    value: float
    rows: int
    unseen: IntArray

    def __repr__(self) -> str:
        state = "converged" if self.converged else f"NOT converged ({self.message})"
        return (
            f"Fit({len(self.model)} weights by {self.method}, {state} after {self.iterations} "
            f"iterations, {self.value:.6g} a row)"
        )


def fit(
    structure: Model,
    data: Any,
    *,
    method: Method = "pseudo-likelihood",
    l2: float | None = None,
    l1: float = 0.0,
    tolerance: float = 1e-4,
    max_iterations: int = 2000,
    show_progress: bool | Progress = False,
) -> Fit:
    """Fit the weights of a structure to data.

    Parameters
    ----------
    structure : Structure, or LogLinear whose weights are ignored
    data : rows (see `Domain.encode`), or a LogLinear
        A model stands for its exact distribution, as if there were infinitely many rows.
    method : "pseudo-likelihood" or "likelihood"
        The second needs exact inference, and is refused where that is too large.
    l2, l1 : float
        The penalties (see the head of this module). The default L2 is 0.1, a normal prior of
        variance 10 on each weight; for a model instead of rows, where a penalty would be taken
        from one row, it is 0.
    tolerance : float
        The smaller, the more precise. Newton's method ends when the mean step falls below it,
        L-BFGS-B when a step gains less than 1e-5 of it, relative to the value.

    Warns
    -----
    ConvergenceWarning
        If the optimiser gave up before.

    Examples
    --------
    >>> from contextwise.models.structure import Structure
    >>> structure = Structure({"A": 2, "B": 2}, ["A=1 & B=1"])
    >>> rows = [[0, 0], [0, 1], [1, 0], [1, 1], [1, 1], [1, 1]]
    >>> fit(structure, rows, method="likelihood", l2=1e-6)
    Fit(1 weights by likelihood, converged after ... iterations, -1.24245 a row)
    """
    own = structure_of(structure)
    rows, counts, total = _sample(own.domain, data)
    share = counts / counts.sum()
    seen = frequencies(own.features, rows, share)
    penalty = (L2 if total else 0.0) if l2 is None else l2
    for given in (penalty, l1):
        if not 0 <= given < np.inf:
            raise DomainError(f"a penalty is a finite number from 0 up, not {given}")
    if method == "likelihood":
        search = _Search(_likelihood(own, seen), seen * (1 - seen))
    elif method == "pseudo-likelihood":
        prepared = Conditionals.of(own.features, rows)
        tally = prepared.tally(share)
        search = _Search(
            partial(prepared.value_and_gradient, tally),
            prepared.scale(tally),
            partial(prepared.curvature_at, tally),
        )
    else:
        raise ContextwiseError(
            f"unknown method {method!r}; choose 'pseudo-likelihood' or 'likelihood'"
        )
    search = replace(search, l1=l1 / max(total, 1), l2=penalty / max(total, 1))
    with progress_of(show_progress, "fitting weights") as progress:
        found = search.run(tolerance, max_iterations, progress)
    converged = bool(found.success or np.abs(found.jac).max(initial=0) < FLAT)
    if not converged:
        warnings.warn(
            f"the fit has not converged after {found.nit} iterations: {found.message}; allow more "
            "with max_iterations= or a larger penalty",
            ConvergenceWarning,
            stacklevel=2,
        )
    weights = search.weights(found.x)
    return Fit(
        LogLinear(own, weights),
        method,
        converged,
        int(found.nit),
        str(found.message),
        search.objective(weights)[0],
        total,
        np.flatnonzero(seen == 0),
    )


def _sample(domain: Any, data: Any) -> tuple[IntArray, FloatArray, int]:
    """Distinct rows, what each weighs, and how many rows there are (0: a whole distribution)."""
    if isinstance(data, LogLinear):
        if data.domain != domain:
            raise DomainError("the structure and the model it is fitted to differ in their domain")
        share = probabilities(data).ravel()
        possible = share > 0
        return states(domain)[possible], share[possible], 0
    rows = domain.encode(data)
    if not len(rows):
        raise DomainError("there are no rows to fit to")
    distinct, counts = distinct_rows(rows)
    return distinct, counts.astype(np.float64), len(rows)


def _likelihood(structure: Any, seen: FloatArray) -> Objective:
    made = plan(structure)

    def objective(weights: FloatArray) -> tuple[float, FloatArray]:
        now = calibrate(made, weights)
        return float(weights @ seen) - now.log_partition, seen - now.expectations()

    return objective


@dataclass(frozen=True, eq=False)
class _Search:
    """A search on scaled weights; with an L1 penalty, on their positive and negative parts.

    A feature that holds in few rows has little curvature: dividing each weight by the root of its
    own curvature, the usual remedy, saves most of the iterations.

    Attributes
    ----------
    objective : what is maximised, a row
    scale : the curvature of each weight, roughly
    curvature_at : the negative Hessian of the objective at some weights, times a vector
    l1, l2 : the penalties, a row
    """

    objective: Objective
    scale: FloatArray
    curvature_at: Callable[[FloatArray], Callable[[FloatArray], FloatArray]] | None = None
    l1: float = 0.0
    l2: float = 0.0

    @cached_property
    def unit(self) -> FloatArray:
        """How large a weight is at a coordinate of 1."""
        unit: FloatArray = 1.0 / np.sqrt(self.scale + max(self.l2, 1e-6))
        return unit

    def weights(self, x: FloatArray) -> FloatArray:
        """The weights at a point of the search."""
        size = len(self.unit)
        return self.unit * (x[:size] - x[size:] if self.l1 else x)

    def loss(self, x: FloatArray) -> tuple[float, FloatArray]:
        """What is minimised, and its gradient."""
        weights = self.weights(x)
        value, gradient = self.objective(weights)
        slope = (self.l2 * weights - gradient) * self.unit
        loss = self.l2 / 2 * float(weights @ weights) - value
        if self.l1:
            price = self.l1 * np.tile(self.unit, 2)
            return loss + float(price @ x), np.concatenate([slope, -slope]) + price
        return loss, slope

    def run(self, tolerance: float, max_iterations: int, progress: Progress | None) -> Any:
        """SciPy's result."""
        optimize = require("scipy.optimize", "distributions")
        size = len(self.unit) * (2 if self.l1 else 1)
        if not size:  # SciPy knows no search without a variable
            nothing = np.zeros(0)
            return optimize.OptimizeResult(
                x=nothing, success=True, nit=0, jac=nothing, message="none"
            )
        done = 0

        def report(_: FloatArray) -> None:
            nonlocal done
            done += 1
            if progress:
                progress(done, max_iterations)

        start = np.zeros(size)
        if self.curvature_at is not None and not self.l1:
            return optimize.minimize(
                self.loss,
                start,
                jac=True,
                hessp=self._curvature(self.curvature_at),
                method="Newton-CG",
                callback=report,
                options={"maxiter": max_iterations, "xtol": tolerance},
            )
        return optimize.minimize(
            self.loss,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, None)] * size if self.l1 else None,
            callback=report,
            options={
                "maxiter": max_iterations,
                "maxfun": 4 * max_iterations,
                "maxcor": 20,
                "gtol": 1e-10,
                "ftol": 1e-5 * tolerance,
            },
        )

    def _curvature(
        self, curvature_at: Callable[[FloatArray], Callable[[FloatArray], FloatArray]]
    ) -> Callable[[FloatArray, FloatArray], FloatArray]:
        """The Hessian of the loss times a vector; SciPy asks many times at one point."""
        point, times = np.full(len(self.unit), np.nan), curvature_at(np.zeros(len(self.unit)))

        def product(x: FloatArray, direction: FloatArray) -> FloatArray:
            nonlocal point, times
            if not np.array_equal(x, point):
                point, times = x.copy(), curvature_at(self.weights(x))
            moved = self.unit * direction
            return self.unit * (times(moved) + self.l2 * moved)

        return product
