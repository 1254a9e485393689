"""Paths whose features can hold together: the heart of a query.

Once a context has been assigned, the variables fall into those that are **given** without a value
(the set W) and the **free** ones. A feature with two free variables or more is a **link** between
them that *needs* something of the given variables: it forbids the values its literals do not allow.
Two free variables depend when some assignment of W leaves a path of links whose needs it meets.

A set of needs is an int of forbidden bits over the classes of values of W (as in
`contextwise.counting.cover`): needs join by ``|``, and can be met as long as no variable has all
its bits forbidden.

`search_by_labels` grows labels (variable, needs of a way to it), least demanding first, and drops a
label that asks for more than another one at the same place. It is exact when it finishes; the
number of labels is exponential in the worst case.

`search_by_solver` has the last word, because the question is NP-complete. A SAT solver guesses an
assignment of the given variables; if the two sets are not connected there, every link that leaves
the reached part needs something else, and one of them must hold in any assignment that does connect
the sets: that is a new clause. The same is done from the other end. A clause excludes the guess
that it came from, so this ends: with an assignment that connects, or with the proof that none does.
It needs ``python-sat`` (``pip install 'contextwise[queries]'``).
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from typing import Any

from contextwise.counting.branch import bits
from contextwise.counting.contract import check
from contextwise.counting.cover import ClassSpace, class_space
from contextwise.errors import require
from contextwise.independence.separation import Mask
from contextwise.models.features import Features, members


@dataclass(frozen=True)
class Link:
    """A feature between free variables: whom it links, and what it needs of the given ones."""

    scope: tuple[int, ...]
    needs: int


@dataclass(frozen=True)
class Links:
    """All links of a query.

    Attributes
    ----------
    space : the given variables that some link tests, and their classes of values
    fields : for each of them the mask of its bits
    links : the links
    at : for each free variable the links that have it
    """

    space: ClassSpace
    fields: tuple[int, ...]
    links: tuple[Link, ...]
    at: dict[int, list[Link]]

    def can_hold(self, needs: int, tested: int) -> bool:
        """Whether some assignment meets these needs; only fields that ``tested`` meets matter."""
        return all(needs & field != field for field in self.fields if tested & field)

    def assignment(self, needs: int) -> int:
        """One value of every given variable that meets the needs, as bits."""
        return sum((free := field & ~needs) & -free for field in self.fields)

    def decode(self, values: int) -> dict[int, int]:
        """An assignment as positions: a state of each given variable that some link tests."""
        places = (
            (values & field).bit_length() - (field & -field).bit_length() for field in self.fields
        )
        own = zip(self.space.variables, self.space.classes, places, strict=True)
        return {variable: members(classes[place])[0] for variable, classes, place in own}

    def without(self, fields: Iterable[int]) -> Links:
        """The links as if they needed nothing of the variables with these fields."""
        dropped = sum(fields)
        return _linked(self.space, (Link(own.scope, own.needs & ~dropped) for own in self.links))

    def reached(self, start: Iterable[int], values: int) -> set[int]:
        """What is connected to ``start`` under an assignment."""
        found = set(start)
        waiting = list(found)
        while waiting:
            for link in self.at.get(waiting.pop(), ()):
                if not link.needs & values:
                    fresh = set(link.scope) - found
                    found |= fresh
                    waiting += fresh
        return found


def links_of(features: Features, free: Mask, given: Mask) -> Links:
    """Each feature as a link between its free variables.

    Parameters
    ----------
    features : Features
        Those that link two free variables or more.
    free, given : masks of variables
        Literals of variables that are neither are ignored.
    """
    scopes, needs = [], []
    for literals in features.literals():
        scopes.append(tuple(v for v, _ in literals if free[v]))
        needs.append([literal for literal in literals if given[literal[0]]])
    space = class_space(features.cardinalities.tolist(), needs)
    everything = space.everything
    return _linked(
        space,
        (
            Link(scope, everything ^ space.encode(literals))
            for scope, literals in zip(scopes, needs, strict=True)
        ),
    )


def _linked(space: ClassSpace, links: Iterable[Link]) -> Links:
    at: dict[int, list[Link]] = {}
    distinct = tuple(dict.fromkeys(links))
    for link in distinct:
        for variable in link.scope:
            at.setdefault(variable, []).append(link)
    return Links(space, space.cover(()).fields, distinct, at)


class SearchEnd(Enum):
    """How a search ended, if it found no path."""

    EXHAUSTED = "no path can hold"
    GAVE_UP = "too many labels"


def search_by_labels(
    links: Links,
    start: Collection[int],
    end: Collection[int],
    *,
    most: int,
    deadline: float | None = None,
) -> int | SearchEnd:
    """An assignment of the given variables under which two sets are connected.

    Parameters
    ----------
    links : Links
    start, end : the two sets of variables
    most : how many labels may grow
    deadline : on the clock of ``time.monotonic``, optional

    Returns
    -------
    int or SearchEnd
        The assignment as bits, or how the search ended without one.
    """
    ends = set(end)
    heap = [(0, 0, variable) for variable in start]
    demanded: dict[int, list[int]] = {}
    labels = 0
    while heap:
        _, needs, here = heapq.heappop(heap)
        for link, joined in _steps(links, here, needs):
            seen = demanded.setdefault(id(link), [])
            if any(joined & less == less for less in seen):
                continue
            seen.append(joined)
            if not ends.isdisjoint(link.scope):
                return links.assignment(joined)
            labels += 1
            if labels > most:
                return SearchEnd.GAVE_UP
            for there in link.scope:
                heapq.heappush(heap, (joined.bit_count(), joined, there))
        check(deadline)
    return SearchEnd.EXHAUSTED


def _steps(links: Links, here: int, needs: int) -> Iterator[tuple[Link, int]]:
    """The links at a variable that can still hold, and the needs after taking them."""
    for link in links.at.get(here, ()):
        joined = needs | link.needs
        if joined == needs or links.can_hold(joined, link.needs):
            yield link, joined


# -- the last word ---------------------------------------------------------------------------------

CONFLICTS = 2_000
"""After how many conflicts the solver comes up to look at the clock, and for Ctrl-C."""


def search_by_solver(
    links: Links, start: Collection[int], end: Collection[int], *, deadline: float | None = None
) -> int | None:
    """An assignment of the given variables under which two sets are connected, by a SAT solver.

    Parameters
    ----------
    links : Links
    start, end : the two sets of variables
    deadline : on the clock of ``time.monotonic``, optional

    Returns
    -------
    int
        The assignment as bits; None if there is none.
    """
    solvers = require("pysat.solvers", "queries")
    with solvers.Solver(name="glucose4", bootstrap_with=list(_one_value_each(links))) as solver:
        encoded = _Encoding(links, solver)
        while True:
            values = encoded.guess(deadline)
            if values is None:
                return None
            for here, there in ((start, end), (end, start)):
                reached = links.reached(here, values)
                if not reached.isdisjoint(there):
                    return values
                encoded.must_leave(reached)


def _one_value_each(links: Links) -> Iterator[list[int]]:
    """Bit ``k`` is the solver's variable ``k + 1``; one bit of each field is set."""
    for field in links.fields:
        own = [bit.bit_length() for bit in bits(field)]
        yield own
        yield from ([-a, -b] for a, b in combinations(own, 2))


class _Encoding:
    """The clauses so far; a link gets its variable when it is first needed."""

    def __init__(self, links: Links, solver: Any) -> None:
        self.links, self.solver = links, solver
        self.width = links.space.everything.bit_length()
        self.variables: dict[Link, int] = {}

    def guess(self, deadline: float | None) -> int | None:
        """An assignment that meets all clauses, or None."""
        while True:
            check(deadline)
            self.solver.conf_budget(CONFLICTS)
            answer = self.solver.solve_limited()
            if answer is False:
                return None
            if answer:
                chosen: list[int] = self.solver.get_model()
                return sum(1 << k - 1 for k in chosen if 0 < k <= self.width)

    def must_leave(self, reached: set[int]) -> None:
        """One of the links that leave the reached part must hold."""
        leaving = [
            link
            for link in self.links.links
            if not reached.isdisjoint(link.scope) and not reached.issuperset(link.scope)
        ]
        self.solver.add_clause([self.variable(link) for link in leaving])

    def variable(self, link: Link) -> int:
        if link not in self.variables:
            self.variables[link] = number = self.width + 1 + len(self.variables)
            for bit in bits(link.needs):
                self.solver.add_clause([-number, -bit.bit_length()])
        return self.variables[link]
