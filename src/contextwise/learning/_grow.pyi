# Written by tests/compiled/test_stubs.py.
"""The compiled twin of contextwise.learning.trees."""

from collections.abc import Callable, Sequence

import numpy
import numpy.typing
from numpy.typing import NDArray


def grow(codes: NDArray[numpy.int32], cardinalities: Sequence[int], penalty: float, min_count: int, prior: float, threads: int, watcher: Callable[[int], bool]) -> list[tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64]]]: ...
