"""Plot pairs of variables: heat maps and graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from contextwise.comparison.roles import ALONE
from contextwise.comparison.two_models import Comparison, compare
from contextwise.errors import require
from contextwise.formats import ModelLike, as_structure
from contextwise.models.box import Box
from contextwise.models.domain import Assignment
from contextwise.models.structure import Structure
from contextwise.report.graphs import (
    DISC,
    arrange,
    arrow_corners,
    arrow_ends,
    cut_names,
    edge_lines,
    widest_of,
)
from contextwise.report.parts import COLOURS, DASHES
from contextwise.report.pictures import (
    DrawnGraph,
    Edge,
    Selection,
    Which,
    arcs_of,
    edges_between,
    edges_of,
    graph_legend,
    graph_of,
    heat_legends,
    heat_map,
    palette,
    select_edges,
    shares_of,
)
from contextwise.report.plots.style import (
    COLUMN,
    POINTS,
    FigureOptions,
    fitted_title,
    handles,
    new_axes,
    new_figure,
    on_white,
    styled,
    titled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELS = 40  # the most labels along a side
MOST_CELLS_IN_DOTS = 125  # with more variables, several pairs share a dot of the printer
LEGEND_ROW, LEGEND_COLUMNS = 0.14, 2  # the height of a row in inches, and the columns
MOST_NODES_IN_A_COLUMN = (
    12  # up to this many variables a graph fits into one column; more need the width of a page
)
FONTS = (7.0, 6.5, 6.0, 5.5, 5.0, 4.5, 4.0)
"""Sizes of labels, the first for which all of them find a place."""
HEAD, FOOT = 0.52, 0.24  # room for the title and for the legend, in inches


@styled
def plot_pairs(
    comparison: Comparison,
    *,
    axes: Axes | None = None,
    reorder: bool | None = None,
    title: str = "",
    **options: Unpack[FigureOptions],
) -> Figure:
    """Plot the share of errors of each pair: false positives above the diagonal, negatives below.

    Parameters
    ----------
    comparison : of the two structures
    reorder : whether to group variables with similar errors; by default above 100 variables

    Examples
    --------
    >>> from contextwise import compare
    >>> figure = plot_pairs(compare("lung", "lung-learned"), title="lung")
    >>> [label.get_text() for label in figure.axes[0].get_xticklabels()]
    ['smoker', 'asbestos', 'cancer']
    """
    heat = heat_map(shares_of(comparison), reorder=reorder)
    legends = heat_legends(heat)
    entries = [entry for legend in legends for entry in handles(legend)]
    axes = axes or new_axes(COLUMN, COLUMN + 0.5 + LEGEND_ROW * len(entries) / LEGEND_COLUMNS)
    n = max(len(heat.names), 1)
    colours = np.array(
        [list(bytes.fromhex(on_white(*tint).lstrip("#"))) for tint in palette()], dtype=np.uint8
    )
    axes.imshow(
        colours[heat.codes if len(heat.names) else np.zeros((1, 1), dtype=np.uint8)],
        interpolation="nearest"
        if n <= MOST_CELLS_IN_DOTS
        else "antialiased",  # a dot has the mean of its pairs
    )
    axes.plot([-0.5, n - 0.5], [-0.5, n - 0.5], color="#bbbbbb", linewidth=0.5)
    axes.set_anchor("N")  # what a square leaves free is below it, where the legend is
    _label_sides(axes, heat.names)
    axes.legend(
        handles=entries,
        ncols=LEGEND_COLUMNS,
        fontsize="x-small",
        loc="upper center",
        bbox_to_anchor=(0.5, -0.01),
        title="shares of contexts",
        title_fontsize="x-small",
        frameon=False,
        handlelength=1.0,
        labelspacing=0.25,
    )
    return titled(axes, fitted_title(title, COLUMN))


def _label_sides(axes: Axes, names: Sequence[str]) -> None:
    """Write names along two sides; where they are many, every second, third, ... one."""
    places = range(0, len(names), max(1, -(-len(names) // LABELS)))
    texts = cut_names(names, 16)
    labels = [texts[k] for k in places]
    size = "small" if len(labels) <= 20 else "xx-small"
    axes.set_xticks(places, labels, rotation=90, fontsize=size)
    axes.set_yticks(places, labels, fontsize=size)
    axes.tick_params(length=2, pad=1, top=True, bottom=False, labeltop=True, labelbottom=False)


# -- graphs ----------------------------------------------------------------------------------------


def _draw_graph(graph: DrawnGraph, axes: Axes, box: Box) -> None:
    """Draw a graph in points of paper; variables of the box show their states.

    Those with only one state are hollow.
    """
    hollow = {box.domain.names[variable] for variable in box.fixed}
    root: Any = axes.figure
    width, height = POINTS * root.get_size_inches() * axes.get_position().size
    frame = (float(width), float(height))  # in points of paper
    drawing = arrange(
        graph.positions, graph.edges, frame=frame, fonts=FONTS, measure=_text_size, fixed=box.labels
    )
    widest = 0.7 * widest_of(len(graph.edges))
    for edge in graph.edges:
        for line in edge_lines(edge, drawing.places, widest=widest):
            dashes = DASHES[line.kind]
            axes.plot(
                *zip(line.start, line.end, strict=True),
                color=COLOURS[line.kind],
                linewidth=line.width,
                linestyle=(0, tuple(d / 2 for d in dashes)) if dashes else "-",
                dash_capstyle="butt",
                zorder=1,
            )
            for end in arrow_ends(edge, line, graph.arcs):
                corners = zip(*arrow_corners(*end, line.width), strict=True)
                axes.fill(*corners, color=COLOURS[line.kind], linewidth=0, zorder=2)
    for name, (x, y) in drawing.places.items():
        inside = "white" if name in hollow else "black"
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


@styled
def plot_graphs(
    comparison: Comparison,
    in_context: Comparison | None = None,
    *,
    title: str = "",
    selection: Selection | None = None,
    **options: Any,
) -> Figure:
    """Plot both structures as one graph, as far as it can be read, and in a chosen context.

    An edge has a line for each kind of context, as wide as the kind's share.

    Parameters
    ----------
    comparison : of the two structures
    in_context : the comparison of the same models in a context, optional
    selection : the edges to show, if they are chosen already
    **options : otherwise which edges to choose; see `contextwise.report.pictures.select_edges`

    Examples
    --------
    >>> from contextwise import compare
    >>> everywhere = compare("survey", "survey-learned")
    >>> men = compare("survey", "survey-learned", context={"gender": "man"})
    >>> len(plot_graphs(everywhere, men).axes)
    2
    """
    selection = selection or select_edges(edges_of(comparison), **options)
    graph, whole = graph_of(selection), comparison.question.box
    panels = [(selection.description, graph, whole)]
    if in_context is not None:
        inner = _in_context(selection, edges_of(in_context))
        box = in_context.question.box
        panels = [
            (f"{where.words or 'all contexts'}: {shown.selection.description}", shown, where)
            for shown, where in ((graph, whole), (graph._replace(selection=inner), box))
        ]
    figure = _draw_panels(title, panels)
    legend = graph_legend(edge for _, drawn, _ in panels for edge in drawn.edges)
    if entries := handles(legend):
        figure.legend(handles=entries, loc="lower center", ncols=3, borderaxespad=0.2)
    return figure


@styled
def plot_structure(
    model: ModelLike, *, context: Assignment | None = None, title: str = "", **options: Any
) -> Figure:
    """Plot one structure as a graph: a line is as wide as the share of contexts of dependence.

    A Bayesian network has arrows from parents to children; lines without an arrow join parents of a
    common child.

    Parameters
    ----------
    model : Structure, LogLinear, path of a file, or name of an example
    context : states of some variables; the graph then shows what depends given them
    title : above the graph
    **options : which edges to choose; see `contextwise.report.pictures.select_edges`

    Examples
    --------
    >>> figure = plot_structure("survey", context={"gender": "man"}, title="men")
    >>> len(figure.axes)
    1
    """
    structure = as_structure(model)
    for name in options.get("around", ()):
        structure.domain.position(name)  # raises for an unknown name
    nothing = Structure(structure.domain)
    comparison = compare(structure, nothing)
    selection = select_edges(edges_of(comparison, ALONE), **{"which": "strongest", **options})
    graph = graph_of(selection, () if selection.around else structure.domain.names)
    graph = graph._replace(arcs=arcs_of(structure))
    box = Box.of(structure.domain, context)
    text = selection.description
    if box:
        inside = compare(structure, nothing, context=box)
        graph = graph._replace(selection=_in_context(selection, edges_of(inside, ALONE)))
        text = f"{box.words}: {graph.selection.description}"
    return _draw_panels(title, [(text, graph, box)])


def _in_context(selection: Selection, edges: Sequence[Edge]) -> Selection:
    """Choose the edges of a context between the variables that are drawn for all contexts."""
    which: Which = "differences" if selection.which == "differences" else "strongest"
    inside = edges_between(edges, selection.nodes)
    return select_edges(inside, which=which, around=selection.around)


def _draw_panels(title: str, panels: Sequence[tuple[str, DrawnGraph, Box]]) -> Figure:
    """Draw graphs, each with its text above, side by side if they are small."""
    nodes = max(len(graph.positions) for _, graph, _ in panels)
    wide = nodes > MOST_NODES_IN_A_COLUMN
    across = 1 if wide else len(panels)
    width, height = (2 * COLUMN, 1.35 * COLUMN) if wide else (COLUMN, 0.8 * COLUMN)
    down = len(panels) // across
    total = HEAD + FOOT + down * height + 0.2 * (down - 1)
    figure = new_figure(width * across, total, layout=None)
    for k, (text, graph, box) in enumerate(panels):
        below = down - 1 - k // across
        bottom = (FOOT + below * (height + 0.2)) / total
        axes = figure.add_axes(((k % across) / across, bottom, 1 / across, height / total))
        _draw_graph(graph, axes, box)
        frame = figure.get_figwidth() * axes.get_position().width
        axes.set_title(fitted_title(text, frame, size=7), fontsize="small", pad=2)
    lines = fitted_title(title, figure.get_figwidth(), size=7)
    top = 1 - 0.04 / figure.get_figheight()
    figure.text(0.5, top, lines, ha="center", va="top", fontsize="small")
    return figure


def _text_size(text: str, font: float) -> tuple[float, float]:
    path = require("matplotlib.textpath", "plots").TextPath((0, 0), text, size=font)
    return float(path.get_extents().width) + 2.0, 1.25 * font
