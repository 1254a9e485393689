"""SparsePairs: regress each variable on all others, with a penalty on every pair.

Ravikumar, Wainwright and Lafferty (2010), "High-dimensional Ising model selection using
L1-regularized logistic regression", for binary variables; Jalali, Ravikumar, Vasuki and Sanghavi
(2011), "On learning discrete graphical models using group-sparse regularization", for any. For a
target t with K_t values, ::

    log p(x_t = a | rest) = const + c_a + Σ_j w_j[a, x_j]        (0 for value 0 of t or of j)

minimises, in total over the rows, minus the log-likelihood of the target plus ::

    l1 · Σ_j √size_j · |w_j|₂  +  l2/2 · Σ w²        size_j = (K_t - 1)(K_j - 1)

so the table w_j of another variable is zero or nonzero as a whole. For two binary variables it is a
single weight, and the penalty is the L1 penalty of logistic regression with x in {0, 1}. The
intercept c has no penalty by default. A pair stays if the table of either regression is not 0
(rule "or") or both are not ("and"); the weights of its features are the means of the two.

Each regression is solved to a stated duality gap (see `contextwise.distributions.proximal_newton`),
so zeros are zeros of the optimum.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from math import inf
from typing import Any, Literal

import numpy as np

from contextwise.data.rows import Data
from contextwise.distributions.fitting import ConvergenceWarning, check_penalties
from contextwise.distributions.logistic_loss import LogisticLoss, Options
from contextwise.distributions.potentials import distinct_rows
from contextwise.distributions.proximal_newton import Optimum, Penalty, minimise
from contextwise.errors import ContextwiseError
from contextwise.learning.base import Learner, Run, threads_of
from contextwise.models.domain import Domain
from contextwise.models.factors import weighted
from contextwise.models.features import single_values, words_of
from contextwise.models.structure import LogLinear
from contextwise.support.arrays import FloatArray, IntArray
from contextwise.support.effort import progress_of
from contextwise.support.formatting import plural
from contextwise.support.machine import one_thread

Rule = Literal["or", "and"]

UNSEEN = 1e-9
"""The best intercept is computed as if a value without rows had this many."""
DENSE = 2**25
"""Up to this many cells, the matrix of a binary target is dense."""


@dataclass(frozen=True, eq=False)
class Regression:
    """The regression of one variable on all others.

    The weights have shape (1 + columns, K_t - 1): the intercept, then one row per value except 0 of
    every variable (`ValueColumns`); the rows of the target itself are 0.
    """

    target: int
    weights: FloatArray
    optimum: Optimum


@dataclass(frozen=True, eq=False)
class ValueColumns:
    """The distinct rows and their counts, with one column per value except 0 of each variable."""

    cardinalities: tuple[int, ...]
    rows: IntArray
    counts: FloatArray

    @classmethod
    def of(cls, data: Data) -> ValueColumns:
        rows, counts = distinct_rows(data.rows, data.multiplicity)
        return cls(data.domain.cardinalities, rows, counts.astype(np.float64))

    @cached_property
    def starts(self) -> IntArray:
        """The first column of each variable, then the number of columns."""
        return np.concatenate([[0], np.cumsum(np.array(self.cardinalities, dtype=np.int64) - 1)])

    @cached_property
    def matrix(self) -> Any:
        """A column of ones, then a column per value: 1 where a row has it. Sparse."""
        from scipy import sparse

        row, variable = np.nonzero(self.rows)
        column = self.starts[variable] + self.rows[row, variable]  # the first column is all ones
        every = np.arange(len(self.rows))
        places = np.concatenate([every, row]), np.concatenate([np.zeros_like(every), column])
        shape = (len(self.rows), 1 + int(self.starts[-1]))
        return sparse.csr_array((np.ones(len(places[0])), places), shape=shape)

    def others(self, target: int) -> IntArray:
        """Return the columns of the matrix that are not the target's."""
        columns = np.arange(1 + int(self.starts[-1]))
        return np.delete(columns, np.s_[1 + self.starts[target] : 1 + self.starts[target + 1]])

    def loss(self, target: int) -> LogisticLoss:
        """Return minus the total log-likelihood of a target given the others."""
        options = self.cardinalities[target] - 1
        matrix = self.matrix[:, self.others(target)]
        from scipy import sparse

        if options == 0:
            matrix = sparse.csr_array((0, 0))
        elif options > 1:
            # Each value of the target but 0 has weights of its own.
            matrix = sparse.kron(matrix, sparse.eye_array(options), format="csr")
        elif matrix.shape[0] * matrix.shape[1] <= DENSE:
            matrix = matrix.toarray()
        values = self.rows[:, target]
        chosen = self.counts[:, None] * (values[:, None] == np.arange(1, options + 1))
        starts = np.arange(len(self.rows) + 1) * options
        return LogisticLoss(Options(matrix, starts), self.counts, chosen.ravel())

    def intercept(self, target: int) -> FloatArray:
        """Return the best intercept without other weights; that of an unseen value is low."""
        size = self.cardinalities[target]
        totals = np.bincount(self.rows[:, target], self.counts, size)
        logs = np.log(np.maximum(totals, UNSEEN))
        return np.asarray(logs[1:] - logs[0])

    def penalty(self, target: int, l1: float, l2: float) -> Penalty:
        """Return the penalties of each other variable's table; the intercept has none."""
        options = self.cardinalities[target] - 1
        sizes = options * np.delete(np.diff(self.starts), target)
        sizes = np.concatenate([[options], sizes[sizes > 0]])
        # The norm of a larger group is larger by chance, by the root of its size.
        prices = l1 * np.sqrt(sizes)
        prices[0] = 0
        return Penalty(prices, np.concatenate([[0], np.cumsum(sizes)]), l2)


