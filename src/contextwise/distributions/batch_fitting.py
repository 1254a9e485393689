"""Fit many structures over one small domain to many distributions.

With few states, fitting is dense linear algebra on the log-potentials of all states. Let D be the
0/1 matrix (states × features). The penalised optimum has the form θ = Dᵀα, so the weights are
written in an orthogonal basis of the row space of D. That gives at most as many coordinates as
states, removes directions that leave the distribution unchanged, and selects the smallest optimal
weights. Newton's method with step halving then needs about ten steps.

Every structure and every distribution is fitted separately, so a result does not depend on the rest
of the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from contextwise.distributions.elimination import log_sum_exp
from contextwise.distributions.potentials import BoolArray, FloatArray, encode_rows, failures
from contextwise.distributions.tables import state_count, states
from contextwise.errors import DomainError
from contextwise.models.domain import Domain
from contextwise.models.structure import LogLinear, Structure
from contextwise.support.progress import Progress, progress_of

STATES = 2**10
"""The largest state space for which Newton steps on all states pay."""

L2 = 0.1
"""The default penalty: ``L2 / 2`` times the sum of the squared weights is taken from the total
log-likelihood, a normal prior of variance 10 on each weight."""

Method = Literal["likelihood", "pseudo-likelihood"]


@dataclass(frozen=True, eq=False)
class BatchFit:
    """The fits of every structure to every target.

    Attributes
    ----------
    structures : what was fitted
    weights : one array per structure, of shape (targets, features of the structure)
    log_probabilities : shape (structures, targets, states), states in the order of `states`
    converged : shape (structures, targets)

    Examples
    --------
    >>> structure = Structure({"A": 2}, ["A=1"])
    >>> fits = fit_many([structure], [[0.25, 0.75]])
    >>> fits.model(0, 0), bool(fits.converged.all())
    (LogLinear(1 variable, 1 feature: 1.09861 A=1), True)
    """

    structures: tuple[Structure, ...]
    weights: tuple[FloatArray, ...]
    log_probabilities: FloatArray
    converged: BoolArray

    def model(self, structure: int, target: int) -> LogLinear:
        """Return one of the fitted models."""
        return LogLinear(self.structures[structure], self.weights[structure][target])

    def kl_from(self, target: int | slice, truth: FloatArray) -> FloatArray:
        """Return KL(truth ‖ fitted) of each structure, for one target or several.

        ``truth`` is a distribution over all states, or one per target.
        """
        fitted = self.log_probabilities[:, target]
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(truth > 0, truth * (np.log(truth) - fitted), 0.0)
        divergence: FloatArray = terms.sum(axis=-1)
        return divergence


def empirical(domain: Domain, rows: Any) -> FloatArray:
    """Return the share of each state among the rows: a target for `fit_many`.

    Parameters
    ----------
    domain : Domain
    rows : array, DataFrame, list of rows, or path of a file; see `Domain.encode`

    Returns
    -------
    array of float, one per state, in the order of `states`

    Examples
    --------
    >>> empirical(Domain({"A": 2, "B": 2}), [[0, 1], [1, 1], [1, 1], [1, 0]]).tolist()
    [0.0, 0.25, 0.25, 0.5]
    """
    encoded = encode_rows(domain, rows)
    if not len(encoded):
        raise DomainError("cannot fit to 0 rows; pass at least one")
    count = state_count(domain)
    places = np.ravel_multi_index(tuple(encoded.T), domain.cardinalities)
    return np.bincount(places, minlength=count) / len(encoded)


def fit_many(
    structures: Sequence[Structure],
    targets: npt.ArrayLike,
    *,
    sizes: npt.ArrayLike | None = None,
    method: Method = "likelihood",
    l2: float = L2,
    tolerance: float = 1e-10,
    max_iterations: int = 200,
    show_progress: bool | Progress = False,
) -> BatchFit:
    """Fit every structure to every target distribution.

    Parameters
    ----------
    structures : over one domain, of at most 1,024 states
    targets : array of shape (targets, states)
        Distributions over all states: `empirical` of data, or `probabilities` of a model (flat),
        for a fit to its exact expectations.
    sizes : the number of rows behind each target, optional
        A penalty weighs less the more rows there are. Left out, the targets are exact, and no
        penalty is applied.
    method : "likelihood" or "pseudo-likelihood"
    l2 : float
        ``l2 / 2`` times the sum of squared weights is taken from the total log-likelihood.
    tolerance : float
        Converged means that a further Newton step would gain less than this per row.
    max_iterations : Newton steps, at most
    show_progress : bool or function of (structures fitted, total)

    Returns
    -------
    BatchFit

    Raises
    ------
    TooLargeError
        If there are more states.

    Examples
    --------
    >>> domain = Domain({"A": 2, "B": 2})
    >>> structures = [Structure(domain, ["A=1", "B=1"]), Structure(domain, ["A=1 & B=1"])]
    >>> target = empirical(domain, [[0, 1], [1, 1], [1, 1], [1, 0]])
    >>> fits = fit_many(structures, [target], sizes=[4], l2=1e-6)
    >>> np.exp(fits.log_probabilities[:, 0]).round(3).tolist()
    [[0.063, 0.188, 0.188, 0.562], [0.167, 0.167, 0.167, 0.5]]
    >>> fits.model(1, 0)
    LogLinear(2 variables, 1 feature: 1.09861 A=1 & B=1)
    """
    if not structures:
        raise DomainError("structures is empty; pass at least one")
    domain = structures[0].domain
    count = state_count(domain, STATES)
    wanted = np.atleast_2d(np.asarray(targets, dtype=np.float64))
    _check(structures, wanted, count)
    ridge = np.zeros(len(wanted)) if sizes is None else l2 / _sizes(sizes, len(wanted))
    objective = _pseudo_likelihood(domain) if method == "pseudo-likelihood" else _likelihood
    cells = states(domain)
    weights, tables, converged = [], [], []
    with progress_of(show_progress, "fitting structures") as progress:
        for done, structure in enumerate(structures):
            design = (failures(structure.features, cells).counts == 0).T.astype(np.float64)
            basis, back = _basis(design)
            found = [
                _newton(basis, target, own_ridge, objective, tolerance, max_iterations)
                for target, own_ridge in zip(wanted, ridge.tolist(), strict=True)
            ]
            weights.append(np.stack([back @ point for point, _ in found]))
            tables.append(np.stack([_log_distribution(basis @ point) for point, _ in found]))
            converged.append([ended for _, ended in found])
            if progress:
                progress(done + 1, len(structures))
    return BatchFit(tuple(structures), tuple(weights), np.stack(tables), np.array(converged))


def _check(structures: Sequence[Structure], targets: FloatArray, count: int) -> None:
    if any(structure.domain != structures[0].domain for structure in structures):
        raise DomainError("all structures must have the same domain")
    if targets.shape[1:] != (count,):
        raise DomainError(f"each target must have {count} states, got shape {targets.shape[1:]}")
    if (targets < 0).any() or not np.allclose(targets.sum(axis=1), 1):
        raise DomainError("each target must be nonnegative and sum to 1")


def _sizes(sizes: npt.ArrayLike, count: int) -> FloatArray:
    rows = np.broadcast_to(np.asarray(sizes, dtype=np.float64), (count,))
    if (rows <= 0).any():
        raise DomainError("sizes must be > 0")
    return rows


def _basis(design: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return coordinates of the weights: log-potentials = basis @ point, weights = back @ point."""
    if not design.shape[1]:
        return np.zeros((len(design), 0)), np.zeros((0, 0))
    left, scale, right = np.linalg.svd(design, full_matrices=False)
    rank = int((scale > scale[0] * 1e-10).sum())
    return left[:, :rank] * scale[:rank], np.ascontiguousarray(right[:rank].T)


