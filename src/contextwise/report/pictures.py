"""Pictures as parts: heat maps, graphs and the plane of errors, with captions and legends.

The heat map has n × n cells. Above the diagonal are the false positives of each pair, below it the
false negatives, each as a share of the pair's contexts. Shares are drawn in steps (`STEPS`), so
that one wrong context in a million still has a tint. ``static/heatmap.js`` draws it on pages,
`contextwise.report.plots.plot_pairs` for papers. In a map with more variables than cells along a
side, a cell stands for a square of pairs and shows their mean.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from zlib import compress

import numpy as np
import numpy.typing as npt

from contextwise.comparison.compare import Comparison
from contextwise.comparison.question import Pair
from contextwise.comparison.roles import TRUE_AND_GUESS, Agreement, Roles
from contextwise.errors import TooLargeError
from contextwise.models.structure import Structure
from contextwise.report.drawing import errors_plane
from contextwise.report.parts import (
    COLOURS,
    DARK_COLOURS,
    DASHES,
    UNDECIDED,
    Legend,
    Mark,
    Note,
    Picture,
)
from contextwise.report.shares import (
    Edge,
    Shares,
    View,
    edges_of,
    graph_of,
    kind_text,
    select_edges,
    shares_of,
)
from contextwise.support.arrays import IntArray
from contextwise.support.formatting import name, plural

if TYPE_CHECKING:
    from contextwise.comparison.strengths import Strengths
    from contextwise.evaluation.ensemble_scores import Reliability
    from contextwise.evaluation.group_tests import Populations
    from contextwise.evaluation.replicates import Summary
    from contextwise.evaluation.resampling import Stability
    from contextwise.report.comparisons import Guess

STEPS = (0.001, 0.01, 0.1, 0.25, 0.5, 1.0)  # shares of contexts are drawn in these steps
STEP_TEXT = ("≤ 0.1 %", "≤ 1 %", "≤ 10 %", "≤ 25 %", "≤ 50 %", "≤ 100 %")
OPACITIES = (0.08, 0.15, 0.25, 0.45, 0.7, 1.0)
UNKNOWN = "#F0E442"  # the colour of a pair that a time limit left open
COVERED, COVERED_OPACITY = "#7f7f7f", 0.16
"""The colour of a pair that depends somewhere and has no error of this kind."""
BLANK, AGREED, FIRST_FP, FIRST_FN = 0, 1, 2, 2 + len(STEPS)
OPEN = FIRST_FN + len(STEPS)
"""The codes of a cell: never dependent, no error of this kind, the steps of each kind, open."""
GROUPED = 100  # above this many variables, heat maps group variables with similar errors by default
MOST_DRAWN = 3000  # the most variables of a heat map: its cells are as many as their square
LONE = 0.5  # the least share of errors of a lone pair, which is marked
CUT = 0.7  # the share of the tree's height at which it is cut into blocks of similar variables
SMALLEST, BLOCKS = 0.03, 6
"""The least share of the variables, three or more, that is a block, and the most blocks."""
ONE_STEPS = (0.01, 0.25, 0.5, 0.75, 0.99, 1.0)
ONE_TEXT = ("≤ 1 %", "≤ 25 %", "≤ 50 %", "≤ 75 %", "≤ 99 %", "≤ 100 %")
ONE_OPACITIES = (0.1, 0.2, 0.35, 0.5, 0.7, 1.0)
"""The steps, their words and opacities of one model, whose shares are often large."""
SUPPORT, SUPPORT_DARK = "#0072B2", "#56B4E9"
SUPPORT_STEPS = (0.25, 0.5, 0.75, 0.95, 1.0)
SUPPORT_OPACITIES = (0.15, 0.32, 0.52, 0.76, 1.0)
P_VALUES = (0.01, 0.05, 0.1, 0.5)
"""The p-values at which the colour of a pair of variables changes."""


GROUPED_TEXT = " Similar variables are next to each other."
LINE_TEXT = "A line is as wide as the share of contexts in which the two variables depend."

# -- the heat map of pairs -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class HeatMap:
    """The shares of errors of all pairs, in the order in which variables are drawn.

    False positives are above the diagonal, false negatives below it; NaN where no feature covers
    the pair, infinite where it is open.
    """

    names: tuple[str, ...]
    shares: npt.NDArray[np.float64]
    order: IntArray  # positions of the variables in the domain
    blocks: tuple[range, ...] = ()  # similar variables, the largest block first
    roles: Roles = TRUE_AND_GUESS

    @cached_property
    def codes(self) -> npt.NDArray[np.uint8]:
        below = np.tri(len(self.names), dtype=bool)
        codes = np.where(below, FIRST_FN, FIRST_FP) + np.searchsorted(STEPS, self.shares)
        codes[self.shares == 0] = AGREED
        codes[np.isnan(self.shares)] = BLANK
        codes[np.isinf(self.shares)] = OPEN
        return codes.astype(np.uint8)


def heat_map(comparison: Comparison | Shares, *, reorder: bool | None = None) -> HeatMap:
    """Return the heat map; ``reorder`` is by default above `GROUPED` variables."""
    shares = shares_of(comparison) if isinstance(comparison, Comparison) else comparison
    n = len(shares.names)
    if n > MOST_DRAWN:
        raise TooLargeError(f"{too_many_drawn(n)}; choose some, such as --variables A,B,C")
    if reorder is None:
        reorder = n > GROUPED
    first, second = shares.pairs.T
    fp, fn = np.full((2, n, n), np.nan)
    for matrix, values in ((fp, shares.fp), (fn, shares.fn)):
        # Of a covered pair nan means unfinished; nan stays for pairs that nothing covers.
        matrix[first, second] = matrix[second, first] = np.nan_to_num(values, nan=np.inf)
    order, blocks = group_similar(fp + fn) if reorder else (np.arange(n), ())
    drawn = np.where(np.tri(n, dtype=bool), fn[np.ix_(order, order)], fp[np.ix_(order, order)])
    return HeatMap(tuple(shares.names[v] for v in order), drawn, order, blocks, shares.roles)


def too_many_drawn(variables: int) -> str:
    """Say why there is no heat map of so many variables."""
    return f"a heat map shows at most {MOST_DRAWN:,} variables, and there are {variables:,}"


def group_similar(errors: npt.NDArray[np.float64]) -> tuple[IntArray, tuple[range, ...]]:
    """Return an order of the variables that groups similar ones, and the largest groups.

    Average linkage on the rows of errors, with leaves ordered so that neighbours are similar. The
    groups are the parts of the tree cut at `CUT` of its height that have at most half of all
    variables and more errors inside than the average.
    """
    if len(errors) < 3:
        return np.arange(len(errors)), ()
    from scipy.cluster import hierarchy
    from scipy.spatial import distance as spatial

    # The identity makes the rows of two variables similar that have errors with each other.
    apart = spatial.pdist(np.nan_to_num(errors, posinf=1.0) + np.eye(len(errors)))
    small = len(errors) <= 300  # the best order of leaves costs O(n³)
    tree = hierarchy.linkage(apart, "average", optimal_ordering=small)
    order: IntArray = hierarchy.leaves_list(tree).astype(np.int64)
    parts = hierarchy.fcluster(tree, CUT * tree[-1, 2], "distance")[order]
    starts = np.flatnonzero(np.diff(parts, prepend=-1)).tolist()
    arranged = np.nan_to_num(errors[np.ix_(order, order)], posinf=1.0)
    blocks = [
        block
        for block in map(range, starts, [*starts[1:], len(order)])
        if max(3, SMALLEST * len(order)) <= len(block) <= len(order) / 2
        and arranged[np.ix_(block, block)].mean() > arranged.mean()
    ]
    return order, tuple(sorted(blocks, key=len, reverse=True)[:BLOCKS])


def pooled(
    heat: HeatMap, most: int, *, worst: bool = False
) -> tuple[npt.NDArray[np.uint8], int, npt.NDArray[np.int64]]:
    """Return the codes of squares of variables, so that there are at most ``most`` a side.

    A code is of the mean of the pairs, or of the worst one.
    Also return the variables a side of a square, and the squares in which a single pair has most of
    the errors.
    """
    n = len(heat.names)
    block = max(1, -(-n // most))
    if block == 1:
        return heat.codes, 1, np.zeros((0, 2), dtype=np.int64)
    starts = np.arange(0, n, block)

    def summed(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        rows = np.add.reduceat(values, starts, axis=0)
        cells: npt.NDArray[np.float64] = np.add.reduceat(rows, starts, axis=1)
        return cells

    errors = np.nan_to_num(heat.shares, nan=0.0, posinf=0.0)
    largest = np.maximum.reduceat(np.maximum.reduceat(errors, starts, axis=0), starts, axis=1)
    sums, sizes = summed(errors), summed(1.0 - np.eye(n))
    means = sums / np.maximum(sizes, 1)
    below = np.tri(len(starts), dtype=bool)
    # A square on the diagonal has errors of both kinds; the larger part decides.
    on_diagonal = summed(np.tril(errors)) <= sums / 2
    below &= ~(np.eye(len(starts), dtype=bool) & on_diagonal)
    shown = largest if worst else means
    codes = np.where(below, FIRST_FN, FIRST_FP) + np.searchsorted(STEPS, shown)
    codes[shown == 0] = BLANK
    covered = summed((~np.isnan(heat.shares)).astype(np.float64)) / np.maximum(sizes, 1)
    codes[(shown == 0) & (covered >= 0.5)] = AGREED
    codes[summed(np.isinf(heat.shares).astype(np.float64)) > 0] = OPEN
    # One pair has more than half of the errors of its square, so a mean would hide it.
    lone = (largest >= LONE) & (2 * largest > sums) & (not worst)
    return codes.astype(np.uint8), block, np.argwhere(lone)


def palette() -> list[tuple[str, float]]:
    return [
        ("#ffffff", 0.0),
        (COVERED, COVERED_OPACITY),
        *((COLOURS["fp"], opacity) for opacity in OPACITIES),
        *((COLOURS["fn"], opacity) for opacity in OPACITIES),
        (UNKNOWN, 1.0),
    ]


def packed(shares: Shares, order: IntArray) -> dict[str, Any]:
    """Return what ``static/heatmap.js`` draws, as JSON values; arrays are little-endian bytes."""

    def text(values: npt.NDArray[Any], kind: str) -> str:
        return b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()

    return {
        "names": list(shares.names),
        "order": text(order, "<u4"),
        "pairs": text(shares.pairs, "<u4"),
        **{kind: text(getattr(shares, kind), "<f4") for kind in ("tp", "fp", "fn")},
        "steps": list(STEPS),
        "opacities": list(OPACITIES),
        "covered": [COVERED, COVERED_OPACITY],
        "unknown": UNKNOWN,
        "words": shares.roles.only,
        "light": COLOURS,
        "dark": DARK_COLOURS,
    }


def no_heat_map(variables: int) -> Note | None:
    """Return the note that replaces the heat map of too many variables."""
    if variables <= MOST_DRAWN:
        return None
    words = too_many_drawn(variables)
    return Note("no heat map", f"{words[:1].upper()}{words[1:]}. Choose some to see theirs.")


def pairs_picture(comparison: Comparison) -> Picture:
    shares = shares_of(comparison)
    heat = heat_map(shares)
    caption = heat_text(heat.roles)
    if not np.array_equal(heat.order, np.arange(len(heat.order))):
        caption += GROUPED_TEXT
    return Picture(caption, tuple(heat_legends(heat)), packed=_deflated(packed(shares, heat.order)))


def heat_text(roles: Roles) -> str:
    """Explain the colours and the two sides of the heat map."""
    fp, fn = ("", "") if roles.peers else (" (false positives)", " (false negatives)")
    return (
        "Colour is the share of contexts in which the models differ. Above the diagonal only "
        f"{roles.second} has the dependence{fp}, below it only {roles.first}{fn}."
    )


def _deflated(data: object) -> str:
    """Compress data as JSON, in base64, which a browser reads without a library."""
    return b64encode(compress(json.dumps(data).encode(), 9)).decode()


def heat_legends(heat: HeatMap, codes: npt.NDArray[np.uint8] | None = None) -> list[Legend]:
    """Return the meanings of the colours in ``codes``, by default of all pairs and their means."""
    drawn = heat.codes if codes is None else codes
    used = set(np.flatnonzero(np.bincount(drawn.ravel())).tolist())
    legends = []
    firsts: dict[Agreement, int] = {"fp": FIRST_FP, "fn": FIRST_FN}
    for kind, first in firsts.items():
        steps = [step for step in range(len(STEPS)) if first + step in used]
        if codes is None and len(heat.names) > GROUPED and steps:
            steps = list(range(len(STEPS)))  # means can have any of them
        entries = tuple(
            (Mark("box", kind, COLOURS[kind], OPACITIES[step]), STEP_TEXT[step]) for step in steps
        )
        if entries:
            legends.append(Legend(f"{heat.roles.only[kind]}, share of contexts", entries))
    others = {
        AGREED: (
            Mark("box", "covered", COVERED, COVERED_OPACITY),
            "depends otherwise",
        ),
        BLANK: (Mark("box", "blank", "#ffffff", 0.0), "never depends"),
        OPEN: (Mark("box", "open", UNKNOWN), UNDECIDED),
    }
    rest = tuple(entry for code, entry in others.items() if code in used)
    return [*legends, Legend("", rest)] if rest else legends


def supports_picture(stability: Stability) -> Picture:
    """Return the heat map of supports: how many resamples have each pair depend."""
    values = stability.support_matrix()
    first, second = np.nonzero(np.triu(values + values.T, 1))
    pairs = np.stack([first, second], axis=1)
    above, below = values[first, second], values[second, first]
    shares = Shares(stability.domain.names, pairs, np.zeros(len(pairs)), above, below)
    steps = set(np.searchsorted(SUPPORT_STEPS, np.concatenate([above, below])).tolist())
    entries = tuple(
        (Mark("box", "fn", SUPPORT, SUPPORT_OPACITIES[step]), f"≤ {100 * SUPPORT_STEPS[step]:g} %")
        for step in sorted(steps)
    )
    caption = (
        f"Above the diagonal: the share of the {stability.resamples} resamples in which the pair "
        "depends. Below it: the share of contexts in which it depends, on average over them."
    )
    legends = (Legend("share", entries),) if entries else ()
    return Picture(caption, legends, packed=_deflated(_in_blue("supports", shares)))


def _in_blue(kind: str, shares: Shares) -> dict[str, Any]:
    """Return a heat map with the steps of supports on both sides, for ``static/heatmap.js``."""
    return packed(shares, np.arange(len(shares.names))) | {
        "kind": kind,
        "steps": SUPPORT_STEPS,
        "opacities": SUPPORT_OPACITIES,
        "light": {"fp": SUPPORT, "fn": SUPPORT},
        "dark": {"fp": SUPPORT_DARK, "fn": SUPPORT_DARK},
    }


def p_value_steps(p_values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the step of each p-value: 0 for large ones, one more below each of `P_VALUES`."""
    return len(P_VALUES) - np.searchsorted(P_VALUES, p_values)