@dataclass(eq=False, repr=False, kw_only=True)
class SparsePairs(Learner):
    """Pairs of variables by sparse regressions, each variable on all others.

    Each pair has a penalty. A variable with many values enters with its whole table or not at all.
    Each regression is solved to a stated gap.

    Parameters
    ----------
    l1 : float
        Penalty of a pair, on the total over the rows; larger values give fewer pairs.
    l2 : float
        Penalty on half the sum of the squared weights.
    rule : "or" or "and"
        Whether one of the two regressions must keep a pair, or both.
    tolerance : float
        Largest gap of a regression to its optimum, relative to its objective.
    max_iterations : int
        Largest number of Newton steps per regression.
    n_jobs : int
        Number of threads; -1 means all cores. The result does not depend on it.

    Attributes
    ----------
    regressions_ : list of Regression
        In the order of the variables.
    pairs_ : list of (variable, variable)
        The positions of the pairs kept.
    objective_ : float
        The sum of the objectives of all regressions.
    gap_ : float
        The largest gap of a regression, relative to its objective.
    converged_ : bool
        Whether every regression is within the tolerance.

    Examples
    --------
    >>> rows = [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]] * 20
    >>> learner = SparsePairs(l1=2).fit(rows)
    >>> learner.pairs_, learner.gap_ < 1e-6
    ([(0, 1)], True)
    """

    l1: float = 10.0
    l2: float = 0.0
    rule: Rule = "or"
    tolerance: float = 1e-6
    max_iterations: int = 200
    n_jobs: int = 1

    def learn(self, data: Data, run: Run) -> LogLinear:
        """Solve all regressions and keep the pairs."""
        if self.rule not in ("or", "and"):
            raise ContextwiseError(f"rule must be 'or' or 'and', got {self.rule!r}")
        check_penalties(self.l1, self.l2)
        columns = ValueColumns.of(data)
        self.regressions_ = self._regress(columns, run)
        optima = [regression.optimum for regression in self.regressions_]
        self.objective_ = sum(optimum.objective for optimum in optima)
        self.gap_ = max((optimum.gap for optimum in optima), default=0.0)
        late = sum(not optimum.converged for optimum in optima)
        self.converged_ = not late
        if late and run.finished:
            warnings.warn(
                f"{plural(late, 'regression')} of {len(optima)} did not converge; raise "
                "max_iterations or l1",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.pairs_ = kept_pairs(columns, self.regressions_, self.rule)
        return _model(data.domain, columns, self.regressions_, self.pairs_)

    def _regress(self, columns: ValueColumns, run: Run) -> list[Regression]:
        work = partial(self._regression, columns, run)
        targets = range(len(columns.cardinalities))
        regressions = []
        with (
            progress_of(run.show_progress, "regressing") as progress,
            ThreadPoolExecutor(threads_of(self.n_jobs)) as threads,
            one_thread(),
        ):
            try:
                results = threads.map(work, targets) if self.n_jobs != 1 else map(work, targets)
                for regression in results:
                    regressions.append(regression)
                    if progress:
                        progress(len(regressions), len(targets))
            except BaseException:  # also Ctrl-C: cancel the regressions that have not started
                threads.shutdown(cancel_futures=True)
                raise
        return regressions

    def _regression(self, columns: ValueColumns, run: Run, target: int) -> Regression:
        others = columns.others(target)
        weights = np.zeros((columns.matrix.shape[1], columns.cardinalities[target] - 1))
        if run.is_late():
            return Regression(target, weights, Optimum(weights, inf, inf, inf, 0, False))
        weights[0] = columns.intercept(target)
        optimum = minimise(
            columns.loss(target),
            columns.penalty(target, self.l1, self.l2),
            start=weights[others].ravel(),
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
            deadline=run.deadline,
        )
        if not optimum.converged:
            run.is_late()
        weights[others] = optimum.weights.reshape(len(others), weights.shape[1])
        return Regression(target, weights, optimum)


def kept_pairs(
    columns: ValueColumns, regressions: Sequence[Regression], rule: Rule
) -> list[tuple[int, int]]:
    """Return the pairs whose table is not 0 in either regression ("or"), or in both ("and")."""
    count = len(regressions)
    keeps = np.zeros((count, count), dtype=bool)
    for regression in regressions:
        nonzero = np.flatnonzero(regression.weights[1:].any(axis=1))
        others = np.searchsorted(columns.starts, nonzero, side="right") - 1
        keeps[regression.target, others] = True
    both = keeps | keeps.T if rule == "or" else keeps & keeps.T
    return [pair for pair in combinations(range(count), 2) if both[pair]]


def _model(
    domain: Domain,
    columns: ValueColumns,
    regressions: Sequence[Regression],
    pairs: Sequence[tuple[int, int]],
) -> LogLinear:
    """Return the intercepts, and for each pair a feature per cell without value 0."""
    starts = 1 + columns.starts
    tables = [regression.weights[0][:, None] for regression in regressions]
    scopes: list[tuple[int, int]] = [(v, -1) for v in range(len(regressions))]
    for i, j in pairs:
        of_i = regressions[i].weights[starts[j] : starts[j + 1]].T
        of_j = regressions[j].weights[starts[i] : starts[i + 1]]
        # Both regressions estimate this table.
        tables.append((of_i + of_j) / 2)
        scopes.append((i, j))
    # Value 0 has no weight, so the first weight is that of value 1.
    cells = [np.argwhere(np.ones(table.shape, dtype=bool)) + 1 for table in tables]
    values = np.concatenate([np.zeros((0, 2), dtype=np.int64), *cells])
    sizes = [table.size for table in tables]
    variables = np.repeat(np.array(scopes, dtype=np.int64).reshape(-1, 2), sizes, axis=0)
    owners, side = np.nonzero(variables >= 0)
    return weighted(
        domain,
        owners,
        variables[owners, side],
        single_values(values[owners, side], words_of(domain.cardinalities)),
        np.concatenate([np.zeros(0), *(table.ravel() for table in tables)]),
    )
