"""The numbers of one comparison that are summarized over many; None where one is undefined."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf, isnan

from contextwise.comparison.compare import Comparison
from contextwise.comparison.confusion import ratio
from contextwise.evaluation.chance import skills


def _rate(name: str) -> Callable[[Comparison], float | None]:
    def value(comparison: Comparison) -> float | None:
        found = comparison.rate(name, float("nan"))
        return None if isnan(found) else found

    return value


def _share(name: str) -> Callable[[Comparison], float | None]:
    def value(comparison: Comparison) -> float | None:
        return ratio(getattr(comparison, name), comparison.total) if comparison.total else None

    return value


def _skill(comparison: Comparison) -> float | None:
    return skills(comparison)[0]


METRICS: Mapping[str, Callable[[Comparison], float | None]] = {
    "distance": _share("distance"),
    "fp": _share("fp"),
    "fn": _share("fn"),
    "mcc": _rate("mcc"),
    "kappa": _rate("kappa"),
    "skill": _skill,
}
"""What is summarized; distance, FP and FN as shares of all assertions."""
RANGES: Mapping[str, tuple[float, float]] = {
    "distance": (0, 1),
    "fp": (0, 1),
    "fn": (0, 1),
    "mcc": (-1, 1),
    "kappa": (-1, 1),
    "skill": (-inf, 1),
}
"""The least and the largest value of each of them; an interval is cut there."""
SMALLER_IS_BETTER = frozenset({"distance", "fp", "fn"})
_LABELS = {
    "distance": "distance",
    "fp": "FP",
    "fn": "FN",
    "mcc": "MCC",
    "kappa": "kappa",
    "skill": "skill",
}


def metric_label(metric: str) -> str:
    """The name of a metric for readers; one that is not ours is itself."""
    return _LABELS.get(metric, metric)


def shares_words(metrics: Iterable[str]) -> str:
    """Which of these metrics are shares, as a sentence; empty if none is.

    >>> shares_words(["fp", "fn", "mcc"]), shares_words(["distance"])
    ('FP and FN are shares of all assertions.', 'Distance is a share of all assertions.')
    """
    labels = [metric_label(metric) for metric in metrics if metric in SMALLER_IS_BETTER]
    if not labels:
        return ""
    *others, last = labels
    named = f"{', '.join(others)} and {last} are shares" if others else f"{last} is a share"
    return f"{named[0].upper()}{named[1:]} of all assertions."
