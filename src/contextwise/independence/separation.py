"""Separate sets of variables: in the graph of a structure, and in that of a Bayesian network.

A **box** is a context in which a variable may have a set of values. A feature is compatible with it
if it is compatible with some assignment in the box; `Network` is the graph of these features.

If variables are given without a value, two sets are connected if some values of the given variables
leave a path. A feature with at least two free variables is a **link** between them. It *needs*
values of the given variables: it forbids those that its literals do not allow. Needs are ints of
forbidden bits over the classes of values of the given variables (as in
`contextwise.counting.cover`). They are joined by ``|``, and can be met if no variable has all its
bits forbidden. `search` grows labels (variable, needs of a path to it), least demanding first, and
drops a label that needs more than another one at the same place. The question is NP-complete: the
number of labels is exponential in the worst case, so a search should have a time limit.

In a Bayesian network, two sets are **d-separated** if every trail between them is blocked: by a
given variable that is not a collider on it, or by a collider such that neither it nor a descendant
is given.

**CSI-separation** (Boutilier, Friedman, Goldszmidt and Koller 1996) first deletes the arcs that do
not matter in a context: Y -> X, if all rows of the table of X that agree with the context are equal
across the values of Y. The tables of the smaller graph give the same probabilities in that context,
so d-separation in it is an independence there. It is sound, not complete.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from contextwise.counting.cover import ClassSpace, class_space
from contextwise.models.directions import Directions
from contextwise.models.features import Features, as_words, members
from contextwise.support.arrays import IntArray
from contextwise.support.effort import Deadline

Mask = npt.NDArray[np.bool_]
SAME = 1e-9
"""The largest difference of two probabilities that count as equal."""

Graph = Sequence[Sequence[int]]
"""The parents of each variable."""


# -- the graph of a structure ----------------------------------------------------------------------


@dataclass(frozen=True)
class Network:
    """The graph instantiated by a box, as the free literals of the compatible features.

    The graph is never built: neighbours and components are found by passes over the literals.
    """

    size: int  # number of variables, including assigned ones
    assigned: Mask  # the variables of the box, which are not in the graph
    owners: IntArray  # the feature of each remaining literal
    variables: npt.NDArray[np.int32]
    count: int  # number of all features

    def mask(self, variables: Iterable[int]) -> Mask:
        """Return a mask of some variables."""
        result = np.zeros(self.size, dtype=bool)
        result[list(variables)] = True
        return result

    def neighbours(self, nodes: Mask) -> Mask:
        """Return the variables that share a feature with one of these, and these themselves."""
        result = nodes.copy()
        result[self.variables[self.touching(nodes)[self.owners]]] = True
        return result

    def touching(self, nodes: Mask) -> Mask:
        """Mask the features with at least one of these variables."""
        result = np.zeros(self.count, dtype=bool)
        result[self.owners[nodes[self.variables]]] = True
        return result

    def linking(self, nodes: Mask) -> IntArray:
        """Return the features with at least two of these variables."""
        shared = np.bincount(self.owners[nodes[self.variables]], minlength=self.count)
        return np.flatnonzero(shared > 1)

    def component(self, start: Mask, blocked: Mask) -> Mask:
        """Return what can be reached from ``start`` without entering ``blocked``."""
        reached = start
        while True:
            further = self.neighbours(reached) & ~blocked
            if (further == reached).all():
                return reached
            reached = further

    def path(self, first: Mask, second: Mask, blocked: Mask) -> tuple[list[int], list[int]]:
        """Return a shortest path between two connected sets: its variables, and its features."""
        layers = [first]
        while not (layers[-1] & second).any():
            layers.append(self.neighbours(layers[-1]) & ~blocked)
        here = int((layers.pop() & second).argmax())
        variables, features = [here], []
        for layer in reversed(layers):
            near = self.touching(layer)[self.owners]
            feature = int(self.owners[(self.variables == here) & near][0])
            scope = self.variables[self.owners == feature]
            here = int(scope[layer[scope]][0])
            variables.append(here)
            features.append(feature)
        return variables[::-1], features[::-1]


def network(features: Features, box: Mapping[int, int]) -> Network:
    """Instantiate the graph of a box, with the features compatible with some assignment in it."""
    words = features.values.shape[1]
    values = np.full((len(features.cardinalities), words), ~np.uint64(0))
    for variable, allowed in box.items():
        values[variable] = as_words(allowed, words)
    refused = ~(features.values & values[features.variables]).any(axis=1)
    compatible = np.ones(len(features), dtype=bool)
    compatible[features.owners[refused]] = False
    assigned = np.zeros(len(features.cardinalities), dtype=bool)
    assigned[list(box)] = True
    owners, variables = features.covered
    stays = compatible[owners] & ~assigned[variables]
    return Network(len(assigned), assigned, owners[stays], variables[stays], len(features))


def minimal_separator(graph: Network, first: Mask, second: Mask, within: Mask) -> Mask | None:
    """Find a minimal set inside ``within`` that separates two sets; None if all of it does not.

    Of the two minimal sets nearest to either side, return the smaller. Here C separates A from B,
    and so do D and E together::

        A ── C ── D ── B
              └── E ──┘

    >>> from contextwise import Structure
    >>> links = ("AC", "CD", "CE", "DB", "EB")
    >>> model = Structure(dict.fromkeys("ABCDE", 2), [{a: 1, b: 1} for a, b in links])
    >>> graph = network(model.features, {})
    >>> a, b, rest = graph.mask([0]), graph.mask([1]), graph.mask([2, 3, 4])
    >>> minimal_separator(graph, a, b, rest).nonzero()[0].tolist()
    [2]
    """
    near = _nearest(graph, first, second, within)
    if near is None:
        return None
    other = _nearest(graph, second, first, within)
    return near if other is None or near.sum() <= other.sum() else other


def _nearest(graph: Network, first: Mask, second: Mask, within: Mask) -> Mask | None:
    """Return the part of the border of the first set's component that the second set touches."""
    component = graph.component(first, within)
    if (component & second).any():
        return None
    border = graph.neighbours(component) & within
    far = graph.component(second, border)
    return graph.neighbours(far) & border


