"""Plot pairs of variables: heat maps, graphs, one variable, supports of a stability, groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from contextwise.comparison.compare import Comparison, compare
from contextwise.comparison.roles import Agreement
from contextwise.errors import require
from contextwise.evaluation.group_tests import Populations
from contextwise.evaluation.resampling import Stability
from contextwise.formats import ModelLike, as_structure
from contextwise.models.domain import Assignment
from contextwise.report.drawing import (
    DISC,
    arrange,
    arrow_corners,
    arrow_ends,
    edge_lines,
    widest_of,
)
from contextwise.report.layout import apart, cut_names
from contextwise.report.parts import COLOURS, DASHES
from contextwise.report.pictures import (
    P_VALUES,
    SUPPORT_OPACITIES,
    SUPPORT_STEPS,
    HeatMap,
    arcs_of,
    graph_legend,
    heat_legends,
    heat_map,
    p_value_steps,
    palette,
    pooled,
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
from contextwise.report.shares import (
    Graph,
    Selection,
    Which,
    edges_between,
    edges_of,
    graph_of,
    select_edges,
)
from contextwise.support.formatting import percent

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELS = 40  # the most labels along a side
WITH_P_VALUES = 8  # the most groups whose matrix has numbers
CELLS = 125
"""The most cells along a side; with more variables, a cell shows the mean of several pairs."""
NEIGHBOURS = 30  # the most neighbours of a variable in one picture
LEGEND_ROW = 0.11  # inches for a row of a legend
HATCHES: dict[Agreement, str] = {"tp": "", "fn": "....", "fp": "////"}
"""Patterns of the kinds, for black-and-white printers."""
FEW = 12  # up to this many variables a graph fits into one column; more need the width of a page
FONTS = (7.0, 6.5, 6.0, 5.5, 5.0, 4.5, 4.0)
"""Sizes of labels, the first for which all of them find a place."""
HEAD, FOOT = 0.52, 0.24  # room for the title and for the legend, in inches


@styled
def plot_pairs(
    comparison: Comparison,
    *,
    axes: Axes | None = None,
    reorder: bool | None = None,
    worst: bool = False,
    title: str = "",
    **options: Unpack[FigureOptions],
) -> Figure:
    """Plot the share of errors of each pair: false positives above the diagonal, negatives below.

    Above 125 variables each cell shows the mean of a square of pairs; a dot marks a cell in which a
    single pair has most of the errors.

    Parameters
    ----------
    comparison : of the two structures
    reorder : whether to group variables with similar errors and name the largest groups; by default
        above 100 variables
    worst : whether a cell shows its worst pair instead of the mean

    Examples
    --------
    >>> from contextwise import compare
    >>> figure = plot_pairs(compare("lung", "lung-learned"), title="lung")
    >>> [label.get_text() for label in figure.axes[0].get_xticklabels()]
    ['smoker', 'asbestos', 'cancer']
    """
    heat = heat_map(comparison, reorder=reorder)
    codes, block, marked = pooled(heat, CELLS, worst=worst)
    legends = heat_legends(heat, codes)
    rows = max((len(legend.entries) for legend in legends), default=0)
    height = COLUMN + 0.6 + LEGEND_ROW * rows
    axes = axes or new_axes(COLUMN + 0.6 * bool(heat.blocks), height)
    colours = [on_white(colour, opacity) for colour, opacity in palette()]
    side = max(len(codes) * block, 1)
    axes.imshow(
        codes if len(heat.names) else np.zeros((1, 1)),
        cmap=require("matplotlib.colors", "plots").ListedColormap(colours),
        vmin=-0.5,
        vmax=len(colours) - 0.5,
        interpolation="nearest",
        extent=(-0.5, side - 0.5, side - 0.5, -0.5),
    )
    row, column = marked.T
    for colour, inside in ((COLOURS["fp"], row < column), (COLOURS["fn"], row >= column)):
        y, x = ((marked[inside] + 0.5) * block - 0.5).T
        axes.scatter(x, y, s=0.5, color=colour, marker="s", linewidths=0)
    n = max(len(heat.names), 1)
    axes.plot([-0.5, n - 0.5], [-0.5, n - 0.5], color="#bbbbbb", linewidth=0.5)
    axes.set_anchor("N")  # what a square leaves free is below it, where the legend is
    _label_sides(axes, heat.names)
    _name_blocks(axes, heat)
    _draw_legend(axes, [(legend.title, handles(legend)) for legend in legends])
    text = ""
    if block > 1:
        text = f"each cell: the {'worst' if worst else 'mean'} of {block} × {block} pairs"
        if len(marked):
            text += "\ndots: a single pair has most of the errors"
    return titled(axes, "\n".join(filter(None, [fitted_title(title, COLUMN), text])))


def _label_sides(axes: Axes, names: Sequence[str]) -> None:
    """Write names along two sides; where they are many, every second, third, ... one."""
    places = range(0, len(names), max(1, -(-len(names) // LABELS)))
    texts = cut_names(names, 16)
    labels = [texts[k] for k in places]
    size = "small" if len(labels) <= 20 else "xx-small"
    axes.set_xticks(places, labels, rotation=90, fontsize=size)
    axes.set_yticks(places, labels, fontsize=size)
    axes.tick_params(length=2, pad=1, top=True, bottom=False, labeltop=True, labelbottom=False)


def _name_blocks(axes: Axes, heat: HeatMap) -> None:
    """Draw a frame around each block of similar variables, and name its first variables."""
    blocks = sorted(heat.blocks, key=lambda block: block.start)
    n = max(len(heat.names), 1)
    wanted = np.array([1 - (block.start + len(block) / 2) / n for block in blocks])
    rectangle = require("matplotlib.patches", "plots").Rectangle
    edge = n - 0.5 + 0.02 * n
    for block, height in zip(blocks, apart(wanted, 0.075), strict=True):
        corner = (block.start - 0.5, block.start - 0.5)
        axes.add_patch(rectangle(corner, len(block), len(block), fill=False, linewidth=0.8))
        rows = [block.start - 0.5, block.stop - 0.5]
        axes.plot([edge, edge], rows, color="black", linewidth=1.2, clip_on=False)
        first = cut_names(heat.names[block.start : block.start + 2], 10)
        axes.annotate(
            f"{', '.join(first)}, …\n{len(block)} variables",
            (edge, sum(rows) / 2),
            xytext=(1.07, height),
            textcoords="axes fraction",
            fontsize="x-small",
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "linewidth": 0.4,
                "color": "#555555",
                "relpos": (0, 0.5),
                "shrinkA": 1,
                "shrinkB": 0,
            },
        )
    axes.set(xlim=(-0.5, n - 0.5), ylim=(n - 0.5, -0.5))


def _draw_legend(axes: Axes, columns: list[tuple[str, list[Artist]]]) -> None:
    """Draw one legend below the picture, in columns of equal length that begin with titles."""
    patch = require("matplotlib.patches", "plots").Patch
    longest = 1 + max((len(marks) for _, marks in columns), default=0)
    entries: list[Artist] = []
    for title, marks in columns:
        column = [patch(visible=False, label=title or "on either side"), *marks]
        entries += column + [patch(visible=False, label="") for _ in range(longest - len(column))]
    titles = entries[::longest]  # narrow, with as many lines in each
    texts = [str(entry.get_label()).replace(", ", ",\n") for entry in titles]
    lines = max((text.count("\n") for text in texts), default=0)
    for entry, text in zip(titles, texts, strict=True):
        entry.set_label(text + "\n " * (lines - text.count("\n")))
    axes.legend(
        handles=entries,
        ncols=max(len(columns), 1),
        fontsize="x-small",
        loc="upper center",
        bbox_to_anchor=(0.5, -0.01),
        frameon=False,
        handlelength=1.0,
        handletextpad=0.5,
        labelspacing=0.25,
        columnspacing=0.8,
        borderaxespad=0.2,
    )


# -- graphs ----------------------------------------------------------------------------------------


def _draw_graph(graph: Graph, axes: Axes, fixed: Mapping[str, str]) -> None:
    """Draw a graph in points of paper; variables in ``fixed`` are hollow and show their states."""
    root: Any = axes.figure
    width, height = POINTS * root.get_size_inches() * axes.get_position().size
    frame = (float(width), float(height))  # in points of paper
    drawing = arrange(
        graph.positions, graph.edges, frame=frame, fonts=FONTS, measure=_text_size, fixed=fixed
    )
    widest = 0.7 * widest_of(len(graph.edges))
    for edge in graph.edges:
        for line in edge_lines(edge, drawing.places, widest=widest):
            dashes = DASHES[line.kind]
            axes.plot(
                *zip(line.start, line.end, strict=True),
                color=COLOURS[line.kind],
                linewidth=line.width,
                linestyle=(line.dash_offset, tuple(d / 2 for d in dashes)) if dashes else "-",
                dash_capstyle="butt",
                zorder=1,
            )
            for end in arrow_ends(edge, line, graph.arcs):
                corners = zip(*arrow_corners(*end, line.width), strict=True)
                axes.fill(*corners, color=COLOURS[line.kind], linewidth=0, zorder=2)
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

    An edge has a line for each kind of context, as wide as the kind's share. A model that is
    compared with itself is drawn alone, a Bayesian network with arrows.

    Parameters
    ----------
    comparison : of the two structures
    in_context : the comparison of the same models in a context, optional
    fixed : the states that the context assigns
    selection : the edges to show, if they are chosen already
    **options : otherwise which edges to choose; see `contextwise.report.shares.select_edges`

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
    if comparison.true is comparison.guess:
        graph = graph._replace(view="one", arcs=arcs_of(comparison.true))
    panels: list[tuple[str, Graph, Mapping[str, str]]] = [(selection.description, graph, {})]
    if in_context is not None:
        inside = edges_between(edges_of(in_context), selection.nodes)
        which: Which = "differences" if selection.which == "differences" else "strongest"
        inner = select_edges(inside, which=which, around=selection.around)
        text = " & ".join(f"{name}={state}" for name, state in (fixed or {}).items())
        panels[0] = (f"all contexts: {selection.description}", graph, {})
        panels.append(
            (f"{text}: {inner.description}", graph._replace(selection=inner), fixed or {})
        )
    figure, row = _panels(len(panels), len(selection.nodes))
    frame = figure.get_figwidth() * row[0].get_position().width
    for axes, (text, shown_graph, assigned) in zip(row, panels, strict=True):
        _draw_graph(shown_graph, axes, assigned)
        axes.set_title(fitted_title(text, frame, size=7), fontsize="small", pad=2)
    lines = fitted_title(title, figure.get_figwidth(), size=7)
    top = 1 - 0.04 / figure.get_figheight()
    figure.text(0.5, top, lines, ha="center", va="top", fontsize="small")
    edges = [edge for _, drawn, _ in panels for edge in drawn.edges]
    entries = handles(graph_legend(edges, graph.view))
    if entries:
        figure.legend(handles=entries, loc="lower center", ncols=3, borderaxespad=0.2)
    return figure


@styled
def plot_structure(
    model: ModelLike,
    *,
    context: Assignment | None = None,
    title: str = "",
    **options: Any,
) -> Figure:
    """Plot one structure as a graph: a line is as wide as the share of contexts of dependence.

    A Bayesian network has arrows from parents to children; lines without an arrow join parents of a
    common child.

    Parameters
    ----------
    model : Structure, LogLinear, path of a file, or name of an example
    context : states of some variables; the graph then shows what depends given them
    title : above the graph
    **options : which edges to choose; see `contextwise.report.shares.select_edges`

    Examples
    --------
    >>> figure = plot_structure("survey", context={"gender": "man"}, title="men")
    >>> len(figure.axes)
    1
    """
    structure = as_structure(model)
    comparison = compare(structure, structure)
    selection = select_edges(edges_of(comparison), **{"which": "strongest", **options})
    graph = graph_of(selection)._replace(view="one", arcs=arcs_of(structure))
    fixed: dict[str, str] = {}
    text = selection.description
    if context is not None:
        domain = structure.domain
        chosen = domain.assignment(context)
        fixed = {domain.names[v]: domain.states[v][state] for v, state in chosen.items()}
        inside = compare(structure, structure, context=fixed)
        inner = select_edges(edges_between(edges_of(inside), selection.nodes), which="strongest")
        graph = graph._replace(selection=inner)
        states = " & ".join(f"{name}={state}" for name, state in fixed.items())
        text = f"{states}: {inner.description}"
    figure, (axes,) = _panels(1, len(selection.nodes))
    _draw_graph(graph, axes, fixed)
    lines = [fitted_title(line, figure.get_figwidth(), size=7) for line in (title, text) if line]
    top = 1 - 0.04 / figure.get_figheight()
    figure.text(0.5, top, "\n".join(lines), ha="center", va="top", fontsize="small")
    return figure


def _panels(count: int, nodes: int) -> tuple[Figure, list[Axes]]:
    """Return a figure with places for graphs, side by side if they are small."""
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
    """Return the width and height of a line of text in points, with a little air."""
    path = require("matplotlib.textpath", "plots").TextPath((0, 0), text, size=font)
    return float(path.get_extents().width) + 2.0, 1.25 * font


# -- one variable, and supports ------------------------------------------------------------------


@styled
def plot_neighbours(
    comparison: Comparison,
    variable: str,
    *,
    axes: Axes | None = None,
    most: int = NEIGHBOURS,
    which: Which | None = None,
    min_share: float = 0.0,
    title: str = "",
    **options: Unpack[FigureOptions],
) -> Figure:
    """Plot one variable against all others: the share of contexts in which it depends on each.

    Parameters
    ----------
    comparison : of the two structures
    variable : whose neighbours are shown
    most : how many neighbours, the strongest first
    which, min_share : as in `contextwise.report.shares.select_edges`

    Examples
    --------
    >>> from contextwise import compare
    >>> figure = plot_neighbours(compare("lung", "lung-learned"), "asbestos")
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['cancer', 'smoker']
    """
    comparison.domain.position(variable)  # raises if the name is unknown
    selection = select_edges(
        edges_of(comparison),
        which=which,
        around=(variable,),
        min_share=min_share,
        most_edges=most,
        most_nodes=most + 1,
    )
    edges = selection.edges
    axes = axes or new_axes(COLUMN, 0.95 + 0.145 * max(len(edges), 2))
    left = np.zeros(len(edges))
    kinds: tuple[Agreement, ...] = ("tp", "fn", "fp")
    for kind in kinds:
        shares = np.array([getattr(edge, kind) for edge in edges])
        if shares.any():
            axes.barh(
                range(len(edges)),
                shares,
                left=left,
                height=0.75,
                color=COLOURS[kind] if kind != "tp" else "#b5b5b5",
                hatch=HATCHES[kind],
                edgecolor="white",
                linewidth=0,
                label=comparison.roles.only[kind],
            )
        left = left + shares
    others = [second if first == variable else first for first, second in (e.pair for e in edges)]
    size = "small" if len(edges) < 20 else "x-small"
    axes.set_yticks(range(len(edges)), cut_names(others, 24), fontsize=size)
    axes.set_ylim(max(len(edges), 1) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    axes.set_xlabel("share of the pair's contexts in which they depend")
    axes.spines[["top", "right"]].set_visible(False)
    for place, edge in enumerate(edges):
        text = percent(Fraction(edge.errors), 1) if edge.errors else "same"
        axes.text(1.02, place, text, va="center", fontsize="x-small", color="#333333")
    if edges:
        axes.text(1.02, -0.75, "differ in", va="bottom", fontsize="x-small", color="#333333")
        axes.legend(
            loc="lower left",
            bbox_to_anchor=(-0.02, 1.0),
            ncols=3,
            columnspacing=1,
            borderaxespad=0.2,
        )
    lines = [fitted_title(line, COLUMN) for line in (title, selection.description) if line]
    axes.set_title("\n".join(lines), pad=16 if edges else 4)
    return titled(axes)


@styled
def plot_supports(
    stability: Stability,
    *,
    axes: Axes | None = None,
    title: str = "",
    **options: Unpack[FigureOptions],
) -> Figure:
    """Plot the support of each pair: the share of resamples above the diagonal, of contexts below.

    Parameters
    ----------
    stability : structures from resamples

    Examples
    --------
    >>> from contextwise.evaluation import stability
    >>> from contextwise.learning import ChowLiu
    >>> rows = [[0, 0, 1], [1, 1, 0], [0, 0, 0], [1, 1, 1]] * 20
    >>> figure = plot_supports(stability(rows, ChowLiu(), resamples=4, rng=1))
    >>> [label.get_text() for label in figure.axes[0].get_xticklabels()]
    ['v0', 'v1', 'v2']
    """
    axes = axes or new_axes(COLUMN, COLUMN)
    shares = stability.support_matrix()
    np.fill_diagonal(shares, np.nan)
    picture = axes.imshow(
        np.ma.masked_invalid(shares), cmap="Blues", vmin=0, vmax=1, interpolation="nearest"
    )
    _label_sides(axes, stability.domain.names)
    text = f"above: share of {stability.resamples} resamples\nbelow: mean share of contexts"
    axes.set_xlabel(text, fontsize="small")
    axes.figure.colorbar(picture, ax=axes, shrink=0.7)
    return titled(axes, title)


@styled
def plot_populations(
    populations: Populations | Sequence[Populations],
    *,
    title: str = "",
    **options: Unpack[FigureOptions],
) -> Figure:
    """Plot the distances of the groups with their p-values, and where the groups differ.

    The heat map has the share of contexts that differ above the diagonal, and the adjusted p-value
    below it. Several columns of groups are drawn below each other.

    Parameters
    ----------
    populations : result of `contextwise.populations`

    Examples
    --------
    >>> from contextwise import populations
    >>> rows = [["x", 0, 0, 1], ["x", 1, 1, 0], ["y", 0, 1, 1], ["y", 1, 1, 0]] * 20
    >>> figure = plot_populations(populations(rows, by="v0", learner="mpl", permutations=19))
    >>> [label.get_text() for label in figure.axes[0].get_xticklabels()]
    ['x', 'y']
    """
    columns = [populations] if isinstance(populations, Populations) else list(populations)
    figure = new_figure(2 * COLUMN, 0.85 * COLUMN * len(columns))
    grid = figure.subplots(len(columns), 2, squeeze=False)
    farthest = max(float(each.distance) for found in columns for each in found.pairwise)
    for (groups, pairs), found in zip(grid, columns, strict=True):
        _draw_groups(groups, found, max(farthest, 1e-9))
        _draw_differences(pairs, found)
    if title:
        figure.suptitle(title, fontsize="medium")
    return figure


def _draw_groups(axes: Axes, found: Populations, largest: float) -> None:
    """Draw the matrix of the distances of the groups, with p-values in its cells."""
    place = {group.name: k for k, group in enumerate(found.groups)}
    matrix = np.full((len(place), len(place)), np.nan)
    for each in found.pairwise:
        a, b = place[each.first], place[each.second]
        matrix[a, b] = matrix[b, a] = float(each.distance)
    axes.imshow(np.ma.masked_invalid(matrix), cmap="Greys", vmin=0, vmax=1.4 * largest)
    for each in found.pairwise if len(place) <= WITH_P_VALUES else ():
        ends = place[each.first], place[each.second]
        dark = float(each.distance) > 0.6 * largest
        text = f"{float(each.distance):.3g}\np = {each.adjusted:.2g}"
        how: dict[str, Any] = {"color": "white" if dark else "black"}
        how["fontsize"] = "small" if len(place) <= 4 else "xx-small"
        for row, column in (ends, ends[::-1]):
            axes.text(column, row, text, ha="center", va="center", **how)
    _label_sides(axes, list(place))
    holm = ", p after Holm" if len(place) > 2 else ""
    axes.set_xlabel(f"{found.by}: normalized distance{holm}", fontsize="small")


def _draw_differences(axes: Axes, found: Populations) -> None:
    """Draw the heat map of the pairs of variables on which the groups differ."""
    names = found.domain.names
    place = {name: k for k, name in enumerate(names)}
    cells = np.full((len(names), len(names), 3), 1.0)
    to_rgb = require("matplotlib.colors", "plots").to_rgb
    shades = {
        kind: [on_white(COLOURS[kind], o) for o in SUPPORT_OPACITIES] for kind in ("fn", "fp")
    }
    for each in found.variable_pairs:
        i, j = sorted(place[name] for name in each.pair)
        step = int(np.searchsorted(SUPPORT_STEPS, min(float(each.share), 1.0)))
        cells[i, j] = to_rgb(shades["fn"][step])
        cells[j, i] = to_rgb(shades["fp"][int(p_value_steps(np.array(each.adjusted)))])
    axes.imshow(cells, interpolation="nearest")
    _label_sides(axes, names)
    axes.set_xlabel("above: share of contexts that differ\nbelow: adjusted p", fontsize="small")
    words = {
        "fn": [f"≤ {100 * step:g} %" for step in SUPPORT_STEPS],
        "fp": ["larger p", *(f"p ≤ {p:g}" for p in reversed(P_VALUES))],
    }
    patch = require("matplotlib.patches", "plots").Patch
    entries = [
        patch(facecolor=shade, label=word)
        for kind in ("fn", "fp")
        for shade, word in zip(shades[kind], words[kind], strict=True)
    ]
    axes.legend(handles=entries, loc="center left", bbox_to_anchor=(1.02, 0.5))
