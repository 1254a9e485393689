"""Learn structures from data.

`base` defines what a learner is. To add a learner, add its line to `LEARNERS`: the command, the
study of learners, the benchmarks and the tests of all learners follow this table. The names of this
room are imported on first use.
"""

from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from contextwise.errors import ContextwiseError
from contextwise.support.loading import lazy_names

if TYPE_CHECKING:
    from contextwise.data.rows import Data, as_data
    from contextwise.learning import base, missed_pairs, parameters, selection
    from contextwise.learning.adapters import CausalLearn, Pgmpy, PyAgrum
    from contextwise.learning.base import Learner, learn
    from contextwise.learning.chow_liu import ChowLiu, Independent
    from contextwise.learning.contextual_mpl import ContextualMPL
    from contextwise.learning.csgs import CSGS
    from contextwise.learning.cspc import CSPC
    from contextwise.learning.edge_trees import EdgeTrees
    from contextwise.learning.gsmn import GSMN
    from contextwise.learning.gssl import GSSL
    from contextwise.learning.mpl import MPL
    from contextwise.learning.selection import select
    from contextwise.learning.sparse_pairs import SparsePairs
    from contextwise.learning.trees import AcyclicTrees, Trees, TreesAndPairs

__all__ = [
    "CSGS",
    "CSPC",
    "GSMN",
    "GSSL",
    "LEARNERS",
    "MPL",
    "AcyclicTrees",
    "CausalLearn",
    "ChowLiu",
    "ContextualMPL",
    "Data",
    "EdgeTrees",
    "Independent",
    "Learner",
    "Pgmpy",
    "PyAgrum",
    "SparsePairs",
    "Trees",
    "TreesAndPairs",
    "as_data",
    "learn",
    "select",
]


class Entry(NamedTuple):
    """A module of this room, the learner's class in it, and the package it needs, if any."""

    module: str
    class_name: str
    summary: str
    package: str = ""


LEARNERS: dict[str, Entry] = {
    "independent": Entry("chow_liu", "Independent", "No interactions: the baseline."),
    "chow-liu": Entry("chow_liu", "ChowLiu", "The best tree of pairs (Chow and Liu)."),
    "trees": Entry("trees", "Trees", "A decision tree per variable (Lowd and Davis)."),
    "acyclic-trees": Entry("trees", "AcyclicTrees", "Decision trees of a Bayesian network."),
    "sparse-pairs": Entry("sparse_pairs", "SparsePairs", "Pairs by sparse regressions."),
    "trees-and-pairs": Entry("trees", "TreesAndPairs", "Trees and pairs, refitted."),
    "gssl": Entry("gssl", "GSSL", "Rows with literals dropped at random (Van Haaren and Davis)."),
    "gsmn": Entry("gsmn", "GSMN", "A graph by growing and shrinking Markov blankets."),
    "mpl": Entry("mpl", "MPL", "A graph by marginal pseudo-likelihood."),
    "contextual-mpl": Entry(
        "contextual_mpl", "ContextualMPL", "MPL, then edges vanish in contexts."
    ),
    "edge-trees": Entry("edge_trees", "EdgeTrees", "A graph with a tree of contexts per edge."),
    "cspc": Entry("cspc", "CSPC", "A graph per row, by tests in contexts."),
    "csgs": Entry("csgs", "CSGS", "A graph per row, by Markov blankets in contexts."),
    "pgmpy": Entry("adapters", "Pgmpy", "Graphs by pgmpy: hill climbing, GES, PC.", "pgmpy"),
    "pyagrum": Entry("adapters", "PyAgrum", "Graphs by pyAgrum: greedy, tabu, MIIC.", "pyagrum"),
    "causal-learn": Entry("adapters", "CausalLearn", "Graphs by causal-learn.", "causallearn"),
}


def learner_named(name: str) -> "type[Learner]":
    """Return the class of a learner, or suggest the nearest name."""
    if name not in LEARNERS:
        near = get_close_matches(name, LEARNERS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(LEARNERS)}"
        raise ContextwiseError(f"there is no learner {name!r}; {hint}")
    entry = LEARNERS[name]
    learner: type[Learner] = getattr(
        import_module(f"contextwise.learning.{entry.module}"), entry.class_name
    )
    return learner


if not TYPE_CHECKING:
    homes = {entry.class_name: entry.module for entry in LEARNERS.values()}
    homes |= dict.fromkeys(("Data", "Learner", "as_data", "learn"), "base")
    __getattr__, __dir__ = lazy_names(__name__, {**homes, "select": "selection"})
