"""Multinomial logits of coded rows: fit one, and leave variables out without fitting again.

Every function of a row here is a function of a code: a state of a variable, or a pair of states.
So a logit is a sum of table look-ups. A `Term` has one code per row, a basis with the values of its
functions at each code, and the slopes of the response that it moves::

    eta(row) = slopes · sum over terms of  (basis[code of the row] · coefficients)
    p(state | row) = exp(eta[state]) / sum of exp(eta)

Gradients and Hessians are sums by code too. They cost a few additions per row and term, however
many states the variables have. The compiled twin of both sums is ``logits.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from contextwise.support.arrays import BoolArray, FloatArray, IntArray

KERNEL: Any
"""The compiled twin, or None."""
try:
    from contextwise.evidence import _logits as KERNEL
except ImportError:  # not compiled
    KERNEL = None

STEPS, MOST_STEPS = 40, 200
"""Steps of a fit; of one with many coefficients, where a step is cheap and a Hessian is not."""
CONVERGED = 1e-9
"""The Newton decrement, in squared standard errors of the coefficients, at which a fit ends."""
FAR = 1e-2
"""The Newton decrement above which each step uses a new Hessian."""
MANY = 300
"""Coefficients from which on a Hessian serves more steps."""
NEAR = 1e-6
"""The same where variables are left out of a fit."""
DEAREST_HESSIAN = 2e9
"""Additions of one Hessian, above which it is estimated from every second, third, … row."""
FIXED = 1e-6  # ridge of intercepts


@dataclass(frozen=True, eq=False)
class Term:
    """Functions of one code per row, with a coefficient for each slope ``low`` to ``high``."""

    codes: IntArray
    basis: FloatArray  # (codes, functions)
    low: int
    high: int
    ridge: float
    owners: frozenset[int] = frozenset()  # the variables that it is a function of


class Layout(NamedTuple):
    """The places of the tables of the terms, for the compiled sums."""

    codes: IntArray  # (rows, terms)
    starts: IntArray  # of each term, and the end of the last
    lows: IntArray
    highs: IntArray
    functions: IntArray  # columns of each basis
    bases: FloatArray  # all bases one after the other


def contrasts(count: int) -> FloatArray:
    """Return orthonormal columns whose entries sum to zero (Helmert).

    Any order of the states gives a rotation of them, so a ridge treats all states alike.
    """
    result = np.zeros((count, count - 1))
    for k in range(1, count):
        result[:k, k - 1], result[k, k - 1] = 1.0, -k
    return np.asarray(result / np.sqrt((result**2).sum(axis=0)))


def score_contrasts(count: int) -> FloatArray:
    """Return orthogonal polynomials of equally spaced scores; the scores have range 1."""
    steps = np.linspace(-1.0, 1.0, count)
    columns = np.linalg.qr(np.vander(steps, count, increasing=True))[0][:, 1:]
    columns[:, 0] = steps / 2
    return np.asarray(columns)


class Curvature:
    """The Hessian of those coefficients that are not held at zero, by its Cholesky factor."""

    def __init__(self, hessian: FloatArray, keep: BoolArray) -> None:
        from scipy.linalg import cho_factor

        self.places = np.flatnonzero(keep)
        if len(self.places) < len(keep):
            hessian = hessian[np.ix_(self.places, self.places)]
        try:
            self.factor = cho_factor(hessian, lower=True, check_finite=False)
        except np.linalg.LinAlgError:  # by rounding: all summands are positive
            more = 1e-9 * float(np.diag(hessian).max()) * np.eye(len(hessian))
            self.factor = cho_factor(hessian + more, lower=True, check_finite=False)

    def solve(self, right: FloatArray) -> FloatArray:
        """Multiply by the inverse, with zeros for the coefficients held at zero."""
        from scipy.linalg import cho_solve

        result = np.zeros(right.shape)
        result[self.places] = cho_solve(self.factor, right[self.places], check_finite=False)
        return result


class Logit:
    """A penalized multinomial logit; `fit` it first.

    ``slopes`` has a row per state of the response. Each term moves some of its columns.
    """

    def __init__(
        self, terms: Sequence[Term], slopes: FloatArray, states: IntArray, weights: FloatArray
    ) -> None:
        self.terms, self.slopes, self.states, self.weights = terms, slopes, states, weights
        widths = [term.high - term.low for term in terms]
        sizes = [len(term.basis) * width for term, width in zip(terms, widths, strict=True)]
        counts = [t.basis.shape[1] * width for t, width in zip(terms, widths, strict=True)]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.places = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.layout = Layout(
            np.ascontiguousarray(np.stack([t.codes for t in terms], axis=1), dtype=np.int32),
            starts,
            np.array([t.low for t in terms], dtype=np.int64),
            np.array([t.high for t in terms], dtype=np.int64),
            np.array([t.basis.shape[1] for t in terms], dtype=np.int64),
            np.concatenate([t.basis.ravel() for t in terms]),
        )
        self.ridge = np.repeat([t.ridge for t in terms], counts)
        self.theta = np.zeros(int(self.places[-1]))
        if not terms[0].owners and (terms[0].low, terms[0].high) == (0, slopes.shape[1]):
            share = np.bincount(states, weights, minlength=len(slopes)) + 0.5
            self.theta[: slopes.shape[1]] = np.linalg.pinv(slopes) @ np.log(share / share.sum())

    @cached_property
    def columns(self) -> int:
        """The number of functions of the rows, without the intercept."""
        return sum(term.basis.shape[1] for term in self.terms if term.owners)

    def parameters_of(self, variables: frozenset[int]) -> IntArray:
        """Return the places of the coefficients of terms that depend on these variables."""
        chosen = [
            np.arange(self.places[k], self.places[k + 1])
            for k, term in enumerate(self.terms)
            if term.owners & variables
        ]
        return np.concatenate(chosen) if chosen else np.zeros(0, dtype=np.int64)

    def columns_without(self, variables: frozenset[int]) -> int:
        """Return the number of functions that do not depend on some variables."""
        return sum(t.basis.shape[1] for t in self.terms if t.owners and not t.owners & variables)

    def evaluate(self, theta: FloatArray) -> tuple[FloatArray, float, FloatArray]:
        """Return the shares of each row, the penalized log-likelihood, and its gradient."""
        function = evaluate_in_python if KERNEL is None else KERNEL.evaluate
        shares, value, gradient = function(
            *self.layout, theta, self.slopes, self.states, self.weights
        )
        value -= 0.5 * float(self.ridge @ theta**2)
        return shares, value, gradient - self.ridge * theta

    def hessian(self, shares: FloatArray) -> FloatArray:
        """Return the negative Hessian of the penalized log-likelihood at these shares."""
        rows, width = self.layout.codes.shape
        moved = self.slopes.shape[1] ** 2
        cost = rows * moved * (width**2 + len(self.slopes)) / 2
        part = slice(None, None, max(1, round(cost / DEAREST_HESSIAN)))
        weights = self.weights[part]
        weights = weights * (self.weights.sum() / weights.sum())
        codes = np.ascontiguousarray(self.layout.codes[part])
        function = curvature_in_python if KERNEL is None else KERNEL.curvature
        shares = np.ascontiguousarray(shares[part])
        result = function(codes, *self.layout[1:], shares, self.slopes, weights)
        result[np.diag_indices_from(result)] += self.ridge
        return np.asarray(result)

    def fit(self) -> FloatArray:
        """Fit all coefficients by Newton's method; return the shares."""
        self.theta, shares, curvature = self.maximum(np.zeros(0, dtype=np.int64))
        self.inverse = curvature.solve(np.eye(len(self.theta)))
        return shares

    def maximum(
        self, out: IntArray, start: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray, Curvature]:
        """Return coefficients, shares and Hessian if coefficients ``out`` are zero."""
        keep = np.ones(len(self.theta), dtype=bool)
        keep[out] = False
        theta = np.where(keep, self.theta if start is None else start, 0.0)
        shares, value, gradient = self.evaluate(theta)
        curvature, decrement = Curvature(self.hessian(shares), keep), np.inf
        is_large = len(theta) >= MANY
        for number in range(MOST_STEPS if is_large else STEPS):
            step = curvature.solve(gradient)
            last, decrement = decrement, float(gradient @ step)
            if decrement < (NEAR if is_large else CONVERGED):
                break
            size = 1.0
            while True:
                moved = theta + size * step
                new_shares, new, new_gradient = self.evaluate(moved)
                if new >= value - 1e-9 * abs(value) or size < 1e-4:
                    break
                size /= 2
            theta, shares, value, gradient = moved, new_shares, new, new_gradient
            is_far = decrement > FAR and (not is_large or number in (0, 1, 2, 4, 8, 16))
            if is_far or decrement > (0.9 if is_large else 0.1) * last:
                curvature = Curvature(self.hessian(shares), keep)
        return theta, shares, curvature

    def without(self, out: IntArray) -> FloatArray:
        """Return the shares of the logit without some coefficients.

        Leaving coefficients out of a quadratic function needs no new factorization. With G the
        inverse Hessian, the others move by ``-G[:, out] · G[out, out]⁻¹ · theta[out]``, and a
        Newton step loses its part in the same direction. A few such steps converge.
        """
        if not len(out):
            return self.evaluate(self.theta)[0]
        across = np.linalg.solve(self.inverse[np.ix_(out, out)], self.inverse[out]).T
        theta = self.theta - across @ self.theta[out]
        theta[out] = 0.0
        last, nearest = np.inf, theta
        slowest = 0.8 if len(theta) < MANY else 0.95
        for _ in range(STEPS if len(theta) < MANY else MOST_STEPS):
            shares, _, gradient = self.evaluate(theta)
            gradient[out] = 0.0
            step = self.inverse @ gradient
            step -= across @ step[out]
            step[out] = 0.0
            decrement = float(gradient @ step)
            if decrement < NEAR:
                return shares
            if not decrement < slowest * last:
                break  # the Hessian changed too much
            nearest, theta, last = theta, theta + step, decrement
        return self.maximum(out, nearest)[1]

    # -- what each row contributes -----------------------------------------------------------------

    @cached_property
    def code_starts(self) -> IntArray:
        """The first column of each term in `incidence`, and the number of columns."""
        sizes = [len(term.basis) for term in self.terms]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @cached_property
    def incidence(self) -> Any:
        """A sparse matrix of ones: rows by the codes of all terms."""
        from scipy.sparse import csr_array

        codes = self.layout.codes + self.code_starts[:-1]
        rows, terms = codes.shape
        parts = np.ones(rows * terms), codes.ravel(), np.arange(0, rows * terms + 1, terms)
        return csr_array(parts, shape=(rows, int(self.code_starts[-1])))

    def tables(self, theta: FloatArray) -> list[FloatArray]:
        """Return the values of each term at each of its codes, by slope."""
        tables = []
        for k, term in enumerate(self.terms):
            own = theta[self.places[k] : self.places[k + 1]]
            table = np.zeros((len(term.basis), self.slopes.shape[1]))
            table[:, term.low : term.high] = term.basis @ own.reshape(term.basis.shape[1], -1)
            tables.append(table)
        return tables

    def scores_of_rows(self, directions: FloatArray, residuals: FloatArray) -> FloatArray:
        """Return the score of each row in some directions of the coefficients.

        ``residuals`` has the slopes of each row's state minus their expectation.
        """
        stacked = np.stack([np.vstack(self.tables(theta)) for theta in directions], axis=1)
        sums = self.incidence @ stacked.reshape(len(stacked), -1)
        sums = sums.reshape(len(residuals), len(directions), -1)
        return np.asarray(np.einsum("nft,nt->nf", sums, residuals))


