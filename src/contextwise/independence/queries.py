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
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from contextwise.errors import OpenResult
from contextwise.formats import ModelLike, as_structure
from contextwise.independence.connections import Links, links_of, search
from contextwise.independence.graphs import Mask, minimal_separator, network
from contextwise.independence.separation import (
    ancestors,
    has_whole_tables,
    have_equal_rows,
    minimal_d_separator,
    open_trail,
    parents_that_matter,
)
from contextwise.independence.statements import (
    Positions,
    Statement,
    parse_statement,
    positions,
)
from contextwise.models.directions import Directions
from contextwise.models.domain import State, listed
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


@dataclass(frozen=True)
class Answer:
    """An answer and its reason; ``bool()`` of it is whether the sets are independent.

    The ``bool()`` of an undecided answer raises `OpenResult`.
    """

    statement: Statement  #: the query
    independent: bool | None  #: None if it was not decided in time
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
        if self.independent is None:
            raise OpenResult(
                "the query was not decided in time, so it is neither true nor false; "
                "allow a longer time_limit"
            )
        return self.independent

    @property
    def word(self) -> str:
        """``independent``, ``dependent`` or ``undecided``.

        A network also answers ``dependent in general`` and ``not shown independent``.
        """
        if self.independent is None:
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
        if self.independent is None:
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

EXPLAINING = 5.0
"""Most seconds for a shorter reason once the answer is known."""

Names = str | Iterable[str]


def is_independent(
    model: ModelLike,
    first: Names,
    second: Names,
    *,
    given: Names = (),
    context: Mapping[str, State] | str | None = None,
    time_limit: float | None = None,
) -> bool:
    """Decide whether two variables (or sets) are independent, given variables and a context.

    `query` also returns the reason. A Bayesian network with its directions answers by d-separation,
    CSI-separation and its features. False then means that none of them shows the independence.

    If the model was made from a partly directed graph, "dependent" may be wrong: features cannot
    express independencies that hold only while a common child is unobserved. The function warns
    about that.

    Parameters
    ----------
    model : Structure, LogLinear, path of a file, or name of an example
    first, second : a name or several
    given : names of variables that are known, with any value
    context : the variables that are known with their value, as a partial assignment
    time_limit : seconds; raise if the query is not decided by then

    Returns
    -------
    bool

    Raises
    ------
    DomainError
        If a variable is unknown, or on a side of the query and given.
    OpenResult
        If the time limit passed.

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
    """
    structure = as_structure(model)
    domain = structure.domain
    fixed = {domain.names[v]: domain.states[v][s] for v, s in domain.assignment(context).items()}
    statement = Statement(_names(first), _names(second), _names(given), fixed)
    answer = _Query.of(structure, statement, time_limit, why=False).answer()
    independent = bool(answer)
    if answer.directed and not independent:
        warnings.warn(f"{statement} came out dependent, but {DIRECTED}", stacklevel=2)
    return independent


def query(
    model: ModelLike, statement: Statement | str, *, time_limit: float | None = None
) -> Answer:
    """Answer a query such as ``"A _||_ B | C, D=yes"``, with its reason.

    Parameters
    ----------
    model : Structure, LogLinear, path of a file, or name of an example
    statement : text, or a `Statement`
        Variables after the bar may have any value; those with a state are the context.
    time_limit : seconds until the answer is undecided

    Returns
    -------
    Answer

    Examples
    --------
    >>> model = Structure({"A": 2, "B": 2, "C": 2, "D": 2}, ["A=1 & B=1 & D=1", "B=1 & C=1"])
    >>> print(query(model, "A _||_ B, C | D"))
    dependent: they are connected by A – B when D=1
    >>> print(query(model, "A _||_ C | B"))
    independent: every path goes through B

    No single value of D makes both links of this chain hold:

    >>> model = Structure({"A": 2, "B": 2, "C": 2, "D": 2}, ["A=1 & B=1 & D=1", "B=1 & C=1 & D=0"])
    >>> print(query(model, "A _||_ C | D"))
    independent: every path needs two values of D

    In a network, two causes depend once their effect is known:

    >>> from contextwise.models.directions import bayesian_network
    >>> from contextwise.models.domain import Domain
    >>> model = bayesian_network(Domain({"A": 2, "B": 2, "C": 2}), [(), (), (0, 1)])
    >>> print(query(model, "A _||_ B"))
    independent: by d-separation, no trail is open
    >>> print(query(model, "A _||_ B | C"))
    dependent in general: the trail A → C ← B is open because C is given
    """
    structure = as_structure(model)
    if isinstance(statement, str):
        statement = parse_statement(statement)
    answer = _Query.of(structure, statement, time_limit, why=True).answer()
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


