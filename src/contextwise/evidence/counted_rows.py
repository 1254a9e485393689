"""The distinct rows of data with their counts, as the learners count them.

The C++ in ``count/`` keeps a partition of the distinct rows and refines it one variable at a time,
so it never makes a table of all configurations. Tests compare it with readable versions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from contextwise.convert.undirected import maximal_cliques as cliques_of
from contextwise.data.rows import Data
from contextwise.distributions.potentials import distinct, distinct_rows
from contextwise.errors import ContextwiseError
from contextwise.models.features import rows_in
from contextwise.support.arrays import BoolArray, IntArray
from contextwise.support.loading import why_not_compiled

ROWS_AT_ONCE = 10_000
not_compiled: str | None = None
"""Why the compiled counting is not available, if it is not."""
try:
    import contextwise.evidence._count as _count
except ImportError as error:
    not_compiled = why_not_compiled(error)


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Distinct rows, how often each occurs, and the number of states of each variable."""

    rows: IntArray
    counts: IntArray
    cardinalities: tuple[int, ...]

    @classmethod
    def of(cls, data: Data) -> CountedRows:
        """Count the distinct rows of data.

        >>> from contextwise.data.rows import as_data
        >>> sorted(CountedRows.of(as_data([[0, 1], [1, 1], [0, 1]])).counts.tolist())
        [1, 2]
        """
        return cls(*distinct_rows(data.rows, data.multiplicity), data.domain.cardinalities)

    @cached_property
    def compiled(self) -> _count.Rows | None:
        """The same rows for the compiled functions; None if they are not available."""
        if not_compiled:
            return None
        codes = np.ascontiguousarray(self.rows.T, dtype=np.uint32)
        return _count.Rows(codes, self.counts.astype(np.uint32), list(self.cardinalities))

    def need_compiled(self, learner: str) -> _count.Rows:
        """Return `compiled`, or raise: this learner has no other way to count."""
        if self.compiled is None:
            raise ContextwiseError(f"{learner} has no version in Python ({not_compiled})")
        return self.compiled

    def __reduce__(self) -> tuple[Any, ...]:
        return CountedRows, (self.rows, self.counts, self.cardinalities)

    @cached_property
    def varying(self) -> list[int]:
        """The variables that have more than one value in the rows."""
        if not len(self.rows):
            return []
        return np.flatnonzero((self.rows != self.rows[0]).any(axis=0)).tolist()

    def take(self, chosen: BoolArray | IntArray) -> CountedRows:
        """Return the table of some of the distinct rows."""
        return replace(self, rows=self.rows[chosen], counts=self.counts[chosen])

    @cached_property
    def _masks(self) -> dict[tuple[int, int], BoolArray]:
        return {}

    def inside(self, literals: Iterable[tuple[int, int]]) -> BoolArray:
        """Mask the distinct rows in which all literals hold; many regions share literals."""
        mask = np.ones(len(self.rows), dtype=bool)
        for literal in literals:
            if literal not in self._masks:
                self._masks[literal] = rows_in(self.rows, [literal])
            mask &= self._masks[literal]
        return mask

    def groups(self, variables: Sequence[int]) -> tuple[IntArray, int]:
        """Group the rows by some variables; return the group of each row and the number."""
        groups, first = distinct(self.rows[:, list(variables)])
        return groups, len(first)


def maximal_cliques(graph: BoolArray) -> list[list[int]]:
    """Return the maximal cliques of two or more variables of an adjacency matrix.

    >>> maximal_cliques(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=bool))
    [[0, 1]]
    """
    if not not_compiled:
        return _count.maximal_cliques(graph)
    edges = [(a, b) for a, b in np.argwhere(np.triu(graph)).tolist()]
    return [list(clique) for clique in cliques_of(range(len(graph)), edges) if len(clique) > 1]


def joint_counts(
    rows: IntArray, counts: npt.NDArray[Any], cardinalities: IntArray
) -> tuple[npt.NDArray[Any], IntArray]:
    """Count the rows with each two states; also return the place of each variable's first state.

    >>> joint_counts(np.array([[0, 1], [1, 1]]), np.array([3.0, 2.0]), np.array([2, 2]))[0][0]
    array([3., 0., 0., 3.])
    """
    starts, total = np.cumsum(cardinalities) - cardinalities, int(cardinalities.sum())
    joint = np.zeros((total, total), dtype=counts.dtype)
    for part in range(0, len(rows), ROWS_AT_ONCE):
        some = rows[part : part + ROWS_AT_ONCE]
        hot = np.zeros((len(some), total), dtype=counts.dtype)
        hot[np.arange(len(some))[:, None], starts + some] = 1.0
        joint += hot.T @ (hot * counts[part : part + ROWS_AT_ONCE, None])
    return joint, starts
