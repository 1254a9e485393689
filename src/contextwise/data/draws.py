"""Take some rows of data, or draw them: shares, resamples and splits, whole subjects together."""

from __future__ import annotations

from typing import Any

import numpy as np

from contextwise.data.rows import Data, DataLike, DomainLike, as_data
from contextwise.support.arrays import IntArray

MOST_TAKEN, MOST_EXACT = 2**20, 10**9
"""More observations are drawn by their counts, and beyond the second each by itself."""


def read_once(data: DataLike, domain: DomainLike | None) -> tuple[DataLike, Data]:
    """Return data in their own form, which a user's learner may need, and as `Data`."""
    keeps_its_form = hasattr(data, "iloc") or isinstance(data, Data | np.ndarray | list)
    raw = data if keeps_its_form else as_data(data, domain)
    return raw, as_data(raw, domain)


def take_rows(data: DataLike, rows: IntArray) -> DataLike:
    """Return some rows of a frame, an array, a list or `Data`, in the same form."""
    if isinstance(data, Data):
        return data.take(rows)
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    return data[rows] if hasattr(data, "shape") else [data[row] for row in rows.tolist()]


def draw_data(data: DataLike, rows: Data, share: float | None, seed: Any) -> DataLike:
    """Draw a share of the rows without replacement, or as many with it for None.

    ``rows`` are the same data as `Data`. Very many counted rows are drawn by their counts.
    """
    rng = np.random.default_rng(seed)
    if isinstance(data, Data) and data.multiplicity is not None and len(data) > MOST_TAKEN:
        if share is None:
            counts = rng.multinomial(len(data), data.multiplicity / len(data))
        else:
            counts = _draw_counts(data.multiplicity, round(share * len(data)), rng)
        return data.with_counts(counts)
    return take_rows(data, draw_rows(len(rows), rows.subjects, share, rng))


def split_rows(data: Data, share: float, seed: Any) -> tuple[Data, Data]:
    """Draw a share of the rows, or all rows of a share of the subjects; return it and the rest."""
    rng = np.random.default_rng(seed)
    if data.multiplicity is not None and len(data) > MOST_TAKEN:
        counts = _draw_counts(data.multiplicity, round(share * len(data)), rng)
        return data.with_counts(counts), data.with_counts(data.multiplicity - counts)
    units = units_of(len(data), data.subjects)
    count = int(units.max(initial=-1)) + 1
    chosen = np.zeros(count, dtype=bool)
    chosen[rng.permutation(count)[: round(share * count)]] = True
    mask = chosen[units]
    return data.take(mask), data.take(~mask)


def _draw_counts(counts: IntArray, number: int, rng: np.random.Generator) -> IntArray:
    """Draw a number of observations of counted rows without replacement."""
    if counts.sum() < MOST_EXACT:
        return rng.multivariate_hypergeometric(counts, number, method="marginals")
    return rng.binomial(counts, number / int(counts.sum()))  # each by itself: the same but for 1e-5


def units_of(count: int, subjects: IntArray | None) -> IntArray:
    """Return the unit that each row is drawn with: itself, or its subject."""
    if subjects is None:
        return np.arange(count)
    return np.asarray(np.unique(subjects, return_inverse=True)[1])


def draw_rows(
    count: int, subjects: IntArray | None, share: float | None, rng: np.random.Generator
) -> IntArray:
    """Draw a share of the rows without replacement, or as many with it for None; return numbers.

    If rows belong to subjects, draw whole subjects.
    """
    units = units_of(count, subjects)
    number = int(units.max()) + 1
    if share is None:
        drawn = rng.integers(number, size=number)
    else:
        drawn = rng.choice(number, min(number, max(1, round(share * number))), replace=False)
    return np.repeat(np.arange(count), np.bincount(drawn, minlength=number)[units])
