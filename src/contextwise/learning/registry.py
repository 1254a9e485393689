"""Register the learners by name. To add a learner, add its line to `LEARNERS`.

The command, the study of learners, the benchmarks and the tests of all learners follow this table.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from contextwise.errors import ContextwiseError

if TYPE_CHECKING:
    from contextwise.learning.base import Learner


class Entry(NamedTuple):
    """The class of a learner and its summary.

    Attributes
    ----------
    module : module in `contextwise.learning`
    class_name : name of the class in that module
    summary : one line for ``contextwise learn --help``
    package : package that must be installed, if any
    """

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


def learner_named(name: str) -> type[Learner]:
    """Return the class of a learner.

    Parameters
    ----------
    name : str
        Name on the command line, such as ``chow-liu``.

    Returns
    -------
    subclass of Learner

    Raises
    ------
    ContextwiseError
        If there is no learner of that name.

    Examples
    --------
    >>> learner_named("chow-liu").__name__
    'ChowLiu'
    """
    if name not in LEARNERS:
        near = get_close_matches(name, LEARNERS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(LEARNERS)}"
        raise ContextwiseError(f"there is no learner {name!r}; {hint}")
    entry = LEARNERS[name]
    learner: type[Learner] = getattr(
        import_module(f"contextwise.learning.{entry.module}"), entry.class_name
    )
    return learner


def name_of(learner: type) -> str:
    """Return the registered name of a learner's class, or the name of the class."""
    names = (name for name, entry in LEARNERS.items() if entry.class_name == learner.__name__)
    return next(names, learner.__name__)
