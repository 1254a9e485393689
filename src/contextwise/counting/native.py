"""The fast method, compiled: what `branch` explains, on all pairs and all cores at once.

The C++ in ``kernel/`` does the whole of `count_pairs`: it takes the arrays of two `Features`,
extracts the covers of the pairs, reduces them, and counts three unions per pair, with the GIL
released. Features that speak of none of the pairs are only looked at, so few pairs cost little.
`bound_union` is the same recursion on one cover, with its budget and its bounds.

The kernel is optional. Where it was not built, `missing` says so and `branch` gives the same
answers.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from contextwise.counting.contract import OverBudget
from contextwise.counting.cover import Cover
from contextwise.counting.extraction import ValueWeights
from contextwise.counting.pair_counts import ObjectArray, PairCounts, tighten
from contextwise.models.features import WORD, Features, IntArray, WordArray
from contextwise.support.deadline import NEVER, Deadline, OutOfTime
from contextwise.support.loading import why_not_compiled
from contextwise.support.progress import Progress

_reason: str | None = None
try:
    import contextwise.counting._kernel as _kernel
except ImportError as error:
    _reason = why_not_compiled(error)

MEMORY = 512 * 2**20
"""Bytes for remembered subproblems, over all threads, unless the caller says otherwise."""


def missing() -> str | None:
    """Why the kernel cannot be used here, or None if it can."""
    return _reason


class UnionBounds(NamedTuple):
    """What is proven of the size of a union, and how many nodes of the recursion it took."""

    lower: int
    upper: int
    nodes: int


def count_union(cover: Cover, *, deadline: Deadline = NEVER, node_budget: int | None = None) -> int:
    """The size of the union of the cubes.

    >>> from contextwise.counting.cover import cover_of
    >>> count_union(cover_of([2, 3, 5], [[(0, 0b01)], [(0, 0b10), (1, 0b001)]]))
    20
    """
    found = bound_union(cover, deadline=deadline, node_budget=node_budget)
    if found.lower == found.upper:
        return found.lower
    raise OutOfTime if node_budget is None or found.nodes < node_budget else OverBudget


def bound_union(
    cover: Cover,
    *,
    node_budget: int | None = None,
    deadline: Deadline = NEVER,
    memory: int | None = None,
) -> UnionBounds:
    """Bounds of the size of the union, equal unless the budget or the time ran out.

    >>> from contextwise.counting.cover import cover_of
    >>> cover = cover_of([2] * 40, [[(k, 1), (k + 1, 1)] for k in range(39)])
    >>> found = bound_union(cover, node_budget=1)
    >>> 0 < found.lower < found.upper, found.nodes
    (True, 1)
    """
    words = max(1, -(-len(cover.bit_weights) // WORD))
    everything = (1 << len(cover.bit_weights)) - 1
    start = np.cumsum([0, *map(len, cover.weights)]).tolist()
    low, high, nodes = _kernel.count_uncovered(
        start,
        _rows(cover.bit_weights),
        _rows([everything ^ cube for cube in cover.cubes], words),
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
    canonical: bool = False,
    progress: Progress | None = None,
    threads: int | None = None,
    node_budget: int | None = None,
    deadline: Deadline = NEVER,
    memory: int | None = None,
    value_weights: ValueWeights | None = None,
) -> PairCounts:
    """For each pair the sizes of three unions: of ``a``, of ``b``, and of both together."""
    began = time.perf_counter()
    total = len(pairs)
    distinct, places = _distinct(pairs, len(a.cardinalities))
    flat = [] if value_weights is None else [w for own in value_weights for w in own]
    report = None if progress is None else (lambda done: progress(done, total))
    result = _kernel.count_pairs(
        a.cardinalities.tolist(),
        _rows(flat),
        (a.starts, a.variables, a.values),
        (b.starts, b.variables, b.values),
        distinct,
        canonical,
        threads or os.cpu_count() or 1,
        node_budget,
        deadline.left(),
        MEMORY if memory is None else memory,
        report,
    )
    if isinstance(result, dict):  # a kernel built before nanobind
        result = tuple(result.values())  # type: ignore[unreachable]
    lower, is_open, open_upper, interrupted, nodes, extracting = result
    if progress and not interrupted:
        progress(total, total)
    upper = lower
    if len(is_open):
        upper = lower.copy()
        lower[is_open], upper[is_open] = tighten(lower[is_open], open_upper)
    if places is not None:
        lower, upper = lower[places], upper[places]
    unfinished = 0 if upper is lower else int((lower != upper).sum())
    seconds = {"extracting": extracting, "native": time.perf_counter() - began - extracting}
    counted = {"native": lower.size - unfinished}
    return PairCounts(lower, upper, counted, seconds, interrupted, nodes)


def sum_distances(
    models: Sequence[Features],
    pairs: IntArray,
    *,
    rows: int,
    factors: Sequence[int],
    width: int,
    canonical: bool,
    threads: int | None,
    node_budget: int | None,
    value_weights: ValueWeights | None,
    progress: Progress | None,
) -> tuple[WordArray, IntArray, bool]:
    """The distances of many models: see `contextwise.counting.distances`."""
    total = len(pairs)
    flat = [] if value_weights is None else [w for own in value_weights for w in own]
    return _kernel.count_distances(
        models[0].cardinalities.tolist(),
        _rows(flat),
        [(model.starts, model.variables, model.values) for model in models],
        rows,
        pairs,
        _rows(factors),
        width,
        canonical,
        threads or os.cpu_count() or 1,
        node_budget,
        MEMORY,
        None if progress is None else (lambda done: progress(done, total)),
    )


def covered_pairs(models: Sequence[Features], among: IntArray | None) -> IntArray:
    """The pairs that some feature has in its scope: see `contextwise.counting.extraction`."""
    arrays = [(model.starts, model.variables, model.values) for model in models]
    return _kernel.covered_pairs(len(models[0].cardinalities), arrays, among)


def count_redrawn(
    a: Features,
    b: Features,
    values: WordArray,
    pairs: IntArray,
    *,
    canonical: bool,
    threads: int | None,
    node_budget: int | None,
    value_weights: ValueWeights | None,
) -> tuple[ObjectArray, IntArray, bool]:
    """The distances of a model to draws of another one: see `contextwise.counting.redrawn`."""
    flat = [] if value_weights is None else [w for own in value_weights for w in own]
    return _kernel.count_redrawn(
        a.cardinalities.tolist(),
        _rows(flat),
        (a.starts, a.variables, a.values),
        (b.starts, b.variables, values.reshape(-1, values.shape[2])),
        len(values),
        pairs,
        canonical,
        threads or os.cpu_count() or 1,
        node_budget,
        MEMORY,
    )


def ask(
    features: Features, pairs: IntArray, starts: IntArray, holds: WordArray, *, canonical: bool
) -> tuple[WordArray, IntArray]:
    """What features answer to a sample of assertions, and the first that does: see `assertions`."""
    cardinalities = features.cardinalities.tolist()
    model = (features.starts, features.variables, features.values)
    return _kernel.ask(cardinalities, pairs, starts, holds, canonical, model)


def differing(first: WordArray, second: WordArray) -> IntArray:
    """In how many bits each row of one table differs from each row of another."""
    return _kernel.differing(first, second)


def tracker(
    a: Features, b: Features, *, canonical: bool, value_weights: ValueWeights | None
) -> _kernel.Tracker:
    """The unions of two models while the second one changes: see `contextwise.counting.changes`."""
    flat = [] if value_weights is None else [w for own in value_weights for w in own]
    return _kernel.Tracker(
        a.cardinalities.tolist(),
        _rows(flat),
        (a.starts, a.variables, a.values),
        (b.starts, b.variables, b.values),
        canonical,
        MEMORY,
    )


def _distinct(pairs: IntArray, n: int) -> tuple[IntArray, IntArray | None]:
    """The pairs as the kernel wants them, rising and each once; and where each one went."""
    pairs = pairs.reshape(-1, 2)
    codes = pairs[:, 0] * n + pairs[:, 1]
    if (np.diff(codes) > 0).all():
        return pairs, None
    _, first, places = np.unique(codes, return_index=True, return_inverse=True)
    return pairs[first], places


def _rows(numbers: Sequence[int], words: int | None = None) -> WordArray:
    """Ints as rows of 64-bit words, the lowest first."""
    if words is None:
        words = max((-(-n.bit_length() // WORD) for n in numbers), default=1) or 1
    data = b"".join(n.to_bytes(8 * words, "little") for n in numbers)
    return np.frombuffer(data, dtype="<u8").astype(np.uint64).reshape(len(numbers), words)
