# Written by tests/compiled/test_stubs.py.
"""
The compiled twin of the counting in contextwise.evidence.counted_rows.
"""


import numpy
import numpy.typing
from numpy.typing import NDArray


def maximal_cliques(graph: NDArray[numpy.bool_]) -> list[list[int]]:
    """Return the maximal cliques of two or more nodes."""

def sum_of_tables(margins: NDArray[numpy.float64], top: float, grid: int, tilt: float) -> numpy.typing.NDArray[numpy.float64]:
    """
    Return the distribution of a sum of X² on a grid, and the probability beyond it.
    """
