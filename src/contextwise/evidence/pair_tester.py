"""Test one pair of coded rows given all other variables, as far as the rows allow.

`PairTester.tested` combines the tests of a pair: of the products of residuals on average over the
others (for ordered variables also with their scores), and of their differences between the states
of a third variable. p is twice the smaller of both.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from contextwise.evidence.coded_rows import CodedRows
from contextwise.evidence.context_search import Contexts
from contextwise.evidence.logits import contrasts
from contextwise.evidence.pair_effects import MOST_SHARES, effects_of
from contextwise.evidence.pair_records import PairEffect, PairEvidence
from contextwise.evidence.partial_v import strength_given_others
from contextwise.evidence.residual_products import compare_products
from contextwise.evidence.variable_fits import Fits

FEW_ROWS = 20
"""Rows of each state that the interval of V needs."""
FEW_SHARES = 40
"""Cells of a pair above which it has no shares unless it is of the outcome."""


class PairTester:
    """Tests the pairs of some coded rows; the logits are shared."""

    def __init__(self, rows: CodedRows, seed: int, level: float) -> None:
        self.rows, self.seed, self.level = rows, seed, level
        self.fits = Fits(rows)

    @cached_property
    def contexts(self) -> Contexts:
        """The states of all variables, to search contexts."""
        return Contexts(self.rows)

    @property
    def product_count(self) -> int:
        """The number of distinct products in all logits."""
        own = {p for products in self.fits.products.values() for p in products}
        return len(own)

    def tested(self, a: int, b: int, contexts: bool = True) -> PairEvidence:
        """Test a pair; ``contexts`` also looks for differences by a third variable."""
        rows, names = self.rows, self.rows.names
        x, y = sorted((a, b), key=lambda v: (-rows.cards[v], names[v]))
        others = [v for v in range(len(names)) if v not in (a, b)]
        held = [v for v in sorted({*self.fits.held(a), *self.fits.held(b)}) if v in others]
        sides = self.fits.side(x, y), self.fits.side(y, x)
        how: dict[str, Any] = {"margins": not others, "seed": self.seed}
        omnibus = compare_products(rows, sides, **how)
        trend, is_score = None, (rows.is_score(x), rows.is_score(y))
        if any(is_score):
            scores = [
                np.linspace(0.0, 1.0, states)[:, None] if scored else contrasts(states)
                for states, scored in zip(rows.cards[[x, y]].tolist(), is_score, strict=True)
            ]
            trend = compare_products(rows, sides, (scores[0], scores[1]), **how)
        tests = [omnibus] if trend is None else [trend, omnibus]
        best = min(tests, key=lambda each: each.p)
        average = p = min(1.0, len(tests) * best.p)
        context, context_p = None, None
        if contexts and held:
            context_p, context = self.contexts.search(sides, is_score, held)
            p = min(1.0, 2 * min(average, context_p))
        strength = strength_given_others(rows, sides)
        crude = crude_v(rows, a, b)
        products = dict.fromkeys((*self.fits.named(x, y), *self.fits.named(y, x)))
        return PairEvidence(
            pair=(names[a], names[b]),
            verdict="could not be tested",
            p=p if omnibus.freedom else None,
            adjusted=None,
            family="",
            reason="" if omnibus.freedom else "the other columns determine one of both",
            v=strength and strength.v,
            v_low=strength and strength.low,
            v_high=strength and strength.high,
            crude_v=crude,
            could_show=min(test.could_show for test in tests),
            given=tuple(names[v] for v in held),
            left_out=tuple(names[v] for v in others if v not in held),
            products=tuple(products),
            average_p=average,
            trend_p=None if trend is None else trend.p,
            omnibus_p=omnibus.p,
            shape="" if trend is None else "trend" if best is trend else "other",
            context="" if context is None else names[context],
            context_p=context_p,
            method=best.method,
            freedom=best.freedom,
            rows=rows.total,
            v_approximate=bool(min(self.contexts.sizes_of(v).min() for v in (a, b)) < FEW_ROWS),
        )

    def effects(self, a: int, b: int, outcome: str | None) -> tuple[PairEffect, ...]:
        """Return the effects of a pair: of the outcome, or of the variable with fewer states."""
        names, fits = self.rows.names, self.fits
        of, by = sorted((a, b), key=lambda v: (names[v] != outcome, self.rows.cards[v], names[v]))
        most = MOST_SHARES if outcome in (names[of], names[by]) else FEW_SHARES
        if by not in self.fits.held(of):
            chosen = sorted({of, by, *self.fits.held(of)})
            fits = Fits(self.rows.only(chosen), always=[chosen.index(by)])
        of, by = (fits.rows.names.index(names[v]) for v in (of, by))
        return effects_of(fits, of, by, most)


def crude_v(rows: CodedRows, a: int, b: int) -> float:
    """Return Cramér's V of two columns alone."""
    shape = int(rows.cards[a]), int(rows.cards[b])
    codes = rows.codes[:, a] * shape[1] + rows.codes[:, b]
    table = np.bincount(codes, rows.mass, minlength=shape[0] * shape[1]).reshape(shape)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    square = ((table - expected) ** 2 / np.maximum(expected, 1e-12)).sum() / table.sum()
    return float(np.sqrt(min(1.0, square / (min(table.shape) - 1))))
