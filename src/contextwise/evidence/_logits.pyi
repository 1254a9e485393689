# Written by tests/compiled/test_stubs.py.
"""
The compiled twins of contextwise.evidence.logits and residual_products.
"""


import numpy
import numpy.typing
from numpy.typing import NDArray


def evaluate(codes: NDArray[numpy.int32], starts: NDArray[numpy.int64], lows: NDArray[numpy.int64], highs: NDArray[numpy.int64], functions: NDArray[numpy.int64], bases: NDArray[numpy.float64], theta: NDArray[numpy.float64], slopes: NDArray[numpy.float64], states: NDArray[numpy.int64], weights: NDArray[numpy.float64]) -> tuple[numpy.typing.NDArray[numpy.float64], float, numpy.typing.NDArray[numpy.float64]]:
    """Return shares, log-likelihood, and its gradient."""

def curvature(codes: NDArray[numpy.int32], starts: NDArray[numpy.int64], lows: NDArray[numpy.int64], highs: NDArray[numpy.int64], functions: NDArray[numpy.int64], bases: NDArray[numpy.float64], shares: NDArray[numpy.float64], slopes: NDArray[numpy.float64], weights: NDArray[numpy.float64]) -> numpy.typing.NDArray[numpy.float64]:
    """Return the negative Hessian of the log-likelihood."""

def cross_sums(codes: NDArray[numpy.int32], starts: NDArray[numpy.int64], size: int, values: NDArray[numpy.float64]) -> numpy.typing.NDArray[numpy.float64]:
    """Return the sums of values by the codes of each pair of columns."""

def sums_by_code(codes: NDArray[numpy.int32], starts: NDArray[numpy.int64], size: int, values: NDArray[numpy.float64]) -> numpy.typing.NDArray[numpy.float64]:
    """Return the sums of values by code, for all columns."""

def drawn_sums(left: NDArray[numpy.float64], cumulated: NDArray[numpy.float64], permuted: NDArray[numpy.int64], seed: int, first: int, draws: int) -> numpy.typing.NDArray[numpy.float64]:
    """Return the sums of rows by drawn state, for some draws."""
