"""Trees, AcyclicTrees and TreesAndPairs: one decision tree per variable, its paths are features.

Lowd and Davis. Each variable gets a tree over all others (`contextwise.learning.growth` has the
rules). A path from the root to a leaf, with a value of the target, is a feature; its weight is the
log of the smoothed share at the leaf. `Trees` grows each tree by itself. As one Markov network the
features overlap, so the network predicts worse than the trees until all weights are refitted:
``refit="l1"``, the learner DTSL. `AcyclicTrees` are those of a Bayesian network.

Trees predict well and are poor structure learners: a path makes all its variables depend on each
other wherever the others hold, which is more than the data support.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from contextwise.data.rows import Data, DataLike
from contextwise.errors import ContextwiseError, DomainError
from contextwise.learning.base import Learner, check_prior, threads_of
from contextwise.learning.growth import Rules, Tree, grow
from contextwise.learning.sparse_pairs import SparsePairs
from contextwise.models.domain import Domain
from contextwise.models.factors import weighted
from contextwise.models.features import IntArray, all_values, single_values
from contextwise.models.structure import LogLinear, Model, structure_of
from contextwise.support.progress import Progress, progress_of

FloatArray = npt.NDArray[np.float64]


class _TreeLearner(Learner):
    """Base class of learners of trees."""

    penalty: float
    min_count: int
    prior: float
    n_jobs: int
    show_progress: bool | Progress
    trees_: list[Tree]

    def _grow(self, data: Data, acyclic: bool) -> LogLinear:
        if not 0 <= self.penalty < np.inf:
            raise DomainError(f"penalty must be >= 0, got {self.penalty}")
        if self.min_count < 0:
            raise DomainError(f"min_count must be >= 0, got {self.min_count}")
        rules = Rules(float(self.penalty), int(self.min_count), float(check_prior(self.prior)))
        with progress_of(self.show_progress, "growing trees") as progress:
            self.trees_ = grow(
                data.rows,
                data.domain.cardinalities,
                rules,
                acyclic=acyclic,
                threads=threads_of(self.n_jobs),
                progress=progress,
                deadline=self.deadline,
            )
        self.is_late()
        return network_of(data.domain, self.trees_, rules.prior)

    def conditional_score(self, rows: DataLike) -> float:
        """Return the mean over rows of Σ_t log P(x_t | the others) of the trees.

        Parameters
        ----------
        rows : frame, array, list of rows, path, or Data
        """
        data = self._rows_to_score(rows)
        totals = (tree_logs(tree, data.rows, self.prior).sum() for tree in self.trees_)
        return float(sum(totals)) / len(data)


@dataclass(eq=False, repr=False, kw_only=True)
class Trees(_TreeLearner):
    """One decision tree per variable over all others; the paths to the leaves are the features.

    Every path makes all its variables depend on each other, so trees predict well but claim more
    dependencies than the data support.

    Parameters
    ----------
    penalty : float
        Smallest gain of a split in log-likelihood, in nats; larger values give smaller trees.
    min_count : int
        Rows that each side of a split needs.
    prior : float
        Weight of the prior at each leaf, in rows, spread evenly over the values.
    refit : "l1" or None
        Fit the weights of all features together by L1-penalised pseudo-likelihood and drop features
        of weight 0 (DTSL).
    l1 : float
        L1 penalty of the refit, on the total over the rows.
    l2 : float
        L2 penalty of the refit, on the total over the rows (1/sd² of a normal prior).
    n_jobs : int
        Number of threads; -1 means all cores. The result does not depend on it.
    show_progress : bool or function
        Show a progress bar on standard error, or call a function of (trees grown, trees).

    Attributes
    ----------
    trees_ : list of Tree
        In the order of the variables.

    Examples
    --------
    >>> rows = [[0, 0], [1, 1]] * 20
    >>> Trees(penalty=1).fit(rows).structure_
    Structure(2 variables, 4 features: v0=0 & v1=0; v0=1 & v1=0; v0=0 & v1=1; v0=1 & v1=1)
    """

    penalty: float = 10.0
    min_count: int = 10
    prior: float = 1.0
    refit: Literal["l1"] | None = None
    l1: float = 5.0
    l2: float = 0.0
    n_jobs: int = 1
    show_progress: bool | Progress = False

    def learn(self, data: Data) -> Model:
        """Grow the trees and make them one network."""
        if self.refit not in (None, "l1"):
            raise ContextwiseError(f"refit must be 'l1' or None, got {self.refit!r}")
        network = self._grow(data, acyclic=False)
        if self.refit is None:
            return network
        return self.refit_l1(network, data, self.l1, self.l2)


@dataclass(eq=False, repr=False, kw_only=True)
class AcyclicTrees(_TreeLearner):
    """Decision trees of a Bayesian network: the best split of all trees first, without cycles.

    The model is the product of the conditionals of the trees. Its partition function is 1.

    Parameters
    ----------
    penalty : float
        Smallest gain of a split in log-likelihood, in nats; larger values give smaller trees.
    min_count : int
        Rows that each side of a split needs.
    prior : float
        Weight of the prior at each leaf, in rows, spread evenly over the values.
    n_jobs : int
        Number of threads that find the first splits; -1 means all cores.
    show_progress : bool or function
        Show a progress bar on standard error, or call a function of (first splits, trees).

    Attributes
    ----------
    trees_ : list of Tree
        In the order of the variables.

    Examples
    --------
    >>> rows = [[0, 0], [1, 1]] * 20
    >>> [int(tree.variables[0]) for tree in AcyclicTrees(penalty=1).fit(rows).trees_]
    [1, -1]
    """

    penalty: float = 10.0
    min_count: int = 10
    prior: float = 1.0
    n_jobs: int = 1
    show_progress: bool | Progress = False

    def learn(self, data: Data) -> Model:
        """Grow the trees; their product is the model."""
        return self._grow(data, acyclic=True)


@dataclass(eq=False, repr=False, kw_only=True)
class TreesAndPairs(Learner):
    """The features of decision trees and of sparse regressions, their weights fitted together.

    Trees find interactions of many variables and need a whole path for each; regressions find pairs
    only. Together they predict better than either.

    Parameters
    ----------
    penalty : float
        Smallest gain of a split of a tree; see `Trees`.
    min_count : int
        Rows that each side of a split needs.
    pairs_l1 : float
        Penalty of a pair in the regressions; see `SparsePairs`.
    l1 : float
        L1 penalty of the refit, on the total over the rows; features of weight 0 are dropped.
    l2 : float
        L2 penalty of the refit.
    n_jobs : int
        Number of threads; -1 means all cores. The result does not depend on it.
    show_progress : bool or function
        Show a progress bar on standard error, or call a function of (done, total) for each phase.

    Examples
    --------
    >>> rows = [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]] * 20
    >>> TreesAndPairs(penalty=2, pairs_l1=2, l1=2).fit(rows).structure_.pairs()
    [('v0', 'v1')]
    """

    penalty: float = 10.0
    min_count: int = 10
    pairs_l1: float = 10.0
    l1: float = 5.0
    l2: float = 0.0
    n_jobs: int = 1
    show_progress: bool | Progress = False

    def learn(self, data: Data) -> Model:
        """Learn both sets of features and fit them once."""
        trees = Trees(
            penalty=self.penalty,
            min_count=self.min_count,
            n_jobs=self.n_jobs,
            show_progress=self.show_progress,
        )
        pairs = SparsePairs(l1=self.pairs_l1, n_jobs=self.n_jobs, show_progress=self.show_progress)
        both = structure_of(self.learn_by(trees, data)) | structure_of(self.learn_by(pairs, data))
        return self.refit_l1(both, data, self.l1, self.l2)


# -- trees as conditionals -------------------------------------------------------------------------


def leaf_logs(tree: Tree, prior: float) -> FloatArray:
    """Return the log of the smoothed share of each value, one row per leaf."""
    counts = tree.counts
    shares = (counts + prior / counts.shape[1]) / (counts.sum(axis=1, keepdims=True) + prior)
    return np.asarray(np.log(shares))


def tree_logs(tree: Tree, rows: IntArray, prior: float) -> FloatArray:
    """Return log P(the value of the target | the others) of each row."""
    logs = leaf_logs(tree, prior)
    result = np.empty(len(rows))
    waiting = [np.arange(len(rows))]
    leaf = 0
    for variable, value in zip(tree.variables.tolist(), tree.values.tolist(), strict=True):
        mine = waiting.pop()
        if variable < 0:
            result[mine] = logs[leaf, rows[mine, tree.target]]
            leaf += 1
        else:
            holds = rows[mine, variable] == value
            waiting += [mine[~holds], mine[holds]]
    return result


# -- trees as features -----------------------------------------------------------------------------


def network_of(domain: Domain, trees: Sequence[Tree], prior: float) -> LogLinear:
    """Return the trees as one model: a feature per leaf and value, its weight the log share."""
    everything = all_values(np.array(domain.cardinalities, dtype=np.int64))
    before = np.cumsum([0, *(tree.counts.size for tree in trees)])
    parts = [
        _literals(tree, domain.cardinalities, first)
        for tree, first in zip(trees, before.tolist(), strict=False)
    ]
    nothing = np.zeros((4, 0), dtype=np.int64)
    owners, variables, states, holds = np.concatenate([nothing, *parts], axis=1)
    values = single_values(states, everything.shape[1])
    values = np.where(holds[:, None] == 1, values, everything[variables] & ~values)
    weights = np.concatenate([np.zeros(0), *(leaf_logs(tree, prior).ravel() for tree in trees)])
    return weighted(domain, owners, variables, values, weights)


def _literals(tree: Tree, cardinalities: Sequence[int], first: int) -> IntArray:
    """Return the literals of a tree's features, numbered from ``first``.

    Four rows: the feature, the variable, the value, and whether it must hold.
    """
    paths = list(_paths(tree))
    leaves, card = len(paths), cardinalities[tree.target]
    leaf = np.repeat(np.arange(leaves), [len(path) for path in paths])
    steps = np.array([step for path in paths for step in path], dtype=np.int64)
    node, holds = steps >> 1, steps & 1
    feature = np.arange(leaves * card)
    on_paths = np.stack([leaf * card, tree.variables[node], tree.values[node], holds])
    on_paths = np.repeat(on_paths, card, axis=1)
    on_paths[0] += np.tile(np.arange(card), len(steps))
    at_leaf = [feature, np.full_like(feature, tree.target), feature % card, np.ones_like(feature)]
    literals = np.concatenate([on_paths, at_leaf], axis=1)
    literals[0] += first
    return literals


def _paths(tree: Tree) -> Iterator[list[int]]:
    """Yield the path to each leaf: twice the number of each node, plus 1 where its test holds."""
    waiting: list[list[int]] = [[]]
    for node, variable in enumerate(tree.variables.tolist()):
        path = waiting.pop()
        if variable < 0:
            yield path
        else:
            waiting += [[*path, 2 * node], [*path, 2 * node + 1]]
