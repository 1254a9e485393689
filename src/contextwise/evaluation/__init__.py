"""What is said about structures with more than one comparison.

Scores beside the metric, chance, replicates, stability, and checks against data. A name is imported
when it is first used.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextwise.evaluation.agreement import Consensus, consensus
    from contextwise.evaluation.chances import Chance, ChanceInterrupted, chance
    from contextwise.evaluation.checks import Check, CheckedClaim, check
    from contextwise.evaluation.replicates import summarize
    from contextwise.evaluation.resampling import Stability, read_stability, stability
    from contextwise.evaluation.scores import Score, score
    from contextwise.evaluation.summaries import Summary
    from contextwise.evaluation.uncertain import UncertainComparison, compare_truths

__all__ = [
    "Chance",
    "ChanceInterrupted",
    "Check",
    "CheckedClaim",
    "Consensus",
    "Score",
    "Stability",
    "Summary",
    "UncertainComparison",
    "chance",
    "check",
    "compare_truths",
    "consensus",
    "read_stability",
    "score",
    "stability",
    "summarize",
]

_HOMES = {
    "Chance": "chance_result",
    "ChanceInterrupted": "chance_result",
    "Check": "check_result",
    "CheckedClaim": "check_result",
    "Consensus": "consensus_result",
    "Score": "scores",
    "Stability": "stability_result",
    "Summary": "summaries",
    "UncertainComparison": "uncertain",
    "chance": "chances",
    "check": "checks",
    "compare_truths": "uncertain",
    "consensus": "agreement",
    "read_stability": "resampling",
    "score": "scores",
    "stability": "resampling",
    "summarize": "replicates",
}
"""The module of each name."""

if not TYPE_CHECKING:
    from contextwise.execution.loading import lazy_names

    __getattr__, __dir__ = lazy_names(__name__, _HOMES, globals())
