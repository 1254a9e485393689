"""Queries, graphs, and the claims of a model."""

from contextwise.independence import model_claims
from contextwise.independence.graphs import edges_of, graph
from contextwise.independence.queries import query

__all__ = ["edges_of", "graph", "query"]