# -- the sums by code, readable --------------------------------------------------------------------


def _design(layout: Layout, width: int) -> FloatArray:
    """Return how the slopes of each row change with each coefficient."""
    sizes = np.diff(layout.starts) // (layout.highs - layout.lows)
    parts = np.split(layout.bases, np.cumsum(sizes * layout.functions)[:-1])
    moved = []
    for k, part in enumerate(parts):
        eye = np.eye(width)[layout.lows[k] : layout.highs[k]]
        own = part.reshape(int(sizes[k]), int(layout.functions[k]))[layout.codes[:, k]]
        moved.append(np.einsum("nf,st->nfst", own, eye).reshape(len(own), -1, width))
    return np.concatenate(moved, axis=1)


def evaluate_in_python(*how: Any) -> tuple[FloatArray, float, FloatArray]:
    """Return shares, log-likelihood, and its gradient; twin of ``logits.cpp``."""
    theta, slopes, states, weights = how[6:]
    design = _design(Layout(*how[:6]), slopes.shape[1])
    eta = np.einsum("nas,a->ns", design, theta) @ slopes.T
    eta -= eta.max(axis=1, keepdims=True)
    shares = np.exp(eta)
    total = shares.sum(axis=1, keepdims=True)
    shares /= total
    rows = np.arange(len(states))
    value = float(weights @ (eta[rows, states] - np.log(total[:, 0])))
    moved = weights[:, None] * (slopes[states] - shares @ slopes)
    return shares, value, np.einsum("nas,ns->a", design, moved)


def curvature_in_python(*how: Any) -> FloatArray:
    """Return the negative Hessian of the log-likelihood; twin of ``logits.cpp``."""
    shares, slopes, weights = how[6:]
    design, mean = _design(Layout(*how[:6]), slopes.shape[1]), shares @ slopes
    spread = np.einsum("nk,ks,kt->nst", shares, slopes, slopes, optimize=True)
    spread = weights[:, None, None] * (spread - mean[:, :, None] * mean[:, None, :])
    return np.asarray(np.einsum("nas,nst,nbt->ab", design, spread, design, optimize=True))


def sums_by_code(codes: IntArray, starts: IntArray, size: int, values: FloatArray) -> FloatArray:
    """Return the sums of values by code, for all columns; ``starts`` is where their codes begin."""
    if KERNEL is not None:
        narrow = np.ascontiguousarray(codes, dtype=np.int32)
        return np.asarray(KERNEL.sums_by_code(narrow, starts, size, np.ascontiguousarray(values)))
    result = np.zeros((size, values.shape[1]))
    for column, start in zip(codes.T, starts, strict=True):
        np.add.at(result, column + start, values)
    return result
