"""The distinct rows of data with their counts, as the learners count them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from contextwise.data.rows import Data
from contextwise.models.features import IntArray, PairIndex

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Table:
    """Distinct rows, how often each occurs, and the number of states of each variable."""

    rows: IntArray
    counts: FloatArray
    cardinalities: tuple[int, ...]

    @classmethod
    def of(cls, data: Data) -> Table:
        """Count the distinct rows of data.

        >>> from contextwise.data.rows import as_data
        >>> Table.of(as_data([[0, 1], [1, 1], [0, 1]])).counts
        array([2., 1.])
        """
        rows, counts = np.unique(data.rows, axis=0, return_counts=True)
        return cls(rows, counts.astype(np.float64), data.domain.cardinalities)

    @property
    def varying(self) -> list[int]:
        """The variables that have more than one value in the rows."""
        if not len(self.rows):
            return []
        return np.flatnonzero((self.rows != self.rows[0]).any(axis=0)).tolist()

    def take(self, chosen: BoolArray | IntArray) -> Table:
        """Return the table of some of the distinct rows."""
        return replace(self, rows=self.rows[chosen], counts=self.counts[chosen])

    def groups(self, variables: Sequence[int]) -> tuple[IntArray, int]:
        """Group the rows by some variables; return the group of each row and the number."""
        groups = np.zeros(len(self.rows), dtype=np.int64)
        count = min(1, len(self.rows))
        for variable in variables:
            codes = groups * self.cardinalities[variable] + self.rows[:, variable]
            seen, groups = np.unique(codes, return_inverse=True)
            count = len(seen)
        return groups, count


def pairs_of(variables: Iterable[int]) -> list[PairIndex]:
    """Return all pairs of some variables in ascending order.

    >>> pairs_of([0, 2, 3])
    [(0, 2), (0, 3), (2, 3)]
    """
    ordered = sorted(variables)
    return [(a, b) for place, a in enumerate(ordered) for b in ordered[place + 1 :]]
