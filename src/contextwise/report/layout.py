"""Where things are drawn: points in the plane whose distances follow given ones.

The same method places the nodes of a graph and maps a matrix of distances between models. It
minimises the **stress**, the sum over pairs of w·(|x - y| - d)², by majorisation: every step solves
a linear system and cannot make the stress larger (Gansner, Koren and North, "Graph drawing by
stress majorization", 2004). For a graph, d is the number of edges of a shortest path and w is
1/d², which is the energy of Kamada and Kawai. Nothing is random: the same input gives the same
picture.

Time and memory: O(n²) memory for n points, one inverse in O(n³), and O(n²) a step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt

import numpy as np
import numpy.typing as npt

from contextwise.comparison.pairs import Pair

FloatArray = npt.NDArray[np.float64]
Positions = dict[str, tuple[float, float]]
"""Where each variable is, in the unit square; y rises upwards."""

STEPS = 100
"""The most steps for many points; few points may take more."""
TOLERANCE = 1e-4
"""A step that improves the stress by a smaller share than this is the last."""
EXACT = 1e-9
"""The share of the distances' squares that counts as no stress at all."""
STRETCH = 1.5
"""How much more a layout may be stretched in one direction than in the other."""
EDGE, PLACES = 0.15, 24
"""How long an edge to a node that comes later is, and among how many places a side it chooses."""
APART = 0.11
"""How far nodes that fill the unit square are from each other, where there is room."""
SPOKE = 0.4
"""How far apart the neighbours of one node stand on their circle."""
GAP = 0.8
"""How far the parts of a graph are from each other; an edge is about 1 long."""


def graph_layout(names: Sequence[str], edges: Iterable[Pair]) -> Positions:
    """Places for the nodes of a graph; give it the edges of both models, and nodes stay still.

    The nodes of each connected part minimise the stress, and the parts stand side by side. The same
    energy is what networkx's ``kamada_kawai_layout`` minimises; doing it here keeps pages and
    pictures without another package, and the same from run to run.

    Parameters
    ----------
    names : of the nodes
    edges : pairs of them

    Returns
    -------
    dict from names to places in the unit square

    Examples
    --------
    >>> places = graph_layout(["A", "B", "C"], [("A", "B")])
    >>> sorted(places), all(0 <= x <= 1 and 0 <= y <= 1 for x, y in places.values())
    (['A', 'B', 'C'], True)
    """
    place = {name: k for k, name in enumerate(names)}
    adjacent = np.zeros((len(names), len(names)), dtype=bool)
    for first, second in edges:
        adjacent[place[first], place[second]] = adjacent[place[second], place[first]] = True
    fitted = in_unit_square(_side_by_side(adjacent))
    return {name: (float(x), float(y)) for name, (x, y) in zip(names, fitted, strict=True)}


def placed_beside(known: Positions, edges: Sequence[Pair]) -> Positions:
    """Places for the nodes of a graph, some of which have theirs: these stay where they are.

    The others come one by one, those with most neighbours in the picture first: near to these
    neighbours, and as far as can be from everything else.

    Parameters
    ----------
    known : places in the unit square; those of nodes without an edge are left out
    edges : pairs of names

    Returns
    -------
    dict from names to places in the unit square

    Examples
    --------
    >>> places = placed_beside({"A": (0.5, 0.5), "Z": (0, 0)}, [("A", "B"), ("C", "D")])
    >>> places["A"], sorted(places)
    ((0.5, 0.5), ['A', 'B', 'C', 'D'])
    """
    neighbours: dict[str, list[str]] = {}
    for first, second in edges:
        neighbours.setdefault(first, []).append(second)
        neighbours.setdefault(second, []).append(first)
    placed = {name: known[name] for name in neighbours if name in known}
    waiting = [name for name in neighbours if name not in known]
    while waiting:
        there = [[other for other in neighbours[name] if other in placed] for name in waiting]
        k = max(range(len(waiting)), key=lambda k: len(there[k]))
        near = np.array([placed[other] for other in there[k]]).reshape(-1, 2)
        placed[waiting.pop(k)] = _free_place(near, np.array(list(placed.values())).reshape(-1, 2))
    return placed


