"""Place points and labels of graphs, and shorten names.

Points minimise the **stress**, the sum over pairs of w·(|x - y| - d)², by majorisation: each step
solves a linear system and cannot increase the stress (Gansner, Koren and North, "Graph drawing by
stress majorization", 2004). Here d is the length of a shortest path and w is 1/d², the energy of
Kamada and Kawai. Nothing is random. For n points it takes O(n²) memory, one inverse in O(n³), and
O(n²) a step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from contextwise.comparison.question import Pair
from contextwise.support.arrays import FloatArray
from contextwise.support.formatting import name as short
from contextwise.support.formatting import printable

Positions = dict[str, tuple[float, float]]  # places of variables in the unit square; y points up

STEPS = 100  # the most steps for many points; few points may take more
TOLERANCE = 1e-4  # stop when a step improves the stress by a smaller share
EXACT = 1e-9  # the relative stress that counts as none
STRETCH = 2.2  # the largest ratio of the two stretches of a layout


def graph_layout(names: Sequence[str], edges: Iterable[Pair]) -> Positions:
    """Place nodes in the unit square; the parts of a graph that are not connected lie apart."""
    from scipy.sparse.csgraph import shortest_path

    if not names:
        return {}
    place = {name: k for k, name in enumerate(names)}
    adjacent = np.zeros((len(names), len(names)))
    for first, second in edges:
        adjacent[place[first], place[second]] = 1
    hops = shortest_path(adjacent, directed=False, unweighted=True)
    connected = np.isfinite(hops)
    hops[~connected] = hops[connected].max() / 2 + 1
    degrees = (hops == 1).sum(axis=1)
    if len(names) > 3 and sorted(degrees) == [*[1] * (len(names) - 1), len(names) - 1]:
        points = np.zeros((len(names), 2))  # a star: one variable and its neighbours
        points[degrees == 1] = circle(len(names) - 1)
    else:
        points = planar(hops)
    low, high = points.min(axis=0), points.max(axis=0)
    fitted = (points - (low + high) / 2) / max(float((high - low).max()), 1e-12) + 0.5
    return {name: (float(x), float(y)) for name, (x, y) in zip(names, fitted, strict=True)}


def circle(count: int) -> FloatArray:
    """Return points on a circle, clockwise from the top."""
    angles = np.pi / 2 - 2 * np.pi * np.arange(count) / max(count, 1)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def planar(distances: FloatArray) -> FloatArray:
    """Return points of small stress, centred at the origin."""
    n = len(distances)
    if n < 2:
        return np.zeros((n, 2))
    w = np.divide(1.0, distances**2, out=np.zeros((n, n)), where=distances > 0)
    laplacian = np.diag(w.sum(axis=1)) - w
    inverse = np.linalg.inv(laplacian + 1.0 / n)  # on centred points, the pseudoinverse
    points = _start(distances)
    stress, nothing = np.inf, EXACT * float((w * distances**2).sum())
    for _ in range(max(STEPS, 20_000 // n)):
        between = _between(points)
        before, stress = stress, float((w * (between - distances) ** 2).sum())
        if before - stress <= TOLERANCE * stress or stress <= nothing:
            break
        pull = np.divide(w * distances, between, out=np.zeros_like(w), where=between > 0)
        # The Guttman transform: no step raises the stress.
        points = inverse @ (points * pull.sum(axis=1)[:, None] - pull @ points)
        points -= points.mean(axis=0)
    return points


def fitted_to(
    points: FloatArray,
    frame: tuple[float, float],
    *,
    margin: tuple[float, float],
    apart: float,
) -> FloatArray:
    """Stretch points to a frame inside a margin; push them apart."""
    if not len(points):
        return points
    low, high = points.min(axis=0), points.max(axis=0)
    edge = np.array(margin)
    room = np.maximum(np.array(frame) - 2 * edge, 1.0)
    span = high - low
    scale = np.where(span > 1e-9, room / np.where(span > 1e-9, span, 1.0), 0.0)
    if scale.all():  # a shape may be stretched a little, not out of all proportion
        scale = np.minimum(scale, STRETCH * scale.min())
    placed: FloatArray = (points - (low + high) / 2) * scale + np.array(frame) / 2
    return _pushed_apart(placed, apart, edge, np.array(frame) - edge)


def _pushed_apart(
    points: FloatArray, apart: float, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Move points a little, until no two are too close or there is no room."""
    moved = points.copy()
    ways = circle(len(points))  # for points that lie on each other
    for _ in range(200):
        between = moved[:, None] - moved[None, :]
        lengths = np.hypot(between[..., 0], between[..., 1])
        np.fill_diagonal(lengths, np.inf)
        if lengths.min() >= apart:
            break
        lack = np.clip(apart - lengths, 0, None)
        same = lengths < 1e-6
        units = between / np.where(same, 1.0, lengths)[..., None]
        units[same] = (ways[:, None] - ways[None, :])[same]
        moved = np.clip(moved + 0.5 * (units * lack[..., None]).sum(axis=1), low, high)
    return moved


