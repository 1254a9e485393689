"""Covers to exact ints. This room knows arrays, never a model.

Start with `contract` (what an engine does, and the table of engines), `cover` (what it counts) and
`pair_counts` (what is known of all pairs). The engines: `auto` (the default), `native`, `branch`,
`partition`, `ganak`, `enumerate`.

Twins. What must be fast is written twice, readable in Python and compiled in C++, and both give the
same answers. An extension has an underscore (``_kernel``, made from ``kernel/``) and is imported by
one module only; here that is `native`, of which nothing else is compiled. The plain name is the
compiled one's, and what chooses between the two; the readable twin of a function ends in
``_in_python`` (`assertions.ask_in_python`). An engine is a twin as a whole: `native` is `branch`
compiled, function by function. A class of the kernel that has a twin has its name (``Cover``,
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
