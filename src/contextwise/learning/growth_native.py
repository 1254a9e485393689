"""The growth of trees, compiled: what `contextwise.learning.growth` explains, on all cores.

The C++ in ``grow/`` keeps the rows as one set of bits per value; the counts of a candidate are an
AND and a population count, and all candidates of a node cost (values of all variables) × (values of
the target) × rows / 64 such steps, or one step per row and variable where that is less. Memory: the
codes as 32-bit ints, one bit per row and value, and four bytes per row and thread (acyclic growth:
per row and variable).

It is optional. Where it was not built, `missing` says so, and the readable twin grows the same
trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from contextwise.learning.growth import Rules, Tree
from contextwise.models.features import IntArray
from contextwise.support.loading import why_not_compiled
from contextwise.support.progress import Progress

_reason: str | None = None
try:
    import contextwise.learning._grow as _grow
except ImportError as error:
    _reason = why_not_compiled(error)


def missing() -> str | None:
    """Why the compiled growth cannot be used here, or None if it can."""
    return _reason


def _grown(
    rows: IntArray,
    cardinalities: Sequence[int],
    rules: Rules,
    *,
    acyclic: bool,
    threads: int = 1,
    progress: Progress | None = None,
) -> list[Tree]:
    total = len(cardinalities)
    codes = np.ascontiguousarray(rows.T, dtype=np.int32).reshape(total, len(rows))
    found = _grow.grow(
        codes,
        list(cardinalities),
        rules.penalty,
        rules.min_count,
        rules.prior,
        acyclic,
        threads,
        None if progress is None else (lambda done: progress(done, total)),
    )
    return [
        Tree(target, variables, values, counts.reshape(-1, cardinalities[target]))
        for target, (variables, values, counts) in enumerate(found)
    ]


grow_trees = partial(_grown, acyclic=False)
"""The twin of `contextwise.learning.growth.grow_trees`."""

grow_acyclic = partial(_grown, acyclic=True)
"""The twin of `contextwise.learning.growth.grow_acyclic`."""
