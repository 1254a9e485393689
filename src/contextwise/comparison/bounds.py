"""What is proven of a confusion matrix when a union has only been bounded.

With a = |A|, b = |B| and u = |A ∪ B| each known to lie in an interval, and a, b ≤ u ≤ a + b, every
count of the confusion matrix lies in an interval too, and so does the distance 2u - a - b. The ends
given here are the best that follow from the intervals.
"""

from __future__ import annotations

from dataclasses import dataclass

from contextwise.comparison.confusion import Number

Interval = tuple[Number, Number]


@dataclass(frozen=True)
class ConfusionBounds:
    """Intervals (both ends included) for the four counts and the distance.

    Examples
    --------
    Both models are known exactly, their union is not.

    >>> confusion_bounds((6, 6), (5, 5), (6, 9), 16)
    ConfusionBounds(tp=(2, 5), fn=(1, 4), fp=(0, 3), tn=(7, 10), distance=(1, 7))
    """

    tp: Interval
    fn: Interval
    fp: Interval
    tn: Interval
    distance: Interval


def confusion_bounds(a: Interval, b: Interval, u: Interval, contexts: Number) -> ConfusionBounds:
    """The intervals that follow from those of the three unions of a pair."""
    low, high = max(u[0], a[0], b[0]), min(u[1], a[1] + b[1], contexts)
    a_high, b_high = min(a[1], high), min(b[1], high)
    return ConfusionBounds(
        tp=(max(0, a[0] + b[0] - high), min(a_high, b_high, a_high + b_high - low)),
        fn=(max(0, low - b_high), min(a_high, high - b[0])),
        fp=(max(0, low - a_high), min(b_high, high - a[0])),
        tn=(contexts - high, contexts - low),
        distance=(
            max(0, low - a_high) + max(0, low - b_high),
            min(high, 2 * high - a[0] - b[0]),
        ),
    )
