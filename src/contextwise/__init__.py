"""Compare the independence structures of log-linear models, context by context, exactly.

`compare` measures how far a guess is from the true model, and `explain` shows where they differ.
`contextwise.paper` has the definitions behind it (Strappa and Bromberg), executable as printed.
Models come from files (`read`), data (`learn`), other packages (`convert`), or features
(`Structure`).
"""

# A name is imported when it is first used, so that ``import contextwise`` is fast. To add one, put
# it in the block for type checkers and in `_HOMES`.

TYPE_CHECKING = False  # true for type checkers; importing `typing` takes 10 ms

if TYPE_CHECKING:
    from contextwise import (
        analysis,
        comparison,
        convert,
        counting,
        data,
        distributions,
        evaluation,
        evidence,
        explorer,
        formats,
        independence,
        learning,
        models,
        paper,
        report,
        studies,
        support,
        truths,
    )
    from contextwise.analysis.conclusions import analyse
    from contextwise.analysis.groups_of_rows import groups
    from contextwise.analysis.resampling import stability
    from contextwise.comparison.matrix import compare_many, distance_matrix
    from contextwise.comparison.tracker import track
    from contextwise.comparison.two_models import Comparison, compare, distance
    from contextwise.data.rows import read_data
    from contextwise.distributions.sampling import sample
    from contextwise.evaluation.ensembles import Ensemble
    from contextwise.evaluation.groups_of_guesses import compare_groups
    from contextwise.evaluation.random_guesses import chance
    from contextwise.evidence.model_check import check
    from contextwise.formats import read, write
    from contextwise.independence.model_claims import explain
    from contextwise.learning.base import learn
    from contextwise.models.claims import Claims
    from contextwise.models.domain import Domain
    from contextwise.models.structure import LogLinear, Structure
    from contextwise.studies.learner_study import study
    from contextwise.truths import bundled as examples

    __version__: str

__all__ = [
    "Claims",
    "Comparison",
    "Domain",
    "Ensemble",
    "LogLinear",
    "Structure",
    "analyse",
    "analysis",
    "chance",
    "check",
    "compare",
    "compare_groups",
    "compare_many",
    "convert",
    "distance",
    "distance_matrix",
    "distributions",
    "evaluation",
    "evidence",
    "examples",
    "explain",
    "groups",
    "independence",
    "learn",
    "learning",
    "read",
    "read_data",
    "report",
    "sample",
    "stability",
    "study",
    "track",
    "write",
]

_HOMES = {
    "Claims": "models.claims",
    "Comparison": "comparison.two_models",
    "Domain": "models.domain",
    "Ensemble": "evaluation.ensembles",
    "LogLinear": "models.structure",
    "Structure": "models.structure",
    "analyse": "analysis.conclusions",
    "analysis": "analysis",
    "chance": "evaluation.random_guesses",
    "check": "evidence.model_check",
    "compare": "comparison.two_models",
    "compare_groups": "evaluation.groups_of_guesses",
    "compare_many": "comparison.matrix",
    "convert": "convert",
    "distance": "comparison.two_models",
    "distance_matrix": "comparison.matrix",
    "distributions": "distributions",
    "evaluation": "evaluation",
    "evidence": "evidence",
    "examples": "truths.bundled",
    "explain": "independence.model_claims",
    "groups": "analysis.groups_of_rows",
    "independence": "independence",
    "learn": "learning.base",
    "learning": "learning",
    "read": "formats",
    "read_data": "data.rows",
    "report": "report",
    "sample": "distributions.sampling",
    "stability": "analysis.resampling",
    "study": "studies.learner_study",
    "track": "comparison.tracker",
    "write": "formats",
}
"""The module of each name; a module is its own home."""

if not TYPE_CHECKING:
    from contextwise.support.loading import lazy_names

    _load, __dir__ = lazy_names(__name__, _HOMES)

    def __getattr__(name):
        if name == "__version__":
            from importlib.metadata import version

            return version(__name__)
        return _load(name)
