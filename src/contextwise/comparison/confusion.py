"""Confusion matrices of exact numbers, and the table of rates computed from them.

Positive means *dependent*: ``tp`` counts the contexts where both models have the dependence,
``fn`` those where only the true model has it, ``fp`` those where only the guess has it.

Comparisons of two Bayesian networks also have distances of their graphs
(`contextwise.comparison.graph_distances`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, isqrt, nextafter, sqrt
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, overload

from contextwise.comparison.graph_distances import between_graphs
from contextwise.counting.pair_counts import exact_sum
from contextwise.errors import ContextwiseError
from contextwise.support.formatting import is_readable, number

if TYPE_CHECKING:
    from contextwise.comparison.two_models import Comparison

Number = int | Fraction
Interval = tuple[Number, Number]
ZeroDivision = Literal["warn"] | float
"""Value of a rate whose denominator is zero; ``"warn"`` means 0 and a warning."""
Column = Literal["counts", "distances", "dependencies", "assertions", "causal"]
Summary = Literal["guesses", "groups"]
"""Summaries besides the full result of one comparison: tables of several guesses and of groups."""


class Measure(property):
    """A number of a comparison, as a property, with all that outputs need to know about it.

    ``formula`` computes it from a comparison, None where it is undefined. ``column`` is where the
    full result of one comparison shows it, ``shown`` are the other summaries that show it. It
    ``needs_truth`` if it means nothing where neither model is true; ``neutral`` is its label there.
    """

    def __init__(
        self,
        label: str,
        meaning: str,
        formula: Callable[[Any], Number | float | None],
        *,
        range: tuple[float, float] = (0.0, 1.0),
        smaller_is_better: bool = False,
        column: Column = "assertions",
        shown: tuple[Summary, ...] = (),
        style: Literal["count", "rate"] = "rate",
        needs_truth: bool = False,
        neutral: str = "",
    ) -> None:
        super().__init__(doc=meaning)
        self.label, self.meaning, self.formula = label, meaning, formula
        self.range, self.smaller_is_better = range, smaller_is_better
        self.column, self.shown, self.style = column, shown, style
        self.needs_truth, self.neutral = needs_truth, neutral or label

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Measure: ...
    @overload
    def __get__(self, instance: Rates, owner: type | None = None) -> float: ...
    def __get__(self, instance: Rates | None, owner: type | None = None) -> Measure | float:
        return self if instance is None else instance.rate(self.name)


def ratio(part: Number, whole: Number) -> float:
    """Divide exact numbers of any size and round once; to 0, 1 or -1 only if it is exactly that.

    >>> ratio(1, 3), ratio(10**20, 10**20), ratio(10**20 - 1, 10**20)
    (0.3333333333333333, 1.0, 0.9999999999999999)
    """
    value = float(part / whole)
    if value in (0, 1, -1) and part != int(value) * whole:
        return nextafter(value, inf if part > int(value) * whole else -inf)
    return value


def digits(value: Number, most: int = 4_000) -> str:
    """Write an exact number with all its digits, or rounded if it has more than ``most``.

    >>> digits(10**20), digits(10**20, most=12), digits(10**5000)
    ('100000000000000000000', '≈1.000e20', '≈1.000e5000')
    """
    shown = is_readable(value, most) and value.denominator.bit_length() <= 3 * most
    return str(value) if shown else f"≈{number(value)}"


def _share(part: Number, whole: Number) -> float | None:
    return ratio(part, whole) if whole else None


def _mcc(c: Confusion) -> float | None:
    """(tp·tn - fp·fn) / √(…): the root is taken of exact integers, to 60 binary places."""
    product = c.tp * c.tn - c.fp * c.fn
    square = Fraction((c.tp + c.fp) * (c.tp + c.fn) * (c.tn + c.fp) * (c.tn + c.fn))
    if not square:
        return None
    squared = Fraction(product * product) / square
    # A root below 2^-30 would keep fewer than 30 of the 60 binary places.
    if squared < Fraction(1, 4**30):
        root = sqrt(ratio(squared.numerator, squared.denominator))
    else:
        root = isqrt(squared.numerator * 4**60 // squared.denominator) / 2**60
    # Only perfect agreement may be shown as 1.
    if root == 1 and squared != 1:
        root = nextafter(1.0, 0.0)
    return root if product >= 0 else -root


def _kappa(c: Confusion) -> float | None:
    """(agreement - chance) / (1 - chance), over a common denominator."""
    chance = (c.tp + c.fp) * (c.fp + c.tn) + (c.tp + c.fn) * (c.fn + c.tn)
    return _share(2 * (c.tp * c.tn - c.fp * c.fn), chance)


def _mean_pair_distance(c: Comparison) -> float:
    if not c.confusion.total:
        return 0.0
    apart, share = c.unions.apart, Fraction(0)
    for size in set(c.unit_sizes.tolist()):  # few sizes, so few divisions
        share += Fraction(exact_sum(apart[c.unit_sizes == size]), size)
    return ratio(share, c.question.pair_count)


class Rates:
    """The measures that follow from the four counts; each is also a property."""

    normalized = Measure(
        "normalized distance",
        "The distance as a share of all assertions, in [0, 1]; 0 without assertions.",
        lambda c: ratio(c.distance, c.total) if c.total else 0.0,
        smaller_is_better=True,
        column="distances",
        shown=("guesses", "groups"),
    )
    accuracy = Measure(
        "accuracy",
        "Share of assertions on which the models agree.",
        lambda c: _share(c.tp + c.tn, c.total),
        neutral="agreement",
    )
    precision = Measure(
        "precision",
        "Share of the guess's dependencies that are true.",
        lambda c: _share(c.tp, c.tp + c.fp),
        column="dependencies",
        shown=("guesses",),
        needs_truth=True,
    )
    recall = Measure(
        "recall",
        "Share of the true dependencies that the guess has.",
        lambda c: _share(c.tp, c.tp + c.fn),
        column="dependencies",
        shown=("guesses",),
        needs_truth=True,
    )
    f1 = Measure(
        "F1",
        "Harmonic mean of precision and recall.",
        lambda c: _share(2 * c.tp, 2 * c.tp + c.fp + c.fn),
        column="dependencies",
        shown=("guesses",),
    )
    jaccard = Measure(
        "Jaccard",
        "Dependencies of both models divided by the dependencies of either.",
        lambda c: _share(c.tp, c.tp + c.fp + c.fn),
        column="dependencies",
    )
    mcc = Measure(
        "MCC",
        "Matthews correlation of the two models' assertions, from -1 to 1.",
        _mcc,
        range=(-1.0, 1.0),
        shown=("guesses",),
    )
    kappa = Measure(
        "kappa",
        "Cohen's kappa: the agreement beyond chance, from -1 to 1.",
        _kappa,
        range=(-1.0, 1.0),
        shown=("groups",),
    )
    false_positive_rate = Measure(
        "false positive rate",
        "Share of the true independencies that the guess lacks.",
        lambda c: _share(c.fp, c.fp + c.tn),
        smaller_is_better=True,
        needs_truth=True,
    )
    false_negative_rate = Measure(
        "false negative rate",
        "Share of the true dependencies that the guess lacks.",
        lambda c: _share(c.fn, c.fn + c.tp),
        smaller_is_better=True,
        needs_truth=True,
    )

    def rate(self, name: str, zero_division: ZeroDivision = "warn") -> float:
        """Return one measure by name.

        ``zero_division`` replaces a rate whose denominator is zero; by default 0, with a warning.
        """
        measure = getattr(type(self), name, None)
        if not isinstance(measure, Measure):
            raise ContextwiseError(f"unknown rate {name!r}; choose one of {', '.join(RATES)}")
        value = measure.formula(self)
        if value is not None:
            return float(value)
        if zero_division == "warn":
            warnings.warn(
                f"{name} is undefined because its denominator is zero; it is set to 0. "
                f"rate({name!r}, zero_division=...) chooses another value",
                UserWarning,
                stacklevel=3,
            )
            return 0.0
        return float(zero_division)

    def rates(self, zero_division: ZeroDivision = float("nan")) -> dict[str, float]:
        """Return the normalized distance and all rates, by name."""
        return {name: self.rate(name, zero_division) for name in ("normalized", *RATES)}


class Counted(Rates):
    """The counts of a comparison that has a confusion matrix, and the measures that follow."""

    @property
    def confusion(self) -> Confusion:
        """The confusion matrix over all pairs."""
        raise NotImplementedError

    @property
    def tp(self) -> Number:
        """Contexts where both models have the dependence, over all pairs."""
        return self.confusion.tp

    @property
    def fn(self) -> Number:
        """Contexts where only the true model has the dependence."""
        return self.confusion.fn

    @property
    def fp(self) -> Number:
        """Contexts where only the guess has the dependence."""
        return self.confusion.fp

    @property
    def tn(self) -> Number:
        """Contexts where neither model has the dependence."""
        return self.confusion.tn

    @property
    def distance(self) -> Number:
        """The metric of the paper: FP + FN."""
        return self.confusion.distance


class WholeMeasures(Counted):
    """The measures of a whole comparison: those of `Rates`, and those of the counts of pairs."""

    mean_pair_distance = Measure(
        "mean pair distance",
        "Mean over pairs of the share of contexts that differ: each pair counts the same.",
        _mean_pair_distance,
        smaller_is_better=True,
        column="distances",
    )


# -- all measures ----------------------------------------------------------------------------------


def _measures(owner: type) -> dict[str, Measure]:
    return {name: measure for name, measure in vars(owner).items() if isinstance(measure, Measure)}


def _share_of(key: str) -> Callable[[Any], float | None]:
    return lambda c: _share(getattr(c, key), c.total)


def _causal_distance(key: str) -> Callable[[Any], int | None]:
    """Compute a distance of graphs; None if the comparison leaves out pairs."""

    def formula(c: Comparison) -> int | None:
        if c.question.asked is not None:
            return None
        return between_graphs(key, c.true.directions, c.guess.directions)

    return formula


RATES: Mapping[str, Measure] = {
    name: measure for name, measure in _measures(Rates).items() if measure.column != "distances"
}
HOLDERS = {
    "tp": "both models have",
    "fn": "only the true model has",
    "fp": "only the guess has",
    "tn": "neither model has",
}
COUNTS = tuple(HOLDERS)
MEASURES: Mapping[str, Measure] = {
    "normalized": Rates.normalized,
    "distance": Measure(
        "distance",
        "Assertions on which the models differ: FP + FN.",
        attrgetter("distance"),
        range=(0, inf),
        smaller_is_better=True,
        column="distances",
        style="count",
    ),
    **_measures(WholeMeasures),
    **{
        key: Measure(
            key.upper(),
            f"Contexts where {holders} the dependence.",
            attrgetter(key),
            range=(0, inf),
            smaller_is_better=key in ("fn", "fp"),
            column="counts",
            shown=("guesses",) if key in ("fn", "fp") else (),
            style="count",
        )
        for key, holders in HOLDERS.items()
    },
    **{
        f"{key}_share": Measure(
            f"{key.upper()} share",
            f"Share of all assertions where {holders} the dependence.",
            _share_of(key),
            smaller_is_better=key in ("fn", "fp"),
            column="counts",
            shown=("groups",) if key in ("fn", "fp") else (),
        )
        for key, holders in HOLDERS.items()
    },
    **RATES,
    **{
        key: Measure(
            label,
            f"{meaning} Only for two Bayesian networks.",
            _causal_distance(key),
            range=(0, inf),
            smaller_is_better=True,
            column="causal",
            needs_truth=key not in ("shd", "cpdag_shd"),
            style="count",
        )
        for key, label, meaning in (
            ("shd", "SHD", "Pairs of variables with another arc; a reversed arc counts once."),
            ("cpdag_shd", "SHD of classes", "Pairs with another edge in the equivalence classes."),
            ("sid", "SID", "Ordered pairs with a wrong interventional distribution."),
            ("ancestor_aid", "ancestor AID", "Ordered pairs whose ancestor adjustment is wrong."),
            ("parent_aid", "parent AID", "Ordered pairs whose parent adjustment is wrong."),
            ("oset_aid", "optimal AID", "Ordered pairs whose optimal adjustment is wrong."),
        )
    },
}
"""Every number of a comparison by its key in JSON, CSV and frames."""


CAUSAL = tuple(key for key, measure in MEASURES.items() if measure.column == "causal")
"""The distances of graphs, which only two Bayesian networks have."""


def computed(comparison: Comparison, keys: Iterable[str]) -> dict[str, Number | float | None]:
    """Compute measures of a comparison; leave out distances of graphs that it does not have."""
    values = {key: MEASURES[key].formula(comparison) for key in keys}
    return {key: v for key, v in values.items() if v is not None or key not in CAUSAL}


def shown_in(summary: Summary) -> list[str]:
    """Return the keys of the measures that a summary shows."""
    return [key for key, measure in MEASURES.items() if summary in measure.shown]


@dataclass(frozen=True, repr=False)
class Confusion(Rates):
    """The four counts as exact numbers.

    Attributes
    ----------
    tp : contexts where both models have the dependence
    fn : contexts where only the true model has it
    fp : contexts where only the guess has it
    tn : contexts where neither model has it

    Examples
    --------
    >>> c = Confusion(tp=6, fn=2, fp=1, tn=3)
    >>> c.distance, c.total, c.normalized, c.recall
    (3, 12, 0.25, 0.75)
    >>> Confusion(tp=0, fn=2, fp=0, tn=5).rate("precision", zero_division=1.0)
    1.0
    """

    tp: Number
    fn: Number
    fp: Number
    tn: Number

    @classmethod
    def of(cls, unions: Iterable[Number], contexts: Number) -> Confusion:
        """Return the counts that follow from the sizes of the three unions.

        >>> Confusion.of((6, 5, 9), 16)
        Confusion(tp=2, fn=4, fp=3, tn=7)
        """
        a, b, u = unions
        return cls(a + b - u, u - b, u - a, contexts - u)

    def __repr__(self) -> str:
        return f"Confusion({', '.join(f'{key}={digits(getattr(self, key))}' for key in COUNTS)})"

    def __add__(self, other: Confusion) -> Confusion:
        return Confusion(
            self.tp + other.tp, self.fn + other.fn, self.fp + other.fp, self.tn + other.tn
        )

    @cached_property
    def total(self) -> Number:
        """All assertions."""
        return self.tp + self.fn + self.fp + self.tn

    @property
    def distance(self) -> Number:
        """The metric of the paper: FP + FN."""
        return self.fp + self.fn


@dataclass(frozen=True)
class ConfusionBounds:
    """The least and the largest possible value of each count and of the distance.

    >>> confusion_bounds((6, 6), (5, 5), (6, 9), 16)
    ConfusionBounds(tp=(2, 5), fn=(1, 4), fp=(0, 3), tn=(7, 10), distance=(1, 7))
    """

    tp: Interval
    fn: Interval
    fp: Interval
    tn: Interval
    distance: Interval


def confusion_bounds(a: Interval, b: Interval, u: Interval, contexts: Number) -> ConfusionBounds:
    """Bound the counts of a pair, given bounds of its three unions.

    The unions satisfy a, b <= u <= a + b, so every count lies in an interval, and so does the
    distance 2u - a - b. The intervals are the narrowest that follow.
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
