"""Pictures of statistics for pages: the map of supports, and the plane of errors, as SVG texts."""

from __future__ import annotations

from math import floor, log10
from xml.etree.ElementTree import Element, tostring

from contextwise.models.numbers import name as shown
from contextwise.models.numbers import percent
from contextwise.report.heatmap import codes_png
from contextwise.report.planes import Plane, PlaneSeries
from contextwise.report.supports import SupportMap, palette
from contextwise.report.svg_elements import (
    MOST_CELLS,
    add,
    add_images,
    add_tip,
    coordinate,
    new_picture,
    square_picture,
)

SIZE, LEFT, BOTTOM, TOP, RIGHT = 420.0, 62.0, 46.0, 10.0, 16.0
"""The plane is small enough to be read on a phone without shrinking its letters much."""
HEADROOM = 1.08
"""An axis is so much longer than the largest value, so that no mark is cut."""
TICKS = 5


def supports_svg(supports: SupportMap, *, size: int = 600) -> str:
    """The map of supports, about ``size`` wide: resamples above the diagonal, contexts below.

    Parameters
    ----------
    supports : what is drawn
    size : the width of the picture

    Returns
    -------
    str
    """
    names = supports.names
    words = (
        f"Support of the pairs of {len(names)} variables in {supports.resamples} resamples: "
        "share of resamples above the diagonal, share of contexts below it"
    )
    square = square_picture(names, words, size=size)
    if len(names) <= MOST_CELLS:
        paint = palette()
        for row, column in zip(*supports.codes.nonzero(), strict=True):
            of = "contexts on average" if row > column else "resamples"
            share = percent(float(supports.shares[row, column]), 1)  # type: ignore[arg-type]
            square.add_cell(
                (int(row), int(column)),
                paint[int(supports.codes[row, column])],
                kind="support",
                words=f"{shown(names[row])} – {shown(names[column])}: depend in {share} of {of}",
            )
    else:
        most = int(square.side)
        light, dark = (
            codes_png(supports.codes, palette(dark=own), most=most) for own in (False, True)
        )
        add_images(square, light, dark)
    return square.finished()


def plane_svg(plane: Plane) -> str:
    """The plane of errors over equal axes; grey lines join points of the same distance.

    Parameters
    ----------
    plane : what is drawn

    Returns
    -------
    str
    """
    end = HEADROOM * max([share for p in plane.points for share in (p.fp, p.fn)], default=0.0)
    end = end or 1.0
    words = f"False positives against false negatives of {len(plane.points)} guesses"
    picture = new_picture("plane", SIZE, SIZE, words)
    _add_axes(picture, end)
    for one in plane.series:
        _add_series(picture, one, end)
    return tostring(picture, encoding="unicode")


def _across(share: float, end: float) -> float:
    return LEFT + (SIZE - LEFT - RIGHT) * share / end


def _upward(share: float, end: float) -> float:
    return SIZE - BOTTOM - (SIZE - TOP - BOTTOM) * share / end


def _add_axes(picture: Element, end: float) -> None:
    step = round_step(end)
    grey = {"stroke": "#7f7f7f", "stroke_opacity": "0.35"}
    marks = [k * step for k in range(floor(2 * end / step) + 1)]
    corner = _across(0, end), _upward(0, end)
    for share in marks:
        if share <= end:
            x, y = _across(share, end), _upward(share, end)
            label = f"{100 * share:.3g} %"
            _add_text(picture, label, x, corner[1] + 16, anchor="middle")
            _add_text(picture, label, corner[0] - 6, y, anchor="end")
        if share:  # where both axes together are this distance, inside of the picture
            low = max(share - end, 0.0)
            start = _across(low, end), _upward(share - low, end)
            stop = _across(share - low, end), _upward(low, end)
            _add_line(picture, start, stop, grey)
    axis = {"stroke": "currentColor", "stroke_opacity": "0.6"}
    _add_line(picture, corner, (_across(end, end), corner[1]), axis)
    _add_line(picture, corner, (corner[0], _upward(end, end)), axis)
    across, upward = (LEFT + SIZE - RIGHT) / 2, (TOP + SIZE - BOTTOM) / 2
    _add_text(picture, "only in guess (FP), of all assertions", across, SIZE - 8, anchor="middle")
    beside = _add_text(picture, "only in true (FN), of all assertions", 0, 0, anchor="middle")
    beside.set("transform", f"translate(12 {coordinate(upward)}) rotate(-90)")


def round_step(end: float) -> float:
    """A round distance between marks of an axis that ends there, so that there are few.

    >>> [round_step(end) for end in (1.0, 0.037, 0.26)]
    [0.2, 0.01, 0.1]
    """
    power = 10.0 ** floor(log10(end / TICKS))
    return next(power * k for k in (1, 2, 5, 10) if end / TICKS <= power * k * 1.0001)


def _add_line(
    picture: Element,
    start: tuple[float, float],
    stop: tuple[float, float],
    style: dict[str, str],
) -> None:
    (x1, y1), (x2, y2) = start, stop
    places = {"x1": coordinate(x1), "y1": coordinate(y1), "x2": coordinate(x2)}
    add(picture, "line", **places, y2=coordinate(y2), **style)


def _add_text(picture: Element, text: str, x: float, y: float, *, anchor: str) -> Element:
    style = {"font_size": "12", "fill": "currentColor", "dy": "0.35em", "text_anchor": anchor}
    drawn = add(picture, "text", x=coordinate(x), y=coordinate(y), **style)
    drawn.text = text
    return drawn


def _add_series(picture: Element, one: PlaneSeries, end: float) -> None:
    for point in one.points:
        x, y = coordinate(_across(point.fp, end)), coordinate(_upward(point.fn, end))
        drawn = add(
            picture,
            "path",
            d=one.path,
            transform=f"translate({x} {y})",
            fill=one.colour,
            fill_opacity="0.8",
        )
        fp, fn = (f"{100 * share:.3g} %" for share in (point.fp, point.fn))
        add_tip(drawn, f"{shown(point.name)}: only in guess {fp}, only in true {fn}")
