"""The distances of many models: each cover of a pair counted once, and each two covers once.

The work goes pair by pair of variables. Models that have the same cover there are one **class**;
two classes are apart in 2 · |A ∪ B| - |A| - |B| contexts, and that is added to the distances of all
their models. Models a few moves apart cost what they differ in. Nothing rests on hashes: covers
are one class if they are equal.

The compiled one is ``kernel/distances.hpp``; it simplifies covers before it compares them.
`distances_in_python` is its readable twin, for engines other than the kernel's.
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
"""A cover as a set, so that equal ones are found."""


@dataclass(frozen=True)
class ExactDistances:
    """The distances of some two models each.

    Attributes
    ----------
    values : ints, or rationals if contexts have weights
        In the order of `two_models`.
    rests_on_ganak : whether the model counter Ganak had, or may have had, to do with them
    """

    values: list[int] | list[Fraction]
    rests_on_ganak: bool


def two_models(models: int, rows: int = 0) -> list[Two]:
    """Which two models are set against each other: the first ``rows`` against the others.

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
    """Count the distances of some models to others, or of each to each.

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
        # The contexts of every pair then count as much as those of all variables.
        factors = [sizes[i] * sizes[j] for i, j in pairs.tolist()]
    if engine in ("auto", "native") and native.missing() is None:
        found = _by_kernel(models, pairs, rows, factors, engine, threads, progress, options)
    else:
        count_union = get_engine(engine).count_union
        values = distances_in_python(
            models, pairs, rows=rows, factors=factors, count_union=count_union, **options
        )
        asked_ganak = engine == "ganak" or (engine == "auto" and not get_engine("ganak").missing())
        found = ExactDistances(values, asked_ganak)
    if progress:
        progress(len(pairs), len(pairs))
    if value_weights is None:
        return found
    shares = [Fraction(value, prod(sizes)) for value in found.values]
    return ExactDistances(shares, found.rests_on_ganak)


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
    """The readable twin of the kernel: covers as sets of cubes, each counted by an engine."""
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
    """The kernel's sums; what it leaves open is counted by the whole portfolio."""
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
    """What the kernel left open, for each two models whose covers it is about.

    Yields how far apart they are on each open pair, the distances (with a pair each) to which that
    belongs, and whether Ganak counted some of it.
    """
    met: dict[Two, list[tuple[int, int]]] = {}
    for pair, first, second, cell in left.reshape(-1, 4).tolist():
        met.setdefault((first, second), []).append((cell, pair))
    for (first, second), cells in met.items():
        places = sorted({pair for _, pair in cells})
        count_pairs = get_engine(engine).count_pairs
        counts = count_pairs(models[first], models[second], pairs[places], **options)
        if counts.interrupted:
            raise KeyboardInterrupt
        a, b, u = counts.lower.T
        apart = dict(zip(places, (2 * u - a - b).tolist(), strict=True))
        yield apart, cells, counts.counted.get("ganak", 0) > 0


def _as_ints(words: WordArray) -> list[int]:
    """Rows of words, the lowest first, as ints."""
    if words.shape[1] == 1:
        ints: list[int] = words[:, 0].tolist()
        return ints
    step, data = 8 * words.shape[1], words.astype("<u8").tobytes()
    return [int.from_bytes(data[at : at + step], "little") for at in range(0, len(data), step)]
