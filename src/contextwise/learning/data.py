"""What learners learn from: rows of codes over a domain, from whatever people have at hand.

Inside, data are always the same: a `Domain`, and an array with the position of each state, one row
per case. Outside they are a pandas DataFrame, an array, a list of rows or of mappings
(`contextwise.models.observed` says which states these show), or the path of a file, ``.gz`` too:
CSV with a header, or Libra's ``.data`` without one, whose cells are codes (a first line of whole
numbers is no header).

With a ``domain`` none of this is guessed: cells are labels of its states, columns are matched by
name where there are names. A learned structure can be compared with a true one only over the same
states, so whoever knows the truth gives its domain. A missing value is an error that says where.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from io import StringIO
from typing import Any, TypeVar

import numpy as np

from contextwise.errors import DomainError, require
from contextwise.execution import files
from contextwise.formats.data import infer_domain, parse_rows
from contextwise.models.domain import Domain, State
from contextwise.models.features import IntArray
from contextwise.models.observed import LARGEST_CODE
from contextwise.models.structure import LogLinear, Structure, structure_of

M = TypeVar("M", Structure, LogLinear)

DomainLike = Domain | Mapping[str, Sequence[State] | int]
DataLike = Any
"""A frame, an array, a list of rows, a path, or `Data`."""


@dataclass(frozen=True, eq=False)
class Data:
    """Rows over a domain, as positions of states.

    Attributes
    ----------
    domain : Domain
    rows : int array of shape (rows, variables)

    Examples
    --------
    >>> data = as_data([[0, 1], [1, 2]])
    >>> data
    Data(2 rows, 2 variables)
    >>> data.domain.cardinalities, data.take([1]).rows.tolist()
    ((2, 3), [[1, 2]])
    """

    domain: Domain
    rows: IntArray

    def __post_init__(self) -> None:
        if self.rows.ndim != 2 or self.rows.shape[1] != len(self.domain):
            raise DomainError(
                f"the rows have shape {self.rows.shape}; expected {len(self.domain)} columns"
            )
        beyond = (self.rows < 0) | (self.rows >= np.array(self.domain.cardinalities))
        for row, variable in np.argwhere(beyond)[:1].tolist():
            raise DomainError(
                f"row {row} of the data: {self.rows[row, variable]} is no position of a state of "
                f"{self.domain.names[variable]!r}"
            )

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Data({len(self)} rows, {len(self.domain)} variables)"

    @cached_property
    def fingerprint(self) -> str:
        """A short text that is the same for the same rows over the same domain."""
        digest = sha256(repr((self.domain.names, self.domain.states)).encode())
        kind = "<u1" if max(self.domain.cardinalities, default=1) <= 256 else "<u4"
        digest.update(self.rows.astype(kind, order="C").tobytes())
        return digest.hexdigest()[:16]

    def take(self, rows: Any) -> Data:
        """Some of the rows, by number or mask, over the same domain."""
        return Data(self.domain, np.ascontiguousarray(self.rows[np.asarray(rows)]))

    def labels(self) -> list[list[str]]:
        """The rows as labels, for people and other packages."""
        states = self.domain.states
        return [[states[v][code] for v, code in enumerate(row)] for row in self.rows.tolist()]

    def frame(self) -> Any:
        """The rows as a pandas DataFrame of categorical columns, every state a category."""
        pandas = require("pandas", "frames")
        columns = zip(self.domain.names, self.domain.states, self.rows.T, strict=True)
        return pandas.DataFrame(
            {
                name: pandas.Categorical.from_codes(codes, categories=list(states))
                for name, states, codes in columns
            }
        )

    def counts(self) -> list[IntArray]:
        """How often each state of each variable occurs."""
        cards = self.domain.cardinalities
        columns = zip(self.rows.T, cards, strict=True)
        return [np.bincount(codes, minlength=c).astype(np.int64) for codes, c in columns]


def as_data(data: DataLike, domain: DomainLike | None = None) -> Data:
    """Rows of codes, from a frame, an array, rows, or the path of a file.

    Parameters
    ----------
    data : frame, array, list of rows, path, or Data
        See the head of this module.
    domain : Domain, or a mapping that makes one, optional
        The variables and their states; without it they are read off the data.

    Returns
    -------
    Data

    Raises
    ------
    DomainError, ParseError
        For a missing value, or a cell that is no state; the message says where.

    Examples
    --------
    >>> as_data([["yes", "old"], ["no", "old"]]).domain
    Domain(v0: no|yes, v1: old)
    >>> as_data([["yes", "old"]], {"smoker": ["no", "yes"], "age": ["young", "old"]}).rows
    array([[1, 1]])
    """
    known = domain if domain is None or isinstance(domain, Domain) else Domain(domain)
    if isinstance(data, Data):
        return data if known is None or known == data.domain else _laid(data, known)
    if isinstance(data, str | os.PathLike):
        return parse_data(files.read_bytes(data), os.fspath(data), known)
    if isinstance(data, Iterator):
        data = list(data)
    if known is None:
        known = Domain.from_data(data)
    return Data(known, known.encode(data))


def read_once(data: DataLike, domain: DomainLike | None) -> tuple[DataLike, Data]:
    """Data as a learner may want them, and as rows of codes; a file is read here and only here.

    Parameters
    ----------
    data : frame, array, list of rows, path, or Data
    domain : Domain, or a mapping that makes one, optional

    Returns
    -------
    given : frame, array, list of rows, or Data
        What was given, or the rows of the file.
    rows : Data
    """
    given = as_data(data, domain) if isinstance(data, str | os.PathLike) else data
    return given, as_data(given, domain)


def take_rows(data: DataLike, rows: IntArray) -> DataLike:
    """Some rows of a frame, an array, a list or `Data`, as the same kind of thing.

    Parameters
    ----------
    data : frame, array, list of rows, or Data
    rows : int array
        The numbers of the rows.

    Examples
    --------
    >>> take_rows([[0, 1], [1, 1], [1, 0]], np.array([2, 0]))
    [[1, 0], [0, 1]]
    """
    if isinstance(data, Data):
        return data.take(rows)
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    return data[rows] if hasattr(data, "shape") else [data[row] for row in rows.tolist()]


def by_position(model: M) -> M:
    """The same model with codes for labels: what predicts rows of codes."""
    plain = Domain.of_cardinalities(model.domain.cardinalities)
    structure = Structure(plain, structure_of(model).features)
    if isinstance(model, LogLinear):
        return LogLinear(structure, model.weights)
    return structure


def _laid(data: Data, domain: Domain) -> Data:
    """The same rows over another domain, matched by names and labels."""
    rows = np.empty((len(data), len(domain)), dtype=np.int64)
    for variable, name in enumerate(domain.names):
        own = data.domain.position(name)
        seen = np.unique(data.rows[:, own])
        places = np.zeros(data.domain.cardinalities[own], dtype=np.int64)
        for code in seen.tolist():
            places[code] = domain.state_position(variable, data.domain.states[own][code])
        rows[:, variable] = places[data.rows[:, own]]
    return Data(domain, rows)


# -- files -----------------------------------------------------------------------------------------


def parse_data(content: bytes, name: str, domain: Domain | None = None) -> Data:
    """The rows of a data file that has been read.

    Parameters
    ----------
    content : bytes
    name : str
        Of the file, for messages.
    domain : Domain, optional
        Without it the variables and states are read off the rows.

    Examples
    --------
    >>> parse_data(b"age,smoker\\nold,yes\\nyoung,no\\n", "people.csv").rows.tolist()
    [[0, 1], [1, 0]]
    """
    codes = _codes(content)
    if codes is not None and domain is None and codes.max(initial=0) <= LARGEST_CODE:
        domain = Domain.of_cardinalities((codes.max(axis=0) + 1).tolist())
    if codes is not None and domain is not None and _are_codes(codes, domain):
        return Data(domain, codes)
    domain = infer_domain(content, name) if domain is None else domain
    return Data(domain, domain.encode(parse_rows(content, name, domain)))


def _codes(content: bytes) -> IntArray | None:
    """The rows of a file of codes, quickly; None if it is anything else, or not well formed."""
    if not content.strip() or content.translate(None, b"0123456789,\r\n"):
        return None
    if re.search(rb"(?:^|[,\r\n])0[0-9]|[0-9]{6}", content):
        return None
    try:
        rows = np.loadtxt(StringIO(content.decode("ascii")), np.int64, delimiter=",", ndmin=2)
    except ValueError:
        return None
    return rows


def _are_codes(rows: IntArray, domain: Domain) -> bool:
    """Whether the labels of the domain are the codes, and the rows keep to them."""
    if rows.shape[1] != len(domain) or (rows.max(axis=0) >= domain.cardinalities).any():
        return False
    return all(own == tuple(map(str, range(len(own)))) for own in set(domain.states))
