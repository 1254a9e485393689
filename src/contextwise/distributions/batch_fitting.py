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

from contextwise.distributions.inference import log_sum_exp, state_count, states
from contextwise.distributions.potentials import encode_rows, failures
from contextwise.errors import DomainError
from contextwise.models.domain import Domain
from contextwise.models.structure import LogLinear, Structure
from contextwise.support.arrays import BoolArray, FloatArray
from contextwise.support.progress import Progress, progress_of

STATES = 2**10
"""The largest state space for which Newton steps on all states pay."""

L2 = 0.1
"""The default penalty: ``L2 / 2`` times the sum of the squared weights is taken from the total
log-likelihood, a normal prior of variance 10 on each weight."""

Method = Literal["likelihood", "pseudo-likelihood"]


@dataclass(frozen=True, eq=False)
class BatchFit:
    """The fits of every structure to every target."""

    structures: tuple[Structure, ...]
    weights: tuple[FloatArray, ...]
    """One array per structure, of shape (targets, features of the structure)."""
    log_probabilities: FloatArray
    """Shape (structures, targets, states), states in the order of `states`."""
    converged: BoolArray
    """Shape (structures, targets)."""

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
    """Fit every structure, over one domain of at most `STATES` states, to every target.

    A target is a distribution over all states: `empirical` of data, or `probabilities` of a model
    (flat), for a fit to its exact expectations. ``sizes`` are the numbers of rows behind the
    targets: a penalty weighs less the more rows there are. Without them the targets are exact, and
    no penalty is applied. Converged means that a further Newton step would gain less than
    ``tolerance`` per row.

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
    if any(structure.domain != domain for structure in structures):
        raise DomainError("all structures must have the same domain")
    if wanted.shape[1:] != (count,):
        raise DomainError(f"each target must have {count} states, got shape {wanted.shape[1:]}")
    if (wanted < 0).any() or not np.allclose(wanted.sum(axis=1), 1):
        raise DomainError("each target must be nonnegative and sum to 1")
    # The penalty is divided by the rows, so infinitely many make it 0.
    rows = np.broadcast_to(np.asarray(np.inf if sizes is None else sizes, float), (len(wanted),))
    if (rows <= 0).any():
        raise DomainError("sizes must be > 0")
    ridge = l2 / rows
    objective = _pseudo_likelihood(domain) if method == "pseudo-likelihood" else _likelihood
    cells = states(domain)
    weights, tables, converged = [], [], []
    with progress_of(show_progress, "fitting structures") as progress:
        for done, structure in enumerate(structures):
            design = (failures(structure.features, cells)[1] == 0).T.astype(np.float64)
            basis, back = _basis(design)
            fits = [
                _newton(basis, target, price, objective, tolerance, max_iterations)
                for target, price in zip(wanted, ridge.tolist(), strict=True)
            ]
            weights.append(np.stack([back @ point for point, _ in fits]))
            potentials = [basis @ point for point, _ in fits]
            tables.append(np.stack([table - log_sum_exp(table) for table in potentials]))
            converged.append([ended for _, ended in fits])
            if progress:
                progress(done + 1, len(structures))
    return BatchFit(tuple(structures), tuple(weights), np.stack(tables), np.array(converged))


def _basis(design: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return coordinates of the weights: log-potentials = basis @ point, weights = back @ point."""
    if not design.shape[1]:
        return np.zeros((len(design), 0)), np.zeros((0, 0))
    left, scale, right = np.linalg.svd(design, full_matrices=False)
    # Smaller singular values are rounding: such directions of the weights change nothing.
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
            logs, shares = potentials[family], target[family]
            logs = logs - log_sum_exp(logs.T)[:, None]
            p = np.exp(logs)
            mass = shares.sum(axis=1, keepdims=True)
            value += float((shares * logs).sum())
            gradient[family] += shares - mass * p
            blocks = mass[..., None] * (p[:, :, None] * (np.eye(p.shape[1]) - p[:, None, :]))
            # Each state is in one context only, so no place is repeated, which += would add once.
            curvature[family[:, :, None], family[:, None, :]] += blocks
        return _Local(value, gradient, curvature)

    return objective


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
        # On the quadratic model, a full Newton step gains half of gradient · step.
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
