# Written by tests/compiled/test_stubs.py.
"""
The compiled twin of the counting in contextwise.evidence.counted_rows.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy
import numpy.typing
from numpy.typing import NDArray


def maximal_cliques(graph: NDArray[numpy.bool_]) -> list[list[int]]:
    """Return the maximal cliques of two or more nodes."""

def sum_of_tables(margins: NDArray[numpy.float64], top: float, grid: int, tilt: float) -> numpy.typing.NDArray[numpy.float64]:
    """
    Return the distribution of a sum of X² on a grid, and the probability beyond it.
    """

class ContextGraphs:
    def delete_edges(self, size: int, threads: int, watcher: Callable[[int], bool]) -> bool: ...

    def graphs(self) -> numpy.typing.NDArray[numpy.bool_]: ...

class Rows:
    def __init__(self, codes: NDArray[numpy.uint32], counts: NDArray[numpy.uint32], cardinalities: Sequence[int]) -> None: ...

    def score(self, target: int, blanket: Sequence[int], weight: float, scale: float) -> float: ...

    def scores(self, target: int, blanket: Sequence[int], others: Sequence[int], prior: float, cells: float, scale: float) -> list[float]: ...

    def tests(self, target: int, given: Sequence[int], others: Sequence[int]) -> numpy.typing.NDArray[numpy.float64]: ...

    def tables_within(self, chosen: NDArray[numpy.int64], given: Sequence[int], first: int, second: int) -> numpy.typing.NDArray[numpy.float64]: ...

    def tests_on(self, chosen: NDArray[numpy.int64], target: int, others: Sequence[int]) -> numpy.typing.NDArray[numpy.float64]: ...

    def tests_without_each(self, target: int, blanket: Sequence[int]) -> numpy.typing.NDArray[numpy.float64]: ...

    def tests_in_context(self, target: int, variables: Sequence[int], values: Sequence[int]) -> numpy.typing.NDArray[numpy.float64]: ...

    def context_graphs(self, varying: Sequence[int], level: float, min_count: float) -> ContextGraphs: ...

    def classes(self, target: int, blanket: Sequence[int], prior: float, scale: float) -> Classes: ...

class Classes:
    def total(self) -> int: ...

    def gain(self, other: int, context: Mapping[int, int]) -> int: ...

    def merge(self, other: int, context: Mapping[int, int]) -> None: ...

    def is_merged(self, other: int, context: Mapping[int, int]) -> bool: ...
