"""The distances of a model to many draws of another one, which differ only in their value sets.

Guesses by chance are such draws. Their scopes are the same, so the same features cover a pair in
all draws, and the other model's side of a pair is counted once. The kernel is
``kernel/redrawn.hpp``; `redrawn_in_python` is its readable twin, for the other engines.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from contextwise.counting import auto, native
from contextwise.counting.contract import get_engine
from contextwise.counting.extraction import ValueWeights
from contextwise.counting.pair_counts import ObjectArray
from contextwise.models.features import Features, IntArray, WordArray


def count_redrawn(
    a: Features,
    b: Features,
    values: WordArray,
    pairs: IntArray,
    *,
    engine: str = "auto",
    canonical: bool = False,
    threads: int | None = None,
    value_weights: ValueWeights | None = None,
) -> ObjectArray:
    """Count the distance of ``a`` to each draw of ``b``, pair by pair: shape (draws, pairs).

    The first draw here is the model itself, the second one has C=0 instead of C=1.

    >>> from contextwise.models.structure import Structure
    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=1"]).features
    >>> values = np.array([[2, 2, 2], [2, 2, 1]], dtype=np.uint64)[:, :, None]
    >>> count_redrawn(model, model, values, np.array([[0, 1], [0, 2]])).tolist()
    [[0, 0], [2, 0]]
    """
    options: dict[str, Any] = {"canonical": canonical, "value_weights": value_weights}
    options["threads"] = threads
    if not (len(values) and len(pairs)) or engine not in ("auto", "native") or native.missing():
        return redrawn_in_python(a, b, values, pairs, engine=engine, **options)
    budget = auto.BUDGET if engine == "auto" else None
    found, left, interrupted = native.count_redrawn(
        a, b, values, pairs, node_budget=budget, **options
    )
    if interrupted:
        raise KeyboardInterrupt
    open_of: dict[int, list[int]] = {}
    for pair, draw in left.reshape(-1, 2).tolist():
        open_of.setdefault(draw, []).append(pair)
    for draw, places in open_of.items():
        again = redrawn_in_python(
            a, b, values[draw : draw + 1], pairs[sorted(places)], engine=engine, **options
        )
        found[draw, sorted(places)] = again[0]
    return found


def redrawn_in_python(
    a: Features, b: Features, values: WordArray, pairs: IntArray, *, engine: str, **options: Any
) -> ObjectArray:
    """The readable twin: one comparison per draw."""
    found = np.zeros((len(values), len(pairs)), dtype=object)
    for k, drawn in enumerate(values):
        model = Features(b.cardinalities, b.starts, b.variables, drawn)
        counts = get_engine(engine).count_pairs(a, model, pairs, **options)
        if counts.interrupted:
            raise KeyboardInterrupt
        in_a, in_b, in_either = counts.lower.T
        found[k] = 2 * in_either - in_a - in_b
    return found
