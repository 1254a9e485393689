"""Queries, graphs, and the claims of a model."""

from contextwise.independence import model_claims
from contextwise.independence.graphs import edges_of, graph, markov_blanket
from contextwise.independence.queries import is_independent, query

__all__ = ["edges_of", "graph", "is_independent", "markov_blanket", "query"]
