"""Chance, replicates, stability, consensus, scores, groups, and checks against data.

A name is imported when it is first used. No module has the name of a function of this room, because
importing it would put the module in the place of the function.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextwise.evaluation import (
        ensemble_scores,
        ensembles,
        group_tests,
        replicates,
        scores,
        skill,
    )
    from contextwise.evaluation.claim_tests import check
    from contextwise.evaluation.consensus_search import consensus
    from contextwise.evaluation.ensemble_scores import (
        compare_ensembles,
        ensemble_matrix,
        reliability,
        score_ensembles,
    )
    from contextwise.evaluation.ensembles import Ensemble
    from contextwise.evaluation.group_tests import populations
    from contextwise.evaluation.replicates import summarize
    from contextwise.evaluation.resampling import stability
    from contextwise.evaluation.scores import score
    from contextwise.evaluation.skill import ChanceInterrupted, chance

__all__ = [
    "ChanceInterrupted",
    "Ensemble",
    "chance",
    "check",
    "compare_ensembles",
    "consensus",
    "ensemble_matrix",
    "populations",
    "reliability",
    "score",
    "score_ensembles",
    "stability",
    "summarize",
]

if not TYPE_CHECKING:
    from contextwise.support.loading import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "ChanceInterrupted": "skill",
            "Ensemble": "ensembles",
            "chance": "skill",
            "compare_ensembles": "ensemble_scores",
            "ensemble_matrix": "ensemble_scores",
            "reliability": "ensemble_scores",
            "score_ensembles": "ensemble_scores",
            "check": "claim_tests",
            "populations": "group_tests",
            "consensus": "consensus_search",
            "score": "scores",
            "stability": "resampling",
            "summarize": "replicates",
        },
    )
