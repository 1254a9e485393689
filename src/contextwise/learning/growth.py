"""How a tree grows: the rules, readable. `contextwise.learning.growth_native` does the same in C++.

A tree of variable t asks for the values of other variables until it knows enough about t. A test
is "v = k": a variable with two values gives one test (v = 0), one with K > 2 values gives K tests,
at every node again; one with a single value gives none. With c_k rows of value k at a node, ::

    L(c) = Σ_k c_k ln((c_k + α/K) / (Σc + α))          terms with c_k = 0 left out
    score = L(p) + L(q) - L(c)                         the rows where the test holds, and fails

The test with the largest score is taken (ties: the first in the order of the variables and values),
if its score exceeds the penalty and both sides have enough rows. Growth is plain recursion: nothing
is pruned, nothing is random, no depth is too deep. These are the rules of Libra's learner, found by
learning the same trees.

**Acyclic growth** makes such trees for all variables at once and takes, again and again, the best
split of all leaves of all trees that leaves the relation "t asks for v" without a cycle; so the
trees are the conditionals of a Bayesian network. (Ties: the smaller target, then the older leaf.)

Logs are taken by `math.log`, one by one, so that both twins have the same last digit and choose the
same test where two are nearly equal.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from contextwise.models.features import IntArray
from contextwise.support.progress import Progress

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Rules:
    """When a node is split.

    Attributes
    ----------
    penalty : what a split must gain, in nats
    min_count : how many rows each side needs
    prior : α, how many rows the prior counts at a leaf
    """

    penalty: float
    min_count: int
    prior: float


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree in preorder: a node, then where its test holds, then where it fails.

    Attributes
    ----------
    target : the variable it is about
    variables : the tested variable of each node, -1 at a leaf
    values : the tested value of each node
    counts : how often each value of the target occurs, one row per leaf in turn
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


class Split(NamedTuple):
    """A test and what it gains."""

    score: float
    variable: int
    value: int


def tests_of(cardinality: int) -> range:
    """The values that are asked for: one of two, each of more, none of one.

    >>> list(tests_of(2)), list(tests_of(3)), list(tests_of(1))
    ([0], [0, 1, 2], [])
    """
    return range({1: 0, 2: 1}.get(cardinality, cardinality))


def log_likelihood(counts: Sequence[int], prior: float) -> float:
    """L(c): the log-likelihood of the rows of a node under its own smoothed shares.

    >>> round(log_likelihood([1, 3], 1.0), 4)
    -2.274
    """
    total, part, found = sum(counts), prior / len(counts), 0.0
    for count in counts:
        if count:
            found += count * math.log((count + part) / (total + prior))
    return found


def best_split(
    rows: IntArray, cardinalities: Sequence[int], target: int, rules: Rules, allowed: BoolArray
) -> Split | None:
    """The best test for these rows, or None if none gains more than the penalty.

    Parameters
    ----------
    rows : int array
        The rows of the node, one column per variable.
    cardinalities : ints
    target : int
        The variable that the tree is about.
    rules : Rules
    allowed : bool array
        The variables that may be asked for; the target never is.
    """
    states = cardinalities[target]
    counts = np.bincount(rows[:, target], minlength=states)
    whole = log_likelihood(counts.tolist(), rules.prior)
    best = None
    for variable in np.flatnonzero(allowed).tolist():
        if variable == target:
            continue
        for value in tests_of(cardinalities[variable]):
            holds = np.bincount(rows[rows[:, variable] == value, target], minlength=states)
            fails = counts - holds
            if min(holds.sum(), fails.sum()) < rules.min_count:
                continue
            parts = [log_likelihood(side.tolist(), rules.prior) for side in (holds, fails)]
            score = (parts[0] + parts[1]) - whole
            if score > (best.score if best else rules.penalty):
                best = Split(score, variable, value)
    return best


def grow_trees(
    rows: IntArray,
    cardinalities: Sequence[int],
    rules: Rules,
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> list[Tree]:
    """One tree per variable, each by itself.

    Parameters
    ----------
    rows : int array
        Positions of states, one row per case.
    cardinalities : ints
    rules : Rules
    threads : int
        Of the compiled twin; this one has one.
    progress : function of (trees grown, trees in all), optional
    """
    trees = []
    everything = np.ones(len(cardinalities), dtype=bool)
    for target in range(len(cardinalities)):
        leaf = _Leaf(target, rows)
        waiting = [leaf]
        while waiting:
            node = waiting.pop()
            split = best_split(node.rows, cardinalities, target, rules, everything)
            if split:
                waiting += reversed(node.divide(split))
        trees.append(_tree(leaf, cardinalities))
        if progress:
            progress(target + 1, len(cardinalities))
    return trees


def grow_acyclic(
    rows: IntArray,
    cardinalities: Sequence[int],
    rules: Rules,
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> list[Tree]:
    """One tree per variable, best split first, such that no two variables ask for each other.

    Parameters
    ----------
    rows : int array
        Positions of states, one row per case.
    cardinalities : ints
    rules : Rules
    threads : int
        Of the compiled twin; this one has one.
    progress : function of (first splits found, trees in all), optional
    """
    count = len(cardinalities)
    above = np.eye(count, dtype=bool)  # above[t, v]: t cannot be known before v (t itself included)
    roots = [_Leaf(target, rows) for target in range(count)]
    heap: list[tuple[float, int, int, Split, _Leaf]] = []
    age = 0

    def consider(leaf: _Leaf, born: int) -> None:
        split = best_split(leaf.rows, cardinalities, leaf.target, rules, ~above[:, leaf.target])
        if split:
            heapq.heappush(heap, (-split.score, leaf.target, born, split, leaf))

    for root in roots:
        consider(root, 0)
        if progress:
            progress(root.target + 1, count)
    while heap:
        _, target, born, split, leaf = heapq.heappop(heap)
        if above[split.variable, target]:  # it was allowed when it was found
            consider(leaf, born)
            continue
        above[above[:, target]] |= above[split.variable]
        for side in leaf.divide(split):
            age += 1
            consider(side, age)
    return [_tree(root, cardinalities) for root in roots]


@dataclass(eq=False)
class _Leaf:
    """A node while the tree grows: its rows, and what it was divided into."""

    target: int
    rows: IntArray
    split: Split | None = None
    sides: list[_Leaf] = field(default_factory=list)

    def divide(self, split: Split) -> list[_Leaf]:
        holds = self.rows[:, split.variable] == split.value
        self.split = split
        self.sides = [_Leaf(self.target, self.rows[where]) for where in (holds, ~holds)]
        return self.sides


def _tree(root: _Leaf, cardinalities: Sequence[int]) -> Tree:
    variables, values, counts = [], [], []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        variables.append(node.split.variable if node.split else -1)
        values.append(node.split.value if node.split else 0)
        if node.split:
            waiting += reversed(node.sides)
        else:
            own = node.rows[:, root.target]
            counts.append(np.bincount(own, minlength=cardinalities[root.target]))
    return Tree(
        root.target,
        np.array(variables, dtype=np.int64),
        np.array(values, dtype=np.int64),
        np.array(counts, dtype=np.int64),
    )
