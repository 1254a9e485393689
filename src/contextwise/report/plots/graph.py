"""The two structures as one graph, for all contexts and for a chosen one side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from contextwise.comparison.compare import Comparison
from contextwise.errors import require
from contextwise.models.numbers import name as shown
from contextwise.report.colours import COLOURS, DASHES, WORDS
from contextwise.report.edges import (
    Edge,
    View,
    edges_between,
    edges_of,
    strand_lines,
    widest_of,
    worst_variables,
)
from contextwise.report.layout import Positions, graph_layout
from contextwise.report.plots.figures import COLUMN, new_axes, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 60
"""The most variables of a picture, unless more are asked for: those with the most errors."""


@styled
def plot_graph(
    edges: Iterable[Edge],
    positions: Positions,
    *,
    axes: Axes | None = None,
    view: View = "both",
    fixed: Mapping[str, str] | None = None,
) -> Axes:
    """Draw edges between variables at their places; see `contextwise.report.svg.graph_svg`.

    An edge has a strand for each kind of context, as wide as the kind's share of the contexts.
    """
    axes = axes or new_axes()
    fixed = fixed or {}
    drawn, size = list(edges), 72 * COLUMN
    widest = widest_of(len(drawn))
    for edge in drawn:
        for strand in strand_lines(edge, positions, view=view, widest=widest, size=size):
            dashes = DASHES[strand.kind]
            axes.plot(
                *np.array([strand.start, strand.end]).T,
                color=COLOURS[strand.kind],
                linewidth=strand.width / 2,
                linestyle="-" if dashes is None else (0, (dashes[0] / 2, dashes[1] / 2)),
                dash_capstyle="butt",
                zorder=1,
            )
    small = len(positions) > 20
    for name, (x, y) in positions.items():
        hollow = name in fixed
        axes.plot(x, y, "o", color="black", markersize=3, mfc="white" if hollow else "black")
        label = f"{shown(name, 14)}={shown(fixed[name], 8)}" if hollow else shown(name, 14)
        axes.annotate(
            label,
            (x, y),
            xytext=(4 if x >= 0.5 else -4, 0),
            textcoords="offset points",
            ha="left" if x >= 0.5 else "right",
            va="center",
            fontsize=4.5 if small else 7,
            bbox={"facecolor": "white", "alpha": 0.6, "pad": 0.3, "linewidth": 0},
            zorder=3,
        )
    axes.set(xlim=(-0.14, 1.14), ylim=(-0.06, 1.06), aspect="equal")
    axes.axis("off")
    return axes


@styled
def plot_graphs(
    comparison: Comparison,
    in_context: Comparison | None = None,
    *,
    fixed: Mapping[str, str] | None = None,
    most: int = MOST,
) -> list[Axes]:
    """The union of all contexts, and beside it a chosen context, in one layout.

    Parameters
    ----------
    in_context : the comparison of the same models in that context, optional
    fixed : what the context assigns
    most : how many variables to draw; of more, those with the most errors
    """
    names, edges = comparison.domain.names, edges_of(comparison)
    chosen = worst_variables(names, edges, most)
    positions = graph_layout(chosen, [edge.pair for edge in edges_between(edges, chosen)])
    shares: dict[str, tuple[list[Edge], dict[str, str]]] = {"all contexts": (edges, {})}
    if in_context is not None:
        context = ", ".join(f"{name}={state}" for name, state in (fixed or {}).items())
        shares[context] = (edges_of(in_context), dict(fixed or {}))
    figure = new_figure(COLUMN * len(shares), COLUMN + 0.3)
    row = figure.subplots(1, len(shares), squeeze=False)[0]
    for axes, (title, (some, assigned)) in zip(row, shares.items(), strict=True):
        plot_graph(edges_between(some, chosen), positions, axes=axes, fixed=assigned)
        axes.set_title(shown(title, 60))
    if len(chosen) < len(names):
        figure.suptitle(f"the {len(chosen)} variables of {len(names)} with the most errors")
    line = require("matplotlib.lines", "plots").Line2D
    handles = [
        line([], [], color=COLOURS[kind], linewidth=2, linestyle=style, label=WORDS[kind])
        for kind, style in zip(COLOURS, ("-", "--", ":"), strict=True)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return list(row)
