"""PairBlocks: a graph whose edges have contexts, paid by their true degrees of freedom.

**Model.** Each pair has a tree of contexts in which it depends (`contextwise.learning.pair_trees`).
A pair in a context is one block: (a - 1)(b - 1) log-odds ratios, for a and b states that occur
there. Each variable is a multinomial logit of the blocks it is in (`contextwise.learning.logit`),
so an association costs what it needs, whatever the number of configurations of the neighbours.

**Score.** A change of a pair's tree is worth the mean gain in log-likelihood of its two variables,
minus costs. A block costs the chi-square quantile of its degrees of freedom, at the tail
probability where BIC adds one parameter. Graphs with equally many edges share the same prior
probability, so an edge costs ln((m - k) / (k + 1)) if k of m pairs have one. A literal of a context
costs the logarithm of the number of literals to choose from.

**Search.** (1) Add the edge that gains most, while one gains; remove edges while that gains. (2)
Audit: add an edge where the table of a pair given its neighbours contradicts independence. Blocks
have power against effects that are alike in all contexts, tables against all others, such as those
of two causes of a common effect. (3) Find the literals that make most pairs vanish; a three-way
interaction can be read as the context of any of its three pairs, and the reading that explains most
of them is the right one. (4) Change the tree of one pair at a time, the best change first, until
nothing gains. (5) Where the rows contradict an independence in a context, the pair depends there.
(6) Turn blocks into conjunctions of literals where that makes other pairs vanish: if A and B depend
where C=1 because of the feature A=1 & B=1 & C=1 alone, then A and C depend only where B=1. (7) Give
a pair different effects in different states of another variable where that gains; the claims stay
the same. (8) Where the test of each region, given the blankets of both variables, contradicts an
independence in a context, the pair depends everywhere.

Rao's score statistic ranks changes, and a refit decides.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import inf, log

import numpy as np

from contextwise.data.rows import Data
from contextwise.errors import DomainError
from contextwise.evidence.blanket_tests import evaluate_claims
from contextwise.evidence.counted_rows import CountedRows
from contextwise.evidence.independence_test import evaluate_given, evaluate_without_each
from contextwise.learning.base import Learner, Run, pairs_of
from contextwise.learning.logit import Block, BlockScores, Context, Literal, NumberedRows, penalty
from contextwise.learning.pair_trees import (
    EVERYWHERE,
    NOWHERE,
    PairTrees,
    Tree,
    meet,
    scope_of,
)
from contextwise.models.features import PairIndex, members
from contextwise.models.structure import Structure
from contextwise.support.arrays import FloatArray

LEAST = 1e-6
"""A smaller gain is none."""
FORMS = 12
"""Conjunctions that are tried in place of the block of a pair."""
REFITS = 3
"""Trees that are refitted in each step of the search for a pair's tree."""
ENOUGH = 0.8
"""Rao's gain of blocks in the model counts this much less, since it is approximate."""
SLACK = 3.0
"""Changes are refitted if they are this much worse, in nats, by what needs no fit."""
COMMON = 8
"""Common neighbours whose states can be contexts of a pair; with more, those that gain most."""
ROUNDS = 3
"""Most times that contexts and edges are searched in turn."""
PASSES = 8
"""Most times that the contexts of all pairs are searched in turn."""
LEVEL = 0.01
"""Level of the tests that contradict an independence in a context."""
CLEAR = 0.1
"""Level of the tests that contradict a conjunction."""


