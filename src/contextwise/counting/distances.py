"""The distances between many models, with each distinct cover counted once.

The work is done pair by pair of variables. Models with equal covers there are one **class**. Two
classes differ in 2 · |A ∪ B| - |A| - |B| contexts, which are added to the distances of all their
models. So similar models cost only their differences. The kernel (``kernel/distances.hpp``)
simplifies covers before it compares them.

`count_redrawn` compares a model with many draws of another one, such as guesses by chance, that
differ only in their value sets. The same features cover a pair in all draws, and the other model's
side of a pair is counted once (``kernel/redrawn.hpp``).

`distances_in_python` and `redrawn_in_python` are the readable twins, for the other engines.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, repeat
from math import prod

import numpy as np

from contextwise.counting import auto, native
from contextwise.counting.contexts import UNIFORM, ContextSpace, unit_of
from contextwise.counting.contract import ENGINES, CountUnion, get_engine
from contextwise.counting.extraction import CoverSource
from contextwise.models.features import Features
from contextwise.support.arrays import IntArray, ObjectArray, WordArray
from contextwise.support.cores import cores
from contextwise.support.effort import QUIET, Effort

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
    engine: str = "auto",
    space: ContextSpace = UNIFORM,
) -> tuple[list[int] | list[Fraction], bool]:
    """Count the distances of the pairs of models that `two_models` lists.

    With value weights, distances are shares, summed over the pairs of variables. Also return
    whether Ganak counted, or may have counted, some of them.
    """
    sizes = space.sizes(models[0].cardinalities.tolist())
    factors: list[int] = []
    if space.weights is not None and not space.canonical:
        # Gives the contexts of every pair the weight of all assignments.
        factors = [sizes[i] * sizes[j] for i, j in pairs.tolist()]
    if engine in ("auto", "native") and native.missing() is None:
        values, by_ganak = _by_kernel(
            models, pairs, effort, rows=rows, factors=factors, engine=engine, space=space
        )
    else:
        count_union = get_engine(engine).count_union
        values = distances_in_python(
            models, pairs, rows=rows, factors=factors, count_union=count_union, space=space
        )
        by_ganak = engine == "ganak" or (engine == "auto" and not ENGINES["ganak"].missing())
    effort.report(len(pairs), len(pairs))
    if space.weights is None:
        return values, by_ganak
    return [Fraction(value, prod(sizes)) for value in values], by_ganak


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
    engine: str,
    space: ContextSpace,
) -> tuple[list[int], bool]:
    """Sum with the kernel; count the unions that it leaves open with the chosen engine."""
    cardinalities, total = models[0].cardinalities.tolist(), len(pairs)
    native.require_memory_for(total)
    words, left, limit, interrupted = native.kernel.count_distances(
        cardinalities,
        native.weight_rows(space),
        [native.arrays(model) for model in models],
        rows,
        pairs,
        native.rows_of(factors),
        space.canonical,
        effort.threads or cores(),
        auto.BUDGET if engine == "auto" else None,
        native.MEMORY,
        effort.progress and (lambda done: effort.report(done, total)),
    )
    if interrupted:
        raise KeyboardInterrupt
    unit = unit_of(space.kinds(cardinalities), limit)
    values, by_ganak = [value * unit for value in _as_ints(words)], False
    cells_of: dict[Two, list[tuple[int, int]]] = {}
    for pair, first, second, cell in left.reshape(-1, 4).tolist():
        cells_of.setdefault((first, second), []).append((cell, pair))
    for (first, second), cells in cells_of.items():
        places = sorted({pair for _, pair in cells})
        count_pairs = get_engine(engine).count_pairs
        counts = count_pairs(models[first], models[second], pairs[places], space=space)
        if counts.interrupted:
            raise KeyboardInterrupt
        by_ganak |= counts.counted.get("ganak", 0) > 0
        apart = dict(zip(places, counts.distances.tolist(), strict=True))
        for cell, pair in cells:
            values[cell] += apart[pair] * (factors[pair] if factors else 1)
    return values, by_ganak


def _as_ints(words: WordArray) -> list[int]:
    """Return rows of words, the lowest first, as ints."""
    if words.shape[1] == 1:
        ints: list[int] = words[:, 0].tolist()
        return ints
    step, data = 8 * words.shape[1], words.astype("<u8").tobytes()
    return [int.from_bytes(data[at : at + step], "little") for at in range(0, len(data), step)]


# -- draws that keep the scopes --------------------------------------------------------------------


def count_redrawn(
    a: Features,
    b: Features,
    values: WordArray,
    pairs: IntArray,
    effort: Effort = QUIET,
    *,
    engine: str = "auto",
    space: ContextSpace = UNIFORM,
) -> ObjectArray:
    """Count the distance of ``a`` to each draw of ``b``, pair by pair: shape (draws, pairs)."""
    if not (len(values) and len(pairs)) or engine not in ("auto", "native") or native.missing():
        return redrawn_in_python(a, b, values, pairs, effort, engine=engine, space=space)
    distances, left, limit, interrupted = native.kernel.count_redrawn(
        a.cardinalities.tolist(),
        native.weight_rows(space),
        native.arrays(a),
        # all draws share the scopes, so only the value sets are passed for each
        (b.starts, b.variables, values.reshape(-1, values.shape[2]), b.pairs),
        len(values),
        pairs,
        space.canonical,
        effort.threads or cores(),
        auto.BUDGET if engine == "auto" else None,
        native.MEMORY,
    )
    if interrupted:
        raise KeyboardInterrupt
    distances *= unit_of(space.kinds(a.cardinalities.tolist()), limit)
    open_of: dict[int, list[int]] = {}
    for pair, draw in left.reshape(-1, 2).tolist():
        open_of.setdefault(draw, []).append(pair)
    for draw, places in open_of.items():
        places.sort()
        drawn = values[draw : draw + 1]
        (distances[draw, places],) = redrawn_in_python(
            a, b, drawn, pairs[places], effort, engine=engine, space=space
        )
    return distances


def redrawn_in_python(
    a: Features,
    b: Features,
    values: WordArray,
    pairs: IntArray,
    effort: Effort = QUIET,
    *,
    engine: str,
    space: ContextSpace = UNIFORM,
) -> ObjectArray:
    """The readable twin: one comparison per draw."""
    distances = np.zeros((len(values), len(pairs)), dtype=object)
    for k, drawn in enumerate(values):
        model = Features(b.cardinalities, b.starts, b.variables, drawn)
        counts = get_engine(engine).count_pairs(a, model, pairs, effort, space=space)
        if counts.interrupted:
            raise KeyboardInterrupt
        distances[k] = counts.distances
    return distances
