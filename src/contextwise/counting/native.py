"""The compiled kernel: the method of `branch`, on all pairs and all cores at once.

`count_pairs` passes the arrays of two `Features` to ``kernel/``, which extracts the covers of the
pairs, simplifies them and counts three unions per pair without the GIL. `bound_union` runs the same
recursion on one cover. Other modules of this room call their compiled twins as ``native.kernel``.

`count_distances` does the same for many models, and counts each distinct cover of a pair once.

The kernel is optional: if it was not built, `missing` returns the reason and `branch` gives the
same answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from contextwise.counting import known_sizes
from contextwise.counting.contexts import UNIFORM, ContextSpace, bits_of, unit_of
from contextwise.counting.cover import Cover
from contextwise.counting.extraction import FEWER_PAIRS
from contextwise.counting.pair_counts import PairCounts, tighten
from contextwise.models.features import WORD, Features
from contextwise.support import machine
from contextwise.support.arrays import IntArray, WordArray
from contextwise.support.effort import NEVER, QUIET, Deadline, Effort, OutOfTime
from contextwise.support.loading import why_not_compiled
from contextwise.support.machine import cores

_reason: str | None = None
try:
    import contextwise.counting._kernel as _kernel

    kernel = _kernel
except ImportError as error:
    _reason = why_not_compiled(error)

MEMORY = 512 * 2**20
"""Bytes for remembered subproblems, over all threads."""
BYTES_OF_PAIR = 300
"""Memory for a pair of variables whose counts have one word."""
NO_ROWS = np.zeros((0, 1), dtype=np.uint64)
NOTHING_KNOWN = [(known_sizes.NOTHING.places, NO_ROWS)] * 2
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


def count_union(cover: Cover, *, deadline: Deadline = NEVER) -> int:
    """Count the union of the cubes; raise `OutOfTime` at the deadline."""
    bounds = bound_union(cover, deadline=deadline)
    if bounds.lower == bounds.upper:
        return bounds.lower
    raise OutOfTime


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
    # The most uncovered contexts leave the smallest union.
    return UnionBounds(cover.total - cover.scale * high, cover.total - cover.scale * low, nodes)


def count_pairs(
    a: Features,
    b: Features,
    pairs: IntArray,
    effort: Effort = QUIET,
    *,
    space: ContextSpace = UNIFORM,
    node_budget: int | None = None,
) -> PairCounts:
    """Count three unions for each pair: of ``a``, of ``b``, and of both.

    ``node_budget`` limits the nodes of the recursion for each union. Sizes in `known_sizes` are not
    counted again.
    """
    total = len(pairs)
    require_memory_for(total)
    pairs = pairs.reshape(-1, 2)
    codes = pairs[:, 0] * len(a.cardinalities) + pairs[:, 1]
    places = None
    if not (codes[1:] > codes[:-1]).all():  # the kernel needs rising, distinct pairs
        _, first, places = np.unique(codes, return_index=True, return_inverse=True)
        pairs = pairs[first]
    cardinalities = a.cardinalities.tolist()
    kinds = space.kinds(cardinalities)
    known = [known_sizes.lookup(m, pairs, space) for m in (a, b)]

    def known_rows(limit: int) -> list[tuple[IntArray, WordArray]]:
        require_memory_for(total, bits_of(kinds, limit))
        if known[0] is known[1] is known_sizes.NOTHING:
            return NOTHING_KNOWN
        unit = unit_of(kinds, limit)
        return [(k.places, rows_of(k.in_unit(unit).tolist())) for k in known]

    result = kernel.count_pairs(
        cardinalities,
        weight_rows(space),
        arrays(a),
        arrays(b),
        pairs,
        space.canonical,
        effort.threads or cores(),
        node_budget,
        effort.deadline.left(),
        MEMORY,
        effort.progress and (lambda done: effort.report(done, total)),
        known_rows,
    )
    if not result.interrupted:
        effort.report(total, total)
    unit = unit_of(kinds, result.limit)
    # One array for both says that nothing is open, without a comparison of all counts.
    low = high = result.lower
    if len(result.open):
        high = low.copy()
        low[result.open], high[result.open] = tighten(low[result.open], result.upper)
    nodes = result.work["nodes"]
    if known_sizes.is_worth(nodes, len(pairs)):
        for column, model in enumerate((a, b)):
            closed = np.flatnonzero(low[:, column] == high[:, column])
            known_sizes.keep(model, pairs[closed], low[closed, column], unit, space)
    if places is not None:
        low, high = low[places], high[places]
    return PairCounts(low, high, result.interrupted, nodes, unit)


def count_distances(
    models: Sequence[Features],
    pairs: IntArray,
    effort: Effort = QUIET,
    *,
    rows: int = 0,
    space: ContextSpace = UNIFORM,
) -> list[int] | list[Fraction]:
    """Count the distances between the first ``rows`` models and the others, or of all if it is 0.

    Models with equal covers of a pair of variables are one class there. Two classes differ in
    2 · |A ∪ B| - |A| - |B| contexts, which are added to the distances of all their models. So
    similar models cost only their differences. With value weights, distances are shares, summed
    over the pairs of variables. Raises `OutOfTime` at the deadline.
    """
    cardinalities, total = models[0].cardinalities.tolist(), len(pairs)
    require_memory_for(total)
    sizes = space.sizes(cardinalities)
    factors: list[int] = []
    if space.weights is not None and not space.canonical:
        # Gives the contexts of every pair the weight of all assignments.
        factors = [sizes[i] * sizes[j] for i, j in pairs.tolist()]
    words, limit, finished, interrupted = kernel.count_distances(
        cardinalities,
        weight_rows(space),
        [arrays(model) for model in models],
        rows,
        pairs,
        rows_of(factors),
        space.canonical,
        effort.threads or cores(),
        effort.deadline.left(),
        MEMORY,
        effort.progress and (lambda done: effort.report(done, total)),
    )
    if interrupted:
        raise KeyboardInterrupt
    if not finished:
        raise OutOfTime
    effort.report(total, total)
    unit = unit_of(space.kinds(cardinalities), limit)
    values = [value * unit for value in ints_of(words)]
    return values if space.weights is None else [Fraction(value, prod(sizes)) for value in values]


def require_memory_for(pairs: int, bits: int = 0) -> None:
    """Raise `TooLargeError` if there is no room for pairs whose counts have this many bits."""
    # Three counts per pair, each once in the kernel and once as a Python int.
    needed = pairs * (BYTES_OF_PAIR + (bits if bits > WORD else 0))
    if needed > machine.SMALL:  # most comparisons need no message
        machine.require_memory(needed, f"comparing {pairs:,} pairs of variables", FEWER_PAIRS)


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


def ints_of(rows: WordArray) -> list[int]:
    """Return rows of words, the lowest first, as ints: the inverse of `rows_of`."""
    if rows.shape[1] == 1:
        ints: list[int] = rows[:, 0].tolist()
        return ints
    step, data = 8 * rows.shape[1], rows.astype("<u8").tobytes()
    return [int.from_bytes(data[at : at + step], "little") for at in range(0, len(data), step)]
