"""BestOfTwo: `pair-blocks` or `acyclic-trees`, whichever suits the rows; the default.

Both are good on different truths. `pair-blocks` stays unless all of these speak for the network,
the cheapest first:

1.  Its AIC is better: log-likelihood of the rows minus free parameters.
2.  The rows contradict none of its independencies (Benjamini and Yekutieli, `CONTRADICTION_LEVEL`).
3.  Below `FEW` rows, it predicts unseen fifths of the rows better. They are drawn from the sorted
    rows, so that the order of the rows changes nothing.

For tables of more than `MOST_CELLS_TO_COMPARE` cells, `pair-blocks` stays and nothing is compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from contextwise.data.rows import Data, by_position
from contextwise.distributions.fitting import dimension
from contextwise.distributions.fitting import fit as fit_weights
from contextwise.distributions.likelihood import mean_log_likelihood
from contextwise.evidence.blanket_tests import evaluate_claims
from contextwise.evidence.counted_rows import CountedRows
from contextwise.learning.acyclic_trees import AcyclicTrees
from contextwise.learning.base import Learner, Run
from contextwise.learning.pair_blocks import PairBlocks
from contextwise.models.origin import Origin
from contextwise.models.structure import LogLinear, Model, Structure, structure_of
from contextwise.support.effort import Deadline
from contextwise.support.statistics import benjamini_yekutieli

MOST_CELLS_TO_COMPARE = 200_000
"""Cells of the table of all variables, above which likelihoods are not compared."""
FEW, FOLDS = 500, 5
CONTRADICTION_LEVEL = 0.05
"""The false discovery rate of the tests of the network's independencies."""


@dataclass(eq=False, repr=False, kw_only=True)
class BestOfTwo(Learner):
    """Pair-blocks, or acyclic-trees if the rows prefer it: the default.

    `acyclic-trees` is chosen if its AIC is better and the rows contradict none of its
    independencies. Below 500 rows, it must also predict unseen rows better.

    Parameters
    ----------
    require, forbid : lists of pairs of names
        Pairs that depend, and pairs that are independent.

    Attributes
    ----------
    chosen_ : Learner
        The learner that was chosen, not fitted.
    reason_ : str
        Why.

    Examples
    --------
    A and B cause C; given C they depend, which a network finds with few parameters:

    >>> rows = [[a, b, int(a + b > 0)] for a in (0, 1) for b in (0, 1)] * 100
    >>> learned = BestOfTwo().fit(rows)
    >>> learned.structure_.origin.learner == learned.chosen_.name
    True
    """

    require: Sequence[tuple[str, str]] = ()
    forbid: Sequence[tuple[str, str]] = ()

    def learn(self, data: Data, run: Run) -> Model:
        """Learn with both, and return the better result."""
        blocks = PairBlocks(require=self.require, forbid=self.forbid)
        trees = AcyclicTrees(require=self.require, forbid=self.forbid)
        self.chosen_: Learner = blocks
        self.reason_ = ""
        undirected = blocks.learn(data, run)
        run.best = lambda: undirected
        cells = prod(data.domain.cardinalities)
        if run.is_late():
            self.reason_ = "the time limit left no time for acyclic-trees"
        elif cells > MOST_CELLS_TO_COMPARE:
            self.reason_ = f"a table of {cells:,} cells is too large to compare likelihoods"
        else:
            try:
                within = Run(run.deadline)
                directed = trees.learn(data, within)
                self.reason_, is_better = _compared(undirected, directed, trees, data, run.deadline)
            except run.deadline.out_of_time:
                is_better, self.reason_ = False, "the time limit ended the comparison"
            if is_better:
                self.chosen_ = trees
                return directed
        return undirected

    def _origin(self, data: Data, directed: bool) -> Origin:
        """Return the origin with the name of the learner that was chosen, and why."""
        chosen = self.chosen_
        chosen.finished_ = self.finished_
        origin = chosen._origin(data, directed)
        learned = origin.learned and origin.learned._replace(reason=self.reason_)
        return replace(origin, learned=learned)

    def settled(self, data: Data) -> Learner:
        """Return the learner that these rows choose."""
        if not self.__sklearn_is_fitted__() or self._data is not data:
            self.fit(data)
        return self.chosen_


def _compared(
    undirected: Structure, directed: LogLinear, trees: AcyclicTrees, data: Data, deadline: Deadline
) -> tuple[str, bool]:
    """Return why a model is better, and whether it is the network."""
    gain = _aic(directed, _free(trees), data)
    gain -= _aic(_fitted(undirected, data, deadline), dimension(undirected) or 0, data)
    if gain <= 0:
        return f"its AIC is better than that of acyclic-trees by {-gain:,.1f}", False
    plain = Structure(directed.domain, directed.structure.features)
    tested = evaluate_claims(plain, CountedRows.of(data), deadline=deadline)
    if min(benjamini_yekutieli([p for _, p in tested]), default=1.0) <= CONTRADICTION_LEVEL:
        return "the rows contradict an independence of acyclic-trees", False
    if len(data) < FEW and _advantage(trees, data, deadline) <= 0:
        return "acyclic-trees predicts unseen rows no better", False
    return f"its AIC is better than that of pair-blocks by {gain:,.1f}", True


def _fitted(structure: Structure, data: Data, deadline: Deadline) -> LogLinear:
    plain, rows = by_position(structure), data.coded
    how = {"method": "likelihood", "l2": 0.1, "tolerance": 1e-5, "deadline": deadline}
    fitted = fit_weights(plain, rows, **how)  # type: ignore[arg-type]
    return LogLinear(structure, fitted.model.weights)


def _free(trees: AcyclicTrees) -> int:
    """Return the number of free parameters of a network of trees."""
    return sum(tree.counts.shape[0] * (tree.counts.shape[1] - 1) for tree in trees.trees_)


def _aic(model: LogLinear, free: int, data: Data) -> float:
    """Return the log-likelihood of the rows minus the number of free parameters."""
    return len(data) * mean_log_likelihood(model, data) - free


def _advantage(trees: AcyclicTrees, data: Data, deadline: Deadline) -> float:
    """Return by how much the network predicts unseen fifths of the rows better, in nats."""
    rows = data.expanded
    order = np.lexsort(rows.rows.T[::-1])
    parts = np.array_split(order[np.random.default_rng(0).permutation(len(order))], FOLDS)
    total = 0.0
    for part in parts:
        deadline.check()
        seen = rows.take(np.setdiff1d(np.arange(len(rows)), part))
        unseen, run = rows.take(np.sort(part)), Run(deadline)
        fresh = AcyclicTrees(require=trees.require, forbid=trees.forbid)
        blocks = PairBlocks(require=trees.require, forbid=trees.forbid)
        undirected = _fitted(structure_of(blocks.learn(seen, run)), seen, deadline)
        directed = fresh.learn(seen, run)
        gain = mean_log_likelihood(directed, unseen) - mean_log_likelihood(undirected, unseen)
        total += len(unseen) * gain
    return total
