"""Search for values of given variables under which two sets of free variables are connected.

A feature with at least two free variables is a **link** between them. It *needs* values of the
given variables: it forbids those that its literals do not allow. Needs are ints of forbidden bits
over the classes of values of the given variables (as in `contextwise.counting.cover`). They are
joined by ``|``, and can be met if no variable has all its bits forbidden.

`search_by_labels` grows labels (variable, needs of a path to it), least demanding first, and drops
a label that needs more than another one at the same place. It is exact if it finishes; the number
of labels is exponential in the worst case.

The question is NP-complete, so `search_by_solver` asks a SAT solver for an assignment of the given
variables. If the two sets are not connected under it, one of the links that leave the reached part
must hold in any assignment that connects them: a new clause. The same is done from the other side.
Each clause excludes the assignment it came from, so the search ends. The solver needs
``python-sat`` (``pip install '.[queries]'``).
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import combinations

from contextwise.counting.branch import bits
from contextwise.counting.cover import ClassSpace, class_space
from contextwise.errors import TooLargeError, require
from contextwise.independence.graphs import Mask
from contextwise.models.features import Features, members
from contextwise.support.effort import NEVER, Deadline


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

    def reached(self, start: Iterable[int], values: int) -> set[int]:
        """Return what is connected to ``start`` under an assignment."""
        reached = set(start)
        waiting = list(reached)
        while waiting:
            for link in self.at.get(waiting.pop(), ()):
                if not link.needs & values:
                    fresh = set(link.scope) - reached
                    reached |= fresh
                    waiting += fresh
        return reached


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


def search_by_labels(
    links: Links,
    start: Collection[int],
    end: Collection[int],
    *,
    most: int,
    deadline: Deadline = NEVER,
) -> int | None:
    """Search for an assignment, as bits, under which two sets are connected; None if none is.

    Raise `TooLargeError` after growing ``most`` labels.
    """
    ends = set(end)
    heap = [(0, 0, variable) for variable in start]
    demanded: dict[int, list[int]] = {}
    labels = 0
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
            labels += 1
            if labels > most:
                raise TooLargeError("too many labels")
            for variable in link.scope:
                # Fewest demands first: such a label makes the most others superfluous.
                heapq.heappush(heap, (joined.bit_count(), joined, variable))
        deadline.check()
    return None


# -- the solver ------------------------------------------------------------------------------------

CONFLICTS = 2_000
"""Conflicts after which the solver returns, to check the clock and Ctrl-C."""


def search_by_solver(
    links: Links, start: Collection[int], end: Collection[int], *, deadline: Deadline = NEVER
) -> int | None:
    """Search for an assignment, as bits, under which two sets are connected; None if none is."""
    solvers = require("pysat.solvers", "queries")
    width = links.space.everything.bit_length()
    clauses: list[list[int]] = []  # one bit of each field is set; bit k is the variable k + 1
    for mask in links.fields:
        numbers = [bit.bit_length() for bit in bits(mask)]
        clauses += [numbers, *([-a, -b] for a, b in combinations(numbers, 2))]
    with solvers.Solver(name="glucose4", bootstrap_with=clauses) as solver:
        variables: dict[Link, int] = {}  # a link gets its variable when it is first used

        def variable(link: Link) -> int:
            if link not in variables:
                variables[link] = number = width + 1 + len(variables)
                for bit in bits(link.needs):
                    solver.add_clause([-number, -bit.bit_length()])
            return variables[link]

        while True:
            deadline.check()
            # The solver cannot see the clock, so it pauses after some conflicts.
            solver.conf_budget(CONFLICTS)
            answer = solver.solve_limited()
            if answer is False:
                return None
            if not answer:
                continue
            values: int = sum(1 << k - 1 for k in solver.get_model() if 0 < k <= width)
            for here, there in ((start, end), (end, start)):
                reached = links.reached(here, values)
                if not reached.isdisjoint(there):
                    return values
                leaving = (
                    link
                    for link in links.links
                    if not reached.isdisjoint(link.scope) and not reached.issuperset(link.scope)
                )
                # Any connecting assignment must use a link that leaves the reached set.
                solver.add_clause([variable(link) for link in leaving])
