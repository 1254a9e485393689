"""Plot guesses at one true model: confusion matrix, errors, rates, and groups of guesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Unpack

import numpy as np

from contextwise.comparison.compare import Comparison
from contextwise.comparison.confusion import MEASURES, ratio, shown_in
from contextwise.errors import ContextwiseError, DomainError, require
from contextwise.evaluation.intervals import mean_with_interval
from contextwise.evaluation.replicates import Ranking, metric_label
from contextwise.report.drawing import SERIES as PAGE_SERIES
from contextwise.report.drawing import error_shares
from contextwise.report.layout import cut_names, distinct_names
from contextwise.report.parts import COLOURS, WORDS, Agreement
from contextwise.report.plots.style import (
    COLUMN,
    FigureOptions,
    Guesses,
    named,
    new_axes,
    new_figure,
    on_white,
    styled,
    titled,
)
from contextwise.support.formatting import name, number, percent, rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


RATES = shown_in("plot")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
SERIES = ("#000000", *PAGE_SERIES[1:], "#999999")
"""Okabe and Ito's palette, as on pages but for the first, which is black on paper."""


@styled
def plot_guesses(guesses: Guesses, *, title: str = "", **options: Unpack[FigureOptions]) -> Figure:
    """Plot the confusion matrix of one guess, or the errors of several, next to the rates.

    Parameters
    ----------
    guesses : one comparison, a mapping from names, or a list

    Examples
    --------
    >>> from contextwise import compare
    >>> len(plot_guesses(compare("lung", "lung-learned"), title="lung").axes)
    2
    """
    by_name = named(guesses)
    height = 1.75 if len(by_name) == 1 else 0.75 + 0.2 * max(3, len(by_name))
    figure = new_figure(2 * COLUMN, height + 0.2 * bool(title))
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.1])
    plot_rates(by_name, axes=right)
    if len(by_name) == 1:
        plot_confusion(next(iter(by_name.values())), axes=left)
    else:
        plot_errors(by_name, axes=left)
        right.set_yticks([])  # the rows are those of the errors
    if title:
        figure.suptitle(title, fontsize="medium")
    return figure


@styled
def plot_confusion(
    comparison: Comparison,
    *,
    axes: Axes | None = None,
    title: str = "",
    **options: Unpack[FigureOptions],
) -> Figure:
    """Plot the confusion matrix of one guess: shares of all assertions, and counts.

    Parameters
    ----------
    comparison : of the true model and a guess

    Examples
    --------
    >>> from contextwise import compare
    >>> (axes,) = plot_confusion(compare("lung", "lung-learned")).axes
    >>> axes.texts[0].get_text().split("\\n")
    ['TP', '50 %', '3']
    """
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
            shares = [percent(count, c.total)] if c.total else []
            text = "\n".join([kind.upper(), *shares, number(count)])
            axes.text(column, row, text, ha="center", va="center")
    axes.set_xticks([0, 1], ["guess: dependent", "guess: independent"])
    axes.set_yticks([0, 1], ["true:\ndependent", "true:\nindependent"])
    axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    return titled(axes, title)


