"""Other people's representations to structures and back: one a module.

Each function takes the domain (or the mapping that makes one) and the representation; each module
teaches its representation. The rule behind all of them is in `contextwise.convert.target`.
"""

from contextwise.convert.canonical import from_canonical, to_graphs
from contextwise.convert.context_specific import from_interactions, from_split_model
from contextwise.convert.cpt_trees import from_cpt_trees
from contextwise.convert.generators import from_generators, to_generators
from contextwise.convert.graphs import from_graph
from contextwise.convert.ldag import from_ldag
from contextwise.convert.pgmpy import from_pgmpy, to_pgmpy
from contextwise.convert.pyagrum import from_pyagrum, to_pyagrum
from contextwise.convert.staged_trees import from_cstree, from_staged_tree
from contextwise.convert.stratified import from_stratified
from contextwise.convert.values import by_values

__all__ = [
    "by_values",
    "from_canonical",
    "from_cpt_trees",
    "from_cstree",
    "from_generators",
    "from_graph",
    "from_interactions",
    "from_ldag",
    "from_pgmpy",
    "from_pyagrum",
    "from_split_model",
    "from_staged_tree",
    "from_stratified",
    "to_generators",
    "to_graphs",
    "to_pgmpy",
    "to_pyagrum",
]
