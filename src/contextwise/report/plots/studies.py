"""Pictures of studies: errors against divergence, and how evenly a sample of models is spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from contextwise.comparison.confusion import Number
from contextwise.errors import DomainError
from contextwise.report.colours import COLOURS, Agreement
from contextwise.report.plots.figures import COLUMN, new_axes, styled

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

    from contextwise.report.layout import FloatArray

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
) -> Axes:
    """One point per structure: its percentage of errors, and its mean divergence over parameters.

    Parameters
    ----------
    table : one row per structure, size and set of parameters
        Columns ``structure``, ``side`` ("fp" or "fn"), ``size`` (of the sample), ``percentage``
        (of the errors that are possible on that side) and ``kl``.
    size : the sample size to show
    sides : which kinds of errors are shown, "fp" and "fn"
    error_bars : whether to draw the standard deviation over the parameters (of a sample: n - 1)
    axes : where to draw

    Returns
    -------
    Axes

    Raises
    ------
    DomainError
        If the table lacks a column, or has no results of that size.

    Examples
    --------
    >>> from pandas import DataFrame
    >>> rows = [(0, "fp", 100, 10.0, 0.1), (1, "fp", 100, 20.0, 0.1), (2, "fn", 100, 10.0, 0.4)]
    >>> table = DataFrame(rows, columns=["structure", "side", "size", "percentage", "kl"])
    >>> axes = plot_scatter(table, size=100, error_bars=False)
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
    axes.set_title(f"sample size {size:,}")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper left")
    return axes


@styled
def plot_spread(
    sample: Matrix, pool: Matrix, *, bins: int = BINS, axes: Axes | None = None
) -> Axes:
    """The distances of each two models of a sample, beside those of the pool it is drawn from.

    In an even sample no two models are close: its bars begin to the right of the pool's. Bars are
    shares, so that samples and pools of any size can be compared; a line marks each median.

    Parameters
    ----------
    sample, pool : matrices of distances
        For instance those of `contextwise.truths.generate.even_sample` and of a `DistanceMatrix`.
    bins : how many bars the range of distances is divided into
    axes : where to draw

    Returns
    -------
    Axes

    Examples
    --------
    >>> pool = [[0, 1, 9], [1, 0, 8], [9, 8, 0]]
    >>> axes = plot_spread([[0, 9], [9, 0]], pool)
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
    return axes


def _each_two(matrix: Matrix) -> tuple[int, FloatArray]:
    """How many models a matrix of distances has, and the distance of each two of them."""
    distances: FloatArray = np.array(matrix, dtype=np.float64)
    models = len(distances)
    if distances.shape != (models, models) or models < 2:
        raise DomainError(
            f"a spread needs a square matrix of the distances of two or more models, not one of "
            f"shape {distances.shape}"
        )
    return models, distances[np.triu_indices(models, 1)]
