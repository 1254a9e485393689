"""Decision trees as structures: one tree per variable, its paths the features (Lowd and Davis).

Each variable gets a tree over all others (`contextwise.learning.growth` has the rules). A path from
the root to a leaf, with a value of the tree's variable, is a feature, and the log of the leaf's
smoothed share is its weight. `Trees` learns the trees one by one: they are conditionals of their
own, and as one Markov network their features overlap, so the network predicts worse than the trees
until its weights are fitted together. With ``refit="l1"`` that is done, by pseudo-likelihood with
an L1 penalty, and features of weight 0 are dropped: the learner DTSL. `AcyclicTrees` are those of a
Bayesian network; the product of their conditionals is the model.

Trees predict well and are no structure learners: a path makes all its variables depend on each
other wherever the others hold, which is more than the data say.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from contextwise.data.rows import Data, DataLike
from contextwise.errors import ContextwiseError, DomainError
from contextwise.learning import growth, growth_native
from contextwise.learning.base import Learner, refit_l1
from contextwise.learning.chow_liu import check_prior
from contextwise.learning.growth import Rules, Tree
from contextwise.models.domain import Domain
from contextwise.models.factors import weighted
from contextwise.models.features import IntArray, all_values, single_values
from contextwise.models.structure import LogLinear
from contextwise.support.progress import Progress, progress_of

FloatArray = npt.NDArray[np.float64]


class _TreeLearner(Learner):
    """What both learners of trees share: their rules, and the trees as conditionals."""

    penalty: float
    min_count: int
    prior: float
    n_jobs: int
    show_progress: bool | Progress
    trees_: list[Tree]

    def rules(self) -> Rules:
        """The rules, if the parameters make sense."""
        if not 0 <= self.penalty < np.inf:
            raise DomainError(f"penalty is a number from 0 up, not {self.penalty}")
        if self.min_count < 0:
            raise DomainError(f"min_count is a number of rows, not {self.min_count}")
        return Rules(float(self.penalty), int(self.min_count), float(check_prior(self.prior)))

    def _grow(self, data: Data, acyclic: bool) -> LogLinear:
        twin = growth if growth_native.missing() else growth_native
        grow = twin.grow_acyclic if acyclic else twin.grow_trees
        rules = self.rules()
        with progress_of(self.show_progress, "growing trees") as progress:
            self.trees_ = grow(
                data.rows,
                data.domain.cardinalities,
                rules,
                threads=threads_of(self.n_jobs),
                progress=progress,
            )
        return network_of(data.domain, self.trees_, rules.prior)

    def conditional_score(self, rows: DataLike) -> float:
        """The mean over rows of Σ_t log P(x_t | the others), by the trees themselves.

        Parameters
        ----------
        rows : frame, array, list of rows, path, or Data
        """
        data = self._rows_to_score(rows)
        logs = [tree_logs(tree, data.rows, self.prior) for tree in self.trees_]
        return float(sum(own.sum() for own in logs)) / len(data)


class Trees(_TreeLearner):
    """One decision tree per variable over all others; the paths to the leaves are the features.

    Every path makes all its variables depend on each other, so trees predict well and claim more
    dependencies than the data show.

    Parameters
    ----------
    penalty : float
        What a split must gain in log-likelihood, in nats; the larger, the smaller the trees.
    min_count : int
        How many rows each side of a split needs.
    prior : float
        How many rows the prior counts, spread evenly over the values, at each leaf.
    refit : "l1" or None
        Whether the weights of all features are fitted together by L1-penalised pseudo-likelihood,
        and features of weight 0 dropped (DTSL).
    l1 : float
        The L1 penalty of the refit, on the total over the rows.
    l2 : float
        The L2 penalty of the refit, on the total over the rows (1/sd² of a normal prior).
    n_jobs : int
        How many threads; -1 means one per core. The result does not depend on it.
    show_progress : bool or function
        A line on standard error, or a function of (trees grown, trees in all).

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

    name = "trees"

    def __init__(
        self,
        *,
        penalty: float = 10.0,
        min_count: int = 10,
        prior: float = 1.0,
        refit: Literal["l1"] | None = None,
        l1: float = 5.0,
        l2: float = 0.0,
        n_jobs: int = 1,
        show_progress: bool | Progress = False,
    ) -> None:
        self.penalty = penalty
        self.min_count = min_count
        self.prior = prior
        self.refit = refit
        self.l1 = l1
        self.l2 = l2
        self.n_jobs = n_jobs
        self.show_progress = show_progress

    def learn(self, data: Data) -> LogLinear:
        """The trees as one network, refitted if that is wanted."""
        if self.refit not in (None, "l1"):
            raise ContextwiseError(f"refit is 'l1' or None, not {self.refit!r}")
        network = self._grow(data, acyclic=False)
        if self.refit is None:
            return network
        return refit_l1(network, data, self.l1, l2=self.l2, show_progress=self.show_progress)


