"""Read graphs without tables: model strings, Tetrad, DOT, GML, lists of edges, Boolean networks.

Such a file has no states, so two are assumed, and ``origin.unknown_states`` is true; a comparison
takes the states of the other model. An arc ``A --> B`` makes A a parent of B; the graph of all arcs
must be a DAG. A graph of edges alone is undirected. Arcs and edges together are an equivalence
class of DAGs (a CPDAG), which all make the same claims. An edge with two heads is a hidden common
cause of both; edges with circles are refused, because they leave open what they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from itertools import chain, product
from typing import Any

from contextwise.errors import DomainError, require
from contextwise.formats.reading import (
    Source,
    Token,
    Tokens,
    check_states,
    model_of_factors,
    model_of_network,
)
from contextwise.models.directions import marginal_pairs
from contextwise.models.domain import Domain
from contextwise.models.features import PairIndex
from contextwise.models.origin import Origin
from contextwise.models.structure import Model


@dataclass
class MarkedGraph:
    """Nodes with their numbers, and the marks of each pair, as a reader collects them."""

    source: Source
    nodes: dict[str, int] = field(default_factory=dict)
    marks: dict[PairIndex, set[str]] = field(default_factory=dict)
    """The heads of the edges of each pair (a, b) with a < b: ``>`` at b, ``<`` at a, or none."""
    hidden: set[str] = field(default_factory=set)
    """Unobserved nodes; the model is that of the other nodes."""

    def node(self, name: str, line: int | None = None) -> int:
        if not name:
            raise self.source.error("a node has no name", line)
        return self.nodes.setdefault(name, len(self.nodes))

    def add(self, first: str, mark: str, second: str, line: int | None = None) -> None:
        """Add an edge as Tetrad writes it: ``-->``, ``<--``, ``<->`` or ``---``, or shorter."""
        head = mark.replace("-", "")
        if head not in ("", ">", "<", "<>"):
            raise self.source.error(
                f"the edge {first[:60]} {mark} {second[:60]} has a circle, so it leaves open which "
                "of the two is the cause; orient it, or write it as ---",
                line,
            )
        if first == second:
            raise self.source.error(f"the node {first[:60]!r} has an edge to itself: a cycle", line)
        a, b = self.node(first, line), self.node(second, line)
        if a > b:
            a, b, head = b, a, {">": "<", "<": ">"}.get(head, head)
        self.marks.setdefault((a, b), set()).add(head)

    def model(self, *, both_is_edge: bool = False) -> Model:
        """Make the model; if ``both_is_edge``, arcs in both directions are an undirected edge."""
        source, names = self.source, list(self.nodes)
        if not names:
            raise source.error("the graph has no nodes")
        check_states(source, [2] * len(names))
        domain = Domain(dict.fromkeys(names, 2))
        edges: list[PairIndex] = []
        confounded: list[PairIndex] = []
        parents: list[list[int]] = [[] for _ in names]
        for (a, b), heads in sorted(self.marks.items()):
            if "<>" in heads:
                confounded.append((a, b))
                heads = heads - {"<>"}
            if not heads:
                continue
            if heads == {""} or (both_is_edge and heads == {"<", ">"}):
                edges.append((a, b))
            elif "" in heads:
                message = f"{names[a]!r} and {names[b]!r} have an edge with and without a direction"
                raise source.error(message)
            else:
                for parent, child in [(a, b)] * (">" in heads) + [(b, a)] * ("<" in heads):
                    parents[child].append(parent)
        if confounded:
            pairs = ", ".join(f"{names[a]} <-> {names[b]}" for a, b in confounded[:5])
            more = ", …" if len(confounded) > 5 else ""
            what = "a hidden common cause" if len(confounded) == 1 else "hidden common causes"
            source.warn(f"{pairs}{more}: read as {what}, so the pair may be related")
            if edges:
                raise source.error(
                    "the graph has edges with two heads and edges without; orient the latter"
                )
        about = Origin(unknown_states=True)
        kept = [v for v, name in enumerate(names) if name not in self.hidden]
        if not kept:
            raise source.error("every node of the graph is hidden")
        if edges and not any(parents):
            hidden = set(range(len(names))).difference(kept)
            pairs_left, domain = marginal_pairs(edges, kept), domain.without(hidden)
            return model_of_factors(domain, pairs_left, None, source, about=about)
        return model_of_network(
            domain,
            parents,
            None,
            source,
            undirected=edges,
            confounded=confounded,
            kept=kept,
            about=about,
        )


# -- graphs of other packages ----------------------------------------------------------------------

_ENDS = {"TAIL": "-", "CIRCLE": "o"}


def model_of_graph(graph: Any) -> Model | None:
    """Make the model of a graph of networkx, pgmpy, pyAgrum or causal-learn; None for others."""
    name = f"this {type(graph).__name__}"
    made = MarkedGraph(Source(b"", name))
    inner = getattr(graph, "G", graph)  # causal-learn wraps its graphs
    if hasattr(inner, "get_graph_edges"):
        for node in inner.get_nodes():
            made.node(str(node.get_name()))
        for edge in inner.get_graph_edges():
            left, right = edge.get_endpoint1().name, edge.get_endpoint2().name
            mark = f"{_ENDS.get(left, '<')}-{_ENDS.get(right, '>')}"
            made.add(str(edge.get_node1().get_name()), mark, str(edge.get_node2().get_name()))
        return made.model()
    if is_pyagrum_graph(graph):
        arcs, edges = pyagrum_edges(graph, str)
        for number in sorted(graph.nodes()):
            made.node(pyagrum_name(graph, number) or str(number))
        for mark, pairs in (("->", arcs), ("--", edges)):
            for first, second in pairs:
                made.add(first, mark, second)
        return made.model(both_is_edge=True)
    if hasattr(graph, "columns") and hasattr(graph, "to_numpy"):
        from contextwise.formats.matrices import model_of_matrix  # imports this module

        if [*map(str, graph.columns)] != [*map(str, graph.index)]:
            raise DomainError("an adjacency matrix has the same names as rows and columns")
        return model_of_matrix(made.source, [*map(str, graph.columns)], graph.to_numpy(float))
    if isinstance(graph, list | tuple) or hasattr(graph, "__array__"):
        raise DomainError(
            "edges or a matrix without names leave open what the graph is; pass "
            "networkx.DiGraph(edges), networkx.Graph(edges), or a DataFrame with the names as rows "
            "and columns, where 1 in row i and column j is an arc from i to j"
        )
    if not all(hasattr(graph, part) for part in ("nodes", "edges", "is_directed")):
        return None
    if getattr(graph, "cpds", None):
        raise DomainError(f"{name} has tables; convert it: contextwise.convert.from_pgmpy(network)")
    for node in graph.nodes:
        made.node(str(node))
    made.hidden |= set(map(str, getattr(graph, "latents", None) or ()))  # pgmpy
    for first, second, *_ in graph.edges:
        made.add(str(first), "->" if graph.is_directed() else "--", str(second))
    return made.model(both_is_edge=True)


def is_pyagrum_graph(graph: Any) -> bool:
    """Check for a DAG, PDAG, EssentialGraph or UndiGraph of pyAgrum, which have no tables."""
    parts = ("toDot", "nodes", "sizeArcs" if hasattr(graph, "arcs") else "sizeEdges")
    return all(hasattr(graph, part) for part in parts) and not hasattr(graph, "variable")


def pyagrum_name(graph: Any, number: int) -> str:
    """Return the name of a node of pyAgrum; empty if it has none but its number."""
    try:
        name = str(graph.nameFromId(number))
    except Exception:  # pyAgrum's own, for a graph without names
        return ""
    return "" if name == str(number) else name


def pyagrum_edges(
    graph: Any, unnamed: Callable[[int], str]
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return arcs and undirected edges of a graph of pyAgrum, by name or else as ``unnamed``."""

    def named(pairs: Any) -> list[tuple[str, str]]:
        return [
            (pyagrum_name(graph, a) or unnamed(a), pyagrum_name(graph, b) or unnamed(b))
            for a, b in sorted(pairs)
        ]

    arcs = graph.arcs() if hasattr(graph, "arcs") else ()
    edges = graph.edges() if hasattr(graph, "edges") else ()
    return named(arcs), named(edges)