class _Local(NamedTuple):
    """Value, gradient and negative Hessian of an objective at some log-potentials."""

    value: float
    gradient: FloatArray
    curvature: FloatArray


_Objective = Callable[[FloatArray, FloatArray], _Local]


def _likelihood(potentials: FloatArray, target: FloatArray) -> _Local:
    """Return the mean log-likelihood: Σ t(x) log p(x)."""
    log_z = float(log_sum_exp(potentials))
    p = np.exp(potentials - log_z)
    curvature = np.diag(p) - np.outer(p, p)
    return _Local(float(target @ potentials) - log_z, target - p, curvature)


def _pseudo_likelihood(domain: Domain) -> _Objective:
    """Return the mean pseudo-log-likelihood: Σ t(x) Σ_i log p(x_i | the others)."""
    cards = domain.cardinalities
    numbers = np.arange(state_count(domain)).reshape(cards)
    # for each variable, the states that differ in it alone: shape (contexts, its values)
    families = [np.moveaxis(numbers, v, -1).reshape(-1, card) for v, card in enumerate(cards)]

    def objective(potentials: FloatArray, target: FloatArray) -> _Local:
        value, gradient = 0.0, np.zeros_like(potentials)
        curvature = np.zeros((len(potentials), len(potentials)))
        for family in families:
            own, shares = potentials[family], target[family]
            totals = log_sum_exp(own.T)[:, None]
            p = np.exp(own - totals)
            mass = shares.sum(axis=1, keepdims=True)
            value += float((shares * (own - totals)).sum())
            gradient[family] += shares - mass * p
            blocks = mass[..., None] * (p[:, :, None] * (np.eye(p.shape[1]) - p[:, None, :]))
            curvature[family[:, :, None], family[:, None, :]] += blocks
        return _Local(value, gradient, curvature)

    return objective


def _log_distribution(potentials: FloatArray) -> FloatArray:
    return potentials - log_sum_exp(potentials)


def _newton(
    basis: FloatArray,
    target: FloatArray,
    ridge: float,
    objective: _Objective,
    tolerance: float,
    max_iterations: int,
) -> tuple[FloatArray, bool]:
    """Return the best point, and whether a further step would gain less than ``tolerance``."""
    point = np.zeros(basis.shape[1])
    # a direction without curvature has no gradient either; this keeps the system solvable
    floor = (ridge + 1e-12) * np.eye(len(point))

    def at(where: FloatArray) -> tuple[float, _Local]:
        local = objective(basis @ where, target)
        return local.value - ridge / 2 * float(where @ where), local

    value, local = at(point)
    for _ in range(max_iterations):
        gradient = basis.T @ local.gradient - ridge * point
        step = np.linalg.solve(basis.T @ local.curvature @ basis + floor, gradient)
        gain = float(gradient @ step)
        if gain / 2 < tolerance:
            return point, True
        length = 1.0
        while length > 1e-10:
            tried, tried_local = at(point + length * step)
            if tried >= value + 0.1 * length * gain:
                break
            length /= 2
        else:  # no step gains anything: as far as the arithmetic goes, this is the top
            return point, gain < 1e-6
        point, value, local = point + length * step, tried, tried_local
    return point, False
