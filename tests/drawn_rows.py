"""Rows drawn from a model, as an array."""

from __future__ import annotations

from functools import partial

import numpy as np

from contextwise.distributions import sample as sample_rows
from contextwise.models.domain import Domain
from contextwise.support.arrays import IntArray

sample = partial(sample_rows, array=True)


def some_positions(domain: Domain, count: int, seed: int) -> IntArray:
    """Return rows of positions of states, drawn evenly."""
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(c, size=count) for c in domain.cardinalities], axis=1)
