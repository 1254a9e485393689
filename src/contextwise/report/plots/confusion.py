"""Confusion matrices, errors and rates of guesses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from contextwise.comparison.compare import Comparison
from contextwise.comparison.confusion import ratio
from contextwise.models.numbers import name as shown
from contextwise.models.numbers import number, percent
from contextwise.report.colours import COLOURS, WORDS, Agreement, on_white
from contextwise.report.plots.figures import COLUMN, new_axes, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RATES = {
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "jaccard": "Jaccard",
    "mcc": "MCC",
}
MARKERS = ("o", "s", "^", "D", "v")
SERIES = ("#000000", "#E69F00", "#56B4E9", "#009E73", "#CC79A7")
"""Of Okabe and Ito's palette, without the hues of the two kinds of errors."""

Guesses = Mapping[str, Comparison]
"""The comparisons of several guesses with one true model, by their names."""


@styled
def plot_guesses(guesses: Guesses) -> list[Axes]:
    """The confusion matrix of one guess, or the errors of several; and beside it the rates."""
    figure = new_figure(2 * COLUMN, 0.8 + max(1.4, 0.22 * len(guesses)))
    left, right = figure.subplots(1, 2)
    if len(guesses) == 1:
        plot_confusion(next(iter(guesses.values())), axes=left)
    else:
        plot_errors(guesses, axes=left)
    plot_rates(guesses, axes=right)
    return [left, right]


@styled
def plot_confusion(comparison: Comparison, *, axes: Axes | None = None) -> Axes:
    """The confusion matrix of one guess: counts, and their shares of all assertions."""
    axes = axes or new_axes(COLUMN, 0.6 * COLUMN)
    c = comparison.confusion
    cells = [[("tp", c.tp), ("fn", c.fn)], [("fp", c.fp), ("tn", c.tn)]]
    axes.set(xlim=(-0.5, 1.5), ylim=(1.5, -0.5))
    for row, line in enumerate(cells):
        for column, (kind, count) in enumerate(line):
            colour = COLOURS.get(kind, "#ffffff")  # type: ignore[call-overload]
            share = ratio(count, c.total) if c.total else 0.0
            tint = on_white(colour, 0.15 + 0.45 * share)
            axes.fill_between([column - 0.49, column + 0.49], row - 0.49, row + 0.49, color=tint)
            text = f"{kind.upper()}\n{number(count)}"
            if c.total:
                text += f"\n{percent(count, c.total)}"
            axes.text(column, row, text, ha="center", va="center")
    axes.set_xticks([0, 1], ["guess: dependent", "guess: independent"])
    axes.set_yticks([0, 1], ["true:\ndependent", "true:\nindependent"])
    axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    return axes


@styled
def plot_errors(guesses: Guesses, *, axes: Axes | None = None) -> Axes:
    """The distance of each guess as a share of all assertions, split into its two kinds."""
    axes = axes or new_axes(COLUMN, 0.6 + 0.22 * len(guesses))
    places = np.arange(len(guesses))
    left = np.zeros(len(guesses))
    kinds: tuple[Agreement, ...] = ("fp", "fn")
    for kind, hatch in zip(kinds, ("", "////"), strict=True):
        shares = np.array([_share(c, kind) for c in guesses.values()])
        axes.barh(
            places,
            shares,
            left=left,
            height=0.7,
            color=COLOURS[kind],
            hatch=hatch,
            edgecolor="white",
            linewidth=0,
            label=WORDS[kind],
        )
        left += shares
    _names(axes, guesses)
    axes.set_xlabel("errors as a share of all assertions")
    axes.set_xlim(left=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    return axes


@styled
def plot_rates(guesses: Guesses, *, axes: Axes | None = None) -> Axes:
    """The rates of each guess as points; a rate that is not defined has none."""
    axes = axes or new_axes(COLUMN, 0.6 + 0.22 * len(guesses))
    places = np.arange(len(guesses))
    lowest = 0.0  # only Matthews' correlation goes below
    for k, (key, label) in enumerate(RATES.items()):
        values = [c.rate(key, float("nan")) for c in guesses.values()]
        lowest = min([lowest, *(value for value in values if value < 0)])
        axes.plot(values, places, MARKERS[k], color=SERIES[k], markersize=4, label=label)
    _names(axes, guesses)
    axes.set_xlim(lowest - 0.02, 1.02)
    axes.grid(axis="y", linewidth=0.4, color="#dddddd")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, columnspacing=1)
    return axes


def _names(axes: Axes, guesses: Guesses) -> None:
    axes.set_yticks(range(len(guesses)), [shown(label, 24) for label in guesses])
    axes.set_ylim(len(guesses) - 0.5, -0.5)


def _share(comparison: Comparison, kind: Agreement) -> float:
    count = getattr(comparison, kind)
    return ratio(count, comparison.total) if comparison.total else 0.0
