"""Trees, AcyclicTrees and TreesAndPairs: one decision tree per variable, its paths are features.

Lowd and Davis. Each variable gets a tree over all others. A path from the root to a leaf, with a
value of the target, is a feature; its weight is the log of the smoothed share at the leaf. `Trees`
grows each tree by itself. As one Markov network the features overlap, so the network predicts worse
than the trees until all weights are refitted: ``refit="l1"``, the learner DTSL. `AcyclicTrees` are
those of a Bayesian network. Trees predict well and are poor structure learners: a path makes all
its variables depend on each other wherever the others hold, which is more than the data support.

**Growth.** A test is "v = k": a variable with two values gives one test (v = 0), one with K > 2
values gives K tests, at every node again; one with a single value gives none. With c_k rows of
value k of the target at a node, ::

    L(c) = Σ_k c_k ln((c_k + α/K) / (Σc + α))          without terms where c_k = 0
    score = L(p) + L(q) - L(c)                         p, q: the rows where the test holds, fails

The test with the largest score is chosen (ties: the first in the order of variables and values) if
its score exceeds the penalty and both sides have enough rows. Growth is plain recursion, without
pruning, randomness or a limit of depth. These are the rules of Libra's learner, inferred from its
trees.

**Acyclic growth** grows the trees of all variables at once. It repeatedly makes the best split of
all leaves of all trees that keeps the relation "t tests v" free of cycles, so that the trees are
the conditionals of a Bayesian network. (Ties: the smaller target, then the older leaf.)

Both versions take logs one by one with the C library, so that they round alike and choose the same
test where two are nearly equal. The C++ in ``grow/`` keeps one set of bits per value; it counts a
candidate with an AND and a population count, or row by row where that is less work.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from contextwise.data.rows import Data, DataLike
from contextwise.errors import ContextwiseError, DomainError
from contextwise.learning.base import Learner, check_prior, threads_of
from contextwise.learning.run import Run
from contextwise.learning.sparse_pairs import SparsePairs
from contextwise.models.domain import Domain
from contextwise.models.factors import weighted
from contextwise.models.features import all_values, single_values
from contextwise.models.structure import LogLinear, Model, structure_of
from contextwise.support.arrays import BoolArray, FloatArray, IntArray
from contextwise.support.deadline import NEVER, Deadline
from contextwise.support.loading import why_not_compiled
from contextwise.support.progress import Progress, progress_of

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


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree in preorder: a node, then where its test holds, then where it fails.

    Each node has a tested variable (-1 at a leaf) and value; each leaf has the counts of the
    target's values.
    """

    target: int
    variables: IntArray
    values: IntArray
    counts: IntArray

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return self.target == other.target and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("variables", "values", "counts")
        )


class _TreeLearner(Learner):
    """Base class of learners of trees."""

    penalty: float
    min_count: int
    prior: float
    n_jobs: int
    show_progress: bool | Progress
    trees_: list[Tree]

    def _grow(self, data: Data, run: Run, *, acyclic: bool) -> LogLinear:
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
                acyclic=acyclic,
                threads=threads_of(self.n_jobs),
                progress=progress,
                deadline=run.deadline,
            )
        run.is_late()
        return network_of(data.domain, self.trees_, rules.prior)

    def conditional_score(self, rows: DataLike) -> float:
        """Return the mean over rows of Σ_t log P(x_t | the others) of the trees.

        Parameters
        ----------
        rows : frame, array, list of rows, path, or Data
        """
        data = self._rows_to_score(rows)
        return sum(data.mean(tree_logs(tree, data.rows, self.prior)) for tree in self.trees_)


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

    def learn(self, data: Data, run: Run) -> Model:
        """Grow the trees and make them one network."""
        if self.refit not in (None, "l1"):
            raise ContextwiseError(f"refit must be 'l1' or None, got {self.refit!r}")
        network = self._grow(data, run, acyclic=False)
        if self.refit is None:
            return network
        return run.refit_l1(network, data, self.l1, self.l2)


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

    def learn(self, data: Data, run: Run) -> Model:
        """Grow the trees; their product is the model."""
        return self._grow(data, run, acyclic=True)


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

    def learn(self, data: Data, run: Run) -> Model:
        """Learn both sets of features and fit them once."""
        learners = (
            Trees(penalty=self.penalty, min_count=self.min_count, n_jobs=self.n_jobs),
            SparsePairs(l1=self.pairs_l1, n_jobs=self.n_jobs),
        )
        trees, pairs = (structure_of(learner.learn(data, run)) for learner in learners)
        return run.refit_l1(trees | pairs, data, self.l1, self.l2)