@styled
def plot_errors(guesses: Guesses, *, axes: Axes | None = None) -> Figure:
    """Plot the normalized distance of each guess, split into its two kinds of errors."""
    by_name = named(guesses)
    axes = axes or new_axes(COLUMN, 0.6 + 0.22 * len(by_name))
    places = np.arange(len(by_name))
    left = np.zeros(len(by_name))
    kinds: tuple[Agreement, ...] = ("fp", "fn")
    both = np.array([error_shares(c) for c in by_name.values()]).T
    for kind, shares, hatch in zip(kinds, both, ("////", "...."), strict=True):
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
    _name_rows(axes, distinct_names(list(by_name), 24))
    axes.set_xlabel("errors as a share of all assertions")
    axes.set_xlim(left=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    return titled(axes)


@styled
def plot_rates(guesses: Guesses, *, axes: Axes | None = None) -> Figure:
    """Plot the rates as bars with numbers; several guesses have one row each."""
    by_name = named(guesses)
    axes = axes or new_axes(COLUMN, 0.6 + 0.22 * max(len(by_name), 3))
    if len(by_name) == 1:
        (only,) = by_name.values()
        _bars(axes, [only.rate(key, float("nan")) for key in RATES], 0.0)
        rows, end = [MEASURES[key].label for key in RATES], 1.0
    else:
        rows, end = distinct_names(list(by_name), 24), _columns(axes, by_name)
    _name_rows(axes, rows)
    axes.tick_params(length=0)
    axes.set_xlim(min(axes.get_xlim()[0], -0.02), end + 0.12)
    axes.spines[:].set_visible(False)
    return titled(axes)


def _columns(axes: Axes, by_name: Mapping[str, Comparison]) -> float:
    """One column of bars per rate; gives where the last one ends."""
    place, ticks = 0.0, []
    for key in RATES:
        values = [c.rate(key, float("nan")) for c in by_name.values()]
        place -= min([0.0, *(value for value in values if value < 0)])  # only MCC goes below 0
        _bars(axes, values, place)
        ticks.append(place)
        place += 1.15
    axes.set_xticks(ticks, [MEASURES[key].label for key in RATES], ha="left", fontsize="x-small")
    axes.tick_params(axis="x", top=False, labeltop=True, bottom=False, labelbottom=False, pad=1)
    return place - 0.15


def _bars(axes: Axes, values: Sequence[float], place: float) -> None:
    lengths = [0.0 if isnan(value) else value for value in values]
    axes.barh(
        range(len(values)), lengths, left=place, height=0.7, color="#9db8cc", edgecolor="none"
    )
    axes.axvline(place, color="#7f7f7f", linewidth=0.5)
    for row, value in enumerate(values):
        axes.text(place + 0.03, row, rate(value), va="center", fontsize="x-small")


def _name_rows(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names, fontsize="small")
    axes.set_ylim(len(names) - 0.5, -0.5)


# -- groups of guesses ----------------------------------------------------------------------------


@styled
def plot_groups(
    groups: Mapping[str, Guesses], *, title: str = "", **options: Unpack[FigureOptions]
) -> Figure:
    """Plot groups of guesses: mean distances with intervals, and FP against FN.

    Parameters
    ----------
    groups : the guesses of each group, for instance the repeats of one learner

    Examples
    --------
    >>> from contextwise import compare
    >>> groups = {"a": [compare("six", "six-guess")], "b": [compare("six", "six-graph")]}
    >>> means, plane = plot_groups(groups, title="six").axes
    >>> plane.get_xlabel()
    'only in guess (FP), share of assertions'
    """
    figure = new_figure(2 * COLUMN, max(0.75 * COLUMN, 0.8 + 0.25 * len(groups)))
    left, right = figure.subplots(1, 2, width_ratios=[1, 0.85])
    plot_group_means(groups, axes=left)
    plot_errors_plane(groups, axes=right)
    right.get_legend().remove()  # the rows of the means have the same marks, and names
    if title:
        figure.suptitle(title, fontsize="medium")
    return figure


@styled
def plot_group_means(groups: Mapping[str, Guesses], *, axes: Axes | None = None) -> Figure:
    """Plot normalized distances, and the mean of each group with its interval if it has one."""
    listed = _looks(groups)
    axes = axes or new_axes(COLUMN, 0.6 + 0.25 * len(listed))
    for row, (_, guesses, colour, marker) in enumerate(listed):
        values = np.array([c.normalized for c in guesses])
        spread = 0.22 * np.linspace(-1, 1, len(values)) if len(values) > 1 else np.zeros(1)
        axes.plot(values, row + spread, marker, color=colour, markersize=3.5, alpha=0.7, mew=0)
        rng = np.random.default_rng(0)
        interval = mean_with_interval(values.tolist(), within=(0, 1), rng=rng)
        mean, ends = float(values.mean()), None
        if interval.low is not None and interval.high is not None:
            ends = [[max(mean - interval.low, 0.0)], [max(interval.high - mean, 0.0)]]
        axes.errorbar(mean, row, xerr=ends, fmt="|", color="black", capsize=3, ms=9, lw=1)
    names = cut_names(list(groups), 24)
    _name_rows(axes, [f"{n} ({len(row[1])})" for n, row in zip(names, listed, strict=True)])
    axes.set_xlim(left=-0.02 * axes.get_xlim()[1])
    axes.set_xlabel("normalized distance: guesses, mean and 95 % interval")
    axes.spines[["top", "right"]].set_visible(False)
    return titled(axes)


@styled
def plot_errors_plane(groups: Mapping[str, Guesses], *, axes: Axes | None = None) -> Figure:
    """Plot FP against FN, a point per guess; grey lines join points of the same distance."""
    axes = axes or new_axes(COLUMN, COLUMN)
    largest = 0.0
    for group, guesses, colour, marker in _looks(groups):
        x, y = np.array([error_shares(c) for c in guesses]).T
        largest = max(largest, float(np.max([x, y])))
        axes.plot(x, y, marker, color=colour, markersize=4, alpha=0.75, mew=0, label=group)
    end = 1.08 * largest or 1.0
    step = require("matplotlib.ticker", "plots").MaxNLocator(5).tick_values(0, 2 * end)
    for distance in step[1:]:
        axes.plot([0, distance], [distance, 0], color="#dddddd", linewidth=0.6, zorder=0)
    axes.set(xlim=(-0.02 * end, end), ylim=(-0.02 * end, end), aspect="equal")
    axes.set_xlabel("only in guess (FP), share of assertions")
    axes.set_ylabel("only in true (FN), share of assertions")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), borderaxespad=0.2, handletextpad=0.2)
    return titled(axes)


