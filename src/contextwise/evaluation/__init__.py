"""Judge guesses: against chance, groups of guesses, ensembles of structures.

A name is imported when it is first used.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextwise.evaluation import ensembles, likelihood_scores
    from contextwise.evaluation.ensemble_scores import reliability, score_ensembles
    from contextwise.evaluation.ensembles import Ensemble
    from contextwise.evaluation.groups_of_guesses import compare_groups
    from contextwise.evaluation.random_guesses import chance

__all__ = ["Ensemble", "chance", "compare_groups", "reliability", "score_ensembles"]

if not TYPE_CHECKING:
    from contextwise.support.loading import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "Ensemble": "ensembles",
            "chance": "random_guesses",
            "compare_groups": "groups_of_guesses",
            "reliability": "ensemble_scores",
            "score_ensembles": "ensemble_scores",
        },
    )
