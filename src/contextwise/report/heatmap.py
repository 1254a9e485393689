"""The heat map of pairs: how often each pair is wrong, and which way.

A square of n × n cells. Above the diagonal stand the false positives of each pair, below it the
false negatives, each as a share of the pair's contexts. A share is shown in steps (`STEPS`), so
that one wrong context in a million is still a tint of its own; a pair that no feature of either
model covers is blank, and one that a time limit left open has a colour of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from contextwise.comparison.compare import Comparison
from contextwise.errors import require
from contextwise.models.features import IntArray
from contextwise.report.colours import (
    COLOURS,
    COVERED,
    COVERED_OPACITY,
    OPACITIES,
    STEPS,
    UNKNOWN,
)
from contextwise.report.shares import Shares, shares_of

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
