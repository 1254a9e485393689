"""Chance, replicates, stability, consensus, scores, and checks against data.

A name is imported when it is first used.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextwise.evaluation.chance import Chance, ChanceInterrupted, chance
    from contextwise.evaluation.check import Check, CheckedClaim, check
    from contextwise.evaluation.consensus import Consensus, consensus
    from contextwise.evaluation.replicates import Summary, summarize
    from contextwise.evaluation.score import Score, score
    from contextwise.evaluation.stability import Stability, read_stability, stability

__all__ = [
    "Chance",
    "ChanceInterrupted",
    "Check",
    "CheckedClaim",
    "Consensus",
    "Score",
    "Stability",
    "Summary",
    "chance",
    "check",
    "consensus",
    "read_stability",
    "score",
    "stability",
    "summarize",
]

_HOMES = {
    "Chance": "chance",
    "ChanceInterrupted": "chance",
    "Check": "check",
    "CheckedClaim": "check",
    "Consensus": "consensus",
    "Score": "score",
    "Stability": "stability",
    "Summary": "replicates",
    "chance": "chance",
    "check": "check",
    "consensus": "consensus",
    "read_stability": "stability",
    "score": "score",
    "stability": "stability",
    "summarize": "replicates",
}
"""The module of each name."""

if not TYPE_CHECKING:
    from contextwise.support.loading import lazy_names

    lazy_names(__name__, _HOMES)