class AcyclicTrees(_TreeLearner):
    """Decision trees of a Bayesian network: the best split of all first, without cycles.

    The model is the product of the trees' conditionals, whose partition function is 1, and its
    likelihood is what the splits raise.

    Parameters
    ----------
    penalty : float
        What a split must gain in log-likelihood, in nats; the larger, the smaller the trees.
    min_count : int
        How many rows each side of a split needs.
    prior : float
        How many rows the prior counts, spread evenly over the values, at each leaf.
    n_jobs : int
        How many threads find the first splits; -1 means one per core.
    show_progress : bool or function
        A line on standard error, or a function of (first splits found, trees in all).

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

    name = "acyclic-trees"

    def __init__(
        self,
        *,
        penalty: float = 10.0,
        min_count: int = 10,
        prior: float = 1.0,
        n_jobs: int = 1,
        show_progress: bool | Progress = False,
    ) -> None:
        self.penalty = penalty
        self.min_count = min_count
        self.prior = prior
        self.n_jobs = n_jobs
        self.show_progress = show_progress

    def learn(self, data: Data) -> LogLinear:
        """The trees as a product of conditionals."""
        return self._grow(data, acyclic=True)


def threads_of(n_jobs: int) -> int:
    """How many threads ``n_jobs`` means.

    >>> threads_of(2)
    2
    """
    if n_jobs < 1 and n_jobs != -1:
        raise ContextwiseError(f"n_jobs is a number from 1 up, or -1 for all cores, not {n_jobs}")
    return n_jobs if n_jobs > 0 else os.cpu_count() or 1


# -- trees as conditionals -------------------------------------------------------------------------


def leaf_logs(tree: Tree, prior: float) -> FloatArray:
    """The log of the smoothed share of each value, one row per leaf."""
    counts = tree.counts
    shares = (counts + prior / counts.shape[1]) / (counts.sum(axis=1, keepdims=True) + prior)
    return np.asarray(np.log(shares))


def tree_logs(tree: Tree, rows: IntArray, prior: float) -> FloatArray:
    """log P(the target's value | the others) of each row.

    Parameters
    ----------
    tree : Tree
    rows : int array
        Positions of states, one row per case.
    prior : float
        As the tree was grown with.
    """
    logs = leaf_logs(tree, prior)
    found = np.empty(len(rows))
    waiting = [np.arange(len(rows))]
    leaf = 0
    for variable, value in zip(tree.variables.tolist(), tree.values.tolist(), strict=True):
        mine = waiting.pop()
        if variable < 0:
            found[mine] = logs[leaf, rows[mine, tree.target]]
            leaf += 1
        else:
            holds = rows[mine, variable] == value
            waiting += [mine[~holds], mine[holds]]
    return found


# -- trees as features -----------------------------------------------------------------------------


def network_of(domain: Domain, trees: Sequence[Tree], prior: float) -> LogLinear:
    """The trees as one log-linear model: a feature per leaf and value, its log share the weight.

    Parameters
    ----------
    domain : Domain
    trees : sequence of Tree
    prior : float
        As the trees were grown with.
    """
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
    """The literals of a tree's features, which are numbered from ``first`` on.

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
    target, one = np.full_like(feature, tree.target), np.ones_like(feature)
    literals = np.concatenate([on_paths, [feature, target, feature % card, one]], axis=1)
    literals[0] += first
    return literals


def _paths(tree: Tree) -> Iterator[list[int]]:
    """The way to each leaf: twice the number of each node passed, plus 1 where its test holds."""
    waiting: list[list[int]] = [[]]
    for node, variable in enumerate(tree.variables.tolist()):
        path = waiting.pop()
        if variable < 0:
            yield path
        else:
            waiting += [[*path, 2 * node], [*path, 2 * node + 1]]
