"""Correct the p-values of pairs and interactions as one family (Holm), and decide the verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp, log

from contextwise.evidence.pair_records import (
    Interaction,
    InteractionVerdict,
    PairEffect,
    PairEvidence,
    Verdict,
)
from contextwise.support.statistics import Z, holm, normal_quantile

STRONG = 0.3
"""A test that finds only a stronger partial V says too little."""
LIKELY = 0.8
"""The part of the level that the likelier of two tests has: of association on average, against one
that differs by a third variable; of the scores of ordered variables, against any association."""


def either(likely: float, other: float) -> float:
    """Return one p-value of two tests, each divided by its part of the level (Bonferroni).

    >>> round(either(0.01, 0.5), 4), round(either(0.9, 0.002), 4)
    (0.0125, 0.01)
    """
    return min(1.0, likely / LIKELY, other / (1 - LIKELY))


def is_likely(likely: float, other: float) -> bool:
    """Return whether the likelier test decides."""
    return likely / LIKELY <= other / (1 - LIKELY)


def corrected(
    tested: Sequence[PairEvidence], family: str, size: int | None = None, level: float = 0.05
) -> tuple[PairEvidence, ...]:
    """Correct the p-values of several tests as one family (Holm), and decide their verdicts.

    ``size`` is that of the family, if not all of it was reached. What could not be tested has no p
    and does not count.
    """
    p_values = [each.p for each in tested if each.p is not None]
    late = max(0, (size or 0) - len(tested))
    adjusted = iter(holm([*p_values, *([1.0] * late)]))
    return tuple(
        _judged(
            replace(each, adjusted=None if each.p is None else next(adjusted), family=family),
            level,
        )
        for each in tested
    )


def corrected_interactions(
    tested: Sequence[Interaction], family: str, size: int, level: float
) -> tuple[Interaction, ...]:
    """Correct the p-values of several interactions as one family, and decide their verdicts."""
    of_triple: dict[frozenset[str], float] = {}
    for each in tested:
        if each.p is not None:
            of_triple[frozenset((*each.pair, each.by))] = each.p
    reached = {frozenset((*each.pair, each.by)) for each in tested}
    rest = [1.0] * (size - len(reached))
    adjusted = dict(zip(of_triple, holm([*of_triple.values(), *rest]), strict=False))
    corrected_ones = []
    for each in tested:
        if each.p is None:
            corrected_ones.append(replace(each, family=family))
            continue
        p = adjusted[frozenset((*each.pair, each.by))]
        verdict: InteractionVerdict = "no difference shown"
        if p <= level:
            verdict = "differs"
        elif each.p <= level:
            verdict = "suggestive"
        corrected_ones.append(replace(each, adjusted=p, family=family, verdict=verdict))
    return tuple(corrected_ones)


def _judged(tested: PairEvidence, level: float) -> PairEvidence:
    p, adjusted = tested.p, tested.adjusted
    if p is None or adjusted is None:
        return replace(tested, verdict="could not be tested", effects=())
    average = p if tested.average_p is None else tested.average_p
    parts = [each for each in (tested.trend_p, tested.omnibus_p) if each is not None]
    verdict: Verdict = "no association shown"
    if adjusted <= level:
        verdict = "associated" if average <= level else "associated, not on average"
    elif min(p, average, *parts) <= level:
        verdict = "suggestive"
    elif tested.reason:
        return replace(tested, verdict="could not be tested", effects=())
    return replace(tested, verdict=verdict, reason="", effects=_widened(tested, level))


def _widened(tested: PairEvidence, level: float) -> tuple[PairEffect, ...]:
    """Return the effects; a single one has no narrower interval than its test.

    The sandwich error of few rows can be too small; then the interval excluded what the test does
    not reject. Both agree if the test has one degree of freedom.
    """
    average = tested.p if tested.average_p is None else tested.average_p
    p = average if tested.trend_p is None else tested.trend_p
    kinds = [each.kind for each in tested.effects]
    if p is None or p <= level:
        return tested.effects
    z = Z / max(normal_quantile(1 - p / 2), 1e-3)
    return tuple(
        _wider(each, z) if kinds.count(each.kind) == 1 and each.excludes_none else each
        for each in tested.effects
    )


def _wider(effect: PairEffect, z: float) -> PairEffect:
    """Return an effect whose interval has ``z`` times the distance to no effect on each side."""
    if effect.kind == "difference":
        half = abs(effect.estimate) * z
        low, high = max(-1.0, effect.estimate - half), min(1.0, effect.estimate + half)
    else:
        half = min(abs(log(effect.estimate)) * z, 700.0)
        low, high = effect.estimate * exp(-half), effect.estimate * exp(half)
    return replace(effect, low=min(low, effect.low), high=max(high, effect.high))
