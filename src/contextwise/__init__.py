"""How far apart the independence structures of two log-linear models are, exactly.

The names people type first; everything else lives in its module. A name is imported when it is
first used, so that ``import contextwise`` and the command line start at once. To add one, write it
in the block for type checkers and in `_HOMES`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextwise import convert, examples, loglinear
    from contextwise.comparison import Comparison, compare, distance
    from contextwise.domain import Domain
    from contextwise.explanation import explain
    from contextwise.formats import read, write
    from contextwise.independence import is_independent
    from contextwise.many import compare_many, distance_matrix
    from contextwise.scores import score
    from contextwise.structure import LogLinear, Structure

__version__ = "0.1.0"

__all__ = [
    "Comparison",
    "Domain",
    "LogLinear",
    "Structure",
    "compare",
    "compare_many",
    "convert",
    "distance",
    "distance_matrix",
    "examples",
    "explain",
    "is_independent",
    "loglinear",
    "read",
    "score",
    "write",
]

_HOMES = {
    "Comparison": "comparison",
    "Domain": "domain",
    "LogLinear": "structure",
    "Structure": "structure",
    "compare": "comparison",
    "compare_many": "many",
    "convert": "convert",
    "distance": "comparison",
    "distance_matrix": "many",
    "examples": "examples",
    "explain": "explanation",
    "is_independent": "independence",
    "loglinear": "loglinear",
    "read": "formats",
    "score": "scores",
    "write": "formats",
}
"""The module of each name; a module that is exported as a whole is its own home."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = import_module(f"{__name__}.{_HOMES[name]}")
        value = module if name == _HOMES[name] else getattr(module, name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
