"""Learn structures from data.

`base` defines what a learner is and `registry` lists all learners. Names are imported on first use.
"""

from typing import TYPE_CHECKING

from contextwise.learning.registry import LEARNERS, learner_named

if TYPE_CHECKING:
    from contextwise.data.rows import Data, as_data
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
    "learner_named",
    "select",
]

if not TYPE_CHECKING:
    from contextwise.support.loading import lazy_names

    homes = {entry.class_name: entry.module for entry in LEARNERS.values()}
    homes |= dict.fromkeys(("Data", "Learner", "as_data", "learn"), "base")
    lazy_names(__name__, {**homes, "select": "selection"})
