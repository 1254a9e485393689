"""Decision trees as conditionals and as features, for the learners of trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from contextwise.data.rows import DataLike
from contextwise.learning.base import Learner
from contextwise.models.domain import Domain
from contextwise.models.factors import weighted
from contextwise.models.features import all_values, single_values
from contextwise.models.structure import LogLinear
from contextwise.support.arrays import FloatArray, IntArray


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


class TreeLearner(Learner):
    """Base class of learners of trees."""

    prior: float
    trees_: list[Tree]

    def conditional_score(self, rows: DataLike) -> float:
        """Return the mean over rows of Σ_t log P(x_t | the others) of the trees.

        Parameters
        ----------
        rows : frame, array, list of rows, path, or Data
        """
        data = self._rows_to_score(rows)
        return sum(data.mean(tree_logs(tree, data.rows, self.prior)) for tree in self.trees_)


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
