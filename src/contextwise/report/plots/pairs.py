"""The heat map of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from contextwise.comparison.compare import Comparison
from contextwise.errors import require
from contextwise.models.numbers import name as shown
from contextwise.report.colours import COLOURS, OPACITIES, STEP_WORDS, WORDS, Agreement, on_white
from contextwise.report.heatmap import OPEN, HeatMap, heat_map, palette, pooled
from contextwise.report.plots.figures import COLUMN, new_axes, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABELS = 40
"""The most labels along a side."""
DOTS = 600
"""The most cells along a side; more share a cell, which shows the worst of them."""


@styled
def plot_pairs(comparison: Comparison, *, axes: Axes | None = None, cluster: bool = False) -> Axes:
    """The share of errors of each pair: false positives above the diagonal, negatives below.

    Parameters
    ----------
    cluster : bool
        Put variables that err together, or with the same others, side by side.
    """
    heat = heat_map(comparison, cluster=cluster)
    axes = axes or new_axes(COLUMN, COLUMN + 0.5)
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
    _label(axes, heat)
    _legend(axes, has_open=bool((codes == OPEN).any()))
    return axes


def _label(axes: Axes, heat: HeatMap) -> None:
    """Names along two sides; where they are many, every second, third, ... one."""
    every = max(1, -(-len(heat.names) // LABELS))
    places = range(0, len(heat.names), every)
    labels = [shown(heat.names[k], 16) for k in places]
    size = 8 if len(labels) <= 12 else 5
    axes.set_xticks(places, labels, rotation=90, fontsize=size)
    axes.set_yticks(places, labels, fontsize=size)
    axes.tick_params(length=2, top=True, bottom=False, labeltop=True, labelbottom=False)


def _legend(axes: Axes, has_open: bool) -> None:
    patch = require("matplotlib.patches", "plots").Patch
    kinds: tuple[Agreement, ...] = ("fp", "fn")
    handles = [
        patch(color=on_white(COLOURS[kind], opacity), label=f"{WORDS[kind]}, {words}")
        for kind in kinds
        for opacity, words in zip(OPACITIES, STEP_WORDS, strict=True)
    ]
    if has_open:
        handles.append(patch(color=palette()[OPEN][0], label="not decided"))
    axes.legend(
        handles=handles,
        title="share of the pair's contexts",
        title_fontsize=6,
        fontsize=6,
        ncols=2,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.01),
        handlelength=1.0,
        labelspacing=0.25,
    )
