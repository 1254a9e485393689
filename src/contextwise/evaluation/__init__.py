"""Chance, replicates, stability, consensus, scores, and checks against data.

A name is imported when it is first used.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextwise.evaluation.chance import ChanceInterrupted, chance
    from contextwise.evaluation.check import check
    from contextwise.evaluation.consensus import consensus
    from contextwise.evaluation.replicates import summarize
    from contextwise.evaluation.score import score
    from contextwise.evaluation.stability import stability

__all__ = [
    "ChanceInterrupted",
    "chance",
    "check",
    "consensus",
    "score",
    "stability",
    "summarize",
]

if not TYPE_CHECKING:
    from contextwise.support.loading import lazy_names

    _HOMES = {name: name for name in ("chance", "check", "consensus", "score", "stability")}
    lazy_names(__name__, {**_HOMES, "ChanceInterrupted": "chance", "summarize": "replicates"})
