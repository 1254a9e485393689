# Written by tests/compiled/test_stubs.py.
"""The compiled twin of contextwise.distributions.descent."""


import numpy
import numpy.typing
from numpy.typing import NDArray


def descend(indptr: NDArray[numpy.int64], indices: NDArray[numpy.int32], data: NDArray[numpy.float64], starts: NDArray[numpy.int64], curvatures: NDArray[numpy.float64], prices: NDArray[numpy.float64], point: NDArray[numpy.float64], pull: NDArray[numpy.float64], passes: int, tolerance: float) -> numpy.typing.NDArray[numpy.float64]: ...

def gram(indptr: NDArray[numpy.int64], indices: NDArray[numpy.int32], data: NDArray[numpy.float64], turned_indptr: NDArray[numpy.int64], turned_indices: NDArray[numpy.int32], turned_data: NDArray[numpy.float64], scale: NDArray[numpy.float64], chosen: NDArray[numpy.int64]) -> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.float64]]: ...
