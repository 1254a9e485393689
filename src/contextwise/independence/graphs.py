"""Make the graph of a structure, over all contexts or in one, and write it to a file.

The graph of a structure has an edge between two variables that depend in some context. The graph
**instantiated** by a context has the edges that remain there, over the variables that the context
does not assign. One graph cannot show context-specific independence: two structures with the same
graph can be far apart.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from contextwise.errors import ContextwiseError, require
from contextwise.formats import ModelLike, as_structure
from contextwise.models.domain import Assignment
from contextwise.models.structure import Structure

if TYPE_CHECKING:
    import networkx

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def graph(model: ModelLike, context: Assignment | None = None) -> networkx.Graph[str]:
    """Build the graph of a structure, or the graph instantiated by a context.

    Two variables are adjacent if they depend in some context, or occur together in a feature
    compatible with this one.

    Parameters
    ----------
    model : Structure, LogLinear, path of a file, or name of an example
    context : partial assignment, such as ``"C=0"``; the graph is over the other variables

    Returns
    -------
    networkx.Graph

    Examples
    --------
    >>> from contextwise import Structure
    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=0", "A=0 & C=1"])
    >>> graph(model).edges, graph(model, "C=1").edges
    (EdgeView([('A', 'B'), ('A', 'C'), ('B', 'C')]), EdgeView([]))
    """
    structure = as_structure(model).restrict({} if context is None else context)
    result: networkx.Graph[str] = require("networkx", "graphs").Graph()
    result.add_nodes_from(structure.domain.names)
    result.add_edges_from(structure.pairs())
    return result


# -- as files --------------------------------------------------------------------------------------


def encode_graph(structure: Structure, format: str) -> bytes:
    """Encode the graph of a structure as "dot" or "graphml"; GraphML needs networkx."""
    if format == "dot":
        nodes = [f"  {_dot_name(name)};\n" for name in structure.domain.names]
        edges = [f"  {_dot_name(a)} -- {_dot_name(b)};\n" for a, b in structure.pairs()]
        return f"graph {{\n{''.join(nodes)}{''.join(edges)}}}\n".encode()
    for name in structure.domain.names:
        if _NOT_IN_XML.search(name):
            raise ContextwiseError(
                f"GraphML cannot hold the name {name!r}; rename the variable, or use dot"
            )
    file = io.BytesIO()
    require("networkx", "graphs").write_graphml(graph(structure), file)
    return file.getvalue()


def _dot_name(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