def populations_picture(found: Populations) -> Picture:
    """Return the heat map of groups: shares of contexts that differ, and adjusted p-values."""
    names = found.groups[0].structure.domain.names
    place = {name: k for k, name in enumerate(names)}
    each = found.variable_pairs
    pairs = [sorted((place[a], place[b])) for a, b, *_ in each]
    adjusted = np.array([pair.adjusted for pair in each])
    steps = p_value_steps(adjusted)
    shares = Shares(
        names,
        np.array(pairs, dtype=np.int64).reshape(-1, 2),
        adjusted,
        np.minimum([float(pair.share) for pair in each], 1.0),
        np.array(SUPPORT_STEPS)[steps],
    )
    words = ["larger", *(f"≤ {p:g}" for p in reversed(P_VALUES))]
    marks = [Mark("box", "fn", SUPPORT, opacity) for opacity in SUPPORT_OPACITIES]
    used = sorted(set(np.searchsorted(SUPPORT_STEPS, shares.fp).tolist()))
    legends = (
        Legend(
            "share of contexts", tuple((marks[k], f"≤ {100 * SUPPORT_STEPS[k]:g} %") for k in used)
        ),
        Legend("adjusted p", tuple((marks[k], words[k]) for k in sorted(set(steps.tolist())))),
    )
    caption = (
        "Above the diagonal: the share of contexts in which the groups differ on the pair. Below "
        "it: its adjusted p-value."
    )
    return Picture(caption, legends if pairs else (), packed=_deflated(_in_blue("groups", shares)))


