"""The plane of errors: false positives against false negatives, of guesses and of their groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi, sqrt
from typing import TYPE_CHECKING

from contextwise.comparison.compare import Comparison
from contextwise.comparison.confusion import ratio

if TYPE_CHECKING:
    from contextwise.evaluation.intervals import Mean
    from contextwise.evaluation.replicates import Summary
    from contextwise.report.comparisons import Guess

SERIES = ("currentColor", "#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#0072B2", "#D55E00")
"""Okabe and Ito's palette; the first is the colour of the text, on light pages and dark ones."""
MOST_NAMED = 12
"""Up to so many guesses without groups each has a mark of its own; above, all share one."""


def _round(radius: float) -> str:
    return f"M{radius} 0A{radius} {radius} 0 1 1 {-radius} 0A{radius} {radius} 0 1 1 {radius} 0Z"


def _cross(arm: float, half: float) -> str:
    a, h = arm, half
    return f"M{-a} {-h}H{-h}V{-a}H{h}V{-h}H{a}V{h}H{h}V{a}H{-h}V{h}H{-a}Z"


RADIUS = 4.0
SIDE = round(RADIUS * sqrt(pi) / 2, 1)
MARKS = (
    _round(RADIUS),
    f"M{-SIDE} {-SIDE}H{SIDE}V{SIDE}H{-SIDE}Z",
    "M0 -5.2L5 4H-5Z",
    "M0 -5.2L5.2 0L0 5.2L-5.2 0Z",
    "M0 5.2L5 -4H-5Z",
    _cross(4.6, 1.7),
)
"""The outlines of points around their middle, so that series differ without colour."""


@dataclass(frozen=True)
class PlanePoint:
    """A guess: the share of assertions of each kind of error."""

    name: str
    fp: float
    fn: float


@dataclass(frozen=True)
class PlaneMean:
    """The mean of a group, with its interval, of each kind of error."""

    fp: Mean
    fn: Mean


@dataclass(frozen=True)
class PlaneSeries:
    """Guesses with one mark: those of a group, or a single one.

    Attributes
    ----------
    name : of the group or of the guess
    colour, path : of its mark
    points : the guesses
    mean : of the group, if it has an interval of either kind of error
    """

    name: str
    colour: str
    path: str
    points: tuple[PlanePoint, ...]
    mean: PlaneMean | None = None


@dataclass(frozen=True)
class Plane:
    """The plane of errors.

    Attributes
    ----------
    series : each with a mark of its own
    left_out : guesses whose errors are not known, because pairs are open
    """

    series: tuple[PlaneSeries, ...]
    left_out: tuple[str, ...] = ()

    @property
    def points(self) -> list[PlanePoint]:
        """Those of all series."""
        return [point for one in self.series for point in one.points]

    @property
    def means(self) -> list[PlaneMean]:
        """Those of all series that have one."""
        return [one.mean for one in self.series if one.mean is not None]


def errors_plane(guesses: Sequence[Guess], summary: Summary | None = None) -> Plane:
    """Where guesses stand in the plane of errors; each group has a mark of its own.

    Parameters
    ----------
    guesses : all compared with one true model
    summary : of the groups, if their means are drawn; with the metrics "fp" and "fn"

    Returns
    -------
    Plane

    Examples
    --------
    >>> from contextwise import compare
    >>> from contextwise.report.comparisons import Guess
    >>> plane = errors_plane([Guess("a", compare("six", "six-guess"), group="trees")])
    >>> plane.series[0].name, plane.points
    ('trees', [PlanePoint(name='a', fp=0.0333..., fn=0.0333...)])
    """
    known = [guess for guess in guesses if not len(guess.comparison.unions.open)]
    grouped = any(guess.group for guess in guesses)
    members: dict[str, list[PlanePoint]] = {}
    for guess in known:
        own = guess.group or guess.title
        label = own if grouped or len(known) <= MOST_NAMED else "guesses"
        members.setdefault(label, []).append(_point(guess))
    series = tuple(
        PlaneSeries(
            label,
            SERIES[k % len(SERIES)],
            MARKS[k % len(MARKS)],
            tuple(points),
            _mean(summary, label) if summary and label in summary.groups else None,
        )
        for k, (label, points) in enumerate(members.items())
    )
    return Plane(series, tuple(guess.title for guess in guesses if guess not in known))


def _point(guess: Guess) -> PlanePoint:
    fp, fn = error_shares(guess.comparison)
    return PlanePoint(guess.title, fp, fn)


def error_shares(comparison: Comparison) -> tuple[float, float]:
    """The false positives and the false negatives as shares of all assertions."""
    total = comparison.total or 1  # without assertions there is no error
    return ratio(comparison.fp, total), ratio(comparison.fn, total)


def _mean(summary: Summary, group: str) -> PlaneMean | None:
    mean = PlaneMean(summary.mean(group, "fp"), summary.mean(group, "fn"))
    return None if mean.fp.low is None and mean.fn.low is None else mean
