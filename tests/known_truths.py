"""Three small truths whose structure is known, and rows from them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import contextwise as cw
from contextwise.distributions import probabilities

SWITCH = cw.LogLinear(
    cw.Structure(
        {"A": 2, "B": 2, "C": 2},
        ["A=0 & B=0 & C=0", "A=0 & B=1 & C=1", "A=1 & B=1", "A=1 & C=1"],
    ),
    [1.5, 1.0, 2.5, 2.5],
)
"""B and C interact where A=0 only."""

WIDE = cw.LogLinear(
    cw.Structure(
        {"A": 3, "B": 2, "C": 3},
        [
            "A=2 & B=0 & C=0",
            "A=2 & B=1 & C=2",
            "A=0 & B=1",
            "A=1 & B=0",
            "A=0 & C=0",
            "A=1 & C=2",
        ],
    ),
    [2.0, 2.0, 1.5, 1.5, 1.2, 1.4],
)
"""B and C interact where A=2 only; more than two values."""

CHAIN = cw.LogLinear(
    cw.Structure({"A": 2, "B": 3, "C": 2}, ["A=0 & B=0", "A=1 & B=2", "B=0 & C=1", "B=1 & C=0"]),
    [1.5, 1.0, 1.2, 1.5],
)


def exact_rows(model: cw.LogLinear, count: int) -> npt.NDArray[np.int64]:
    """Return rows in the proportions of the model, without sampling noise."""
    table = probabilities(model)
    times = np.round(table.ravel() / table.sum() * count).astype(int)
    cells = np.stack(np.unravel_index(np.arange(table.size), table.shape), axis=1)
    return np.repeat(cells, times, axis=0)


def drawn_rows(model: cw.LogLinear, count: int, seed: int) -> npt.NDArray[np.int64]:
    table = probabilities(model)
    chosen = np.random.default_rng(seed).choice(table.size, count, p=table.ravel() / table.sum())
    return np.stack(np.unravel_index(chosen, table.shape), axis=1)
