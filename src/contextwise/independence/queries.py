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
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from typing import Any, Literal, overload

import numpy as np

from contextwise.counting.branch import bits
from contextwise.counting.cover import ClassSpace, class_space
from contextwise.errors import require
from contextwise.formats import ModelLike, as_structure
from contextwise.independence.separation import Mask, minimal_separator, network
from contextwise.independence.statements import (
    UNDECIDED,
    Answer,
    Positions,
    Statement,
    Undecided,
    positions,
)
from contextwise.models.domain import Assignment, Domain
from contextwise.models.features import WORD, Features, members
from contextwise.models.structure import Structure
from contextwise.support.deadline import NEVER, Deadline, OutOfTime


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
    deadline: Deadline = NEVER,
) -> int | SearchEnd:
    """An assignment of the given variables under which two sets are connected.

    Parameters
    ----------
    links : Links
    start, end : the two sets of variables
    most : how many labels may grow
    deadline :, optional

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
        deadline.check()
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
    links: Links, start: Collection[int], end: Collection[int], *, deadline: Deadline = NEVER
) -> int | None:
    """An assignment of the given variables under which two sets are connected, by a SAT solver.

    Parameters
    ----------
    links : Links
    start, end : the two sets of variables
    deadline :, optional

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

    def guess(self, deadline: Deadline) -> int | None:
        """An assignment that meets all clauses, or None."""
        while True:
            deadline.check()
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


# -- Is A independent of B, given C, in the context D=yes? The general query, decided exactly.


LABELS = 1_000
"""How many labels, beyond one per link, the search may grow before the solver is asked."""

EXPLAINING = 5.0
"""How many seconds may go into a shorter reason once the answer is known."""

Names = str | Iterable[str]


@overload
def is_independent(
    model: ModelLike,
    first: Names,
    second: Names,
    *,
    given: Names = ...,
    context: Assignment | None = ...,
    time_limit: float | None = ...,
    why: Literal[False] = ...,
) -> bool | Undecided: ...


@overload
def is_independent(
    model: ModelLike,
    first: Names,
    second: Names,
    *,
    given: Names = ...,
    context: Assignment | None = ...,
    time_limit: float | None = ...,
    why: Literal[True],
) -> Answer: ...


def is_independent(
    model: ModelLike,
    first: Names,
    second: Names,
    *,
    given: Names = (),
    context: Assignment | None = None,
    time_limit: float | None = None,
    why: bool = False,
) -> bool | Undecided | Answer:
    """Whether two variables (or sets) are independent, given variables and a context.

    Marginal, conditional and context-specific queries are this one call. See this module for the
    definition and the method.

    Parameters
    ----------
    model : Structure, LogLinear, path of a file, or name of an example
    first, second : a name or several
    given : names, optional
        Variables that are known, whatever their value.
    context : partial assignment, optional
        Variables that are known, with their value.
    time_limit : seconds, optional
        After which the answer is `UNDECIDED`, which raises `OpenResult` when used as a bool.
    why : bool
        Give an `Answer` with its reason instead of a bool.

    Returns
    -------
    bool, `UNDECIDED` or Answer

    Raises
    ------
    DomainError
        If a variable is unknown, or asked about and given at once.

    Examples
    --------
    A and C depend through B, and B breaks the chain; with D=0 the first link is gone.

    >>> model = Structure({"A": 2, "B": 2, "C": 2, "D": 2}, ["A=1 & B=1 & D=1", "B=1 & C=1"])
    >>> is_independent(model, "A", "C"), is_independent(model, "A", "C", given="B")
    (False, True)
    >>> is_independent(model, "A", "C", context={"D": 0})
    True
    >>> print(is_independent(model, "A", ["B", "C"], given=["D"], why=True))
    dependent: they are connected by A – B when D=1

    No single value of D makes both links of this chain hold:

    >>> model = Structure({"A": 2, "B": 2, "C": 2, "D": 2}, ["A=1 & B=1 & D=1", "B=1 & C=1 & D=0"])
    >>> print(is_independent(model, "A", "C", given="D", why=True))
    independent: every path needs two values of D
    """
    structure = as_structure(model)
    statement = Statement(
        _names(first), _names(second), _names(given), _context(structure.domain, context)
    )
    answer = answer_to(structure, statement, time_limit=time_limit, why=why)
    return answer if why else answer.independent


