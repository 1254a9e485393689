"""Trees: one decision tree per variable, its paths are features.

Lowd and Davis. Each variable gets a tree over all others. A path from the root to a leaf, with a
value of the target, is a feature; its weight is the log of the smoothed share at the leaf. `Trees`
grows each tree by itself. As one Markov network the features overlap, so the network predicts worse
than the trees until all weights are refitted: ``refit="l1"``, the learner DTSL. Trees predict well
and are poor structure learners: a path makes all its variables depend on each other wherever the
others hold, which is more than the data support.

**Growth.** A test is "v = k": a variable with two values gives one test (v = 0), one with K > 2
values gives K tests, at every node again; one with a single value gives none. With c_k rows of
value k of the target at a node, ::

    L(c) = Σ_k c_k ln((c_k + α/K) / (Σc + α))          without terms where c_k = 0
    score = L(p) + L(q) - L(c)                         p, q: the rows where the test holds, fails

The test with the largest score is chosen (ties: the first in the order of variables and values) if
its score exceeds the penalty and both sides have enough rows. Growth is plain recursion, without
pruning, randomness or a limit of depth. These are the rules of Libra's learner, inferred from its
trees.

The C++ in ``grow/`` keeps one set of bits per value; it counts a candidate with an AND and a
population count, or row by row where that is less work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from contextwise.data.rows import Data
from contextwise.errors import ContextwiseError, DomainError
from contextwise.learning.base import Run, check_prior, threads_of
from contextwise.learning.tree_features import Tree, TreeLearner, network_of
from contextwise.models.structure import Model
from contextwise.support.effort import progress_of
from contextwise.support.loading import why_not_compiled

not_compiled: str | None = None
"""Why the compiled growth is not available, if it is not."""
try:
    import contextwise.learning._grow as _grow
except ImportError as error:
    not_compiled = why_not_compiled(error)


@dataclass(eq=False, repr=False, kw_only=True)
class Trees(TreeLearner):
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

    def learn(self, data: Data, run: Run) -> Model:
        """Grow the trees and make them one network."""
        if self.refit not in (None, "l1"):
            raise ContextwiseError(f"refit must be 'l1' or None, got {self.refit!r}")
        if not 0 <= self.penalty < np.inf:
            raise DomainError(f"penalty must be >= 0, got {self.penalty}")
        if self.min_count < 0:
            raise DomainError(f"min_count must be >= 0, got {self.min_count}")
        prior = float(check_prior(self.prior))
        self.trees_ = self._grow(data, prior, run)
        network = network_of(data.domain, self.trees_, prior)
        if self.refit is None:
            return network
        return run.refit_l1(network, data, self.l1, self.l2)

    def _grow(self, data: Data, prior: float, run: Run) -> list[Tree]:
        """Grow one tree per variable, until the time limit."""
        if not_compiled:
            raise ContextwiseError(f"trees has no version in Python ({not_compiled})")
        rows, cards = data.expanded.rows, data.domain.cardinalities  # each observation is a bit
        with progress_of(run.show_progress, "growing trees") as progress:

            def watch(done: int) -> bool:
                """Report progress; return whether to continue."""
                if progress:
                    progress(done, len(cards))
                return not run.is_late()

            grown = _grow.grow(
                np.ascontiguousarray(rows.T, dtype=np.int32).reshape(len(cards), len(rows)),
                list(cards),
                float(self.penalty),
                int(self.min_count),
                prior,
                threads_of(self.n_jobs),
                watch,
            )
        return [
            Tree(target, variables, values, counts.reshape(-1, cards[target]))
            for target, (variables, values, counts) in enumerate(grown)
        ]
