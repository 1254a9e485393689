"""Graphs as files: DOT for Graphviz, GraphML for other tools, node-link JSON for the web."""

from __future__ import annotations

import io
import json
import os
import re
from typing import TYPE_CHECKING

from contextwise.errors import ContextwiseError, require
from contextwise.execution.files import write_bytes

if TYPE_CHECKING:
    import networkx

FORMATS = ("dot", "graphml", "json")
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_graph(
    graph: networkx.Graph[str], path: str | os.PathLike[str], *, format: str | None = None
) -> None:
    """Write a graph to a file, in the format that its suffix says or the one that is given."""
    write_bytes(path, encode_graph(graph, format or _format_of(path)))


def encode_graph(graph: networkx.Graph[str], format: str) -> bytes:
    """A graph in one of the `FORMATS`.

    >>> from contextwise.independence import graph
    >>> from contextwise.models.structure import Structure
    >>> print(encode_graph(graph(Structure({"A": 2, "B": 2}, ["A=1 & B=1"])), "dot").decode())
    graph {
      "A";
      "B";
      "A" -- "B";
    }
    """
    if format == "dot":
        return _dot(graph).encode()
    if format == "graphml":
        return _graphml(graph)
    if format == "json":
        data = require("networkx", "graphs").node_link_data(graph, edges="edges")
        return (json.dumps(data, indent=1) + "\n").encode()
    raise ContextwiseError(f"unknown format {format!r} of a graph; choose {_choice()}")


def _format_of(path: str | os.PathLike[str]) -> str:
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    if suffix[1:] not in FORMATS:
        raise ContextwiseError(
            f"{os.fspath(path)}: the suffix says no format of a graph; choose {_choice()}"
        )
    return suffix[1:]


def _choice() -> str:
    return f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}"


def _dot(graph: networkx.Graph[str]) -> str:
    nodes = [f"  {_dot_name(name)};\n" for name in graph.nodes]
    edges = [f"  {_dot_name(a)} -- {_dot_name(b)};\n" for a, b in graph.edges]
    return f"graph {{\n{''.join(nodes)}{''.join(edges)}}}\n"


def _dot_name(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _graphml(graph: networkx.Graph[str]) -> bytes:
    for name in graph.nodes:
        if _NOT_IN_XML.search(name):
            raise ContextwiseError(
                f"GraphML cannot hold the name {name!r}; rename the variable, or choose dot or json"
            )
    file = io.BytesIO()
    require("networkx", "graphs").write_graphml(graph, file)
    return file.getvalue()
