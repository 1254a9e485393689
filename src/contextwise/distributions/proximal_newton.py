"""Minimise a penalised sum of logistic losses by proximal Newton steps, up to a stated gap.

**The loss.** A *setting* is a choice among K values, of which value 0 has potential 0 and the other
K - 1, the *options*, have potentials that are linear in the weights. The loss of a setting in which
value k was chosen n_k times is ::

    Σ_k n_k · (log Σ_j exp(z_j) - z_k)

Pseudo-likelihood is such a sum, over the settings of all variables, and so is the regression of one
variable on the others. A binary setting has one option, and its loss is the logistic one.

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

from contextwise.distributions.potentials import Bytes
from contextwise.support.arrays import BoolArray, FloatArray, IntArray
from contextwise.support.effort import NEVER, Deadline, Progress

try:
    from contextwise.distributions import _descent
except ImportError:  # built without a compiler
    _descent = None  # type: ignore[assignment]

PASSES = 1000
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
ENTRIES = 2**21
"""About this many entries of the parts of a product are in memory before they are added up."""
LARGEST = 2.0
"""An unpenalised weight is taken to be at most this many times what it is, plus one."""


# -- matrices of bits ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PackedBlock:
    """Some rows of a matrix: bits, eight columns to a byte, times a sign per column."""

    first: int
    bits: Bytes  # (columns / 8, rows)
    columns: IntArray
    signs: FloatArray

    @property
    def rows(self) -> slice:
        return slice(self.first, self.first + self.bits.shape[1])


@dataclass(frozen=True, eq=False)
class PackedMatrix:
    """A matrix of -1, 0 and 1 in blocks of rows, each with few columns that are not 0."""

    blocks: list[PackedBlock]
    shape: tuple[int, int]
    __array_ufunc__ = None

    def __matmul__(self, weights: FloatArray) -> FloatArray:
        product = np.zeros(self.shape[0])
        for block in self.blocks:
            of_bits = np.zeros(8 * len(block.bits))
            of_bits[: len(block.columns)] = weights[block.columns] * block.signs
            # One lookup per byte instead of eight additions.
            sums = of_bits.reshape(-1, 8) @ BITS  # of each byte
            # A view: what is added to it is added to the product.
            total = product[block.rows]
            for of_byte, values in zip(block.bits, sums, strict=True):
                total += values[of_byte]
        return product

    def __rmatmul__(self, of_rows: FloatArray) -> FloatArray:
        product = np.zeros(self.shape[1])
        for block in self.blocks:
            part = of_rows[block.rows]
            sums = [np.bincount(of_byte, part, minlength=256) for of_byte in block.bits]
            of_bits = (np.array(sums).reshape(-1, 256) @ BITS.T).ravel()[: len(block.columns)]
            product[block.columns] += of_bits * block.signs
        return product

    def gram(self, scale: FloatArray, chosen: IntArray) -> Any:
        """Return Aᵀ D A over some columns, with D diagonal, as a CSR array."""
        from scipy import sparse

        place = np.full(self.shape[1], -1, dtype=np.int32)
        place[chosen] = np.arange(len(chosen), dtype=np.int32)
        # With √D on both factors, Aᵀ D A is one symmetric product.
        roots = np.sqrt(scale).astype(np.float32)
        total = sparse.csr_array((len(chosen), len(chosen)))
        parts: list[tuple[Any, Any, Any]] = []
        for block in self.blocks:
            places = place[block.columns]
            ours = np.flatnonzero(places >= 0)
            places, signs = places[ours], block.signs[ours].astype(np.float32)
            bits = np.unpackbits(block.bits, axis=0, count=len(block.columns))[ours]
            part = bits * roots[block.rows]
            product = (part @ part.T) * signs * signs[:, None]
            i, j = np.nonzero(product)
            parts.append((product[i, j], places[i], places[j]))
            if block is self.blocks[-1] or sum(len(part[0]) for part in parts) > ENTRIES:
                data, i, j = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
                total = total + sparse.csr_array((data.astype(np.float64), (i, j)), total.shape)
                parts.clear()
        return total


BITS: FloatArray = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).T.astype(float)
"""The bits of each byte: shape (8, 256)."""


# -- the loss --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Options:
    """All options of all settings, and what each feature adds to them."""

    matrix: Any
    starts: IntArray

    @cached_property
    def transposed(self) -> Any:
        """The transposed sparse matrix; each step of a fit uses both."""
        return self.matrix.T.tocsr()

    def gram(self, scale: FloatArray, chosen: IntArray) -> Any:
        """Return Aᵀ D A over some columns, with D diagonal, as a CSR array."""
        if isinstance(self.matrix, PackedMatrix):
            return self.matrix.gram(scale, chosen)
        if isinstance(self.matrix, np.ndarray):
            from scipy import sparse

            part = self.transposed_floats[chosen] * np.sqrt(scale).astype(np.float32)
            return sparse.csr_array((part @ part.T).astype(np.float64))
        return gram(self.matrix, self.transposed, scale, chosen)

    @cached_property
    def transposed_floats(self) -> Any:
        """The transposed dense matrix, row by row.

        Half the precision is twice the speed, and the model of a step needs no more.
        """
        return np.ascontiguousarray(self.matrix.T, dtype=np.float32)

    @cached_property
    def owners(self) -> IntArray:
        """The setting of each option."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @cached_property
    def binary(self) -> bool:
        """True if every setting has one option."""
        return bool((np.diff(self.starts) == 1).all())

    def at(self, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the potentials of all options, the log total of each setting, probabilities."""
        potentials = self.matrix @ weights
        # The 0 is the potential of value 0, which has no option.
        top = np.maximum(self.reduce(np.maximum, potentials), 0.0)
        odds = np.exp(potentials - self.spread(top))
        total = np.exp(-top) + self.reduce(np.add, odds)
        return potentials, top + np.log(total), odds / self.spread(total)

    def spread(self, of_settings: FloatArray) -> FloatArray:
        """Repeat a value per setting for each of its options."""
        return of_settings if self.binary else of_settings[self.owners]

    def reduce(self, function: np.ufunc, of_options: FloatArray) -> FloatArray:
        """Reduce over the options of each setting; 0 without options."""
        if self.binary:
            return of_options
        of_settings = np.zeros(len(self.starts) - 1)
        # `reduceat` would return a neighbour's value for an empty range.
        some = np.flatnonzero(np.diff(self.starts))
        if len(some):
            of_settings[some] = function.reduceat(of_options, self.starts[some])
        return of_settings


@dataclass(frozen=True, eq=False)
class LogisticLoss:
    """The loss of choices made ``chosen`` times out of ``totals``."""

    options: Options
    totals: FloatArray
    chosen: FloatArray

    @property
    def size(self) -> int:
        """The number of weights."""
        return int(self.options.matrix.shape[1])

    def at(self, weights: FloatArray) -> LossAt:
        """Return the loss with these weights."""
        return LossAt(self, *self.options.at(weights))


@dataclass(frozen=True, eq=False)
class LossAt:
    """A loss at some weights."""

    loss: LogisticLoss
    potentials: FloatArray
    log_totals: FloatArray
    probabilities: FloatArray

    @property
    def value(self) -> float:
        """The loss, >= 0."""
        return float(self.loss.totals @ self.log_totals - self.loss.chosen @ self.potentials)

    @cached_property
    def expected(self) -> FloatArray:
        """The expected number of choices of each option."""
        return self.loss.options.spread(self.loss.totals) * self.probabilities

    @cached_property
    def gradient(self) -> FloatArray:
        """The gradient: expected minus observed count of each feature."""
        options, excess = self.loss.options, self.expected - self.loss.chosen
        dense = isinstance(options.matrix, np.ndarray | PackedMatrix)
        gradient: FloatArray = excess @ options.matrix if dense else options.transposed @ excess
        return gradient

    def curvature(self, features: IntArray) -> Any:
        """Return the Hessian over some of the features as a sparse array."""
        options, p = self.loss.options, self.probabilities
        if options.binary:
            return options.gram(self.expected * (1.0 - p), features)
        part, every = options.matrix[:, features], np.arange(len(features))
        whole = gram(part, part.T.tocsr(), self.expected, every)
        # the matrix that averages over the options of each setting
        shape = (len(options.starts) - 1, len(options.owners))
        means = type(options.matrix)((p, np.arange(shape[1]), options.starts), shape=shape)
        mean = means @ part
        # The covariance: mean of products minus product of means.
        return whole - gram(mean, mean.T.tocsr(), self.loss.totals, every)

    def entropy(self, share: float) -> float:
        """Return the total entropy of the mixture with a share of the fitted probabilities."""
        loss = self.loss
        mixed = (1.0 - share) * loss.chosen + share * self.expected
        first = np.maximum(loss.totals - loss.options.reduce(np.add, mixed), 0.0)
        return float(_x_log_x(loss.totals) - _x_log_x(mixed) - _x_log_x(first))


def _x_log_x(x: FloatArray) -> float:
    return float((x * np.log(np.where(x > 0, x, 1.0))).sum())


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
        step[chosen], _ = solver.cg(model, -gradient[chosen], rtol=1e-3, maxiter=PASSES, M=scale)
        return step
    point = descend(
        model.tocsr(),
        weights[chosen],
        gradient[chosen],
        starts=np.concatenate([[0], np.cumsum(np.diff(penalty.starts)[groups])]),
        prices=penalty.prices[groups],
        passes=PASSES,
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


def gram(matrix: Any, transposed: Any, scale: FloatArray, chosen: IntArray) -> Any:
    """Return Aᵀ D A over some columns of a sparse A, with D diagonal, as a CSR array."""
    if not available():
        part = matrix[:, chosen]
        part.data = part.data * np.repeat(scale, np.diff(part.indptr))
        return transposed[chosen] @ part
    matrix.sort_indices()
    indptr, indices, data = _descent.gram(
        matrix.indptr,
        matrix.indices,
        matrix.data,
        transposed.indptr,
        transposed.indices,
        transposed.data,
        scale,
        chosen,
    )
    return type(matrix)((data, indices, indptr), shape=(len(chosen), len(chosen)))
