"""Plot the odds ratios of groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contextwise.evaluation.groups import Groups
from contextwise.report.group_parts import forest_of
from contextwise.report.plots.style import COLUMN, FigureOptions, new_axes, styled, titled

if TYPE_CHECKING:
    from typing import Unpack

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINE = 0.17  # inches


@styled
def plot_odds(
    groups: Groups, *, axes: Axes | None = None, title: str = "", **options: Unpack[FigureOptions]
) -> Figure:
    """Plot the odds ratios of each group with 95 % intervals, pair by pair.

    Parameters
    ----------
    groups : result of `contextwise.groups` for one column

    Examples
    --------
    >>> from contextwise import groups
    >>> rows = [["x", 0, 0], ["x", 1, 1], ["y", 0, 1], ["y", 1, 1]] * 20 + [["x", 0, 1]] * 5
    >>> plot_odds(groups(rows, "v0", "mpl")).axes[0].get_xlabel()
    'odds ratio'
    """
    forest = forest_of(groups)
    lines = sum(1 + len(lines) for _, lines in forest.pairs)
    axes = axes or new_axes(COLUMN, LINE * lines + 0.5)
    places, labels = [], []
    y = 0
    for pair, of_pair in forest.pairs:
        places.append(y)
        labels.append(pair)
        for line in of_pair:
            y += 1
            places.append(y)
            labels.append(line.label)
            if line.text == "unknown":
                continue
            axes.plot([line.low, line.high], [y, y], color="#0072B2", linewidth=1.2)
            if line.value is not None:
                axes.plot([line.value], [y], marker="o", markersize=3.5, color="#0072B2")
        y += 1
    for place, label in forest.ticks:
        strong = label == "1"
        axes.axvline(place, color="#333333" if strong else "#dddddd", linewidth=0.6, zorder=0)
    axes.set_xticks([place for place, _ in forest.ticks], [label for _, label in forest.ticks])
    axes.set_yticks(places, labels)
    axes.set(xlim=(0, 1), ylim=(y - 0.3, -0.7), xlabel="odds ratio")
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    return titled(axes, title)
