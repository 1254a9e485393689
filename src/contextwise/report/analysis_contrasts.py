"""Choose the numbers that stand for a pair: one state of a variable, between two states of another.

A pair of variables with many states has many effects. A table has room for one, and a sentence too:
the *contrast*. Between the ends of an ordered variable, else between the reference and the state
that differs most from it. Of an outcome with several states it is the highest, if they are ordered,
else the one whose share differs most clearly.

The largest of several differences is large by chance too, so its intervals pay for the choice: with
five candidates they are 99 % intervals (Bonferroni), and cover the largest one 95 times of 100. A
pair whose association is not shown has a contrast only if there is nothing to choose.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import exp, hypot, log

from contextwise.evidence.pair_effects import FEWEST_ROWS_QUOTED
from contextwise.evidence.pair_records import Interaction, PairEffect, PairEvidence, StateEffects

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
        large = abs(self.difference.estimate) >= WORTH_POINTS and is_clear(self.difference)
        return self.evidence.verdict == "associated" and large and (v is None or v >= WORTH_V)


def is_clear(difference: PairEffect) -> bool:
    """Check that the interval of a difference excludes 0, also as it is written."""
    nearest = min(abs(difference.low), abs(difference.high))
    return difference.excludes_none and round(100 * nearest) > 0


def shares_of(effects: Iterable[PairEffect], state: str, least: int) -> list[PairEffect]:
    """Return the standardised shares of a state that rest on enough rows."""
    enough = max(least, FEWEST_ROWS_QUOTED)
    return [e for e in effects if e.kind == "share" and e.state == state and e.rows >= enough]


def contrast_of(
    evidence: PairEvidence, ordered: Sequence[str] = (), least: int = 0
) -> Contrast | None:
    """Return the contrast of a pair, or None: states have few rows, or nothing is shown."""
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
    if len(found) > 1 and evidence.verdict not in ("associated", "suggestive"):
        return None
    event = list(shares)[-1][0] if found[0][0].of in ordered else ""
    choices = [(paid(each, len(found)), first, last) for each, first, last in found]
    clear = [choice for choice in choices if is_clear(choice[0])] or choices
    states = {choice[0].state for choice in clear}
    if event not in states:
        event = max(clear, key=lambda choice: clearness(choice[0]))[0].state
    clear = [choice for choice in clear if choice[0].state == event]
    difference, first, last = max(clear, key=lambda choice: abs(choice[0].estimate))
    bent = evidence.shape == "other" and evidence.associated  # no number per step
    odds = None if bent else odds_of(evidence, difference)
    if odds is not None and odds.at:
        odds = paid(odds, len(found))
    return Contrast(evidence, first, last, difference, odds, len(found))


def clearness(difference: PairEffect) -> float:
    """Return a difference in halves of its interval."""
    reach = max(difference.high - difference.low, 1e-9) / 2
    return abs(difference.estimate) / reach


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
    return replace(effect, low=exp(max(low, -700.0)), high=exp(min(high, 700.0)))


def odds_of(evidence: PairEvidence, difference: PairEffect) -> PairEffect | None:
    """Return the odds ratio that belongs to a difference: per step, or of its two states."""
    for each in evidence.effects:
        ends = (each.at, each.reference) in (("", ""), (difference.at, difference.reference))
        if each.kind.startswith("odds ratio") and each.state == difference.state and ends:
            return each
    return None


def step_of(evidence: PairEvidence) -> PairEffect | None:
    """Return the odds ratio per step of an ordered variable, which rests on all rows."""
    steps = (e for e in evidence.effects if e.kind == "odds ratio per step" and not e.at)
    return next((e for e in steps if e.state and e.rows >= FEWEST_ROWS_QUOTED), None)


# -- an association in each state of a third variable ----------------------------------------------


def _rank(effect: PairEffect) -> int:
    """Rank the effects that can be compared: a number per step, then differences, then odds."""
    if effect.kind == "odds ratio per step" and not effect.at:
        return 2
    return int(effect.kind == "difference")


def effect_by_state(each: Interaction, least: int = 0) -> list[tuple[StateEffects, PairEffect]]:
    """Return one effect in each state of the third variable that has enough rows for it.

    Of the effects that most states have it is the one that differs most clearly. The list is empty
    if no effect is known in two states.
    """
    enough = max(least, FEWEST_ROWS_QUOTED)
    found: dict[tuple[int, str, str, str, str], list[tuple[StateEffects, PairEffect]]] = (
        defaultdict(list)
    )
    for group in each.states:
        rows = {e.at: e.rows for e in group.effects if e.kind == "share"}
        for e in group.effects:
            smallest = min(group.rows, e.rows, rows.get(e.reference, e.rows))
            if e.kind != "share" and smallest >= enough:
                found[_rank(e), e.of, e.state, e.at, e.reference].append((group, e))
    known = [key for key in found if len(found[key]) > 1]
    if not known:
        return []
    best = max(known, key=lambda key: (key[0], len(found[key]), _apart(found[key])))
    return found[best]


def _apart(groups: Sequence[tuple[StateEffects, PairEffect]]) -> float:
    """Measure how clearly the largest and the smallest effect differ."""
    scaled = [_scaled(effect) for _, effect in groups]
    (low, low_reach), (high, high_reach) = min(scaled), max(scaled)
    return (high - low) / max(hypot(low_reach, high_reach), 1e-9)


def _scaled(effect: PairEffect) -> tuple[float, float]:
    """Return an effect on the scale of its errors, and the half of its interval."""
    if effect.kind == "difference":
        return effect.estimate, (effect.high - effect.low) / 2
    return log(effect.estimate), log(effect.high / effect.low) / 2
