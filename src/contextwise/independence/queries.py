"""Decide independence queries, ``A ⫫ B | C, D=yes``, exactly, and say why.

After assigning the context, variables are **given** without a value, or **free**. Two free
variables depend if some assignment of the given variables leaves a path of features between them;
`contextwise.independence.connections` searches for it.

If the model is a Bayesian network with its directions, an independence that d-separation,
CSI-separation (`contextwise.independence.separation`) or the features show is an independence, and
the answer names the rule. If none shows it, the variables are dependent for almost all tables of
this graph, unless the query has a context or the tables have equal rows: then it is not shown.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, overload

import numpy as np

from contextwise.errors import OpenResult, TooLargeError
from contextwise.formats import ModelLike, as_structure
from contextwise.independence.connections import (
    Links,
    links_of,
    search_by_labels,
    search_by_solver,
)
from contextwise.independence.graphs import Mask, minimal_separator, network
from contextwise.independence.separation import (
    ancestors,
    has_whole_tables,
    have_equal_rows,
    minimal_d_separator,
    open_trail,
    parents_that_matter,
)
from contextwise.independence.statements import Positions, Statement, positions
from contextwise.models.directions import Directions
from contextwise.models.domain import Domain, State, listed
from contextwise.models.evidence import ClaimEvidence
from contextwise.models.features import WORD, Features
from contextwise.models.notation import quoted
from contextwise.models.structure import Structure
from contextwise.support.effort import Deadline

D_SEPARATION, CSI, PAIR = "d-separation", "CSI-separation", "the numbers of the pair"
DIRECTED = (
    "the model was a partly directed graph, and features cannot express independencies that hold "
    "only while a common child is unobserved; so they may be independent in the graph"
)


class Undecided:
    """The answer to a query that was not decided in time; ``bool()`` of it raises."""

    def __repr__(self) -> str:
        return "UNDECIDED"

    def __bool__(self) -> bool:
        raise OpenResult(
            "the query was not decided in time, so it is neither true nor false; "
            "allow a longer time_limit"
        )


UNDECIDED = Undecided()


@dataclass(frozen=True)
class Answer:
    """An answer and its reason; ``bool()`` of it is whether the sets are independent."""

    statement: Statement  #: the query
    independent: bool | Undecided  #: True, False or `UNDECIDED`
    path: tuple[str, ...] = ()  #: if dependent, variables from one set to the other
    features: tuple[str, ...] = ()  #: if dependent, the feature of each step of the path, as text
    assignment: tuple[tuple[str, str], ...] = ()  #: the values that these steps need
    separator: tuple[str, ...] | None = None  #: if separated, a minimal set of given variables
    blocking: tuple[str, ...] = ()  #: otherwise, every path needs two values of one of these
    directed: bool = False  #: whether the model was made from a partly directed graph
    rule: str = "features"  #: what decided: features, d-separation or CSI-separation
    arrows: tuple[str, ...] = ()  #: the arrow of each step of the path in a network, → or ←
    opened: tuple[tuple[str, str], ...] = ()  #: colliders of the path, and what is given below them
    weaker_than: float | None = None  #: if not 0, what the log odds ratio of the pair is at most
    in_general: bool = False  #: whether almost all tables of this network make them depend
    evidence: tuple[ClaimEvidence, ...] = ()  #: what rows say about the pair in this context

    def __bool__(self) -> bool:
        return bool(self.independent)

    @property
    def word(self) -> str:
        """``independent``, ``dependent`` or ``undecided``.

        A network also answers ``dependent in general`` and ``not shown independent``.
        """
        if isinstance(self.independent, Undecided):
            return "undecided"
        if self.weaker_than is not None:
            return f"weaker than {self.weaker_than:g}"
        if self.independent or not (self.arrows or self.rule == PAIR):
            return "independent" if self.independent else "dependent"
        return "dependent in general" if self.in_general else "not shown independent"

    @property
    def steps(self) -> list[str]:
        """The steps of a path along features, as text."""
        return [
            f"{quoted(start)} – {quoted(end)}: {feature}"
            for (start, end), feature in zip(pairwise(self.path), self.features, strict=False)
        ]

    @property
    def reason(self) -> str:
        """Why, in words."""
        if isinstance(self.independent, Undecided):
            return "the time limit passed before a path or a proof was found"
        if self.arrows:
            return self._trail_reason
        if self.path:
            where = ", ".join(f"{quoted(name)}={quoted(state)}" for name, state in self.assignment)
            way = " – ".join(map(quoted, self.path))
            reason = f"they are connected by {way}" + (f" when {where}" if where else "")
            return f"{reason} (but {DIRECTED})" if self.directed else reason
        if self.rule == PAIR:
            return self._pair_reason
        if self.rule != "features":
            return self._rule_reason
        if self.separator:
            return f"every path goes through {listed(self.separator)}"
        if self.blocking:
            some = "" if len(self.blocking) == 1 else "one of "
            return f"every path needs two values of {some}{listed(self.blocking)}"
        return "no path connects them"

    @property
    def _pair_reason(self) -> str:
        if self.independent:
            return "no log odds ratio of the pair differs from 0, whatever the other variables are"
        if self.weaker_than is not None:
            return (
                f"no log odds ratio of the pair exceeds {self.weaker_than:g}; that is weak, but "
                "not independent"
            )
        return (
            "claims read from numbers with zeros or a tolerance show only that two variables are "
            "independent given all others"
        )

    @property
    def _rule_reason(self) -> str:
        trails = "trail"
        if self.rule == CSI:
            context = self.statement.context.items()
            where = ", ".join(f"{quoted(name)}={quoted(state)}" for name, state in context)
            trails = f"trail of the arcs that matter{f' when {where}' if where else ''}"
        if self.separator:
            return f"by {self.rule}, every {trails} is blocked by {listed(self.separator)}"
        return f"by {self.rule}, no {trails} is open"

    @property
    def _trail_reason(self) -> str:
        steps = zip(self.arrows, self.path[1:], strict=True)
        trail = quoted(self.path[0]) + "".join(f" {arrow} {quoted(name)}" for arrow, name in steps)
        opened = [
            f"{quoted(collider)} is given"
            if collider == below
            else f"{quoted(below)}, a descendant of {quoted(collider)}, is given"
            for collider, below in self.opened
        ]
        return f"the trail {trail} is open" + (f" because {' and '.join(opened)}" if opened else "")

    def __str__(self) -> str:
        return f"{self.word}: {self.reason}"


# -- queries ---------------------------------------------------------------------------------------

LABELS = 1_000
"""Labels, beyond one per link, that the search may grow before the solver takes over."""

EXPLAINING = 5.0
"""Most seconds for a shorter reason once the answer is known."""

Names = str | Iterable[str]


@overload
def is_independent(
    model: ModelLike,
    first: Names,
    second: Names,
    *,
    given: Names = ...,
    context: Mapping[str, State] | str | None = ...,
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
    context: Mapping[str, State] | str | None = ...,
    time_limit: float | None = ...,
    why: Literal[True],
) -> Answer: ...


def is_independent(
    model: ModelLike,
    first: Names,
    second: Names,
    *,
    given: Names = (),
    context: Mapping[str, State] | str | None = None,
    time_limit: float | None = None,
    why: bool = False,
) -> bool | Undecided | Answer:
    """Decide whether two variables (or sets) are independent, given variables and a context.

    A Bayesian network with its directions answers by d-separation, CSI-separation and its features,
    and the answer names the rule. False then means that none of them shows the independence.

    If the model was made from a partly directed graph, "dependent" may be wrong: features cannot
    express independencies that hold only while a common child is unobserved. The function warns
    about that.

    Parameters
    ----------
    model : Structure, LogLinear, path of a file, or name of an example
    first, second : a name or several
    given : names of variables that are known, with any value
    context : the variables that are known with their value, as a partial assignment
    time_limit : seconds until the answer is `UNDECIDED`, which raises `OpenResult` as a bool
    why : whether to return an `Answer` with its reason instead of a bool

    Returns
    -------
    bool, `UNDECIDED` or Answer

    Raises
    ------
    DomainError
        If a variable is unknown, or on a side of the query and given.

    Warns
    -----
    UserWarning
        If the answer is "dependent" and the model was made from a partly directed graph.

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

    In a network, two causes depend once their effect is known:

    >>> from contextwise.models.directions import bayesian_network
    >>> model = bayesian_network(Domain({"A": 2, "B": 2, "C": 2}), [(), (), (0, 1)])
    >>> print(is_independent(model, "A", "B", why=True))
    independent: by d-separation, no trail is open
    >>> print(is_independent(model, "A", "B", given="C", why=True))
    dependent in general: the trail A → C ← B is open because C is given
    """
    structure = as_structure(model)
    domain = structure.domain
    fixed = {domain.names[v]: domain.states[v][s] for v, s in domain.assignment(context).items()}
    statement = Statement(_names(first), _names(second), _names(given), fixed)
    answer = answer_to(structure, statement, time_limit=time_limit, why=why)
    if why:
        return answer
    if answer.directed and answer.independent is False:
        warnings.warn(f"{statement} came out dependent, but {DIRECTED}", stacklevel=2)
    return answer.independent


def answer_to(
    model: ModelLike, statement: Statement, *, time_limit: float | None = None, why: bool = True
) -> Answer:
    """Answer a statement taken as a question, with the reason of an independence if ``why``.

    >>> from contextwise.independence.statements import parse_statement
    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "B=1 & C=1"])
    >>> print(answer_to(model, parse_statement("A _||_ C | B")))
    independent: every path goes through B
    """
    structure = as_structure(model)
    query = positions(structure.domain, statement)
    deadline = Deadline.after(time_limit)
    if structure.directions is not None:
        directions = structure.directions
        answer = _answer_by_network(structure, directions, statement, query, deadline, why)
    elif structure.separation_holds:
        answer = _answer_by_features(structure, statement, query, deadline, why)
    else:
        answer = _answer_by_pair(structure, statement, query, deadline, why)
    evidence = _evidence(structure, statement)
    return replace(answer, evidence=evidence) if evidence else answer


def _evidence(structure: Structure, statement: Statement) -> tuple[ClaimEvidence, ...]:
    """Return what rows say about the claims on a pair that concern the context of a statement."""
    known = structure.evidence
    if known is None or len(statement.first) != 1 or len(statement.second) != 1:
        return ()
    context = statement.context
    return tuple(
        claim
        for claim in known.about(statement.first[0], statement.second[0])
        if all(
            (context[literal.variable] in literal.states) != literal.negated
            for literal in claim.region
            if literal.variable in context
        )
    )


def _answer_by_network(
    structure: Structure,
    directions: Directions,
    statement: Statement,
    query: Positions,
    deadline: Deadline,
    why: bool,
) -> Answer:
    """Try the rules of a network in turn; the first that shows an independence decides."""
    domain, parents = structure.domain, directions.parents
    known = query.given | query.context.keys()
    relevant = ancestors(parents, query.first | query.second | known)
    for rule in (D_SEPARATION, CSI):
        if rule == CSI:
            matter = parents_that_matter(directions, query.context, relevant)
            if tuple(matter) == parents:
                continue
            parents = tuple(matter)
        trail = open_trail(parents, query.first, query.second, known)
        if trail is None:
            separator: list[int] | None = None
            if why:
                separator = minimal_d_separator(parents, query.first, query.second, known)
            names = tuple(domain.names[v] for v in separator or ())
            return Answer(statement, True, separator=names, rule=rule)
    if not structure.separation_holds:
        answer = _answer_by_pair(structure, statement, query, deadline, why)
        if answer.independent is True:
            return answer
    elif not has_whole_tables(structure.features, directions.scopes()):
        answer = _answer_by_features(structure, statement, query, deadline, why)
        if answer.independent is not False:
            return answer
    assert trail is not None
    opened = {
        collider: [v for v in known if collider in ancestors(parents, [v])]
        for collider in trail.colliders()
    }
    return Answer(
        statement,
        False,
        path=tuple(domain.names[v] for v in trail.variables),
        arrows=tuple("→" if forward else "←" for forward in trail.forward),
        opened=tuple(
            (domain.names[collider], domain.names[collider if collider in known else min(below)])
            for collider, below in opened.items()
        ),
        in_general=not query.context and not have_equal_rows(directions, relevant),
        rule=D_SEPARATION,
    )


def _answer_by_pair(
    structure: Structure, statement: Statement, query: Positions, deadline: Deadline, why: bool
) -> Answer:
    """Answer from claims that hold only for a pair given all other variables."""
    known = len(query.given) + len(query.context)
    if len(query.first) == len(query.second) == 1 and known == len(structure.domain) - 2:
        answer = _answer_by_features(structure, statement, query, deadline, why)
        weak = structure.weaker_than
        if isinstance(answer.independent, Undecided) or (answer and weak is None):
            return replace(answer, rule=PAIR)
        return Answer(statement, False, rule=PAIR, weaker_than=weak if answer else None)
    return Answer(statement, False, rule=PAIR)


def _answer_by_features(
    structure: Structure, statement: Statement, query: Positions, deadline: Deadline, why: bool
) -> Answer:
    domain = structure.domain
    graph = network(structure.features, _box(query.context))
    first, second, given = map(graph.mask, (query.first, query.second, query.given))
    within = graph.component(first, given)
    if not (within & second).any():
        separator = minimal_separator(graph, first, second, given) if why else None
        return Answer(statement, True, separator=_names_at(domain, separator))
    features = structure.features.take(graph.linking(within))
    favoured = _favoured(features, given)
    if path := _path(structure, query, favoured):
        return _connected(structure, statement, favoured, *path)
    try:
        links = links_of(features, within, given)
        values = _decide(links, query, deadline)
        if values is None:
            blocking = _blocking(links, query, deadline) if why else ()
            return Answer(statement, True, blocking=tuple(domain.names[v] for v in blocking))
    except deadline.out_of_time:
        return Answer(statement, UNDECIDED)
    assignment = links.decode(values)
    path = _path(structure, query, assignment)
    assert path is not None
    return _connected(structure, statement, assignment, *path)


def _favoured(features: Features, given: Mask) -> dict[int, int]:
    """For each given variable the state that most features allow: a cheap first guess."""
    conditioned = given[features.variables]
    variables, values = features.variables[conditioned], features.values[conditioned]
    votes = np.zeros((len(given), int(features.cardinalities.max())), dtype=np.int64)
    for state in range(votes.shape[1]):
        allows = values[:, state // WORD] >> np.uint64(state % WORD) & np.uint64(1)
        votes[:, state] = np.bincount(variables, weights=allows, minlength=len(given))
    best = votes.argmax(axis=1)
    return {v: int(best[v]) for v in np.unique(variables).tolist()}


def _path(
    structure: Structure, query: Positions, assignment: Mapping[int, int]
) -> tuple[list[int], list[int]] | None:
    """Find a path under an assignment of given variables; the others block no feature."""
    graph = network(structure.features, _box({**query.context, **assignment}))
    first, second, given = map(graph.mask, (query.first, query.second, query.given))
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
    """Make the answer with a path, and the part of the assignment that its features need."""
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
        directed=bool(structure.info.get("directed")),
    )


def _decide(links: Links, query: Positions, deadline: Deadline) -> int | None:
    """Find an assignment that connects, or None: by labels, then by the solver."""
    deadline.check()
    most = LABELS + len(links.links)
    try:
        return search_by_labels(links, query.first, query.second, most=most, deadline=deadline)
    except TooLargeError:
        return search_by_solver(links, query.first, query.second, deadline=deadline)


def _blocking(links: Links, query: Positions, deadline: Deadline) -> list[int]:
    """Find given variables whose literals alone leave no path: one if possible, else few.

    If time runs out, the set is correct but may be larger than necessary.
    """
    fields = dict(zip(links.fields, links.space.variables, strict=True))
    kept = list(fields)
    soon = deadline.sooner(EXPLAINING)
    try:
        for field in fields:
            alone = links.without(other for other in fields if other != field)
            if _decide(alone, query, soon) is None:
                return [fields[field]]
        for field in fields:
            fewer = links.without(other for other in fields if other == field or other not in kept)
            if _decide(fewer, query, soon) is None:
                kept.remove(field)
    except soon.out_of_time:
        pass
    return [fields[field] for field in kept]


def _box(assignment: Mapping[int, int]) -> dict[int, int]:
    return {variable: 1 << state for variable, state in assignment.items()}


def _names_at(domain: Domain, chosen: Mask | None) -> tuple[str, ...] | None:
    return None if chosen is None else tuple(domain.names[v] for v in chosen.nonzero()[0].tolist())


def _names(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
