"""Queries, graphs, and the claims of a model."""

from typing import TYPE_CHECKING

from contextwise.independence import model_claims
from contextwise.independence.graphs import edges_of, graph
from contextwise.independence.queries import query
from contextwise.support.loading import lazy_names

__all__ = ["edges_of", "graph", "query"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {},
        removed={
            "is_independent": "bool(query(model, 'A _||_ B | C'))",
            "markov_blanket": "graph(model, context)[variable], its neighbours",
        },
    )
