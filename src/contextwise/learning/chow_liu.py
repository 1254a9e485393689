"""ChowLiu: the tree of pairs with the largest likelihood; Independent: no interactions.

Among all trees over the variables, the one with the largest total mutual information has the
largest likelihood. With counts n and a prior of α rows spread evenly, ::

    P_ij = (n_ij + α/(K_i K_j)) / (N + α)        P_i = (n_i + α/K_i) / (N + α)

the weights of the pairs are the mutual informations of P. Prim's method finds a maximum spanning
tree from variable 0 (ties: the variable that comes first, on the edge that was found first). The
model is the product of P of the root and P of each variable given its parent: the table of the
root, and one table per edge. A tree spans all variables, even by weak edges; without rows it has no
edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from contextwise.data.rows import Data
from contextwise.learning.base import Learner, Run, check_prior
from contextwise.models.factors import Factor, log_linear
from contextwise.models.structure import LogLinear
from contextwise.support.arrays import FloatArray, IntArray

Edge = tuple[int, int]

COUNTED_CELLS_IN_MEMORY = 2**24
"""The most cells of pairwise tables held at once."""
ROWS_COUNTED_IN_FLOAT32 = 2**24
"""Below this number of rows, 32-bit floats count exactly."""


@dataclass(eq=False, repr=False, kw_only=True)
class Independent(Learner):
    """No interactions; the baseline of every comparison.

    Parameters
    ----------
    prior : float
        Weight of the prior, in rows, spread evenly over the states of a variable.

    Examples
    --------
    >>> Independent().fit([[0, 0], [0, 1], [1, 1]]).model_
    LogLinear(2 variables, 4 features: -0.470004 v0=0; -0.980829 v0=1; -0.980829 v1=0; ...)
    """

    prior: float = 1.0
    makes_network = True

    def learn(self, data: Data, run: Run) -> LogLinear:
        """Return one table per variable."""
        logs = log_marginals(data, check_prior(self.prior))
        return log_linear(data.domain, [Factor((v,), log) for v, log in enumerate(logs)])


@dataclass(eq=False, repr=False, kw_only=True)
class ChowLiu(Learner):
    """The tree of pairs with the largest likelihood, by mutual information (Chow and Liu).

    Parameters
    ----------
    prior : float
        Weight of the prior, in rows, spread evenly over the cells of a table.

    Attributes
    ----------
    edges_ : list of (parent, child)
        The positions of the variables, in the order in which the edges were found.

    Examples
    --------
    >>> rows = [[0, 0, 1], [1, 1, 0], [0, 0, 0], [1, 1, 1]]
    >>> ChowLiu().fit(rows).edges_
    [(0, 1), (0, 2)]
    """

    prior: float = 1.0
    makes_network = True

    def learn(self, data: Data, run: Run) -> LogLinear:
        """Return the tables of the root and of the edges."""
        prior = check_prior(self.prior)
        self.edges_ = spanning_tree(mutual_information(data, prior)) if len(data) else []
        logs = log_marginals(data, prior)
        children = {child for _, child in self.edges_}
        roots = [Factor((v,), log) for v, log in enumerate(logs) if v not in children]
        factors = [_conditional(data, edge, prior, logs[edge[0]]) for edge in self.edges_]
        return log_linear(data.domain, [*roots, *factors])


def log_marginals(data: Data, prior: float) -> list[FloatArray]:
    """Return the log of the smoothed share of each state, for each variable."""
    return [np.log((n + prior / len(n)) / (len(data) + prior)) for n in data.counts()]


def _conditional(data: Data, edge: Edge, prior: float, parent_logs: FloatArray) -> Factor:
    """Return log P(child | parent) as a table over both."""
    parent, child = edge
    shape = data.domain.cardinalities[parent], data.domain.cardinalities[child]
    cells = data.rows[:, parent] * shape[1] + data.rows[:, child]
    counts = np.bincount(cells, data.multiplicity, shape[0] * shape[1]).reshape(shape)
    joint = (counts + prior / counts.size) / (len(data) + prior)
    return Factor(edge, np.log(joint) - parent_logs[:, None])


def mutual_information(data: Data, prior: float = 1.0) -> FloatArray:
    """Return the smoothed mutual information of each pair, in nats; ignore the diagonal.

    All pairwise counts are one product of a 0/1 matrix (a column per state) with its transpose,
    in blocks of variables. Cost: rows times the square of the number of states.

    >>> from contextwise.data.rows import as_data
    >>> round(float(mutual_information(as_data([[0, 0], [1, 1]]))[0, 1]), 4)
    0.2426
    """
    cards = np.array(data.domain.cardinalities, dtype=np.int64)
    total = len(data) + prior
    starts = np.concatenate([[0], np.cumsum(cards)])
    kind = np.float32 if len(data) < ROWS_COUNTED_IN_FLOAT32 else np.float64
    states = np.zeros((len(data.rows), int(starts[-1])), dtype=kind)  # which states each row has
    np.put_along_axis(states, data.rows + starts[:-1], 1, axis=1)
    counted = states if data.multiplicity is None else states * data.weights[:, None].astype(kind)
    marginal = np.concatenate([np.zeros(0), *log_marginals(data, prior)])
    per_state = prior / np.repeat(cards, cards)
    information = np.zeros((len(cards), len(cards)))
    for first, last in _blocks(starts):
        a, b = starts[first], starts[last]
        # One product counts the tables of all pairs at once.
        joint = (counted[:, a:b].T @ states).astype(np.float64)
        spread = per_state[a:b, None] / np.repeat(cards, cards)
        joint = (joint + spread) / total
        joint *= np.log(joint) - marginal[a:b, None] - marginal
        by_column = np.add.reduceat(joint, starts[:-1], axis=1)
        information[first:last] = np.add.reduceat(by_column, starts[first:last] - a, axis=0)
    return information


def _blocks(starts: IntArray) -> Iterator[Edge]:
    """Yield ranges of variables whose tables with all others fit into `COUNTED_CELLS_IN_MEMORY`."""
    first, most = 0, max(1, COUNTED_CELLS_IN_MEMORY // max(1, int(starts[-1])))
    for last in range(1, len(starts)):
        if last + 1 == len(starts) or starts[last + 1] - starts[first] > most:
            yield first, last
            first = last


def spanning_tree(weights: FloatArray) -> list[Edge]:
    """Return the (parent, child) edges of a maximum spanning tree, by Prim's method from node 0.

    >>> spanning_tree(np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]]))
    [(0, 2), (2, 1)]
    """
    count = len(weights)
    parent = np.zeros(count, dtype=np.int64)
    best = np.full(count, -np.inf)
    outside = np.ones(count, dtype=bool)
    edges: list[Edge] = []
    node = 0
    for _ in range(count - 1):
        outside[node] = False
        closer = outside & (weights[node] > best)
        best[closer], parent[closer] = weights[node][closer], node
        node = int(np.argmax(np.where(outside, best, -np.inf)))
        edges.append((int(parent[node]), node))
    return edges