def _start(distances: FloatArray) -> FloatArray:
    """Return classical scaling plus a small circle, so that no two points coincide."""
    n = len(distances)
    centre = np.eye(n) - 1.0 / n
    # Double centring turns squared distances into inner products.
    values, vectors = np.linalg.eigh(-0.5 * centre @ distances**2 @ centre)
    axes: FloatArray = vectors[:, [-1, -2]] * np.sqrt(np.maximum(values[[-1, -2]], 0.0))
    # An eigenvector has no sign of its own; the farthest point decides.
    farthest = np.abs(axes).argmax(axis=0)
    axes = axes * np.where(axes[farthest, [0, 1]] < 0, -1.0, 1.0)
    start: FloatArray = axes + 0.1 * distances.mean() * circle(n)
    return start


def _between(points: FloatArray) -> FloatArray:
    """Return the distances between points, by |x - y|² = x² + y² - 2xy, which saves memory."""
    squares = (points**2).sum(axis=1)
    apart = squares[:, None] + squares[None, :] - 2 * points @ points.T
    between: FloatArray = np.sqrt(np.maximum(apart, 0.0))
    return between


RINGS = 14
RING = 3.5
DIRECTIONS = 16
"""Labels are tried at this many distances, this many points apart, in this many directions."""
STEP = 3.0  # the distance between the points of a line that labels avoid


# -- short names ---------------------------------------------------------------------------------


def cut_names(names: Sequence[str], most: int = 20) -> list[str]:
    """Cut long names; two different names are never cut to the same text."""
    lines = [printable(name) for name in names]
    cut = [short(line, most) for line in lines]
    for form in {form for form in cut if cut.count(form) > 1}:
        alike = [k for k, text in enumerate(cut) if text == form]
        windows = _where_they_differ([lines[k] for k in alike], most)
        for k, window in zip(alike, windows, strict=True):
            cut[k] = window
    return cut if len(set(cut)) == len(set(lines)) else lines


def _where_they_differ(texts: Sequence[str], most: int) -> list[str]:
    """Return a window of each text that begins just before they differ."""
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
    first: FloatArray | None = None,
) -> FloatArray | None:
    """Return middles of labels that cover no point and no other label, or None; avoid ``lines``.

    With ``first``, labels of the largest values are placed first, and those that find no place are
    left out (NaN).
    """
    inked = _along(lines) if lines is not None and len(lines) else np.zeros((0, 2))
    crowd = ((points[:, None] - points[None, :]) ** 2).sum(axis=2)
    # Labels in a crowd have the least choice, so they come first.
    order = np.argsort(np.sort(crowd, axis=1)[:, min(3, len(points) - 1)] if len(points) else [])
    if first is not None:
        order = np.argsort(-first, kind="stable")
    middles = np.full((len(points), 2), np.nan)
    placed: list[int] = []
    centre = points.mean(axis=0) if len(points) else np.zeros(2)
    for k in order.tolist():
        offered = _candidates(points[k], sizes[k], radius)
        low, high = offered - sizes[k] / 2, offered + sizes[k] / 2
        free = (low >= 0).all(axis=1) & (high <= frame).all(axis=1)
        nearest = np.clip(points[None, :], low[:, None], high[:, None])
        covered = ((nearest - points[None, :]) ** 2).sum(axis=2) < (radius + 0.5) ** 2
        free &= ~covered.any(axis=1)
        if placed:
            half = (sizes[k] + sizes[placed]) / 2
            apart = np.abs(offered[:, None] - middles[placed][None, :]) >= half[None, :]
            # Two boxes are disjoint if they are apart along one axis.
            free &= apart.any(axis=2).all(axis=1)
        if not free.any():
            if first is None:
                return None
            continue
        near = (np.abs(inked - points[k]) <= RING * RINGS + radius + sizes[k]).all(axis=1)
        middles[k] = _cheapest(offered[free], sizes[k], points[k], inked[near], centre)
        placed.append(k)
    return middles


def _candidates(point: FloatArray, size: FloatArray, radius: float) -> FloatArray:
    """Return middles of boxes around a point, near ones first."""
    angles = 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    ways = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    gaps = radius + 1.5 + RING * np.arange(RINGS)
    # In direction d, the box touches the circle of radius g when its middle is g·d + s·half.
    reach = np.clip(ways * 1.4, -1, 1) * size / 2
    offsets = gaps[:, None, None] * ways[None, :] + reach[None, :]
    middles: FloatArray = point + offsets.reshape(-1, 2)
    return middles


def _cheapest(
    offered: FloatArray, size: FloatArray, point: FloatArray, inked: FloatArray, centre: FloatArray
) -> FloatArray:
    """Choose a place: distance and lines under the label cost, outside of the graph pays."""
    low, high = offered - size / 2, offered + size / 2
    away = offered - point
    length = np.hypot(*away.T)
    outward = point - centre
    towards = (away @ outward) / (length * (np.hypot(*outward) or 1.0) + 1e-9)
    inside = (inked[None] >= low[:, None]) & (inked[None] <= high[:, None])
    crossed = inside.all(axis=2).sum(axis=1) if len(inked) else 0
    cheapest: FloatArray = offered[(length + 2.0 * crossed - 3.0 * towards).argmin()]
    return cheapest


def _along(lines: FloatArray) -> FloatArray:
    lengths = np.hypot(*(lines[:, 1] - lines[:, 0]).T)
    pieces = []
    for (start, end), length in zip(lines, lengths, strict=True):
        steps = np.linspace(0, 1, max(2, int(length / STEP)))[:, None]
        pieces.append(start + steps * (end - start))
    return np.concatenate(pieces)
