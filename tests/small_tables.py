"""Rows of three variables, drawn, as data."""

from __future__ import annotations

from typing import Any

import numpy as np

from contextwise import Domain
from contextwise.data.rows import Data
from contextwise.support.arrays import IntArray

NAMES = ("A", "B", "C", "D", "E")


def rows_of(seed: int, count: int = 400, cards: tuple[int, ...] = (2, 3, 2, 4, 2)) -> IntArray:
    """Draw rows in which each variable depends on the one before."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(cards[0], size=count)]
    for card in cards[1:]:
        fresh = rng.integers(card, size=count)
        columns.append(np.where(rng.random(count) < 0.4, columns[-1] % card, fresh))
    return np.stack(columns, axis=1)


def data_of(rows: IntArray, names: tuple[str, ...] = NAMES, **how: Any) -> Data:
    cards = rows.max(axis=0) + 1
    letters = {n: [f"{n}{k}" for k in range(c)] for n, c in zip(names, cards, strict=False)}
    return Data(Domain(letters), rows, **how)
