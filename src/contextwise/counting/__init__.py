"""Covers to exact ints. This room knows arrays, never a model.

Start with `contract` (what an engine does, and the table of engines), `cover` (what it counts) and
`pair_counts` (what is known of all pairs). The engines: `auto` (the default), `native`, `branch`,
`partition`, `ganak`, `enumerate`. `theorem` has the sets of the paper's theorem, for its readers.

Twins. What must be fast is written twice, readable in Python and compiled in C++, and both give the
same answers. The compiled extension has an underscore (``_kernel``, made from ``kernel/``), and one
module alone imports it: `native`. A function with a plain name uses the compiled code where it was
built; its readable twin ends in ``_in_python`` (`assertions.ask_in_python`). The engines `native`
and `branch` are twins as a whole. Twin classes have one name in both languages (``Cover``,
``CoverSource``).
"""

from contextwise.counting.contract import (
    DEFAULT,
    ENGINES,
    Engine,
    deterministic_engine,
    get_engine,
)
from contextwise.counting.cover import Cover
from contextwise.counting.pair_counts import ObjectArray, PairCounts

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
