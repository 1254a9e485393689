"""The two structures as one graph: each edge, and in which share of contexts each model has it.

One graph for all contexts cannot say when two variables depend, but it can say how often: an edge
has up to three strands, drawn as wide as their share of the pair's contexts. ``tp`` is where both
models have the dependence, ``fp`` where only the guess has it, ``fn`` where only the true one has.
In a context that assigns all other variables, every edge has a single strand.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from contextwise.comparison.compare import Comparison
from contextwise.comparison.confusion import ratio
from contextwise.comparison.pairs import Pair
from contextwise.report.colours import Agreement

View = Literal["both", "true", "guess"]
"""The two graphs in one, or the edges of one model."""

STRANDS: Mapping[View, tuple[Agreement, ...]] = {
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

    def strands(self, view: View = "both") -> list[tuple[Agreement, float]]:
        """The kinds that occur, and their shares.

        >>> Edge(("A", "B"), tp=0.5, fp=0.25, fn=0.0).strands()
        [('tp', 0.5), ('fp', 0.25)]
        """
        shares: dict[Agreement, float] = {"tp": self.tp, "fp": self.fp, "fn": self.fn}
        return [(kind, shares[kind]) for kind in STRANDS[view] if shares[kind]]


def agreement(comparison: Comparison) -> list[Edge]:
    """The edges of the two structures' graphs, in the order of the domain.

    Pairs that a time limit left open are left out: their shares are not known.

    >>> from contextwise import Structure, compare
    >>> domain = {"A": 2, "B": 2, "C": 2}
    >>> agreement(compare(Structure(domain, ["A=1 & B=1"]), Structure(domain, ["A=1 & C=1"])))
    [Edge(pair=('A', 'B'), tp=0.0, fp=0.0, fn=1.0), Edge(pair=('A', 'C'), tp=0.0, fp=1.0, fn=0.0)]
    """
    return [
        Edge(pair, ratio(tp, size), ratio(fp, size), ratio(fn, size))
        for pair, (tp, fn, fp, _), size in zip(
            comparison.pair_names(), comparison.known_counts, comparison.sizes, strict=True
        )
        if tp is not None and tp + fn + fp
    ]


def worst_variables(names: Sequence[str], edges: Iterable[Edge], most: int) -> tuple[str, ...]:
    """The variables with the most errors, each pair counting the same, in the order given."""
    errors = dict.fromkeys(names, 0.0)
    for edge in edges:
        for name in edge.pair:
            errors[name] += edge.errors
    worst = set(sorted(names, key=lambda name: -errors[name])[:most])
    return tuple(name for name in names if name in worst)


def among(edges: Iterable[Edge], names: Collection[str]) -> list[Edge]:
    """The edges between these variables."""
    inside = set(names)
    return [edge for edge in edges if inside.issuperset(edge.pair)]
