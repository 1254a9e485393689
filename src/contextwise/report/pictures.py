"""Pictures of a comparison as parts to show: what is drawn, its caption and its legends."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from zlib import compress

import numpy as np
import numpy.typing as npt

from contextwise.comparison.compare import Comparison
from contextwise.errors import require
from contextwise.models.features import IntArray
from contextwise.report.colours import (
    COLOURS,
    COVERED,
    COVERED_OPACITY,
    DASHES,
    OPACITIES,
    STEP_WORDS,
    STEPS,
    UNDECIDED,
    UNKNOWN,
    WORDS,
    Agreement,
)
from contextwise.report.parts import Legend, Mark, Picture
from contextwise.report.plane import errors_plane
from contextwise.report.shares import (
    Edge,
    Shares,
    View,
    edges_of,
    graph_of,
    packed,
    select_edges,
    shares_of,
)
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
    **options : for `contextwise.report.shares.select_edges`

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
    summary : of the groups, if their means are drawn; with the metrics "fp_share" and "fn_share"

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


BLANK, AGREED, FIRST_FP, FIRST_FN = 0, 1, 2, 2 + len(STEPS)
OPEN = FIRST_FN + len(STEPS)
"""The codes of a cell: nothing, no error of this kind, a code for each step of each kind, open."""
CUT = 0.7
"""The share of a tree's height at which it is cut into blocks of variables that err alike."""
SMALLEST, BLOCKS = 0.03, 6
"""The least share of the variables, three or more, that is a block, and the most blocks."""


@dataclass(frozen=True, eq=False)
class HeatMap:
    """The shares of errors of all pairs, in the order in which variables are drawn.

    Attributes
    ----------
    names : the variables, in that order
    shares : array of shape (n, n)
        ``shares[r, c]`` is the share of false positives for r < c and of false negatives for
        r > c; NaN where no feature covers the pair, infinite where it is open.
    order : their positions in the domain
    blocks : where variables that err alike stand side by side, the largest blocks first
    """

    names: tuple[str, ...]
    shares: npt.NDArray[np.float64]
    order: IntArray
    blocks: tuple[range, ...] = ()

    @cached_property
    def codes(self) -> npt.NDArray[np.uint8]:
        """The code of each cell; a larger one is worse, within a half."""
        below = np.tri(len(self.names), dtype=bool)
        codes = np.where(below, FIRST_FN, FIRST_FP) + np.searchsorted(STEPS, self.shares)
        codes[self.shares == 0] = AGREED
        codes[np.isnan(self.shares)] = BLANK
        codes[np.isinf(self.shares)] = OPEN
        return codes.astype(np.uint8)


def heat_map(found: Comparison | Shares, *, reorder: bool = False) -> HeatMap:
    """The heat map of a comparison, in the order of the domain or with like variables together.

    Parameters
    ----------
    found : a comparison, or its shares
    reorder : whether variables that err alike stand together

    Returns
    -------
    HeatMap

    Examples
    --------
    >>> from contextwise import Structure, compare
    >>> domain = {"A": 2, "B": 2, "C": 2}
    >>> found = compare(Structure(domain, ["A=1 & B=1"]), Structure(domain, ["A=1 & B=1 & C=1"]))
    >>> heat_map(found).shares
    array([[nan, 0. , 0.5],
           [0.5, nan, 0.5],
           [0. , 0. , nan]])
    """
    shares = shares_of(found) if isinstance(found, Comparison) else found
    n = len(shares.names)
    first, second = shares.pairs.T
    fp, fn = np.full((2, n, n), np.nan)
    for matrix, values in ((fp, shares.fp), (fn, shares.fn)):
        matrix[first, second] = matrix[second, first] = np.nan_to_num(values, nan=np.inf)
    order, blocks = like_together(fp + fn) if reorder else (np.arange(n), ())
    drawn = np.where(np.tri(n, dtype=bool), fn[np.ix_(order, order)], fp[np.ix_(order, order)])
    return HeatMap(tuple(shares.names[v] for v in order), drawn, order, blocks)


def like_together(errors: npt.NDArray[np.float64]) -> tuple[IntArray, tuple[range, ...]]:
    """An order of the variables in which those that err together, or with the same others, meet.

    Average linkage on the rows of errors, with leaves ordered so that neighbours are most alike.
    Beside the order there are the largest blocks: the parts that the tree falls into when it is cut
    at `CUT` of its height, up to half of all variables, that err more among themselves than all do.
    """
    if len(errors) < 3:
        return np.arange(len(errors)), ()
    hierarchy = require("scipy.cluster.hierarchy", "plots")
    spatial = require("scipy.spatial.distance", "plots")
    # A variable goes with itself, so that two that err with each other have rows alike.
    apart = spatial.pdist(np.nan_to_num(errors, posinf=1.0) + np.eye(len(errors)))
    small = len(errors) <= 300  # the best order of leaves costs O(n³)
    tree = hierarchy.linkage(apart, "average", optimal_ordering=small)
    order: IntArray = hierarchy.leaves_list(tree).astype(np.int64)
    parts = hierarchy.fcluster(tree, CUT * tree[-1, 2], "distance")[order]
    starts = np.flatnonzero(np.diff(parts, prepend=-1)).tolist()
    found = map(range, starts, [*starts[1:], len(order)])
    arranged = np.nan_to_num(errors[np.ix_(order, order)], posinf=1.0)
    blocks = [
        block
        for block in found
        if max(3, SMALLEST * len(order)) <= len(block) <= len(order) / 2
        and arranged[np.ix_(block, block)].mean() > arranged.mean()
    ]
    return order, tuple(sorted(blocks, key=len, reverse=True)[:BLOCKS])


def pooled(codes: npt.NDArray[np.uint8], most: int) -> npt.NDArray[np.uint8]:
    """A smaller square of at most that many cells per side, each the worst of a block.

    Without it, a lone error is lost where several cells share a pixel. On the diagonal, where a
    block has cells of both halves, false negatives come before false positives.

    >>> pooled(np.array([[0, 0, 0], [0, 5, 0], [1, 0, 0]], dtype=np.uint8), 2).tolist()
    [[5, 0], [1, 0]]
    """
    block = -(-len(codes) // most)
    starts = np.arange(0, len(codes), block)
    rows: npt.NDArray[np.uint8] = np.maximum.reduceat(codes, starts, axis=0)
    return np.maximum.reduceat(rows, starts, axis=1)


def palette() -> list[tuple[str, float]]:
    """The colour and the opacity of each code."""
    return [
        ("#ffffff", 0.0),
        (COVERED, COVERED_OPACITY),
        *((COLOURS["fp"], opacity) for opacity in OPACITIES),
        *((COLOURS["fn"], opacity) for opacity in OPACITIES),
        (UNKNOWN, 1.0),
    ]
