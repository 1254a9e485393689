"""Plot guesses: errors, groups of guesses, reliability; distances of many models; odds ratios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from contextwise.analysis.groups_of_rows import Groups
from contextwise.comparison.confusion import ratio
from contextwise.comparison.roles import Agreement
from contextwise.errors import DomainError, require
from contextwise.evaluation.groups_of_guesses import mean_with_interval
from contextwise.report.graphs import cut_names
from contextwise.report.groups_of_rows import MOST_PAIRS_DRAWN, drawn_odds
from contextwise.report.parts import COLOURS, PairName
from contextwise.report.plots.style import (
    COLUMN,
    FigureOptions,
    Guesses,
    named,
    new_axes,
    new_figure,
    styled,
    titled,
)
from contextwise.support.arrays import FloatArray
from contextwise.support.formatting import rate

if TYPE_CHECKING:
    from typing import Unpack

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from contextwise.comparison.two_models import Comparison
    from contextwise.evaluation.ensemble_scores import Reliability

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
SERIES = ("#000000", "#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#0072B2", "#D55E00", "#999999")
"""The palette of Okabe and Ito."""


@styled
def plot_guesses(guesses: Guesses, *, title: str = "", **options: Unpack[FigureOptions]) -> Figure:
    """Plot the distance of each guess, split into its two kinds of errors.

    Parameters
    ----------
    guesses : one comparison, a mapping from names, or a list

    Examples
    --------
    >>> from contextwise import compare
    >>> guesses = [compare("six", "six-guess"), compare("six", "six-graph")]
    >>> plot_guesses(guesses, title="six").axes[0].get_xlabel()
    'errors as a share of all assertions'
    """
    by_name = named(guesses)
    axes = new_axes(COLUMN, 0.75 + 0.2 * max(3, len(by_name)) + 0.2 * bool(title))
    roles = next(iter(by_name.values())).roles
    left = np.zeros(len(by_name))
    kinds: tuple[tuple[Agreement, str], ...] = (("fp", "////"), ("fn", "...."))
    for kind, hatch in kinds:
        shares = [ratio(getattr(c, kind), c.total or 1) for c in by_name.values()]
        axes.barh(
            range(len(by_name)),
            shares,
            left=left,
            height=0.7,
            color=COLOURS[kind],
            hatch=hatch,
            edgecolor="white",
            linewidth=0,
            label=roles.only[kind] if kind == "fn" or not roles.peers else "only in the other",
        )
        left += shares
    _name_rows(axes, cut_names(list(by_name), 24))
    axes.set_xlabel(f"{roles.noun} as a share of all assertions")
    axes.set_xlim(left=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    figure = titled(axes)
    if title:  # above the legend
        figure.suptitle(title, fontsize="medium")
    return figure


@styled
def plot_strength(guesses: Guesses, *, title: str = "", **options: Unpack[FigureOptions]) -> Figure:
    """Plot the distance where dependences must be stronger than a tolerance.

    One guess is drawn with its two kinds of errors, several as lines. Bands are proven bounds.

    Parameters
    ----------
    guesses : one comparison, a mapping from names, or a list
        Comparisons made with ``at``.

    Examples
    --------
    >>> from contextwise import LogLinear, compare, examples
    >>> structure = examples.load("six")
    >>> true = LogLinear(structure, range(len(structure)))
    >>> figure = plot_strength(compare(true, "six-guess", at=(0, 1, 2)))
    >>> figure.axes[0].get_ylabel()
    'assertions that differ at t'
    """
    by_name = named(guesses)
    if any(comparison.at is None for comparison in by_name.values()):
        raise DomainError("plot_strength needs comparisons with tolerances: compare(..., at=...)")
    axes = new_axes(COLUMN, 2.2 + 0.2 * bool(title))
    only, *others = by_name.values()
    for k, (label, comparison) in enumerate(by_name.items()):
        if not others:
            _fill_errors(axes, comparison)
        low, high = (_shares_at(comparison, "distance", end) for end in (0, 1))
        look: dict[str, Any] = {"color": SERIES[k % len(SERIES)], "linewidth": 1, "markersize": 3}
        if low != high:
            band: dict[str, Any] = {"color": look["color"], "alpha": 0.25, "linewidth": 0}
            band |= {} if others else {"label": "not decided"}
            axes.fill_between(range(len(low)), low, high, **band)
        label = label if others else "differ"
        axes.plot(range(len(low)), low, marker=MARKERS[k % len(MARKERS)], label=label, **look)
    axes.set_xticks(range(len(only.at or ())), [f"{t:g}" for t in only.at or ()])
    axes.set_xlabel("tolerance t (absolute log odds ratio)")
    axes.set_ylabel("assertions that differ at t")
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    columns = 2 if others or only.is_open else 3
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=columns)
    figure = titled(axes)
    if title:  # above the legend
        figure.suptitle(title, fontsize="medium")
    return figure


def _shares_at(comparison: Comparison, kind: str, end: int) -> list[float]:
    """Return bounds of a kind of assertions at each tolerance, as shares of all."""
    found = comparison.at.values() if comparison.at else ()
    return [ratio(getattr(at.bounds, kind)[end], comparison.total or 1) for at in found]


def _fill_errors(axes: Axes, comparison: Comparison) -> None:
    """Fill the areas of both kinds of errors, one upon the other."""
    missed, both = (_shares_at(comparison, kind, 0) for kind in ("fn", "distance"))
    kinds: tuple[tuple[Agreement, str, list[float], list[float]], ...]
    kinds = ("fn", "....", [0.0] * len(missed), missed), ("fp", "////", missed, both)
    for kind, hatch, floor, top in kinds:
        axes.fill_between(
            range(len(top)),
            floor,
            top,
            facecolor=COLOURS[kind],
            hatch=hatch,
            edgecolor="white",
            linewidth=0,
            label=comparison.roles.only[kind],
        )


def _name_rows(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names, fontsize="small")
    axes.set_ylim(len(names) - 0.5, -0.5)


# -- groups of guesses ----------------------------------------------------------------------------


@styled
def plot_groups(
    groups: Mapping[str, Guesses],
    *,
    axes: Axes | None = None,
    title: str = "",
    **options: Unpack[FigureOptions],
) -> Figure:
    """Plot groups of guesses: the distance of each guess, and the mean with its interval.

    Parameters
    ----------
    groups : the guesses of each group, for instance the repeats of one learner

    Examples
    --------
    >>> from contextwise import compare
    >>> groups = {"a": [compare("six", "six-guess")], "b": [compare("six", "six-graph")]}
    >>> (axes,) = plot_groups(groups, title="six").axes
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['a (1)', 'b (1)']
    """
    if not groups:
        raise DomainError("there is no group to draw; give at least one")
    axes = axes or new_axes(1.3 * COLUMN, max(0.5 * COLUMN, 0.8 + 0.25 * len(groups)))
    sizes = []
    for row, guesses in enumerate(groups.values()):
        values = np.array([c.normalized for c in named(guesses).values()])
        sizes.append(len(values))
        spread = 0.22 * np.linspace(-1, 1, len(values)) if len(values) > 1 else np.zeros(1)
        colour, marker = SERIES[row % len(SERIES)], MARKERS[row % len(MARKERS)]
        axes.plot(values, row + spread, marker, color=colour, markersize=3.5, alpha=0.7, mew=0)
        interval = mean_with_interval(values.tolist(), within=(0, 1))
        mean, ends = float(values.mean()), None
        if interval.low is not None and interval.high is not None:
            ends = [[max(mean - interval.low, 0.0)], [max(interval.high - mean, 0.0)]]
        axes.errorbar(mean, row, xerr=ends, fmt="|", color="black", capsize=3, ms=9, lw=1)
    names = zip(cut_names(list(groups), 24), sizes, strict=True)
    _name_rows(axes, [f"{name} ({size})" for name, size in names])
    axes.set_xlim(left=-0.02 * axes.get_xlim()[1])
    axes.set_xlabel("normalized distance: guesses, mean and 95 % interval")
    axes.spines[["top", "right"]].set_visible(False)
    return titled(axes, title)


# -- distances of many models ----------------------------------------------------------------------

WITH_NUMBERS = 8
"""Up to this many models each cell shows its number: in more cells, none could be read."""
DISTANCE = "normalized distance"
LABELS = 40  # the most labels along a side


@styled
def plot_models(
    names: Sequence[str],
    distances: FloatArray,
    *,
    title: str = "",
    **options: Unpack[FigureOptions],
) -> Figure:
    """Plot the matrix of distances in the order of the tree next to it.

    Parameters
    ----------
    names : of the models
    distances : array of shape (models, models)
        Symmetric; normalized distances.

    Examples
    --------
    >>> from contextwise import distance_matrix
    >>> result = distance_matrix(["six", "six-guess", "six-graph"])
    >>> len(plot_models(result.names, result.normalized).axes)
    2
    """
    n = len(names)
    if distances.shape != (n, n) or not np.array_equal(distances, distances.T):
        raise DomainError(
            f"{n} models need a symmetric matrix of {n} × {n} distances, not one of shape "
            f"{distances.shape}"
        )
    figure = new_figure(1.35 * COLUMN, COLUMN)
    tree, matrix = figure.subplots(1, 2, gridspec_kw={"width_ratios": [0.35, 1]})
    order = _draw_tree(tree, distances)
    arranged = distances[np.ix_(order, order)]
    _draw_matrix(matrix, [names[k] for k in order], arranged)
    matrix.set_aspect("auto")  # as high as the tree, whose leaves are its rows
    if n <= WITH_NUMBERS:  # more models have a bar with this name
        matrix.set_title(DISTANCE)
    if title:
        figure.suptitle(title, fontsize="medium")
    return figure


def _draw_matrix(axes: Axes, names: Sequence[str], distances: FloatArray) -> None:
    """Draw the matrix of distances as shades; few models show their numbers."""
    n, short = len(names), cut_names(names)
    largest = float(distances.max(initial=0)) or 1.0
    image = axes.imshow(distances, cmap="cividis_r", vmin=0, vmax=largest)
    if n <= WITH_NUMBERS:
        dark = largest / 2
        for r in range(n):
            for c in range(n):
                colour = "white" if distances[r, c] > dark else "black"
                text = rate(float(distances[r, c])).lstrip("0") or "0"
                size = "x-small" if n <= 5 else "xx-small"
                axes.text(c, r, text, ha="center", va="center", color=colour, fontsize=size)
    else:
        axes.figure.colorbar(image, ax=axes, location="top", shrink=0.8, label=DISTANCE)
    places = range(0, n, max(1, -(-n // LABELS)))
    labels = [short[k] for k in places]
    axes.set_xticks(places, labels, rotation=90, fontsize="x-small")
    axes.set_yticks(places, labels, fontsize="x-small")
    axes.tick_params(length=2)


def _draw_tree(axes: Axes, distances: FloatArray) -> list[int]:
    """Draw the tree and return the order of its leaves."""
    axes.axis("off")
    n = len(distances)
    if n < 2:
        return list(range(n))
    from scipy.cluster import hierarchy
    from scipy.spatial import distance as spatial

    tree = hierarchy.linkage(spatial.squareform(distances), "average", optimal_ordering=True)
    drawn = hierarchy.dendrogram(tree, no_plot=True)
    for across, along in zip(drawn["dcoord"], drawn["icoord"], strict=True):
        axes.plot(across, (np.array(along) - 5) / 10, color="black", linewidth=0.6)
    axes.set_ylim(n - 0.5, -0.5)
    axes.invert_xaxis()
    return list(drawn["leaves"] or ())


@styled
def plot_reliability(
    reliability: Reliability,
    *,
    axes: Axes | None = None,
    title: str = "",
    **options: Unpack[FigureOptions],
) -> Figure:
    """Plot the share of assertions that depend in the truth against their probability.

    Parameters
    ----------
    reliability : of an ensemble

    Examples
    --------
    >>> from contextwise.evaluation import Ensemble, reliability
    >>> found = reliability("six", Ensemble(["six", "six-guess", "six-graph"]))
    >>> plot_reliability(found).axes[0].get_xlabel()
    'probability'
    """
    axes = axes or new_axes(COLUMN, COLUMN)
    groups = reliability.groups
    x, y = (np.array([group[k] for group in groups]) for k in (0, 1))
    errors = [y - [group.low for group in groups], [group.high for group in groups] - y]
    sizes = np.sqrt([group.number for group in groups])
    axes.plot([0, 1], [0, 1], color="#7f7f7f", linestyle="--", linewidth=0.8)
    axes.errorbar(x, y, yerr=np.abs(errors), fmt="none", color=SERIES[0], linewidth=1)
    axes.scatter(x, y, s=8 + 40 * sizes / sizes.max(), color=SERIES[0], zorder=3)
    for group in groups:
        axes.annotate(
            f"{group.number:,}",
            (group.probability, group.share),
            xytext=(5, -9 if group.share > 0.5 else 5),
            textcoords="offset points",
            fontsize="xx-small",
            color="#333333",
        )
    axes.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04), xlabel="probability")
    axes.set_ylabel("share that depends in the truth")
    axes.set_aspect("equal")
    axes.spines[["top", "right"]].set_visible(False)
    return titled(axes, title)


# -- odds ratios of groups of rows -----------------------------------------------------------------

LINE = 0.17  # inches


@styled
def plot_odds(
    groups: Groups, *, axes: Axes | None = None, title: str = "", **options: Unpack[FigureOptions]
) -> Figure:
    """Plot the odds ratios of each group with 95 % intervals, pair by pair.

    Parameters
    ----------
    groups : result of `contextwise.groups` for one column

    Examples
    --------
    >>> from contextwise import groups
    >>> rows = [["x", 0, 0], ["x", 1, 1], ["y", 0, 1], ["y", 1, 1]] * 20 + [["x", 0, 1]] * 5
    >>> plot_odds(groups(rows, "v0", "mpl")).axes[0].get_xlabel()
    'odds ratio'
    """
    shown = [(pair, drawn_odds(groups, pair)) for pair in groups.pairs[:MOST_PAIRS_DRAWN]]
    axes = axes or new_axes(COLUMN, LINE * sum(1 + len(rows) for _, rows in shown) + 0.5)
    places, labels, y = list[int](), list[str](), 0
    for pair, rows in shown:
        places.append(y)
        labels.append(f"{PairName(*pair.pair)}: {pair.verdict}")
        for group, odds in rows:
            y += 1
            places.append(y)
            labels.append(group)
            axes.plot([max(odds.low, 1e-6), min(odds.high, 1e6)], [y, y], "#0072B2", linewidth=1.2)
            axes.plot([odds.value], [y], marker="o", markersize=3.5, color="#0072B2")
        y += 1
    axes.set_xscale("log")
    ticker = require("matplotlib.ticker", "plots")
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5), numticks=9))
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda odds, _: f"{odds:g}"))
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.axvline(1, color="#333333", linewidth=0.6, zorder=0)
    axes.set_yticks(places, labels)
    axes.set(ylim=(y - 0.3, -0.7), xlabel="odds ratio")
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    return titled(axes, title)
