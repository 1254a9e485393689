"""Pictures of a comparison as parts to show: what is drawn, its caption and its legends."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any
from zlib import compress

import numpy as np

from contextwise.comparison.compare import Comparison
from contextwise.report.colours import (
    COLOURS,
    COVERED,
    COVERED_OPACITY,
    DASHES,
    OPACITIES,
    STEP_WORDS,
    UNDECIDED,
    UNKNOWN,
    WORDS,
    Agreement,
)
from contextwise.report.edges import graph_of, select_edges
from contextwise.report.elements import Legend, Mark, Picture
from contextwise.report.heatmap import AGREED, BLANK, FIRST_FN, FIRST_FP, OPEN, HeatMap, heat_map
from contextwise.report.planes import errors_plane
from contextwise.report.shares import Edge, Shares, View, edges_of, packed, shares_of
from contextwise.support.formatting import name

if TYPE_CHECKING:
    from contextwise.evaluation.replicates import Summary
    from contextwise.evaluation.stability import Stability
    from contextwise.report.comparisons import Guess

SUPPORT, SUPPORT_DARK = "#0072B2", "#56B4E9"
SUPPORT_STEPS = (0.25, 0.5, 0.75, 0.95, 1.0)
SUPPORT_OPACITIES = (0.15, 0.32, 0.52, 0.76, 1.0)
ERRORS: tuple[Agreement, Agreement] = ("fp", "fn")


def pairs_picture(comparison: Comparison, *, reorder: bool = False) -> Picture:
    """Return the heat map of pairs; ``reorder`` groups variables with similar errors."""
    shares = shares_of(comparison)
    heat = heat_map(shares, reorder=reorder)
    caption = (
        "Each cell is a pair of variables: the share of its contexts in which the models differ. "
        "Above the diagonal only the guess has the dependence, below it only the true model."
    )
    return Picture(caption, tuple(heat_legends(heat)), packed=_deflated(packed(shares, heat.order)))


def _deflated(data: object) -> str:
    """Data as compressed JSON in base64: a browser can read it without a library."""
    return b64encode(compress(json.dumps(data).encode(), 9)).decode()


def heat_legends(heat: HeatMap) -> list[Legend]:
    """What the colours of a heat map mean: only those that occur in it."""
    codes = set(np.flatnonzero(np.bincount(heat.codes.ravel())).tolist())
    legends = []
    for kind, first in zip(ERRORS, (FIRST_FP, FIRST_FN), strict=True):
        entries = tuple(
            (Mark("box", kind, COLOURS[kind], OPACITIES[step]), words)
            for step, words in enumerate(STEP_WORDS)
            if first + step in codes
        )
        if entries:
            legends.append(Legend(f"{WORDS[kind]}, share of contexts", entries))
    others = {
        AGREED: (Mark("box", "covered", COVERED, COVERED_OPACITY), "depends, without such errors"),
        BLANK: (Mark("box", "blank", "#ffffff", 0.0), "never depends"),
        OPEN: (Mark("box", "open", UNKNOWN), UNDECIDED),
    }
    rest = tuple(entry for code, entry in others.items() if code in codes)
    return [*legends, Legend("", rest)] if rest else legends


def graph_picture(comparison: Comparison, **options: Any) -> Picture:
    """The graph of both structures.

    Parameters
    ----------
    comparison : what is drawn
    **options : for `contextwise.report.edges.select_edges`

    Returns
    -------
    Picture
    """
    selection = select_edges(edges_of(comparison), **options)
    words = selection.words
    caption = (
        f"{words[:1].upper()}{words[1:]}. A line is as wide as the share of contexts in which "
        "the two variables depend."
    )
    return Picture(caption, (graph_legend(selection.edges),), graph_of(selection))


def graph_legend(edges: Iterable[Edge], view: View = "both") -> Legend:
    """What the lines of a graph mean: only those that occur in it.

    Parameters
    ----------
    edges : those that are drawn
    view : both graphs in one, or one of them

    Returns
    -------
    Legend
    """
    kinds = {kind for edge in edges for kind, _ in edge.kinds(view)}
    entries = tuple(
        (Mark("line", kind, colour, dashes=DASHES[kind]), WORDS[kind])
        for kind, colour in COLOURS.items()
        if kind in kinds
    )
    return Legend("", entries)


def plane_picture(guesses: Sequence[Guess], summary: Summary | None = None) -> Picture:
    """False positives against false negatives, one point per guess and one mark per group.

    Parameters
    ----------
    guesses : all compared with one true model
    summary : of the groups, if their means are drawn; with the metrics "fp" and "fn"

    Returns
    -------
    Picture
    """
    plane = errors_plane(guesses, summary)
    caption = (
        "Each point is a guess: the nearer to the corner, the nearer to the true model. "
        "Points on one grey line have the same distance."
    )
    if summary and plane.means:
        percents = f"{100 * summary.confidence:g} %"
        caption += f" A large mark is the mean of its group; lines are its {percents} intervals."
    if plane.left_out:
        caption += f" Not decided in time, and not drawn: {', '.join(map(name, plane.left_out))}."
    entries = tuple(
        (Mark("point", "series", one.colour, path=one.path), name(one.name)) for one in plane.series
    )
    return Picture(caption, (Legend("", entries),) if len(entries) > 1 else (), plane)


def supports_picture(found: Stability) -> Picture:
    """Return the heat map of supports: how many resamples have each pair depend."""
    n, values = len(found.domain), found.support_matrix()
    first, second = np.nonzero(np.triu(values + values.T, 1))
    pairs = np.stack([first, second], axis=1)
    above, below = values[first, second], values[second, first]
    shares = Shares(found.domain.names, pairs, np.zeros(len(pairs)), above, below)
    steps = set(np.searchsorted(SUPPORT_STEPS, np.concatenate([above, below])).tolist())
    entries = tuple(
        (Mark("box", "fn", SUPPORT, SUPPORT_OPACITIES[step]), f"≤ {100 * SUPPORT_STEPS[step]:g} %")
        for step in sorted(steps)
    )
    caption = (
        f"Each cell is a pair of variables. Above the diagonal: the share of the {found.resamples} "
        "resamples that have it depend; below: the share of contexts, on average over them."
    )
    sent = packed(shares, np.arange(n)) | {
        "kind": "supports",
        "steps": SUPPORT_STEPS,
        "opacities": SUPPORT_OPACITIES,
        "light": {"fp": SUPPORT, "fn": SUPPORT},
        "dark": {"fp": SUPPORT_DARK, "fn": SUPPORT_DARK},
    }
    legends = (Legend("share", entries),) if entries else ()
    return Picture(caption, legends, packed=_deflated(sent))
