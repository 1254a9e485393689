"""Decide independence queries, ``A ⫫ B | C, D=yes``, exactly, and say why.

After assigning the context, variables are **given** without a value, or **free**. Two free
variables depend if some assignment of the given variables leaves a path of features between them;
`contextwise.independence.separation` searches for it.

If the model is a Bayesian network with its directions, an independence that d-separation,
CSI-separation or the features show is an independence, and the answer names the rule. If none shows
it, the variables are dependent for almost all tables of this graph, unless the query has a context
or the tables have equal rows: then it is not shown.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from contextwise.errors import DomainError, OpenResult, ParseError
from contextwise.formats import ModelLike, as_structure
from contextwise.independence.separation import (
    Links,
    Mask,
    ancestors,
    has_whole_tables,
    have_equal_rows,
    links_of,
    minimal_d_separator,
    minimal_separator,
    network,
    open_trail,
    parents_that_matter,
    search,
)
from contextwise.models.directions import Directions
from contextwise.models.domain import listed
from contextwise.models.evidence import ClaimEvidence
from contextwise.models.features import WORD, Features
from contextwise.models.notation import quoted, tokens
from contextwise.models.structure import Structure
from contextwise.support.effort import Deadline

D_SEPARATION, CSI, PAIR = "d-separation", "CSI-separation", "the numbers of the pair"
DIRECTED = (
    "the model was a partly directed graph, and features cannot express independencies that hold "
    "only while a common child is unobserved; so they may be independent in the graph"
)
_INDEPENDENT = re.compile(r'("(?:[^"\\]|\\.)*")|(⫫|_\|\|_)')
_PAPER = re.compile(r"\s*I\s*\((.*)\)\s*", re.DOTALL)
_HOW = 'write a query like: A _||_ B | C, D=yes (special names in "quotes")'


# -- statements ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Statement:
    """Two sets of variables are independent, given variables with any value and a context."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    given: tuple[str, ...] = ()
    context: Mapping[str, str] = field(default_factory=dict)
    as_in_paper: bool = field(default=False, compare=False, repr=False)  #: as I(A, B | C, D=yes)

    def __str__(self) -> str:
        condition = [quoted(name) for name in self.given]
        condition += [f"{quoted(name)}={quoted(state)}" for name, state in self.context.items()]
        sides = " ⫫ ".join(", ".join(map(quoted, side)) for side in (self.first, self.second))
        return f"{sides} | {', '.join(condition)}" if condition else sides


def parse_statement(text: str) -> Statement:
    """Parse a query.

    Each side of ``⫫`` (or ``_||_``) has variables, separated by commas. In the condition after the
    bar, a name means a variable with any value, and ``D=yes`` a context. Names and states with
    special characters are put in double quotes. The notation of the paper asks about two variables:
    ``I(A, B | C, D=yes)``.

    >>> str(parse_statement("I(X1, X2 | X0=1)"))
    'X1 ⫫ X2 | X0=1'
    >>> parse_statement('A, "B=C" _||_ D | E, F=very old')
    Statement(first=('A', 'B=C'), second=('D',), given=('E',), context={'F': 'very old'})
    """
    if found := _PAPER.fullmatch(text):
        sides, *condition = _split(tokens(found[1]), text)
        names = _side(sides, text)
        if len(names) != 2:
            raise ParseError(f"the query {text!r} needs two variables: I(A, B | C, D=yes)")
        return Statement(names[:1], names[1:], *_condition(condition, text), as_in_paper=True)
    signs = [match for match in _INDEPENDENT.finditer(text) if match[2]]
    if len(signs) != 1:
        raise ParseError(f"the query {text!r} needs one ⫫ or _||_; {_HOW}")
    left, right = text[: signs[0].start()], text[signs[0].end() :]
    sides, *condition = _split(tokens(right), text)
    first, second = _side(tokens(left), text), _side(sides, text)
    return Statement(first, second, *_condition(condition, text))


Token = tuple[str, str]


def _split(parts: list[Token], text: str) -> list[list[Token]]:
    """Split tokens at the bar; without a bar, return all of them."""
    bars = [at for at, (kind, _) in enumerate(parts) if kind == "|"]
    if len(bars) > 1:
        raise ParseError(f"the query {text!r} has a second bar; {_HOW}")
    return [parts[: bars[0]], parts[bars[0] + 1 :]] if bars else [parts]


