"""Independence queries as text, ``A ⫫ B | C, D=yes``, and their answers.

Each side of ``⫫`` (or ``_||_``) has one or more variables, separated by commas. After the bar
follows the condition: a name means a variable with any value, ``D=yes`` a context. Names and states
with special characters are put in double quotes, as in `contextwise.models.literals`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from contextwise.errors import DomainError, OpenResult, ParseError
from contextwise.models.domain import Domain, listed
from contextwise.models.notation import quoted, tokens

_INDEPENDENT = re.compile(r'("(?:[^"\\]|\\.)*")|(⫫|_\|\|_)')
_HOW = 'write a query like: A _||_ B | C, D=yes (special names in "quotes")'
DIRECTED = (
    "the model was a directed network, and features cannot express independencies that hold only "
    "while a common child is unobserved; so they may be independent in the network"
)


@dataclass(frozen=True)
class Statement:
    """Two sets of variables are independent, given variables and a context.

    Attributes
    ----------
    first, second : names on either side
    given : names of variables that are known, with any value
    context : the states of variables that are known with their value

    Examples
    --------
    >>> print(Statement(("A",), ("B",), given=("C",), context={"D": "yes"}))
    A ⫫ B | C, D=yes
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    given: tuple[str, ...] = ()
    context: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        condition = [quoted(name) for name in self.given]
        condition += [f"{quoted(name)}={quoted(state)}" for name, state in self.context.items()]
        sides = " ⫫ ".join(", ".join(map(quoted, side)) for side in (self.first, self.second))
        return f"{sides} | {', '.join(condition)}" if condition else sides


def parse_statement(text: str) -> Statement:
    """Parse a statement.

    Parameters
    ----------
    text : such as ``A, B _||_ C | D, E=yes``

    Returns
    -------
    Statement

    Raises
    ------
    ParseError
        If the text is not a statement; the message shows how to write one.

    Examples
    --------
    >>> parse_statement('A, "B=C" _||_ D | E, F=very old')
    Statement(first=('A', 'B=C'), second=('D',), given=('E',), context={'F': 'very old'})
    """
    sides = _split(text)
    if len(sides) != 2:
        raise ParseError(f"the query {text!r} needs one ⫫ or _||_; {_HOW}")
    first, rest = (tokens(side) for side in sides)
    bars = [at for at, (kind, _) in enumerate(rest) if kind == "|"]
    if len(bars) > 1:
        raise ParseError(f"the query {text!r} has a second bar; {_HOW}")
    at = bars[0] if bars else len(rest)
    given: list[str] = []
    context: dict[str, str] = {}
    for item in _items(rest[at + 1 :], text) if bars else ():
        if len(item) == 1:
            given.append(item[0])
        elif context.setdefault(*item) != item[1]:
            raise DomainError(f"the context gives two states to {item[0]!r}")
    return Statement(_names(first, text), _names(rest[:at], text), tuple(given), context)


def _split(text: str) -> list[str]:
    """Split at every sign of independence outside quotes."""
    parts, begin = [], 0
    for match in _INDEPENDENT.finditer(text):
        if match[2]:
            parts.append(text[begin : match.start()])
            begin = match.end()
    return [*parts, text[begin:]]


def _items(parts: list[tuple[str, str]], text: str) -> Iterable[tuple[str] | tuple[str, str]]:
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


def _names(parts: list[tuple[str, str]], text: str) -> tuple[str, ...]:
    items = list(_items(parts, text))
    for item in items:
        if len(item) == 2:
            raise ParseError(
                f"{item[0]!r} has a state left of the bar in the query {text!r}; {_HOW}"
            )
    return tuple(item[0] for item in items)


@dataclass(frozen=True)
class Positions:
    """A statement over a domain: positions of variables, and of states in the context."""

    first: frozenset[int]
    second: frozenset[int]
    given: frozenset[int]
    context: Mapping[int, int]


def positions(domain: Domain, statement: Statement) -> Positions:
    """Translate a statement to positions; raise `DomainError` if it does not fit the domain."""
    sides = [_set(domain, side) for side in (statement.first, statement.second)]
    given = _set(domain, statement.given)
    context = domain.assignment(statement.context)
    if not all(sides):
        raise DomainError("a query needs at least one variable on either side")
    both = sides[0] | sides[1]
    for what, overlap in (
        ("is on both sides of the query", sides[0] & sides[1]),
        ("is on a side of the query and given; leave one out", both & given),
        ("is on a side of the query and in the context; leave one out", both & context.keys()),
        ("is given and also in the context; leave one out", given & context.keys()),
    ):
        if overlap:
            raise DomainError(f"variable {domain.names[min(overlap)]!r} {what}")
    return Positions(sides[0], sides[1], given, context)


def _set(domain: Domain, names: Iterable[str]) -> frozenset[int]:
    return frozenset(map(domain.position, names))


# -- answers ---------------------------------------------------------------------------------------


class Undecided:
    """The answer to a query that was not decided in time; ``bool()`` of it raises.

    Examples
    --------
    >>> bool(UNDECIDED)
    Traceback (most recent call last):
    contextwise.errors.OpenResult: the query was not decided in time, so it is neither ...
    """

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
    """An answer and its reason; ``bool()`` of it is whether the sets are independent.

    Attributes
    ----------
    statement : the query
    independent : True, False or `UNDECIDED`
    path : if dependent, variables from one set to the other, each linked to the next
    features : if dependent, the feature of each step of the path, as text
    assignment : if dependent, the values of given variables that the steps need
    separator : if independent by separation, a minimal set of given variables that separates
    blocking : if independent otherwise, given variables such that every path needs two values of
        one of them
    directed : whether the model was a directed network, which features express only in part

    Examples
    --------
    >>> answer = Answer(parse_statement("A _||_ C | B"), True, separator=("B",))
    >>> print(answer)
    independent: every path goes through B
    >>> bool(answer), answer.word
    (True, 'independent')
    """

    statement: Statement
    independent: bool | Undecided
    path: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    assignment: tuple[tuple[str, str], ...] = ()
    separator: tuple[str, ...] | None = None
    blocking: tuple[str, ...] = ()
    directed: bool = False

    def __bool__(self) -> bool:
        return bool(self.independent)

    @property
    def word(self) -> str:
        """``independent``, ``dependent`` or ``undecided``."""
        if isinstance(self.independent, Undecided):
            return "undecided"
        return "independent" if self.independent else "dependent"

    @property
    def reason(self) -> str:
        """Why, in words."""
        if isinstance(self.independent, Undecided):
            return "the time limit passed before a path or a proof was found"
        if self.path:
            where = ", ".join(f"{quoted(name)}={quoted(state)}" for name, state in self.assignment)
            way = " – ".join(map(quoted, self.path))
            reason = f"they are connected by {way}" + (f" when {where}" if where else "")
            return f"{reason} (but {DIRECTED})" if self.directed else reason
        if self.separator:
            return f"every path goes through {listed(self.separator)}"
        if self.blocking:
            some = "" if len(self.blocking) == 1 else "one of "
            return f"every path needs two values of {some}{listed(self.blocking)}"
        return "no path connects them"

    def __str__(self) -> str:
        return f"{self.word}: {self.reason}"
