"""Read the objects of R's files (``.rda``, ``.rds``): networks of bnlearn, matrices of weights.

`r_objects` also serves `contextwise.data`, which reads data frames, tables and matrices of rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from contextwise.errors import ContextwiseError, ParseError, require
from contextwise.formats.graphs import MarkedGraph, is_graph_text, read_graph_text
from contextwise.formats.matrices import model_of_matrix
from contextwise.formats.networks import ParsedNetwork
from contextwise.formats.reading import Source
from contextwise.models.structure import Model
from contextwise.support.files import most_unpacked, too_large, unpacked

STARTS = (b"RDX", b"RDA", b"X\n", b"A\n", b"\x1f\x8b", b"BZh", b"\xfd7zXZ")
"""The first bytes of files of R, packed or not."""


TEXT_BYTES, MOST_TIMES = 400, 4
"""The memory for each text of a file, and for each byte that it may unpack to."""
_TEXT, _TEXT_OF_ASCII = b"\x00\x04\x00\x09", b"\n262153\n"
"""The first bytes of a text in R's formats."""


class RArray(NamedTuple):
    """A matrix, array or table of R.

    ``dims`` has the names of its dimensions, "" without a name, and ``labels`` the names of their
    places, empty without names. ``classes`` has its classes.
    """

    cells: npt.NDArray[Any]
    dims: list[str]
    labels: list[list[str]]
    classes: tuple[str, ...]

    @property
    def is_table(self) -> bool:
        """Whether the cells are counts: a table, or an array with names for its dimensions."""
        named = all(self.dims) and all(self.labels) and self.cells.dtype.kind in "if"
        return "table" in self.classes or (not self.classes and (named or self.cells.ndim > 2))


class RNetwork(NamedTuple):
    """An object of bnlearn: its nodes by their names; the ends of its arcs if it is not fitted."""

    nodes: dict[str, Any]
    arcs: list[str] | None = None