def answer_to(
    model: ModelLike, statement: Statement, *, time_limit: float | None = None, why: bool = True
) -> Answer:
    """The answer to a statement taken as a question; see `is_independent`.

    Parameters
    ----------
    model : Structure, LogLinear, path of a file, or name of an example
    statement : Statement
        What is asked; `parse_statement` makes it from a text.
    time_limit : seconds, optional
        After which the answer is `UNDECIDED`.
    why : bool
        Whether to look for the reason of an independence.

    Returns
    -------
    Answer

    Examples
    --------
    >>> from contextwise.independence import parse_statement
    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "B=1 & C=1"])
    >>> print(answer_to(model, parse_statement("A _||_ C | B")))
    independent: every path goes through B
    """
    structure = as_structure(model)
    domain = structure.domain
    asked = positions(domain, statement)
    deadline = Deadline.after(time_limit)
    graph = network(structure.features, _box(asked.context))
    first, second, given = map(graph.mask, (asked.first, asked.second, asked.given))
    within = graph.component(first, given)
    if not (within & second).any():
        separator = minimal_separator(graph, first, second, given) if why else None
        return Answer(statement, True, separator=_names_at(domain, separator))
    features = structure.features.take(graph.linking(within))
    favoured = _favoured(features, given)
    if path := _path(structure, asked, favoured):
        return _connected(structure, statement, favoured, *path)
    try:
        links = links_of(features, within, given)
        values = _decide(links, asked, deadline)
        if values is None:
            blocking = _blocking(links, asked, deadline) if why else ()
            return Answer(statement, True, blocking=tuple(domain.names[v] for v in blocking))
    except OutOfTime:
        return Answer(statement, UNDECIDED)
    assignment = links.decode(values)
    path = _path(structure, asked, assignment)
    assert path is not None
    return _connected(structure, statement, assignment, *path)


def _favoured(features: Features, given: Mask) -> dict[int, int]:
    """For each given variable the state that most features allow: a first guess that is cheap."""
    mine = given[features.variables]
    variables, values = features.variables[mine], features.values[mine]
    votes = np.zeros((len(given), int(features.cardinalities.max())), dtype=np.int64)
    for state in range(votes.shape[1]):
        allows = values[:, state // WORD] >> np.uint64(state % WORD) & np.uint64(1)
        votes[:, state] = np.bincount(variables, weights=allows, minlength=len(given))
    best = votes.argmax(axis=1)
    return {v: int(best[v]) for v in np.unique(variables).tolist()}


def _path(
    structure: Structure, asked: Positions, assignment: Mapping[int, int]
) -> tuple[list[int], list[int]] | None:
    """A path under an assignment of given variables (the others block no feature), if any."""
    box = _box({**asked.context, **assignment})
    graph = network(structure.features, box)
    first, second, given = map(graph.mask, (asked.first, asked.second, asked.given))
    if not (graph.component(first, given) & second).any():
        return None
    return graph.path(first, second, given)


def _connected(
    structure: Structure,
    statement: Statement,
    assignment: Mapping[int, int],
    path: list[int],
    steps: list[int],
) -> Answer:
    """The answer with a path, and what of the assignment its features need."""
    domain, features = structure.domain, structure.features
    tested = set(features.take(np.array(steps)).variables.tolist())
    return Answer(
        statement,
        False,
        path=tuple(domain.names[v] for v in path),
        features=tuple(map(structure.feature_text, steps)),
        assignment=tuple(
            (domain.names[v], domain.states[v][state])
            for v, state in sorted(assignment.items())
            if v in tested
        ),
    )


def _decide(links: Links, asked: Positions, deadline: Deadline) -> int | None:
    """An assignment that connects, or None: by the search, and if it gives up, the solver."""
    deadline.check()
    most = LABELS + len(links.links)
    found = search_by_labels(links, asked.first, asked.second, most=most, deadline=deadline)
    if found is SearchEnd.GAVE_UP:
        return search_by_solver(links, asked.first, asked.second, deadline=deadline)
    return found if isinstance(found, int) else None


def _blocking(links: Links, asked: Positions, deadline: Deadline) -> list[int]:
    """Given variables such that their literals alone leave no path: one if possible, else few.

    Whenever the time is up, the set is right; it may be larger than it need be.
    """
    fields = dict(zip(links.fields, links.space.variables, strict=True))
    kept = list(fields)
    soon = deadline.sooner(EXPLAINING)
    try:
        for field in fields:
            alone = links.without(other for other in fields if other != field)
            if _decide(alone, asked, soon) is None:
                return [fields[field]]
        for field in fields:
            fewer = links.without(other for other in fields if other == field or other not in kept)
            if _decide(fewer, asked, soon) is None:
                kept.remove(field)
    except OutOfTime:
        pass
    return [fields[field] for field in kept]


def _box(assignment: Mapping[int, int]) -> dict[int, int]:
    return {variable: 1 << state for variable, state in assignment.items()}


def _names_at(domain: Domain, chosen: Mask | None) -> tuple[str, ...] | None:
    return None if chosen is None else tuple(domain.names[v] for v in chosen.nonzero()[0].tolist())


def _names(given: Names) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _context(domain: Domain, context: Assignment | None) -> dict[str, str]:
    return {domain.names[v]: domain.states[v][s] for v, s in domain.assignment(context).items()}