# -- growth ----------------------------------------------------------------------------------------


def grow(
    rows: IntArray,
    cardinalities: Sequence[int],
    rules: Rules,
    *,
    acyclic: bool = False,
    threads: int = 1,
    progress: Progress | None = None,
    deadline: Deadline = NEVER,
) -> list[Tree]:
    """Grow one tree per variable, until a deadline, with compiled code where it is available."""
    if not_compiled:
        return grow_readably(
            rows, cardinalities, rules, acyclic=acyclic, progress=progress, deadline=deadline
        )
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
        acyclic,
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
    acyclic: bool = False,
    progress: Progress | None = None,
    deadline: Deadline = NEVER,
) -> list[Tree]:
    """Grow one tree per variable in plain Python; `grow` returns the same trees."""
    count = len(cardinalities)
    roots = [_Node(target, rows) for target in range(count)]
    above = np.eye(count, dtype=bool)  # above[t, v]: t depends on v, so v must not test t
    heap: list[tuple[float, int, int, _Split, _Node]] = []
    age = 0

    def consider(leaf: _Node, born: int) -> None:
        allowed = ~above[:, leaf.target] if acyclic else np.arange(count) != leaf.target
        split = _best_split(leaf, cardinalities, rules, allowed)
        if split:
            # Target and birth are unique, so that ties never compare splits.
            heapq.heappush(heap, (-split.score, leaf.target, born, split, leaf))

    for root in roots:
        if not deadline.passed:
            consider(root, 0)
        if progress:
            progress(root.target + 1, count)
    while heap and not deadline.passed:
        _, target, born, split, leaf = heapq.heappop(heap)
        if acyclic and above[split.variable, target]:  # it was allowed when it was found
            consider(leaf, born)
            continue
        # What depends on the target now also depends on what it tests.
        above[above[:, target]] |= above[split.variable]
        holds = leaf.rows[:, split.variable] == split.value
        leaf.split = split
        leaf.sides = [_Node(target, leaf.rows[where]) for where in (holds, ~holds)]
        for side in leaf.sides:
            age += 1
            consider(side, age)
    return [_tree(root, cardinalities) for root in roots]


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


def _best_split(
    leaf: _Node, cardinalities: Sequence[int], rules: Rules, allowed: BoolArray
) -> _Split | None:
    """Return the best test of the allowed variables, or None if none exceeds the penalty."""
    rows, target, states = leaf.rows, leaf.target, cardinalities[leaf.target]
    counts = np.bincount(rows[:, target], minlength=states)
    whole = _log_likelihood(counts.tolist(), rules.prior)
    best = None
    for variable in np.flatnonzero(allowed).tolist():
        card = cardinalities[variable]
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


# -- trees as conditionals and as features ---------------------------------------------------------


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
        at_node = waiting.pop()
        if variable < 0:
            result[at_node] = logs[leaf, rows[at_node, tree.target]]
            leaf += 1
        else:
            holds = rows[at_node, variable] == value
            waiting += [at_node[~holds], at_node[holds]]
    return result


def network_of(domain: Domain, trees: Sequence[Tree], prior: float) -> LogLinear:
    """Return the trees as one model: a feature per leaf and value, its weight the log share."""
    everything = all_values(np.array(domain.cardinalities, dtype=np.int64))
    before = np.cumsum([0, *(tree.counts.size for tree in trees)])
    parts = [_literals(tree, first) for tree, first in zip(trees, before.tolist(), strict=False)]
    nothing = np.zeros((4, 0), dtype=np.int64)
    owners, variables, states, holds = np.concatenate([nothing, *parts], axis=1)
    values = single_values(states, everything.shape[1])
    values = np.where(holds[:, None] == 1, values, everything[variables] & ~values)
    weights = np.concatenate([np.zeros(0), *(leaf_logs(tree, prior).ravel() for tree in trees)])
    return weighted(domain, owners, variables, values, weights)


def _literals(tree: Tree, first: int) -> IntArray:
    """Return the literals of a tree's features, numbered from ``first``.

    Four rows: the feature, the variable, the value, and whether it must hold.
    """
    paths = list(_paths(tree))
    leaves, card = tree.counts.shape
    leaf = np.repeat(np.arange(leaves), [len(path) for path in paths])
    steps = np.array([step for path in paths for step in path], dtype=np.int64)
    # A step is 2 · node + whether its test holds.
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
