"""Conditional distributions of one variable given blocks, and scores and costs of blocks.

A **block** is a pair of effects and literals: the product of an indicator per state of each effect,
where all literals hold. State 0 of a variable is the reference and has no indicator. Each variable
is a multinomial logit of the blocks it is in. As an effect, it has a weight for each of its states
and each cell of the other effects. If a literal restricts it, it has a weight per cell, which acts
on the states that the literal allows.

The C++ in ``blocks/`` does the same by sparse sums over groups of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from math import log

import numpy as np

from contextwise.evidence.counted_rows import CountedRows
from contextwise.models.features import PairIndex
from contextwise.support.arrays import FloatArray, IntArray
from contextwise.support.loading import why_not_compiled

not_compiled: str | None = None
"""Why the compiled logits are not available, if they are not."""
try:
    from contextwise.learning import _blocks
except ImportError as error:
    not_compiled = why_not_compiled(error)

Literal = tuple[int, int]
"""A variable and the set of its allowed states, as bits."""
Context = tuple[Literal, ...]
"""Literals of different variables, sorted; the empty context holds everywhere."""
Block = tuple[tuple[int, ...], Context]
RIDGE = 0.02
"""Precision of the prior of each weight; it keeps weights finite where a state never occurs."""
SATURATED_STATES = 10
"""States of a variable that are told apart; the rarest of more are treated as one."""
FITS = 4000
"""Fits that are remembered."""
STEPS, HALVINGS, TOLERANCE, SMALL, SMALLEST = 40, 12, 1e-4, 0.3, 1e-9


class Logits:
    """Distinct rows with counts, and the readable versions of `fit` and `rao`."""

    def __init__(self, codes: IntArray, counts: FloatArray, cardinalities: Sequence[int]) -> None:
        self.codes, self.counts, self.cardinalities = codes, counts, cardinalities

    def fit(
        self, v: int, blocks: Sequence[Block], start: Sequence[float]
    ) -> tuple[float, list[float]]:
        """Return the log-likelihood of a variable given blocks, and the weights."""
        design, counts = self._design(v, [((v,), ()), *blocks])
        weights = np.zeros(design.shape[1])
        if len(start) == len(weights):
            weights = np.array(start)
        likelihood, p = _evaluate(design, counts, weights)
        for _ in range(STEPS):
            gradient = _score(design, counts, p) - RIDGE * weights
            information = _information(design, design, counts, p) + RIDGE * np.eye(len(weights))
            step = np.linalg.solve(information, gradient)
            promised = gradient @ step / 2
            if not promised > TOLERANCE:
                break
            objective = likelihood - RIDGE * weights @ weights / 2
            for length in 0.5 ** np.arange(HALVINGS):
                tried = weights + length * step
                reached, p_tried = _evaluate(design, counts, tried)
                if reached - RIDGE * tried @ tried / 2 >= objective:
                    break
            else:
                break
            weights, likelihood, p = tried, reached, p_tried
            if length == 1 and promised < SMALL:  # Newton's steps converge quadratically
                break
        return likelihood, weights.tolist()

    def rao(
        self,
        v: int,
        blocks: Sequence[Block],
        weights: Sequence[float],
        options: Sequence[Sequence[Block]],
    ) -> list[float]:
        """Return half of Rao's score statistic of more blocks, for each option."""
        base = [((v,), ()), *blocks]
        result = []
        for option in options:
            design, counts = self._design(v, [*base, *option])
            old, new = design[:, : len(weights)], design[:, len(weights) :]
            _, p = _evaluate(old, counts, np.array(weights))
            score = _score(new, counts, p)
            cross = _information(old, new, counts, p)
            own = _information(new, new, counts, p)
            information = _information(old, old, counts, p) + RIDGE * np.eye(len(weights))
            own -= cross.T @ np.linalg.solve(information, cross)
            own += RIDGE * np.eye(len(own))
            result.append(float(score @ np.linalg.solve(own, score)) / 2)
        return result

    def only(
        self,
        v: int,
        blocks: Sequence[Block],
        weights: Sequence[float],
        block: int,
        literals: Sequence[Literal],
    ) -> list[float]:
        """Return about how the log-likelihood changes if a block acts only where a literal holds.

        Its effect is scaled there and 0 elsewhere, and the other blocks adapt.
        """
        base = [((v,), ()), *blocks]
        design, counts = self._design(v, [*base, *(((v,), (literal,)) for literal in literals)])
        sizes = np.cumsum([0, *(weight_count(b, self.cardinalities) for b in base)])
        is_own = np.zeros(design.shape[1], dtype=bool)
        is_own[sizes[block + 1] : sizes[block + 2]] = True
        is_rest = ~is_own & (np.arange(design.shape[1]) < len(weights))
        _, p = _evaluate(design[:, : len(weights)], counts, np.array(weights))
        effect = np.einsum(
            "gds,d->gs", design[:, is_own], np.array(weights)[is_own[: len(weights)]]
        )
        information = _information(design[:, is_rest], design[:, is_rest], counts, p)
        information += RIDGE * np.eye(len(information))
        result = []
        for holds in design[:, len(weights) :: self.cardinalities[v] - 1, 1].T:
            along = np.stack([effect * (1 - holds)[:, None], effect * holds[:, None]], axis=1)
            cross = _information(design[:, is_rest], along, counts, p)
            (a, b), (_, c) = _information(along, along, counts, p) - cross.T @ np.linalg.solve(
                information, cross
            )
            outside, inside = _score(along, counts, p)
            scaled = (inside + b) ** 2 / (2 * c) if c > SMALLEST else 0.0
            result.append(float(scaled - outside - a / 2))
        return result

    def _design(self, v: int, blocks: Sequence[Block]) -> tuple[FloatArray, FloatArray]:
        """Return what each weight adds to each state of v in each group, and the counts of v."""
        scope = {u for effects, where in blocks for u in [*effects, *(u for u, _ in where)]} - {v}
        names = sorted(scope)
        rows, groups = np.unique(self.codes[names].T, axis=0, return_inverse=True)
        states = dict(zip(names, rows.T, strict=True))
        card = self.cardinalities[v]
        counts = np.zeros((len(rows), card))
        np.add.at(counts, (groups.ravel(), self.codes[v]), self.counts)
        columns = []
        for effects, where in blocks:
            allowed = np.ones(len(rows), dtype=bool)
            outputs = np.eye(card)[1:]
            for u, mask in where:
                if u == v:
                    outputs = np.array([[mask >> s & 1 for s in range(card)]], dtype=float)
                else:
                    allowed &= (mask >> states[u] & 1).astype(bool)
            others = [u for u in effects if u != v]
            for cell in product(*(range(1, self.cardinalities[u]) for u in others)):
                active = allowed.copy()
                for u, state in zip(others, cell, strict=True):
                    active &= states[u] == state
                columns += [active[:, None] * output for output in outputs]
        return np.stack(columns, axis=1), counts


