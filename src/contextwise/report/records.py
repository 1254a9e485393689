"""Comparisons as flat records for other programs: the same keys in JSON, in CSV and in a frame.

Counts are exact ints of any size, and the share that each is of its contexts stands beside it, as a
number. A rate that is not defined is None, and so is what is not known because pairs are open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan

from contextwise.comparison.compare import COUNTS, Comparison
from contextwise.comparison.confusion import RATES, Number, ratio

Record = dict[str, str | bool | Number | float | None]
DISTANCES = ("distance", "normalized", "mean_pair_distance")
SHARES = tuple(f"{key}_share" for key in COUNTS)
EXACT = (*COUNTS, *SHARES, *DISTANCES, *RATES)
PAIR_KEYS = ("first", "second", *COUNTS, *SHARES)


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
        "by_position": c.by_position,
        "engine": c.engine,
        "pairs": c.pair_count,
        "assertions": c.total,
        **(dict.fromkeys(EXACT) if c.open_pairs else _exact(c)),
        "distance_lower": low,
        "distance_upper": high,
        "open_pairs": len(c.open_pairs),
        "interrupted": c.interrupted,
        "rests_on_ganak": c.rests_on_ganak,
        **_estimated(c),
    }


def _estimated(c: Comparison) -> Record:
    """What sampling says of open pairs, as shares of all assertions, where that was asked."""
    if c.estimates is None:
        return {}
    kinds = {"fp": c.estimates.fp, "fn": c.estimates.fn}
    return {
        f"{kind}_estimate{end}": value
        for kind, e in kinds.items()
        for end, value in (("", e.value), ("_low", e.low), ("_high", e.high))
    }


def _exact(c: Comparison) -> Record:
    """What is known only when no pair is open."""
    counts = [getattr(c, key) for key in COUNTS]
    numbers: Record = dict(zip((*COUNTS, *SHARES), (*counts, *_shares(counts)), strict=True))
    numbers |= {key: getattr(c, key) for key in DISTANCES}
    return numbers | {key: None if isnan(rate) else rate for key, rate in c.rates().items()}


def _shares(counts: Sequence[Number | None]) -> list[float | None]:
    """What each count is a share of all; of nothing, and of what is open, there is no share."""
    known = [count for count in counts if count is not None]
    total = sum(known)
    if len(known) < len(counts) or not total:
        return [None] * len(counts)
    return [ratio(count, total) for count in known]


def _pair_record(pair: tuple[str, str], counts: Sequence[Number | None]) -> Record:
    return dict(zip(PAIR_KEYS, (*pair, *counts, *_shares(counts)), strict=True))


def pair_records(comparison: Comparison) -> Iterator[Record]:
    """The counts of each pair that a feature of either model covers, in the order of the domain.

    Those of an open pair are None.
    """
    for pair, counts in zip(comparison.pair_names(), comparison.known_counts, strict=True):
        yield _pair_record(pair, counts)


def open_pair_records(comparison: Comparison) -> Iterator[Record]:
    """Between which numbers the distance of each open pair lies."""
    for first, second in comparison.open_pairs:
        low, high = comparison.pair_bounds(first, second).distance
        yield {"first": first, "second": second, "distance_lower": low, "distance_upper": high}


def worst_pair_records(comparison: Comparison, most: int) -> Iterator[Record]:
    """The counts of the pairs with the most errors, worst first."""
    for pair, c in comparison.worst_pairs(most):
        yield _pair_record(pair, (c.tp, c.fn, c.fp, c.tn))