# -- values of given variables that connect two sets -----------------------------------------------


@dataclass(frozen=True)
class Link:
    """A feature between free variables: what it links, and what it needs of the given ones."""

    scope: tuple[int, ...]
    needs: int


@dataclass(frozen=True)
class Links:
    """All links of a query."""

    space: ClassSpace  # the given variables that some link tests, and their classes of values
    fields: tuple[int, ...]  # the mask of the bits of each of them
    links: tuple[Link, ...]
    at: dict[int, list[Link]]  # the links of each free variable

    def can_hold(self, needs: int, tested: int) -> bool:
        """Return whether some assignment meets these needs; check only the fields of ``tested``."""
        return all(needs & field != field for field in self.fields if tested & field)

    def assignment(self, needs: int) -> int:
        """Return one value of every given variable that meets the needs, as bits."""
        return sum((free := field & ~needs) & -free for field in self.fields)

    def decode(self, values: int) -> dict[int, int]:
        """Return an assignment as positions of states."""
        places = (
            (values & field).bit_length() - (field & -field).bit_length() for field in self.fields
        )
        columns = zip(self.space.variables, self.space.classes, places, strict=True)
        return {variable: members(classes[place])[0] for variable, classes, place in columns}

    def without(self, fields: Iterable[int]) -> Links:
        """Return the links without their needs of the variables with these fields."""
        dropped = sum(fields)
        return _linked(self.space, (Link(link.scope, link.needs & ~dropped) for link in self.links))


def links_of(features: Features, free: Mask, given: Mask) -> Links:
    """Turn features into links of their free variables that need values of their given ones."""
    needs = [[lit for lit in literals if given[lit[0]]] for literals in features.literals()]
    scopes = [tuple(v for v in scope if free[v]) for scope in features.covered_scopes()]
    space = class_space(features.cardinalities.tolist(), needs)
    forbidden = [space.everything ^ space.encode(literals) for literals in needs]
    return _linked(space, map(Link, scopes, forbidden))


def _linked(space: ClassSpace, links: Iterable[Link]) -> Links:
    at: dict[int, list[Link]] = {}
    distinct = tuple(dict.fromkeys(links))
    for link in distinct:
        for variable in link.scope:
            at.setdefault(variable, []).append(link)
    return Links(space, space.cover(()).fields, distinct, at)


def search(
    links: Links, start: Collection[int], end: Collection[int], deadline: Deadline
) -> int | None:
    """Search for an assignment, as bits, under which two sets are connected; None if none is."""
    deadline.check()
    ends = set(end)
    heap = [(0, 0, variable) for variable in start]
    demanded: dict[int, list[int]] = {}
    while heap:
        _, needs, here = heapq.heappop(heap)
        for link in links.at.get(here, ()):
            joined = needs | link.needs
            if joined != needs and not links.can_hold(joined, link.needs):
                continue
            seen = demanded.setdefault(id(link), [])
            # The link was reached before with a part of these demands: this label adds nothing.
            if any(joined & less == less for less in seen):
                continue
            seen.append(joined)
            if not ends.isdisjoint(link.scope):
                return links.assignment(joined)
            for variable in link.scope:
                # Fewest demands first: such a label makes the most others superfluous.
                heapq.heappush(heap, (joined.bit_count(), joined, variable))
        deadline.check()
    return None


# -- the graph of a Bayesian network ---------------------------------------------------------------


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
) -> list[Sequence[int]]:
    """Return the parents in a context: without those on which the table does not depend there.

    Only the parents of ``variables`` are looked at; those of others stay.
    """
    parents = list(directions.with_hidden)
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
