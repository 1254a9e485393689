"""Pairs by sparse regressions: each variable on all others, with a price on every pair.

Ravikumar, Wainwright and Lafferty (2010), "High-dimensional Ising model selection using
L1-regularized logistic regression", for binary variables; Jalali, Ravikumar, Vasuki and Sanghavi
(2011), "On learning discrete graphical models using group-sparse regularization", for any. For a
target t with K_t values, ::

    log p(x_t = a | rest) = const + c_a + Σ_j w_j[a, x_j]        (0 for value 0 of t or of j)

and what is minimised, in total over the rows, is minus the log-likelihood of the target plus ::

    l1 · Σ_j √size_j · |w_j|₂  +  l2/2 · Σ w²        size_j = (K_t - 1)(K_j - 1)

so the table w_j of another variable comes and goes as one. For two binary variables it is a single
weight, and the penalty is the L1 penalty on logistic regression with x in {0, 1}. The intercept c
has no price, unless that is asked for. A pair stays if the table of either regression is not 0
(rule "or") or both are ("and"); the weights of its features are the means of the two.

Each regression is solved to a stated gap (see `contextwise.distributions.proximal_newton`), so what
is 0 is 0 at the optimum and not because a search ended early.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from contextwise.data.rows import Data, DataLike, DomainLike, as_data
from contextwise.distributions.fitting import ConvergenceWarning, check_penalties
from contextwise.distributions.logistic import LogisticLoss, Options
from contextwise.distributions.potentials import distinct_rows
from contextwise.distributions.proximal_newton import Optimum, Penalty, minimise
from contextwise.errors import ContextwiseError, require
from contextwise.learning.base import Learner, fresh
from contextwise.learning.trees import threads_of
from contextwise.models.domain import Domain
from contextwise.models.factors import weighted
from contextwise.models.features import IntArray, single_values, words_of
from contextwise.models.structure import LogLinear
from contextwise.support.formatting import plural
from contextwise.support.progress import Progress, progress_of

FloatArray = npt.NDArray[np.float64]
Rule = Literal["or", "and"]

DENSE = 2**25
"""Up to so many cells, the matrix of a binary target is dense."""


@dataclass(frozen=True, eq=False)
class Regression:
    """One variable on all others.

    Attributes
    ----------
    target : the position of the variable
    weights : shape (1 + columns, K_t - 1)
        The intercept, then one row per value but 0 of every variable (`Columns`); the target's own
        rows are 0.
    optimum : the objective, the gap and the number of steps
    """

    target: int
    weights: FloatArray
    optimum: Optimum


@dataclass(frozen=True, eq=False)
class Columns:
    """The values but 0 of all variables, one column each, and where rows have them.

    Attributes
    ----------
    cardinalities : of the variables
    rows : the distinct rows
    counts : how often each occurs
    """

    cardinalities: tuple[int, ...]
    rows: IntArray
    counts: FloatArray

    @classmethod
    def of(cls, data: Data) -> Columns:
        """The columns of data."""
        rows, counts = distinct_rows(data.rows)
        return cls(data.domain.cardinalities, rows, counts.astype(np.float64))

    @cached_property
    def starts(self) -> IntArray:
        """Where the columns of each variable begin, and at the end their number."""
        return np.concatenate([[0], np.cumsum(np.array(self.cardinalities, dtype=np.int64) - 1)])

    @cached_property
    def matrix(self) -> Any:
        """Whether each row has each value, and a column of ones before: sparse."""
        sparse = require("scipy.sparse", "distributions")
        row, variable = np.nonzero(self.rows)
        column = self.starts[variable] + self.rows[row, variable]  # the first one is of ones
        every = np.arange(len(self.rows))
        places = np.concatenate([every, row]), np.concatenate([np.zeros_like(every), column])
        shape = (len(self.rows), 1 + int(self.starts[-1]))
        return sparse.csr_array((np.ones(len(places[0])), places), shape=shape)

    def others(self, target: int) -> IntArray:
        """The columns of the matrix that are not the target's."""
        own = np.arange(1 + int(self.starts[-1]))
        return np.delete(own, np.s_[1 + self.starts[target] : 1 + self.starts[target + 1]])

    def loss(self, target: int) -> LogisticLoss:
        """Minus the log-likelihood of a target given the others, in total."""
        options = self.cardinalities[target] - 1
        matrix = self.matrix[:, self.others(target)]
        sparse = require("scipy.sparse", "distributions")
        if options == 0:
            matrix = sparse.csr_array((0, 0))
        elif options > 1:
            matrix = sparse.kron(matrix, sparse.eye_array(options), format="csr")
        elif matrix.shape[0] * matrix.shape[1] <= DENSE:
            matrix = matrix.toarray()
        values = self.rows[:, target]
        chosen = self.counts[:, None] * (values[:, None] == np.arange(1, options + 1))
        starts = np.arange(len(self.rows) + 1) * options
        return LogisticLoss(Options(matrix, starts), self.counts, chosen.ravel())

    def penalty(self, target: int, l1: float, l2: float, *, penalise_intercept: bool) -> Penalty:
        """The prices of the intercept and of each other variable's table.

        Parameters
        ----------
        target : the variable that is regressed on the others
        l1, l2, penalise_intercept
            As in `SparsePairs`.
        """
        options = self.cardinalities[target] - 1
        sizes = options * np.delete(np.diff(self.starts), target)
        sizes = np.concatenate([[options], sizes[sizes > 0]])
        prices = l1 * np.sqrt(sizes)
        prices[0] *= penalise_intercept
        return Penalty(prices, np.concatenate([[0], np.cumsum(sizes)]), l2)