def logits(
    codes: IntArray, counts: FloatArray, cardinalities: Sequence[int]
) -> Logits | _blocks.Table:
    """Return the rows, one line per variable, ready to fit; compiled where that is available."""
    if not_compiled:
        return Logits(codes, counts, cardinalities)
    lines = np.ascontiguousarray(codes, dtype=np.uint32)
    return _blocks.Table(lines, np.asarray(counts, dtype=float), list(cardinalities))


def weight_count(block: Block, cardinalities: Sequence[int]) -> int:
    """Return the number of weights of a block, which is the same for all of its variables."""
    total = 1
    for u in block[0]:
        total *= cardinalities[u] - 1
    return total


def _evaluate(
    design: FloatArray, counts: FloatArray, weights: FloatArray
) -> tuple[float, FloatArray]:
    eta = np.einsum("gds,d->gs", design, weights)
    eta -= eta.max(axis=1, keepdims=True)
    eta -= np.log(np.exp(eta).sum(axis=1, keepdims=True))
    return float((counts * eta).sum()), np.exp(eta)


def _score(design: FloatArray, counts: FloatArray, p: FloatArray) -> FloatArray:
    residual = counts - counts.sum(axis=1, keepdims=True) * p
    return np.asarray(np.einsum("gds,gs->d", design, residual))


def _information(
    left: FloatArray, right: FloatArray, counts: FloatArray, p: FloatArray
) -> FloatArray:
    n = counts.sum(axis=1)
    both = np.einsum("gds,ges,gs,g->de", left, right, p, n, optimize=True)
    means = np.einsum("gds,gs->gd", left, p), np.einsum("gds,gs->gd", right, p)
    return np.asarray(both - np.einsum("gd,ge,g->de", *means, n, optimize=True))


# -- rows and scores -------------------------------------------------------------------------------


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
            own = [[s] for s in seen[: SATURATED_STATES - 1]]
            if seen[SATURATED_STATES - 1 :]:
                own.append(seen[SATURATED_STATES - 1 :])
            number = np.zeros(card, dtype=np.int64)
            for k, group in enumerate(own):
                number[group] = k
            self.states.append(own)
            columns.append(number[column])
        self.codes = np.array(columns)
        self.cards = [max(1, len(own)) for own in self.states]
        self.logits = logits(self.codes, table.counts.astype(float), self.cards)


class BlockScores:
    """Fits of all variables, given blocks."""

    def __init__(self, rows: NumberedRows) -> None:
        self.rows, self.cards = rows, rows.cards
        self._fits: dict[tuple[int, tuple[Block, ...]], tuple[float, list[float]]] = {}
        self._weights: dict[tuple[int, Block], list[float]] = {}
        self._freedoms: dict[Block, int] = {}
        self._together: dict[tuple[int, ...], Sequence[IntArray]] = {}

    def freedom(self, block: Block) -> int:
        """Return the degrees of freedom of a block, where only some states occur."""
        if block not in self._freedoms:
            effects, where = block
            total = 1
            for v in effects or where[0][:1]:
                own, *others = self._distinct((v, *(u for u, _ in where)))
                holds = np.ones(len(own), dtype=bool)
                for column, (_, allowed) in zip(others, where, strict=True):
                    holds &= (allowed >> column & 1).astype(bool)
                states = int(np.count_nonzero(np.bincount(own[holds])))
                total *= states - 1 if effects and states else min(states, 1)
            self._freedoms[block] = total
        return self._freedoms[block]

    def _distinct(self, variables: tuple[int, ...]) -> Sequence[IntArray]:
        """Return the states that occur together, a row per variable."""
        if variables not in self._together:
            shape = [self.cards[v] for v in variables]
            cells = np.unique(np.ravel_multi_index(tuple(self.rows.codes[[*variables]]), shape))
            self._together[variables] = np.unravel_index(cells, shape)
        return self._together[variables]

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

    def only(
        self, v: int, blocks: Sequence[Block], block: Block, literals: Sequence[Literal]
    ) -> list[float]:
        """Return about how the log-likelihood changes if a block acts only where literals hold."""
        blocks = sorted(blocks)
        weights = self.fit(v, blocks)[1]
        return self.rows.logits.only(v, blocks, weights, blocks.index(block), literals)

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
