"""Plot distances of many models as matrix, tree and map; and the results of studies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from contextwise.comparison.confusion import Number
from contextwise.errors import DomainError, require
from contextwise.report.colours import COLOURS, Agreement
from contextwise.report.layout import FloatArray, apart, distinct_names, planar, shared_parts
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
LABELS = 40
"""The most labels along a side."""
HIGH = 0.07
"""The height of a label next to the map, as a share of the map's; less for many labels."""


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
    title, **options : as in all plots; see `contextwise.report.plots`

    Returns
    -------
    Figure

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
    title: str = "",
    **options: Unpack[FigureOptions],
) -> Figure:
    """Plot the matrix of distances as shades; few models show their numbers.

    Parameters
    ----------
    names : of the models; what all of them share is left out
    distances : array of shape (models, models), symmetric
    label : what the shades mean
    axes, title, **options : as in all plots; see `contextwise.report.plots`

    Returns
    -------
    Figure

    Examples
    --------
    >>> from contextwise import distance_matrix
    >>> result = distance_matrix(["six", "six-guess", "six-graph"])
    >>> (axes,) = plot_distances(result.names, result.normalized).axes
    >>> len(axes.get_xticks())
    3
    """
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
    return titled(axes, title)


@styled
def plot_dendrogram(
    names: Sequence[str],
    distances: FloatArray,
    *,
    axes: Axes | None = None,
    title: str = "",
    **options: Unpack[FigureOptions],
) -> Figure:
    """Plot the tree of average linkage, with its root at the left.

    Parameters
    ----------
    names : of the models
    distances : array of shape (models, models), symmetric
    axes, title, **options : as in all plots; see `contextwise.report.plots`

    Returns
    -------
    Figure

    Examples
    --------
    >>> from contextwise import distance_matrix
    >>> result = distance_matrix(["six", "six-guess", "six-graph"])
    >>> len(plot_dendrogram(result.names, result.normalized).axes[0].lines)
    2
    """
    _check(names, distances)
    axes = axes or new_axes()
    _draw_tree(axes, distances)
    return titled(axes, title)


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
def plot_map(
    names: Sequence[str],
    distances: FloatArray,
    *,
    axes: Axes | None = None,
    title: str = "",
    **options: Unpack[FigureOptions],
) -> Figure:
    """Plot the models as points whose distances on paper approximate their distances.

    The label below tells how far off the distances on paper are: the root mean square of their
    errors, as a percentage of that of the distances (the square root of the normalized stress).

    Parameters
    ----------
    names : of the models; what all of them share is left out
    distances : array of shape (models, models), symmetric
    axes, title, **options : as in all plots; see `contextwise.report.plots`

    Returns
    -------
    Figure

    Examples
    --------
    >>> from contextwise import distance_matrix
    >>> result = distance_matrix(["six", "six-guess", "six-graph"])
    >>> (axes,) = plot_map(result.names, result.normalized).axes
    >>> sorted(text.get_text() for text in axes.texts)
    ['six', 'six-graph', 'six-guess']
    """
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
    return titled(axes, title)


def _label_places(points: FloatArray) -> tuple[FloatArray, float]:
    """Return the place of each label, and its size, in shares of the map.

    Equal models lie on one point, so labels are in a column on each side, with lines to their
    points.
    """
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


NEEDED = ("structure", "side", "size", "percentage", "kl")
SIDES: dict[str, tuple[Agreement, str, str]] = {
    "fp": ("fp", "o", "false positives"),
    "fn": ("fn", "s", "false negatives"),
}
Matrix = npt.NDArray[Any] | Sequence[Sequence[Number | float]]
BINS = 30


