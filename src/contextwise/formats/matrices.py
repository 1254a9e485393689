"""Read square matrices and lists of edges in text: adjacency, endpoints, Ising weights.

The rows and columns of a matrix are the variables; a first row, and a first column, of names is
optional. What the numbers are decides how they are read:

- 0 and 1: ``[i, j] = 1`` is an arc from i to j, in both places an undirected edge;
- -1, 0, 1, 2: the endpoints of causal-learn (``[i, j]`` is the end at i: a tail, none, a head, a
  circle);
- other numbers, symmetric: the weights of an Ising model of variables with the values 0 and 1.

Anything else is rows of data, which are no model.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from contextwise.formats.graphs import MarkedGraph
from contextwise.formats.reading import Source, check_states, model_of
from contextwise.models.domain import Domain
from contextwise.models.features import single_values
from contextwise.models.structure import Model
from contextwise.support.arrays import FloatArray
from contextwise.support.files import without_packing

_DIRECTED = (
    *(("from", "to"), ("source", "target"), ("parent", "child"), ("cause", "effect")),
    *(("start", "end"), ("tail", "head"), ("src", "dst"), ("node from", "node to")),
)
_UNDIRECTED = (("node1", "node2"), ("node 1", "node 2"), ("variable 1", "variable 2"))
_TRUTH = {"TRUE": "1", "FALSE": "0", "True": "1", "False": "0"}
_ARROW = re.compile(r"[<o]?-{1,3}[>o]?")
_TIGHT = re.compile(r"(?<=\w)(<-+>?|-+>)(?=\w)")
_ENDPOINTS = {(-1, 1): "->", (1, -1): "<-", (-1, -1): "--", (1, 1): "<->"}


def read(source: Source) -> Model:
    """Read a list of edges, or a square matrix."""
    table = _cells(source.legacy_text)
    is_list = {len(row) for row in table} == {2} and _edge_columns(table) is None
    if is_list and without_packing(source.name).lower().endswith(".edges"):
        table = [["from", "to"], *table]
    edges = _edges(source, table)
    if edges is not None:
        return edges
    matrix = _matrix(table)
    if matrix is not None:
        return model_of_matrix(source, *matrix)
    raise source.error(
        "these are rows, not a model; learn a structure first: contextwise learn "
        + source.name
        + " (if each row is an edge, put the line from,to above them)" * is_list
    )


def is_graph(data: bytes) -> bool:
    """Return whether a text is a list of edges or a square matrix, and not rows of data."""
    text = data.decode("latin-1")
    head = _cells(text[:10_000].rpartition("\n")[0] or text[:10_000])
    if _edge_columns(head) is not None:
        return True
    lines = data.count(b"\n")
    return bool(head) and lines <= len(head[0]) + 9 and _matrix(_cells(text)) is not None


def _cells(text: str) -> list[list[str]]:
    """Split a text into cells; the first line shows by what they are separated."""
    lines = [line for line in text.split("\n") if line.strip() and line[0] != "#"]
    first = lines[0] if lines else ""
    mark = max("\t;,", key=first.count)
    if mark not in first:
        return [_TIGHT.sub(r" \1 ", line.replace('"', "")).split() for line in lines]
    try:
        rows = list(csv.reader(lines, delimiter=mark, skipinitialspace=True))
    except csv.Error:
        return []
    return [[cell.strip() for cell in row] for row in rows]


# -- lists of edges --------------------------------------------------------------------------------


class _Columns(NamedTuple):
    """The columns of both ends and of the marks, the mark of all edges, and the first row."""

    first: int
    second: int
    marks: int | None
    mark: str
    start: int


def _edge_columns(table: list[list[str]]) -> _Columns | None:
    """Find the columns of a list of edges, by arrows between names or by the header."""
    header = [cell.lower().replace("_", " ") for cell in table[0]] if table else []
    for first in range(len(header) - 2):
        start = int(not _ARROW.fullmatch(header[first + 1]))
        marks = [row[first + 1] if len(row) > first + 2 else "" for row in table[start:]]
        if marks and all(_ARROW.fullmatch(mark) for mark in marks):
            return _Columns(first, first + 2, first + 1, "", start)
    for ends in (*_DIRECTED, *_UNDIRECTED):
        if all(header.count(end) == 1 for end in ends):
            first, second = map(header.index, ends)
            return _Columns(first, second, None, "->" if ends in _DIRECTED else "--", 1)
    return None


def _edges(source: Source, table: list[list[str]]) -> Model | None:
    columns = _edge_columns(table)
    if columns is None:
        return None
    first, second, marks, mark, start = columns
    rows = table[start:]
    for row in rows:
        if len(row) < len(table[0]):
            raise source.error(f"expected an edge, got {' '.join(row)[:40]!r}")
    for k, name in enumerate(table[0] if start else ()):
        cells = [row[k] for row in rows]
        is_index = any(cells == [str(i + s) for i in range(len(cells))] for s in (0, 1))
        if k in (first, second, marks) or is_index:
            continue
        if _is_weight(name, cells):
            if len(set(cells)) > 1:
                source.warn(f"{name!r} is ignored; the edges are read without weights")
            continue
        if len(set(cells)) > 1:
            raise source.error(
                f"this list of edges also has the column {name[:40]!r}; keep the edges that you "
                "want, and the columns of their ends",
                1,
            )
        if cells and cells[0].lower() == "undirected":
            mark = "--"
    graph = MarkedGraph(source)
    for number, row in enumerate(rows, start + 1):
        graph.add(row[first], mark if marks is None else row[marks], row[second], number)
    return graph.model(both_is_edge=True)


def _is_weight(name: str, cells: Sequence[str]) -> bool:
    """Return whether a column has the weights of edges; 0 would be no edge."""
    try:
        return name.lower() in ("weight", "sign") and all(map(float, cells))
    except ValueError:
        return False


# -- matrices --------------------------------------------------------------------------------------


def _matrix(table: list[list[str]]) -> tuple[list[str] | None, FloatArray] | None:
    """Return the names and the numbers of a square matrix, or None for other cells."""
    for names, body in ((table[0], table[1:]), (None, table)) if len(table) > 2 else ():
        size = len(body)
        rows = body
        if all(len(row) == size + 1 for row in body):  # a first column of names or numbers
            rows = [row[1:] for row in body]
            if names is not None and len(names) == size + 1:
                names = names[1:]
            firsts = [row[0] for row in body]
            if names is not None and sorted(firsts) == sorted(names):
                rows = [rows[firsts.index(name)] for name in names]
            elif firsts not in ([str(k + s) for k in range(size)] for s in (0, 1)):
                continue
        if not all(len(row) == size for row in rows):
            continue
        if names is not None and not len(set(names)) == len(names) == size:
            continue
        try:
            values = np.array([[float(_TRUTH.get(cell, cell)) for cell in row] for row in rows])
        except ValueError:
            continue
        # No variable is its own neighbour, so other numbers there are no graph.
        if np.isfinite(values).all() and not np.diag(values).any():
            return names, values
    return None


def model_of_matrix(source: Source, names: Sequence[str] | None, values: FloatArray) -> Model:
    variables = list(names) if names else [f"X{k + 1}" for k in range(len(values))]
    kinds = set(np.unique(values).tolist())
    if kinds <= {0.0, 1.0}:
        graph = MarkedGraph(source)
        for name in variables:
            graph.node(name)
        for i, j in np.argwhere(values).tolist():
            graph.add(variables[i], "->", variables[j])
        return graph.model(both_is_edge=True)
    if kinds <= {-1.0, 0.0, 1.0, 2.0} and len(kinds & {-1.0, 2.0}):
        return _endpoints(source, variables, values)
    if not np.array_equal(values, values.T):
        raise source.error(
            "the matrix is not symmetric and has numbers other than 0 and 1: weights of arcs are "
            "those of continuous variables; write 1 for each arc"
        )
    doubt = "; if they are inclusion probabilities, replace them by 0 and 1 first"
    source.warn(
        "read as the weights of an Ising model (values 0 and 1); the file has no thresholds, so "
        f"they are 0{doubt if 0 <= values.min() <= values.max() <= 1 else ''}"
    )
    check_states(source, [2] * len(variables))
    pairs = np.argwhere(np.triu(values))
    ones = single_values(np.ones(pairs.size, dtype=np.int64), 1)
    domain = Domain(dict.fromkeys(variables, 2))
    lengths, weights = np.full(len(pairs), 2), values[tuple(pairs.T)]
    return model_of(domain, lengths, pairs.ravel(), ones, weights, source)


def _endpoints(source: Source, names: list[str], values: FloatArray) -> Model:
    graph = MarkedGraph(source)
    for name in names:
        graph.node(name)
    for i, j in np.argwhere(np.triu((values != 0) | (values.T != 0))).tolist():
        # [i, j] is the end at i: -1 a tail, 1 a head, 2 a circle
        mark = _ENDPOINTS.get((int(values[i, j]), int(values[j, i])), "o-o")
        graph.add(names[i], mark, names[j])
    return graph.model()
