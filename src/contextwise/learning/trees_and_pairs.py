"""Two kinds of features in one network: those of decision trees and those of sparse regressions.

Trees see interactions of many variables and spend a whole path on each; regressions see pairs and
nothing else. Their features together, with one sparse fit that drops what is not worth its price,
predict better than either.
"""

from __future__ import annotations

from contextwise.data.rows import Data
from contextwise.learning.base import Learner, refit_l1
from contextwise.learning.sparse_pairs import SparsePairs
from contextwise.learning.trees import Trees
from contextwise.models.structure import LogLinear
from contextwise.support.progress import Progress


class TreesAndPairs(Learner):
    """The features of decision trees and of sparse regressions, their weights fitted together.

    Parameters
    ----------
    penalty : float
        What a split of a tree must gain; see `Trees`.
    min_count : int
        How many rows each side of a split needs.
    pairs_l1 : float
        The price of a pair in the regressions; see `SparsePairs`.
    l1 : float
        The L1 penalty of the refit, on the total over the rows; features of weight 0 are dropped.
    l2 : float
        The L2 penalty of the refit.
    n_jobs : int
        How many threads; -1 means one per core. The result does not depend on it.
    show_progress : bool or function
        A line on standard error, or a function of (done, in all) of each part in turn.

    Examples
    --------
    >>> rows = [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]] * 20
    >>> TreesAndPairs(penalty=2, pairs_l1=2, l1=2).fit(rows).structure_.pairs()
    [('v0', 'v1')]
    """

    name = "trees-and-pairs"

    def __init__(
        self,
        *,
        penalty: float = 10.0,
        min_count: int = 10,
        pairs_l1: float = 10.0,
        l1: float = 5.0,
        l2: float = 0.0,
        n_jobs: int = 1,
        show_progress: bool | Progress = False,
    ) -> None:
        self.penalty = penalty
        self.min_count = min_count
        self.pairs_l1 = pairs_l1
        self.l1 = l1
        self.l2 = l2
        self.n_jobs = n_jobs
        self.show_progress = show_progress

    def learn(self, data: Data) -> LogLinear:
        """Both sets of features, and one refit."""
        trees = Trees(
            penalty=self.penalty,
            min_count=self.min_count,
            n_jobs=self.n_jobs,
            show_progress=self.show_progress,
        ).learn(data)
        pairs = SparsePairs(
            l1=self.pairs_l1, n_jobs=self.n_jobs, show_progress=self.show_progress
        ).learn(data)
        both = trees.structure | pairs.structure
        return refit_l1(both, data, self.l1, l2=self.l2, show_progress=self.show_progress)
