# Written by tests/compiled/test_stubs.py.
"""The compiled twin of contextwise.comparison.tolerance_search."""

from collections.abc import Callable, Sequence

import numpy
import numpy.typing
from numpy.typing import NDArray


class Verdicts:
    @property
    def rows(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def sizes(self) -> numpy.typing.NDArray[numpy.uint64]: ...

    @property
    def wholes(self) -> numpy.typing.NDArray[numpy.uint64]: ...

    @property
    def nodes(self) -> int: ...

    @property
    def interrupted(self) -> bool: ...

def count_verdicts(cardinalities: Sequence[int], first: tuple[tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.uint64], NDArray[numpy.int32] | None], NDArray[numpy.int64] | None, NDArray[numpy.int64], NDArray[numpy.int64]], second: tuple[tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.uint64], NDArray[numpy.int32] | None], NDArray[numpy.int64] | None, NDArray[numpy.int64], NDArray[numpy.int64]], pairs: NDArray[numpy.int64], thresholds: Sequence[int], threads: int, node_budget: int | None, seconds: float | None, progress: Callable[[int], None] | None) -> Verdicts:
    """
    Return the sizes of the joint verdicts of two models on each pair at rising thresholds.
    """
