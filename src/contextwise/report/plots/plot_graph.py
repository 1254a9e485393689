"""Plot the graphs of two structures, for all contexts and in a chosen one.

Everything is drawn in points of paper, so that line widths, discs and labels keep their sizes and
labels can be placed where they cover nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

from contextwise.comparison.compare import Comparison
from contextwise.errors import require
from contextwise.report.colours import COLOURS, DASHES
from contextwise.report.drawing import DISC, arrange, edge_lines, widest_of
from contextwise.report.pictures import graph_legend
from contextwise.report.plots.style import (
    COLUMN,
    POINTS,
    FigureOptions,
    fitted_title,
    handles,
    new_axes,
    new_figure,
    styled,
    titled,
)
from contextwise.report.shares import (
    Graph,
    Selection,
    View,
    Which,
    edges_between,
    edges_of,
    graph_of,
    select_edges,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FEW = 12
"""Up to this many variables a graph fits into one column; more need the width of a page."""
FONTS = (7.0, 6.5, 6.0, 5.5, 5.0, 4.5, 4.0)
"""Sizes of labels, the first for which all of them find a place."""
HEAD, FOOT = 0.52, 0.24
"""Room for the title and for the legend, in inches."""


@styled
def plot_graph(
    graph: Graph,
    *,
    axes: Axes | None = None,
    view: View = "both",
    fixed: Mapping[str, str] | None = None,
    title: str = "",
    **options: Unpack[FigureOptions],
) -> Figure:
    """Plot a graph; an edge has a line for each kind of context, as wide as the kind's share.

    Parameters
    ----------
    graph : edges and places; see `contextwise.report.shares.graph_of`
    view : both graphs in one, or the edges of one model
    fixed : the variables that a context assigns, with their states; drawn hollow
    axes, title, **options : as in all plots; see `contextwise.report.plots`

    Returns
    -------
    Figure

    Examples
    --------
    >>> from contextwise import compare
    >>> from contextwise.report.shares import edges_of, graph_of, select_edges
    >>> edges = edges_of(compare("survey", "survey-learned"))
    >>> (axes,) = plot_graph(graph_of(select_edges(edges))).axes
    >>> sorted(text.get_text() for text in axes.texts)
    ['children', 'gender', 'work']
    """
    axes = axes or new_axes()
    fixed = fixed or {}
    root: Any = axes.figure
    width, height = POINTS * root.get_size_inches() * axes.get_position().size
    frame = (float(width), float(height))  # in points of paper
    drawing = arrange(
        graph.positions, graph.edges, frame=frame, fonts=FONTS, measure=_text_size, fixed=fixed
    )
    widest = 0.7 * widest_of(len(graph.edges))
    for edge in graph.edges:
        for line in edge_lines(edge, drawing.places, view=view, widest=widest):
            dashes = DASHES[line.kind]
            axes.plot(
                *zip(line.start, line.end, strict=True),
                color=COLOURS[line.kind],
                linewidth=line.width,
                linestyle=(line.dash_offset, tuple(d / 2 for d in dashes)) if dashes else "-",
                dash_capstyle="butt",
                zorder=1,
            )
    for name, (x, y) in drawing.places.items():
        inside = "white" if name in fixed else "black"
        axes.plot(x, y, "o", color="black", markersize=2 * DISC, mfc=inside, mew=0.6, zorder=3)
    for name, label in drawing.labels.items():
        if label.leader is not None:
            ends = zip(drawing.places[name], label.leader, strict=True)
            axes.plot(*ends, color="#555555", linewidth=0.4, zorder=2)
        axes.text(
            *label.middle,
            label.text,
            ha="center",
            va="center",
            fontsize=drawing.font,
            bbox={"facecolor": "white", "alpha": 0.85, "pad": 0.3, "linewidth": 0},
            zorder=4,
        )
    axes.set(xlim=(0, frame[0]), ylim=(0, frame[1]))
    axes.axis("off")
    return titled(axes, title)


@styled
def plot_graphs(
    comparison: Comparison,
    in_context: Comparison | None = None,
    *,
    fixed: Mapping[str, str] | None = None,
    title: str = "",
    selection: Selection | None = None,
    **options: Any,
) -> Figure:
    """Plot both structures as one graph, as far as it can be read, and in a chosen context.

    Parameters
    ----------
    comparison : of the two structures
    in_context : the comparison of the same models in a context, optional
    fixed : what the context assigns
    title : for instance the names of the models
    selection : the edges to show, if they are chosen already
    **options : or which edges to choose; see `contextwise.report.shares.select_edges`

    Returns
    -------
    Figure

    Examples
    --------
    >>> from contextwise import compare
    >>> everywhere = compare("survey", "survey-learned")
    >>> men = compare("survey", "survey-learned", context={"gender": "man"})
    >>> len(plot_graphs(everywhere, men, fixed={"gender": "man"}).axes)
    2
    """
    selection = selection or select_edges(edges_of(comparison), **options)
    graph = graph_of(selection)
    panels: list[tuple[str, Graph, Mapping[str, str]]] = [(selection.words, graph, {})]
    if in_context is not None:
        inside = edges_between(edges_of(in_context), selection.nodes)
        which: Which = "differences" if selection.which == "differences" else "strongest"
        inner = select_edges(inside, which=which, around=selection.around)
        words = " & ".join(f"{name}={state}" for name, state in (fixed or {}).items())
        panels[0] = (f"all contexts: {selection.words}", graph, {})
        panels.append((f"{words}: {inner.words}", Graph(inner, graph.positions), fixed or {}))
    figure, row = _panels(len(panels), len(selection.nodes))
    frame = figure.get_figwidth() * row[0].get_position().width
    for axes, (words, shown_graph, assigned) in zip(row, panels, strict=True):
        plot_graph(shown_graph, axes=axes, fixed=assigned)
        axes.set_title(fitted_title(words, frame, size=7), fontsize="small", pad=2)
    lines = fitted_title(title, figure.get_figwidth(), size=7)
    top = 1 - 0.04 / figure.get_figheight()
    figure.text(0.5, top, lines, ha="center", va="top", fontsize="small")
    edges = [edge for _, drawn, _ in panels for edge in drawn.edges]
    entries = handles(graph_legend(edges))
    if entries:
        figure.legend(handles=entries, loc="lower center", ncols=3, borderaxespad=0.2)
    return figure


def _panels(count: int, nodes: int) -> tuple[Figure, list[Axes]]:
    """A figure with places for graphs: side by side if they are small, below each other if not."""
    wide = nodes > FEW
    across = 1 if wide else count
    width, height = (2 * COLUMN, 1.35 * COLUMN) if wide else (COLUMN, 0.8 * COLUMN)
    down = count // across
    total = HEAD + FOOT + down * height + 0.2 * (down - 1)
    figure = new_figure(width * across, total, layout=None)
    row = []
    for k in range(count):
        below = down - 1 - k // across
        bottom = (FOOT + below * (height + 0.2)) / total
        rect = ((k % across) / across, bottom, 1 / across, height / total)
        row.append(figure.add_axes(rect))
    return figure, row


def _text_size(text: str, font: float) -> tuple[float, float]:
    """Width and height of a line of text, in points, with a little air."""
    path = require("matplotlib.textpath", "plots").TextPath((0, 0), text, size=font)
    return float(path.get_extents().width) + 2.0, 1.25 * font
