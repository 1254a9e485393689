"""Covers to exact ints. This room knows arrays, never a model.

Start with `contract` (what an engine does, and the table of engines) and `cover` (what it counts).
"""

from contextwise.counting.contract import (
    DEFAULT,
    ENGINES,
    Engine,
    ObjectArray,
    PairCounts,
    deterministic_engine,
    get_engine,
)
from contextwise.counting.cover import Cover

__all__ = [
    "DEFAULT",
    "ENGINES",
    "Cover",
    "Engine",
    "ObjectArray",
    "PairCounts",
    "deterministic_engine",
    "get_engine",
]
