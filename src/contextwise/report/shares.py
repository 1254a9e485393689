"""In which shares of their contexts pairs depend: in both models, or in one alone.

A comparison counts exactly, in numbers of hundreds of digits. To look at 50,000 pairs, floats are
enough, made once: `Shares` has them for all pairs, and heat maps, graphs and neighbours are made of
them. `packed` sends them to a browser, which draws the heat map, zooms, and names what is under the
pointer without asking again.

An `Edge` is one pair with its three shares. A picture of one graph for all contexts cannot say when
two variables depend, but it can say how often: an edge has up to three parallel lines, as wide as
their share. ``tp`` is where both models have the dependence, ``fp`` where only the guess has it,
``fn`` where only the true one has. In a context that assigns all other variables, every edge has a
single line.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from contextwise.comparison.compare import Comparison
from contextwise.comparison.pairs import Pair
from contextwise.models.features import IntArray
from contextwise.report.colours import (
    COLOURS,
    COVERED,
    COVERED_OPACITY,
    DARK_COLOURS,
    OPACITIES,
    STEPS,
    UNKNOWN,
    Agreement,
)

FloatArray = npt.NDArray[np.float64]
SMALLEST = float(np.finfo(np.float32).smallest_subnormal)
"""A share that is not 0 is at least this, so that the browser's short floats do not lose it."""
View = Literal["both", "true", "guess"]
"""The two graphs in one, or the edges of one model."""

KINDS_SHOWN: Mapping[View, tuple[Agreement, ...]] = {
    "both": ("tp", "fp", "fn"),
    "true": ("tp", "fn"),
    "guess": ("tp", "fp"),
}


@dataclass(frozen=True)
class Edge:
    """A pair that depends somewhere, with the share of its contexts of each kind."""

    pair: Pair
    tp: float
    fp: float
    fn: float

    @property
    def errors(self) -> float:
        """The share of contexts in which the models differ."""
        return self.fp + self.fn

    def kinds(self, view: View = "both") -> list[tuple[Agreement, float]]:
        """The kinds that occur, and their shares.

        >>> Edge(("A", "B"), tp=0.5, fp=0.25, fn=0.0).kinds()
        [('tp', 0.5), ('fp', 0.25)]
        """
        shares: dict[Agreement, float] = {"tp": self.tp, "fp": self.fp, "fn": self.fn}
        return [(kind, shares[kind]) for kind in KINDS_SHOWN[view] if shares[kind]]


@dataclass(frozen=True, eq=False)
class Shares:
    """In which shares of its contexts each pair depends: in both models, or in one alone.

    Attributes
    ----------
    names : the variables
    pairs : positions of the pairs that a feature of either model covers: shape (p, 2)
    tp, fp, fn : the shares of each of these pairs; NaN where a time limit left it open
    """

    names: tuple[str, ...]
    pairs: IntArray
    tp: FloatArray
    fp: FloatArray
    fn: FloatArray

    def edge(self, k: int) -> Edge:
        """One of the pairs, with its names."""
        first, second = self.pairs[k].tolist()
        names = (self.names[first], self.names[second])
        return Edge(names, float(self.tp[k]), float(self.fp[k]), float(self.fn[k]))

    def edges(self) -> list[Edge]:
        """The pairs that depend somewhere in a model, in the order of the domain."""
        somewhere = np.nan_to_num(self.tp + self.fp + self.fn) > 0
        return [self.edge(k) for k in np.flatnonzero(somewhere).tolist()]

    def open_pairs(self) -> int:
        """How many pairs a time limit left open."""
        return int(np.isnan(self.tp).sum())


def shares_of(comparison: Comparison) -> Shares:
    """The shares of a comparison.

    >>> from contextwise import Structure, compare
    >>> domain = {"A": 2, "B": 2, "C": 2}
    >>> true, guess = Structure(domain, ["A=1 & B=1"]), Structure(domain, ["A=1 & B=1 & C=1"])
    >>> found = shares_of(compare(true, guess))
    >>> found.pairs.tolist(), found.tp.tolist(), found.fp.tolist(), found.fn.tolist()
    ([[0, 1], [0, 2], [1, 2]], [0.5, 0.0, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.0])
    """
    counts = comparison.known_counts
    tp, fn, fp = (_divided(counts[:, k].tolist(), comparison.sizes) for k in range(3))
    return Shares(comparison.domain.names, comparison.pairs, tp, fp, fn)


def _divided(counts: list[Any], sizes: Sequence[Any]) -> FloatArray:
    """Exact counts over what all contexts count; what is not known is NaN."""
    shares = (
        np.nan if count is None else max(count / size, SMALLEST) if count else 0.0
        for count, size in zip(counts, sizes, strict=True)
    )
    return np.fromiter(shares, np.float64, len(counts))


def edges_of(comparison: Comparison) -> list[Edge]:
    """The edges of the two structures' graphs, in the order of the domain.

    Pairs that a time limit left open are left out: their shares are not known.

    >>> from contextwise import Structure, compare
    >>> domain = {"A": 2, "B": 2, "C": 2}
    >>> edges_of(compare(Structure(domain, ["A=1 & B=1"]), Structure(domain, ["A=1 & C=1"])))
    [Edge(pair=('A', 'B'), tp=0.0, fp=0.0, fn=1.0), Edge(pair=('A', 'C'), tp=0.0, fp=1.0, fn=0.0)]
    """
    return shares_of(comparison).edges()


def neighbours(shares: Shares, name: str) -> list[Edge]:
    """The pairs of one variable, the largest errors first, then the most frequent dependences.

    The variable itself stands first in each of them.
    """
    places = np.flatnonzero((shares.pairs == shares.names.index(name)).any(axis=1)).tolist()
    found = [
        edge if edge.pair[0] == name else Edge((name, edge.pair[0]), edge.tp, edge.fp, edge.fn)
        for edge in map(shares.edge, places)
        if edge.tp + edge.errors > 0
    ]
    return sorted(found, key=lambda edge: (-edge.errors, -edge.tp))


def packed(shares: Shares, order: IntArray) -> dict[str, Any]:
    """The shares as JSON values for the browser, numbers as the bytes of little-endian arrays.

    Parameters
    ----------
    shares : what is sent
    order : in which the variables are drawn
    """
    return {
        "names": list(shares.names),
        "order": _text(order, "<u4"),
        "pairs": _text(shares.pairs, "<u4"),
        **{kind: _text(getattr(shares, kind), "<f4") for kind in ("tp", "fp", "fn")},
        "steps": list(STEPS),
        "opacities": list(OPACITIES),
        "covered": [COVERED, COVERED_OPACITY],
        "unknown": UNKNOWN,
        "light": COLOURS,
        "dark": DARK_COLOURS,
    }


def _text(values: npt.NDArray[Any], kind: str) -> str:
    return b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()
