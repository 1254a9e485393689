"""How far apart the independence structures of two log-linear models are, exactly.

The names people type first; everything else lives in its module.
"""

from contextwise.comparison import Comparison, compare, distance
from contextwise.domain import Domain
from contextwise.formats import read
from contextwise.structure import LogLinear, Structure

__version__ = "0.1.0"

__all__ = [
    "Comparison",
    "Domain",
    "LogLinear",
    "Structure",
    "compare",
    "distance",
    "read",
]
