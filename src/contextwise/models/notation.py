"""Parse and write literals: ``smoker=yes & age!=young``.

A literal is a name, ``=`` or ``!=`` (also ``≠``), and one state or several separated by ``|``.
Literals are joined by ``&`` or a comma, and angle brackets around a feature are allowed. A name or
state that contains one of these signs, or has blanks at its ends, needs double quotes; inside
them, ``\\"`` and ``\\\\`` are a quote and a backslash.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from contextwise.errors import ParseError

_TOKEN = re.compile(
    r"""\s*(?: (?P<quoted>"(?:[^"\\]|\\.)*")
             | (?P<sign>!=|≠|=|&|,|\||<|>)
             | (?P<bare>[^\s"=≠&,|<>!]+(?:\s+[^\s"=≠&,|<>!]+)*) )\s*""",
    re.VERBOSE,
)
_PLAIN = re.compile(r"[^\s\"=≠&,|<>!⫫]+( [^\s\"=≠&,|<>!⫫]+)*")


class Literal(NamedTuple):
    """A variable and the states that a literal names."""

    variable: str
    states: tuple[str, ...]
    negated: bool = False


def quoted(name: str) -> str:
    """Quote a name where it needs quotes: ``very old``, ``"a=b"``."""
    if _PLAIN.fullmatch(name):
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def tokens(text: str) -> list[tuple[str, str]]:
    """Split a text into (kind, text) pairs; kind is ``"name"`` or the sign itself."""
    pairs, at = [], 0
    text = text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ParseError(f"cannot read {text[at : at + 20]!r} in {_short(text)!r}")
        if sign := match["sign"]:
            pairs.append(("!=" if sign == "≠" else sign, sign))
        elif match["quoted"]:
            pairs.append(("name", re.sub(r"\\(.)", r"\1", match["quoted"][1:-1])))
        else:
            pairs.append(("name", match["bare"]))
        at = match.end()
    return pairs


def parse_literals(text: str) -> list[Literal]:
    """Parse a conjunction of literals; the empty text is the empty conjunction.

    >>> parse_literals("smoker=yes & age!=young")
    [Literal(variable='smoker', states=('yes',), negated=False),
     Literal(variable='age', states=('young',), negated=True)]
    >>> parse_literals("<X0=1, age=old|very old>")[1].states
    ('old', 'very old')
    """
    parts = tokens(text)
    if parts and parts[0][0] == "<" and parts[-1][0] == ">":
        parts = parts[1:-1]
    literals: list[Literal] = []
    at = 0

    def take(*kinds: str) -> tuple[str, str]:
        nonlocal at
        if at >= len(parts) or parts[at][0] not in kinds:
            actual = repr(parts[at][1]) if at < len(parts) else "the end"
            wanted = " or ".join("a name" if kind == "name" else repr(kind) for kind in kinds)
            raise ParseError(
                f"expected {wanted} but found {actual} in {_short(text)!r}; "
                "write literals like: smoker=yes & age!=young"
            )
        at += 1
        return parts[at - 1]

    while at < len(parts):
        if literals:
            take("&", ",")
        variable = take("name")[1]
        negated = take("=", "!=")[0] == "!="
        states = [take("name")[1]]
        while at < len(parts) and parts[at][0] == "|":
            at += 1
            states.append(take("name")[1])
        literals.append(Literal(variable, tuple(states), negated))
    return literals


def parse_names(text: str) -> list[str]:
    """Parse names separated by commas; a name with a comma is in quotes."""
    parts = tokens(text)
    kinds = [kind for kind, _ in parts]
    if len(kinds) % 2 == 0 or kinds != (["name", ","] * len(kinds))[: len(kinds)]:
        raise ParseError(
            f"expected names separated by commas, got {_short(text)!r}; "
            "put names with special characters in double quotes"
        )
    return [name for _, name in parts[::2]]


def write_literal(literal: Literal) -> str:
    """Write one literal; the inverse of `parse_literals`."""
    sign = "!=" if literal.negated else "="
    return quoted(literal.variable) + sign + "|".join(map(quoted, literal.states))


def write_literals(literals: Iterable[Literal]) -> str:
    """Write literals; the inverse of `parse_literals`."""
    return " & ".join(map(write_literal, literals))


def in_words(literals: Iterable[Literal]) -> str:
    """Write literals for a sentence: ``C=yes and D≠old``."""
    return " and ".join(
        write_literal(literal).replace("!=", "≠", 1) if literal.negated else write_literal(literal)
        for literal in literals
    )


def where(literals: Iterable[Literal]) -> str:
    """Describe the contexts in which literals hold: ``when C=yes and D≠old``."""
    words = in_words(literals)
    return f"when {words}" if words else "in every context"


def between(pair: Iterable[str]) -> str:
    """Write the variables of a pair as one word: ``smoker–very old``."""
    return "–".join(map(quoted, pair))


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
