"""Statements of independence, ``A ⫫ B | C, D=yes``: parse them and write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from contextwise.errors import DomainError, ParseError
from contextwise.models.domain import Domain
from contextwise.models.notation import quoted, tokens

_INDEPENDENT = re.compile(r'("(?:[^"\\]|\\.)*")|(⫫|_\|\|_)')
_HOW = 'write a query like: A _||_ B | C, D=yes (special names in "quotes")'


@dataclass(frozen=True)
class Statement:
    """Two sets of variables are independent, given variables with any value and a context."""

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
    """Parse a query.

    Each side of ``⫫`` (or ``_||_``) has variables, separated by commas. In the condition after the
    bar, a name means a variable with any value, and ``D=yes`` a context. Names and states with
    special characters are put in double quotes.

    >>> parse_statement('A, "B=C" _||_ D | E, F=very old')
    Statement(first=('A', 'B=C'), second=('D',), given=('E',), context={'F': 'very old'})
    """
    signs = [match for match in _INDEPENDENT.finditer(text) if match[2]]
    if len(signs) != 1:
        raise ParseError(f"the query {text!r} needs one ⫫ or _||_; {_HOW}")
    first, rest = tokens(text[: signs[0].start()]), tokens(text[signs[0].end() :])
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
    return Statement(_side(first, text), _side(rest[:at], text), tuple(given), context)


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


def _side(parts: list[tuple[str, str]], text: str) -> tuple[str, ...]:
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
    return Positions(first, second, given, context)
