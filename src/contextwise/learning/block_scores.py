"""Score blocks: their degrees of freedom, what they cost, and how much they gain."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import log

import numpy as np

from contextwise.learning.counted_rows import CountedRows
from contextwise.learning.logit import Block, logits, weight_count
from contextwise.learning.pair_trees import Context
from contextwise.models.features import PairIndex
from contextwise.support.arrays import BoolArray

STATES = 10
"""States of a variable that are told apart; the rarest of more are treated as one."""
FITS = 4000
"""Fits that are remembered."""


@cache
def penalty(freedom: int, rows: float) -> float:
    """Return what a block must gain, in nats: BIC for one degree of freedom, never below AIC.

    >>> from math import isclose
    >>> isclose(penalty(1, 1000), log(1000) / 2), penalty(20, 1000) < 10 * log(1000)
    (True, True)
    """
    from scipy.special import chdtrc, chdtri

    if not freedom:
        return 0.0
    tail = chdtrc(1, log(max(rows, 3.0)))
    return 0.5 * max(float(chdtri(freedom, tail)), 2.0 * freedom)


class NumberedRows:
    """The rows with states numbered from the most common one; unseen states have no number."""

    def __init__(self, table: CountedRows) -> None:
        self.table, self.total = table, float(table.counts.sum())
        self.states: list[list[list[int]]] = []
        """Per variable and number, the states of the domain."""
        columns = []
        for v, card in enumerate(table.cardinalities):
            column = table.rows[:, v]
            often = np.bincount(column, weights=table.counts, minlength=card)
            seen = [s for s in np.argsort(-often, kind="stable").tolist() if often[s]]
            own = [[s] for s in seen[: STATES - 1]]
            if seen[STATES - 1 :]:
                own.append(seen[STATES - 1 :])
            number = np.zeros(card, dtype=np.int64)
            for k, group in enumerate(own):
                number[group] = k
            self.states.append(own)
            columns.append(number[column])
        self.codes = np.array(columns)
        self.cards = [max(1, len(own)) for own in self.states]
        self.logits = logits(self.codes, table.counts.astype(float), self.cards)

    def holds(self, context: Context) -> BoolArray:
        """Return in which rows a context holds."""
        result = np.ones(len(self.table.rows), dtype=bool)
        for v, allowed in context:
            result &= (allowed >> self.codes[v] & 1).astype(bool)
        return result


class BlockScores:
    """Fits of all variables, given blocks."""

    def __init__(self, rows: NumberedRows) -> None:
        self.rows, self.cards = rows, rows.cards
        self._fits: dict[tuple[int, tuple[Block, ...]], tuple[float, list[float]]] = {}
        self._weights: dict[tuple[int, Block], list[float]] = {}
        self._freedoms: dict[Block, int] = {}

    def freedom(self, block: Block) -> int:
        """Return the degrees of freedom of a block, where only some states occur."""
        if block not in self._freedoms:
            effects, where = block
            holds = self.rows.holds(where)
            total = int(holds.any())
            for v in effects if total else ():
                total *= np.count_nonzero(np.bincount(self.rows.codes[v][holds])) - 1
            self._freedoms[block] = total
        return self._freedoms[block]

    def fit(self, v: int, blocks: Sequence[Block]) -> tuple[float, list[float]]:
        """Return the log-likelihood of a variable given blocks, and the weights."""
        blocks = sorted(blocks)
        key = v, tuple(blocks)
        if key not in self._fits:
            if len(self._fits) >= FITS:
                self._fits.clear()
            sizes: list[tuple[Block, int]] = [(((v,), ()), self.cards[v] - 1)]
            sizes += [(block, weight_count(block, self.cards)) for block in blocks]
            start: list[float] = []
            for block, size in sizes:
                start += self._weights.get((v, block), [0.0] * size)
            self._fits[key] = _, weights = self.rows.logits.fit(v, blocks, start)
            place = 0
            for block, size in sizes:
                self._weights[v, block] = weights[place : place + size]
                place += size
        return self._fits[key]

    def rao(
        self, v: int, blocks: Sequence[Block], options: Sequence[Sequence[Block]]
    ) -> list[float]:
        """Return about how much each option, a list of more blocks, gains in log-likelihood."""
        blocks = sorted(blocks)
        return self.rows.logits.rao(v, blocks, self.fit(v, blocks)[1], options)

    def p_value(
        self, pair: PairIndex, known: Sequence[Sequence[Block]], options: Sequence[Sequence[Block]]
    ) -> float:
        """Return the p-value of no further effect of a pair, given the blocks of both variables.

        The effect may have one of several forms; the first one needs no correction.
        """
        from scipy.special import chdtrc

        scores = [self.rao(v, blocks, options) for v, blocks in zip(pair, known, strict=True)]
        freedoms = [sum(map(self.freedom, option)) for option in options]
        # Rao's statistic is twice its gain; the mean of both ends is their sum.
        p_values = chdtrc(freedoms, np.sum(scores, axis=0))
        return float(min(p_values[0], p_values.min() * len(p_values)))
