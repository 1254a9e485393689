# Written by tests/compiled/test_stubs.py.
"""The compiled twin of the parser in contextwise.formats.libra."""


import numpy
import numpy.typing
from numpy.typing import NDArray


def scan(data: bytes, at: int, keyword: str, cardinalities: NDArray[numpy.int64], most_literals: int) -> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64], int] | None: ...
