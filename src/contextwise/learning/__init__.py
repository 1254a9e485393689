"""Learn structures from data.

`base` defines what a learner is. To add a learner, add its line to `LEARNERS`: the command, the
study of learners, the benchmarks and the tests of all learners follow this table. The names of this
room are imported on first use.
"""

from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from contextwise.errors import ContextwiseError
from contextwise.support.formatting import suggested
from contextwise.support.loading import lazy_names

if TYPE_CHECKING:
    from contextwise.data.rows import Data, as_data
    from contextwise.learning import base, by_name, identity, parameters
    from contextwise.learning.acyclic_trees import AcyclicTrees
    from contextwise.learning.adapters import CStrees, Pgmpy, PyAgrum
    from contextwise.learning.base import Learner, Run, learn
    from contextwise.learning.best_of_two import BestOfTwo
    from contextwise.learning.chow_liu import ChowLiu, Independent
    from contextwise.learning.gsmn import GSMN
    from contextwise.learning.literature.blm import BLM
    from contextwise.learning.literature.contextual_mpl import ContextualMPL
    from contextwise.learning.literature.feature_induction import FeatureInduction
    from contextwise.learning.literature.gssl import GSSL
    from contextwise.learning.literature.ibmap import IBMAP
    from contextwise.learning.literature.row_graphs import CSGS, CSPC
    from contextwise.learning.mpl import MPL
    from contextwise.learning.pair_blocks import PairBlocks
    from contextwise.learning.sparse_pairs import SparsePairs
    from contextwise.learning.trees import Trees

__all__ = [
    "BLM",
    "CSGS",
    "CSPC",
    "DEFAULT_LEARNER",
    "GSMN",
    "GSSL",
    "IBMAP",
    "LEARNERS",
    "MPL",
    "AcyclicTrees",
    "BestOfTwo",
    "CStrees",
    "ChowLiu",
    "ContextualMPL",
    "Data",
    "FeatureInduction",
    "Independent",
    "Learner",
    "PairBlocks",
    "Pgmpy",
    "PyAgrum",
    "Run",
    "SparsePairs",
    "Trees",
    "as_data",
    "learn",
]


class LearnerEntry(NamedTuple):
    """A module of this room, the learner's class in it, its group, and the package it needs."""

    module: str
    class_name: str
    group: str
    summary: str
    package: str = ""


CONTEXTS = "Graphs and contexts"
GRAPHS = "Graphs only"
DIRECTED = "Directed"
MANY = "Many variables"
LITERATURE = "Learners of the literature"

LEARNERS: dict[str, LearnerEntry] = {
    "best-of-two": LearnerEntry(
        "best_of_two", "BestOfTwo", CONTEXTS, "Pair-blocks, or acyclic-trees if the rows prefer it."
    ),
    "pair-blocks": LearnerEntry(
        "pair_blocks", "PairBlocks", CONTEXTS, "A graph whose edges have contexts, for any table."
    ),
    "mpl": LearnerEntry("mpl", "MPL", GRAPHS, "A graph by marginal pseudo-likelihood."),
    "gsmn": LearnerEntry(
        "gsmn", "GSMN", GRAPHS, "A graph by growing and shrinking Markov blankets."
    ),
    "chow-liu": LearnerEntry(
        "chow_liu", "ChowLiu", GRAPHS, "The best tree of pairs (Chow and Liu)."
    ),
    "independent": LearnerEntry(
        "chow_liu", "Independent", GRAPHS, "No interactions: the baseline."
    ),
    "acyclic-trees": LearnerEntry(
        "acyclic_trees", "AcyclicTrees", DIRECTED, "The Bayesian network of trees that scores best."
    ),
    "pgmpy": LearnerEntry(
        "adapters", "Pgmpy", DIRECTED, "Graphs by pgmpy: hill climbing, GES, PC.", "pgmpy"
    ),
    "pyagrum": LearnerEntry(
        "adapters", "PyAgrum", DIRECTED, "Graphs by pyAgrum: greedy, tabu, MIIC.", "pyagrum"
    ),
    "cstrees": LearnerEntry(
        "adapters", "CStrees", DIRECTED, "Staged trees by cstrees, to 10 variables.", "cstrees"
    ),
    "sparse-pairs": LearnerEntry(
        "sparse_pairs", "SparsePairs", MANY, "Pairs by sparse regressions."
    ),
    "trees": LearnerEntry("trees", "Trees", MANY, "A decision tree per variable (Lowd and Davis)."),
    "gssl": LearnerEntry(
        "literature.gssl",
        "GSSL",
        LITERATURE,
        "Rows with literals dropped at random (Van Haaren and Davis).",
    ),
    "contextual-mpl": LearnerEntry(
        "literature.contextual_mpl",
        "ContextualMPL",
        LITERATURE,
        "MPL, then edges vanish in contexts.",
    ),
    "cspc": LearnerEntry(
        "literature.row_graphs", "CSPC", LITERATURE, "A graph per row, by tests in contexts."
    ),
    "csgs": LearnerEntry(
        "literature.row_graphs",
        "CSGS",
        LITERATURE,
        "A graph per row, by Markov blankets in contexts.",
    ),
    "ibmap": LearnerEntry(
        "literature.ibmap", "IBMAP", LITERATURE, "A graph by Bayesian tests of independence."
    ),
    "feature-induction": LearnerEntry(
        "literature.feature_induction",
        "FeatureInduction",
        LITERATURE,
        "Features by gain, one literal longer at a time (Della Pietra).",
    ),
    "blm": LearnerEntry(
        "literature.blm", "BLM", LITERATURE, "Features by generalising rows (Davis and Domingos)."
    ),
}
"""The learners in the order of ``contextwise learn --help``."""

DEFAULT_LEARNER = "best-of-two"
"""The learner of `learn`, and of the commands that learn, unless another is named."""


def learner_groups() -> dict[str, list[str]]:
    """Return the names of the learners by group, the default first."""
    groups = {"Default": [DEFAULT_LEARNER]}
    for name, entry in LEARNERS.items():
        if name != DEFAULT_LEARNER:
            groups.setdefault(entry.group, []).append(name)
    return groups


@cache
def other_learners() -> dict[str, str]:
    """Return the learners of other packages, as MODULE:NAME; they are entry points."""
    from importlib.metadata import entry_points

    return {each.name: each.value for each in entry_points(group="contextwise.learners")}


def learner_named(name: str) -> "type[Learner]":
    """Return the class of a learner, or suggest the nearest name."""
    if name not in LEARNERS:
        others = other_learners()
        if name in others:
            module, _, attribute = others[name].partition(":")
            theirs: type[Learner] = attrgetter(attribute)(import_module(module))
            return theirs
        known = [*LEARNERS, *others]
        hint = suggested(name, known) or f"choose from {', '.join(known)}"
        raise ContextwiseError(f"there is no learner {name!r}; {hint}")
    entry = LEARNERS[name]
    learner: type[Learner] = getattr(
        import_module(f"contextwise.learning.{entry.module}"), entry.class_name
    )
    return learner


if not TYPE_CHECKING:
    homes = {entry.class_name: entry.module for entry in LEARNERS.values()}
    homes |= dict.fromkeys(("Data", "Learner", "Run", "as_data", "learn"), "base")
    __getattr__, __dir__ = lazy_names(__name__, homes)
