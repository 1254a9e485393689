"""Made-up results of a pair, and what an answer tells about them."""

from __future__ import annotations

from typing import Any

from contextwise.evidence.pair_records import (
    Interaction,
    PairEffect,
    PairEvidence,
    Verdict,
)
from contextwise.report.analysis_answer import (
    interaction_sentence,
)
from contextwise.report.analysis_contrasts import effect_by_state
from contextwise.support.words import Phrase


def effect(kind: str, at: str, reference: str, estimate: float, **more: Any) -> PairEffect:
    numbers = {"low": estimate - 0.05, "high": estimate + 0.05, "crude": estimate, "rows": 100.0}
    fields = {"of": "ill", "by": "age", "state": "yes", **numbers, **more}
    return PairEffect(kind=kind, at=at, reference=reference, estimate=estimate, **fields)  # type: ignore[arg-type]


def evidence(verdict: Verdict = "associated", **more: Any) -> PairEvidence:
    effects = (
        effect("odds ratio", "old", "young", 2.5),
        effect("share", "young", "", 0.3),
        effect("share", "old", "", 0.6),
        effect("difference", "old", "young", 0.3),
    )
    fields = {"p": 0.0001, "adjusted": 0.0003, "family": "3 pairs", "effects": effects}
    fields |= {"v": 0.25, "v_low": 0.2, "v_high": 0.3, "given": ("sex",), "could_show": 0.08}
    return PairEvidence(("ill", "age"), verdict, **{**fields, **more})


def told(each: Interaction) -> Phrase:
    return interaction_sentence(effect_by_state(each), each.by)
