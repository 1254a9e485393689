"""Queries, graphs, the claims of a model, and the complete dependency model."""

from contextwise.independence import model_claims
from contextwise.independence.complete import compare_complete, dependency_model
from contextwise.independence.graphs import edges_of, graph, markov_blanket
from contextwise.independence.model_claims import context_specific_independencies
from contextwise.independence.queries import UNDECIDED, is_independent

__all__ = [
    "UNDECIDED",
    "compare_complete",
    "context_specific_independencies",
    "dependency_model",
    "edges_of",
    "graph",
    "is_independent",
    "markov_blanket",
]
