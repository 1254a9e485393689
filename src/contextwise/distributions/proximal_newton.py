"""Penalised optima that are known to be optimal: proximal Newton steps with a duality gap.

What is minimised is a smooth convex loss plus penalties on groups of weights ::

    loss(w)  +  Σ_groups price · |w_group|₂  +  ridge/2 · Σ w²

with one weight per group this is the L1 penalty. Each step replaces the loss by its quadratic model
at the present weights, finds the minimum of that model and the penalties by coordinate descent (see
`descent`), and goes there, or part of the way if the loss is not what the model said. Only features
that have a weight, or whose gradient comes near their price, take part in a step. Without a price
the minimum of the model is a linear system, solved by conjugate gradients.

The search ends when the *gap* between the objective and a lower bound of the optimum (the dual
value, see `logistic`) is a small part of the objective. So the answer states how far it can be from
the best one. Without any penalty there is no such bound; then what counts is what one more step is
expected to gain.

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
"""At most so many passes of coordinate descent per step."""

PRECISION = 0.02
"""A step ends when the violation in its model is this part of the violation before it."""

NOISE = 1e-13
"""An objective is known up to this part of it. The gap falls with the distance from the optimum and
the objective with its square: the last steps gain what the arithmetic cannot see."""

IDLE = 10
"""After so many steps in turn without a gain that can be seen, a search ends."""

FEWEST = 20
"""A step takes in at least so many new features if they want to come in."""

REACH = 10.0
"""In one step a weight w moves by at most about this many times 1 + |w|."""

FLOOR = 1e-3
"""A gap is a part of the objective, or of this part of the loss without weights if that is more:
where the best weights are infinite, the loss goes to 0, and the search has to end."""

LARGEST = 2.0
"""An unpenalised weight is taken to be at most this many times what it is, plus one."""


@dataclass(frozen=True, eq=False)
class Penalty:
    """Prices of groups of neighbouring weights, and a ridge on all weights.

    Attributes
    ----------
    prices : one per group, 0 or more
    starts : where each group begins, and at the end the number of weights
    ridge : 0 or more
    """

    prices: FloatArray
    starts: IntArray
    ridge: float = 0.0

    @classmethod
    def l1(cls, price: float, size: int, ridge: float = 0.0) -> Penalty:
        """The same price on each weight.

        Parameters
        ----------
        price : of a weight of 1
        size : how many weights
        ridge : as in `Penalty`
        """
        return cls(np.full(size, float(price)), np.arange(size + 1), ridge)

    @property
    def single(self) -> bool:
        """Whether every group is one weight."""
        return len(self.prices) == int(self.starts[-1])

    @cached_property
    def groups(self) -> IntArray:
        """The group of each weight."""
        return np.repeat(np.arange(len(self.prices)), np.diff(self.starts))

    def norms(self, of_weights: FloatArray) -> FloatArray:
        """The norm of each group."""
        if self.single:
            return np.abs(of_weights)
        return np.sqrt(np.bincount(self.groups, of_weights**2, minlength=len(self.prices)))

    def price(self, weights: FloatArray) -> float:
        """What the weights cost, without the ridge."""
        return float(self.prices @ self.norms(weights))

    def value(self, weights: FloatArray) -> float:
        """What the weights cost."""
        return self.price(weights) + self.ridge / 2 * float(weights @ weights)

    def slope(self, weights: FloatArray, gradient: FloatArray) -> FloatArray:
        """The shortest subgradient of the whole; ``gradient`` is that of loss and ridge."""
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
        """A number that no objective falls below; ``-inf`` if there is no penalty.

        Parameters
        ----------
        weights : where the bound is taken
        gradient : of the loss there
        entropy : of the mixture with a given share of the fitted probabilities; see `logistic`
        """
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
        """What the dual pays for pulls beyond the prices."""
        beyond = np.maximum(pulls - self.prices, 0.0)
        return float(beyond @ beyond) / (2 * self.ridge)


class Optimum(NamedTuple):
    """Where a search ended.

    Attributes
    ----------
    weights : the best weights found
    objective : loss and penalties there
    loss : the loss alone
    gap : how far the objective is above a lower bound of the optimum, as a part of the objective
    iterations : Newton steps
    converged : whether the gap is as small as was asked for
    """

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
    """The weights at which loss and penalties are smallest.

    Parameters
    ----------
    loss : what is fitted
    penalty : what weights cost
    start : weights to begin with, by default 0
    tolerance : the largest gap, as a part of the objective
    max_iterations : Newton steps, at most
    progress : called after each step with how far the gap has come, in percent, and 100

    Returns
    -------
    Optimum
    """
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
    """How far a gap has come from 1 to the tolerance, on a logarithmic scale."""
    if not tolerance < gap < 1:
        return 0
    return int(100 * log(gap) / log(tolerance))


def relative_gap(objective: float, bound: float, least: float) -> float:
    """How far an objective is above a bound of the optimum, as a part of the objective.

    Parameters
    ----------
    objective : what was reached
    bound : what cannot be reached
    least : an objective below this counts as this
    """
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
    """The first point on the way, from its end backwards, that gains what can be asked of it."""
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
    """From the present weights to the minimum of the quadratic model with the penalties."""
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
    """What the curvatures need for no weight to go too far by itself.

    Where a probability is near 0 or 1 the loss is flat, and its model knows nothing of what lies
    beyond: a step would be far too long, and from out there none would lead back.
    """
    least = np.abs(slope) / (REACH * (1.0 + np.abs(weights)))
    lacking: FloatArray = np.maximum(least - model.diagonal(), 0.0)
    return lacking


def _working(
    penalty: Penalty, weights: FloatArray, gradient: FloatArray, slope: FloatArray
) -> BoolArray:
    """The groups that take part: those with a weight, and those nearest to wanting one."""
    alive: BoolArray = (penalty.norms(weights) > 0) | (penalty.prices == 0)
    excess = penalty.norms(gradient) - penalty.prices
    coming: BoolArray = ~alive & (excess > -0.5 * float(penalty.norms(slope).max()))
    most = max(FEWEST, int(alive.sum()))
    if coming.sum() > most:
        coming &= excess >= np.partition(excess[coming], -most)[-most]
    return alive | coming


def _conjugate_gradients(matrix: Any, right: FloatArray) -> FloatArray:
    """The solution of a linear system; along directions without curvature it does not move."""
    solver = require("scipy.sparse.linalg", "distributions")
    scale = np.sqrt(np.maximum(matrix.diagonal(), 1e-12))
    solution, _ = solver.cg(matrix, right, rtol=1e-3, maxiter=PASSES, M=_diagonal(1.0 / scale**2))
    return np.asarray(solution)


def _diagonal(values: FloatArray) -> Any:
    return require("scipy.sparse", "distributions").diags_array(values)
