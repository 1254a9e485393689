"""Comparisons as flat records for other programs: the same keys in JSON, in CSV and in a frame.

Counts are exact ints of any size. A rate that is not defined is None, and so is what is not known
because pairs are open.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

from contextwise.comparison.compare import COUNTS, Comparison
from contextwise.comparison.confusion import RATES, Number

Record = dict[str, str | Number | float | None]
DISTANCES = ("distance", "normalized", "mean_pair_distance")
EXACT = (*COUNTS, *DISTANCES, *RATES)
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
    low, high = c.distance_bounds
    return {
        "contexts": c.contexts,
        "engine": c.engine,
        "pairs": c.pair_count,
        "assertions": c.total,
        **(dict.fromkeys(EXACT) if c.open_pairs else _exact(c)),
        "distance_lower": low,
        "distance_upper": high,
        "open_pairs": len(c.open_pairs),
        "interrupted": c.interrupted,
        "rests_on_ganak": c.rests_on_ganak,
    }


def _exact(c: Comparison) -> Record:
    """What is known only when no pair is open."""
    numbers: Record = {key: getattr(c, key) for key in (*COUNTS, *DISTANCES)}
    return numbers | {key: None if isnan(rate) else rate for key, rate in c.rates().items()}


def pair_records(comparison: Comparison) -> Iterator[Record]:
    """The counts of each pair that a feature of either model covers, in the order of the domain.

    Those of an open pair are None.
    """
    for pair, counts in zip(comparison.pair_names(), comparison.known_counts, strict=True):
        yield dict(zip(PAIR_KEYS, (*pair, *counts), strict=True))


def open_pair_records(comparison: Comparison) -> Iterator[Record]:
    """Between which numbers the distance of each open pair lies."""
    for first, second in comparison.open_pairs:
        low, high = comparison.pair_bounds(first, second).distance
        yield {"first": first, "second": second, "distance_lower": low, "distance_upper": high}


def worst_pair_records(comparison: Comparison, most: int) -> Iterator[Record]:
    """The counts of the pairs with the most errors, worst first."""
    for pair, c in comparison.worst_pairs(most):
        yield dict(zip(PAIR_KEYS, (*pair, c.tp, c.fn, c.fp, c.tn), strict=True))