# -- one model -----------------------------------------------------------------------------------


def arcs_of(structure: Structure) -> frozenset[Pair]:
    """Return the arcs of a structure whose directions are known, as (parent, child)."""
    names, directions = structure.domain.names, structure.directions
    known = set(directions.arcs) - directions.undirected if directions else ()
    return frozenset((names[p], names[c]) for p, c in known)


def dependence_heat(shares: Shares, *, reorder: bool | None = None) -> HeatMap:
    """Return the heat map of one model: the share of contexts in which each pair depends."""
    return heat_map(replace(shares, fp=shares.tp, fn=shares.tp), reorder=reorder)


def packed_one(shares: Shares, order: IntArray) -> dict[str, Any]:
    """Return what ``static/heatmap.js`` draws of one model."""
    sent = packed(replace(shares, fp=shares.tp, fn=shares.tp), order)
    return sent | {
        "kind": "one",
        "steps": ONE_STEPS,
        "opacities": ONE_OPACITIES,
        "light": {"fp": SUPPORT, "fn": SUPPORT},
        "dark": {"fp": SUPPORT_DARK, "fn": SUPPORT_DARK},
    }


def one_legends(heat: HeatMap) -> list[Legend]:
    """Return the meanings of the colours of one model."""
    known = heat.shares[np.isfinite(heat.shares)]
    used = set(np.searchsorted(ONE_STEPS, known).tolist())
    if len(heat.names) > GROUPED:  # means can have any colour
        used = set(range(len(ONE_STEPS)))
    entries = [(Mark("box", "fn", SUPPORT, ONE_OPACITIES[k]), ONE_TEXT[k]) for k in sorted(used)]
    if np.isnan(heat.shares).sum() > len(heat.names):  # more than the diagonal
        entries.append((Mark("box", "blank", "#ffffff", 0.0), "never depends"))
    if np.isinf(heat.shares).any():
        entries.append((Mark("box", "open", UNKNOWN), UNDECIDED))
    return [Legend("share of contexts", tuple(entries))] if entries else []


