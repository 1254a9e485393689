"""A number and how it was found: exactly, or from samples with a standard error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contextwise.distributions.firing import FloatArray


@dataclass(frozen=True)
class Estimate:
    """A value; its standard error is 0 where it is exact.

    >>> Estimate(0.5)
    Estimate(0.5, exact)
    >>> float(Estimate(0.25, 0.01, "from 400 samples"))
    0.25
    """

    value: float
    standard_error: float = 0.0
    how: str = "exact"

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        error = f" ± {self.standard_error:.2g}" if self.standard_error else ""
        return f"Estimate({self.value:.6g}{error}, {self.how})"

    @property
    def exact(self) -> bool:
        """Whether there is no sampling in it."""
        return self.how.startswith("exact")


def mean_of(values: FloatArray, how: str) -> Estimate:
    """The mean of independent values, with its standard error."""
    if np.isinf(values).any():
        return Estimate(float("inf"), 0.0, how)
    spread = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
    return Estimate(float(values.mean()), spread / np.sqrt(len(values)), how)
