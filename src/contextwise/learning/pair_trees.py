"""Pairs of variables with the contexts in which they depend, and the features that say so.

A pair that depends in a context is a block of features: all cells of the two variables, each with
the literals of the context. Such a feature also makes the variables of the context depend on both
ends and on each other. So contexts are **possible** only together with those of other pairs: no
block may make a pair depend where that pair is absent.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

from contextwise.learning.logit import Block, Context, Literal
from contextwise.models.domain import Domain
from contextwise.models.features import PairIndex
from contextwise.models.structure import Structure, features_of

Tree = tuple[Context, ...]
"""Disjoint contexts in which a pair depends, each with an effect of its own."""
NOWHERE: Tree = ()
EVERYWHERE: Tree = ((),)


def meet(context: Context, v: int, allowed: int) -> Context:
    """Return a context with one more literal.

    >>> meet(((0, 0b011), (2, 0b1)), 0, 0b110)
    ((0, 2), (2, 1))
    """
    literals = dict(context)
    literals[v] = literals.get(v, allowed) & allowed
    return tuple(sorted(literals.items()))


def scope_of(block: Block) -> list[int]:
    """Return the variables of a block."""
    return sorted({*block[0], *(v for v, _ in block[1])})


class PairTrees:
    """The pairs that depend somewhere, each with its tree."""

    def __init__(self, cards: Sequence[int]) -> None:
        self.cards = cards
        self.trees: dict[PairIndex, Tree] = {}
        self.conjunctions: list[Block] = []
        """Blocks with literals of variables that other blocks have as effects."""
        self.near: list[set[int]] = [set() for _ in cards]
        """The neighbours of each variable."""
        self._blocks: list[dict[PairIndex, list[Block]]] = [{} for _ in cards]

    def __getitem__(self, pair: PairIndex) -> Tree:
        return self.trees.get(pair, NOWHERE)

    def __setitem__(self, pair: PairIndex, tree: Tree) -> None:
        a, b = pair
        for block in ((pair, context) for context in self.trees.pop(pair, NOWHERE)):
            for v in scope_of(block):
                self._blocks[v].pop(pair, None)
        self.near[a].discard(b)
        self.near[b].discard(a)
        if tree:
            self.trees[pair] = tree
            self.near[a].add(b)
            self.near[b].add(a)
        for block in ((pair, context) for context in tree):
            for v in scope_of(block):
                self._blocks[v].setdefault(pair, []).append(block)

    def copy(self) -> PairTrees:
        """Return a copy that can be changed."""
        other = PairTrees(self.cards)
        other.trees, other.conjunctions = dict(self.trees), list(self.conjunctions)
        other.near = [set(near) for near in self.near]
        other._blocks = [{p: list(own) for p, own in blocks.items()} for blocks in self._blocks]
        return other

    def common(self, pair: PairIndex) -> list[int]:
        """Return the variables that depend on both."""
        return sorted(self.near[pair[0]] & self.near[pair[1]])

    def all_states(self, v: int) -> int:
        """Return the set of all states of a variable."""
        return (1 << self.cards[v]) - 1

    def blocks(self, v: int, without: PairIndex | None = None) -> list[Block]:
        """Return the blocks of a variable, except those of one pair."""
        found = [block for block in self.conjunctions if v in scope_of(block)]
        for pair, blocks in self._blocks[v].items():
            if pair != without:
                found += blocks
        return found

    def absent(self, tree: Tree) -> list[Context]:
        """Return disjoint contexts that cover where a pair is independent.

        >>> PairTrees([2, 2, 2, 2]).absent((((2, 0b01), (3, 0b01)),))
        [((2, 2),), ((2, 1), (3, 2))]
        """
        rest: list[Context] = [()]
        for context in tree:
            rest = [piece for region in rest for piece in self._minus(region, context)]
        return rest

    def _minus(self, region: Context, context: Context) -> list[Context]:
        pieces: list[Context] = []
        for v, allowed in context:
            states = dict(region).get(v, self.all_states(v))
            if states & ~allowed:
                pieces.append(meet(region, v, states & ~allowed))
            if not states & allowed:
                break
            region = meet(region, v, states & allowed)
        return pieces

    def covers(self, tree: Tree, region: Context) -> bool:
        """Return whether a pair with this tree depends in a whole region."""
        pieces = [region]
        for context in tree:
            pieces = [piece for part in pieces for piece in self._minus(part, context)]
        return not pieces

    def implied(self, pair: PairIndex) -> list[Context]:
        """Return the regions where blocks of other pairs make this pair depend."""
        a, b = pair
        both = self._blocks[a].keys() & self._blocks[b].keys() - {pair}
        blocks = [block for other in both for block in self._blocks[a][other]]
        return [
            tuple(x for x in block[1] if x[0] not in pair)
            for block in blocks + self.conjunctions
            if set(scope_of(block)).issuperset(pair)
        ]

    def is_possible(self, pair: PairIndex, tree: Tree) -> bool:
        """Return whether features can express this tree along with those of all other pairs."""
        if tree == EVERYWHERE:
            return True
        if not all(self.covers(tree, region) for region in self.implied(pair)):
            return False
        for context in tree:
            for other in combinations(sorted({*pair, *(v for v, _ in context)}), 2):
                region = tuple(x for x in context if x[0] not in other)
                if other != pair and not self.covers(self[other], region):
                    return False
        return True

    def structure(self, domain: Domain, states: Sequence[Sequence[Sequence[int]]]) -> Structure:
        """Return the features of all blocks, and of the variables that these do not free.

        A pair with a table in all contexts has the states of both variables as sums of its cells.
        Blocks of other variables are only present in some contexts or states.

        ``states`` has the states of the domain for each variable and number. States that have no
        number occur in no row; they count as allowed.
        """
        free = {v for pair, tree in self.trees.items() if self.covers(tree, ()) for v in pair}
        features: list[list[Literal]] = [
            [(v, 1 << s)]
            for v, card in enumerate(domain.cardinalities)
            if v not in free
            for s in range(card)
        ]
        blocks: list[Block] = [(p, c) for p, tree in sorted(self.trees.items()) for c in tree]
        for effects, where in blocks + self.conjunctions:
            literals = [(v, _in_domain(domain, v, allowed, states)) for v, allowed in where]
            for cell in product(*(range(domain.cardinalities[v]) for v in effects)):
                own = [(v, 1 << s) for v, s in zip(effects, cell, strict=True)]
                features.append(sorted([*own, *literals]))
        return Structure(domain, features_of(domain, features))


def _in_domain(
    domain: Domain, v: int, allowed: int, states: Sequence[Sequence[Sequence[int]]]
) -> int:
    excluded = {s for k, own in enumerate(states[v]) if not allowed >> k & 1 for s in own}
    return sum(1 << s for s in range(domain.cardinalities[v]) if s not in excluded)