@dataclass(eq=False, repr=False, kw_only=True)
class PairBlocks(Learner):
    """A graph whose edges have contexts, for tables of any kind.

    It pays for an association of two variables what it needs, (a - 1)(b - 1) parameters for a and b
    states, and finds the contexts in which pairs depend. It claims an independence only if the rows
    do not contradict it.

    Parameters
    ----------
    depth : int
        Largest number of literals in a context of an edge; 0 finds a graph.
    require, forbid : lists of pairs of names
        Pairs that depend, and pairs that are independent in all contexts.

    Examples
    --------
    B and C are equal where A=0, and independent where A=1, where both are 1 more often:

    >>> ones = [[1, b, c] for b in (0, 1, 1, 1) for c in (0, 1, 1, 1)]
    >>> rows = [[0, 0, 0], [0, 1, 1]] * 80 + ones * 10
    >>> learned = PairBlocks().fit(rows, domain={"A": 2, "B": 2, "C": 2}).structure_
    >>> learned.restrict("A=0").pairs(), learned.restrict("A=1").pairs()
    ([('B', 'C')], [])
    """

    depth: int = 2
    require: Sequence[tuple[str, str]] = ()
    forbid: Sequence[tuple[str, str]] = ()

    def learn(self, data: Data, run: Run) -> Structure:
        """Search for the pairs and their contexts."""
        if self.depth < 0:
            raise DomainError(f"depth must be >= 0, got {self.depth}")
        table = CountedRows.of(data)
        rows = NumberedRows(table)
        required, forbidden = pairs_of(data.domain, self.require, self.forbid)
        search = _Search(rows, run, self.depth, required, forbidden)
        run.best = lambda: search.trees.structure(data.domain, rows.states)
        search.run_all()
        while not run.is_late() and search.widen_refuted(run.best(), table):
            pass
        return run.best()