def r_objects(content: bytes, path: str) -> dict[str, Any]:
    """Return the objects of a file of R by their names; that of an ``.rds`` file has none."""
    rdata = require("rdata", "containers")
    made = {
        **rdata.conversion.DEFAULT_CLASS_MAP,
        "table": lambda value, _: value,
        "bn.fit": lambda value, _: RNetwork(dict(value)),
        "bn": lambda value, _: RNetwork(value["nodes"], list(map(str, value["arcs"]))),
        "Date": lambda value, _: np.asarray(value).astype("datetime64[D]"),
        "POSIXct": lambda value, _: np.asarray(value).astype("datetime64[s]"),
        "integer64": lambda value, _: _whole_numbers(value),
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about classes that do not matter here
            plain = unpacked(content, path)
            texts = plain.count(_TEXT) + plain.count(_TEXT_OF_ASCII)
            if TEXT_BYTES * texts > MOST_TIMES * most_unpacked(len(content)):
                raise too_large(path, len(plain))
            parsed = rdata.parser.parse_data(plain)

            def converted(each: Any) -> Any:
                encoding = parsed.extra.encoding or "utf-8"  # older files do not tell
                return rdata.conversion.convert(each, made, default_encoding=encoding)

            top = parsed.object
            parts = dict(_entries(top, converted)) if top.info.type.name == "LIST" else {"": top}
            first, *others = parts.values()
            names = _names(first, converted)
            is_list = first.info.type.name == "VEC" and not first.info.object
            if is_list and names and not others:
                parts = dict(zip(names, first.value, strict=True))
            return {
                name: _array(each, converted) or converted(each) for name, each in parts.items()
            }
    except ContextwiseError:
        raise
    except Exception as error:  # broken files raise errors of many kinds
        raise ParseError(
            f"cannot read this file of R: {str(error)[:100]}; in R, write rows with "
            "write.csv(x, 'rows.csv') and a network of bnlearn with write.bif(fit, 'network.bif')",
            path=path,
        ) from None


def _whole_numbers(value: Any) -> Any:
    """Decode bit64's whole numbers, which R keeps in the bits of floats; the smallest is NA."""
    numbers = np.array(np.ma.getdata(value), dtype=np.float64).view(np.int64)
    return require("pandas", "containers").arrays.IntegerArray(
        numbers, numbers == np.iinfo(np.int64).min
    )


def _entries(pairs: Any, converted: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names and the objects of one of R's pair lists, such as attributes."""
    while pairs is not None and pairs.info.type.name == "LIST":
        yield str(converted(pairs.tag)), pairs.value[0]
        pairs = pairs.value[1]


def _names(each: Any, converted: Any) -> list[str]:
    names = dict(_entries(each.attributes, converted)).get("names")
    return [] if names is None else [str(name) for name in converted(names)]


def _array(each: Any, converted: Any) -> RArray | None:
    """Return an object with dimensions; rdata does not keep those of text, nor empty names."""
    attributes = dict(_entries(each.attributes, converted))
    if "dim" not in attributes or each.info.type.name not in ("LGL", "INT", "REAL", "STR"):
        return None
    shape = [int(size) for size in converted(attributes["dim"])]
    cells: npt.NDArray[Any] = np.ma.MaskedArray(each.value)
    if each.info.type.name == "STR":
        cells = np.array([converted(cell) for cell in each.value], dtype=object)
    dims = [""] * len(shape)
    labels: list[list[str]] = [[] for _ in shape]
    dimnames = attributes.get("dimnames")
    if dimnames is not None:
        dims = _names(dimnames, converted) or dims
        labels = [
            [str(x) for x in ([] if v is None else v)] for v in map(converted, dimnames.value)
        ]
    classes = converted(attributes["class"]) if "class" in attributes else ()
    return RArray(cells.reshape(shape, order="F"), dims, labels, tuple(map(str, classes)))


def read(source: Source) -> Model:
    """Read a network of bnlearn, a graph of dagitty, or a square matrix of weights."""
    objects = r_objects(source.data, source.name)
    networks = {k: v for k, v in objects.items() if isinstance(v, RNetwork)}
    fitted = {k: v for k, v in networks.items() if v.arcs is None}
    matrices = {k: v for k, v in objects.items() if _is_square(v)}
    texts = {k: text for k, v in objects.items() if (text := _graph_text(v))}
    usable: dict[str, Any] = fitted or networks or texts or matrices
    if not usable:
        raise source.error("this file of R has no model; if it has rows, learn a structure")
    if len(usable) > 1:
        raise source.error(
            f"this file of R has several models: {', '.join(usable)}; save one of them with saveRDS"
        )
    (value,) = usable.values()
    if isinstance(value, str):
        return read_graph_text(replace(source, data=value.encode()))
    if isinstance(value, RNetwork):
        return _network(source, value.nodes) if fitted else _graph(source, value)
    return model_of_matrix(source, value.labels[1], value.cells.astype(float))


def is_model(data: bytes) -> bool:
    """Return whether a file of R has a network, a graph or a square matrix."""
    if not data.startswith(STARTS):
        return False
    try:
        objects = r_objects(data, "").values()
    except ContextwiseError:
        return False
    return any(
        isinstance(each, RNetwork) or _is_square(each) or _graph_text(each) for each in objects
    )


def _graph_text(value: Any) -> str:
    """Return the text of a graph, such as an object of dagitty; empty for anything else."""
    texts = [value] if isinstance(value, str) else value
    is_text = isinstance(texts, list | np.ndarray) and len(texts) == 1 and isinstance(texts[0], str)
    return str(texts[0]) if is_text and is_graph_text(texts[0]) else ""


def _is_square(value: Any) -> bool:
    """Check for a square matrix of numbers whose diagonal is 0."""
    if not isinstance(value, RArray) or value.classes or value.cells.dtype.kind not in "biuf":
        return False
    numbers = np.ma.filled(value.cells.astype(float), np.nan)
    is_square = numbers.ndim == 2 and numbers.shape[0] == numbers.shape[1] > 1
    return is_square and bool(np.isfinite(numbers).all() and not np.diag(numbers).any())


def _graph(source: Source, network: RNetwork) -> Model:
    graph, arcs = MarkedGraph(source), network.arcs or []
    for name in network.nodes:
        graph.node(str(name))
    for parent, child in zip(arcs[: len(arcs) // 2], arcs[len(arcs) // 2 :], strict=True):
        graph.add(parent, "->", child)
    return graph.model(both_is_edge=True)


def _network(source: Source, nodes: dict[str, Any]) -> Model:
    network = ParsedNetwork(source)
    for name, node in nodes.items():
        if "prob" not in node:
            message = f"the variable {str(name)!r} is not discrete; discretize it first"
            raise source.error(message)
        table = node["prob"]
        states = table.coords[table.dims[0]].values  # the child is R's first, fastest dimension
        network.add_variable(str(name), map(str, states), 0)
    for name, node in nodes.items():
        parents = [str(parent) for parent in np.atleast_1d(node["parents"])]
        numbers = np.moveaxis(np.asarray(node["prob"], dtype=float), 0, -1)
        network.add_family(str(name), parents, numbers.ravel().tolist(), 0)
    return network.model()