@dataclass(frozen=True)
class _Query:
    """A statement taken as a question to a structure."""

    structure: Structure
    statement: Statement
    sets: Positions
    deadline: Deadline
    why: bool  # whether to find the reason of an independence

    @classmethod
    def of(
        cls, structure: Structure, statement: Statement, time_limit: float | None, *, why: bool
    ) -> _Query:
        sets = positions(structure.domain, statement)
        return cls(structure, statement, sets, Deadline.after(time_limit), why)

    def answer(self) -> Answer:
        if self.structure.directions is not None:
            return self._by_network(self.structure.directions)
        return self._by_features() if self.structure.separation_holds else self._by_pair()

    def _by_network(self, directions: Directions) -> Answer:
        """Try the rules of a network in turn; the first that shows an independence decides."""
        domain, parents, sets = self.structure.domain, directions.parents, self.sets
        known = sets.given | sets.context.keys()
        relevant = ancestors(parents, sets.first | sets.second | known)
        for rule in (D_SEPARATION, CSI):
            if rule == CSI:
                matter = parents_that_matter(directions, sets.context, relevant)
                if tuple(matter) == parents:
                    continue
                parents = tuple(matter)
            trail = open_trail(parents, sets.first, sets.second, known)
            if trail is None:
                separator: list[int] | None = None
                if self.why:
                    separator = minimal_d_separator(parents, sets.first, sets.second, known)
                return Answer(
                    self.statement, True, separator=self._names(separator or ()), rule=rule
                )
        if not self.structure.separation_holds:
            answer = self._by_pair()
            if answer.independent:
                return answer
        elif not has_whole_tables(self.structure.features, directions.scopes()):
            answer = self._by_features()
            if answer.independent is not False:
                return answer
        assert trail is not None
        opened = {
            collider: [v for v in known if collider in ancestors(parents, [v])]
            for collider in trail.colliders()
        }
        return Answer(
            self.statement,
            False,
            path=self._names(trail.variables),
            arrows=tuple("→" if forward else "←" for forward in trail.forward),
            opened=tuple(
                (
                    domain.names[collider],
                    domain.names[collider if collider in known else min(below)],
                )
                for collider, below in opened.items()
            ),
            in_general=not sets.context and not have_equal_rows(directions, relevant),
            rule=D_SEPARATION,
        )

    def _by_pair(self) -> Answer:
        """Answer from claims that hold only for a pair given all other variables."""
        sets, weak = self.sets, self.structure.weaker_than
        known = len(sets.given) + len(sets.context)
        if len(sets.first) == len(sets.second) == 1 and known == len(self.structure.domain) - 2:
            answer = self._by_features()
            if answer.independent is None or (answer and weak is None):
                return replace(answer, rule=PAIR)
            return Answer(self.statement, False, rule=PAIR, weaker_than=weak if answer else None)
        return Answer(self.statement, False, rule=PAIR)

    def _by_features(self) -> Answer:
        graph = network(self.structure.features, _box(self.sets.context))
        first, second, given = map(graph.mask, (self.sets.first, self.sets.second, self.sets.given))
        within = graph.component(first, given)
        if not (within & second).any():
            separator = minimal_separator(graph, first, second, given) if self.why else None
            names = None if separator is None else self._names(np.flatnonzero(separator))
            return Answer(self.statement, True, separator=names)
        features = self.structure.features.take(graph.linking(within))
        favoured = _favoured(features, given)
        dependent = self._connected(favoured)
        if dependent is not None:
            return dependent
        try:
            links = links_of(features, within, given)
            values = search(links, self.sets.first, self.sets.second, self.deadline)
            if values is None:
                blocking = self._blocking(links) if self.why else ()
                return Answer(self.statement, True, blocking=self._names(blocking))
        except self.deadline.out_of_time:
            return Answer(self.statement, None)
        dependent = self._connected(links.decode(values))
        assert dependent is not None
        return dependent

    def _connected(self, assignment: Mapping[int, int]) -> Answer | None:
        """Answer with a path under an assignment of given variables, if there is one.

        The others block no feature. The answer has the part of the assignment that the features of
        the path need.
        """
        domain, features = self.structure.domain, self.structure.features
        graph = network(features, _box({**self.sets.context, **assignment}))
        first, second, given = map(graph.mask, (self.sets.first, self.sets.second, self.sets.given))
        if not (graph.component(first, given) & second).any():
            return None
        path, steps = graph.path(first, second, given)
        tested = set(features.take(np.array(steps)).variables.tolist())
        return Answer(
            self.statement,
            False,
            path=self._names(path),
            features=tuple(map(self.structure.feature_text, steps)),
            assignment=tuple(
                (domain.names[v], domain.states[v][state])
                for v, state in sorted(assignment.items())
                if v in tested
            ),
            directed=bool(self.structure.info.get("directed")),
        )

    def _blocking(self, links: Links) -> list[int]:
        """Find given variables whose literals alone leave no path: one if possible, else few.

        If time runs out, the set is correct but may be larger than necessary.
        """
        fields = dict(zip(links.fields, links.space.variables, strict=True))
        kept = list(fields)
        soon = self.deadline.sooner(EXPLAINING)

        def blocks(chosen: Collection[int]) -> bool:
            alone = links.without(field for field in fields if field not in chosen)
            return search(alone, self.sets.first, self.sets.second, soon) is None

        try:
            for field in fields:
                if blocks([field]):
                    return [fields[field]]
            for field in fields:
                if blocks(fewer := [other for other in kept if other != field]):
                    kept = fewer
        except soon.out_of_time:
            pass
        return [fields[field] for field in kept]

    def _names(self, variables: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.structure.domain.names[v] for v in variables)


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


def _box(assignment: Mapping[int, int]) -> dict[int, int]:
    return {variable: 1 << state for variable, state in assignment.items()}


def _names(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
