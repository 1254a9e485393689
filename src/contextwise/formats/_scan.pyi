# Written by tests/compiled/test_stubs.py.
"""The compiled twin of contextwise.formats.libra_grammar."""


import numpy
from numpy.typing import NDArray


def scan(data: bytes, at: int, keyword: str, cardinalities: NDArray[numpy.int64], most_literals: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.float64], int] | None: ...
