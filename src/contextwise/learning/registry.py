"""The learners by the names that the command knows. To add one, write its line here.

A learner's module is imported when its learner is asked for, so that listing them costs nothing.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from contextwise.errors import ContextwiseError

if TYPE_CHECKING:
    from contextwise.learning.base import Learner


class Entry(NamedTuple):
    """Where a learner is, and what it does in one line.

    Attributes
    ----------
    module : of `contextwise.learning`
    class_name : in that module
    summary : what the learner does
    package : what has to be installed besides, if anything
    """

    module: str
    class_name: str
    summary: str
    package: str = ""


LEARNERS: dict[str, Entry] = {
    "independent": Entry("chow_liu", "Independent", "No interactions: the baseline."),
    "chow-liu": Entry("chow_liu", "ChowLiu", "The best tree of pairs (Chow and Liu)."),
    "trees": Entry("trees", "Trees", "A decision tree per variable; with --refit l1, DTSL."),
    "acyclic-trees": Entry("trees", "AcyclicTrees", "Decision trees of a Bayesian network."),
    "sparse-pairs": Entry("sparse_pairs", "SparsePairs", "Pairs by sparse regressions."),
    "trees-and-pairs": Entry("trees_and_pairs", "TreesAndPairs", "Both, their weights refitted."),
    "gssl": Entry("gssl", "GSSL", "Rows, generalised at random (Van Haaren and Davis)."),
    "gsmn": Entry("blankets", "GSMN", "A graph by Markov blankets, grown and shrunk."),
    "mpl": Entry("mpl", "MPL", "A graph by marginal pseudo-likelihood."),
    "contextual-mpl": Entry(
        "contextual_mpl", "ContextualMPL", "A graph whose edges vanish in contexts (Pensar et al.)."
    ),
    "edge-trees": Entry("edge_trees", "EdgeTrees", "A graph with a tree of contexts per edge."),
    "cspc": Entry("cspc", "CSPC", "A graph per row, by tests in contexts."),
    "csgs": Entry("blankets", "CSGS", "A graph per row, by blankets in contexts."),
    "pgmpy": Entry("adapters", "Pgmpy", "Graphs by pgmpy: hill climbing, GES, PC.", "pgmpy"),
    "pyagrum": Entry("adapters", "PyAgrum", "Graphs by pyAgrum: greedy, tabu, MIIC.", "pyagrum"),
    "causal-learn": Entry(
        "adapters", "CausalLearn", "Graphs by causal-learn: PC, GES.", "causallearn"
    ),
}
"""The modules are those of `contextwise.learning`."""


def learner_named(name: str) -> type[Learner]:
    """The class of a learner.

    Parameters
    ----------
    name : str
        As the command writes it, such as ``chow-liu``.

    Returns
    -------
    class of a Learner

    Raises
    ------
    ContextwiseError
        If there is none of that name.

    Examples
    --------
    >>> learner_named("chow-liu").__name__
    'ChowLiu'
    """
    if name not in LEARNERS:
        near = get_close_matches(name, LEARNERS, n=1)
        hint = f"; the nearest is {near[0]!r}" if near else f"; there are {', '.join(LEARNERS)}"
        raise ContextwiseError(f"there is no learner {name!r}{hint}")
    entry = LEARNERS[name]
    found: type[Learner] = getattr(
        import_module(f"contextwise.learning.{entry.module}"), entry.class_name
    )
    return found
