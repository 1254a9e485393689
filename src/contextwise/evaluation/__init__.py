"""Chance, groups of guesses, stability, ensembles, groups of rows, and checks against data.

A name is imported when it is first used.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextwise.evaluation import (
        analysis,
        ensembles,
        scores,
    )
    from contextwise.evaluation.analysis import analyse
    from contextwise.evaluation.chance import chance
    from contextwise.evaluation.check import check
    from contextwise.evaluation.compare_groups import compare_groups
    from contextwise.evaluation.ensembles import Ensemble
    from contextwise.evaluation.groups import groups
    from contextwise.evaluation.scores import (
        reliability,
        score_ensembles,
    )
    from contextwise.evaluation.stability import stability

__all__ = [
    "Ensemble",
    "analyse",
    "chance",
    "check",
    "compare_groups",
    "groups",
    "reliability",
    "score_ensembles",
    "stability",
]

if not TYPE_CHECKING:
    from contextwise.support.loading import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "Ensemble": "ensembles",
            "analyse": "analysis",
            "chance": "chance",
            "reliability": "scores",
            "score_ensembles": "scores",
            "check": "check",
            "groups": "groups",
            "stability": "stability",
            "compare_groups": "compare_groups",
        },
        removed={
            "ChanceInterrupted": "KeyboardInterrupt; the draws so far are not kept",
            "compare_ensembles": "score_ensembles",
            "consensus": "contextwise.distance_matrix, whose medoid is the most typical model",
            "ensemble_matrix": "contextwise.distance_matrix for the medoids",
            "populations": "groups",
            "score": "contextwise.evaluation.scores.score",
            "summarize": "compare_groups",
        },
    )