def _looks(groups: Mapping[str, Guesses]) -> list[tuple[str, list[Comparison], str, str]]:
    """Return name, guesses, colour and marker of each group; these differ up to 56 groups."""
    if not groups:
        raise DomainError("there is no group to draw; give at least one")
    return [
        (group, list(named(guesses).values()), SERIES[k % len(SERIES)], MARKERS[k % len(MARKERS)])
        for k, (group, guesses) in enumerate(groups.items())
    ]


STEP, BAR = 0.32, 0.4
"""The height of one group, in inches, and the share of it from one bar to the next."""


@styled
def plot_critical_difference(
    ranking: Ranking, *, axes: Axes | None = None, title: str = "", **options: Unpack[FigureOptions]
) -> Figure:
    """Plot the mean rank of each group; a bar joins groups that do not differ significantly.

    Two groups differ if their ranks are farther apart than the critical difference, which is drawn
    above the scale. Two groups alone have none, and raise `ContextwiseError`.

    Parameters
    ----------
    ranking : of groups over several truths

    Examples
    --------
    >>> from contextwise.evaluation.replicates import rank_groups
    >>> values = {"a": [1, 2, 1, 2], "b": [2, 3, 3, 4], "c": [3, 4, 5, 6]}
    >>> ranking = rank_groups(values, metric="normalized", larger_is_better=False)
    >>> [text.get_text() for text in plot_critical_difference(ranking).axes[0].texts]
    ['critical difference 1.66', 'a  1.00', 'b  2.00', 'c  3.00']
    """
    if ranking.critical_difference is None:
        raise ContextwiseError("two groups have no critical difference; compare three or more")
    groups, bars = ranking.groups, ranking.alike()
    down = BAR * max(len(bars) - 1, 0)  # the groups are below all bars
    axes = axes or new_axes(COLUMN, 0.7 + STEP * (len(groups) + down))
    axes.plot([1, 1 + ranking.critical_difference], [-0.9, -0.9], color="black", linewidth=1.5)
    axes.text(1, -1.05, f"critical difference {ranking.critical_difference:.2f}", va="bottom")
    for place, (group, rank) in enumerate(zip(groups, ranking.ranks, strict=True)):
        row = place + 1 + down
        axes.plot([rank, rank], [0, row], color="#999999", linewidth=0.6)
        axes.plot([rank], [row], "o", color="#0072B2", markersize=4)
        left = rank > (1 + len(groups)) / 2
        label = f"{name(group, 24)}  {rank:.2f}"
        axes.text(
            rank + (-0.08 if left else 0.08),
            row,
            label,
            ha="right" if left else "left",
            va="center",
            bbox={"facecolor": "white", "pad": 0.5, "linewidth": 0},  # lines end next to it
        )
    at = dict(zip(groups, ranking.ranks, strict=True))
    for height, alike in enumerate(bars):
        y = 0.25 + BAR * height
        ends = [at[alike[0]] - 0.03, at[alike[-1]] + 0.03]
        axes.plot(ends, [y, y], color="black", linewidth=2.5)
    axes.set_xlim(0.7, len(groups) + 0.3)
    axes.set_ylim(len(groups) + down + 0.6, -1.9)
    axes.xaxis.tick_top()
    metric = metric_label(ranking.metric)
    axes.xaxis.set_label_position("top")
    axes.set_xlabel(f"mean rank by {metric}, {ranking.truths} truths")
    axes.set_xticks(range(1, len(groups) + 1))
    axes.set_yticks([])
    for side in ("left", "right", "bottom"):
        axes.spines[side].set_visible(False)
    return titled(axes, title)
