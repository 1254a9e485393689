"""The distances between many models, with each distinct cover counted once.

The work is done pair by pair of variables. Models with equal covers there are one **class**. Two
classes differ in 2 · |A ∪ B| - |A| - |B| contexts, which are added to the distances of all their
models. So similar models cost only their differences. The kernel (``kernel/distances.hpp``)
simplifies covers before it compares them.

`distances_in_python` is the readable twin, for the other engines.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, repeat
from math import prod

from contextwise.counting import native
from contextwise.counting.contexts import UNIFORM, ContextSpace, unit_of
from contextwise.counting.contract import DEFAULT, CountUnion, get_engine
from contextwise.counting.extraction import CoverSource
from contextwise.models.features import Features
from contextwise.support.arrays import IntArray, WordArray
from contextwise.support.effort import QUIET, Effort, OutOfTime
from contextwise.support.machine import cores

Two = tuple[int, int]
"""The places of two models."""
Cubes = frozenset[tuple[tuple[int, int], ...]]
"""A cover as a set of cubes."""


def two_models(models: int, rows: int = 0) -> list[Two]:
    """List the pairs of models: the first ``rows`` with each of the others, or all pairs if 0."""
    if not rows:
        return list(combinations(range(models), 2))
    return [(m, k) for m in range(rows) for k in range(rows, models)]


def count_distances(
    models: Sequence[Features],
    pairs: IntArray,
    effort: Effort = QUIET,
    *,
    rows: int = 0,
    engine: str = DEFAULT,
    space: ContextSpace = UNIFORM,
) -> list[int] | list[Fraction]:
    """Count the distances of the pairs of models that `two_models` lists.

    With value weights, distances are shares, summed over the pairs of variables. Raises `OutOfTime`
    at the deadline.
    """
    sizes = space.sizes(models[0].cardinalities.tolist())
    factors: list[int] = []
    if space.weights is not None and not space.canonical:
        # Gives the contexts of every pair the weight of all assignments.
        factors = [sizes[i] * sizes[j] for i, j in pairs.tolist()]
    chosen = get_engine(engine)
    if chosen.name == "native":
        values = _by_kernel(models, pairs, effort, rows=rows, factors=factors, space=space)
    else:
        count_union = partial(chosen.count_union, deadline=effort.deadline)
        values = distances_in_python(
            models, pairs, rows=rows, factors=factors, count_union=count_union, space=space
        )
    effort.report(len(pairs), len(pairs))
    if space.weights is None:
        return values
    return [Fraction(value, prod(sizes)) for value in values]


def distances_in_python(
    models: Sequence[Features],
    pairs: IntArray,
    *,
    rows: int,
    factors: Sequence[int],
    count_union: CountUnion,
    space: ContextSpace = UNIFORM,
) -> list[int]:
    """The readable twin of the kernel: covers as sets of cubes, each counted by an engine.

    ``factors`` multiply the contexts of each pair.
    """
    sources = [CoverSource(f, space=space) for f in models]
    place = {pair: cell for cell, pair in enumerate(two_models(len(models), rows))}
    sums = [0] * len(place)
    for (i, j), factor in zip(pairs.tolist(), factors or repeat(1, len(pairs)), strict=True):
        pair = (i, j)
        classes: dict[Cubes, list[int]] = {}
        for m, source in enumerate(sources):
            cubes = frozenset(tuple(cube) for cube in source.cubes(0, pair))
            classes.setdefault(cubes, []).append(m)

        @cache
        # The default binds the pair of this turn of the loop.
        def size(cubes: Cubes, pair: Two = pair) -> int:
            return count_union(sources[0].cover(pair, sorted(cubes))) if cubes else 0

        for (a, first), (b, second) in combinations(classes.items(), 2):
            model_pairs = ((min(m, k), max(m, k)) for m in first for k in second)
            # With ``rows``, pairs of models on the same side have no cell.
            if cells := [place[models] for models in model_pairs if models in place]:
                apart = factor * (2 * size(a | b) - size(a) - size(b))
                for cell in cells:
                    sums[cell] += apart
    return sums


def _by_kernel(
    models: Sequence[Features],
    pairs: IntArray,
    effort: Effort,
    *,
    rows: int,
    factors: Sequence[int],
    space: ContextSpace,
) -> list[int]:
    cardinalities, total = models[0].cardinalities.tolist(), len(pairs)
    native.require_memory_for(total)
    words, limit, finished, interrupted = native.kernel.count_distances(
        cardinalities,
        native.weight_rows(space),
        [native.arrays(model) for model in models],
        rows,
        pairs,
        native.rows_of(factors),
        space.canonical,
        effort.threads or cores(),
        effort.deadline.left(),
        native.MEMORY,
        effort.progress and (lambda done: effort.report(done, total)),
    )
    if interrupted:
        raise KeyboardInterrupt
    if not finished:
        raise OutOfTime
    unit = unit_of(space.kinds(cardinalities), limit)
    return [value * unit for value in _as_ints(words)]


def _as_ints(words: WordArray) -> list[int]:
    """Return rows of words, the lowest first, as ints."""
    if words.shape[1] == 1:
        ints: list[int] = words[:, 0].tolist()
        return ints
    step, data = 8 * words.shape[1], words.astype("<u8").tobytes()
    return [int.from_bytes(data[at : at + step], "little") for at in range(0, len(data), step)]
