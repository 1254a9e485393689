"""Analyses that several tests look at."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from contextwise.analysis.conclusions import Analysis, analyse
from contextwise.data.rows import Data
from contextwise.models.domain import Domain


def chain(variables: int, rows: int = 700, names: list[str] | None = None) -> Data:
    """Return rows of a chain: each variable depends on the one before."""
    rng = np.random.default_rng(variables)
    columns = [rng.integers(0, 2, rows)]
    for _ in range(variables - 1):
        columns.append(np.where(rng.random(rows) < 0.8, columns[-1], 1 - columns[-1]))
    labels = names or [f"v{k}" for k in range(variables)]
    return Data(Domain(dict.fromkeys(labels, 2)), np.stack(columns, axis=1))


def analysed(data: Any, **options: Any) -> Analysis:
    return analyse(data, **{"resamples": 0, "learner": "mpl", **options})


@cache
def titanic(outcome: str | None = "survived") -> Analysis:
    return analysed("titanic", outcome=outcome)
