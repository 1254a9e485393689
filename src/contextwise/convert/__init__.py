"""Convert other representations and packages to structures and back.

Every ``from_*`` function takes the representation first and the domain (a `Domain`, or a mapping
that makes one) second. It returns a `Structure` if features make exactly the claims of the
representation, and `Claims` otherwise. It raises `TooLargeError` if a table would be too large, and
`DomainError` for variables or states that the domain lacks. `contextwise.convert.from_claims` has
the rule behind all converters.
"""

from typing import TYPE_CHECKING

from contextwise.convert.directed import from_cpt_trees, from_cstree, from_ldag, from_staged_tree
from contextwise.convert.from_values import by_values
from contextwise.convert.hierarchical import (
    from_generators,
    from_interactions,
    from_split_model,
    to_generators,
)
from contextwise.convert.packages import (
    from_causal_learn,
    from_ising,
    from_pgmpy,
    from_pyagrum,
)
from contextwise.convert.undirected import from_canonical, from_graph, from_stratified
from contextwise.support.loading import lazy_names

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, {})

__all__ = [
    "by_values",
    "from_canonical",
    "from_causal_learn",
    "from_cpt_trees",
    "from_cstree",
    "from_generators",
    "from_graph",
    "from_interactions",
    "from_ising",
    "from_ldag",
    "from_pgmpy",
    "from_pyagrum",
    "from_split_model",
    "from_staged_tree",
    "from_stratified",
    "to_generators",
]
