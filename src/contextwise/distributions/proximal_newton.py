"""Minimise a penalised sum of logistic losses by proximal Newton steps, up to a stated gap.

**The loss** is that of `logistic_loss`: a sum over settings of log totals minus potentials.

**The objective** adds penalties on groups of weights; with one weight per group, the L1 penalty ::

    loss(w)  +  Σ_groups price · |w_group|₂  +  ridge/2 · Σ w²

**A step** replaces the loss by its quadratic model, minimises model and penalties by coordinate
descent, and moves there, or part of the way if the loss differs from the model. Only features that
are nonzero or whose gradient is near their price take part. Without prices the step solves a linear
system by conjugate gradients.

**The gap** is the objective minus a lower bound of the optimum, a value of the dual problem. Any
distribution q_s for each setting bounds the penalised optimum by the entropy Σ n_s H(q_s), if no
group's gradient under q exceeds its price. We use the last such mixture between the shares of the
data (gradient 0) and the fitted probabilities. At the optimum it is the fit, and the bound is
tight. With a ridge a larger gradient is allowed and costs its squared excess over twice the ridge.
Without a penalty this bound does not exist; the search then ends when one more step would gain too
little.

Lee, Sun and Saunders (2014), "Proximal Newton-type methods for minimizing composite functions",
has the theory; Friedman, Hastie and Tibshirani (2010), "Regularization paths for generalized linear
models via coordinate descent", the practice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import log
from typing import Any, NamedTuple

import numpy as np

from contextwise.distributions.logistic_loss import LogisticLoss, LossAt
from contextwise.support.arrays import BoolArray, FloatArray, IntArray
from contextwise.support.effort import NEVER, Deadline, Progress

try:
    from contextwise.distributions import _descent
except ImportError:  # built without a compiler
    _descent = None  # type: ignore[assignment]

PASSES_PER_STEP = 1000
"""Largest number of passes of coordinate descent per step."""
ALL_GROUPS = 10
"""Number of passes between two visits of all groups."""
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


# -- the penalty -----------------------------------------------------------------------------------


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

    @cached_property
    def groups(self) -> IntArray:
        """The group of each weight."""
        return np.repeat(np.arange(len(self.prices)), np.diff(self.starts))

    def norms(self, of_weights: FloatArray) -> FloatArray:
        """Return the norm of each group."""
        if len(self.prices) == int(self.starts[-1]):  # every group is one weight
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
            # A group at 0 stays there while the gradient is below its price.
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
            # Scaled by this share, no group pulls more than its price: a feasible dual point.
            share = float(np.min(self.prices[paid] / pulls[paid], initial=1.0))
        if not self.ridge:
            reach = LARGEST * self.norms(weights)[~paid] + 1.0
            return entropy(share) - share * float(pulls[~paid] @ reach)
        bounds = []
        for s in {1.0, share}:
            beyond = np.maximum(s * pulls - self.prices, 0.0)
            # The ridge pays for the rest of the pull: its conjugate is pull² / (2 ridge).
            bounds.append(entropy(s) - float(beyond @ beyond) / (2 * self.ridge))
        return max(bounds)


# -- the search ------------------------------------------------------------------------------------


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
    deadline: Deadline = NEVER,
) -> Optimum:
    """Minimise a loss plus penalties, until the deadline."""
    weights = np.zeros(loss.size) if start is None else np.array(start, dtype=np.float64)
    loss_at = loss.at(weights)
    objective = loss_at.value + penalty.value(weights)
    null = loss.at(np.zeros(loss.size)).value
    idle = 0
    for done in range(max_iterations + 1):
        gradient = loss_at.gradient + penalty.ridge * weights
        slope = penalty.slope(weights, gradient)
        bound = penalty.lower_bound(weights, loss_at.gradient, loss_at.entropy)
        gap = relative_gap(objective, bound, FLOOR * null)
        converged = gap <= tolerance or not slope.any()
        if converged or done == max_iterations or deadline.passed:
            break
        step = _step(loss_at, penalty, weights, gradient, slope)
        gain = penalty.price(weights) - penalty.price(weights + step) - float(gradient @ step)
        if bound == -np.inf and gain <= tolerance**2 * null:
            converged = True
            break
        better = _search(loss, penalty, weights, step, objective, gain)
        idle = 0 if better is not None and better[2] < objective else idle + 1
        if better is None or idle == IDLE:  # as far as the arithmetic goes, nothing is better
            converged = bound == -np.inf and gain <= 1e-8 * objective
            break
        weights, loss_at, objective = better
        if progress:  # from 1 to the tolerance, on a logarithmic scale
            part = log(gap) / log(tolerance) if tolerance < gap < 1 else 0
            progress(int(100 * part), 100)
    return Optimum(weights, objective, loss_at.value, gap, done, converged)


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
        loss_at = loss.at(tried)
        value = loss_at.value + penalty.value(tried)
        if value <= objective - 1e-3 * length * gain + NOISE * abs(objective):
            return tried, loss_at, value
        length /= 2
    return None


def _step(
    loss_at: LossAt,
    penalty: Penalty,
    weights: FloatArray,
    gradient: FloatArray,
    slope: FloatArray,
) -> FloatArray:
    """Return the step to the minimum of the quadratic model with the penalties."""
    from scipy import sparse

    groups = _working(penalty, weights, gradient, slope)
    chosen = np.flatnonzero(groups[penalty.groups])
    model = loss_at.curvature(chosen)
    # so much curvature that no single weight overshoots
    least = np.abs(slope[chosen]) / (REACH * (1.0 + np.abs(weights[chosen])))
    lacking = np.maximum(least - model.diagonal(), 0.0)
    model = model + sparse.diags_array(penalty.ridge + lacking)
    step = np.zeros_like(weights)
    if not penalty.prices.any():  # no move along directions without curvature
        from scipy.sparse import linalg as solver

        scale = sparse.diags_array(1.0 / np.maximum(model.diagonal(), 1e-12))
        step[chosen], _ = solver.cg(
            model, -gradient[chosen], rtol=1e-3, maxiter=PASSES_PER_STEP, M=scale
        )
        return step
    point = descend(
        model.tocsr(),
        weights[chosen],
        gradient[chosen],
        starts=np.concatenate([[0], np.cumsum(np.diff(penalty.starts)[groups])]),
        prices=penalty.prices[groups],
        passes=PASSES_PER_STEP,
        tolerance=PRECISION * float(penalty.norms(slope).max()),
    )
    step[chosen] = point - weights[chosen]
    return step


def _working(
    penalty: Penalty, weights: FloatArray, gradient: FloatArray, slope: FloatArray
) -> BoolArray:
    """Return the groups that take part: nonzero ones, and those nearest to becoming nonzero."""
    alive: BoolArray = (penalty.norms(weights) > 0) | (penalty.prices == 0)
    excess = penalty.norms(gradient) - penalty.prices
    coming: BoolArray = ~alive & (excess > -0.5 * float(penalty.norms(slope).max()))
    most = max(FEWEST, int(alive.sum()))
    if coming.sum() > most:
        # Only the groups nearest to becoming nonzero, about as many as are nonzero now.
        coming &= excess >= np.partition(excess[coming], -most)[-most]
    return alive | coming


# -- coordinate descent ----------------------------------------------------------------------------
#
# It minimises, group by group,
#
#     pull · (x - x₀)  +  ½ (x - x₀)ᵀ M (x - x₀)  +  Σ_groups price · |x_group|₂
#
# A group moves to the minimum of a model with equal curvature in all directions and is then
# shortened by its price, at most to 0. For a single weight this is the exact minimum. For a larger
# group the curvature is an upper bound, so no move increases the objective. Most passes visit only
# nonzero groups; the search ends after a pass over all.


def available() -> bool:
    """Return whether the compiled code was built."""
    return _descent is not None


def descend(
    model: Any,
    point: FloatArray,
    pull: FloatArray,
    *,
    starts: IntArray,
    prices: FloatArray,
    passes: int,
    tolerance: float,
) -> FloatArray:
    """Minimise a quadratic with penalties on groups; ``model`` is the matrix M in CSR form."""
    function = _descent.descend if available() else descend_in_python
    return function(
        model.indptr,
        model.indices,
        model.data,
        starts.astype(np.int64),
        curvatures(model, starts),
        prices,
        point,
        pull,
        passes,
        tolerance,
    )


def curvatures(model: Any, starts: IntArray) -> FloatArray:
    """Bound the curvature of each group by its largest absolute row sum."""
    if len(starts) - 1 == model.shape[0]:
        return np.asarray(model.diagonal(), dtype=np.float64)
    groups = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    rows = np.repeat(np.arange(model.shape[0]), np.diff(model.indptr))
    inside = groups[rows] == groups[model.indices]
    sums = np.bincount(rows[inside], np.abs(model.data[inside]), minlength=model.shape[0])
    return np.maximum.reduceat(sums, starts[:-1])


def descend_in_python(
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    starts: IntArray,
    curvatures: FloatArray,
    prices: FloatArray,
    point: FloatArray,
    pull: FloatArray,
    passes: int,
    tolerance: float,
) -> FloatArray:
    """The readable twin of ``descent.hpp``, at least fifty times slower."""
    # The caller keeps its arrays.
    x, pull = point.copy(), pull.copy()
    bounds = starts.tolist()
    visit_all = True
    for done in range(1, passes + 1):
        violation = 0.0
        for group, (a, b) in enumerate(pairwise(bounds)):
            old, price = x[a:b].copy(), float(prices[group])
            if curvatures[group] <= 0 or not (visit_all or old.any()):
                continue
            size = float(np.linalg.norm(old))
            if size > 0:
                off = float(np.linalg.norm(pull[a:b] + price / size * old))
            else:
                off = float(np.linalg.norm(pull[a:b])) - price
            violation = max(violation, off)
            moved = old - pull[a:b] / curvatures[group]
            size = float(np.linalg.norm(moved))
            # The minimum of the quadratic plus the price: shrink towards 0, or be 0.
            shorter = max(0.0, 1.0 - price / curvatures[group] / size) if size > 0 else 1.0
            x[a:b] = moved * shorter
            for j in np.flatnonzero(x[a:b] != old) + a:
                row = slice(indptr[j], indptr[j + 1])
                pull[indices[row]] += (x[j] - old[j - a]) * data[row]
        if violation <= tolerance and visit_all:
            break
        # First settle the nonzero groups, then see whether another one wants to enter.
        visit_all = violation <= tolerance or done % ALL_GROUPS == 0
    return x
