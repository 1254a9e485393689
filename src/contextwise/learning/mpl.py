"""Marginal pseudo-likelihood: how well a blanket explains its variable, and `MPL` (Pensar et al.).

Pensar, Nyman, Niiranen and Corander (2017), "Marginal pseudo-likelihood learning of discrete Markov
network structures". The pseudo-likelihood of a graph is a product over variables t of the
probability of t given its neighbours, the blanket. Integrated over Dirichlet priors it has a closed
form: for each configuration of the blanket a Dirichlet-multinomial of the counts n_k of t,

    ln Γ(A) - ln Γ(A + n) + Σ_k [ln Γ(A/K + n_k) - ln Γ(A/K)],        A = prior / configurations.

The score of a graph is the sum over variables. Larger blankets pay for themselves or not; there is
no penalty to choose, and with more and more rows the best graph is the right one. All graphs are
equally likely beforehand.

`Classes` is the same with configurations put together: a class of several configurations has the
sum of their counts and of their A (`contextwise.learning.contextual_mpl` says which and why).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod

import numpy as np

from contextwise.data.rows import Data
from contextwise.errors import require
from contextwise.learning.base import Learner
from contextwise.learning.blankets import from_edges, join
from contextwise.learning.chow_liu import check_prior
from contextwise.learning.independence_test import BoolArray, FloatArray, Table, table_of
from contextwise.models.features import IntArray, PairIndex
from contextwise.models.structure import Structure
from contextwise.support.progress import Progress, progress_of

LEAST = 1e-9
"""A gain up to this is rounding."""


class MPL(Learner):
    """One graph, by marginal pseudo-likelihood (Pensar et al. 2017); it cannot see contexts.

    A blanket per variable by greedy search, then the best graph among the edges of blankets, by
    greedy search from those that are in both blankets of their ends. The features are the tables of
    the edges, which make the same claims as those of the cliques.

    Parameters
    ----------
    prior : float
        How many rows the prior counts per variable, spread evenly over all cells of its table.
    show_progress : bool or function
        A line on standard error, or a function of (blankets found, variables).

    Attributes
    ----------
    graph_ : bool array
        The adjacency matrix.
    score_ : float
        The marginal pseudo-likelihood of the graph, as a logarithm.

    Examples
    --------
    >>> rows = [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]] * 20
    >>> MPL().fit(rows).structure_.pairs()
    [('v0', 'v1')]
    """

    name = "mpl"

    def __init__(self, *, prior: float = 1.0, show_progress: bool | Progress = False) -> None:
        self.prior = prior
        self.show_progress = show_progress

    def learn(self, data: Data) -> Structure:
        """The best graph that the search finds."""
        table, prior = table_of(data), check_prior(self.prior)
        self.graph_, self.score_ = best_graph(table, prior, self.show_progress)
        return from_edges(data.domain, self.graph_)


def best_graph(
    table: Table, prior: float, show_progress: bool | Progress = False
) -> tuple[BoolArray, float]:
    """The graph of the largest marginal pseudo-likelihood that the search finds, and its score.

    Parameters
    ----------
    table : Table
    prior : float
        How many rows the prior counts per variable.
    show_progress : bool or function
    """
    score = _scorer(table, prior)
    size, varying = len(table.cardinalities), table.varying
    inside = np.zeros((size, size), dtype=bool)
    with progress_of(show_progress, "finding blankets") as progress:
        for done, target in enumerate(varying):
            others = [v for v in varying if v != target]
            inside[target, list(_best_blanket(target, others, score))] = True
            if progress:
                progress(done + 1, len(varying))
    either = np.argwhere(np.triu(join(inside, "or"))).tolist()
    graph = join(inside, "and")
    _improve(graph, [(a, b) for a, b in either], score)
    return graph, sum(score(v, frozenset(np.flatnonzero(graph[v]).tolist())) for v in range(size))


Score = Callable[[int, frozenset[int]], float]


def _scorer(table: Table, prior: float) -> Score:
    """The score of a variable and a blanket, remembered."""
    known: dict[tuple[int, frozenset[int]], float] = {}

    def score(target: int, blanket: frozenset[int]) -> float:
        key = target, blanket
        if key not in known:
            known[key] = blanket_score(table, target, sorted(blanket), prior)
        return known[key]

    return score


def blanket_score(table: Table, target: int, blanket: Sequence[int], prior: float = 1.0) -> float:
    """The log of the marginal likelihood of a variable given its blanket.

    Parameters
    ----------
    table : Table
    target : int
    blanket : sequence of int
    prior : float
        How many rows the prior counts, spread evenly over all cells.

    Examples
    --------
    Two rows of a fair coin: 1/2 for the first, and with one row of prior 1/4 for the other value.

    >>> from contextwise.data.rows import as_data
    >>> round(float(np.exp(blanket_score(table_of(as_data([[0], [1]])), 0, []))), 4)
    0.125
    """
    groups, count = table.groups(blanket)
    values = table.cardinalities[target]
    cells = np.bincount(groups * values + table.rows[:, target], table.counts, count * values)
    weight = prior / prod(table.cardinalities[v] for v in blanket)
    counts = cells.reshape(count, values).astype(np.float64)
    return float(class_scores(counts, np.full(count, weight)).sum())


def class_scores(counts: FloatArray, weights: FloatArray) -> FloatArray:
    """The log of the Dirichlet-multinomial of each row of counts.

    Parameters
    ----------
    counts : array of shape (classes, values)
    weights : array of shape (classes,)
        How many rows the prior counts in each class.
    """
    gammaln = require("scipy.special", "statistics").gammaln
    share = weights[:, None] / counts.shape[1]
    total = gammaln(weights) - gammaln(weights + counts.sum(axis=1))
    return np.asarray(total + (gammaln(share + counts) - gammaln(share)).sum(axis=1))


def _best_blanket(target: int, others: Iterable[int], score: Score) -> frozenset[int]:
    """Change one variable at a time, always the best change, while that raises the score."""
    blanket, value = frozenset[int](), score(target, frozenset())
    while True:
        changed = {v: score(target, blanket ^ {v}) for v in others}
        best = max(changed, key=lambda v: changed[v], default=None)
        if best is None or changed[best] <= value + LEAST:
            return blanket
        blanket, value = blanket ^ {best}, changed[best]


def _improve(graph: BoolArray, edges: Sequence[PairIndex], score: Score) -> None:
    """Add or delete one edge at a time, in place, while that raises the sum of the scores."""

    def gain(edge: PairIndex) -> float:
        change = 0.0
        for v, other in (edge, edge[::-1]):
            own = frozenset(np.flatnonzero(graph[v]).tolist())
            change += score(v, own ^ {other}) - score(v, own)
        return change

    gains = {edge: gain(edge) for edge in edges}
    while gains:
        a, b = max(gains, key=lambda edge: gains[edge])
        if gains[a, b] <= LEAST:
            return
        graph[a, b] = graph[b, a] = not graph[a, b]
        gains |= {edge: gain(edge) for edge in edges if {a, b} & set(edge)}


# -- classes of configurations ---------------------------------------------------------------------


class Classes:
    """The configurations of a blanket in classes, with the counts of the variable in each.

    Parameters
    ----------
    table : Table
    target : int
    blanket : rising positions
    prior : float
        How many rows the prior counts, spread evenly over all cells.
    """

    def __init__(self, table: Table, target: int, blanket: Sequence[int], prior: float) -> None:
        self.blanket = tuple(blanket)
        shape = [table.cardinalities[v] for v in blanket]
        size, values = prod(shape), table.cardinalities[target]
        codes = np.zeros(len(table.rows), dtype=np.int64)
        for v in blanket:
            codes = codes * table.cardinalities[v] + table.rows[:, v]
        cells = np.bincount(codes * values + table.rows[:, target], table.counts, size * values)
        self.labels: IntArray = np.arange(size).reshape(shape)
        self.counts: FloatArray = cells.reshape(size, values).astype(np.float64)
        self.weights = np.full(size, prior / size)
        self.scores = class_scores(self.counts, self.weights)

    def lines(self, other: int, context: dict[int, list[int]]) -> IntArray:
        """The classes that differ in one variable of the blanket only, inside a context.

        Parameters
        ----------
        other : int
            The variable that differs.
        context : mapping from variables to values
            Variables that are not in the blanket are passed over.

        Returns
        -------
        array of shape (lines, values of the variable)
        """
        labels = self.labels
        for axis, v in enumerate(self.blanket):
            if v in context:
                labels = labels.take(context[v], axis=axis)
        along = self.blanket.index(other)
        moved = np.moveaxis(labels, along, -1)
        return np.asarray(moved.reshape(-1, moved.shape[-1]))

    def gain(self, lines: IntArray) -> float:
        """By how much the score rises if the classes of each line become one."""
        members, groups = _joined(lines)
        if not len(members):
            return 0.0
        counts, weights = self._sums(members, groups)
        return float(class_scores(counts, weights).sum() - self.scores[members].sum())

    def merge(self, lines: IntArray) -> None:
        """Make the classes of each line one."""
        members, groups = _joined(lines)
        if not len(members):
            return
        counts, weights = self._sums(members, groups)
        firsts = members[np.unique(groups, return_index=True)[1]]
        to = np.arange(len(self.weights))
        to[members] = firsts[groups]
        self.labels = to[self.labels]
        self.counts[members], self.weights[members], self.scores[members] = 0.0, 0.0, 0.0
        self.counts[firsts], self.weights[firsts] = counts, weights
        self.scores[firsts] = class_scores(counts, weights)

    def total(self) -> float:
        """The score of the variable given the classes."""
        return float(self.scores.sum())

    def _sums(self, members: IntArray, groups: IntArray) -> tuple[FloatArray, FloatArray]:
        count = int(groups.max()) + 1
        counts = np.zeros((count, self.counts.shape[1]))
        np.add.at(counts, groups, self.counts[members])
        weights = np.bincount(groups, self.weights[members], count)
        return counts, weights.astype(np.float64)


def _joined(lines: IntArray) -> tuple[IntArray, IntArray]:
    """The labels that are joined with others through lines, and the number of the group of each."""
    parent: dict[int, int] = {}

    def root(label: int) -> int:
        while parent.setdefault(label, label) != label:
            parent[label] = label = parent[parent[label]]
        return label

    for line in lines.tolist():
        first = root(line[0])
        for label in line[1:]:
            parent[root(label)] = first
    roots = {label: root(label) for label in parent}
    members = np.array(sorted(roots), dtype=np.int64)
    own = np.array([roots[label] for label in members.tolist()], dtype=np.int64)
    _, groups, sizes = np.unique(own, return_inverse=True, return_counts=True)
    joined = sizes[groups] > 1
    return members[joined], np.unique(groups[joined], return_inverse=True)[1]
