"""Choose the numbers that stand for a pair: one state of a variable, between two states of another.

A pair of variables with many states has many effects. A table has room for one, and a sentence too:
the *contrast*. Between the ends of an ordered variable, else between the reference and the state
that differs most from it; of an outcome with several states, that of the largest clear difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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
    """Return the contrast of a pair, or None if no two states have enough rows."""
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
    difference, first, last = max(
        found, key=lambda each: (each[0].excludes_none, abs(each[0].estimate))
    )
    return Contrast(evidence, first, last, difference, odds_of(evidence, difference))


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
