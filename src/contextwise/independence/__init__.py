"""What a structure says: queries, graphs, the complete dependency model, readable listings.

Start with `queries` (the definition of independence, and how a question is decided).
"""

from contextwise.independence.answers import UNDECIDED, Answer, Undecided
from contextwise.independence.graphs import (
    compare_graphs,
    graph,
    hamming,
    instantiated_graph,
    markov_blanket,
)
from contextwise.independence.queries import answer_to, is_independent
from contextwise.independence.statements import Statement, parse_statement

__all__ = [
    "UNDECIDED",
    "Answer",
    "Statement",
    "Undecided",
    "answer_to",
    "compare_graphs",
    "graph",
    "hamming",
    "instantiated_graph",
    "is_independent",
    "markov_blanket",
    "parse_statement",
]