def _condition(found: list[list[Token]], text: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the given variables and the context."""
    given: list[str] = []
    context: dict[str, str] = {}
    for parts in found:
        for item in _items(parts, text):
            if len(item) == 1:
                given.append(item[0])
            elif context.setdefault(*item) != item[1]:
                raise DomainError(f"the context gives two states to {item[0]!r}")
    return tuple(given), context


def _items(parts: list[Token], text: str) -> Iterable[tuple[str] | tuple[str, str]]:
    """Yield names, and names with a state, separated by commas."""
    while True:
        kinds = [kind for kind, _ in parts[:3]]
        if kinds == ["name", "=", "name"]:
            yield parts[0][1], parts[2][1]
            parts = parts[3:]
        elif kinds[:1] == ["name"]:
            yield (parts[0][1],)
            parts = parts[1:]
        else:
            actual = repr(parts[0][1]) if parts else "the end"
            raise ParseError(f"expected a name but found {actual} in the query {text!r}; {_HOW}")
        if not parts:
            return
        if parts[0][0] not in (",", "&"):
            raise ParseError(
                f"expected a comma but found {parts[0][1]!r} in the query {text!r}; {_HOW}"
            )
        parts = parts[1:]


def _side(parts: list[Token], text: str) -> tuple[str, ...]:
    items = list(_items(parts, text))
    for item in items:
        if len(item) == 2:
            raise ParseError(
                f"{item[0]!r} has a state left of the bar in the query {text!r}; {_HOW}"
            )
    return tuple(item[0] for item in items)


# -- answers ---------------------------------------------------------------------------------------


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
    by_equation_5: bool | None = None  #: if asked as I(A, B), whether Eq. 5 says independent

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

    @property
    def equation_5(self) -> str:
        """The difference to the paper's Eq. 5, read literally; empty if the answers agree."""
        if self.by_equation_5 in (None, self.independent):
            return ""
        some, word = ("no", "independent") if self.by_equation_5 else ("a", "dependent")
        return f"Eq. 5 of the paper read literally: {word}, as {some} feature there has both"

    def __str__(self) -> str:
        return "; ".join(filter(None, [f"{self.word}: {self.reason}", self.equation_5]))


# -- queries ---------------------------------------------------------------------------------------

EXPLAINING = 5.0
"""Most seconds for a shorter reason once the answer is known."""


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

    In the notation of the paper, the answer adds where its Eq. 5 differs from its Theorem 3, which
    also follows paths:

    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "B=1 & C=1"])
    >>> print(query(model, "I(A, C)"))
    dependent: they are connected by A – B – C; Eq. 5 of the paper read literally: independent, as
    no feature there has both

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
    answer = _Query.of(structure, statement, time_limit).answer()
    if statement.as_in_paper:
        inside = structure.restrict(statement.context).pairs()
        pair = (*statement.first, *statement.second)
        answer = replace(answer, by_equation_5=pair not in inside and pair[::-1] not in inside)
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
    """A statement taken as a question to a structure, by positions."""

    structure: Structure
    statement: Statement
    first: frozenset[int]
    second: frozenset[int]
    given: frozenset[int]
    context: Mapping[int, int]
    deadline: Deadline

    @classmethod
    def of(cls, structure: Structure, statement: Statement, time_limit: float | None) -> _Query:
        """Translate a statement to positions; raise `DomainError` if it does not fit the domain."""
        domain = structure.domain
        first, second, given = (
            frozenset(map(domain.position, names))
            for names in (statement.first, statement.second, statement.given)
        )
        context = domain.assignment(statement.context)
        if not first or not second:
            raise DomainError("a query needs at least one variable on either side")
        both = first | second
        for what, overlap in (
            ("is on both sides of the query", first & second),
            ("is on a side of the query and given; leave one out", both & given),
            ("is on a side of the query and in the context; leave one out", both & context.keys()),
            ("is given and also in the context; leave one out", given & context.keys()),
        ):
            if overlap:
                raise DomainError(f"variable {domain.names[min(overlap)]!r} {what}")
        limit = Deadline.after(time_limit)
        return cls(structure, statement, first, second, given, context, limit)

    def answer(self) -> Answer:
        if self.structure.directions is not None:
            return self._by_network(self.structure.directions)
        return self._by_features() if self.structure.separation_holds else self._by_pair()

    def _by_network(self, directions: Directions) -> Answer:
        """Try the rules of a network in turn; the first that shows an independence decides."""
        known = self.given | self.context.keys()
        relevant = ancestors(directions.parents, self.first | self.second | known)
        rules = {
            D_SEPARATION: directions.with_hidden,
            CSI: parents_that_matter(directions, self.context, relevant),
        }
        for rule, parents in rules.items():
            trail = open_trail(parents, self.first, self.second, known)
            if trail is None:
                separator = minimal_d_separator(parents, self.first, self.second, known)
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
        names = self.structure.domain.names
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
                (names[collider], names[collider if collider in known else min(below)])
                for collider, below in opened.items()
            ),
            in_general=not self.context and not have_equal_rows(directions, relevant),
            rule=D_SEPARATION,
        )

    def _by_pair(self) -> Answer:
        """Answer from claims that hold only for a pair given all other variables."""
        weak = self.structure.weaker_than
        known = len(self.given) + len(self.context)
        if len(self.first) == len(self.second) == 1 and known == len(self.structure.domain) - 2:
            answer = self._by_features()
            if answer.independent is None or (answer and weak is None):
                return replace(answer, rule=PAIR)
            return Answer(self.statement, False, rule=PAIR, weaker_than=weak if answer else None)
        return Answer(self.statement, False, rule=PAIR)

    def _by_features(self) -> Answer:
        graph = network(self.structure.features, _box(self.context))
        first, second, given = map(graph.mask, (self.first, self.second, self.given))
        within = graph.component(first, given)
        if not (within & second).any():
            separator = minimal_separator(graph, first, second, given)
            names = None if separator is None else self._names(np.flatnonzero(separator))
            return Answer(self.statement, True, separator=names)
        features = self.structure.features.take(graph.linking(within))
        favoured = _favoured(features, given)
        dependent = self._connected(favoured)
        if dependent is not None:
            return dependent
        try:
            links = links_of(features, within, given)
            values = search(links, self.first, self.second, self.deadline)
            if values is None:
                blocking = self._blocking(links)
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
        graph = network(features, _box({**self.context, **assignment}))
        first, second, given = map(graph.mask, (self.first, self.second, self.given))
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
            directed=self.structure.origin.directed,
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
            return search(alone, self.first, self.second, soon) is None

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
        names = self.structure.domain.names
        return tuple(names[v] if v < len(names) else "a hidden cause" for v in variables)


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