# -- model strings of bnlearn ----------------------------------------------------------------------

_PRINTED = re.compile(r"\n\s*model:\s*\n(.*?)\n\s*nodes:", re.DOTALL)
"""The part of a network that R prints which has its model string."""
_FAMILY = re.compile(r"\s*\[([^\[\]|]+)(?:\|([^\[\]|]+))?\]\s*")


def read_modelstring(source: Source) -> Model:
    """Read a model string of bnlearn, such as ``[A][B|A:C][C]``."""
    printed = _PRINTED.search(source.legacy_text)
    if printed and "graph]" in printed[1]:
        raise source.error("R prints no arcs of such a graph; write it with write.dot(), as .dot")
    # print() of R puts [1] before a string
    text = (
        printed[1]
        if printed
        else re.sub(r'^\s*(?:\[1\]\s*(?="))?["\']?|["\']?\s*$', "", source.legacy_text)
    )
    graph, at, families = MarkedGraph(source), 0, {}
    while at < len(text):
        match = _FAMILY.match(text, at)
        line = text.count("\n", 0, at) + 1
        if match is None:
            raise source.error(f"expected a family such as [B|A:C], got {text[at:][:30]!r}", line)
        child = match[1].strip()
        if child in families:
            raise source.error(f"the variable {child!r} has two families", line)
        graph.node(child, line)
        families[child] = match[2], line
        at = match.end()
    for child, (parents, line) in families.items():
        for parent in (parents or "").split(":") if parents else ():
            if parent.strip() not in families:
                raise source.error(f"the parent {parent.strip()[:60]!r} has no family", line)
            graph.add(parent.strip(), "->", child, line)
    return graph.model()


