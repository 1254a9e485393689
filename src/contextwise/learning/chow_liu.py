"""Learners that need nothing but counts of one and two variables: independence, and trees of pairs.

**Chow and Liu.** Among all trees over the variables, the one with the largest total mutual
information is the one of the largest likelihood. With counts n and a prior of α rows in all, spread
evenly, ::

    P_ij = (n_ij + α/(K_i K_j)) / (N + α)        P_i = (n_i + α/K_i) / (N + α)

the weights of the pairs are the mutual informations of P, and the tree is a maximum spanning tree,
found by Prim's method from variable 0 (ties: the variable that comes first, on the edge that was
found first). The model is a product of P of the root and P of each variable given its parent: the
table of the root, and one table per edge. Every tree spans all variables, however weak its edges
are; without rows there is nothing to choose an edge by, and the tree has none.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from contextwise.data.rows import Data
from contextwise.errors import DomainError
from contextwise.learning.base import Learner
from contextwise.models.factors import Factor, log_linear
from contextwise.models.structure import LogLinear

FloatArray = npt.NDArray[np.float64]
Edge = tuple[int, int]

CELLS = 2**24
"""How many cells of pairwise tables are held at once."""
EXACT = 2**24
"""Up to so many rows, 32-bit floats count exactly."""


class Independent(Learner):
    """No interactions: every variable by itself, the baseline of every comparison.

    Parameters
    ----------
    prior : float
        How many rows the prior counts, spread evenly over the states of a variable.

    Examples
    --------
    >>> Independent().fit([[0, 0], [0, 1], [1, 1]]).model_
    LogLinear(2 variables, 4 features: -0.470004 v0=0; -0.980829 v0=1; -0.980829 v1=0; ...)
    """

    name = "independent"

    def __init__(self, *, prior: float = 1.0) -> None:
        self.prior = prior

    def learn(self, data: Data) -> LogLinear:
        """One table per variable."""
        logs = log_marginals(data, check_prior(self.prior))
        return log_linear(data.domain, [Factor((v,), own) for v, own in enumerate(logs)])


class ChowLiu(Learner):
    """The tree of pairs with the largest likelihood, by mutual information (Chow and Liu).

    Parameters
    ----------
    prior : float
        How many rows the prior counts, spread evenly over the cells of a table.

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

    name = "chow-liu"

    def __init__(self, *, prior: float = 1.0) -> None:
        self.prior = prior

    def learn(self, data: Data) -> LogLinear:
        """The tables of the root and of the edges."""
        prior = check_prior(self.prior)
        self.edges_ = spanning_tree(mutual_information(data, prior)) if len(data) else []
        logs = log_marginals(data, prior)
        child = {child for _, child in self.edges_}
        roots = [Factor((v,), own) for v, own in enumerate(logs) if v not in child]
        factors = [_conditional(data, edge, prior, logs[edge[0]]) for edge in self.edges_]
        return log_linear(data.domain, [*roots, *factors])


def check_prior(prior: float) -> float:
    """The prior, if it is a number of rows above 0 (0 makes the unseen impossible)."""
    if not 0 < prior < np.inf:
        raise DomainError(f"prior is a number of rows above 0, not {prior}")
    return prior


def log_marginals(data: Data, prior: float) -> list[FloatArray]:
    """The log of the smoothed share of each state, for each variable."""
    return [np.log((n + prior / len(n)) / (len(data) + prior)) for n in data.counts()]


def _conditional(data: Data, edge: Edge, prior: float, parent_logs: FloatArray) -> Factor:
    """The log of P(child | parent) as a table over both."""
    parent, child = edge
    shape = data.domain.cardinalities[parent], data.domain.cardinalities[child]
    cells = data.rows[:, parent] * shape[1] + data.rows[:, child]
    counts = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
    joint = (counts + prior / counts.size) / (len(data) + prior)
    return Factor(edge, np.log(joint) - parent_logs[:, None])


def mutual_information(data: Data, prior: float = 1.0) -> FloatArray:
    """The smoothed mutual information of each two variables, in nats; its diagonal means nothing.

    All pairwise counts are one product of a 0/1 matrix (a column per state) with its transpose,
    in blocks of variables. Cost: rows times the square of the number of states, over all variables.

    Parameters
    ----------
    data : Data
    prior : float
        How many rows the prior counts, spread evenly over the cells of a table.

    Examples
    --------
    >>> from contextwise.data.rows import as_data
    >>> round(float(mutual_information(as_data([[0, 0], [1, 1]]))[0, 1]), 4)
    0.2426
    """
    cards = np.array(data.domain.cardinalities, dtype=np.int64)
    total = len(data) + prior
    starts = np.concatenate([[0], np.cumsum(cards)])
    states = _indicators(data, starts)
    marginal = np.concatenate([np.zeros(0), *log_marginals(data, prior)])
    per_state = prior / np.repeat(cards, cards)
    found = np.zeros((len(cards), len(cards)))
    for first, last in _blocks(starts):
        a, b = starts[first], starts[last]
        joint = (states[:, a:b].T @ states).astype(np.float64)
        spread = per_state[a:b, None] / np.repeat(cards, cards)
        joint = (joint + spread) / total
        joint *= np.log(joint) - marginal[a:b, None] - marginal
        by_column = np.add.reduceat(joint, starts[:-1], axis=1)
        found[first:last] = np.add.reduceat(by_column, starts[first:last] - a, axis=0)
    return found


def _indicators(data: Data, starts: npt.NDArray[np.int64]) -> npt.NDArray[np.floating]:
    """Whether each row has each state: shape (rows, states of all variables)."""
    kind = np.float32 if len(data) < EXACT else np.float64
    states = np.zeros((len(data), int(starts[-1])), dtype=kind)
    np.put_along_axis(states, data.rows + starts[:-1], 1, axis=1)
    return states


def _blocks(starts: npt.NDArray[np.int64]) -> Iterator[Edge]:
    """Ranges of variables whose tables with all others are few enough to be held at once."""
    first, most = 0, max(1, CELLS // max(1, int(starts[-1])))
    for last in range(1, len(starts)):
        if last + 1 == len(starts) or starts[last + 1] - starts[first] > most:
            yield first, last
            first = last


def spanning_tree(weights: FloatArray) -> list[Edge]:
    """A spanning tree of the largest weight, by Prim's method from node 0: (parent, child) edges.

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