ONE_CAPTION = "Colour is the share of contexts in which the two variables depend."


def one_pictures(comparison: Comparison) -> list[Picture]:
    """Return the heat map, if it is not too large, and the graph of one model.

    They are drawn from its comparison with itself.
    """
    shares, pictures = shares_of(comparison), []
    if no_heat_map(len(shares.names)) is None:
        heat = dependence_heat(shares)
        drawn = _deflated(packed_one(shares, heat.order))
        grouped = "" if np.array_equal(heat.order, np.arange(len(heat.order))) else GROUPED_TEXT
        pictures = [Picture(f"{ONE_CAPTION}{grouped}", tuple(one_legends(heat)), packed=drawn)]
    selection = select_edges(shares.edges(), which="strongest")
    graph = graph_of(selection)._replace(view="one", arcs=arcs_of(comparison.true))
    text = f"{selection.description[:1].upper()}{selection.description[1:]}. {LINE_TEXT}"
    return [*pictures, Picture(text, (graph_legend(graph.edges, "one"),), graph)]


# -- graphs and the plane of errors --------------------------------------------------------------


def graph_pictures(comparison: Comparison) -> list[Picture]:
    """Return both graphs in one layout: all edges, or the largest differences of many."""
    edges = edges_of(comparison)
    try:
        selection = select_edges(edges, which="all")
    except TooLargeError:
        selection = select_edges(edges)
    graph = graph_of(selection)
    text = f"{selection.description[:1].upper()}{selection.description[1:]}"
    roles = comparison.roles
    titles: dict[View, str] = {"true": "The true model", "guess": "The guess"}
    if roles.peers:
        titles = {"true": roles.true, "guess": roles.guess}
    drawn = {
        view: title for view, title in titles.items() if graph_legend(graph.edges, view).entries
    }
    if len(drawn) < 2:  # one model has none of these edges
        drawn = {"both": "Both models"}

    def caption(view: View, title: str) -> str:
        if view == "both":
            return f"{title}. {text}. {LINE_TEXT}"
        own = sum(edge.tp + (edge.fn if view == "true" else edge.fp) > 0 for edge in graph.edges)
        of_both = f"{selection.description} of the two models"
        return f"{title}: {plural(own, 'edge')}, of {of_both}. {LINE_TEXT}"

    return [
        Picture(
            caption(view, title),
            (graph_legend(graph.edges, view),),
            graph._replace(view=view),
        )
        for view, title in drawn.items()
    ]


