# Written by tests/compiled/test_stubs.py.
"""The compiled twin of the counting in contextwise.learning.table."""

from collections.abc import Sequence

import numpy
from numpy.typing import NDArray


def maximal_cliques(graph: NDArray[numpy.bool_]) -> list[list[int]]:
    """Return the maximal cliques of two or more nodes."""

class Rows:
    def __init__(self, codes: NDArray[numpy.uint32], counts: NDArray[numpy.uint32], cardinalities: Sequence[int]) -> None: ...

    def score(self, target: int, blanket: Sequence[int], weight: float, scale: float) -> float: ...

    def scores(self, target: int, blanket: Sequence[int], others: Sequence[int], prior: float, cells: float, scale: float) -> list[float]: ...

    def tests(self, target: int, given: Sequence[int], others: Sequence[int]) -> NDArray[numpy.float64]: ...

    def tests_on(self, chosen: NDArray[numpy.int64], target: int, others: Sequence[int]) -> NDArray[numpy.float64]: ...

    def tests_without_each(self, target: int, blanket: Sequence[int]) -> NDArray[numpy.float64]: ...

    def tests_in_context(self, target: int, variables: Sequence[int], values: Sequence[int]) -> NDArray[numpy.float64]: ...
