"""Read Bayesian networks in the format of Hugin: ``.net``.

A table that is given by a formula (``model_data``), or left out, is not known: the arcs are read,
the weights are not.
"""

from __future__ import annotations

from contextwise.formats.families import Network, probabilities
from contextwise.formats.reading import Source
from contextwise.formats.tokens import Token, Tokens
from contextwise.models.structure import Model

_SKIP = r"\s | %[^\n]*"
_TOKEN = r"""
    "(?P<quoted>(?:[^"\\]|\\.)*)" | (?P<sign>[{}()|=;,])
  | (?P<interval>[\[\]][^\s\[\];]*;[^\s\[\];]*[\[\]]) | (?P<word>[^\s%"{}()|=;,]+)"""
_KINDS = ("continuous", "decision", "utility", "function", "instance", "discrete")


def read(source: Source) -> Model:
    """Read a ``.net`` file."""
    return _Parser(source).network.model("net")


class _Parser(Tokens):
    def __init__(self, source: Source) -> None:
        super().__init__(source, _SKIP, _TOKEN)
        self.network = Network(source)
        objects = 0
        while self.next.kind != "end":
            token = self.take("word", "}")
            if token.text == "class":  # an object: its nodes are inside
                self.take("word")
                self.take("{")
                objects += 1
            elif token.kind == "}" and objects:
                objects -= 1
            elif token.text == "net":
                self.block()
            elif token.text == "potential":
                self.potential(self.line(token))
            elif token.text == "node" or token.text in _KINDS:
                self.node(token)
            elif self.next.kind == "=":  # a property of an object
                self.take_until(";")
            else:
                raise self.error(f"expected net, node or potential, got {token.text[:30]!r}", token)

    def node(self, token: Token) -> None:
        if token.text != "node":
            if self.next.text == "node":
                self.take()
            if token.text != "discrete":
                what = "continuous" if token.text == "continuous" else f"a {token.text}"
                name = self.take("word").text[:60]
                message = f"variable {name!r} is {what}; only discrete chance nodes can be read"
                raise self.error(message, token)
        name = self.take("word").text
        states = self.block().get("states")
        if states is None:
            raise self.error(f"variable {name[:60]!r} has no states", token)
        labels = [value.text for value in states if value.kind == "word"]
        self.network.add_variable(name, labels, self.line(token))

    def potential(self, line: int) -> None:
        self.take("(")
        family = self.take_until(")", "word", "|")
        names = [token.text for token in family if token.kind == "word"]
        if [token.kind for token in family[:2]] not in (["word"], ["word", "|"]):
            raise self.source.error("expected a potential of one variable given its parents", line)
        data = self.block().get("data")
        numbers = None
        if data is not None:
            words = (value.text for value in data if value.kind == "word")
            numbers = probabilities(self.source, words, line)
        self.network.add_family(names[0], names[1:], numbers, line)

    def block(self) -> dict[str, list[Token]]:
        """Read ``{ key = value; … }``."""
        values: dict[str, list[Token]] = {}
        self.take("{")
        while (key := self.take("word", "}")).kind != "}":
            self.take("=")
            values[key.text] = self.take_until(";")
        return values