@styled
def plot_scatter(
    table: pandas.DataFrame,
    *,
    size: int,
    sides: tuple[str, ...] = ("fp", "fn"),
    error_bars: bool = True,
    axes: Axes | None = None,
    title: str = "",
    **options: Unpack[FigureOptions],
) -> Figure:
    """Plot the percentage of errors of each structure against its mean divergence.

    Parameters
    ----------
    table : one row per structure, size and set of parameters
        Columns ``structure``, ``side`` ("fp" or "fn"), ``size`` (of the sample), ``percentage``
        (of the errors that are possible on that side) and ``kl``.
    size : the sample size to show
    sides : which kinds of errors are shown, "fp" and "fn"
    error_bars : whether to draw the standard deviation over the parameters (of a sample: n - 1)
    axes, title, **options : as in all plots; see `contextwise.report.plots`

    Returns
    -------
    Figure

    Raises
    ------
    DomainError
        If the table lacks a column, or has no results of that size.

    Examples
    --------
    >>> from pandas import DataFrame
    >>> rows = [(0, "fp", 100, 10.0, 0.1), (1, "fp", 100, 20.0, 0.1), (2, "fn", 100, 10.0, 0.4)]
    >>> table = DataFrame(rows, columns=["structure", "side", "size", "percentage", "kl"])
    >>> (axes,) = plot_scatter(table, size=100, error_bars=False).axes
    >>> axes.get_xlabel()
    'errors, % of all that are possible'
    """
    missing = [column for column in NEEDED if column not in table.columns]
    if missing:
        raise DomainError(f"the table of results has no column {missing[0]!r}")
    axes = axes or new_axes(COLUMN, 0.8 * COLUMN)
    chosen = table[table["size"] == size]
    if chosen.empty:
        known = ", ".join(map(str, sorted(table["size"].unique())))
        raise DomainError(f"there are no results of size {size}; there are: {known}")
    for side in sides:
        kind, marker, label = SIDES[side]
        groups = chosen[chosen["side"] == side].groupby("structure")
        x, y = groups["percentage"].mean(), groups["kl"].mean()
        axes.errorbar(
            x,
            y,
            yerr=groups["kl"].std().fillna(0.0) if error_bars else None,
            fmt=marker,
            color=COLOURS[kind],
            markersize=3,
            elinewidth=0.5,
            alpha=0.8,
            label=label,
        )
    axes.set_xlabel("errors, % of all that are possible")
    axes.set_ylabel("KL divergence")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper left")
    return titled(axes, title or f"sample size {size:,}")


@styled
def plot_spread(
    sample: Matrix,
    pool: Matrix,
    *,
    bins: int = BINS,
    axes: Axes | None = None,
    title: str = "",
    **options: Unpack[FigureOptions],
) -> Figure:
    """Plot the pairwise distances of a sample, and those of the pool it is drawn from.

    In an even sample no two models are close: its bars begin to the right of the pool's. Bars are
    shares, so that samples and pools of any size can be compared; a line marks each median.

    Parameters
    ----------
    sample, pool : matrices of distances
        For instance those of `contextwise.truths.generate.even_sample` and of a `DistanceMatrix`.
    bins : how many bars the range of distances is divided into
    axes, title, **options : as in all plots; see `contextwise.report.plots`

    Returns
    -------
    Figure

    Examples
    --------
    >>> pool = [[0, 1, 9], [1, 0, 8], [9, 8, 0]]
    >>> (axes,) = plot_spread([[0, 9], [9, 0]], pool).axes
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['pool: 3 models', 'sample: 2 models']
    """
    shown = {"pool": _each_two(pool), "sample": _each_two(sample)}
    axes = axes or new_axes(COLUMN, 0.7 * COLUMN)
    largest = max(float(distances.max()) for _, distances in shown.values()) or 1.0
    edges = np.linspace(0, largest, bins + 1).tolist()
    colours = {"pool": "#999999", "sample": "#0072B2"}
    for name, (models, distances) in shown.items():
        axes.hist(
            distances,
            bins=edges,
            weights=np.full(len(distances), 1 / len(distances)),
            color=colours[name],
            alpha=0.55,
            label=f"{name}: {models} models",
        )
        axes.axvline(float(np.median(distances)), color=colours[name], linewidth=1)
    axes.set(xlabel="distance of two models", ylabel="share of all distances", xlim=(0, largest))
    axes.legend()
    return titled(axes, title)


def _each_two(matrix: Matrix) -> tuple[int, FloatArray]:
    """Return the number of models of a matrix, and their pairwise distances."""
    distances: FloatArray = np.array(matrix, dtype=np.float64)
    models = len(distances)
    if distances.shape != (models, models) or models < 2:
        raise DomainError(
            f"a spread needs a square matrix of the distances of two or more models, not one of "
            f"shape {distances.shape}"
        )
    return models, distances[np.triu_indices(models, 1)]
