"""AcyclicTrees: the Bayesian network of decision trees with the best Dirichlet score.

The tables of the network are decision trees, so two variables can depend in some contexts only. A
node splits on a variable, either into all its states or into one state and the rest. The score of a
leaf is the Dirichlet-multinomial likelihood of its rows (BDeu)::

    score(c) = ln Γ(a) - ln Γ(a + Σc) + Σ_k [ln Γ(a/K + c_k) - ln Γ(a/K)]

with a = ``prior`` · K times the share of assignments that reach the leaf. It depends on the context
alone, so trees over a set of variables can be optimized exactly: with a cell for each context (each
variable at one state, without one state, or free), the best tree of a context is a leaf, or a split
with the best trees of its parts. Each split costs ln(n - 1), the choice among the variables.

1.  **Families.** For each variable and each set of at most ``max_parents`` candidates, find the
    best tree. All other variables are candidates if there are at most `CANDIDATES`, otherwise those
    that gain most alone or together with one of the best three.
2.  **Order.** Find the order of the variables that allows the best families: exactly, by dynamic
    programming over sets, for up to `MOST_VARIABLES_IN_EXACT_ORDER` variables; otherwise by moving
    variables within random orders until nothing improves.

The paths of the trees are features, as in `contextwise.learning.trees`. The variables of a path
depend on each other, so parents of a common effect are joined in the contexts where they act.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, compress, product
from math import log, prod
from operator import or_

import numpy as np

from contextwise.data.rows import Data
from contextwise.errors import ContextwiseError, DomainError
from contextwise.evidence.counted_rows import CountedRows
from contextwise.learning.base import Run, check_prior, pairs_of
from contextwise.learning.tree_features import Tree, TreeLearner, network_of
from contextwise.models.directions import directions_of
from contextwise.models.domain import Domain
from contextwise.models.structure import LogLinear, Structure
from contextwise.support.arrays import FloatArray, IntArray
from contextwise.support.effort import Deadline

CANDIDATES = 10
"""The most candidate parents of a variable if there are more variables than this."""
MOST_VARIABLES_IN_EXACT_ORDER = 16
"""The most variables for which the best order is found exactly."""
RESTARTS = 50
"""Random orders from which the search starts if there are more variables."""
MOST_STATES_OF_A_FAMILY = 8
"""A variable with more states is only split into all of them."""
MOST_SPLITS, FEWEST_ROWS = 64, 5
"""A variable with more states, or fewer rows per state, is not a parent."""
MOST_CELLS_OF_A_FAMILY = 20_000
"""The most cells of a family, over all its contexts; larger families are left out."""
NUMBERS_IN_MEMORY = 2**22
"""The most numbers of an array that counts many families at once."""
IMPOSSIBLE = -1e300
"""The score of a family without a required parent."""
AT_LAST = 1.0
"""Seconds to find an order after Ctrl-C."""
SMALLEST_GAIN = 1e-9
"""A smaller gain of a move is rounding."""
Family = tuple[int, tuple[int, ...]]
"""A variable and the parents that its tree may test."""
Context = tuple[int, ...]
"""For each parent, the place of the union of states to which it is restricted."""
Local = Callable[[int, int], tuple[float, int]]
"""The best family of a variable, given the bits of its predecessors: its score and its bits."""


@dataclass(eq=False, repr=False, kw_only=True)
class AcyclicTrees(TreeLearner):
    """The Bayesian network of decision trees with the best Dirichlet score (BDeu).

    Suits directed truths: parents of a common effect depend given all others, however weakly. The
    model is the product of the conditionals of the trees. Its partition function is 1.

    Parameters
    ----------
    max_parents : int
        The most variables that a tree tests.
    prior : float
        Rows that the Dirichlet prior adds per state of a variable, before any split.
    order : sequence of names
        An order of some variables: a later one is never a parent of an earlier one.
    require : sequence of pairs of names
        Pairs that depend: one is a parent of the other.
    forbid : sequence of pairs of names
        Pairs that are independent given all others: no tree has both.

    Attributes
    ----------
    trees_ : list of Tree
        In the order of the variables.

    Examples
    --------
    >>> rows = [[0, 0], [1, 1]] * 20
    >>> AcyclicTrees().fit(rows).structure_.pairs()
    [('v0', 'v1')]
    >>> AcyclicTrees(forbid=[("v0", "v1")]).fit(rows).structure_.pairs()
    []
    """

    max_parents: int = 4
    prior: float = 1.0
    order: Sequence[str] = ()
    require: Sequence[tuple[str, str]] = ()
    forbid: Sequence[tuple[str, str]] = ()
    makes_network = True

    def learn(self, data: Data, run: Run) -> LogLinear:
        """Find the best families and the best order; return the network of the trees."""
        if self.max_parents < 0:
            raise DomainError(f"max_parents must be >= 0, got {self.max_parents}")
        limits = _limits_of(data.domain, self.order, self.require, self.forbid)
        scores = TreeScores(CountedRows.of(data), float(check_prior(self.prior)), limits)
        run.best = lambda: self._best_network(data.domain, scores, Run(Deadline.after(AT_LAST)))
        scores.find_families(self.max_parents, run)
        return self._best_network(data.domain, scores, run)

    def _best_network(self, domain: Domain, scores: TreeScores, run: Run) -> LogLinear:
        """Return the best network of the families that were scored."""
        parents = best_parents(scores.families, scores.limits, run)
        self.trees_ = [scores.tree(child, above) for child, above in enumerate(parents)]
        network = network_of(domain, self.trees_, self.prior)
        arcs = [tuple(sorted({*tree.variables.tolist()} - {-1})) for tree in self.trees_]
        directions = directions_of(domain, arcs)
        directed = Structure(domain, network.structure.features, directions=directions)
        return LogLinear(directed, network.weights)


# -- limits ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Limits:
    """For each variable, as bits: parents it must have if they precede it, and cannot have."""

    required: tuple[int, ...]
    excluded: tuple[int, ...]
    apart: tuple[int, ...]
    """Variables that are in no tree together with this one."""

    def allow(self, child: int, parents: Sequence[int]) -> bool:
        """Return whether a tree of the child may test these variables."""
        mask = _mask(parents)
        if mask & self.excluded[child]:
            return False
        return not any(self.apart[v] & (mask | 1 << child) for v in (*parents, child))


def _limits_of(
    domain: Domain,
    order: Sequence[str],
    require: Sequence[tuple[str, str]],
    forbid: Sequence[tuple[str, str]],
) -> Limits:
    count = len(domain)
    required, excluded, apart = ([0] * count for _ in range(3))
    pairs = pairs_of(domain, require, forbid)
    for own, masks in zip(pairs, (required, apart), strict=True):
        for first, second in own:
            masks[first] |= 1 << second
            masks[second] |= 1 << first
    places = [domain.position(name) for name in order]
    if len(set(places)) < len(places):
        raise ContextwiseError(f"order has a variable twice: {', '.join(order)}")
    for before, after in combinations(places, 2):
        excluded[before] |= 1 << after
    return Limits(tuple(required), tuple(excluded), tuple(apart))


def _mask(variables: Iterable[int]) -> int:
    return sum(1 << v for v in variables)


# -- families --------------------------------------------------------------------------------------


class TreeScores:
    """The scores of trees on some rows."""

    def __init__(self, table: CountedRows, prior: float, limits: Limits) -> None:
        self.table, self.prior, self.limits = table, prior, limits
        count = len(table.cardinalities)
        self.states: list[IntArray] = []  # the states that occur
        self.codes = np.zeros((count, len(table.rows)), dtype=np.int64)
        for v in range(count):
            states, self.codes[v] = np.unique(table.rows[:, v], return_inverse=True)
            self.states.append(states if len(states) else np.zeros(1, dtype=np.int64))
        self.sizes = [len(states) for states in self.states]
        most = min(MOST_SPLITS, int(table.counts.sum()) // FEWEST_ROWS)
        self.can_split = [1 < size <= max(most, 2) for size in self.sizes]
        self.choice = log(max(count - 1, 1))
        self.families: list[dict[int, float]] = [{} for _ in range(count)]
        """The scores of sets of parents: for each variable, by the bits of its parents."""

    def find_families(self, most: int, run: Run) -> None:
        """Score sets of parents until the time limit, and those of required parents in any case."""
        count = len(self.sizes)
        required = [[u for u in range(count) if bits >> u & 1] for bits in self.limits.required]
        self._score(
            [
                (v, parents)
                for v in range(count)
                for size in range(most + 1)
                for parents in combinations(required[v], size)
            ],
            Run(),
        )
        if not most:
            return
        self._score([(v, (u,)) for v in range(count) for u in range(count) if u != v], run)
        candidates = [self._candidates(v, run) for v in range(count)]
        for size in range(2, most + 1):
            self._score(
                [(v, s) for v in range(count) for s in combinations(candidates[v], size)], run
            )

    def _candidates(self, child: int, run: Run) -> list[int]:
        """Choose the variables that may be parents of a child."""
        scores = self.families[child]
        alone = {bits.bit_length() - 1: s for bits, s in scores.items() if bits.bit_count() == 1}
        if len(alone) <= CANDIDATES:
            return sorted(alone)
        best = sorted(alone, key=lambda v: -alone[v])[:3]
        self._score([(child, (u, v)) for v in best for u in alone if u != v], run)
        gains = {u: alone[u] - scores[0] for u in alone}
        for u, v in product(alone, best):
            gains[u] = max(gains[u], scores.get(1 << u | 1 << v, -np.inf) - alone[v])
        required = [u for u in alone if self.limits.required[child] >> u & 1]
        chosen = sorted(gains, key=lambda u: (u not in required, -gains[u]))
        return sorted(chosen[: max(CANDIDATES, len(required))])

    def _score(self, families: Iterable[Family], run: Run) -> None:
        """Add the scores of new families, those of one shape at once, until the time limit."""
        shapes: dict[tuple[int, ...], dict[Family, None]] = {}
        for child, parents in families:
            if _mask(parents) in self.families[child] or not self.limits.allow(child, parents):
                continue
            ordered = self._by_size(parents)
            shape = self._shape(child, ordered)
            if not parents or (
                shape[-1] > 1
                and all(self.can_split[v] for v in parents)
                and _cells(shape) <= MOST_CELLS_OF_A_FAMILY
            ):
                shapes.setdefault(shape, {})[child, ordered] = None
        batches = []
        for shape, members in shapes.items():
            step = max(1, NUMBERS_IN_MEMORY // max(len(self.table.rows), _cells(shape), 1))
            listed = list(members)
            batches += [(shape, listed[k : k + step]) for k in range(0, len(listed), step)]
        for shape, batch in run.steps(batches, "scoring trees"):
            best = self._best(shape, self._leaves(shape, batch)[0])
            for place, (child, parents) in enumerate(batch):
                forced = [bool(self.limits.required[child] >> v & 1) for v in parents]
                index = tuple(
                    slice(None, size) if is_forced else -1
                    for size, is_forced in zip(shape, forced, strict=False)
                )
                costs = (self._cost(size) for size in compress(shape, forced))
                score = float(best[place][index].sum()) - sum(costs)
                self.families[child][_mask(parents)] = score

    def _by_size(self, parents: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted(parents, key=lambda v: (self.sizes[v], v)))

    def _shape(self, child: int, parents: Iterable[int]) -> tuple[int, ...]:
        return (*(self.sizes[v] for v in parents), self.sizes[child])

    def _counts(self, shape: Sequence[int], batch: Sequence[Family]) -> FloatArray:
        """Count the rows of each family: an axis for the families, the parents and the child."""
        columns = np.array([(*parents, child) for child, parents in batch]).reshape(len(batch), -1)
        cells = np.zeros((len(batch), self.codes.shape[1]), dtype=np.int64)
        cells += np.arange(len(batch))[:, None]
        for axis, size in enumerate(shape):
            cells *= size
            cells += self.codes[columns[:, axis]]
        weights = np.broadcast_to(self.table.counts.astype(np.float64), cells.shape)
        counts = np.bincount(cells.ravel(), weights.ravel(), minlength=len(batch) * prod(shape))
        return np.asarray(counts.reshape(len(batch), *shape), dtype=np.float64)

    def _leaves(
        self, shape: Sequence[int], batch: Sequence[Family]
    ) -> tuple[FloatArray, FloatArray]:
        """Return the score of a leaf for each context of each family, and its counts."""
        from scipy.special import gammaln

        counts = self._counts(shape, batch)
        weight = np.array(self.prior * shape[-1])
        for axis, size in enumerate(shape[:-1], start=1):
            counts = _with_unions(counts, axis)
            weight = np.multiply.outer(weight, _with_unions(np.full(size, 1 / size), 0))
        part = weight[..., None] / shape[-1]
        leaves = gammaln(weight) - gammaln(weight + counts.sum(axis=-1))
        leaves += (gammaln(part + counts) - gammaln(part)).sum(axis=-1)
        return np.asarray(leaves), counts

    def _best(self, shape: Sequence[int], leaves: FloatArray) -> FloatArray:
        """Return the score of the best tree for each context of each family."""
        best = leaves.copy()
        changed = True
        while changed:
            before = best.copy()
            for axis, size in enumerate(shape[:-1], start=1):
                parts = np.moveaxis(best, axis, 0)
                for place, split in _splits(size):
                    value = parts[split].sum(axis=0) - self._cost(size)
                    np.maximum(parts[place], value, out=parts[place])
            changed = not np.array_equal(best, before)
        return best

    def _cost(self, size: int) -> float:
        """Return the cost of a split on a variable with this many states."""
        return self.choice + (log(size + 1) if _has_rests(size) else 0.0)

    def tree(self, child: int, parents: Sequence[int]) -> Tree:
        """Return the best tree of a child over some parents, as tests "v = k" in preorder."""
        parents = self._by_size(parents)
        shape = self._shape(child, parents)
        leaves, counts = self._leaves(shape, [(child, parents)])
        best = self._best(shape, leaves)[0]
        forced = [axis for axis, v in enumerate(parents) if self.limits.required[child] >> v & 1]
        nodes: list[tuple[int, int]] = []
        leaf_counts: list[FloatArray] = []

        def best_split(context: Context) -> tuple[int, list[int]]:
            """Return the axis and the parts of the best split; no parts at a leaf."""
            for axis in forced:
                if context[axis] == _places(shape[axis]) - 1:
                    return axis, list(range(shape[axis]))
            if best[context] <= leaves[0][context]:
                return 0, []
            values = {}
            for axis, size in enumerate(shape[:-1]):
                for place, parts in _splits(size):
                    if place == context[axis]:
                        total = sum(best[_replaced(context, axis, part)] for part in parts)
                        values[axis, tuple(parts)] = float(total) - self._cost(size)
            axis, chosen = max(values, key=lambda split: values[split])
            return axis, list(chosen)

        def visit(context: Context) -> None:
            axis, parts = best_split(context)
            if not parts:
                nodes.append((-1, 0))
                leaf_counts.append(counts[0][context])
                return
            for part in parts[:-1]:
                nodes.append((parents[axis], int(self.states[parents[axis]][part])))
                visit(_replaced(context, axis, part))
            visit(_replaced(context, axis, parts[-1]))

        visit(tuple(_places(size) - 1 for size in shape[:-1]))
        in_all = np.zeros((len(leaf_counts), self.table.cardinalities[child]), dtype=np.int64)
        in_all[:, self.states[child]] = np.rint(leaf_counts)
        variables, values = np.array(nodes, dtype=np.int64).T
        return Tree(child, variables, values, in_all)


def _has_rests(size: int) -> bool:
    """Return whether a variable can be split into one state and the rest."""
    return 2 < size <= MOST_STATES_OF_A_FAMILY


def _places(size: int) -> int:
    """Return how many unions of states of a variable a context can name."""
    return 2 * size + 1 if _has_rests(size) else size + 1


def _with_unions(counts: FloatArray, axis: int) -> FloatArray:
    """Append to an axis of states all but each state (if a split needs it), and all."""
    total = counts.sum(axis=axis, keepdims=True)
    rests = [total - counts] if _has_rests(counts.shape[axis]) else []
    return np.concatenate([counts, *rests, total], axis=axis)


def _splits(size: int) -> Iterator[tuple[int, list[int]]]:
    """Yield where a variable can be split, and the places of the parts."""
    everything = _places(size) - 1
    states = list(range(size))
    if size < 2:
        return
    if _has_rests(size):
        for state in states:
            yield size + state, [other for other in states if other != state]
            yield everything, [state, size + state]
    yield everything, states


def _cells(shape: Sequence[int]) -> int:
    """Return the number of counts of a family, over all its contexts."""
    return prod(map(_places, shape[:-1])) * shape[-1]


def _replaced(context: Context, axis: int, part: int) -> Context:
    return (*context[:axis], part, *context[axis + 1 :])


# -- the order -------------------------------------------------------------------------------------


def best_parents(
    families: Sequence[Mapping[int, float]], limits: Limits, run: Run
) -> list[list[int]]:
    """Return the parents of each variable in the network with the best sum of scores."""
    search = _exact if len(families) <= MOST_VARIABLES_IN_EXACT_ORDER else _moves
    masks = search(
        [_pruned(f, r) for f, r in zip(families, limits.required, strict=True)], limits, run
    )
    return [[v for v in range(len(families)) if mask >> v & 1] for mask in masks]


def _pruned(family: Mapping[int, float], required: int) -> list[tuple[float, int]]:
    """Sort sets of parents by score, without those that a better subset makes useless."""
    kept: list[tuple[float, int]] = []
    for mask, score in sorted(family.items(), key=lambda item: (-item[1], item[0].bit_count())):
        if not any(m & mask == m and (m ^ mask) & required == 0 for _, m in kept):
            kept.append((score, mask))
    return kept


def _exact(families: list[list[tuple[float, int]]], limits: Limits, run: Run) -> list[int]:
    """Find the best network: the best order of a set ends with one of its variables."""
    count = len(families)
    places = np.arange(1 << count)
    score = np.full((count, 1 << count), IMPOSSIBLE)  # the best family of v within a set
    chosen = np.zeros((count, 1 << count), dtype=np.int64)
    for v in range(count):
        for value, mask in families[v]:
            score[v, mask], chosen[v, mask] = value, mask
        for u in range(count):
            if u == v or limits.required[v] >> u & 1:
                continue  # a required parent that precedes v cannot be left out
            larger = places[(places >> u & 1) == 1]
            smaller = larger ^ (1 << u)
            better = score[v, smaller] >= score[v, larger]
            score[v, larger] = np.where(better, score[v, smaller], score[v, larger])
            chosen[v, larger] = np.where(better, chosen[v, smaller], chosen[v, larger])
    total = np.full(1 << count, -np.inf)
    total[0] = 0.0
    last = np.zeros(1 << count, dtype=np.int64)
    sizes = np.array([m.bit_count() for m in range(1 << count)])
    for size in range(1, count + 1):
        layer = places[sizes == size]
        for v in range(count):
            sets = layer[(layer >> v & 1) == 1]
            without = sets ^ (1 << v)
            value = total[without] + score[v, without]
            better = value > total[sets]
            total[sets[better]], last[sets[better]] = value[better], v
    _check_found(float(total[-1]))
    masks, left = [0] * count, (1 << count) - 1
    while left:
        v = int(last[left])
        left ^= 1 << v
        masks[v] = int(chosen[v, left])
    return masks


def _moves(families: list[list[tuple[float, int]]], limits: Limits, run: Run) -> list[int]:
    """Find a good network: move each variable to its best place in an order, until none gains."""
    count = len(families)
    relevant = [reduce(or_, (mask for _, mask in family), 0) for family in families]
    known: dict[tuple[int, int], tuple[float, int]] = {}

    def local(v: int, before: int) -> tuple[float, int]:
        """Return the best family of a variable whose predecessors are given."""
        before &= relevant[v]
        if (v, before) not in known:
            must = limits.required[v] & before
            allowed = (f for f in families[v] if f[1] & ~before == 0 and f[1] & must == must)
            known[v, before] = next(allowed, (IMPOSSIBLE, must))
        return known[v, before]

    rng = np.random.default_rng(0)
    best, best_order = -np.inf, list(range(count))
    for _ in range(RESTARTS):
        order = rng.permutation(count).tolist() if np.isfinite(best) else best_order
        value = _descend(order, local, run)
        if value > best:
            best, best_order = value, order
        if run.is_late():
            break
    _check_found(best)
    masks, before = [0] * count, 0
    for v in best_order:
        masks[v] = local(v, before)[1]
        before |= 1 << v
    return masks


def _check_found(value: float) -> None:
    """Raise if required pairs left no network."""
    if value < IMPOSSIBLE / 2:
        raise ContextwiseError(
            "no network has all required pairs: require fewer or raise max_parents "
            "(a constant variable depends on nothing)"
        )


def _descend(order: list[int], local: Local, run: Run) -> float:
    """Move variables of an order, in place, while that improves its value; return the value."""
    value = sum(local(v, _mask(order[:place]))[0] for place, v in enumerate(order))
    while not run.is_late():
        start = value
        for v in tuple(order):
            others = [u for u in order if u != v]
            before = np.zeros(len(order) + 1)  # the values of the others that do not see v
            after = np.zeros(len(order))  # and of those that do
            own = np.zeros(len(order))
            seen = 0
            for place, u in enumerate(others):
                own[place] = local(v, seen)[0]
                before[place + 1] = local(u, seen)[0]
                after[place] = local(u, seen | 1 << v)[0]
                seen |= 1 << u
            own[-1] = local(v, seen)[0]
            values = own + np.cumsum(before)[:-1] + np.cumsum(after[::-1])[::-1]
            place = int(np.argmax(values))
            if values[place] > value + SMALLEST_GAIN:
                value = float(values[place])
                order[:] = [*others[:place], v, *others[place:]]
        if value <= start + SMALLEST_GAIN:
            break
    return value
