"""Confusion matrices of exact numbers, and the rates that people read off them.

Positive means *dependent*: ``tp`` counts the contexts where both models have the dependence,
``fn`` those where only the true one has it, ``fp`` those where only the guess has it.

When a union has only been bounded, `confusion_bounds` says what is proven of the matrix. With
a = |A|, b = |B| and u = |A ∪ B| each known to lie in an interval, and a, b ≤ u ≤ a + b, every count
lies in an interval too, and so does the distance 2u - a - b. The ends are the best that follow.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Literal

from contextwise.errors import ContextwiseError

Number = int | Fraction
Interval = tuple[Number, Number]
ZeroDivision = Literal["warn"] | float
"""What an undefined rate is: a number, or ``"warn"`` for 0 with a warning, as in scikit-learn."""


class Rates:
    """The rates, by name and as properties, for whatever has the four counts."""

    def rate(self, name: str, zero_division: ZeroDivision | None = None) -> float:
        """One rate by name."""
        raise NotImplementedError

    def rates(self, zero_division: ZeroDivision = float("nan")) -> dict[str, float]:
        """The normalized distance and all rates, by name.

        Parameters
        ----------
        zero_division : number or "warn"
            What an undefined rate is.

        Returns
        -------
        dict from names to floats
        """
        names = ("normalized", *RATES)
        return {name: self.rate(name, zero_division) for name in names}

    @property
    def accuracy(self) -> float:
        """The share of assertions on which the models agree."""
        return self.rate("accuracy")

    @property
    def precision(self) -> float:
        """The share of the guess's dependencies that are true."""
        return self.rate("precision")

    @property
    def recall(self) -> float:
        """The share of the true dependencies that the guess has."""
        return self.rate("recall")

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return self.rate("f1")

    @property
    def jaccard(self) -> float:
        """The dependencies of both over the dependencies of either."""
        return self.rate("jaccard")

    @property
    def mcc(self) -> float:
        """Matthews' correlation of the two models' assertions, in [-1, 1]."""
        return self.rate("mcc")

    @property
    def kappa(self) -> float:
        """Cohen's kappa: the agreement beyond what chance would give, in [-1, 1]."""
        return self.rate("kappa")

    @property
    def false_positive_rate(self) -> float:
        """The false positives over all that could be: the true independencies."""
        return self.rate("false_positive_rate")

    @property
    def false_negative_rate(self) -> float:
        """The false negatives over all that could be: the true dependencies."""
        return self.rate("false_negative_rate")


@dataclass(frozen=True)
class Confusion(Rates):
    """The four counts; they add up, and a rate is computed from exact numbers at the end.

    Attributes
    ----------
    tp : both models have the pair depend
    fn : only the true model has
    fp : only the guess has
    tn : neither has

    Examples
    --------
    >>> c = Confusion(tp=6, fn=2, fp=1, tn=3)
    >>> c.distance, c.total, c.normalized
    (3, 12, 0.25)
    >>> c.precision, c.recall
    (0.8571428571428571, 0.75)
    >>> Confusion(tp=3, fn=0, fp=0, tn=5).mcc
    1.0
    >>> Confusion(tp=0, fn=2, fp=0, tn=5).rate("precision", zero_division=1.0)
    1.0
    """

    tp: Number
    fn: Number
    fp: Number
    tn: Number

    def __add__(self, other: Confusion) -> Confusion:
        return Confusion(
            self.tp + other.tp, self.fn + other.fn, self.fp + other.fp, self.tn + other.tn
        )

    @property
    def total(self) -> Number:
        """All assertions."""
        return self.tp + self.fn + self.fp + self.tn

    @property
    def distance(self) -> Number:
        """The metric of the paper: FP + FN."""
        return self.fp + self.fn

    @property
    def normalized(self) -> float:
        """The distance over the number of assertions, in [0, 1]; 0 if there are none."""
        return ratio(self.distance, self.total) if self.total else 0.0

    def rate(self, name: str, zero_division: ZeroDivision | None = None) -> float:
        """One rate by name; an undefined one is ``zero_division`` (default: 0, with a warning)."""
        if name == "normalized":
            return self.normalized
        if name not in RATES:
            raise ContextwiseError(f"unknown rate {name!r}; the rates are {', '.join(RATES)}")
        value = RATES[name](self)
        if value is not None:
            return value
        if zero_division is None or zero_division == "warn":
            warnings.warn(
                f"{name} is not defined here: it would divide by zero; it is set to 0. "
                "Use zero_division= to choose a value",
                UserWarning,
                stacklevel=3,
            )
            return 0.0
        return float(zero_division)


def ratio(part: Number, whole: Number) -> float:
    """A quotient of exact numbers of any size, rounded once.

    >>> ratio(10**400, 4 * 10**400), ratio(Fraction(1, 3), 2)
    (0.25, 0.16666666666666666)
    """
    return float(part / whole)


def _share(part: Number, whole: Number) -> float | None:
    return ratio(part, whole) if whole else None


def _mcc(c: Confusion) -> float | None:
    """(tp·tn - fp·fn) / √(…): the root is taken of exact integers, to 60 binary places."""
    product = c.tp * c.tn - c.fp * c.fn
    square = Fraction((c.tp + c.fp) * (c.tp + c.fn) * (c.tn + c.fp) * (c.tn + c.fn))
    if not square:
        return None
    squared = Fraction(product * product) / square
    root = isqrt(squared.numerator * 4**60 // squared.denominator) / 2**60
    return root if product >= 0 else -root


def _kappa(c: Confusion) -> float | None:
    """(agreement - chance) / (1 - chance), over a common denominator."""
    chance = (c.tp + c.fp) * (c.fp + c.tn) + (c.tp + c.fn) * (c.fn + c.tn)
    return _share(2 * (c.tp * c.tn - c.fp * c.fn), chance)


RATES: Mapping[str, Callable[[Confusion], float | None]] = {
    "accuracy": lambda c: _share(c.tp + c.tn, c.total),
    "precision": lambda c: _share(c.tp, c.tp + c.fp),
    "recall": lambda c: _share(c.tp, c.tp + c.fn),
    "f1": lambda c: _share(2 * c.tp, 2 * c.tp + c.fp + c.fn),
    "jaccard": lambda c: _share(c.tp, c.tp + c.fp + c.fn),
    "mcc": _mcc,
    "kappa": _kappa,
    "false_positive_rate": lambda c: _share(c.fp, c.fp + c.tn),
    "false_negative_rate": lambda c: _share(c.fn, c.fn + c.tp),
}


@dataclass(frozen=True)
class ConfusionBounds:
    """Intervals (both ends included) for the four counts and the distance.

    Attributes
    ----------
    tp, fn, fp, tn : between which numbers each count lies
    distance : the same for FP + FN

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
    """The intervals that follow from those of the three unions of a pair.

    Parameters
    ----------
    a, b : intervals of the unions of the true model and of the guess
    u : interval of the union of both
    contexts : what the contexts of the pair count together

    Returns
    -------
    ConfusionBounds
    """
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
