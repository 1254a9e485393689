"""Read Bayesian networks in the formats of Hugin (``.net``) and GeNIe (``.xdsl``), and in XMLBIF.

Every reader of a network, also that of BIF, collects its variables and tables in a
`ParsedNetwork`. In XML, entities are refused, because a small file can use them to describe a huge
one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

import numpy as np

from contextwise.errors import ParseError, TooLargeError
from contextwise.formats.graphs import MarkedGraph
from contextwise.formats.reading import Source, Token, Tokens, check_states, model_of_network
from contextwise.models.domain import Domain
from contextwise.models.factors import check_scopes
from contextwise.models.structure import Model
from contextwise.support.arrays import FloatArray

Numbers = Sequence[float] | Callable[[list[int]], FloatArray]
"""The numbers of a table, its last variable fastest, or a function that makes it of its shape."""


@dataclass
class ParsedNetwork:
    """The states of each variable, and its family: parents, and a table with the child last."""

    source: Source
    states: dict[str, list[str]] = field(default_factory=dict)
    parents: dict[str, list[str]] = field(default_factory=dict)
    numbers: dict[str, Numbers | None] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def add_variable(self, name: str, states: Iterable[str], line: int) -> None:
        labels = list(states)
        if name in self.states:
            raise self.source.error(f"two variables have the name {name!r}", line)
        if not labels:
            raise self.source.error(f"variable {name!r} has no states", line)
        if len(set(labels)) < len(labels):
            raise self.source.error(f"variable {name!r} has a state twice", line)
        self.states[name] = labels

    def add_family(
        self, child: str, parents: list[str], numbers: Numbers | None, line: int
    ) -> None:
        """Add P(child | parents); pass None for numbers that the file does not have."""
        if child in self.parents:
            raise self.source.error(f"variable {child!r} has two probabilities", line)
        self.parents[child], self.numbers[child], self.lines[child] = parents, numbers, line

    def model(self) -> Model:
        """Check that variables and families fit, and make the model."""
        if not self.states:
            raise self.source.error("the file has no variables")
        check_states(self.source, list(map(len, self.states.values())))
        for child, parents in self.parents.items():
            line = self.lines[child]
            for name in (child, *parents):
                if name not in self.states:
                    raise self.source.error(f"unknown variable {name[:60]!r}", line)
            if len({child, *parents}) <= len(parents):
                raise self.source.error(f"the parents of {child!r} must differ", line)
        for name in self.states:
            if name not in self.parents:
                raise self.source.error(f"variable {name!r} has no probability")
        domain = Domain(self.states)
        positions = [list(map(domain.position, self.parents[name])) for name in domain.names]
        tables = [self._table(domain, name) for name in domain.names]
        lines = [self.lines[name] for name in domain.names]
        return model_of_network(domain, positions, tables, self.source, lines=lines)

    def _table(self, domain: Domain, child: str) -> FloatArray | None:
        numbers = self.numbers[child]
        if numbers is None:
            return None
        scope = [domain.positions[name] for name in (*self.parents[child], child)]
        shape = [domain.cardinalities[v] for v in scope]
        try:
            check_scopes(domain, [scope])
        except TooLargeError as error:
            raise self.source.error(str(error), self.lines[child]) from None
        if callable(numbers):
            return numbers(shape)
        if len(numbers) != prod(shape):
            raise self.source.error(
                f"the probability of {child!r} needs {prod(shape)} numbers, got {len(numbers)}",
                self.lines[child],
            )
        table = np.array(numbers, dtype=np.float64).reshape(shape)
        table[table.sum(axis=-1) == 0] = np.nan  # a row of zeros was never filled in
        return table


def probabilities(source: Source, words: Iterable[str], line: int) -> list[float]:
    """Parse numbers >= 0 or NaN; raise at the line."""
    values = []
    for word in words:
        try:
            value = float(word)
        except ValueError:
            value = -1.0
        if value < 0 or value == np.inf:
            raise source.error(f"expected a probability, got {word[:30]!r}", line)
        values.append(value)
    return values


# -- Hugin -----------------------------------------------------------------------------------------

_SKIP = r"\s | %[^\n]*"
_TOKEN = r"""
    "(?P<quoted>(?:[^"\\]|\\.)*)" | (?P<sign>[{}()|=;,])
  | (?P<interval>[\[\]][^\s\[\];]*;[^\s\[\];]*[\[\]]) | (?P<word>[^\s%"{}()|=;,]+)"""
_KINDS = ("continuous", "decision", "utility", "function", "instance", "discrete")


def read_net(source: Source) -> Model:
    """Read a ``.net`` file of Hugin.

    A table that is a formula (``model_data``) or left out is not known: the arcs are read, the
    weights are not.
    """
    return _Hugin(source).network.model()


class _Hugin(Tokens):
    def __init__(self, source: Source) -> None:
        super().__init__(source, _SKIP, _TOKEN)
        self.network = ParsedNetwork(source)
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


# -- XML -------------------------------------------------------------------------------------------

_OTHER_NODES = {
    "equation": "is continuous (an equation); only discrete variables can be read",
    "decision": "is a decision; only chance nodes can be read",
    "utility": "is a utility; only chance nodes can be read",
    "mau": "is a utility; only chance nodes can be read",
}
_NO_TABLE = ("noisymax", "noisyadder", "demorgan")
"""Nodes of ``.xdsl`` whose few numbers are no table: the arcs are read, the weights are not."""


class _Document:
    """The elements of a file, with their names in lower case, and the line of each."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.lines: dict[Element, int] = {}
        builder = TreeBuilder()
        parser = expat.ParserCreate()

        def start(tag: str, attributes: dict[str, str]) -> None:
            element = builder.start(tag.rpartition(":")[2].lower(), attributes)
            self.lines[element] = parser.CurrentLineNumber

        def refuse(*_: object) -> None:
            raise source.error("the file declares entities, which are not read", line=1)

        parser.StartElementHandler = start
        parser.EndElementHandler = builder.end
        parser.CharacterDataHandler = builder.data
        parser.EntityDeclHandler = refuse
        parser.buffer_text = True
        try:
            parser.Parse(source.data, True)
        except expat.ExpatError as error:
            message = expat.errors.messages[error.code]
            raise source.error(f"this is not valid XML: {message}", error.lineno) from None
        except ParseError:
            raise
        except (LookupError, ValueError) as error:  # an unknown encoding
            raise source.error(f"this is not valid XML: {error}", 1) from None
        self.root = builder.close()

    def line(self, element: Element) -> int:
        return self.lines[element]

    def numbers(self, element: Element) -> list[float]:
        return probabilities(self.source, (element.text or "").split(), self.line(element))


def read_xmlbif(source: Source) -> Model:
    """Read an XMLBIF file (Interchange Format for Bayesian Networks, version 0.3 and before)."""
    document = _Document(source)
    if document.root.tag != "bif":
        raise source.error(f"expected <BIF>, got <{document.root.tag[:30]}>", 1)
    network = ParsedNetwork(source)
    for variable in document.root.iter("variable"):
        name = _text(document, variable, "name")
        line = document.line(variable)
        kind = variable.get("TYPE", variable.get("type", "nature")).lower()
        if kind not in ("nature", "discrete"):
            raise source.error(f"variable {name!r} is of type {kind[:30]!r}, not 'nature'", line)
        states = [text for tag in ("outcome", "value") for text in _texts(variable, tag)]
        network.add_variable(name, states, line)
    for block in (*document.root.iter("definition"), *document.root.iter("probability")):
        child = _text(document, block, "for")
        tables = block.findall("table")
        if len(tables) > 1:
            raise source.error(f"{child!r} needs one <TABLE>", document.line(block))
        numbers = document.numbers(tables[0]) if tables else None
        network.add_family(child, list(_texts(block, "given")), numbers, document.line(block))
    return network.model()


def _texts(element: Element, tag: str) -> Iterator[str]:
    return ((child.text or "").strip() for child in element.findall(tag))


def _text(document: _Document, element: Element, tag: str) -> str:
    """Return the text of the only element with a tag."""
    texts = list(_texts(element, tag))
    if len(texts) != 1 or not texts[0]:
        message = f"expected one <{tag.upper()}> in <{element.tag.upper()}>, got {len(texts)}"
        raise document.source.error(message, document.line(element))
    return texts[0]


def read_graphml(source: Source) -> Model:
    """Read a graph in GraphML, as networkx, igraph and yEd write it."""
    document = _Document(source)
    graph = document.root.find("graph")
    if graph is None:
        raise source.error("expected <graphml> with a <graph>", 1)
    keys = (k for k in document.root.iter("key") if k.get("for") in ("node", "all"))
    named = [k.get("id") for k in keys if k.get("attr.name", "").lower() in ("name", "label")]
    made, names = MarkedGraph(source), dict[str, str]()
    for node in graph.iter("node"):
        texts = [data.text for data in node.findall("data") if data.get("key") in named]
        texts += [label.text for label in node.iter("nodelabel")]  # of yEd
        labels = [text.strip() for text in texts if text and text.strip()]
        name = node.get("id", "")
        names[name] = labels[0] if labels else name
        made.node(names[name], document.line(node))
    if len(set(names.values())) < len(names):
        raise source.error("two nodes have the same name")
    for edge in graph.iter("edge"):
        ends = [names.get(edge.get(end, "")) for end in ("source", "target")]
        if ends[0] is None or ends[1] is None:
            raise source.error("an edge has no source or target", document.line(edge))
        is_arc = edge.get("directed", str(graph.get("edgedefault") == "directed")).lower() == "true"
        made.add(ends[0], "->" if is_arc else "--", ends[1], document.line(edge))
    return made.model(both_is_edge=True)


def read_xdsl(source: Source) -> Model:
    """Read a file of GeNIe and SMILE: tables and deterministic nodes."""
    document = _Document(source)
    nodes = document.root.find("nodes")
    if document.root.tag != "smile" or nodes is None:
        raise source.error("expected <smile> with <nodes>", 1)
    if document.root.find("dynamic") is not None:
        raise source.error("this is a dynamic network; unroll it in GeNIe first")
    network = ParsedNetwork(source)
    for node in nodes:
        name, line = node.get("id", ""), document.line(node)
        if node.tag in _OTHER_NODES:
            raise source.error(f"variable {name!r} {_OTHER_NODES[node.tag]}", line)
        if node.tag not in ("cpt", "deterministic", *_NO_TABLE):
            raise source.error(f"unknown kind of node <{node.tag[:30]}>", line)
        states = [state.get("id", "") for state in node.findall("state")]
        network.add_variable(name, states, line)
    for node in nodes:
        name, line = node.get("id", ""), document.line(node)
        parents = (node.findtext("parents") or "").split()
        numbers: list[float] | None = None
        table = node.find("probabilities")
        if node.tag == "cpt":
            if table is None:
                raise source.error(f"variable {name!r} has no <probabilities>", line)
            numbers = document.numbers(table)
        elif node.tag == "deterministic":
            results = (node.findtext("resultingstates") or "").split()
            states = network.states[name]
            for result in results:
                if result not in states:
                    raise source.error(f"{name!r} has no state {result[:30]!r}", line)
            numbers = [float(result == state) for result in results for state in states]
        network.add_family(name, parents, numbers, line)
    return network.model()
