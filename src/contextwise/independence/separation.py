"""Separation in the graph of a Bayesian network, and in the graph that a context leaves.

Two sets of variables are **d-separated** if every trail between them is blocked: by a given
variable that is not a collider on it, or by a collider such that neither it nor a descendant is
given.

**CSI-separation** (Boutilier, Friedman, Goldszmidt and Koller 1996) first deletes the arcs that do
not matter in a context: Y -> X, if all rows of the table of X that agree with the context are equal
across the values of Y. The tables of the smaller graph give the same probabilities in that context,
so d-separation in it is an independence there. It is sound, not complete.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from contextwise.independence.graphs import Mask, Network, minimal_separator
from contextwise.models.directions import Directions
from contextwise.models.features import Features

SAME = 1e-9
"""The largest difference of two probabilities that count as equal."""

Graph = Sequence[Sequence[int]]
"""The parents of each variable."""


@dataclass(frozen=True)
class Trail:
    """An open trail: its variables, and whether each step goes along the arc or against it."""

    variables: tuple[int, ...]
    forward: tuple[bool, ...]

    def colliders(self) -> list[int]:
        """Return the variables at which two arcs of the trail meet."""
        inner = zip(self.variables[1:-1], self.forward, self.forward[1:], strict=False)
        return [variable for variable, before, after in inner if before and not after]


def open_trail(
    parents: Graph, first: Iterable[int], second: Collection[int], given: Collection[int]
) -> Trail | None:
    """Find a shortest open trail between two sets, or None if they are d-separated.

    >>> open_trail([(), (), (0, 1)], [0], {1}, ())  # both are parents of 2
    >>> open_trail([(), (), (0, 1)], [0], {1}, {2})
    Trail(variables=(0, 2, 1), forward=(True, False))
    """
    children: list[list[int]] = [[] for _ in parents]
    for child, above in enumerate(parents):
        for parent in above:
            children[parent].append(child)
    blocked, ends = set(given), set(second)
    opening = ancestors(parents, blocked)
    # A place is a variable and whether the trail arrives along an arc. It starts as if it came from
    # a child: it may leave to parents and to children.
    start = [(variable, False) for variable in first]
    before: dict[tuple[int, bool], tuple[int, bool] | None] = dict.fromkeys(start)
    layer = start
    while layer:
        following = []
        for place in layer:
            variable, arrived_along = place
            if variable in ends:
                return _trail(place, before)
            steps: list[tuple[int, bool]] = []
            if variable not in blocked:
                steps += [(child, True) for child in children[variable]]
            # A collider passes if it or a descendant is given; another variable if it is not.
            if variable in opening if arrived_along else variable not in blocked:
                steps += [(parent, False) for parent in parents[variable]]
            for step in steps:
                if step not in before:
                    before[step] = place
                    following.append(step)
        layer = following
    return None


def _trail(
    end: tuple[int, bool], before: Mapping[tuple[int, bool], tuple[int, bool] | None]
) -> Trail:
    places = [end]
    while (previous := before[places[-1]]) is not None:
        places.append(previous)
    places.reverse()
    return Trail(tuple(v for v, _ in places), tuple(forward for _, forward in places[1:]))


def ancestors(parents: Graph, variables: Iterable[int]) -> set[int]:
    """Return variables and all their ancestors."""
    reached = set(variables)
    waiting = list(reached)
    while waiting:
        for parent in parents[waiting.pop()]:
            if parent not in reached:
                reached.add(parent)
                waiting.append(parent)
    return reached


def minimal_d_separator(
    parents: Graph, first: Collection[int], second: Collection[int], within: Collection[int]
) -> list[int] | None:
    """Find a minimal subset of ``within`` that d-separates two sets; None if there is none.

    Separation by a set of ancestors is separation in the moral graph of the ancestors (Lauritzen);
    if any subset separates, one of ancestors does (van der Zander and Liskiewicz).
    """
    kept = sorted(ancestors(parents, [*first, *second]))
    # d-separation is separation in the moral graph of the ancestors: families are cliques.
    owners = np.repeat(kept, [len(parents[v]) + 1 for v in kept])
    families = np.array([u for v in kept for u in (*parents[v], v)], dtype=np.int32)
    nowhere: Mask = np.zeros(len(parents), dtype=bool)
    moral = Network(len(parents), nowhere, owners.astype(np.int64), families, len(parents))
    ends = moral.mask(first), moral.mask(second)
    separator = minimal_separator(moral, *ends, moral.mask(set(within).intersection(kept)))
    return None if separator is None else separator.nonzero()[0].tolist()


def parents_that_matter(
    directions: Directions, context: Mapping[int, int], variables: Iterable[int]
) -> list[tuple[int, ...]]:
    """Return the parents in a context: without those on which the table does not depend there.

    Only the parents of ``variables`` are looked at; those of others stay.
    """
    parents = list(directions.parents)
    for child in variables:
        table, above = directions.tables[child], parents[child]
        if table is None or not above:
            continue
        rows = table[tuple(slice(None) if p not in context else context[p] for p in above)]
        free = [p for p in above if p not in context]
        matter = {p for axis, p in enumerate(free) if (np.ptp(rows, axis=axis) > SAME).any()}
        if len(matter) < len(free):
            parents[child] = tuple(p for p in above if p in matter or p in context)
    return parents


def have_equal_rows(directions: Directions, variables: Iterable[int]) -> bool:
    """Return whether the table of one of these variables has two equal rows."""
    for child in variables:
        table = directions.tables[child]
        if table is not None and table.ndim > 1:
            rows = np.round(table.reshape(-1, table.shape[-1]), 9)
            if len(np.unique(rows, axis=0)) < len(rows):
                return True
    return False


def has_whole_tables(features: Features, scopes: Iterable[Sequence[int]]) -> bool:
    """Return whether features have all cells of the tables over some scopes.

    Such features separate no more than the moral graph. Scopes are told apart by random sums.
    """
    cards = features.cardinalities
    marks = np.random.default_rng(0).integers(2**63, size=len(cards), dtype=np.uint64)
    sums = np.concatenate([[np.uint64(0)], np.cumsum(marks[features.variables], dtype=np.uint64)])
    values, counts = np.unique(np.diff(sums[features.starts]), return_counts=True)
    present = dict(zip(values.tolist(), counts.tolist(), strict=True))
    for scope in scopes:
        tested = [v for v in scope if cards[v] > 1]  # a literal on a single state is dropped
        if present.get(int(marks[tested].sum(dtype=np.uint64)), 0) < prod(cards[tested].tolist()):
            return False
    return True
