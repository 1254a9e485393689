"""The compiled kernel: the method of `branch`, on all pairs and all cores at once.

`count_pairs` passes the arrays of two `Features` to ``kernel/``, which extracts the covers of the
pairs, simplifies them and counts three unions per pair without the GIL. `bound_union` runs the same
recursion on one cover. Other modules of this room call their compiled twins as ``native.kernel``.

The kernel is optional: if it was not built, `missing` returns the reason and `branch` gives the
same answers.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from contextwise.counting import known_sizes
from contextwise.counting.contexts import UNIFORM, ContextSpace
from contextwise.counting.contract import OverBudget
from contextwise.counting.cover import Cover
from contextwise.counting.pair_counts import PairCounts, tighten
from contextwise.models.features import WORD, Features
from contextwise.support.arrays import IntArray, WordArray
from contextwise.support.cores import cores
from contextwise.support.deadline import NEVER, Deadline, OutOfTime
from contextwise.support.loading import why_not_compiled
from contextwise.support.progress import Progress

_reason: str | None = None
try:
    import contextwise.counting._kernel as _kernel

    kernel = _kernel
except ImportError as error:
    _reason = why_not_compiled(error)

MEMORY = 512 * 2**20
"""Bytes for remembered subproblems, over all threads."""
NO_ROWS = np.zeros((0, 1), dtype=np.uint64)
arrays = attrgetter("starts", "variables", "values", "pairs")
"""Return `Features` as the kernel takes them."""


def missing() -> str | None:
    """Return why the kernel is not available, or None if it is."""
    return _reason


class UnionBounds(NamedTuple):
    """Proven bounds of the size of a union, and the nodes that the recursion visited."""

    lower: int
    upper: int
    nodes: int


def count_union(cover: Cover, *, deadline: Deadline = NEVER, node_budget: int | None = None) -> int:
    """Count the union of the cubes; raise `OutOfTime` or `OverBudget` if it takes too long."""
    bounds = bound_union(cover, deadline=deadline, node_budget=node_budget)
    if bounds.lower == bounds.upper:
        return bounds.lower
    raise OutOfTime if node_budget is None or bounds.nodes < node_budget else OverBudget


def bound_union(
    cover: Cover,
    *,
    node_budget: int | None = None,
    deadline: Deadline = NEVER,
    memory: int | None = None,
) -> UnionBounds:
    """Bound the size of the union; the bounds are equal unless the budget or the time ran out."""
    words = max(1, -(-len(cover.bit_weights) // WORD))
    everything = (1 << len(cover.bit_weights)) - 1
    start = np.cumsum([0, *map(len, cover.weights)]).tolist()
    low, high, nodes = kernel.count_uncovered(
        start,
        rows_of(cover.bit_weights),
        rows_of([everything ^ cube for cube in cover.cubes], words),
        node_budget,
        deadline.left(),
        MEMORY if memory is None else memory,
    )
    return UnionBounds(cover.total - cover.scale * high, cover.total - cover.scale * low, nodes)


def count_pairs(
    a: Features,
    b: Features,
    pairs: IntArray,
    *,
    space: ContextSpace = UNIFORM,
    progress: Progress | None = None,
    threads: int | None = None,
    node_budget: int | None = None,
    deadline: Deadline = NEVER,
    with_ganak: bool = False,
) -> PairCounts:
    """Count three unions for each pair: of ``a``, of ``b``, and of both.

    ``node_budget`` limits the nodes of the recursion for each union. Sizes in `known_sizes` are not
    counted again; ``with_ganak`` allows those that Ganak counted.
    """
    began = time.perf_counter()
    total = len(pairs)
    pairs = pairs.reshape(-1, 2)
    codes = pairs[:, 0] * len(a.cardinalities) + pairs[:, 1]
    places = None
    if not (codes[1:] > codes[:-1]).all():  # the kernel needs rising, distinct pairs
        _, first, places = np.unique(codes, return_index=True, return_inverse=True)
        pairs = pairs[first]
    report = None if progress is None else (lambda done: progress(done, total))
    known = [known_sizes.lookup(m, pairs, space, with_ganak=with_ganak) for m in (a, b)]
    result = kernel.count_pairs(
        a.cardinalities.tolist(),
        weight_rows(space),
        arrays(a),
        arrays(b),
        pairs,
        space.canonical,
        threads or cores(),
        node_budget,
        deadline.left(),
        MEMORY,
        report,
        [(at, rows_of(sizes.tolist()) if len(at) else NO_ROWS) for at, sizes, _ in known],
    )
    lower, is_open, open_upper, interrupted, nodes, extracting = result
    if progress and not interrupted:
        progress(total, total)
    upper = lower
    if len(is_open):
        upper = lower.copy()
        lower[is_open], upper[is_open] = tighten(lower[is_open], open_upper)
    if nodes >= known_sizes.WORTH:
        for column, model in enumerate((a, b)):
            closed = np.flatnonzero(lower[:, column] == upper[:, column])
            known_sizes.keep(model, pairs[closed], lower[closed, column], space)
    if places is not None:
        lower, upper = lower[places], upper[places]
    unfinished = 0 if upper is lower else int((lower != upper).sum())
    seconds = {"extracting": extracting, "native": time.perf_counter() - began - extracting}
    by_ganak = sum(int(sizes.by_ganak.sum()) for sizes in known if len(sizes.places))
    counted = {"native": lower.size - unfinished - by_ganak}
    if by_ganak:
        counted["ganak"] = by_ganak
    return PairCounts(lower, upper, counted, seconds, interrupted, nodes)


def weight_rows(space: ContextSpace) -> WordArray:
    """Return the weights of all values as the kernel takes them."""
    if space.weights is None:
        return NO_ROWS
    return rows_of([w for weights in space.weights for w in weights])


def rows_of(numbers: Sequence[int], words: int | None = None) -> WordArray:
    """Return ints as rows of 64-bit words, the lowest first."""
    if words is None:
        words = max((-(-n.bit_length() // WORD) for n in numbers), default=1) or 1
    data = b"".join(n.to_bytes(8 * words, "little") for n in numbers)
    return np.frombuffer(data, dtype="<u8").astype(np.uint64).reshape(len(numbers), words)
