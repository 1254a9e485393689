# Written by tests/compiled/test_stubs.py.
"""Reads plain tables for contextwise.data.text."""

import numpy
import numpy.typing


def coded_columns(text: str, separator: str) -> tuple[numpy.typing.NDArray[numpy.int64], list[list[str]]] | None: ...
