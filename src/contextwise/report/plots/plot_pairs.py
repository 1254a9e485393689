"""Pairs of variables: the heat map of all of them, and one variable against all others."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from contextwise.comparison.compare import Comparison
from contextwise.errors import require
from contextwise.evaluation.stability import Stability
from contextwise.report.colours import COLOURS, WORDS, Agreement, on_white
from contextwise.report.layout import apart, cut_names
from contextwise.report.pictures import HeatMap, heat_legends, heat_map, palette, pooled
from contextwise.report.plots.style import COLUMN, fitted_title, handles, new_axes, styled
from contextwise.report.shares import Edge, Selection, edges_of, select_edges
from contextwise.support.formatting import name, percent

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


LABELS = 40
"""The most labels along a side."""
DOTS = 200
"""The most cells along a side; more share a cell, which shows the worst of them.

In a column of a paper a cell is a point wide then: a lone error can still be seen."""
NEIGHBOURS = 30
"""The most neighbours of a variable in one picture."""
LEGEND_ROW = 0.11
"""Inches for a row of a legend."""
HATCHES: dict[Agreement, str] = {"tp": "", "fn": "....", "fp": "////"}
"""What tells the kinds apart without colour."""


@styled
def plot_pairs(
    comparison: Comparison, *, axes: Axes | None = None, reorder: bool = False, title: str = ""
) -> Axes:
    """The share of errors of each pair: false positives above the diagonal, negatives below.

    Parameters
    ----------
    comparison : what is drawn
    axes : where to draw
    reorder : whether variables that err alike stand together; the largest blocks are named then
    title : for instance the names of the models

    Returns
    -------
    Axes

    Examples
    --------
    >>> from contextwise import compare
    >>> axes = plot_pairs(compare("lung", "lung-learned"), title="lung")
    >>> [label.get_text() for label in axes.get_xticklabels()]
    ['smoker', 'asbestos', 'cancer']
    """
    heat = heat_map(comparison, reorder=reorder)
    rows = max((len(legend.entries) for legend in heat_legends(heat)), default=0)
    height = COLUMN + 0.6 + LEGEND_ROW * rows
    axes = axes or new_axes(COLUMN + 0.6 * bool(heat.blocks), height)
    colours = [on_white(colour, opacity) for colour, opacity in palette()]
    codes = pooled(heat.codes, DOTS) if len(heat.names) > DOTS else heat.codes
    side = max(len(heat.names), 1)
    axes.imshow(
        codes if len(heat.names) else np.zeros((1, 1)),
        cmap=require("matplotlib.colors", "plots").ListedColormap(colours),
        vmin=-0.5,
        vmax=len(colours) - 0.5,
        interpolation="nearest",
        extent=(-0.5, side - 0.5, side - 0.5, -0.5),
    )
    axes.plot([-0.5, side - 0.5], [-0.5, side - 0.5], color="#bbbbbb", linewidth=0.5)
    axes.set_anchor("N")  # what a square leaves free is below it, where the legend is
    _label(axes, heat)
    _name_blocks(axes, heat)
    _legend(axes, heat)
    axes.set_title(
        "\n".join(filter(None, [fitted_title(title, COLUMN), _block_words(heat, codes)]))
    )
    return axes


def _block_words(heat: HeatMap, codes: npt.NDArray[np.uint8]) -> str:
    """What a cell is, where it stands for several pairs."""
    block = -(-len(heat.names) // max(len(codes), 1))
    return f"each cell: the worst of {block} × {block} pairs" if block > 1 else ""


def _label(axes: Axes, heat: HeatMap) -> None:
    """Names along two sides; where they are many, every second, third, ... one."""
    every = max(1, -(-len(heat.names) // LABELS))
    places = range(0, len(heat.names), every)
    names = cut_names(heat.names, 16)
    labels = [names[k] for k in places]
    size = 7 if len(labels) <= 20 else 5
    axes.set_xticks(places, labels, rotation=90, fontsize=size)
    axes.set_yticks(places, labels, fontsize=size)
    axes.tick_params(length=2, pad=1, top=True, bottom=False, labeltop=True, labelbottom=False)


def _name_blocks(axes: Axes, heat: HeatMap) -> None:
    """A frame around each block of variables that err alike, and beside its rows whose they are."""
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
            fontsize=5.5,
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


def _legend(axes: Axes, heat: HeatMap) -> None:
    """One legend below the picture, with a column for each side and one for the rest.

    The first entry of a column is its title. Columns are as wide as their words, so they never
    overlap; empty entries make them equally long.
    """
    columns = [
        [_title(legend.title or "on either side"), *handles(legend)]
        for legend in heat_legends(heat)
    ]
    for column in columns:
        for entry in column:
            entry.set_label(str(entry.get_label()).replace(", ", ",\n"))  # narrow columns
    longest = max(map(len, columns), default=0)
    entries = [
        column[k] if k < len(column) else _title("") for column in columns for k in range(longest)
    ]
    axes.legend(
        handles=entries,
        ncols=max(len(columns), 1),
        fontsize=6,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.01),
        frameon=False,
        handlelength=1.0,
        handletextpad=0.5,
        labelspacing=0.25,
        columnspacing=0.8,
        borderaxespad=0.2,
    )


def _title(words: str) -> Artist:
    """An entry of a legend that is words alone."""
    entry: Artist = require("matplotlib.patches", "plots").Patch(visible=False, label=words)
    return entry


@styled
def plot_neighbours(
    comparison: Comparison,
    variable: str,
    *,
    axes: Axes | None = None,
    most: int = NEIGHBOURS,
    title: str = "",
    **options: Any,
) -> Axes:
    """One variable against all others: in which share of contexts it depends on each of them.

    Parameters
    ----------
    comparison : of the two structures
    variable : whose neighbours are shown
    axes : where to draw
    most : how many neighbours, the strongest first
    title : for instance the names of the models
    **options : ``which`` and ``min_share`` of `contextwise.report.shares.select_edges`

    Returns
    -------
    Axes

    Examples
    --------
    >>> from contextwise import compare
    >>> axes = plot_neighbours(compare("lung", "lung-learned"), "asbestos")
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['cancer', 'smoker']
    """
    comparison.domain.position(variable)  # an unknown name is an error that says so
    selection = select_edges(
        edges_of(comparison), around=(variable,), most_edges=most, most_nodes=most + 1, **options
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
                label=WORDS[kind],
            )
        left = left + shares
    others = [second if first == variable else first for first, second in (e.pair for e in edges)]
    axes.set_yticks(range(len(edges)), cut_names(others, 24), fontsize=7 if len(edges) < 20 else 6)
    axes.set_ylim(max(len(edges), 1) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    _frame_neighbours(axes, edges, selection, title)
    return axes


def _frame_neighbours(
    axes: Axes, edges: tuple[Edge, ...], selection: Selection, title: str
) -> None:
    """The axis of shares, the errors in figures, and what is shown."""
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    axes.set_xlabel("share of the pair's contexts in which they depend")
    axes.spines[["top", "right"]].set_visible(False)
    for place, edge in enumerate(edges):
        words = percent(Fraction(edge.errors), 1) if edge.errors else "same"
        axes.text(1.02, place, words, va="center", fontsize=6, color="#333333")
    if edges:
        axes.text(1.02, -0.75, "differ in", va="bottom", fontsize=6, color="#333333")
        axes.legend(
            loc="lower left",
            bbox_to_anchor=(-0.02, 1.0),
            ncols=3,
            columnspacing=1,
            borderaxespad=0.2,
        )
    words = selection.words
    lines = [fitted_title(line, COLUMN) for line in (title, words) if line]
    axes.set_title("\n".join(lines), pad=16 if edges else 4)


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
