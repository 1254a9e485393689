"""Test one pair of coded rows given all other variables, as far as the rows allow.

`PairTester.tested` combines the tests of a pair: of the products of residuals on average over the
others (for ordered variables also with their scores), and of their differences between the states
of a third variable. p is the smaller of both, each divided by its part of the level (`either`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from contextwise.evidence.coded_rows import CodedRows
from contextwise.evidence.context_search import Contexts
from contextwise.evidence.logits import contrasts, sums_by_code
from contextwise.evidence.pair_effects import MOST_SHARES, effects_of
from contextwise.evidence.pair_records import PairEffect, PairEvidence
from contextwise.evidence.pair_verdicts import STRONG, either, is_likely
from contextwise.evidence.partial_v import strength_given_others
from contextwise.evidence.residual_products import (
    ProductTest,
    Side,
    compare_products,
    noncentrality,
)
from contextwise.evidence.variable_fits import Fits
from contextwise.models.notation import quoted

FEW_ROWS = 30
"""Rows of each state that the interval of V needs."""
LOST = 1.5
"""Times the V that rows without other columns would show, from which these are the reason."""
NEARLY = 0.02
"""Share of its errors that remains where another column determines a variable."""
FEW_SHARES = 40
"""Cells of a pair above which it has no shares unless it is of the outcome."""


class OnAverage(NamedTuple):
    """The tests of a pair on average over the others: of any association, and of the scores."""

    omnibus: ProductTest
    trend: ProductTest | None

    @property
    def p(self) -> float:
        """The p-value of both."""
        return self.omnibus.p if self.trend is None else either(self.trend.p, self.omnibus.p)

    @property
    def shape(self) -> Literal["trend", "other", ""]:
        """The test that decides; empty if no variable is ordered."""
        if self.trend is None:
            return ""
        return "trend" if is_likely(self.trend.p, self.omnibus.p) else "other"

    @property
    def best(self) -> ProductTest:
        """The test that decides."""
        return self.trend if self.trend is not None and self.shape == "trend" else self.omnibus

    @property
    def strongest(self) -> ProductTest:
        """The test that finds the weakest association."""
        if self.trend is None or self.trend.could_show >= self.omnibus.could_show:
            return self.omnibus
        return self.trend


class PairTester:
    """Tests the pairs of some coded rows; the logits are shared."""

    def __init__(self, rows: CodedRows, seed: int, level: float) -> None:
        self.rows, self.seed, self.level = rows, seed, level
        self.fits = Fits(rows)
        self._determiners: dict[int, list[int]] = {}

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
        held = sorted({*self.fits.held(a), *self.fits.held(b)} - {a, b})
        untested = self._untested(a, b, held)
        for v in (a, b):
            c = self._determiner(v, held)
            if c is not None:
                reason = f"{names[c]} determines {names[v]}; leave one of them out"
                return replace(untested, reason=f"{reason}: --drop {quoted(names[c])}")
        sides = self.fits.side(x, y), self.fits.side(y, x)
        tests = self._on_average(x, y, sides)
        untested = replace(untested, reason=self._too_little(x, y, sides, tests.strongest))
        if not tests.best.freedom:
            return untested
        p, context, context_p = tests.p, None, None
        if contexts and held:
            is_score = (rows.is_score(x), rows.is_score(y))
            context_p, context = self.contexts.search(sides, is_score, held)
            p = either(tests.p, context_p)
        strength = strength_given_others(rows, sides)
        products = dict.fromkeys((*self.fits.named(x, y), *self.fits.named(y, x)))
        return replace(
            untested,
            p=p,
            v=strength and strength.v,
            v_low=strength and strength.low,
            v_high=strength and strength.high,
            could_show=tests.strongest.could_show,
            products=tuple(products),
            average_p=tests.p,
            trend_p=None if tests.trend is None else tests.trend.p,
            omnibus_p=tests.omnibus.p,
            shape=tests.shape,
            context="" if context is None else names[context],
            context_p=context_p,
            method=tests.best.method,
            freedom=tests.best.freedom,
            v_approximate=bool(min(self.contexts.sizes_of(v).min() for v in (a, b)) < FEW_ROWS),
        )

    def _untested(self, a: int, b: int, held: Sequence[int]) -> PairEvidence:
        """Return what is known of a pair without a test."""
        names = self.rows.names
        return PairEvidence(
            pair=(names[a], names[b]),
            verdict="could not be tested",
            p=None,
            adjusted=None,
            family="",
            crude_v=crude_v(self.rows, a, b),
            given=tuple(names[v] for v in held),
            left_out=tuple(n for v, n in enumerate(names) if v not in (a, b, *held)),
            rows=self.rows.total,
        )

    def _on_average(self, x: int, y: int, sides: tuple[Side, Side]) -> OnAverage:
        """Test a pair on average over the others; ordered variables also with their scores."""
        rows = self.rows
        how: dict[str, Any] = {"margins": len(rows.names) == 2, "seed": self.seed}
        omnibus = compare_products(rows, sides, **how)
        is_score = (rows.is_score(x), rows.is_score(y))
        if not any(is_score):
            return OnAverage(omnibus, None)
        scores = [
            np.linspace(0.0, 1.0, states)[:, None] if scored else contrasts(states)
            for states, scored in zip(rows.cards[[x, y]].tolist(), is_score, strict=True)
        ]
        return OnAverage(omnibus, compare_products(rows, sides, (scores[0], scores[1]), **how))

    def _determiner(self, v: int, held: Sequence[int]) -> int | None:
        """Return a held variable whose state tells that of a variable (nearly), if any."""
        if v not in self._determiners:
            places, mass = self.contexts, self.rows.mass
            states = np.eye(int(self.rows.cards[v]))[self.rows.codes[:, v]] * mass[:, None]
            table = sums_by_code(self.rows.codes, places.starts, places.size, states)
            right = np.add.reduceat(table.max(axis=1), places.starts)
            errors = mass.sum() - right
            most = NEARLY * (mass.sum() - table.sum(axis=0).max() / len(right))
            self._determiners[v] = np.flatnonzero(errors <= most).tolist()
        return next((c for c in self._determiners[v] if c in held), None)

    def _too_little(self, a: int, b: int, sides: tuple[Side, Side], test: ProductTest) -> str:
        """Say what the other columns leave too little of, if they do."""
        names, rows = self.rows.names, self.rows
        if not test.freedom:
            return "the other columns determine one of both"
        for v, side in zip((a, b), sides, strict=True):
            share = np.average(side.shares, axis=0, weights=rows.mass)
            left = 1 - np.average((side.shares**2).sum(axis=1), weights=rows.mass)
            if left < NEARLY * (1 - (share**2).sum()):
                return f"the other columns determine {names[v]}"
        dimensions = 1 if test.freedom == 1 else int(min(rows.cards[a], rows.cards[b])) - 1
        alone = np.sqrt(noncentrality(test.freedom) / (rows.total * dimensions))
        if test.could_show > max(STRONG, LOST * alone):
            return (
                "given the other columns too little variation is left: only an association above "
                f"V = {test.could_show:.2f} would show"
            )
        return ""

    def effects(self, a: int, b: int, outcome: str | None) -> tuple[PairEffect, ...]:
        """Return the effects of a pair: of the outcome, or of the variable with fewer states."""
        names = self.rows.names
        of, by = sorted((a, b), key=lambda v: (names[v] != outcome, self.rows.cards[v], names[v]))
        most = MOST_SHARES if outcome in (names[of], names[by]) else FEW_SHARES
        return effects_of(self.fits, of, by, most)


def crude_v(rows: CodedRows, a: int, b: int) -> float:
    """Return Cramér's V of two columns alone, less what chance gives, as for partial V."""
    shape = int(rows.cards[a]), int(rows.cards[b])
    codes = rows.codes[:, a] * shape[1] + rows.codes[:, b]
    table = np.bincount(codes, rows.mass, minlength=shape[0] * shape[1]).reshape(shape)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    square = ((table - expected) ** 2 / np.maximum(expected, 1e-12)).sum() / table.sum()
    square -= (shape[0] - 1) * (shape[1] - 1) / rows.total
    return float(np.sqrt(min(1.0, max(0.0, square) / (min(table.shape) - 1))))
