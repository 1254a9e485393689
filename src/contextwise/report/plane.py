"""Draw the plane of errors: false positives against false negatives of guesses and groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, tostring

from contextwise.comparison.compare import Comparison
from contextwise.comparison.confusion import ratio
from contextwise.report.svg import (
    add,
    add_line,
    add_text,
    add_tip,
    coordinate,
    new_picture,
    round_step,
)
from contextwise.support.formatting import name as shown

if TYPE_CHECKING:
    from contextwise.evaluation.intervals import Mean
    from contextwise.evaluation.replicates import Summary
    from contextwise.report.comparisons import Guess


SERIES = ("currentColor", "#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#0072B2", "#D55E00")
"""The palette of Okabe and Ito; the first is the colour of the text."""
MOST_NAMED = 12
"""Up to this many guesses without groups each have a mark; more share one."""


MARKS = (
    "M4.0 0A4.0 4.0 0 1 1 -4.0 0A4.0 4.0 0 1 1 4.0 0Z",
    "M-3.5 -3.5H3.5V3.5H-3.5Z",
    "M0 -5.2L5 4H-5Z",
    "M0 -5.2L5.2 0L0 5.2L-5.2 0Z",
    "M0 5.2L5 -4H-5Z",
    "M-4.6 -1.7H-1.7V-4.6H1.7V-1.7H4.6V1.7H1.7V4.6H-1.7V1.7H-4.6Z",
)
"""The outlines of points around their middle, so that series differ without colour."""


@dataclass(frozen=True)
class PlanePoint:
    """A guess, with its errors of each kind as shares of all assertions."""

    name: str
    fp: float
    fn: float


@dataclass(frozen=True)
class PlaneMean:
    """The mean of a group, with intervals, for each kind of error."""

    fp: Mean
    fn: Mean


@dataclass(frozen=True)
class PlaneSeries:
    """Guesses with one mark, those of a group or a single one; groups can have a mean."""

    name: str
    colour: str
    path: str
    points: tuple[PlanePoint, ...]
    mean: PlaneMean | None = None


@dataclass(frozen=True)
class Plane:
    """The plane of errors; guesses with open pairs, whose errors are not known, are left out."""

    series: tuple[PlaneSeries, ...]
    left_out: tuple[str, ...] = ()

    @property
    def points(self) -> list[PlanePoint]:
        return [point for series in self.series for point in series.points]

    @property
    def means(self) -> list[PlaneMean]:
        return [series.mean for series in self.series if series.mean is not None]


def errors_plane(guesses: Sequence[Guess], summary: Summary | None = None) -> Plane:
    """Return the points of guesses, and the means of groups that have a summary."""
    known = [guess for guess in guesses if not len(guess.comparison.unions.open)]
    grouped = any(guess.group for guess in guesses)
    members: dict[str, list[PlanePoint]] = {}
    for guess in known:
        label = guess.group or guess.title
        if not grouped and len(known) > MOST_NAMED:
            label = "guesses"
        members.setdefault(label, []).append(
            PlanePoint(guess.title, *error_shares(guess.comparison))
        )
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


def error_shares(comparison: Comparison) -> tuple[float, float]:
    """Return the false positives and false negatives as shares of all assertions."""
    total = comparison.total or 1  # without assertions there is no error
    return ratio(comparison.fp, total), ratio(comparison.fn, total)


def _mean(summary: Summary, group: str) -> PlaneMean | None:
    mean = PlaneMean(summary.mean(group, "fp_share"), summary.mean(group, "fn_share"))
    return None if mean.fp.low is None and mean.fn.low is None else mean


SIZE, LEFT, BOTTOM, TOP, RIGHT = 420.0, 62.0, 46.0, 10.0, 16.0
HEADROOM = 1.08
"""The length of an axis over the largest value."""


def plane_svg(plane: Plane) -> str:
    """Draw the plane over equal axes; grey lines join points of the same distance."""
    words = f"False positives against false negatives of {len(plane.points)} guesses"
    picture = new_picture("plane", SIZE, SIZE, words)
    largest = max([share for p in plane.points for share in (p.fp, p.fn)], default=0.0)
    widest = max([m.high or 0.0 for mean in plane.means for m in (mean.fp, mean.fn)], default=0)
    end = HEADROOM * max(largest, min(widest, 2 * largest)) or 1.0
    _add_axes(picture, end)
    for series in plane.series:
        for point in series.points:
            x, y = map(coordinate, _place(point.fp, point.fn, end))
            style = {"class_": "guess", "fill": series.colour, "fill_opacity": "0.8"}
            place = f"translate({x} {y})"
            drawn = add(picture, "path", d=series.path, transform=place, **style)
            fp, fn = (f"{100 * share:.3g} %" for share in (point.fp, point.fn))
            add_tip(drawn, f"{shown(point.name)}: only in guess {fp}, only in true {fn}")
    for series in plane.series:
        if series.mean is not None:
            _add_mean(picture, series, series.mean, end)
    return tostring(picture, encoding="unicode")


def _place(fp: float, fn: float, end: float) -> tuple[float, float]:
    """Return the place of two shares in the picture, clipped to the axes."""
    across, upward = (min(max(share, 0.0), end) / end for share in (fp, fn))
    return LEFT + (SIZE - LEFT - RIGHT) * across, SIZE - BOTTOM - (SIZE - TOP - BOTTOM) * upward


def _add_axes(picture: Element, end: float) -> None:
    step = round_step(end)
    corner_x, corner_y = corner = _place(0, 0, end)
    for share in (k * step for k in range(floor(2 * end / step) + 1)):
        if share <= end:
            x, y = _place(share, share, end)
            label = f"{100 * share:.3g} %"
            add_text(picture, label, (x, corner_y + 16), anchor="middle")
            add_text(picture, label, (corner_x - 6, y), anchor="end")
        if share:  # where both axes together are this distance, inside of the picture
            low = max(share - end, 0.0)
            ends = _place(low, share - low, end), _place(share - low, low, end)
            add_line(picture, *ends, stroke="#7f7f7f", stroke_opacity="0.35")
    for stop in (_place(end, 0, end), _place(0, end, end)):
        add_line(picture, corner, stop, stroke="currentColor", stroke_opacity="0.6")
    across, upward = (LEFT + SIZE - RIGHT) / 2, (TOP + SIZE - BOTTOM) / 2
    false_positives, false_negatives = (
        f"only in {which}, of all assertions" for which in ("guess (FP)", "true (FN)")
    )
    add_text(picture, false_positives, (across, SIZE - 8), anchor="middle")
    turned = f"translate(12 {coordinate(upward)}) rotate(-90)"
    add_text(picture, false_negatives, (0, 0), anchor="middle", transform=turned)


def _add_mean(picture: Element, series: PlaneSeries, mean: PlaneMean, end: float) -> None:
    """Add the mark of a group, larger and hollow, with its intervals."""
    fp, fn = mean.fp.mean or 0.0, mean.fn.mean or 0.0
    drawn = add(
        picture, "g", class_="mean", stroke=series.colour, fill="none", pointer_events="all"
    )
    words = f"{shown(series.name)}, mean of {mean.fp.count}: FP {_with_ends(mean.fp)}, "
    add_tip(drawn, words + f"FN {_with_ends(mean.fn)}")
    if mean.fp.low is not None and mean.fp.high is not None:
        ends = (_place(share, fn, end) for share in (mean.fp.low, mean.fp.high))
        add_line(drawn, *ends, stroke_opacity="0.6")
    if mean.fn.low is not None and mean.fn.high is not None:
        ends = (_place(fp, share, end) for share in (mean.fn.low, mean.fn.high))
        add_line(drawn, *ends, stroke_opacity="0.6")
    x, y = map(coordinate, _place(fp, fn, end))
    add(drawn, "path", d=series.path, transform=f"translate({x} {y}) scale(1.7)")


def _with_ends(value: Mean) -> str:
    mean = f"{100 * (value.mean or 0.0):.3g} %"
    if value.low is None or value.high is None:
        return mean
    return f"{mean} ({100 * value.low:.3g} to {100 * value.high:.3g})"
