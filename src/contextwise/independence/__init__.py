"""What a structure says: queries, graphs, the complete dependency model, readable listings.

Start with `queries` (the definition of independence, and how a question is decided).
"""

from contextwise.independence.answers import UNDECIDED, Answer, Undecided
from contextwise.independence.complete import (
    compare_complete,
    dependency_model,
    triplet_count,
    triplets,
)
from contextwise.independence.graphs import (
    compare_graphs,
    graph,
    hamming,
    instantiated_graph,
    markov_blanket,
)
from contextwise.independence.listing import (
    Independence,
    PairIndependencies,
    context_specific_independencies,
    independencies,
)
from contextwise.independence.queries import answer_to, is_independent
from contextwise.independence.statements import Statement, parse_statement

__all__ = [
    "UNDECIDED",
    "Answer",
    "Independence",
    "PairIndependencies",
    "Statement",
    "Undecided",
    "answer_to",
    "compare_complete",
    "compare_graphs",
    "context_specific_independencies",
    "dependency_model",
    "graph",
    "hamming",
    "independencies",
    "instantiated_graph",
    "is_independent",
    "markov_blanket",
    "parse_statement",
    "triplet_count",
    "triplets",
]
