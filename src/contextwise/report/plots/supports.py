"""The heat map of supports: how many resamples have each pair depend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from contextwise.evaluation.stability import Stability
from contextwise.report.plots.figures import COLUMN, new_axes, styled
from contextwise.support.formatting import name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABELS = 40
"""The most labels along a side."""


@styled
def plot_supports(found: Stability, *, axes: Axes | None = None) -> Axes:
    """The share of resamples with each pair above the diagonal, of contexts below.

    Parameters
    ----------
    found : structures from resamples
    axes : where to draw; by default on new ones

    Returns
    -------
    Axes

    Examples
    --------
    >>> from contextwise.evaluation import stability
    >>> from contextwise.learning import ChowLiu
    >>> rows = [[0, 0, 1], [1, 1, 0], [0, 0, 0], [1, 1, 1]] * 20
    >>> axes = plot_supports(stability(rows, ChowLiu(), resamples=4, rng=1))
    >>> [label.get_text() for label in axes.get_xticklabels()]
    ['v0', 'v1', 'v2']
    """
    axes = axes or new_axes(COLUMN, COLUMN)
    shares = found.support_matrix()
    np.fill_diagonal(shares, np.nan)
    picture = axes.imshow(
        np.ma.masked_invalid(shares), cmap="Blues", vmin=0, vmax=1, interpolation="nearest"
    )
    names = found.domain.names
    places = range(0, len(names), max(1, -(-len(names) // LABELS)))
    labels = [name(names[k], 16) for k in places]
    size = 8 if len(labels) <= 12 else 5
    axes.set_xticks(places, labels, rotation=90, fontsize=size)
    axes.set_yticks(places, labels, fontsize=size)
    words = f"above: share of {found.resamples} resamples\nbelow: mean share of contexts"
    axes.set_xlabel(words, fontsize=7)
    axes.figure.colorbar(picture, ax=axes, shrink=0.7)
    return axes
