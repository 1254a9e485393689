"""Chance, replicates, stability, consensus, scores, and checks against data.

A name is imported when it is first used. No module has the name of a function of this room, because
importing it would put the module in the place of the function.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextwise.evaluation import replicates, scores, skill
    from contextwise.evaluation.claim_tests import check
    from contextwise.evaluation.consensus_search import consensus
    from contextwise.evaluation.replicates import summarize
    from contextwise.evaluation.resampling import stability
    from contextwise.evaluation.scores import score
    from contextwise.evaluation.skill import ChanceInterrupted, chance

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

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "ChanceInterrupted": "skill",
            "chance": "skill",
            "check": "claim_tests",
            "consensus": "consensus_search",
            "score": "scores",
            "stability": "resampling",
            "summarize": "replicates",
        },
    )
