"""Queries, graphs, and the claims of a model."""

from contextwise.independence import model_claims
from contextwise.independence.graphs import graph
from contextwise.independence.queries import query

__all__ = ["graph", "query"]
