"""Compare the independence structures of log-linear models, context by context, exactly.

`compare` measures how far a guess is from the true model, and `explain` shows where they differ.
Models come from files (`read`), data (`learn`), other packages (`convert`), or features
(`Structure`).
"""

# A name is imported when it is first used, so that ``import contextwise`` is fast. To add one, put
# it in the block for type checkers and in `_HOMES`.

TYPE_CHECKING = False  # true for type checkers; importing `typing` takes 10 ms

if TYPE_CHECKING:
    from contextwise import (
        comparison,
        convert,
        counting,
        data,
        distributions,
        evaluation,
        explorer,
        formats,
        independence,
        learning,
        models,
        report,
        studies,
        support,
        truths,
    )
    from contextwise.comparison.compare import Comparison, compare, distance
    from contextwise.comparison.matrix import compare_many, distance_matrix
    from contextwise.comparison.track import track
    from contextwise.data.rows import read_data
    from contextwise.distributions.sampling import sample

    # From their modules: a room that mypy has not read yet may offer a module of the same name.
    from contextwise.evaluation.analysis import analyse
    from contextwise.evaluation.chance import chance
    from contextwise.evaluation.check import check
    from contextwise.evaluation.compare_groups import compare_groups
    from contextwise.evaluation.ensembles import Ensemble
    from contextwise.evaluation.groups import groups
    from contextwise.evaluation.stability import stability
    from contextwise.formats import read, write
    from contextwise.independence.model_claims import explain
    from contextwise.learning.base import learn
    from contextwise.models.claims import Claims
    from contextwise.models.domain import Domain
    from contextwise.models.structure import LogLinear, Structure
    from contextwise.studies.study import study
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
    "Comparison": "comparison.compare",
    "Domain": "models.domain",
    "Ensemble": "evaluation",
    "LogLinear": "models.structure",
    "Structure": "models.structure",
    "analyse": "evaluation",
    "chance": "evaluation",
    "check": "evaluation",
    "compare": "comparison.compare",
    "compare_groups": "evaluation",
    "compare_many": "comparison.matrix",
    "convert": "convert",
    "distance": "comparison.compare",
    "distance_matrix": "comparison.matrix",
    "distributions": "distributions",
    "evaluation": "evaluation",
    "examples": "truths.bundled",
    "explain": "independence.model_claims",
    "groups": "evaluation",
    "independence": "independence",
    "learn": "learning.base",
    "learning": "learning",
    "read": "formats",
    "read_data": "data.rows",
    "report": "report",
    "sample": "distributions.sampling",
    "stability": "evaluation",
    "study": "studies.study",
    "track": "comparison.track",
    "write": "formats",
}
"""The module of each name; a module is its own home."""

_REMOVED = {
    "populations": "contextwise.groups(data, by=...)",
    "score": "contextwise.evaluation.scores.score, or contextwise.distributions",
    "summarize": "contextwise.compare_groups",
}
"""What to use instead of a name that earlier versions had."""

if not TYPE_CHECKING:
    from contextwise.support.loading import lazy_names

    _load, __dir__ = lazy_names(__name__, _HOMES, _REMOVED)

    def __getattr__(name):
        if name == "__version__":
            from importlib.metadata import version

            return version(__name__)
        return _load(name)