def _free_place(near: FloatArray, taken: FloatArray) -> tuple[float, float]:
    """A place about as long as an edge from some nodes, and far from all that are taken."""
    step = np.linspace(0.04, 0.96, PLACES)
    offered = np.stack(np.meshgrid(step, step), axis=-1).reshape(-1, 2)
    free = _apart(offered, taken).min(axis=1, initial=EDGE)  # farther away is no better
    reach = np.abs(_apart(offered, near) - EDGE).mean(axis=1) if len(near) else 0.0
    x, y = offered[int(np.argmax(free - reach / 2))]
    return float(x), float(y)


def _apart(some: FloatArray, others: FloatArray) -> FloatArray:
    """The distance of each of some points from each of others."""
    found: FloatArray = np.hypot(*(some[:, None] - others[None]).transpose(2, 0, 1))
    return found


def _side_by_side(adjacent: npt.NDArray[np.bool_]) -> FloatArray:
    """Each connected part by stress; the largest first, the others in columns beside it."""
    if not len(adjacent):
        return np.zeros((0, 2))
    hops = hop_distances(adjacent)
    first = np.isfinite(hops).argmax(axis=1)  # of its part, the first node
    parts = [np.flatnonzero(first == node) for node in np.unique(first)]
    points = np.zeros((len(adjacent), 2))
    left = top = width = tallest = 0.0
    for part in sorted(parts, key=len, reverse=True):
        placed = _placed(hops[np.ix_(part, part)])
        across, along = (np.ptp(placed, axis=0) + GAP).tolist()
        tallest = max(tallest, along, sqrt(len(adjacent)) / 2)
        if top + along > tallest + EXACT:  # the column is full: begin the next one
            left, top, width = left + width, 0.0, 0.0
        points[part] = placed - placed.min(axis=0) + [left, -top - along]
        top, width = top + along, max(width, across)
    return points


def _placed(hops: FloatArray) -> FloatArray:
    """One connected part: the neighbours of one node on a circle, anything else by stress."""
    adjacent = hops == 1
    middle = int(adjacent.sum(axis=1).argmax())
    leaves = np.flatnonzero(adjacent[middle])
    if len(leaves) < 3 or adjacent.sum() != 2 * len(leaves) or len(hops) != len(leaves) + 1:
        with np.errstate(divide="ignore"):
            return planar(hops, weights=1.0 / hops**2)
    points = np.zeros((len(hops), 2))
    points[leaves] = circle(len(leaves)) * max(1.0, SPOKE * len(leaves) / (2 * np.pi))
    return points


def circle(count: int) -> FloatArray:
    """Points on a circle, clockwise from the top."""
    angles = np.pi / 2 - 2 * np.pi * np.arange(count) / max(count, 1)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def hop_distances(adjacent: npt.NDArray[np.bool_]) -> FloatArray:
    """The lengths of the shortest paths; infinite where there is none.

    >>> hop_distances(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=bool)).tolist()
    [[0.0, 1.0, inf], [1.0, 0.0, inf], [inf, inf, 0.0]]
    """
    edges = adjacent.astype(np.float32)
    reached = np.eye(len(adjacent), dtype=bool)
    hops = np.full(adjacent.shape, np.inf)
    frontier, steps = reached, 0
    while frontier.any():
        hops[frontier] = steps
        frontier = (frontier.astype(np.float32) @ edges > 0) & ~reached
        reached = reached | frontier
        steps += 1
    return hops


