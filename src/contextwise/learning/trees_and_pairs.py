"""TreesAndPairs: the features of decision trees and of sparse regressions in one network.

Trees find interactions of many variables and need a whole path for each; regressions find pairs
only. Their features together, with one sparse fit, predict better than either.
"""

from __future__ import annotations

from dataclasses import dataclass

from contextwise.data.rows import Data
from contextwise.learning.base import Learner
from contextwise.learning.sparse_pairs import SparsePairs
from contextwise.learning.trees import Trees
from contextwise.models.structure import Model, structure_of
from contextwise.support.progress import Progress


@dataclass(eq=False, repr=False, kw_only=True)
class TreesAndPairs(Learner):
    """The features of decision trees and of sparse regressions, their weights fitted together.

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
