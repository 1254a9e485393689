"""Choose the numbers that stand for a pair: one state of a variable, between two states of another.

A pair of variables with many states has many effects. A table has room for one, and a sentence too:
the *contrast*. Between the ends of an ordered variable, else between the reference and the state
that differs most from it; of an outcome with several states, that of the largest difference.

The largest of several differences is large by chance too, so its intervals pay for the choice: with
five candidates they are 99 % intervals (Bonferroni), and cover the largest one 95 times of 100.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import exp, log

from contextwise.evidence.pair_records import PairEffect, PairEvidence

FEWEST_ROWS_QUOTED = 20
"""States with fewer rows are not quoted."""
WORTH_V, WORTH_POINTS = 0.05, 0.03
"""Weaker associations never lead a page."""


@dataclass(frozen=True)
class Contrast:
    """The share of a state of ``of``, where ``by`` is in one state and in another."""

    evidence: PairEvidence
    first: PairEffect  #: the share where ``by`` is at the reference
    last: PairEffect  #: the share where it is at ``difference.at``
    difference: PairEffect
    odds: PairEffect | None  #: per step of an ordered variable, or of the same two states
    candidates: int  #: differences of which this one is the largest; its intervals pay for it

    @property
    def of(self) -> str:
        """The variable whose share changes."""
        return self.difference.of

    @property
    def by(self) -> str:
        """The variable that changes it."""
        return self.difference.by

    @property
    def is_worth_a_sentence(self) -> bool:
        """True if the association is shown, and neither weak nor small in points."""
        v = self.evidence.v
        large = abs(self.difference.estimate) >= WORTH_POINTS and self.difference.excludes_none
        return self.evidence.verdict == "associated" and large and (v is None or v >= WORTH_V)


def shares_of(effects: Iterable[PairEffect], state: str, least: int) -> list[PairEffect]:
    """Return the standardised shares of a state that rest on enough rows."""
    enough = max(least, FEWEST_ROWS_QUOTED)
    return [e for e in effects if e.kind == "share" and e.state == state and e.rows >= enough]


def contrast_of(
    evidence: PairEvidence, ordered: Sequence[str] = (), least: int = 0
) -> Contrast | None:
    """Return the contrast of a pair, or None if it could not be tested or states have few rows."""
    if evidence.verdict == "could not be tested":
        return None
    enough = max(least, FEWEST_ROWS_QUOTED)
    shares = {(e.state, e.at): e for e in evidence.effects if e.kind == "share"}
    found = []
    for each in evidence.effects:
        if each.kind != "difference" or each.rows < enough:
            continue
        first = shares.get((each.state, each.reference))
        last = shares.get((each.state, each.at))
        if first and last and first.rows >= enough:
            found.append((each, first, last))
    if not found:
        return None
    if found[0][0].by in ordered:  # from end to end
        end = found[-1][0].at
        found = [each for each in found if each[0].at == end]
    difference, first, last = max(found, key=lambda each: abs(each[0].estimate))
    odds = odds_of(evidence, difference)
    if odds is not None and odds.kind != "odds ratio per step":
        odds = paid(odds, len(found))
    return Contrast(evidence, first, last, paid(difference, len(found)), odds, len(found))


def paid(effect: PairEffect, candidates: int) -> PairEffect:
    """Widen the 95 % interval of the largest of some effects, so that it covers all of them."""
    if candidates == 1:
        return effect
    from scipy.stats import norm

    wider = float(norm.isf(0.025 / candidates) / norm.isf(0.025))
    if effect.kind == "difference":
        reach = wider * max(effect.high - effect.estimate, effect.estimate - effect.low)
        low, high = effect.estimate - reach, effect.estimate + reach
        return replace(effect, low=max(-1.0, low), high=min(1.0, high))
    middle = log(effect.estimate)
    low, high = (middle + wider * (log(end) - middle) for end in (effect.low, effect.high))
    return replace(effect, low=exp(low), high=exp(high))


def odds_of(evidence: PairEvidence, difference: PairEffect) -> PairEffect | None:
    """Return the odds ratio that belongs to a difference: per step, or of its two states."""
    ratios = [e for e in evidence.effects if e.kind.startswith("odds ratio")]
    for each in ratios:
        if each.kind == "odds ratio per step":
            return each
    for each in ratios:
        same = each.state == difference.state and each.at == difference.at
        if same and each.reference == difference.reference:
            return each
    return None
