"""Grow decision trees: the rules, a readable version, and the call of the compiled one.

A tree of variable t tests the values of other variables until it knows enough about t. A test is
"v = k": a variable with two values gives one test (v = 0), one with K > 2 values gives K tests, at
every node again; one with a single value gives none. With c_k rows of value k at a node, ::

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
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from contextwise.models.features import IntArray
from contextwise.support.deadline import NEVER, Deadline
from contextwise.support.loading import why_not_compiled
from contextwise.support.progress import Progress

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
    roots = [_Leaf(target, rows) for target in range(count)]
    above = np.eye(count, dtype=bool)  # above[t, v]: t depends on v, so v must not test t
    heap: list[tuple[float, int, int, Split, _Leaf]] = []
    age = 0

    def consider(leaf: _Leaf, born: int) -> None:
        allowed = ~above[:, leaf.target] if acyclic else np.arange(count) != leaf.target
        split = best_split(leaf.rows, cardinalities, leaf.target, rules, allowed)
        if split:
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
        above[above[:, target]] |= above[split.variable]
        for side in leaf.divide(split):
            age += 1
            consider(side, age)
    return [_tree(root, cardinalities) for root in roots]


class Split(NamedTuple):
    """A test and its score."""

    score: float
    variable: int
    value: int


def best_split(
    rows: IntArray,
    cardinalities: Sequence[int],
    target: int,
    rules: Rules,
    allowed: npt.NDArray[np.bool_],
) -> Split | None:
    """Return the best test of the allowed variables, or None if none exceeds the penalty."""
    states = cardinalities[target]
    counts = np.bincount(rows[:, target], minlength=states)
    whole = _log_likelihood(counts.tolist(), rules.prior)
    best = None
    for variable in np.flatnonzero(allowed).tolist():
        card = cardinalities[variable]
        for value in range(card if card > 2 else card - 1):
            holds = np.bincount(rows[rows[:, variable] == value, target], minlength=states)
            fails = counts - holds
            if min(holds.sum(), fails.sum()) < rules.min_count:
                continue
            parts = [_log_likelihood(side.tolist(), rules.prior) for side in (holds, fails)]
            score = (parts[0] + parts[1]) - whole
            if score > (best.score if best else rules.penalty):
                best = Split(score, variable, value)
    return best


def _log_likelihood(counts: Sequence[int], prior: float) -> float:
    total, part, result = sum(counts), prior / len(counts), 0.0
    for count in counts:
        if count:
            result += count * math.log((count + part) / (total + prior))
    return result


@dataclass(eq=False)
class _Leaf:
    """A node of a growing tree."""

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
            codes = node.rows[:, root.target]
            counts.append(np.bincount(codes, minlength=cardinalities[root.target]))
    return Tree(
        root.target,
        np.array(variables, dtype=np.int64),
        np.array(values, dtype=np.int64),
        np.array(counts, dtype=np.int64),
    )
