"""Plot distances of many models as matrix, tree and map; and the study of KL-divergence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from contextwise.errors import DomainError, require
from contextwise.report.layout import FloatArray, apart, distinct_names, planar, shared_parts
from contextwise.report.parts import COLOURS, Agreement
from contextwise.report.plots.style import (
    COLUMN,
    FigureOptions,
    new_axes,
    new_figure,
    styled,
    titled,
)
from contextwise.support.formatting import rate

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WITH_NUMBERS = 8
"""Up to this many models each cell shows its number: in more cells, none could be read."""
LABELS = 40  # the most labels along a side
HIGH = 0.07  # the height of a label next to the map, as a share of the map's; less for many labels


@styled
def plot_models(
    names: Sequence[str],
    distances: FloatArray,
    *,
    label: str = "normalized distance",
    title: str = "",
    **options: Unpack[FigureOptions],
) -> Figure:
    """Plot the tree, the matrix in its order, and the map, side by side.

    Parameters
    ----------
    names : of the models; what all of them share is shown once
    distances : array of shape (models, models)
        Symmetric; normalized distances, or any others.
    label : what the distances are

    Examples
    --------
    >>> from contextwise import distance_matrix
    >>> result = distance_matrix(["six", "six-guess", "six-graph"])
    >>> len(plot_models(result.names, result.normalized).axes)
    3
    """
    _check(names, distances)
    figure = new_figure(2 * COLUMN, COLUMN)
    tree, matrix, plane = figure.subplots(1, 3, gridspec_kw={"width_ratios": [0.35, 1, 1]})
    order = _draw_tree(tree, distances)
    arranged = distances[np.ix_(order, order)]
    plot_distances([names[k] for k in order], arranged, axes=matrix, label=label)
    matrix.set_aspect("auto")  # as high as the tree, whose leaves are its rows
    plot_map(names, distances, axes=plane)
    begin, end = shared_parts(names)
    shared = f"{begin}*{end}" if begin or end else ""
    named = label if len(names) <= WITH_NUMBERS else ""  # more models have a bar with this name
    matrix.set_title(", ".join(filter(None, [named, shared])))
    if title:
        figure.suptitle(title, fontsize="medium")
    return figure


@styled
def plot_distances(
    names: Sequence[str],
    distances: FloatArray,
    *,
    axes: Axes | None = None,
    label: str = "normalized distance",
) -> Figure:
    """Plot the matrix of distances as shades; few models show their numbers."""
    _check(names, distances)
    axes = axes or new_axes()
    n, short = len(names), distinct_names(names)
    largest = float(distances.max(initial=0)) or 1.0
    image = axes.imshow(distances, cmap="cividis_r", vmin=0, vmax=largest)
    if n <= WITH_NUMBERS:
        dark = largest / 2
        for r in range(n):
            for c in range(n):
                colour = "white" if distances[r, c] > dark else "black"
                text = rate(float(distances[r, c])).lstrip("0") or "0"
                size = "x-small" if n <= 5 else "xx-small"
                axes.text(c, r, text, ha="center", va="center", color=colour, fontsize=size)
    else:
        axes.figure.colorbar(image, ax=axes, location="top", shrink=0.8, label=label)
    places = range(0, n, max(1, -(-n // LABELS)))
    labels = [short[k] for k in places]
    axes.set_xticks(places, labels, rotation=90, fontsize="x-small")
    axes.set_yticks(places, labels, fontsize="x-small")
    axes.tick_params(length=2)
    return titled(axes)


def _draw_tree(axes: Axes, distances: FloatArray) -> list[int]:
    """Draw the tree and return the order of its leaves."""
    axes.axis("off")
    n = len(distances)
    if n < 2:
        return list(range(n))
    hierarchy = require("scipy.cluster.hierarchy", "plots")
    spatial = require("scipy.spatial.distance", "plots")
    tree = hierarchy.linkage(spatial.squareform(distances), "average", optimal_ordering=True)
    drawn: dict[str, Any] = hierarchy.dendrogram(tree, no_plot=True)
    for across, along in zip(drawn["dcoord"], drawn["icoord"], strict=True):
        axes.plot(across, (np.array(along) - 5) / 10, color="black", linewidth=0.6)
    axes.set_ylim(n - 0.5, -0.5)
    axes.invert_xaxis()
    return list(drawn["leaves"])


@styled
def plot_map(names: Sequence[str], distances: FloatArray, *, axes: Axes | None = None) -> Figure:
    """Plot models as points by their distances; the label has the root of the normalized stress."""
    _check(names, distances)
    axes = axes or new_axes()
    points = planar(distances)
    axes.plot(points[:, 0], points[:, 1], "o", color="#0072B2", markersize=4)
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    half = 0.55 * float(np.ptp(points, axis=0).max()) or 1.0
    places, size = _label_places((points - middle) / (2 * half) + 0.5)
    for name, point, (x, height) in zip(distinct_names(names), points, places, strict=True):
        axes.annotate(
            name,
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
    squares = float((distances**2).sum())
    on_paper = np.linalg.norm(points[:, None] - points[None, :], axis=2)
    stress = np.sqrt(((on_paper - distances) ** 2).sum() / squares) if squares else 0.0
    axes.set_xlabel(f"distances on paper are off by {100 * stress:.0f} %")
    return titled(axes)


def _label_places(points: FloatArray) -> tuple[FloatArray, float]:
    """Return the places and the size of labels, in a column on each side of the map."""
    places = np.empty((len(points), 2))
    half = (len(points) + 1) // 2
    step = min(HIGH, 1 / half)
    across = np.argsort(points[:, 0], kind="stable")
    for x, column in ((-0.05, across[:half]), (1.05, across[half:])):
        places[column, 0] = x
        places[column, 1] = apart(points[column, 1], step)
    return places, step / HIGH


def _check(names: Sequence[str], distances: FloatArray) -> None:
    n = len(names)
    if distances.shape != (n, n) or not np.array_equal(distances, distances.T):
        raise DomainError(
            f"{n} models need a symmetric matrix of {n} × {n} distances, not one of shape "
            f"{distances.shape}"
        )


def plot_scatter(table: pandas.DataFrame, *, size: int, side: Agreement, axes: Axes) -> None:
    """Plot the percentage of errors of each structure against its mean KL-divergence.

    ``table`` has the rows of the study of KL-divergence. Error bars are the standard deviation over
    the sets of parameters (of a sample: n - 1).
    """
    chosen = table[(table["size"] == size) & (table["side"] == side)]
    groups = chosen.groupby("structure")
    axes.errorbar(
        groups["percentage"].mean(),
        groups["kl"].mean(),
        yerr=groups["kl"].std().fillna(0.0),
        fmt="o" if side == "fp" else "s",
        color=COLOURS[side],
        markersize=3,
        elinewidth=0.5,
        alpha=0.8,
        label="false positives" if side == "fp" else "false negatives",
    )
    axes.set_xlabel("errors, % of all that are possible")
    axes.set_ylabel("KL divergence")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper left")
    axes.set_title(f"sample size {size:,}")
