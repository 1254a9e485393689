"""Is A independent of B, given C, in the context D=yes? The general query, decided exactly.

**The definition.** Sets A and B are *dependent* given a context x_U and variables X_W when for some
x_W a variable of A and one of B are connected in the graph instantiated by x_U and x_W. That is
what a distribution with these features and generic weights shows. Two readings that look simpler
are not this one: that no compatible feature contains both is adjacency, and right for full contexts
only (in a chain A – B – C the ends depend); that W separates A and B in the graph instantiated by
x_U alone is enough for independence and not needed, because the edges of a path may need different
values of one variable of W.

**The way.** Separation decides at once for independence, and a path under a favourable x_W at once
for dependence; a search for a path whose features can hold together decides most of the rest; what
is left is NP-complete and goes to a SAT solver, with a time limit if one is wanted. Without a
decision in time the answer is `UNDECIDED`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Literal, overload

import numpy as np

from contextwise.counting.contract import OutOfTime, check
from contextwise.formats import ModelLike, as_structure
from contextwise.independence.paths import (
    Links,
    SearchEnd,
    links_of,
    search_by_labels,
    search_by_solver,
)
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
from contextwise.models.features import WORD, Features
from contextwise.models.structure import Structure

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
    deadline = None if time_limit is None else time.monotonic() + time_limit
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


def _decide(links: Links, asked: Positions, deadline: float | None) -> int | None:
    """An assignment that connects, or None: by the search, and if it gives up, the solver."""
    check(deadline)
    most = LABELS + len(links.links)
    found = search_by_labels(links, asked.first, asked.second, most=most, deadline=deadline)
    if found is SearchEnd.GAVE_UP:
        return search_by_solver(links, asked.first, asked.second, deadline=deadline)
    return found if isinstance(found, int) else None


def _blocking(links: Links, asked: Positions, deadline: float | None) -> list[int]:
    """Given variables such that their literals alone leave no path: one if possible, else few.

    Whenever the time is up, the set is right; it may be larger than it need be.
    """
    fields = dict(zip(links.fields, links.space.variables, strict=True))
    kept = list(fields)
    soon = time.monotonic() + EXPLAINING
    soon = soon if deadline is None else min(soon, deadline)
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
