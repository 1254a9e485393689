"""Queries, graphs, listings of independencies, and the complete dependency model."""

from contextwise.independence.complete import (
    compare_complete,
    dependency_model,
    triplet_count,
)
from contextwise.independence.graphs import (
    Edges,
    compare_graphs,
    edges_of,
    graph,
    hamming,
    instantiated_graph,
    markov_blanket,
)
from contextwise.independence.independencies import (
    Independence,
    Independencies,
    PairIndependencies,
    context_specific_independencies,
    independencies,
)
from contextwise.independence.queries import answer_to, is_independent
from contextwise.independence.statements import (
    UNDECIDED,
    Answer,
    Statement,
    Undecided,
    parse_statement,
)

__all__ = [
    "UNDECIDED",
    "Answer",
    "Edges",
    "Independence",
    "Independencies",
    "PairIndependencies",
    "Statement",
    "Undecided",
    "answer_to",
    "compare_complete",
    "compare_graphs",
    "context_specific_independencies",
    "dependency_model",
    "edges_of",
    "graph",
    "hamming",
    "independencies",
    "instantiated_graph",
    "is_independent",
    "markov_blanket",
    "parse_statement",
    "triplet_count",
]
