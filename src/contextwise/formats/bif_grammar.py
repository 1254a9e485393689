"""The grammar of BIF: from a text to variables and distributions, with their lines.

Checks the form; what the numbers and names mean is the business of `contextwise.formats.bif`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from contextwise.errors import ParseError
from contextwise.formats.reading import Source

_TOKEN = re.compile(
    r"""(?P<skip>[\s,|]+|//[^\n]*|/\*.*?\*/)
      | (?P<open>/\*)
      | (?P<quoted>"[^"\n]*")
      | (?P<sign>[{}()\[\];])
      | (?P<word>[^\s,|{}()\[\];"]+)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass
class Distribution:
    """A probability block as it is written."""

    child: str
    parents: list[str]
    line: int
    table: list[float] | None = None
    default: list[float] | None = None
    rows: list[tuple[list[str], int, list[float]]] = field(default_factory=list)


@dataclass(frozen=True)
class Network:
    """All blocks of a file."""

    variables: dict[str, list[str]]
    distributions: list[Distribution]


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


def parse(source: Source) -> Network:
    """Read the blocks of a file."""
    return _Parser(source).network()


class _Parser:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens = self.split()
        self.at = 0
        self.variables: dict[str, list[str]] = {}

    def split(self) -> list[_Token]:
        text, line, at = self.source.text, 1, 0
        found = []
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None or match.lastgroup == "open":
                what = "a quoted name" if match is None else "a comment"
                raise self.source.error(f"{what} has no end", line)
            if match.lastgroup == "quoted":
                found.append(_Token("word", match[0][1:-1], line))
            elif match.lastgroup != "skip":
                kind = "word" if match.lastgroup == "word" else match[0]
                found.append(_Token(kind, match[0], line))
            line += match[0].count("\n")
            at = match.end()
        found.append(_Token("end", "the end of the file", line))
        return found

    def network(self) -> Network:
        distributions = []
        while self.tokens[self.at].kind != "end":
            keyword = self.take("word")
            if keyword.text.lower() == "network":
                self.ignore_block()
            elif keyword.text.lower() == "variable":
                self.variable()
            elif keyword.text.lower() == "probability":
                distributions.append(self.probability())
            else:
                raise self.error(
                    f"expected network, variable or probability, not {keyword.text[:30]!r}", keyword
                )
        if not self.at:
            raise self.error("the file is empty", self.tokens[0])
        return Network(self.variables, distributions)

    # -- blocks ----------------------------------------------------------------------------------

    def ignore_block(self) -> None:
        while self.tokens[self.at].kind != "{":
            self.take("word")
        while self.take_any().kind != "}":
            pass

    def variable(self) -> None:
        name = self.take("word")
        if name.text in self.variables:
            raise self.error(f"two variables have the name {name.text!r}", name)
        states: list[str] | None = None
        self.take("{")
        while (token := self.take("word", "}")).kind != "}":
            if token.text.lower() == "type":
                states = self.states(name)
            elif token.text.lower() == "property":
                self.ignore_property()
            else:
                raise self.error(f"expected type or property, not {token.text[:30]!r}", token)
        if states is None:
            raise self.error(f"variable {name.text!r} has no type", name)
        self.variables[name.text] = states

    def states(self, name: _Token) -> list[str]:
        kind = self.take("word")
        if kind.text.lower() != "discrete":
            raise self.error(f"only discrete variables are known, not {kind.text[:30]!r}", kind)
        self.take("[")
        count = self.take("word")
        self.take("]")
        self.take("{")
        states = [token.text for token in self.words_until("}")]
        self.take(";")
        if count.text != str(len(states)):
            raise self.error(
                f"variable {name.text!r} has {len(states)} states, not {count.text[:30]}", count
            )
        if len(set(states)) < len(states):
            raise self.error(f"variable {name.text!r} has a state twice", count)
        return states

    def probability(self) -> Distribution:
        opening = self.take("(")
        names = self.words_until(")")
        for name in names:
            if name.text not in self.variables:
                raise self.error(f"unknown variable {name.text!r}", name)
        family = [name.text for name in names]
        if not family or len(set(family)) < len(family):
            raise self.error("expected a variable and its parents, each once", opening)
        own = Distribution(family[0], family[1:], opening.line)
        self.take("{")
        while (token := self.take("word", "(", "}")).kind != "}":
            self.entry(own, token)
        return own

    def entry(self, own: Distribution, token: _Token) -> None:
        if token.kind == "(":
            states = [state.text for state in self.words_until(")")]
            own.rows.append((states, token.line, self.numbers()))
        elif token.text.lower() == "table":
            own.table = self.numbers()
        elif token.text.lower() == "default":
            own.default = self.numbers()
        elif token.text.lower() == "property":
            self.ignore_property()
        else:
            raise self.error(f"expected table, default or a row, not {token.text[:30]!r}", token)

    # -- smaller parts ---------------------------------------------------------------------------

    def numbers(self) -> list[float]:
        values = []
        for token in self.words_until(";"):
            try:
                value = float(token.text)
            except ValueError:
                value = -1.0
            if not 0 <= value <= 1:
                raise self.error(f"expected a probability, not {token.text[:30]!r}", token)
            values.append(value)
        return values

    def ignore_property(self) -> None:
        while self.take_any().kind != ";":
            pass

    def words_until(self, end: str) -> list[_Token]:
        words = []
        while (token := self.take("word", end)).kind != end:
            words.append(token)
        return words

    def take_any(self) -> _Token:
        token = self.tokens[self.at]
        if token.kind == "end":
            raise self.error("the file ends inside a block", token)
        self.at += 1
        return token

    def take(self, *kinds: str) -> _Token:
        token = self.tokens[self.at]
        if token.kind not in kinds:
            wanted = " or ".join("a name" if kind == "word" else repr(kind) for kind in kinds)
            found = token.text if token.kind == "end" else repr(token.text[:30])
            raise self.error(f"expected {wanted} but found {found}", token)
        return self.take_any()

    def error(self, message: str, token: _Token) -> ParseError:
        return self.source.error(message, token.line)
