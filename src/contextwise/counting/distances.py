"""The distances between many models, with each distinct cover counted once.

The work is done pair by pair of variables. Models with equal covers there are one **class**. Two
classes differ in 2 · |A ∪ B| - |A| - |B| contexts, which are added to the distances of all their
models. So similar models cost only their differences.

The kernel (``kernel/distances.hpp``) simplifies covers before it compares them.
`distances_in_python` is its readable twin, for the other engines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, repeat
from math import prod
from typing import Any

from contextwise.counting import auto, native
from contextwise.counting.contract import CountUnion, get_engine
from contextwise.counting.extraction import CoverSource, ValueWeights, sizes_of
from contextwise.models.features import WORD, Features, IntArray, WordArray
from contextwise.support.progress import Progress

Two = tuple[int, int]
"""The places of two models."""
Cubes = frozenset[tuple[tuple[int, int], ...]]
"""A cover as a set of cubes."""


@dataclass(frozen=True)
class ExactDistances:
    """Distances in the order of `two_models`; rationals if contexts have weights.

    ``rests_on_ganak`` is true if Ganak counted, or may have counted, some of them.
    """

    values: list[int] | list[Fraction]
    rests_on_ganak: bool


def two_models(models: int, rows: int = 0) -> list[Two]:
    """List the pairs of models: the first ``rows`` with each of the others, or all pairs if 0.

    >>> two_models(3), two_models(3, rows=1)
    ([(0, 1), (0, 2), (1, 2)], [(0, 1), (0, 2)])
    """
    if not rows:
        return list(combinations(range(models), 2))
    return [(m, k) for m in range(rows) for k in range(rows, models)]


def count_distances(
    models: Sequence[Features],
    pairs: IntArray,
    *,
    rows: int = 0,
    engine: str = "auto",
    canonical: bool = False,
    threads: int | None = None,
    value_weights: ValueWeights | None = None,
    progress: Progress | None = None,
) -> ExactDistances:
    """Count the distances of the pairs of models that `two_models` lists.

    With value weights, distances are shares, summed over the pairs of variables.

    >>> import numpy as np
    >>> from contextwise.models.structure import Structure
    >>> domain = {"A": 2, "B": 2, "C": 2}
    >>> texts = [], ["A=1 & B=1"], ["A=1 & B=1 & C=1"]
    >>> models = [Structure(domain, text).features for text in texts]
    >>> count_distances(models, np.array([[0, 1], [0, 2], [1, 2]])).values
    [2, 3, 3]
    """
    options: dict[str, Any] = {"canonical": canonical, "value_weights": value_weights}
    sizes = sizes_of(models[0].cardinalities.tolist(), value_weights)
    factors: list[int] = []
    if value_weights is not None and not canonical:
        # Gives the contexts of every pair the weight of all assignments.
        factors = [sizes[i] * sizes[j] for i, j in pairs.tolist()]
    if engine in ("auto", "native") and native.missing() is None:
        result = _by_kernel(models, pairs, rows, factors, engine, threads, progress, options)
    else:
        count_union = get_engine(engine).count_union
        values = distances_in_python(
            models, pairs, rows=rows, factors=factors, count_union=count_union, **options
        )
        may_use_ganak = engine == "ganak" or (
            engine == "auto" and not get_engine("ganak").missing()
        )
        result = ExactDistances(values, may_use_ganak)
    if progress:
        progress(len(pairs), len(pairs))
    if value_weights is None:
        return result
    shares = [Fraction(value, prod(sizes)) for value in result.values]
    return ExactDistances(shares, result.rests_on_ganak)


def distances_in_python(
    models: Sequence[Features],
    pairs: IntArray,
    *,
    rows: int,
    factors: Sequence[int],
    count_union: CountUnion,
    canonical: bool = False,
    value_weights: ValueWeights | None = None,
) -> list[int]:
    """The readable twin of the kernel: covers as sets of cubes, each counted by an engine.

    ``factors`` multiply the contexts of each pair.
    """
    sources = [CoverSource(f, canonical=canonical, value_weights=value_weights) for f in models]
    place = {two: cell for cell, two in enumerate(two_models(len(models), rows))}
    sums = [0] * len(place)
    for (i, j), factor in zip(pairs.tolist(), factors or repeat(1, len(pairs)), strict=True):
        pair = (i, j)
        classes: dict[Cubes, list[int]] = {}
        for m, source in enumerate(sources):
            cubes = frozenset(tuple(cube) for cube in source.cubes(0, pair))
            classes.setdefault(cubes, []).append(m)

        @cache
        def size(cubes: Cubes, pair: Two = pair) -> int:
            return count_union(sources[0].cover(pair, sorted(cubes))) if cubes else 0

        for (a, first), (b, second) in combinations(classes.items(), 2):
            two = ((min(m, k), max(m, k)) for m in first for k in second)
            if cells := [place[models] for models in two if models in place]:
                apart = factor * (2 * size(a | b) - size(a) - size(b))
                for cell in cells:
                    sums[cell] += apart
    return sums


def _by_kernel(
    models: Sequence[Features],
    pairs: IntArray,
    rows: int,
    factors: Sequence[int],
    engine: str,
    threads: int | None,
    progress: Progress | None,
    options: dict[str, Any],
) -> ExactDistances:
    """Sum with the kernel; count the unions that it leaves open with the chosen engine."""
    sizes = sizes_of(models[0].cardinalities.tolist(), options["value_weights"])
    width = (len(pairs) * prod(sizes)).bit_length() // WORD + 1
    words, left, interrupted = native.sum_distances(
        models,
        pairs,
        rows=rows,
        factors=factors,
        width=width,
        threads=threads,
        node_budget=auto.BUDGET if engine == "auto" else None,
        progress=progress,
        **options,
    )
    if interrupted:
        raise KeyboardInterrupt
    values, rests_on_ganak = _as_ints(words.reshape(-1, width)), False
    for apart, cells, by_ganak in _closed(models, pairs, left, engine, options):
        rests_on_ganak |= by_ganak
        for cell, pair in cells:
            values[cell] += apart[pair] * (factors[pair] if factors else 1)
    return ExactDistances(values, rests_on_ganak)


def _closed(
    models: Sequence[Features],
    pairs: IntArray,
    left: IntArray,
    engine: str,
    options: dict[str, Any],
) -> Iterator[tuple[dict[int, int], list[tuple[int, int]], bool]]:
    """Count the unions that the kernel left open, for each pair of models concerned.

    Yield their distance on each open pair of variables, the (distance, pair) cells to which it is
    added, and whether Ganak counted some of it.
    """
    cells_of: dict[Two, list[tuple[int, int]]] = {}
    for pair, first, second, cell in left.reshape(-1, 4).tolist():
        cells_of.setdefault((first, second), []).append((cell, pair))
    for (first, second), cells in cells_of.items():
        places = sorted({pair for _, pair in cells})
        count_pairs = get_engine(engine).count_pairs
        counts = count_pairs(models[first], models[second], pairs[places], **options)
        if counts.interrupted:
            raise KeyboardInterrupt
        a, b, u = counts.lower.T
        apart = dict(zip(places, (2 * u - a - b).tolist(), strict=True))
        yield apart, cells, counts.counted.get("ganak", 0) > 0


def _as_ints(words: WordArray) -> list[int]:
    """Return rows of words, the lowest first, as ints."""
    if words.shape[1] == 1:
        ints: list[int] = words[:, 0].tolist()
        return ints
    step, data = 8 * words.shape[1], words.astype("<u8").tobytes()
    return [int.from_bytes(data[at : at + step], "little") for at in range(0, len(data), step)]