# -- the text of Tetrad and causal-learn -----------------------------------------------------------

_EDGE = re.compile(
    r"\s*(?:\d+\.\s+)?(?P<first>\S.*?)\s+(?P<mark>[<o]?-{1,2}[->o]|[<o]-|-)\s+(?P<second>\S+)(?:\s.*)?"
)


def read_tetrad(source: Source) -> Model:
    """Read the text of a graph that Tetrad or causal-learn writes."""
    graph, part = MarkedGraph(source), ""
    for number, line in enumerate(source.legacy_text.split("\n"), 1):
        text = line.strip()
        if text.endswith(":"):
            part = text.lower()
        elif not text:
            continue
        elif part == "graph nodes:":
            for name in re.split("[;,]", text.rstrip(";,")):
                graph.node(name.strip(), number)
        elif part == "graph edges:":
            match = _EDGE.fullmatch(line)
            if match is None:
                raise source.error(f"expected an edge such as A --> B, got {text[:40]!r}", number)
            for name in (match["first"], match["second"]):
                if name not in graph.nodes:
                    raise source.error(f"the node {name[:60]!r} is not in the list", number)
            graph.add(match["first"], match["mark"], match["second"], number)
    return graph.model()


# -- DOT -------------------------------------------------------------------------------------------

_SKIP = r"[\s;] | //[^\n]* | /\*.*?\*/ | ^[ \t]*\#[^\n]*"
_TOKEN = r"""
    "(?P<quoted>(?:[^"\\]|\\.)*)" | (?P<sign><->|<-|->|--|@->|@-@|[{}\[\]=:,])
  | (?P<html><(?:[^<>]|<(?:[^<>]|<[^<>]*>)*+>)*+>) | (?P<word>-?[\w.\x80-\U0010ffff]+)"""
_EDGES = ("->", "--", "<-", "<->", "@->", "@-@")
_CALL = re.compile(
    r"""\b(?:dagitty|dag)\(\s*(?P<quote>["'])(?P<graph>.*?)(?P=quote)\s*\)""", re.DOTALL
)
_HEADS = {"normal": ">", "none": "", "odot": "o", "dot": "o"}


