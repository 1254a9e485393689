"""Comparisons as flat records for other programs: the same keys in JSON, in CSV and in a frame.

Counts are exact ints of any size; a rate that is not defined is None.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

from contextwise.comparison import COUNTS, Comparison
from contextwise.confusion import Number

Record = dict[str, str | Number | float | None]
PAIR_KEYS = ("first", "second", *COUNTS)


def comparison_record(comparison: Comparison) -> Record:
    """What was counted, the four counts, the distances and the rates.

    >>> from contextwise import Structure, compare
    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1"])
    >>> record = comparison_record(compare(model, model))
    >>> record["assertions"], record["tp"], record["distance"], record["false_positive_rate"]
    (6, 2, 0, 0.0)
    """
    c = comparison
    return {
        "contexts": c.contexts,
        "engine": c.engine,
        "pairs": c.pair_count,
        "assertions": c.total,
        "tp": c.tp,
        "fn": c.fn,
        "fp": c.fp,
        "tn": c.tn,
        "distance": c.distance,
        "normalized": c.normalized,
        "mean_pair_distance": c.mean_pair_distance,
        **{key: None if isnan(value) else value for key, value in c.rates().items()},
    }


def pair_records(comparison: Comparison) -> Iterator[Record]:
    """The counts of each pair that a feature of either model covers, in the order of the domain."""
    for pair, counts in zip(comparison.pair_names(), comparison.counts, strict=True):
        yield dict(zip(PAIR_KEYS, (*pair, *counts), strict=True))


def worst_pair_records(comparison: Comparison, most: int) -> Iterator[Record]:
    """The counts of the pairs with the most errors, worst first."""
    for pair, c in comparison.worst_pairs(most):
        yield dict(zip(PAIR_KEYS, (*pair, c.tp, c.fn, c.fp, c.tn), strict=True))