def planar(distances: FloatArray, *, weights: FloatArray | None = None) -> FloatArray:
    """Points in the plane with small stress: shape (n, 2), centred at the origin.

    Parameters
    ----------
    distances : array of shape (n, n), symmetric, 0 on the diagonal
    weights : array of the same shape, optional
        How much each distance matters; the diagonal is ignored. By default all matter the same.
    """
    n = len(distances)
    if n < 2:
        return np.zeros((n, 2))
    w = np.ones((n, n)) if weights is None else weights.copy()
    np.fill_diagonal(w, 0.0)
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
        points = inverse @ (points * pull.sum(axis=1)[:, None] - pull @ points)
        points -= points.mean(axis=0)
    return points


def in_unit_square(points: FloatArray) -> FloatArray:
    """The points shifted and scaled, the same in both directions, to fill the unit square."""
    if not len(points):
        return points
    low, high = points.min(axis=0), points.max(axis=0)
    scale = max(float((high - low).max()), 1e-12)
    fitted: FloatArray = (points - (low + high) / 2) / scale + 0.5
    return fitted


def filling(positions: Positions) -> Positions:
    """Places in the unit square, stretched to fill it as far as a shape may be, and apart.

    >>> filling({"A": (0.0, 0.5), "B": (1.0, 0.5), "C": (0.5, 0.1)})["C"]
    (0.5, 0.2)
    """
    points = np.array(list(positions.values())).reshape(-1, 2)
    fitted = fitted_to(points, (1.0, 1.0), margin=(0.0, 0.0), apart=APART)
    return {name: (x, y) for name, (x, y) in zip(positions, fitted.tolist(), strict=True)}


def fitted_to(
    points: FloatArray,
    frame: tuple[float, float],
    *,
    margin: tuple[float, float],
    apart: float,
    whole: bool = False,
) -> FloatArray:
    """The points stretched to a frame, and pushed apart where they are closer than that.

    Parameters
    ----------
    points : array of shape (n, 2)
    frame : width and height
    margin : what stays free on both sides, across and along
    apart : the least distance that two points shall have, where there is room
    whole : whether the whole unit square is stretched to the frame, and not the points' own box

    Returns
    -------
    array of shape (n, 2)
    """
    if not len(points):
        return points
    low, high = (np.zeros(2), np.ones(2)) if whole else (points.min(axis=0), points.max(axis=0))
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
    """Points moved by little, until no two are closer than that or there is no room."""
    found = points.copy()
    ways = circle(len(points))  # for points that lie on each other
    for _ in range(200):
        between = found[:, None] - found[None, :]
        lengths = np.hypot(between[..., 0], between[..., 1])
        np.fill_diagonal(lengths, np.inf)
        if lengths.min() >= apart:
            break
        lack = np.clip(apart - lengths, 0, None)
        same = lengths < 1e-6
        units = between / np.where(same, 1.0, lengths)[..., None]
        units[same] = (ways[:, None] - ways[None, :])[same]
        found = np.clip(found + 0.5 * (units * lack[..., None]).sum(axis=1), low, high)
    return found


def _start(distances: FloatArray) -> FloatArray:
    """Classical scaling, and a bit of a circle so that no two points start at one place."""
    n = len(distances)
    centre = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * centre @ distances**2 @ centre)
    axes: FloatArray = vectors[:, [-1, -2]] * np.sqrt(np.maximum(values[[-1, -2]], 0.0))
    # An eigenvector has no sign of its own; the farthest point decides.
    farthest = np.abs(axes).argmax(axis=0)
    axes = axes * np.where(axes[farthest, [0, 1]] < 0, -1.0, 1.0)
    start: FloatArray = axes + 0.1 * distances.mean() * circle(n)
    return start


def _between(points: FloatArray) -> FloatArray:
    """The distances between points, by |x - y|² = x² + y² - 2xy: fewer large arrays."""
    squares = (points**2).sum(axis=1)
    apart = squares[:, None] + squares[None, :] - 2 * points @ points.T
    between: FloatArray = np.sqrt(np.maximum(apart, 0.0))
    return between