class _Dot(Tokens):
    """Parse DOT, also as dagitty writes it: ``dag { A -> B }``."""

    def __init__(self, source: Source) -> None:
        super().__init__(source, _SKIP, _TOKEN)
        # In DOT a backslash escapes a quote and nothing else.
        self.tokens = [token._replace(text=token.text.replace(r"\"", '"')) for token in self.tokens]
        self.graph = MarkedGraph(source)
        self.labels: dict[str, str] = {}
        self.edges: list[tuple[str, str, str, Token]] = []
        self.latent: list[str] = []
        kind = self.take("word")
        if kind.text.lower() == "strict":
            kind = self.take("word")
        if kind.text.lower() not in ("graph", "digraph", "dag", "pdag", "mag"):
            raise self.error(f"expected graph, digraph or dag, got {kind.text[:30]!r}", kind)
        if self.next.kind == "word":
            self.take()  # a name
        self.block({})
        if self.next.kind != "end":
            raise self.error("expected the end of the file after the graph")
        if not (self.graph.nodes.keys() <= self.labels.keys() and "".join(self.labels).isdigit()):
            self.labels = {}  # only numbers need labels
        if len({self.labels.get(name, name) for name in self.graph.nodes}) < len(self.graph.nodes):
            raise source.error("two nodes have the same label")
        self.graph.nodes = {self.labels.get(n, n): k for n, k in self.graph.nodes.items()}
        self.graph.hidden = {self.labels.get(n, n) for n in self.latent}
        for first, mark, second, token in self.edges:
            ends = (self.labels.get(end, end) for end in (first, second))
            self.graph.add(next(ends), mark, next(ends), self.line(token))

    def block(self, edge: dict[str, str]) -> list[str]:
        """Read ``{ … }``; return the nodes in it."""
        self.take("{")
        inside: dict[str, None] = {}
        edge = dict(edge)
        while self.next.kind != "}":
            word, after = self.next, self.tokens[self.at + 1 : self.at + 2]
            is_word = word.kind == "word" and bool(after)
            if is_word and after[0].kind == "[" and word.text.lower() in ("graph", "node", "edge"):
                self.take()
                attributes = self.attributes()
                if word.text.lower() == "edge":
                    edge |= attributes
            elif is_word and after[0].kind == "=":
                self.at += 2
                self.take("word")
            else:
                inside |= dict.fromkeys(self.statement(edge))
        self.take("}")
        return list(inside)

    def statement(self, edge: dict[str, str]) -> list[str]:
        """Read nodes, or a chain of edges between them."""
        groups, marks = [self.group(edge)], []
        while self.next.kind in _EDGES:
            marks.append(self.take())
            groups.append(self.group(edge))
        attributes = self.attributes()
        if not marks and attributes.get("label"):
            self.labels |= dict.fromkeys(groups[0], attributes["label"])
        if not marks and attributes.keys() & {"latent", "unobserved"}:  # of dagitty
            self.latent += groups[0]
        if attributes.get("style") == "invis":  # it only places the nodes
            marks = []
        for first, token, second in zip(groups, marks, groups[1:], strict=False):
            mark = _mark(token.text, edge | attributes)
            self.edges += [(a, mark, b, token) for a, b in product(first, second)]
        return [name for group in groups for name in group]

    def group(self, edge: dict[str, str]) -> list[str]:
        """Read one end of an edge: a node or a subgraph."""
        if self.next.kind == "word" and self.next.text.lower() == "subgraph":
            self.take()
            if self.next.kind == "word":
                self.take()
        if self.next.kind == "{":
            return self.block(edge)
        token = self.take("word")
        self.graph.node(token.text, self.line(token))
        while self.next.kind == ":":  # a port
            self.take()
            self.take("word")
        return [token.text]

    def attributes(self) -> dict[str, str]:
        values: dict[str, str] = {}
        while self.next.kind == "[":
            self.take()
            while (key := self.take("word", ",", "]")).kind != "]":
                if key.kind == "word":
                    values[key.text.lower()] = ""
                    if self.next.kind == "=":
                        self.take()
                        values[key.text.lower()] = self.take("word").text
        return values


def _mark(mark: str, attributes: dict[str, str]) -> str:
    """Return an edge as Tetrad writes it, with what DOT draws at its ends."""
    if mark not in ("->", "--"):
        return mark.replace("@", "o")
    direction = attributes.get("dir", "none" if mark == "--" else "forward").lower()
    head, tail = (attributes.get(f"arrow{end}", "normal").lower() for end in ("head", "tail"))
    left = _HEADS.get(tail, ">") if direction in ("back", "both") else ""
    right = _HEADS.get(head, ">") if direction in ("forward", "both") else ""
    return f"{left.replace('>', '<')}--{right}"


def read_dot(source: Source) -> Model:
    """Read a graph in DOT, the language of Graphviz, or as dagitty prints it.

    A call of R such as ``dagitty("dag { A -> B }")`` may surround the graph.
    """
    call = _CALL.search(source.legacy_text)
    if call:
        source = replace(source, data=call["graph"].encode())
    try:
        return _Dot(source).graph.model()
    except RecursionError:
        raise source.error("the graph is nested too deeply") from None


