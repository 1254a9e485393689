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

Both versions take logs one by one with the C library, so that they round alike and choose the same
test where two are nearly equal. The C++ in ``grow/`` keeps one set of bits per value; it counts a
candidate with an AND and a population count, or row by row where that is less work.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from contextwise.data.rows import Data
from contextwise.errors import ContextwiseError, DomainError
from contextwise.learning.base import Run, check_prior, threads_of
from contextwise.learning.tree_features import Tree, TreeLearner, network_of
from contextwise.models.structure import Model
from contextwise.support.arrays import IntArray
from contextwise.support.effort import NEVER, Deadline, Progress, progress_of
from contextwise.support.loading import why_not_compiled

not_compiled: str | None = None
"""Why the compiled growth is not available, if it is not."""
try:
    import contextwise.learning._grow as _grow
except ImportError as error:
    not_compiled = why_not_compiled(error)


@dataclass(frozen=True)
class Rules:
    """When to split: the penalty in nats, the rows each side needs, and α, the prior of a leaf."""

    penalty: float
    min_count: int
    prior: float


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

    def learn(self, data: Data, run: Run) -> Model:
        """Grow the trees and make them one network."""
        if self.refit not in (None, "l1"):
            raise ContextwiseError(f"refit must be 'l1' or None, got {self.refit!r}")
        if not 0 <= self.penalty < np.inf:
            raise DomainError(f"penalty must be >= 0, got {self.penalty}")
        if self.min_count < 0:
            raise DomainError(f"min_count must be >= 0, got {self.min_count}")
        rules = Rules(float(self.penalty), int(self.min_count), float(check_prior(self.prior)))
        with progress_of(run.show_progress, "growing trees") as progress:
            self.trees_ = grow(
                data.expanded.rows,  # each observation is a bit
                data.domain.cardinalities,
                rules,
                threads=threads_of(self.n_jobs),
                progress=progress,
                deadline=run.deadline,
            )
        run.is_late()
        network = network_of(data.domain, self.trees_, rules.prior)
        if self.refit is None:
            return network
        return run.refit_l1(network, data, self.l1, self.l2)


# -- growth ----------------------------------------------------------------------------------------


def grow(
    rows: IntArray,
    cardinalities: Sequence[int],
    rules: Rules,
    *,
    threads: int = 1,
    progress: Progress | None = None,
    deadline: Deadline = NEVER,
) -> list[Tree]:
    """Grow one tree per variable, until a deadline, with compiled code where it is available."""
    if not_compiled:
        return grow_readably(rows, cardinalities, rules, progress=progress, deadline=deadline)
    total = len(cardinalities)

    def watch(done: int) -> bool:
        """Report progress; return whether to continue."""
        if progress:
            progress(done, total)
        return not deadline.passed

    grown = _grow.grow(
        np.ascontiguousarray(rows.T, dtype=np.int32).reshape(total, len(rows)),
        list(cardinalities),
        rules.penalty,
        rules.min_count,
        rules.prior,
        threads,
        watch,
    )
    return [
        Tree(target, variables, values, counts.reshape(-1, cardinalities[target]))
        for target, (variables, values, counts) in enumerate(grown)
    ]


def grow_readably(
    rows: IntArray,
    cardinalities: Sequence[int],
    rules: Rules,
    *,
    progress: Progress | None = None,
    deadline: Deadline = NEVER,
) -> list[Tree]:
    """Grow one tree per variable in plain Python; `grow` returns the same trees."""
    trees = []
    for target in range(len(cardinalities)):
        root = _Node(target, rows)
        waiting = [root]
        while waiting and not deadline.passed:
            leaf = waiting.pop()
            leaf.split = _best_split(leaf, cardinalities, rules)
            if leaf.split:
                holds = leaf.rows[:, leaf.split.variable] == leaf.split.value
                leaf.sides = [_Node(target, leaf.rows[where]) for where in (holds, ~holds)]
                waiting += leaf.sides
        trees.append(_tree(root, cardinalities))
        if progress:
            progress(target + 1, len(cardinalities))
    return trees


class _Split(NamedTuple):
    """A test and its score."""

    score: float
    variable: int
    value: int


@dataclass(eq=False)
class _Node:
    """A node of a growing tree; a leaf has no split."""

    target: int
    rows: IntArray
    split: _Split | None = None
    sides: list[_Node] = field(default_factory=list)


def _best_split(leaf: _Node, cardinalities: Sequence[int], rules: Rules) -> _Split | None:
    """Return the best test of the other variables, or None if none exceeds the penalty."""
    rows, target, states = leaf.rows, leaf.target, cardinalities[leaf.target]
    counts = np.bincount(rows[:, target], minlength=states)
    whole = _log_likelihood(counts.tolist(), rules.prior)
    best = None
    for variable, card in enumerate(cardinalities):
        if variable == target:
            continue
        # The two values of a binary variable make the same split.
        for value in range(card if card > 2 else card - 1):
            holds = np.bincount(rows[rows[:, variable] == value, target], minlength=states)
            fails = counts - holds
            if min(holds.sum(), fails.sum()) < rules.min_count:
                continue
            parts = [_log_likelihood(side.tolist(), rules.prior) for side in (holds, fails)]
            score = (parts[0] + parts[1]) - whole
            if score > (best.score if best else rules.penalty):
                best = _Split(score, variable, value)
    return best


def _log_likelihood(counts: Sequence[int], prior: float) -> float:
    total, part, result = sum(counts), prior / len(counts), 0.0
    for count in counts:
        if count:
            result += count * math.log((count + part) / (total + prior))
    return result


def _tree(root: _Node, cardinalities: Sequence[int]) -> Tree:
    variables, values, counts = [], [], []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        variables.append(node.split.variable if node.split else -1)
        values.append(node.split.value if node.split else 0)
        if node.split:
            # The last one is taken next, so nodes come in depth-first order.
            waiting += reversed(node.sides)
        else:
            codes = node.rows[:, root.target]
            counts.append(np.bincount(codes, minlength=cardinalities[root.target]))
    return Tree(root.target, *(np.array(part, np.int64) for part in (variables, values, counts)))
