"""Read Bayesian networks in XML: XMLBIF (``.bifxml``, ``.xml``) and GeNIe's ``.xdsl``.

Entities are refused, because a small file can use them to describe a huge one.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from contextwise.errors import ParseError
from contextwise.formats.families import Network, probabilities
from contextwise.formats.reading import Source
from contextwise.models.structure import Model

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
    network = Network(source)
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
    return network.model("xmlbif")


def _texts(element: Element, tag: str) -> Iterator[str]:
    return ((child.text or "").strip() for child in element.findall(tag))


def _text(document: _Document, element: Element, tag: str) -> str:
    """Return the text of the only element with a tag."""
    texts = list(_texts(element, tag))
    if len(texts) != 1 or not texts[0]:
        message = f"expected one <{tag.upper()}> in <{element.tag.upper()}>, got {len(texts)}"
        raise document.source.error(message, document.line(element))
    return texts[0]


def read_xdsl(source: Source) -> Model:
    """Read a file of GeNIe and SMILE: tables and deterministic nodes."""
    document = _Document(source)
    nodes = document.root.find("nodes")
    if document.root.tag != "smile" or nodes is None:
        raise source.error("expected <smile> with <nodes>", 1)
    if document.root.find("dynamic") is not None:
        raise source.error("this is a dynamic network; unroll it in GeNIe first")
    network = Network(source)
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
    return network.model("xdsl")
