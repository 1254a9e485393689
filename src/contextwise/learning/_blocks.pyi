# Written by tests/compiled/test_stubs.py.
"""The compiled twin of contextwise.learning.logit."""

from collections.abc import Sequence

import numpy
from numpy.typing import NDArray


class Table:
    """Distinct rows and their counts."""

    def __init__(self, codes: NDArray[numpy.uint32], counts: NDArray[numpy.float64], cardinalities: Sequence[int]) -> None: ...

    def fit(self, v: int, blocks: Sequence[tuple[Sequence[int], Sequence[tuple[int, int]]]], start: Sequence[float]) -> tuple[float, list[float]]: ...

    def rao(self, v: int, blocks: Sequence[tuple[Sequence[int], Sequence[tuple[int, int]]]], weights: Sequence[float], options: Sequence[Sequence[tuple[Sequence[int], Sequence[tuple[int, int]]]]]) -> list[float]: ...

    def only(self, v: int, blocks: Sequence[tuple[Sequence[int], Sequence[tuple[int, int]]]], weights: Sequence[float], block: int, literals: Sequence[tuple[int, int]]) -> list[float]: ...