class _Search:
    """Search the trees of all pairs."""

    def __init__(
        self,
        rows: NumberedRows,
        run: Run,
        depth: int,
        required: Collection[PairIndex],
        forbidden: Collection[PairIndex],
    ) -> None:
        self.rows, self.run, self.depth, self.required = rows, run, depth, required
        self.cards, self.trees, self.scores = rows.cards, PairTrees(rows.cards), BlockScores(rows)
        self.varying = [v for v, card in enumerate(self.cards) if card > 1]
        self.pairs = [pair for pair in combinations(self.varying, 2) if pair not in forbidden]
        for pair in required:
            self.trees[pair] = EVERYWHERE
        self._tables: dict[tuple[int, tuple[int, ...], bool], FloatArray] = {}
        self._gains: dict[PairIndex, tuple[list[list[Block]], dict[Tree, float]]] = {}
        self._switches: dict[tuple[PairIndex, tuple[int, ...]], list[int]] = {}

    def run_all(self) -> None:
        """Run all phases; stop between changes when the time is up."""
        self.find_edges()
        if not self.depth:
            return
        self.find_switches()
        for _ in range(ROUNDS):
            self.find_contexts()
            before = dict(self.trees.trees)
            self.find_edges()
            if self.trees.trees == before or self.run.is_late():
                break
        self.widen_contradicted()
        self.find_conjunctions()
        self.find_interactions()

    # -- scores ------------------------------------------------------------------------------------

    @property
    def edge_cost(self) -> float:
        """The cost of one more edge; graphs with equally many edges are equally probable."""
        most, now = len(self.pairs), len(self.trees.trees)
        return max(0.0, log((most - now + 1) / (now + 1)))

    def switches(self, pair: PairIndex) -> list[int]:
        """Return the common neighbours of a pair whose states may be its contexts.

        If there are many, take those whose most common state changes the effect most.
        """
        common = self.trees.common(pair)
        key = pair, tuple(common)
        if len(common) > COMMON and key not in self._switches:
            sides = {c: self._both_sides(c, 0) for c in common}
            splits = {c: tuple(((c, side),) for side in both) for c, both in sides.items()}
            gains = self.gains(pair, list(splits.values()))
            ranked = sorted(common, key=lambda c: -gains[splits[c]])
            self._switches[key] = sorted(ranked[:COMMON])
        return self._switches.get(key, common)

    def choices(self, pair: PairIndex) -> int:
        """Return the number of literals that a context of a pair can have."""
        cards = [self.cards[c] for c in self.trees.common(pair)]
        return max(2, sum(2 if card == 2 else 2 * card for card in cards))

    def freedom(self, pair: PairIndex, context: Context) -> int:
        """Return the degrees of freedom of a pair in a context."""
        return self.scores.freedom((pair, context))

    def cost(self, pair: PairIndex, tree: Tree) -> float:
        """Return what a tree costs."""
        if not tree:
            return 0.0
        total = self.edge_cost
        for context in tree:
            total += penalty(self.freedom(pair, context), self.rows.total)
        literals = len({literal for context in tree for literal in context})
        if len(tree) > 1:  # C in S and C not in S are one choice
            literals = max(1, literals // 2)
        return total + literals * log(self.choices(pair)) if literals else total

    def known(self, pair: PairIndex, tree: Tree = NOWHERE) -> list[list[Block]]:
        """Return the blocks of both variables if the pair had this tree."""
        own: list[Block] = [(pair, context) for context in tree]
        return [self.trees.blocks(v, pair) + own for v in pair]

    def value(self, pair: PairIndex, tree: Tree) -> float:
        """Return the score of a tree, with all others as they are."""
        blocks = zip(pair, self.known(pair, tree), strict=True)
        return 0.5 * sum(self.scores.fit(v, own)[0] for v, own in blocks) - self.cost(pair, tree)

    def literals(self, pair: PairIndex) -> list[Literal]:
        """Return the literals of common neighbours that have one state, or all but one."""
        result: list[Literal] = []
        for c in self.trees.common(pair):
            every = self.trees.all_states(c)
            single = {1 << s for s in members(every)}
            result += [(c, states) for states in sorted(single | {every - s for s in single})]
        return [x for x in result if self.freedom(pair, (x,))]

    def promising(self, pair: PairIndex, literals: Sequence[Literal]) -> list[Literal]:
        """Return the literals where a pair that depends everywhere had perhaps better depend alone.

        A literal without states stands for no dependence at all.
        """
        gains = self._advantages(pair, literals)
        return [x for x, gain in zip(literals, gains, strict=True) if gain > -SLACK]

    def _advantages(self, pair: PairIndex, literals: Sequence[Literal]) -> list[float]:
        """Return about how much better a pair that depends everywhere depends in literals alone."""
        if not literals:
            return []
        costs = np.array([self.cost(pair, ((x,),) if x[1] else NOWHERE) for x in literals])
        gains = self._change(pair, literals) + self.cost(pair, EVERYWHERE) - costs
        return [float(gain) for gain in gains]

    def _change(self, pair: PairIndex, literals: Sequence[Literal]) -> FloatArray:
        """Return about how the likelihood changes if a pair depends where a literal holds alone.

        The fits with the pair everywhere tell, so this needs no refit.
        """
        change = np.zeros(len(literals))
        for v, other in (pair, pair[::-1]):
            own = [(c, states) if states else (other, 0) for c, states in literals]
            blocks = self.trees.blocks(v)
            change += 0.5 * np.array(self.scores.only(v, blocks, (pair, ()), own))
        return change

    def may_gain(self, pair: PairIndex) -> bool:
        """Return whether another tree of a pair may be better, by what needs no refit."""
        if self.trees[pair] == EVERYWHERE:
            return bool(self.promising(pair, self.literals(pair))) or self.may_go(pair)
        if self.trees[pair]:
            return True
        return self._rao_climb(pair) > -SLACK

    def _rao_climb(self, pair: PairIndex) -> float:
        """Climb to a tree of an absent pair by Rao's gains; return about how much it gains."""
        tree, common = EVERYWHERE, self.switches(pair)
        while not self.run.is_late():
            moves = [tree, *self._moves(pair, tree, common)]
            gains = self.gains(pair, moves)
            best = max(moves, key=lambda m: gains[m] - self.cost(pair, m))
            if best == tree:
                break
            tree = best
        return self.gains(pair, [tree])[tree] - self.cost(pair, tree)

    def may_go(self, pair: PairIndex) -> bool:
        """Return whether a pair may cost more than it gains."""
        is_everywhere = self.trees[pair] == EVERYWHERE
        return not is_everywhere or bool(self.promising(pair, [(pair[0], 0)]))

    def gains(self, pair: PairIndex, trees: Sequence[Tree]) -> dict[Tree, float]:
        """Return Rao's gains over no dependence of at least these trees of a pair."""
        known = self.known(pair)
        blocks, gains = self._gains.get(pair, (None, {}))
        if blocks != known:
            gains = {}
            self._gains[pair] = known, gains
        new = [tree for tree in dict.fromkeys(trees) if tree not in gains]
        options: list[list[Block]] = [[(pair, context) for context in tree] for tree in new]
        if new:
            scores = [self.scores.rao(v, own, options) for v, own in zip(pair, known, strict=True)]
            gains |= {tree: 0.5 * sum(both) for tree, *both in zip(new, *scores, strict=True)}
        return gains

    # -- edges -------------------------------------------------------------------------------------

    def find_edges(self) -> None:
        """Add and remove edges, by blocks and by tables, until nothing changes."""
        for _ in range(ROUNDS):
            self.add_edges()
            self.remove_edges()
            if not self.audit() or self.run.is_late():
                return

    def add_edges(self) -> None:
        """Add the edge that gains most, while one gains."""
        gains = np.zeros((len(self.cards), len(self.cards)))
        for v in self.run.steps(self.varying, "scoring pairs"):
            self._score_edges(v, gains)
        refused: set[PairIndex] = set()
        while not self.run.is_late():
            candidates = [
                (0.5 * (gains[pair] + gains[pair[::-1]]) - self.cost(pair, EVERYWHERE), pair)
                for pair in self.pairs
                if not self.trees[pair] and pair not in refused
            ]
            gain, pair = max(candidates, default=(0.0, (0, 0)))
            if gain <= LEAST:
                return
            if self.value(pair, EVERYWHERE) <= self.value(pair, NOWHERE) + LEAST:
                refused.add(pair)
                continue
            self.trees[pair] = EVERYWHERE
            for v in pair:
                self._score_edges(v, gains)
            refused = {other for other in refused if not {*other} & {*pair}}

    def _score_edges(self, v: int, gains: FloatArray) -> None:
        """Store Rao's gain of each absent pair of a variable."""
        absent = [pair for pair in self.pairs if v in pair and not self.trees[pair]]
        options = [[(pair, ())] for pair in absent]
        scores = self.scores.rao(v, self.trees.blocks(v), options)
        for (a, b), score in zip(absent, scores, strict=True):
            gains[v, b if a == v else a] = score

    def remove_edges(self) -> None:
        """Remove the edge that costs most, while one costs more than it gains."""
        while not self.run.is_late():
            gains = {
                pair: self.value(pair, NOWHERE) - self.value(pair, tree)
                for pair, tree in self.trees.trees.items()
                if not self.run.is_late() and self.is_removable(pair) and self.may_go(pair)
            }
            worst = max(gains, key=lambda pair: gains[pair], default=None)
            if worst is None or gains[worst] <= LEAST:
                return
            self.trees[worst] = NOWHERE

    def is_removable(self, pair: PairIndex) -> bool:
        """Return whether nothing but the score speaks for a pair."""
        return (
            pair not in self.required
            and not self.trees.implied(pair)
            and self.table_p(pair) > self.table_level
        )

    @property
    def table_level(self) -> float:
        """The level of tests of tables: where one degree of freedom would be an edge."""
        from scipy.special import chdtrc

        return float(chdtrc(1, log(max(3.0, self.rows.total)) + 2 * self.edge_cost))

    def table_p(self, pair: PairIndex) -> float:
        """Return the p-value of independence given the neighbours of one end or of the other."""
        ends = (pair, pair[::-1])
        return min(
            1.0, 2 * min(float(self._table_ps(a, b in self.trees.near[a])[b]) for a, b in ends)
        )

    def _table_ps(self, target: int, inside: bool) -> FloatArray:
        """Test each neighbour given the others, or each other variable given the neighbours."""
        near = tuple(sorted(self.trees.near[target]))
        key = target, near, inside
        if key not in self._tables:
            p_values = np.ones(len(self.cards))
            if inside:
                p_values[[*near]] = evaluate_without_each(self.rows.table, target, near).p_values
            else:
                others = [u for u in self.varying if u != target and u not in near]
                tests = evaluate_given(self.rows.table, target, others, near)
                p_values[others] = tests.p_values
            self._tables[key] = p_values
        return self._tables[key]

    def audit(self) -> bool:
        """Add edges where tables contradict independence; return whether there were any."""
        added = False
        absent = np.zeros((len(self.cards), len(self.cards)), dtype=bool)
        for pair in self.pairs:
            absent[pair] = not self.trees[pair]
        while absent.any() and not self.run.is_late():
            p = np.ones(absent.shape)
            for v in self.varying:
                p[v] = self._table_ps(v, inside=False)
            p = np.where(absent, np.minimum(p, p.T), np.inf)
            first, second = divmod(int(p.argmin()), len(p))
            if min(1.0, 2 * p[first, second]) > self.table_level:
                break
            self.trees[first, second] = EVERYWHERE
            absent[first, second] = False
            added = True
        return added

    # -- contexts ----------------------------------------------------------------------------------

    def find_switches(self) -> None:
        """Give contexts to pairs, beginning with the literal that gains most over all pairs."""
        gains: dict[PairIndex, dict[Literal, float]] = {}
        while not self.run.is_late():
            missing = [pair for pair in self.trees.trees if pair not in gains]
            for pair in self.run.steps(missing, "finding switches"):
                gains[pair] = self._switch_gains(pair)
            total: dict[Literal, float] = {}
            for own in gains.values():
                for literal, gain in own.items():
                    total[literal] = total.get(literal, 0.0) + gain
            if not total:
                return
            literal = max(total, key=lambda x: total[x])
            pair = max(gains, key=lambda pair: gains[pair].get(literal, 0.0))
            tree = ((literal,),)
            if self.trees.is_possible(pair, tree) and self._is_better(pair, tree):
                self.trees[pair] = tree
                gains = {p: own for p, own in gains.items() if not {*p} & {*pair}}
            else:
                del gains[pair][literal]

    def worth_a_refit(self, pair: PairIndex, tree: Tree, moves: Sequence[Tree]) -> list[Tree]:
        """Return the moves from a tree that may improve it by Rao's gains, the best first."""
        gains = self.gains(pair, [tree, *moves])
        ranked = sorted(moves, key=lambda m: self.cost(pair, m) - gains[m])
        # Rao's gain is approximate, the more so the larger it is.
        least = ENOUGH * gains[tree] - self.cost(pair, tree) - 1.5
        return [m for m in ranked[:REFITS] if gains[m] - self.cost(pair, m) > least]

    def _switch_gains(self, pair: PairIndex) -> dict[Literal, float]:
        """Return the literals that a pair gains from, and about how much."""
        if self.trees[pair] != EVERYWHERE:
            return {}
        literals = self.literals(pair)
        gains = zip(literals, self._advantages(pair, literals), strict=True)
        return {
            x: gain for x, gain in gains if gain > LEAST and self.trees.is_possible(pair, ((x,),))
        }

    def _is_better(self, pair: PairIndex, tree: Tree) -> bool:
        return self.value(pair, tree) > self.value(pair, EVERYWHERE) + LEAST

    def find_contexts(self) -> None:
        """Change the tree of one pair at a time, the best change first."""
        heap: list[tuple[float, PairIndex, Tree]] = []
        changes = 0
        changed = dict.fromkeys(self.varying, 0)
        looked = dict.fromkeys(self.pairs, -1)

        def is_stale(pair: PairIndex) -> bool:
            return looked[pair] < max(changed[v] for v in pair)

        def look_at(pair: PairIndex) -> None:
            looked[pair] = changes
            if (self.trees[pair] or self.trees.common(pair)) and self.may_gain(pair):
                gain, tree = self.best_tree(pair)
                if gain > LEAST:
                    heapq.heappush(heap, (-gain, pair, tree))

        for _ in range(PASSES):
            for pair in self.run.steps(list(filter(is_stale, self.pairs)), "finding contexts"):
                look_at(pair)
            if not heap:
                return
            while heap and not self.run.is_late():
                _, pair, tree = heapq.heappop(heap)
                if is_stale(pair):
                    look_at(pair)
                elif self.trees.is_possible(pair, tree):
                    self.trees[pair] = tree
                    changes += 1
                    changed |= dict.fromkeys(pair, changes)

    def best_tree(self, pair: PairIndex) -> tuple[float, Tree]:
        """Climb to the best tree of a pair; return how much it gains, and the tree."""
        values: dict[Tree, float] = {}

        def value(tree: Tree) -> float:
            if tree not in values:
                values[tree] = self.value(pair, tree)
            return values[tree]

        current = best = self.trees[pair]
        for start in (NOWHERE, EVERYWHERE):
            if value(start) > value(best) + LEAST and (start or self.is_removable(pair)):
                best = start
        common = self.switches(pair)
        for start in dict.fromkeys([EVERYWHERE, best, current] if common else []):
            tree = start
            while tree and not self.run.is_late():
                moves = self._moves(pair, tree, common)
                top = max([tree, *self.worth_a_refit(pair, tree, moves)], key=value)
                if value(top) <= value(tree) + LEAST:
                    break
                tree = top
            if tree and value(tree) > value(best) + LEAST:
                best = tree
        return value(best) - value(current), best

    def _moves(self, pair: PairIndex, tree: Tree, common: list[int]) -> list[Tree]:
        """Return possible trees that drop, widen or refine one context."""
        result: list[Tree] = []
        for context in tree:
            rest = [other for other in tree if other != context]
            if rest:
                result.append(tuple(rest))
            literals = dict(context)
            result += [(tuple(x for x in context if x[0] != v),) for v in literals]
            for c in common:
                if c not in literals and len(literals) >= self.depth:
                    continue
                allowed = literals.get(c, self.trees.all_states(c))
                for states in self._parts(pair, context, c, allowed):
                    inside = meet(context, c, states)
                    if self.freedom(pair, inside):
                        result.append(tuple(sorted([*rest, inside])))
        distinct = [move for move in dict.fromkeys(result) if move != tree]
        return [move for move in distinct if self.trees.is_possible(pair, move)]

    def _parts(self, pair: PairIndex, context: Context, c: int, allowed: int) -> list[int]:
        """Return sets of states of c: single ones, all but one, and those with most evidence."""
        single = members(allowed)
        if len(single) < 2:
            return []
        sets = {1 << s for s in single} | {allowed & ~(1 << s) for s in single}
        if len(single) > 3:
            trees: dict[int, Tree] = {s: (meet(context, c, 1 << s),) for s in single}
            trees = {s: tree for s, tree in trees.items() if self.freedom(pair, tree[0])}
            gains = self.gains(pair, list(trees.values()))
            order = sorted(trees, key=lambda s: self.cost(pair, trees[s]) - gains[trees[s]])
            sets |= {sum(1 << s for s in order[:k]) for k in range(1, len(order))}
        return sorted(sets)

    def find_interactions(self) -> None:
        """Let effects differ between the states of a common neighbour, where that gains."""
        for pair, tree in sorted(self.trees.trees.items()):
            if tree != EVERYWHERE or self.run.is_late():
                continue
            splits: list[Tree] = []
            for c in self.switches(pair):
                for s in range(self.cards[c] if self.cards[c] > 2 else 1):
                    one, others = self._both_sides(c, s)
                    splits.append((((c, one),), ((c, others),)))
            splits = [t for t in splits if all(self.freedom(pair, context) for context in t)]
            splits = [t for t in splits if self.trees.is_possible(pair, t)]
            splits = self._worth_splitting(pair, splits)
            for best in self.worth_a_refit(pair, EVERYWHERE, splits)[:1]:
                if self.value(pair, best) > self.value(pair, EVERYWHERE) + LEAST:
                    self.trees[pair] = best

    def _worth_splitting(self, pair: PairIndex, splits: Sequence[Tree]) -> list[Tree]:
        """Return the splits that may gain by Rao's gains over the same effect everywhere."""
        options: list[list[Block]] = [[(pair, split[0])] for split in splits]
        scores = [self.scores.rao(v, self.trees.blocks(v), options) for v in pair if splits]
        plain = self.cost(pair, EVERYWHERE)
        return [
            split
            for split, *both in zip(splits, *scores, strict=False)
            if 0.5 * sum(both) + SLACK > self.cost(pair, split) - plain
        ]

    # -- evidence ----------------------------------------------------------------------------------

    def widen_contradicted(self) -> None:
        """Let pairs depend everywhere if the rows contradict an independence in a context."""
        waiting = set(self.trees.trees)
        while waiting and not self.run.is_late():
            pair = min(waiting)
            waiting.remove(pair)
            tree = self.trees[pair]
            absent = [c for c in self.trees.absent(tree) if self.freedom(pair, c)]
            if not absent or not self.is_contradicted(pair, tree, absent):
                continue
            split = tuple(sorted([*tree, *absent]))
            can_split = not self.trees.absent(split) and self.trees.is_possible(pair, split)
            options = [EVERYWHERE, split] if can_split else [EVERYWHERE]
            self.trees[pair] = max(options, key=lambda option: self.value(pair, option))
            waiting |= {other for other in self.trees.trees if {*other} & {*pair}}

    def is_contradicted(self, pair: PairIndex, tree: Tree, absent: list[Context]) -> bool:
        """Return whether the rows show a dependence in contexts where a tree has none.

        The effects there may be the same in all rows of a context, or differ between the states of
        one common neighbour.
        """
        options: list[list[Block]] = [[(pair, context) for context in absent]]
        for c in self.switches(pair):
            parts = [meet(context, c, 1 << s) for context in absent for s in range(self.cards[c])]
            parts = [part for part in parts if dict(part)[c] and self.freedom(pair, part)]
            if len(parts) > len(absent):
                options.append([(pair, part) for part in parts])
        return self.scores.p_value(pair, self.known(pair, tree), options) <= LEVEL

    def widen_refuted(self, structure: Structure, table: CountedRows) -> bool:
        """Let the pair depend everywhere whose region the test contradicts most clearly.

        Return whether there was one.
        """
        partly = [pair for pair in self.pairs if self.trees[pair] not in (NOWHERE, EVERYWHERE)]
        partly += [pair for pair in self.pairs if not self.trees[pair] and self.trees.implied(pair)]
        if not partly:
            return False
        tested = evaluate_claims(structure, table, partly)
        refuted = [
            (p, structure.domain.pair(claim.pair))
            for claim, p in tested
            if claim.region and p <= LEVEL
        ]
        if not refuted:
            return False
        first, second = min(refuted)[1]
        self.trees[first, second] = EVERYWHERE
        return True

    # -- conjunctions ------------------------------------------------------------------------------

    def find_conjunctions(self) -> None:
        """Turn effects of blocks into literals where other pairs then vanish."""
        for pair, tree in sorted(self.trees.trees.items()):
            is_single = len(tree) == 1 and tree != EVERYWHERE
            if is_single and self.trees[pair] == tree and pair not in self.required:
                self._conjoin(pair, tree[0])
            if self.run.is_late():
                return

    def _conjoin(self, pair: PairIndex, context: Context) -> None:
        """Replace the block of a pair in a context, and drop other pairs inside, if that gains."""
        scope = scope_of((pair, context))
        others = [p for p in combinations(scope, 2) if p != pair and len(self.trees[p]) == 1]
        others = [p for p in others if p not in self.required]
        each = log(self.choices(pair))
        before = self.trees.copy()
        best, most = before, self._value_within(scope, each) + LEAST
        try:
            saved = sum(self._block_cost((p, self.trees[p][0]), each) for p in others)
            least = most - saved - self._value_without(pair, scope, each)
            for block in self._best_forms((pair, context), each, least):
                if self.run.is_late():
                    break
                self.trees = before.copy()
                self.trees[pair] = NOWHERE
                self.trees.conjunctions.append(block)
                reach = self._value_within(scope, each)
                reach += sum(self._gain_without(p, each) for p in others)
                if reach <= most:
                    continue
                left = list(others)
                value = -inf
                while left and not self.run.is_late():
                    tried = {other: self._value_without(other, scope, each) for other in left}
                    worst = max(left, key=lambda other: tried[other])
                    if tried[worst] <= value + LEAST:
                        break
                    value = tried[worst]
                    self.trees[worst] = NOWHERE
                    left.remove(worst)
                dropped = [other for other in others if other not in left]
                if value > most and not any(self._is_missing(other) for other in dropped):
                    best, most = self.trees.copy(), value
        finally:  # also on Ctrl-C
            self.trees = best

    def _best_forms(self, block: Block, each: float, least: float) -> list[Block]:
        """Return the conjunctions that would gain most in place of the block of a pair.

        All variables of the scope together must gain enough, over no block at all.
        """
        pair, context = (block[0][0], block[0][1]), block[1]
        forms = self._literal_forms(pair, context)
        ends = [*pair, *(v for v in scope_of(block) if v not in pair)]
        known = [self.trees.blocks(v, pair) for v in ends]
        options = [[form] for form in forms]
        scores = [self.scores.rao(v, own, options) for v, own in zip(ends, known, strict=True)]
        gains = {}
        for form, *found in zip(forms, *scores, strict=True):
            cost = self._block_cost(form, each)
            if (2 - ENOUGH) * 0.5 * sum(found) - cost + SLACK > least:
                gains[form] = 0.5 * sum(found[:2]) - cost
        best = set(sorted(gains, key=lambda form: -gains[form])[:FORMS])
        return [form for form in forms if form in best]  # the first of equally good ones wins

    def _gain_without(self, pair: PairIndex, each: float) -> float:
        """Return the most that may be gained within a scope without the block of a pair."""
        context = self.trees[pair][0]
        cost = self._block_cost((pair, context), each)
        if context:
            return cost
        return max(0.0, float(self._change(pair, [(pair[0], 0)])[0]) + cost + SLACK)

    def _block_cost(self, block: Block, each: float) -> float:
        freedom = self.scores.freedom(block)
        return penalty(freedom, self.rows.total) + len(block[1]) * each

    def _literal_forms(self, pair: PairIndex, context: Context) -> list[Block]:
        """Return the block of a pair in a context with one end, or both, as a literal."""
        literals = [
            [(v, states) for s in range(self.cards[v]) for states in self._both_sides(v, s)]
            for v in pair
        ]
        forms: list[Block] = [((pair[1],), (x,)) for x in literals[0]]
        forms += [((pair[0],), (x,)) for x in literals[1]]
        forms += [((), (x, y)) for x, y in product(*literals)]
        distinct = dict.fromkeys(forms)
        return [(effects, tuple(sorted([*context, *more]))) for effects, more in distinct]

    def _both_sides(self, v: int, state: int) -> tuple[int, int]:
        return 1 << state, self.trees.all_states(v) & ~(1 << state)

    def _value_within(self, scope: list[int], each: float) -> float:
        """Return the score of all blocks inside a scope; ``each`` is the cost of a literal."""
        total = 0.5 * sum(self.scores.fit(v, self.trees.blocks(v))[0] for v in scope)
        blocks: list[Block] = [(p, c) for p in combinations(scope, 2) for c in self.trees[p]]
        for block in blocks + self.trees.conjunctions:
            total -= self._block_cost(block, each)
        # Conjunctions must explain clearly more than they leave out.
        return total - 0.25 * log(self.rows.total) * len(self.trees.conjunctions)

    def _value_without(self, pair: PairIndex, scope: list[int], each: float) -> float:
        tree = self.trees[pair]
        self.trees[pair] = NOWHERE
        value = self._value_within(scope, each)
        self.trees[pair] = tree
        return value

    def _is_missing(self, pair: PairIndex) -> bool:
        """Return whether the rows show an effect of a pair beyond those of conjunctions."""
        implied = tuple(self.trees.implied(pair))
        absent = [c for c in self.trees.absent(implied) if self.freedom(pair, c)]
        options: list[list[Block]] = [[(pair, context) for context in absent]]
        return bool(absent) and self.scores.p_value(pair, self.known(pair), options) <= CLEAR
