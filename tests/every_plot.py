"""Arguments for every plot of `contextwise.report.plots`, and the boxes of its labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from contextwise import LogLinear, compare, examples
from contextwise.analysis import groups
from contextwise.evaluation import Ensemble, reliability

SIX = compare(examples.load("six"), examples.load("six-guess"))
WEIGHTED = LogLinear(SIX.true, np.arange(len(SIX.true), dtype=float))
AT = compare(WEIGHTED, examples.load("six-guess"), at=(0, 1, 2))
LINE = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))

EQUAL = [["x", 0, 0], ["x", 1, 1]] * 40 + [["x", 0, 1], ["x", 1, 0]] * 4
FREE = [["y", a, b] for a in (0, 1) for b in (0, 1)] * 20

PLOTS: dict[str, tuple[Any, ...]] = {
    "plot_graphs": (SIX,),
    "plot_groups": ({"a": [SIX, SIX], "b": [SIX]},),
    "plot_guesses": ([SIX, SIX],),
    "plot_models": (list("ABCDE"), LINE),
    "plot_odds": (groups(EQUAL + FREE, by="v0", learner="mpl"),),
    "plot_pairs": (SIX,),
    "plot_reliability": (reliability("six", Ensemble(["six", "six-guess", "six-graph"])),),
    "plot_strength": (AT,),
    "plot_structure": ("survey",),
}


def draw(axes: Axes) -> None:
    FigureCanvasAgg(axes.figure).draw()  # type: ignore[arg-type, no-untyped-call]


def label_boxes(axes: Axes) -> list[Bbox]:
    """Return the bounding boxes of the labels of a picture, without their lines."""
    draw(axes)
    return [Text.get_window_extent(text) for text in axes.texts]
