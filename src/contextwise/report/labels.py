"""Names in pictures: short ones that stay different, and places where they cover nothing.

`distinct_names` leaves out what all names share, and `cut_names` never cuts two names to the same
text. `place_labels` finds a box for each name beside its point such that no box covers a point
or another box; where there is a choice it takes the nearest one that crosses the fewest lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from contextwise.support.formatting import name as short
from contextwise.support.formatting import printable

FloatArray = npt.NDArray[np.float64]
RINGS = 14
"""How many distances from its point are tried for a label."""
RING = 3.5
"""By how much a distance is larger than the one before, in points."""
DIRECTIONS = 16
STEP = 3.0
"""How far apart the points of a line are that a label should not cover, in points."""


# -- short names ---------------------------------------------------------------------------------


def distinct_names(names: Sequence[str], most: int = 20) -> list[str]:
    """Short forms of some names: without the words that all share, and different where names are.

    Parameters
    ----------
    names : of models
    most : how long a short form should be; longer ones stay where cutting would make two equal

    Returns
    -------
    list of str
        In the order of the names.

    Examples
    --------
    >>> distinct_names(["runs/nltcs.cl.mn", "runs/nltcs.dt-ps10.mn", "runs/nltcs.dt-ps50.mn"])
    ['cl', 'dt-ps10', 'dt-ps50']
    """
    lines = [printable(name) for name in names]
    begin, end = shared_parts(lines)
    return cut_names([line[len(begin) : len(line) - len(end)] for line in lines], most)


def cut_names(names: Sequence[str], most: int = 20) -> list[str]:
    """Names on one line, long ones cut; two that differ are never cut to the same text.

    Parameters
    ----------
    names : of variables or models
    most : how long a name should be

    Returns
    -------
    list of str

    Examples
    --------
    >>> cut_names(["smoker", "x" * 30 + "1" + "y" * 30, "x" * 30 + "2" + "y" * 30], most=9)
    ['smoker', '…xx1yyyy…', '…xx2yyyy…']
    """
    lines = [printable(name) for name in names]
    cut = [short(line, most) for line in lines]
    for form in {form for form in cut if cut.count(form) > 1}:
        alike = [k for k, own in enumerate(cut) if own == form]
        windows = _where_they_differ([lines[k] for k in alike], most)
        for k, window in zip(alike, windows, strict=True):
            cut[k] = window
    return cut if len(set(cut)) == len(set(lines)) else lines


def shared_parts(names: Sequence[str]) -> tuple[str, str]:
    """The words that all of some names begin with, and those that all end with.

    >>> shared_parts(["nltcs.cl.mn", "nltcs.dt.mn"]), shared_parts(["smoker", "smokes"])
    (('nltcs.', '.mn'), ('', ''))
    """
    words = [re.split(r"([^A-Za-z0-9]+)", name) for name in names]
    fewest = min(map(len, words), default=0)
    if len(set(names)) < 2:
        return "", ""
    first = next(k for k in range(fewest + 1) if k == fewest or len({own[k] for own in words}) > 1)
    left = fewest - first
    last = next(k for k in range(left + 1) if k == left or len({own[-k - 1] for own in words}) > 1)
    # Something must be left of each name: give back the last word that all share.
    while last and any(not "".join(own[first : len(own) - last]).strip() for own in words):
        last -= 1
    while first and any(not "".join(own[first : len(own) - last]).strip() for own in words):
        first -= 1
    own = words[0]
    return "".join(own[:first]), "".join(own[len(own) - last :])


def _where_they_differ(texts: Sequence[str], most: int) -> list[str]:
    """A window of each text that begins just before they differ."""
    shortest = min(map(len, texts))
    same = next((k for k in range(shortest) if len({text[k] for text in texts}) > 1), shortest)
    start = 0 if len(set(texts)) == 1 else max(0, same - 2)
    room = most - 1 - bool(start)
    before = "…" if start else ""
    return [
        before + text[start : start + room] + ("…" if len(text) > start + room else "")
        for text in texts
    ]


# -- places for labels ----------------------------------------------------------------------------


def place_labels(
    points: FloatArray,
    sizes: FloatArray,
    *,
    frame: tuple[float, float],
    radius: float = 3.0,
    lines: FloatArray | None = None,
) -> FloatArray | None:
    """The middle of a box for each label, such that none covers a point or another box.

    Parameters
    ----------
    points : array of shape (n, 2)
        What is labelled, in points of paper.
    sizes : array of shape (n, 2)
        Width and height of each label.
    frame : width and height of what all boxes must stay inside
    radius : of the discs that are drawn at the points
    lines : array of shape (m, 2, 2), optional
        The ends of lines that labels should rather not cross.

    Returns
    -------
    array of shape (n, 2), or None
        None if no free place was left for some label.

    Examples
    --------
    >>> middle = place_labels(np.array([[50.0, 50.0]]), np.array([[20.0, 8.0]]), frame=(100, 100))
    >>> bool(abs(middle - [50, 50]).max() > 3)
    True
    """
    inked = _along(lines) if lines is not None and len(lines) else np.zeros((0, 2))
    crowd = ((points[:, None] - points[None, :]) ** 2).sum(axis=2)
    order = np.argsort(np.sort(crowd, axis=1)[:, min(3, len(points) - 1)] if len(points) else [])
    middles = np.zeros((len(points), 2))
    placed: list[int] = []
    centre = points.mean(axis=0) if len(points) else np.zeros(2)
    for k in order.tolist():
        found = _candidates(points[k], sizes[k], radius)
        low, high = found - sizes[k] / 2, found + sizes[k] / 2
        free = (low >= 0).all(axis=1) & (high <= frame).all(axis=1)
        free &= ~_covers_discs(low, high, points, radius)
        if placed:
            half = (sizes[k] + sizes[placed]) / 2
            apart = np.abs(found[:, None] - middles[placed][None, :]) >= half[None, :]
            free &= apart.any(axis=2).all(axis=1)
        if not free.any():
            return None
        near = (np.abs(inked - points[k]) <= RING * RINGS + radius + sizes[k]).all(axis=1)
        boxes = low[free], high[free]
        cost = _cost(found[free], points[k], *boxes, inked[near], centre)
        middles[k] = found[free][cost.argmin()]
        placed.append(k)
    return middles


def _candidates(point: FloatArray, size: FloatArray, radius: float) -> FloatArray:
    """Middles of boxes around a point, near ones first."""
    angles = 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    ways = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    gaps = radius + 1.5 + RING * np.arange(RINGS)
    # In direction d, the box touches the circle of radius g when its middle is g·d + s·half.
    reach = np.clip(ways * 1.4, -1, 1) * size / 2
    offsets = gaps[:, None, None] * ways[None, :] + reach[None, :]
    found: FloatArray = point + offsets.reshape(-1, 2)
    return found


def _covers_discs(
    low: FloatArray, high: FloatArray, points: FloatArray, radius: float
) -> npt.NDArray[np.bool_]:
    nearest = np.clip(points[None, :], low[:, None], high[:, None])
    close = ((nearest - points[None, :]) ** 2).sum(axis=2) < (radius + 0.5) ** 2
    covers: npt.NDArray[np.bool_] = close.any(axis=1)
    return covers


def _cost(
    found: FloatArray,
    point: FloatArray,
    low: FloatArray,
    high: FloatArray,
    inked: FloatArray,
    centre: FloatArray,
) -> FloatArray:
    """Far is bad, ink below the label is bad, and a label rather stands outside than inside."""
    away = found - point
    length = np.hypot(*away.T)
    outward = point - centre
    towards = (away @ outward) / (length * (np.hypot(*outward) or 1.0) + 1e-9)
    inside = (inked[None] >= low[:, None]) & (inked[None] <= high[:, None])
    crossed = inside.all(axis=2).sum(axis=1) if len(inked) else 0
    cost: FloatArray = length + 2.0 * crossed - 3.0 * towards
    return cost


def _along(lines: FloatArray) -> FloatArray:
    """Points along lines, a few points of paper apart."""
    lengths = np.hypot(*(lines[:, 1] - lines[:, 0]).T)
    pieces = []
    for (start, end), length in zip(lines, lengths, strict=True):
        steps = np.linspace(0, 1, max(2, int(length / STEP)))[:, None]
        pieces.append(start + steps * (end - start))
    return np.concatenate(pieces)


def apart(wanted: FloatArray, step: float) -> FloatArray:
    """Heights near the wanted ones and in their order, at least a step from each other.

    Parameters
    ----------
    wanted : shares of a height
    step : the least difference of two of them

    Returns
    -------
    array of the same shape
        At most 1.

    Examples
    --------
    >>> apart(np.array([0.5, 0.5, 0.1]), 0.25).tolist()
    [0.5, 0.75, 0.1]
    """
    order = np.argsort(wanted, kind="stable")
    room = step * np.arange(len(wanted))
    pushed_up = np.maximum.accumulate(wanted[order] - room) + room
    found = np.empty(len(wanted))
    found[order] = np.minimum(pushed_up, 1 - room[::-1])
    return found
