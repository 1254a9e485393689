"""Search for values of given variables under which two sets of free variables are connected.

A feature with at least two free variables is a **link** between them. It *needs* values of the
given variables: it forbids those that its literals do not allow. Needs are ints of forbidden bits
over the classes of values of the given variables (as in `contextwise.counting.cover`). They are
joined by ``|``, and can be met if no variable has all its bits forbidden.

`search` grows labels (variable, needs of a path to it), least demanding first, and drops a label
that needs more than another one at the same place. The question is NP-complete: the number of
labels is exponential in the worst case, so a search should have a time limit.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from contextwise.counting.cover import ClassSpace, class_space
from contextwise.independence.graphs import Mask
from contextwise.models.features import Features, members
from contextwise.support.effort import Deadline


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
