"""The distances of many models: as a matrix, as a tree and as a map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from contextwise.errors import DomainError, require
from contextwise.models.numbers import name as shown
from contextwise.models.numbers import rate
from contextwise.report.layout import FloatArray, planar
from contextwise.report.plots.figures import COLUMN, new_axes, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WITH_NUMBERS = 12
"""Up to this many models each cell shows its number."""
LABELS = 40
"""The most labels along a side."""
HIGH = 0.07
"""The height of a label beside the map, as a share of the map's; less if there are too many."""


@styled
def plot_models(names: Sequence[str], distances: FloatArray) -> list[Axes]:
    """The tree, the matrix in its order, and the map, side by side.

    Parameters
    ----------
    distances : array of shape (models, models)
        Symmetric; normalized distances, or any others.
    """
    _check(names, distances)
    figure = new_figure(2 * COLUMN, COLUMN)
    tree, matrix, plane = figure.subplots(1, 3, gridspec_kw={"width_ratios": [0.35, 1, 1]})
    order = plot_dendrogram(names, distances, axes=tree)
    arranged = distances[np.ix_(order, order)]
    plot_distances([names[k] for k in order], arranged, axes=matrix)
    matrix.set_aspect("auto")  # as high as the tree, whose leaves are its rows
    plot_map(names, distances, axes=plane)
    return [tree, matrix, plane]


@styled
def plot_distances(
    names: Sequence[str], distances: FloatArray, *, axes: Axes | None = None
) -> Axes:
    """The matrix of distances as shades; few models show their numbers."""
    _check(names, distances)
    axes = axes or new_axes()
    n = len(names)
    largest = float(distances.max(initial=0)) or 1.0
    image = axes.imshow(distances, cmap="cividis_r", vmin=0, vmax=largest)
    if n <= WITH_NUMBERS:
        dark = largest / 2
        for r in range(n):
            for c in range(n):
                colour = "white" if distances[r, c] > dark else "black"
                text = rate(float(distances[r, c])).lstrip("0") or "0"
                size = 6 if n <= 8 else 4
                axes.text(c, r, text, ha="center", va="center", color=colour, fontsize=size)
    else:
        axes.figure.colorbar(image, ax=axes, location="top", shrink=0.8, label="distance")
    places = range(0, n, max(1, -(-n // LABELS)))
    labels = [shown(names[k], 20) for k in places]
    axes.set_xticks(places, labels, rotation=90, fontsize=6)
    axes.set_yticks(places, labels, fontsize=6)
    axes.tick_params(length=2)
    return axes


@styled
def plot_dendrogram(
    names: Sequence[str], distances: FloatArray, *, axes: Axes | None = None
) -> list[int]:
    """The tree of average linkage, drawn to the left; returns the order of its leaves."""
    _check(names, distances)
    axes = axes or new_axes()
    axes.axis("off")
    if len(names) < 2:
        return list(range(len(names)))
    hierarchy = require("scipy.cluster.hierarchy", "plots")
    spatial = require("scipy.spatial.distance", "plots")
    tree = hierarchy.linkage(spatial.squareform(distances), "average", optimal_ordering=True)
    drawn: dict[str, Any] = hierarchy.dendrogram(tree, no_plot=True)
    for across, along in zip(drawn["dcoord"], drawn["icoord"], strict=True):
        axes.plot(across, (np.array(along) - 5) / 10, color="black", linewidth=0.6)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.invert_xaxis()
    return list(drawn["leaves"])


@styled
def plot_map(names: Sequence[str], distances: FloatArray, *, axes: Axes | None = None) -> Axes:
    """The models as points whose distances on paper follow their distances as well as they can.

    The stress (see `contextwise.report.layout`) stands below: the root mean square of what is wrong
    with the distances on paper, over that of the distances.
    """
    _check(names, distances)
    axes = axes or new_axes()
    points = planar(distances)
    axes.plot(points[:, 0], points[:, 1], "o", color="#0072B2", markersize=4)
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    half = 0.55 * float(np.ptp(points, axis=0).max()) or 1.0
    places, size = _label_places((points - middle) / (2 * half) + 0.5)
    for name, point, (x, height) in zip(names, points, places, strict=True):
        axes.annotate(
            shown(name, 20),
            point,
            xytext=(x, height),
            textcoords="axes fraction",
            fontsize=5 * size,
            ha="right" if x < 0.5 else "left",
            va="center",
            arrowprops={
                "arrowstyle": "-",
                "linewidth": 0.3,
                "color": "#7f7f7f",
                "relpos": (float(x < 0.5), 0.5),
                "shrinkA": 1,
            },
        )
    axes.set(xticks=[], yticks=[], aspect="equal")
    axes.set_xlim(middle[0] - half, middle[0] + half)
    axes.set_ylim(middle[1] - half, middle[1] + half)
    axes.set_xlabel(f"stress {_stress(points, distances):.3f}")
    return axes


def _label_places(points: FloatArray) -> tuple[FloatArray, float]:
    """Where each label stands, and its size; all in shares of the map.

    Models that are alike lie on one point. Labels in a column on each side, with a line to their
    points, stand apart whatever the points are.
    """
    places = np.empty((len(points), 2))
    half = (len(points) + 1) // 2
    step = min(HIGH, 1 / half)
    across = np.argsort(points[:, 0], kind="stable")
    for x, column in ((-0.05, across[:half]), (1.05, across[half:])):
        places[column, 0] = x
        places[column, 1] = _apart(points[column, 1], step)
    return places, step / HIGH


def _apart(wanted: FloatArray, step: float) -> FloatArray:
    """Heights near the wanted ones and in their order, at least a step from each other."""
    order = np.argsort(wanted, kind="stable")
    room = step * np.arange(len(wanted))
    pushed_up = np.maximum.accumulate(wanted[order] - room) + room
    found = np.empty(len(wanted))
    found[order] = np.minimum(pushed_up, 1 - room[::-1])
    return found


def _stress(points: FloatArray, distances: FloatArray) -> float:
    apart = np.linalg.norm(points[:, None] - points[None, :], axis=2)
    size = float((distances**2).sum())
    return float(np.sqrt(((apart - distances) ** 2).sum() / size)) if size else 0.0


def _check(names: Sequence[str], distances: FloatArray) -> None:
    n = len(names)
    if distances.shape != (n, n) or not np.array_equal(distances, distances.T):
        raise DomainError(
            f"{n} models need a symmetric matrix of {n} × {n} distances, not one of shape "
            f"{distances.shape}"
        )
