"""Ranks of groups over several truths, with critical differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contextwise.errors import ContextwiseError
from contextwise.evaluation.metrics import metric_label
from contextwise.evaluation.rankings import Ranking
from contextwise.report.plots.figures import COLUMN, new_axes, styled
from contextwise.support.formatting import name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEP, BAR = 0.32, 0.4
"""The height of one group, in inches, and the share of it from one bar to the next."""


@styled
def plot_critical_difference(ranking: Ranking, *, axes: Axes | None = None) -> Axes:
    """The mean rank of each group; a bar joins groups that do not differ.

    Two groups differ if their ranks are farther apart than the critical difference, which is drawn
    above the scale.

    Parameters
    ----------
    ranking : of groups over several truths
    axes : where to draw; by default on new ones

    Returns
    -------
    Axes

    Raises
    ------
    ContextwiseError
        For two groups, which have no critical difference.

    Examples
    --------
    >>> from contextwise.evaluation.rankings import rank_groups
    >>> values = {"a": [1, 2, 1, 2], "b": [2, 3, 3, 4], "c": [3, 4, 5, 6]}
    >>> ranking = rank_groups(values, metric="distance", larger_is_better=False)
    >>> [text.get_text() for text in plot_critical_difference(ranking).texts]
    ['critical difference 1.66', 'a  1.00', 'b  2.00', 'c  3.00']
    """
    if ranking.critical_difference is None:
        raise ContextwiseError("two groups have no critical difference; compare three or more")
    groups, bars = ranking.groups, ranking.alike()
    down = BAR * max(len(bars) - 1, 0)  # the groups stand below all bars
    axes = axes or new_axes(COLUMN, 0.7 + STEP * (len(groups) + down))
    axes.plot([1, 1 + ranking.critical_difference], [-0.9, -0.9], color="black", linewidth=1.5)
    axes.text(1, -1.05, f"critical difference {ranking.critical_difference:.2f}", va="bottom")
    for place, (group, rank) in enumerate(zip(groups, ranking.ranks, strict=True)):
        row = place + 1 + down
        axes.plot([rank, rank], [0, row], color="#999999", linewidth=0.6)
        axes.plot([rank], [row], "o", color="#0072B2", markersize=4)
        left = rank > (1 + len(groups)) / 2
        label = f"{name(group, 24)}  {rank:.2f}"
        axes.text(
            rank + (-0.08 if left else 0.08),
            row,
            label,
            ha="right" if left else "left",
            va="center",
            bbox={"facecolor": "white", "pad": 0.5, "linewidth": 0},  # lines end beside it
        )
    at = dict(zip(groups, ranking.ranks, strict=True))
    for height, alike in enumerate(bars):
        y = 0.25 + BAR * height
        ends = [at[alike[0]] - 0.03, at[alike[-1]] + 0.03]
        axes.plot(ends, [y, y], color="black", linewidth=2.5)
    axes.set_xlim(0.7, len(groups) + 0.3)
    axes.set_ylim(len(groups) + down + 0.6, -1.9)
    axes.xaxis.tick_top()
    metric = metric_label(ranking.metric)
    axes.xaxis.set_label_position("top")
    axes.set_xlabel(f"mean rank by {metric}, {ranking.truths} truths")
    axes.set_xticks(range(1, len(groups) + 1))
    axes.set_yticks([])
    for side in ("left", "right", "bottom"):
        axes.spines[side].set_visible(False)
    return axes