class SparsePairs(Learner):
    """Pairs of variables by sparse regressions, each variable on all others.

    A pair has a price, and stays if it is worth that; a variable with many values enters with its
    whole table or not at all. Each regression is solved to a stated gap.

    Parameters
    ----------
    l1 : float
        The price of a pair, on the total over the rows; the larger, the fewer pairs.
    l2 : float
        The price of half the sum of the squared weights.
    rule : "or" or "and"
        Whether a pair stays if one of its two regressions keeps it, or if both do.
    penalise_intercept : bool
        Whether the intercepts have a price, too.
    tolerance : float
        The largest gap of a regression to its optimum, as a part of its objective.
    max_iterations : int
        Newton steps per regression, at most.
    n_jobs : int
        How many threads; -1 means one per core. The result does not depend on it.
    show_progress : bool or function
        A line on standard error, or a function of (regressions done, regressions in all).

    Attributes
    ----------
    regressions_ : list of Regression
        In the order of the variables.
    pairs_ : list of (variable, variable)
        The positions of the pairs that stay.
    objective_ : float
        The sum of the objectives of all regressions.
    gap_ : float
        The largest gap of a regression, as a part of its objective.
    converged_ : bool
        Whether every regression is within the tolerance.

    Examples
    --------
    >>> rows = [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]] * 20
    >>> found = SparsePairs(l1=2).fit(rows)
    >>> found.pairs_, found.gap_ < 1e-6
    ([(0, 1)], True)
    """

    name = "sparse-pairs"

    def __init__(
        self,
        *,
        l1: float = 10.0,
        l2: float = 0.0,
        rule: Rule = "or",
        penalise_intercept: bool = False,
        tolerance: float = 1e-6,
        max_iterations: int = 200,
        n_jobs: int = 1,
        show_progress: bool | Progress = False,
    ) -> None:
        self.l1 = l1
        self.l2 = l2
        self.rule = rule
        self.penalise_intercept = penalise_intercept
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.n_jobs = n_jobs
        self.show_progress = show_progress

    def learn(self, data: Data) -> LogLinear:
        """All regressions, and what they agree on."""
        return self._learn(data, Columns.of(data), None)

    def path(
        self, data: DataLike, penalties: Iterable[float], *, domain: DomainLike | None = None
    ) -> list[Self]:
        """Learners for several values of ``l1``, each of which has learned.

        Every regression begins where that of the next stronger penalty ended.

        Parameters
        ----------
        data : frame, array, list of rows, path, or Data
        penalties : the values of ``l1``
        domain : Domain, or a mapping that makes one, optional

        Returns
        -------
        list of SparsePairs, in the order of the penalties

        Examples
        --------
        >>> rows = [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1], [1, 0, 0]] * 20
        >>> [len(found.pairs_) for found in SparsePairs().path(rows, [50, 10, 2])]
        [0, 1, 3]
        """
        own = as_data(data, domain)
        columns = Columns.of(own)
        wanted = list(penalties)
        found: dict[float, Self] = {}
        before: Self | None = None
        for l1 in sorted(set(wanted), reverse=True):
            learner: Self = fresh(self, {"l1": l1})
            start = None if before is None else before.regressions_
            before = learner._keep(learner._learn(own, columns, start), own)
            found[l1] = before
        return [found[l1] for l1 in wanted]

    def _learn(self, data: Data, columns: Columns, start: Sequence[Regression] | None) -> LogLinear:
        if self.rule not in ("or", "and"):
            raise ContextwiseError(f"rule is 'or' or 'and', not {self.rule!r}")
        check_penalties(self.l1, self.l2)
        self.regressions_ = self._regress(columns, start)
        optima = [own.optimum for own in self.regressions_]
        self.objective_ = sum(own.objective for own in optima)
        self.gap_ = max((own.gap for own in optima), default=0.0)
        self.converged_ = all(own.converged for own in optima)
        if not self.converged_:
            late = sum(not own.converged for own in optima)
            warnings.warn(
                f"{plural(late, 'regression')} of {len(optima)} ended before the optimum; allow "
                "more with max_iterations= or a larger penalty",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.pairs_ = kept_pairs(columns, self.regressions_, self.rule)
        return _model(data.domain, columns, self.regressions_, self.pairs_)

    def _regress(self, columns: Columns, start: Sequence[Regression] | None) -> list[Regression]:
        work = partial(self._regression, columns, start)
        targets = range(len(columns.cardinalities))
        found = []
        with (
            progress_of(self.show_progress, "regressing") as progress,
            ThreadPoolExecutor(threads_of(self.n_jobs)) as threads,
        ):
            try:
                for own in threads.map(work, targets) if self.n_jobs != 1 else map(work, targets):
                    found.append(own)
                    if progress:
                        progress(len(found), len(targets))
            except BaseException:  # Ctrl-C, too: what has not begun never does
                threads.shutdown(cancel_futures=True)
                raise
        return found

    def _regression(
        self, columns: Columns, start: Sequence[Regression] | None, target: int
    ) -> Regression:
        others = columns.others(target)
        weights = np.zeros((columns.matrix.shape[1], columns.cardinalities[target] - 1))
        optimum = minimise(
            columns.loss(target),
            columns.penalty(target, self.l1, self.l2, penalise_intercept=self.penalise_intercept),
            start=None if start is None else start[target].weights[others].ravel(),
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
        )
        weights[others] = optimum.weights.reshape(len(others), weights.shape[1])
        return Regression(target, weights, optimum)

    def conditional_score(self, rows: DataLike) -> float:
        """The mean over rows of Σ_t log P(x_t | the others), by the regressions themselves.

        Parameters
        ----------
        rows : frame, array, list of rows, path, or Data
        """
        data = self._rows_to_score(rows)
        columns = Columns.of(data)
        total = 0.0
        for own in self.regressions_:
            weights = own.weights[columns.others(own.target)].ravel()
            total -= columns.loss(own.target).at(weights).value
        return total / len(data)


def kept_pairs(
    columns: Columns, regressions: Sequence[Regression], rule: Rule
) -> list[tuple[int, int]]:
    """The pairs whose table is not 0 in either regression ("or"), or in both ("and").

    Parameters
    ----------
    columns : Columns
    regressions : in the order of the variables
    rule : "or" or "and"
    """
    count = len(regressions)
    keeps = np.zeros((count, count), dtype=bool)
    for own in regressions:
        some = np.flatnonzero(own.weights[1:].any(axis=1))
        keeps[own.target, np.searchsorted(columns.starts, some, side="right") - 1] = True
    both = keeps | keeps.T if rule == "or" else keeps & keeps.T
    return [pair for pair in combinations(range(count), 2) if both[pair]]


def _model(
    domain: Domain,
    columns: Columns,
    regressions: Sequence[Regression],
    pairs: Sequence[tuple[int, int]],
) -> LogLinear:
    """The intercepts, and for each pair a feature per cell without value 0."""
    starts = 1 + columns.starts
    tables = [own.weights[0][:, None] for own in regressions]
    scopes: list[tuple[int, int]] = [(v, -1) for v in range(len(regressions))]
    for i, j in pairs:
        of_i = regressions[i].weights[starts[j] : starts[j + 1]].T
        of_j = regressions[j].weights[starts[i] : starts[i + 1]]
        tables.append((of_i + of_j) / 2)
        scopes.append((i, j))
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
