"""Queries, graphs, and the claims of a model. A name is imported when it is first used."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextwise.independence import claims, graphs, model_claims, queries, separation
    from contextwise.independence.graphs import graph
    from contextwise.independence.queries import query

__all__ = ["graph", "query"]

if not TYPE_CHECKING:
    from contextwise.support.loading import lazy_names

    __getattr__, __dir__ = lazy_names(__name__, {"graph": "graphs", "query": "queries"})