def graph_legend(edges: Iterable[Edge], view: View = "both") -> Legend:
    text = {
        kind: kind_text(edge.roles, kind, view) for edge in edges for kind, _ in edge.kinds(view)
    }
    entries = tuple(
        (Mark("line", kind, colour, dashes=DASHES[kind]), text[kind])
        for kind, colour in COLOURS.items()
        if kind in text
    )
    return Legend("", entries)


def plane_picture(guesses: Sequence[Guess], summary: Summary | None = None) -> Picture:
    """Return false positives against false negatives, one point per guess or mean of a group."""
    plane = errors_plane(guesses, summary)
    noun = "model" if plane.roles.peers else "guess"
    caption = (
        f"Each point is a {noun}: the nearer to the corner, the nearer to {plane.roles.first}. "
        "Points on one grey line have the same distance."
    )
    if summary and any(series.means for series in plane.series):
        percents = f"{100 * summary.confidence:g} %"
        caption += f" A large mark is the mean of its group; lines are its {percents} intervals."
    if plane.left_out:
        caption += f" Not decided in time, and not drawn: {', '.join(map(name, plane.left_out))}."
    entries = tuple(
        (Mark("point", "series", series.colour, path=series.path), name(series.name))
        for series in plane.series
    )
    return Picture(caption, (Legend("", entries),) if len(entries) > 1 else (), plane)


def strengths_picture(strengths: Strengths) -> Picture:
    """Return the strengths of missed, invented and found dependencies."""
    exact = strengths.complete
    caption = (
        f"How strong the dependencies are. Each dot is one{'' if exact else ' drawn at random'}; "
        "the further to the right, the larger its log odds ratio. A line is a median"
        f"{'' if exact else ', a box its 95 % interval'}."
    )
    if any(np.isinf(sample.values).any() for sample in strengths.samples.values()):
        caption += " At ∞ some joint states are impossible."
    return Picture(caption, (), strengths)


def reliability_picture(curve: Reliability) -> Picture:
    """Return the share that is true against probability."""
    caption = (
        f"Reliability of {name(curve.name)}. Below the dashed line probabilities are too high, "
        "above it too low. Lines are 95 % intervals; the larger a circle, the more assertions."
    )
    return Picture(caption, (), curve)
