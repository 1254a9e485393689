"""Read Bayesian networks in the format of Hugin: ``.net``.

A table that is given by a formula (``model_data``), or left out, is not known: the arcs are read,
the weights are not.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from contextwise.formats.families import Network, probabilities
from contextwise.formats.reading import Source
from contextwise.models.structure import Model

_TOKEN = re.compile(
    r"""(?P<skip>\s+|%[^\n]*)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<sign>[{}()|=;,])
      | (?P<word>[^\s%"{}()|=;,]+)""",
    re.VERBOSE | re.DOTALL,
)
_KINDS = ("continuous", "decision", "utility", "function", "instance", "discrete")


class _Token(NamedTuple):
    text: str
    line: int
    is_string: bool = False


def read(source: Source) -> Model:
    """Read a ``.net`` file."""
    return _Parser(source).network.model("net")


class _Parser:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.network = Network(source)
        self.tokens = self.split()
        self.at = 0
        depth = 0
        while self.at < len(self.tokens) - 1:
            token = self.take()
            if token.text == "class":  # an object: its nodes are inside
                self.take()
                self.expect("{")
                depth += 1
            elif token.text == "}" and depth:
                depth -= 1
            elif token.text == "net":
                self.block()
            elif token.text == "potential":
                self.potential(token.line)
            elif token.text == "node" or token.text in _KINDS:
                self.node(token)
            elif self.tokens[self.at].text == "=":  # a property of an object
                while self.take().text != ";":
                    pass
            else:
                raise self.error(f"expected net, node or potential, got {token.text[:30]!r}", token)

    def split(self) -> list[_Token]:
        text, line, at, tokens = self.source.legacy_text, 1, 0, []
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise self.source.error("a quoted text has no end", line)
            if match.lastgroup == "string":
                tokens.append(_Token(match[0][1:-1], line, True))
            elif match.lastgroup != "skip":
                tokens.append(_Token(match[0], line))
            line += match[0].count("\n")
            at = match.end()
        return [*tokens, _Token("", line)]

    def node(self, token: _Token) -> None:
        if token.text != "node":
            if self.tokens[self.at].text == "node":
                self.take()
            if token.text != "discrete":
                name = self.take().text
                what = "continuous" if token.text == "continuous" else f"a {token.text}"
                raise self.error(
                    f"variable {name[:60]!r} is {what}; only discrete chance nodes can be read",
                    token,
                )
        name = self.take().text
        states = self.block().get("states")
        if states is None:
            raise self.error(f"variable {name[:60]!r} has no states", token)
        labels = [value.text for value in states if value.is_string or value.text not in "()"]
        self.network.add_variable(name, labels, token.line)

    def potential(self, line: int) -> None:
        self.expect("(")
        names: list[str] = []
        children = 1
        while (token := self.take()).text != ")":
            if token.text == "|":
                children = len(names)
            else:
                names.append(token.text)
        if not names or children != 1:
            raise self.source.error("expected a potential of one variable given its parents", line)
        data = self.block().get("data")
        numbers = None
        if data is not None:
            words = (value.text for value in data if value.text not in ("(", ")", ","))
            numbers = probabilities(self.source, words, line)
        self.network.add_family(names[0], names[1:], numbers, line)

    def block(self) -> dict[str, list[_Token]]:
        """Read ``{ key = value; … }``."""
        values: dict[str, list[_Token]] = {}
        self.expect("{")
        while (key := self.take()).text != "}":
            self.expect("=")
            values[key.text] = value = []
            while (token := self.take()).text != ";" or token.is_string:
                value.append(token)
        return values

    def take(self) -> _Token:
        token = self.tokens[self.at]
        if self.at == len(self.tokens) - 1:
            raise self.error("the file ends inside a block", token)
        self.at += 1
        return token

    def expect(self, sign: str) -> None:
        token = self.take()
        if token.text != sign:
            raise self.error(f"expected {sign!r} but found {token.text[:30]!r}", token)

    def error(self, message: str, token: _Token) -> Exception:
        return self.source.error(message, token.line)