_GRAPH_TEXT = re.compile(
    r"\s*(?:strict\s+)?(?:p?dag|mag|(?:di)?graph)\b[^{\[]*[{\[]"  # DOT, dagitty, GML
    r"|\s*(?:\[[^][]+\])+\s*$"  # a model string
    r"|[^{}\[\]/\\]*(?:->|<-)"  # arrows alone
)


def is_graph_text(text: str) -> bool:
    """Check for the text of a graph, and not the path of a file.

    >>> [is_graph_text(text) for text in ("dag { A -> B }", "[A][B|A]", "A -> B", "graph.dot")]
    [True, True, True, False]
    """
    return _GRAPH_TEXT.match(text) is not None


def read_graph_text(source: Source) -> Model:
    """Read the text of a graph as people type it: of dagitty, bnlearn or GML, or arrows alone."""
    text = source.legacy_text.strip()
    if text.startswith("["):
        return read_modelstring(source)
    if re.match(r"graph\s*\[", text):
        return read_gml(source)
    if "{" not in text:
        source = replace(source, data=f"dag {{ {text} }}".encode())
    return read_dot(source)


# -- GML -------------------------------------------------------------------------------------------


def read_gml(source: Source) -> Model:
    """Read a graph in GML, with networkx."""
    networkx = require("networkx", "graphs")
    text = source.legacy_text
    keys = (key for key in ("label", "name") if re.search(rf"node\s*\[[^\[\]]*\b{key}\b", text))
    try:
        parsed = networkx.parse_gml(text, label=next(keys, "id"), destringizer=None)
    except Exception as error:  # networkx raises errors of many kinds
        raise source.error(f"this is not valid GML: {str(error)[:200]}") from None
    graph = MarkedGraph(source)
    for name in parsed.nodes:
        graph.node(str(name))
    mark = "->" if parsed.is_directed() else "--"
    for first, second in parsed.edges():
        graph.add(str(first), mark, str(second))
    return graph.model()


# -- Boolean networks ------------------------------------------------------------------------------


_WORDS = ("0", "1", "true", "false", "and", "or", "not")


def read_bnet(source: Source) -> Model:
    """Read the arcs of a Boolean network in BoolNet's format.

    Rules with feedback are dynamic: they give the next state of each variable. Such a network is
    read as two slices: ``x'`` has the arcs of the rule of ``x``; an input keeps its value.
    """
    rules = _rules(source)
    graph = MarkedGraph(source)
    for name in (*rules, *chain.from_iterable(rule or () for rule in rules.values())):
        graph.node(name)
    names, later = list(graph.nodes), ""
    arcs = {name: rule or [] for name, rule in rules.items()}
    try:
        TopologicalSorter(arcs).prepare()
    except CycleError:
        later = "'"
        for name in names:
            rule = rules.get(name)
            arcs[name] = [name] if rule is None else rule
            if name.endswith(later):
                message = f"the name {name!r} ends like those of the next step"
                raise source.error(message) from None
            graph.node(name + later)
        source.warn(
            "the rules have feedback, so the network is read as two steps: x at the first, where "
            "the variables are independent, and x' at the next"
        )
    for target, inputs in arcs.items():
        for name in inputs:
            graph.add(name, "->", target + later)
    return graph.model()


def _rules(source: Source) -> dict[str, list[str] | None]:
    """Return the names in the rule of each target; None for an input (``A, A``)."""
    rules: dict[str, list[str] | None] = {}
    for number, line in enumerate(source.legacy_text.split("\n"), 1):
        text = line.partition("#")[0].strip()
        if not text or re.fullmatch(r"targets\s*,\s*factors", text, re.IGNORECASE):
            continue
        target, comma, rule = (part.strip() for part in text.partition(","))
        if not comma or not target or target in rules:
            raise source.error(f"expected one rule for each target, got {text[:40]!r}", number)
        names = list(dict.fromkeys(re.findall(r"[^\s!&|()~]+", rule)))
        for name in names:
            if not re.fullmatch(r"[\w.:/-]+", name):
                raise source.error(f"cannot read {name[:40]!r} in the rule of {target!r}", number)
        names = [name for name in names if name.lower() not in _WORDS]
        rules[target] = None if rule == target else names
    return rules
