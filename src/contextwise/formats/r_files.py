"""Read the objects of R's files (``.rda``, ``.rds``): matrices of weights, and fitted networks.

`r_objects` also serves `contextwise.data`, which reads data frames, tables and matrices of rows.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from contextwise.errors import ContextwiseError, ParseError, require
from contextwise.formats.families import Network
from contextwise.formats.matrices import model_of_matrix
from contextwise.formats.reading import Source
from contextwise.models.structure import Model
from contextwise.support.arrays import FloatArray

STARTS = (b"RDX", b"RDA", b"X\n", b"A\n", b"\x1f\x8b", b"BZh", b"\xfd7zXZ")
"""The first bytes of files of R, packed or not."""


class RTable(NamedTuple):
    """An object of R's class ``table``: counts by the states of its variables."""

    counts: Any


class RNetwork(NamedTuple):
    """An object of bnlearn's class ``bn.fit``: the nodes by their names."""

    nodes: dict[str, Any]


def r_objects(content: bytes, path: str) -> dict[str, Any]:
    """Return the objects of a file of R by their names; that of an ``.rds`` file has none."""
    rdata = require("rdata", "containers")
    made = {
        **rdata.conversion.DEFAULT_CLASS_MAP,
        "table": lambda value, _: RTable(value),
        "bn.fit": lambda value, _: RNetwork(dict(value)),
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about classes that do not matter here
            parsed = rdata.parser.parse_data(content)
            value = rdata.conversion.convert(parsed, made)
    except Exception as error:  # broken files raise errors of many kinds
        raise ParseError(
            f"cannot read this file of R: {str(error)[:100]}; in R, write rows with "
            "write.csv(x, 'rows.csv') and a network of bnlearn with write.bif(fit, 'network.bif')",
            path=path,
        ) from None
    is_list = parsed.object.info.type.name == "LIST" and isinstance(value, dict)
    return {str(key): each for key, each in value.items()} if is_list else {"": value}


def read(source: Source) -> Model:
    """Read a network of bnlearn, or a square matrix of weights."""
    for value in r_objects(source.data, source.name).values():
        if isinstance(value, RNetwork):
            return _network(source, value.nodes)
        matrix = _matrix(value)
        if matrix is not None:
            return model_of_matrix(source, *matrix)
    raise source.error("this file of R has no model; if it has rows, learn a structure")


def is_model(data: bytes) -> bool:
    """Return whether a file of R has a network or a square matrix."""
    if not data.startswith(STARTS):
        return False
    try:
        objects = r_objects(data, "").values()
    except ContextwiseError:
        return False
    return any(isinstance(each, RNetwork) or _matrix(each) is not None for each in objects)


def _matrix(value: Any) -> tuple[list[str], FloatArray] | None:
    """Return the names and the numbers of a square matrix without a diagonal."""
    if len(getattr(value, "shape", ())) != 2 or isinstance(value, RTable):
        return None
    numbers = np.asarray(value)
    is_square = numbers.shape[0] == numbers.shape[1] > 1 and numbers.dtype.kind in "biuf"
    if not is_square or not np.isfinite(numbers).all() or np.diag(numbers).any():
        return None
    return column_names(value), numbers.astype(float)


def column_names(matrix: Any) -> list[str]:
    """Return the names of the columns of a matrix, as R would print them."""
    dims = getattr(matrix, "dims", ())
    if dims and dims[1] in matrix.coords:
        return [str(name) for name in matrix.coords[dims[1]].values]
    if hasattr(matrix, "columns"):
        return [str(name) for name in matrix.columns]
    return [f"V{k + 1}" for k in range(matrix.shape[1])]


def _network(source: Source, nodes: dict[str, Any]) -> Model:
    network = Network(source)
    for name, node in nodes.items():
        if "prob" not in node:
            raise source.error(f"the variable {name!r} is not discrete; discretize it first")
        table = _probabilities(node["prob"])
        states = table.coords[table.dims[0]].values  # the child is R's first, fastest dimension
        network.add_variable(str(name), map(str, states), 0)
    for name, node in nodes.items():
        table = _probabilities(node["prob"])
        parents = [str(parent) for parent in np.atleast_1d(node["parents"])]
        numbers = np.moveaxis(np.asarray(table, dtype=float), 0, -1)
        network.add_family(str(name), parents, numbers.ravel().tolist(), 0)
    return network.model("bnlearn")


def _probabilities(value: Any) -> Any:
    return value.counts if isinstance(value, RTable) else value
