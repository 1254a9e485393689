"""Minimise a penalised convex loss by proximal Newton steps, up to a stated duality gap.

The objective is a smooth convex loss plus penalties on groups of weights ::

    loss(w)  +  Σ_groups price · |w_group|₂  +  ridge/2 · Σ w²

With one weight per group this is the L1 penalty. Each step replaces the loss by its quadratic
model, minimises model and penalties by coordinate descent (see `descent`), and moves there, or part
of the way if the loss differs from the model. Only features that are nonzero or whose gradient is
near their price take part. Without prices the step solves a linear system by conjugate gradients.

The search ends when the *gap* between the objective and a lower bound of the optimum (the dual
value, see `logistic`) is a small part of the objective. Without a penalty this bound does not
exist; the search then ends when one more step would gain too little.

Lee, Sun and Saunders (2014), "Proximal Newton-type methods for minimizing composite functions",
has the theory; Friedman, Hastie and Tibshirani (2010), "Regularization paths for generalized linear
models via coordinate descent", the practice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any, NamedTuple

import numpy as np

from contextwise.distributions.descent import descend
from contextwise.distributions.logistic import LogisticLoss, LossAt
from contextwise.distributions.potentials import BoolArray, FloatArray
from contextwise.errors import require
from contextwise.models.features import IntArray
from contextwise.support.progress import Progress

PASSES = 1000
"""Largest number of passes of coordinate descent per step."""

PRECISION = 0.02
"""A step ends when the violation in its model is this part of the violation before it."""

NOISE = 1e-13
"""An objective is known up to this part of it. The gap falls with the distance from the optimum and
the objective with its square: the last steps gain what the arithmetic cannot see."""

IDLE = 10
"""Number of consecutive steps without a visible gain after which a search ends."""

FEWEST = 20
"""Smallest number of new features that a step admits, if there are as many."""

REACH = 10.0
"""In one step a weight w moves by at most about this many times 1 + |w|."""

FLOOR = 1e-3
"""A gap is a part of the objective, or of this part of the loss without weights if that is more:
where the best weights are infinite, the loss goes to 0, and the search has to end."""

LARGEST = 2.0
"""An unpenalised weight is taken to be at most this many times what it is, plus one."""


@dataclass(frozen=True, eq=False)
class Penalty:
    """Penalties on groups of neighbouring weights, and a ridge on all weights."""

    prices: FloatArray
    starts: IntArray
    ridge: float = 0.0

    @classmethod
    def l1(cls, price: float, size: int, ridge: float = 0.0) -> Penalty:
        """Penalise each weight alike."""
        return cls(np.full(size, float(price)), np.arange(size + 1), ridge)

    @property
    def single(self) -> bool:
        """True if every group is one weight."""
        return len(self.prices) == int(self.starts[-1])

    @cached_property
    def groups(self) -> IntArray:
        """The group of each weight."""
        return np.repeat(np.arange(len(self.prices)), np.diff(self.starts))

    def norms(self, of_weights: FloatArray) -> FloatArray:
        """Return the norm of each group."""
        if self.single:
            return np.abs(of_weights)
        return np.sqrt(np.bincount(self.groups, of_weights**2, minlength=len(self.prices)))

    def price(self, weights: FloatArray) -> float:
        """Return the penalty without the ridge."""
        return float(self.prices @ self.norms(weights))

    def value(self, weights: FloatArray) -> float:
        """Return the whole penalty."""
        return self.price(weights) + self.ridge / 2 * float(weights @ weights)

    def slope(self, weights: FloatArray, gradient: FloatArray) -> FloatArray:
        """Return the shortest subgradient; ``gradient`` is that of loss and ridge."""
        sizes = self.norms(weights)[self.groups]
        prices = self.prices[self.groups]
        pulls = self.norms(gradient)[self.groups]
        with np.errstate(invalid="ignore", divide="ignore"):
            inside = gradient + prices * np.where(sizes > 0, weights / sizes, 0.0)
            at_zero = gradient * np.maximum(0.0, 1.0 - np.where(pulls > 0, prices / pulls, 1.0))
        return np.where(sizes > 0, inside, at_zero)

    def lower_bound(
        self, weights: FloatArray, gradient: FloatArray, entropy: Callable[[float], float]
    ) -> float:
        """Return a lower bound of the objective; ``-inf`` without a penalty."""
        paid = self.prices > 0
        if not self.ridge and not paid.any() and len(weights):
            return -np.inf
        pulls = self.norms(gradient)
        with np.errstate(divide="ignore"):
            share = float(np.min(self.prices[paid] / pulls[paid], initial=1.0))
        if self.ridge:
            return max(entropy(s) - self._excess(s * pulls) for s in {1.0, share})
        reach = LARGEST * self.norms(weights)[~paid] + 1.0
        return entropy(share) - share * float(pulls[~paid] @ reach)

    def _excess(self, pulls: FloatArray) -> float:
        """Return the dual cost of pulls beyond the penalties."""
        beyond = np.maximum(pulls - self.prices, 0.0)
        return float(beyond @ beyond) / (2 * self.ridge)


class Optimum(NamedTuple):
    """The end of a search."""

    weights: FloatArray
    objective: float
    loss: float
    gap: float
    iterations: int
    converged: bool


def minimise(
    loss: LogisticLoss,
    penalty: Penalty,
    *,
    start: FloatArray | None = None,
    tolerance: float = 1e-4,
    max_iterations: int = 200,
    progress: Progress | None = None,
) -> Optimum:
    """Minimise a loss plus penalties."""
    weights = np.zeros(loss.size) if start is None else np.array(start, dtype=np.float64)
    now = loss.at(weights)
    objective = now.value + penalty.value(weights)
    null = loss.at(np.zeros(loss.size)).value
    idle = 0
    for done in range(max_iterations + 1):
        gradient = now.gradient + penalty.ridge * weights
        slope = penalty.slope(weights, gradient)
        bound = penalty.lower_bound(weights, now.gradient, now.entropy)
        gap = relative_gap(objective, bound, FLOOR * null)
        converged = gap <= tolerance or not slope.any()
        if converged or done == max_iterations:
            break
        step = _step(now, penalty, weights, gradient, slope)
        gain = penalty.price(weights) - penalty.price(weights + step) - float(gradient @ step)
        if bound == -np.inf and gain <= tolerance**2 * null:
            converged = True
            break
        found = _search(loss, penalty, weights, step, objective, gain)
        idle = 0 if found is not None and found[2] < objective else idle + 1
        if found is None or idle == IDLE:  # as far as the arithmetic goes, nothing is better
            converged = bound == -np.inf and gain <= 1e-8 * objective
            break
        weights, now, objective = found
        if progress:
            progress(_percent(gap, tolerance), 100)
    return Optimum(weights, objective, now.value, gap, done, converged)


def _percent(gap: float, tolerance: float) -> int:
    """Return how far a gap has come from 1 to the tolerance, on a logarithmic scale."""
    if not tolerance < gap < 1:
        return 0
    return int(100 * log(gap) / log(tolerance))


def relative_gap(objective: float, bound: float, least: float) -> float:
    """Return how far an objective is above a lower bound, relative to the objective."""
    difference = max(objective - bound, 0.0)
    return difference / max(objective, least) if objective > 0 else 0.0


def _search(
    loss: LogisticLoss,
    penalty: Penalty,
    weights: FloatArray,
    step: FloatArray,
    objective: float,
    gain: float,
) -> tuple[FloatArray, LossAt, float] | None:
    """Return the first point with enough gain on the way back from the end of a step."""
    length = 1.0
    while length > 1e-9:
        tried = weights + length * step
        there = loss.at(tried)
        value = there.value + penalty.value(tried)
        if value <= objective - 1e-3 * length * gain + NOISE * abs(objective):
            return tried, there, value
        length /= 2
    return None


def _step(
    now: LossAt,
    penalty: Penalty,
    weights: FloatArray,
    gradient: FloatArray,
    slope: FloatArray,
) -> FloatArray:
    """Return the step to the minimum of the quadratic model with the penalties."""
    groups = _working(penalty, weights, gradient, slope)
    chosen = np.flatnonzero(groups[penalty.groups])
    model = now.curvature(chosen)
    model = model + _diagonal(penalty.ridge + _lacking(model, weights[chosen], slope[chosen]))
    step = np.zeros_like(weights)
    if not penalty.prices.any():
        step[chosen] = _conjugate_gradients(model, -gradient[chosen])
        return step
    starts = np.concatenate([[0], np.cumsum(np.diff(penalty.starts)[groups])])
    found = descend(
        model.tocsr(),
        weights[chosen],
        gradient[chosen],
        starts=starts,
        prices=penalty.prices[groups],
        passes=PASSES,
        tolerance=PRECISION * float(penalty.norms(slope).max()),
    )
    step[chosen] = found - weights[chosen]
    return step


def _lacking(model: Any, weights: FloatArray, slope: FloatArray) -> FloatArray:
    """Return the curvature to add so that no single weight overshoots."""
    least = np.abs(slope) / (REACH * (1.0 + np.abs(weights)))
    lacking: FloatArray = np.maximum(least - model.diagonal(), 0.0)
    return lacking


def _working(
    penalty: Penalty, weights: FloatArray, gradient: FloatArray, slope: FloatArray
) -> BoolArray:
    """Return the groups that take part: nonzero ones, and those nearest to becoming nonzero."""
    alive: BoolArray = (penalty.norms(weights) > 0) | (penalty.prices == 0)
    excess = penalty.norms(gradient) - penalty.prices
    coming: BoolArray = ~alive & (excess > -0.5 * float(penalty.norms(slope).max()))
    most = max(FEWEST, int(alive.sum()))
    if coming.sum() > most:
        coming &= excess >= np.partition(excess[coming], -most)[-most]
    return alive | coming


def _conjugate_gradients(matrix: Any, right: FloatArray) -> FloatArray:
    """Solve a linear system; do not move along directions without curvature."""
    solver = require("scipy.sparse.linalg", "distributions")
    scale = np.sqrt(np.maximum(matrix.diagonal(), 1e-12))
    solution, _ = solver.cg(matrix, right, rtol=1e-3, maxiter=PASSES, M=_diagonal(1.0 / scale**2))
    return np.asarray(solution)


def _diagonal(values: FloatArray) -> Any:
    return require("scipy.sparse", "distributions").diags_array(values)
