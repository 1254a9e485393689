"""Correct the p-values of pairs and interactions as one family (Holm), and decide the verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from contextwise.evidence.pair_records import (
    Interaction,
    InteractionVerdict,
    PairEvidence,
    Verdict,
)
from contextwise.support.statistics import holm

STRONG = 0.3
"""A test that finds only a stronger partial V says too little."""


def corrected(
    tested: Sequence[PairEvidence], family: str, size: int | None = None, level: float = 0.05
) -> tuple[PairEvidence, ...]:
    """Correct the p-values of several tests as one family (Holm), and decide their verdicts.

    ``size`` is that of the family, if not all of it was tested.
    """
    p_values = [1.0 if each.p is None else each.p for each in tested]
    adjusted = holm([*p_values, *([1.0] * ((size or 0) - len(p_values)))])
    return tuple(
        _judged(replace(each, adjusted=None if each.p is None else p, family=family), level)
        for each, p in zip(tested, adjusted[: len(p_values)], strict=True)
    )


def corrected_interactions(
    tested: Sequence[Interaction], family: str, size: int, level: float
) -> tuple[Interaction, ...]:
    """Correct the p-values of several interactions as one family, and decide their verdicts."""
    of_triple: dict[frozenset[str], float] = {}
    for each in tested:
        of_triple[frozenset((*each.pair, each.by))] = 1.0 if each.p is None else each.p
    rest = [1.0] * (size - len(of_triple))
    adjusted = dict(zip(of_triple, holm([*of_triple.values(), *rest]), strict=False))
    corrected_ones = []
    for each in tested:
        p = adjusted[frozenset((*each.pair, each.by))]
        if each.p is None:
            corrected_ones.append(replace(each, family=family))
            continue
        verdict: InteractionVerdict = "no difference shown"
        if p <= level:
            verdict = "differs"
        elif each.p <= level:
            verdict = "suggestive"
        corrected_ones.append(replace(each, adjusted=p, family=family, verdict=verdict))
    return tuple(corrected_ones)


def _judged(tested: PairEvidence, level: float) -> PairEvidence:
    verdict: Verdict = "no association shown"
    reason = tested.reason
    p, adjusted = tested.p, tested.adjusted
    if p is None or adjusted is None:
        verdict = "could not be tested"
    elif adjusted <= level:
        on_average = tested.average_p is None or tested.average_p <= level
        verdict = "associated" if on_average else "associated, not on average"
    elif p <= level:
        verdict = "suggestive"
    elif (tested.could_show or 0.0) > STRONG:
        verdict = "could not be tested"
        reason = (
            "given the other columns too little variation is left: only an association above "
            f"V = {tested.could_show:.2f} would show"
        )
    return replace(tested, verdict=verdict, reason=reason)
