"""The scatter of the experiment: the share of structural errors against the divergence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contextwise.errors import DomainError
from contextwise.report.colours import COLOURS, Agreement
from contextwise.report.plots.figures import COLUMN, new_axes, styled

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

NEEDED = ("structure", "side", "size", "percentage", "kl")
SIDES: dict[str, tuple[Agreement, str, str]] = {
    "fp": ("fp", "o", "false positives"),
    "fn": ("fn", "s", "false negatives"),
}


@styled
def plot_scatter(
    table: pandas.DataFrame,
    *,
    size: int,
    sides: tuple[str, ...] = ("fp", "fn"),
    error_bars: bool = True,
    axes: Axes | None = None,
) -> Axes:
    """One point a structure: its percentage of errors, and its mean divergence over parameters.

    Parameters
    ----------
    table : a row for each structure, size and set of parameters
        Columns ``structure``, ``side`` ("fp" or "fn"), ``size`` (of the sample), ``percentage``
        (of the errors that are possible on that side) and ``kl``.
    size : the sample size to show
    error_bars : whether to draw the standard deviation over the parameters (of a sample: n - 1)
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
