"""How far apart the independence structures of two log-linear models are, exactly.

`compare` says how far a guess is from the true model, `explain` where they differ; models come from
files (`read`), from other packages (`convert`), or from features (`Structure`).
"""

# The names people type first; everything else lives in its module. A name is imported when it is
# first used, so that ``import contextwise`` and the command line start at once. To add one, write
# it in the block for type checkers and in the table of homes.

TYPE_CHECKING = False  # checkers take it as true; `typing` has it too, and takes 10 ms to load

if TYPE_CHECKING:
    from contextwise import convert, distributions
    from contextwise.comparison.compare import Comparison, compare, distance
    from contextwise.comparison.explain import explain
    from contextwise.comparison.matrix import compare_many, distance_matrix
    from contextwise.comparison.neighbours import farthest_first, medoid, nearest
    from contextwise.comparison.sketch import sketch
    from contextwise.comparison.track import Tracker, track
    from contextwise.evaluation.score import score
    from contextwise.formats import read, write
    from contextwise.independence import is_independent
    from contextwise.models.domain import Domain
    from contextwise.models.structure import LogLinear, Structure
    from contextwise.truths import bundled as examples

    __version__: str

__all__ = [
    "Comparison",
    "Domain",
    "LogLinear",
    "Structure",
    "Tracker",
    "compare",
    "compare_many",
    "convert",
    "distance",
    "distance_matrix",
    "distributions",
    "examples",
    "explain",
    "farthest_first",
    "is_independent",
    "medoid",
    "nearest",
    "read",
    "score",
    "sketch",
    "track",
    "write",
]

_HOMES = {
    "Comparison": "comparison.compare",
    "Domain": "models.domain",
    "LogLinear": "models.structure",
    "Structure": "models.structure",
    "Tracker": "comparison.track",
    "compare": "comparison.compare",
    "compare_many": "comparison.matrix",
    "convert": "convert",
    "distance": "comparison.compare",
    "distance_matrix": "comparison.matrix",
    "distributions": "distributions",
    "examples": "truths.bundled",
    "explain": "comparison.explain",
    "farthest_first": "comparison.neighbours",
    "is_independent": "independence",
    "medoid": "comparison.neighbours",
    "nearest": "comparison.neighbours",
    "read": "formats",
    "score": "evaluation.score",
    "sketch": "comparison.sketch",
    "track": "comparison.track",
    "write": "formats",
}
"""The module of each name; a module that is exported as a whole is its own home."""

if not TYPE_CHECKING:
    from contextwise.support.loading import lazy_names

    lazy_names(__name__, _HOMES)
