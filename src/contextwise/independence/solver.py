"""The general query by a SAT solver: is there an assignment that connects two sets?

The question is NP-complete, so the last word is a solver's. It guesses an assignment of the given
variables; if the two sets are not connected there, every link that leaves the reached part needs
something else, and one of them must hold in any assignment that does connect the sets: that is a
new clause. The same is done from the other end. A clause excludes the guess that it came from, so
this ends: with an assignment that connects, or with the proof that none does.

Needs ``python-sat`` (``pip install 'contextwise[queries]'``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import combinations
from typing import Any

from contextwise.counting.branch import bits
from contextwise.counting.limits import check
from contextwise.errors import require
from contextwise.independence.links import Link, Links

CONFLICTS = 2_000
"""After how many conflicts the solver comes up to look at the clock, and for Ctrl-C."""


def connecting(
    links: Links, start: Collection[int], end: Collection[int], *, deadline: float | None = None
) -> int | None:
    """An assignment, as bits, under which start and end are connected; None if there is none."""
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
