"""Read rows of observed states from files, frames, arrays and lists: `read_data` makes `Data`.

Files are known by their content (`containers`, `text`). `columns` judges each column, and refuses
all that need a decision in one message. The same content in a file and in a frame gives the same
answer.

Without a domain, a named column has the labels that occur in it, sorted; a declared category has
its declared states. Whole numbers in an array without names are codes, so it has the states 0 to
the largest; a note tells how many of them do not occur. A whole float stands for its int, and a
bool for ``True`` or ``False``. Bins include their upper edge.

With a domain, a first line that contains all its names is a header, and other columns are ignored;
otherwise the columns are the variables in order. A number is read as the bin that contains it if
the states are bins, and a missing value as the state ``missing`` if there is one.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import sha256
from pkgutil import get_data
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from contextwise.data.bins import MISSING_STATE, binned, edges_note, upper_edges
from contextwise.data.columns import ColumnSummary, DataSummary, Decisions, UnclearData, judge
from contextwise.data.containers import container_table
from contextwise.data.counted import COUNT_NAMES, check_counts
from contextwise.data.missing import without_missing
from contextwise.data.notation import SIGNS, numbers_of
from contextwise.data.options import (
    BUNDLED,
    RowOptions,
    find_name,
    find_names,
    find_values,
    row_options,
)
from contextwise.data.questions import unclear_decimals, visible
from contextwise.data.table import Column, Note, Sheet, python_table, with_decimals
from contextwise.data.text import text_table
from contextwise.errors import ContextwiseError, DomainError, ParseError, TooLargeError, require
from contextwise.formats import FORMATS
from contextwise.models.domain import Domain, State, listed
from contextwise.models.origin import NOT_RECORDED
from contextwise.models.structure import LogLinear, Structure
from contextwise.support import files
from contextwise.support.arrays import BoolArray, IntArray
from contextwise.support.formatting import plural

M = TypeVar("M", Structure, LogLinear)

DomainLike = Domain | Mapping[str, Sequence[State] | int]
DataLike = Any
"""A frame, an array, a list of rows, a path, the name of a bundled data set, or `Data`."""

MOST_TO_DROP = 5
"""Columns with many missing values that a note names in a line to copy."""
LARGEST_STATE_CODE = 9_999
"""The largest code of a column without a name; larger numbers are measurements."""
MOST_EXPANDED = 50_000_000
"""The most cells into which counted rows are expanded."""


@dataclass(frozen=True, eq=False)
class Data:
    """Rows over a domain, as positions of states.

    ``len`` is the number of observations. Counted rows are kept as they are, with the number of
    observations that each stands for; `expanded` repeats them.

    Attributes
    ----------
    domain : Domain
    rows : int array of shape (rows, variables)
    multiplicity : int array, optional
        How often each row occurs; None if every row is one observation.
    notes : tuple of Note
        Texts about what was decided when the data was read, with their kind, column and option.
    decisions : mapping
        What other rows need to be read in the same way: bins, dropped columns, missing values.
    subjects : int array, optional
        The subject of each row, if subjects have several rows. Tests then compare subjects, and
        rows of one subject are drawn together.
    row_weights : float array, optional
        The survey weight of each row, which tests of pairs use.
    left_out : mapping
        Rows of the source that are not here: ``incomplete``, ``without_outcome`` and
        ``without_weight``.

    Examples
    --------
    >>> data = as_data([[0, 1], [1, 2], [1, 0]])
    >>> data
    Data(3 rows, 2 variables)
    >>> data.domain.cardinalities, data.take([1]).rows.tolist()
    ((2, 3), [[1, 2]])
    """

    domain: Domain
    rows: IntArray
    multiplicity: IntArray | None = None
    notes: tuple[Note, ...] = ()
    decisions: Mapping[str, Any] = field(default_factory=dict)
    subjects: IntArray | None = None
    row_weights: npt.NDArray[np.float64] | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.rows.ndim != 2 or self.rows.shape[1] != len(self.domain):
            raise DomainError(
                f"the rows have shape {self.rows.shape}; expected {len(self.domain)} columns"
            )
        beyond = (self.rows < 0) | (self.rows >= self.domain.cardinalities)
        if beyond.any():
            row, variable = np.argwhere(beyond)[0].tolist()
            raise DomainError(
                f"row {row} of the data: {self.rows[row, variable]} is not the position of a state "
                f"of {self.domain.names[variable]!r}"
            )

    def __len__(self) -> int:
        return len(self.rows) if self.multiplicity is None else int(self.multiplicity.sum())

    def __repr__(self) -> str:
        counted = "" if self.multiplicity is None else f" in {len(self.rows)} counted cells"
        notes = "".join(f"; {note}" for note in self.notes)
        return f"Data({len(self)} rows{counted}, {len(self.domain)} variables{notes})"

    @cached_property
    def weights(self) -> IntArray:
        """How often each row occurs, also if every row occurs once."""
        if self.multiplicity is None:
            return np.ones(len(self.rows), dtype=np.int64)
        return self.multiplicity

    @cached_property
    def expanded(self) -> Data:
        """The same data with one row per observation; raises if there are too many cells."""
        if self.multiplicity is None:
            return self
        if len(self) * max(1, len(self.domain)) > MOST_EXPANDED:
            raise TooLargeError(
                f"{len(self):,} counted rows of {len(self.domain)} variables would have to be "
                f"expanded here, and at most {MOST_EXPANDED:,} cells are possible; choose a "
                "learner that counts, such as pair-blocks"
            )
        repeated = partial(np.repeat, repeats=self.multiplicity, axis=0)
        weights = None if self.row_weights is None else repeated(self.row_weights)
        return replace(self, rows=repeated(self.rows), multiplicity=None, row_weights=weights)

    @property
    def coded(self) -> Data:
        """The same rows with codes for names and labels."""
        return replace(self, domain=Domain.of_cardinalities(self.domain.cardinalities))

    def mean(self, values: npt.NDArray[np.float64]) -> float:
        """Return the mean over the observations of one value per row."""
        if self.multiplicity is None:
            return float(values.mean())
        return float(values @ self.multiplicity) / len(self)

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of the rows and the domain."""
        digest = sha256(repr((self.domain.names, self.domain.states)).encode())
        kind = "<u1" if max(self.domain.cardinalities, default=1) <= 256 else "<u4"
        digest.update(self.rows.astype(kind, order="C").tobytes())
        if self.multiplicity is not None:
            digest.update(self.multiplicity.astype("<i8").tobytes())
        return digest.hexdigest()[:16]

    def take(self, rows: Any) -> Data:
        """Return some of the observations, by number or mask."""
        chosen = np.asarray(rows)
        if self.multiplicity is None:
            subjects = None if self.subjects is None else self.subjects[chosen]
            weights = None if self.row_weights is None else self.row_weights[chosen]
            rows = np.ascontiguousarray(self.rows[chosen])
            return replace(self, rows=rows, subjects=subjects, row_weights=weights)
        chosen = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
        # Observation k is in the first cell whose running count exceeds k.
        cells = np.searchsorted(np.cumsum(self.multiplicity), chosen, side="right")
        counts = np.bincount(cells, minlength=len(self.rows))
        return self.with_counts(counts)

    def with_counts(self, counts: IntArray) -> Data:
        """Return the counted rows with other counts; those with none are left out."""
        kept = np.flatnonzero(counts)
        weights = None if self.row_weights is None else self.row_weights[kept]
        counts = counts[kept].astype(np.int64)
        return replace(self, rows=self.rows[kept], multiplicity=counts, row_weights=weights)

    def labels(self) -> list[list[str]]:
        """Return the observations as labels."""
        states = self.domain.states
        rows = self.expanded.rows.tolist()
        return [[states[v][code] for v, code in enumerate(row)] for row in rows]

    def frame(self) -> Any:
        """Return a pandas DataFrame of categorical columns; every state is a category."""
        pandas = require("pandas", "frames")
        columns = zip(self.domain.names, self.domain.states, self.expanded.rows.T, strict=True)
        return pandas.DataFrame(
            {
                name: pandas.Categorical.from_codes(codes, categories=list(states))
                for name, states, codes in columns
            }
        )

    def counts(self) -> list[IntArray]:
        """Count how often each state of each variable occurs."""
        columns = zip(self.rows.T, self.domain.cardinalities, strict=True)
        return [
            np.bincount(codes, self.multiplicity, minlength=c).astype(np.int64)
            for codes, c in columns
        ]


def read_data(data: DataLike, domain: DomainLike | None = None, **keywords: Any) -> Data:
    """Read rows from a file, a frame, an array, a list or a bundled data set.

    Parameters
    ----------
    data : path, name of a data set, DataFrame, array, list of rows or mappings, or Data
        The data sets are ``berkeley``, ``titanic`` and ``women-math``; write ``./titanic`` for a
        file of that name.
    domain : Domain, or a mapping that makes one, optional
        The variables and their states. Without it they are inferred from the data.
    **keywords : how to read the rows
        The fields of `RowOptions`, such as ``drop="id"`` or ``missing="state"``.

    Returns
    -------
    Data

    Raises
    ------
    UnclearData
        If columns cannot be used as they are. The message has all of them, and the keywords that
        solve them.

    Examples
    --------
    >>> rows = [{"age": 20 + k, "ill": k % 2} for k in range(40)]
    >>> read_data(rows, bins={"age": 2}).domain
    Domain(age: up to 39|above 39, ill: 0|1)
    >>> rows = [{"sex": "f", "ill": "no", "Freq": 3}, {"sex": "m", "ill": "no", "Freq": 2}]
    >>> read_data(rows, counts="Freq")
    Data(5 rows in 2 counted cells, 2 variables; 5 rows counted by 'Freq')
    """
    return as_data(data, domain, row_options(**keywords))


def as_data(
    data: DataLike, domain: DomainLike | None = None, options: RowOptions | None = None
) -> Data:
    """Read rows as `read_data` does, with its keywords as one object.

    >>> as_data([["yes", "old"]], {"smoker": ["no", "yes"], "age": ["young", "old"]}).rows
    array([[1, 1]])
    """
    known = domain if domain is None or isinstance(domain, Domain) else Domain(domain)
    how = (options or RowOptions())._replace(domain=known)
    if isinstance(data, Data):
        return data if known is None or known == data.domain else _aligned(data, known)
    return _read(_source_table(data, how), how)


def as_advised(
    data: DataLike, options: RowOptions | None = None
) -> tuple[Data, RowOptions, DataSummary | None]:
    """Read rows and follow the advice about columns that need a decision.

    Return the rows, the options that were used, and the summary of the columns; the summary of rows
    that are `Data` already is None. What only the user can answer raises `UnclearData`.

    Rows with missing values are dropped: as a state, they would show who has a value. If fewer than
    half of the rows were left, the columns that lack most are left out first.

    >>> rows = [{"age": 20 + k, "ill": k % 2} for k in range(40)]
    >>> as_advised(rows)[1].words()
    ['--bins', 'age=4']
    """
    how = options or RowOptions()
    if isinstance(data, Data):
        return data, how, None
    table = _raw_table(data, how)  # once: a stream ends, and a LazyFrame is computed
    summary = judge(_settled(table, how), how)[0]
    if summary.obstacle or any(map(_needs_an_answer, summary.unclear)):
        raise UnclearData(summary)
    advised = summary.remedy
    if advised.missing == "state":
        advised = advised._replace(missing="drop")
    how = how._replace(
        drop=(*how.drop, *advised.drop, *summary.sparse),
        bins=(*how.bins, *advised.bins),
        category=(*how.category, *advised.category),
        merge=(*how.merge, *advised.merge),
        missing=advised.missing or how.missing,
        counts=advised.counts or how.counts,
        subject=advised.subject or how.subject,
        na=(*how.na, *advised.na),
    )
    found = _read(_settled(table, how), how)
    return _with_note_about(summary.sparse, found), how, summary


def _with_note_about(sparse: Sequence[str], data: Data) -> Data:
    """Say which columns were left out because they lack too much."""
    if not sparse:
        return data
    text = (
        f"without {listed(sparse)}, since with them fewer than half of the rows have all values; "
        "--missing state keeps them"
    )
    return replace(data, notes=(*data.notes, Note(text, "dropped", sparse[0], "--missing state")))


def _needs_an_answer(column: ColumnSummary) -> bool:
    """Check for what only the user knows: survey weights, and numbers with two readings."""
    advised = {option for _, remedies in column.problems for option, _ in remedies[:1]}
    return bool(advised & {"row_weights", "decimal"})


def parse_data(
    content: bytes, name: str, domain: Domain | None = None, options: RowOptions | None = None
) -> Data:
    """Read the rows of a data file from its bytes; ``name`` is for messages."""
    how = (options or RowOptions())._replace(domain=domain)
    return _read(_settled(_file_table(content, name, how), how), how)


def summarize_data(data: DataLike, options: RowOptions | None = None) -> DataSummary:
    """Describe the columns of any source, with advice; raise only if it is not a table.

    Parameters
    ----------
    data : path, name of a data set, DataFrame, array, or list of rows or mappings
    options : RowOptions, optional
        How to read the rows.

    Examples
    --------
    >>> summary = summarize_data([{"age": 20 + k, "ill": k % 2} for k in range(40)])
    >>> [(column.name, column.kind, column.advice) for column in summary.columns]
    [('age', 'measurement', '--bins age=4, or --category age'), ('ill', 'category', '')]
    >>> summary.try_line(["learn", "people.csv"])
    'Try: contextwise learn people.csv --bins age=4'
    """
    how = options or RowOptions()
    return judge(_source_table(data, how), how)[0]


def infer_domain(data: DataLike) -> Domain:
    """Return the variables and states of data, which may have missing values."""
    if isinstance(data, Data):
        return data.domain
    how = RowOptions(missing="drop")
    table = _source_table(data, how)
    return _inferred(replace(table, columns=_decided(table, how).columns))


def following(model: Any, options: RowOptions | None = None) -> RowOptions:
    """Return options that read rows as those that a model was learned from."""
    origin = getattr(model, "origin", NOT_RECORDED)
    return (options or RowOptions())._replace(learned=origin.reading or None)


def as_data_of_graph(
    data: DataLike, names: Iterable[str], options: RowOptions | None = None
) -> Data:
    """Read those columns that are nodes of a graph, with the states that occur.

    >>> as_data_of_graph({"A": [0, 1], "B": ["x", "y"], "C": [1, 1]}, ["B", "A", "U"]).domain
    Domain(A: 0|1, B: x|y)
    """
    if isinstance(data, Data):
        kept = [v for v, name in enumerate(data.domain.names) if name in set(names)]
        domain = data.domain.without(set(range(len(data.domain))).difference(kept))
        return _aligned(data, domain)
    return as_data(data, None, (options or RowOptions())._replace(names=tuple(names)))


def _of_graph(table: Sheet, how: RowOptions) -> RowOptions:
    """Choose the columns that are nodes of a graph; raise if a name differs only in its case."""
    nodes = how.names or ()
    used = [name for name in table.names if name in nodes]
    others = {name.casefold(): name for name in table.names if name not in nodes}
    for node in nodes:
        if node not in used and node.casefold() in others:
            column = others[node.casefold()]
            raise DomainError(f"the graph has {node!r} and the rows have {column!r}; rename one")
    if not used:
        raise DomainError(
            f"no column of the rows is in the graph; its variables are {listed(nodes)}, the "
            f"columns {listed(table.names)}"
        )
    return how._replace(columns=tuple(used))


def _source_table(data: DataLike, how: RowOptions) -> Sheet:
    return _settled(_raw_table(data, how), how)


def _settled(table: Sheet, how: RowOptions) -> Sheet:
    """Settle decimal signs, merge spellings, and drop the rows without the outcome."""
    table = _merged(_with_decimals(table, how), how)
    return table if how.outcome is None else _with_outcome(table, how)


def _merged(table: Sheet, how: RowOptions) -> Sheet:
    """Replace spellings that differ in case and blanks by that of a model, or the usual one."""
    learned = [name for name in (how.learned or {}).get("merge", ()) if name in table.names]
    names = {*(find_names(how.merge, table.names) if how.merge else ()), *learned}
    columns, notes = [], [*table.notes]
    for column in table.columns:
        if column.name in names:
            first: dict[str, str] = {}
            if how.domain is not None and column.name in how.domain.positions:
                states = how.domain.states[how.domain.position(column.name)]
                first = {visible(state): state for state in reversed(states)}
            for k in np.argsort(-column.counts, kind="stable").tolist():
                first.setdefault(visible(column.labels[k]), column.labels[k])
            labels = [first[visible(label)] for label in column.labels]
            if changed := [x for x, y in zip(column.labels, labels, strict=True) if x != y]:
                text = f"spellings of {column.name!r} merged: {', '.join(map(repr, changed[:5]))}"
                notes.append(Note(text, "decision", column.name, "--merge"))
            column = column.mapped(labels)
        columns.append(column)
    return replace(table, columns=columns, notes=notes) if names else table


def _with_outcome(table: Sheet, how: RowOptions) -> Sheet:
    """Drop the rows without a value of the outcome."""
    name = find_name(how.outcome or "", table.names, "outcome")
    known = without_missing(table.only([name]), how, table.names)[0].column(name).codes >= 0
    lost = int((~known).sum())
    if not lost or not known.any():
        return table
    text = f"{lost:,} rows without a value of {name!r}, the outcome, dropped"
    note = Note(text, "dropped", name)
    left_out = {**table.left_out, "without_outcome": lost}
    return replace(table.take(known), notes=[*table.notes, note], left_out=left_out)


def _with_decimals(table: Sheet, how: RowOptions) -> Sheet:
    """Settle the decimal signs of the columns, as far as the user or the values do."""
    chosen: dict[str | None, str] = {}
    texts = [f"{text[:-1]}comma" if text[-1:] == "," else text for text in how.decimal]
    for name, word in find_values(texts, table.names, "decimal"):
        if word not in SIGNS:
            raise DomainError(f"decimal must be point or comma, got {word!r}")
        chosen[name] = SIGNS[word]
    learned = (text.rpartition("=") for text in (how.learned or {}).get("decimal", ()))
    return with_decimals(table, chosen, {name: SIGNS.get(word, "") for name, _, word in learned})


def _raw_table(data: DataLike, how: RowOptions) -> Sheet:
    if not isinstance(data, str | os.PathLike):
        return python_table(data, how.domain)
    path = os.fspath(data)
    if isinstance(data, str) and path in BUNDLED:  # a Path drops "./", so it is a file
        content = get_data("contextwise", f"data/{path}.csv") or b""
        return replace(_file_table(content, path, how), counts=BUNDLED[path])
    if path and not os.path.splitext(path)[1] and not os.path.exists(path):
        raise ContextwiseError(
            f"{path}: no such file or bundled data set; the data sets are {', '.join(BUNDLED)}"
        )
    return _file_table(files.read_bytes(path), path, how)


def _file_table(content: bytes, name: str, how: RowOptions) -> Sheet:
    table = container_table(content, name, how)
    if table is not None:
        return table
    try:
        return text_table(content, name, how)
    except ParseError:
        for known in FORMATS:
            if known.fits(content) and known.name not in ("modelstring", "edges"):
                raise ParseError(
                    f"this is a model ({known.name}), not rows; draw rows from it with "
                    "contextwise sample",
                    path=name,
                ) from None
        raise


_WORDS = {sign: word for word, sign in SIGNS.items() if len(word) > 1}


def _decimals(columns: Sequence[Column]) -> list[str]:
    """Return the decimal signs that other rows need to be read in the same way."""
    chosen = [column for column in columns if column.decimal and column.has_two_readings]
    return [f"{column.name}={_WORDS[column.decimal]}" for column in chosen]


def _read(table: Sheet, how: RowOptions) -> Data:
    """Read the rows of a table, over the domain of the options if they have one."""
    if how.names is not None:
        how = _of_graph(table, how)
    subject, weights = _column_of(table, how, "subject"), _column_of(table, how, "row_weights")
    left_out = dict(table.left_out)
    if weights is not None:
        weighted = checked_weights(weights) != 0
        if not weighted.all():
            left_out["without_weight"] = int((~weighted).sum())
            table = table.take(weighted)
            subject, weights = (None if c is None else c.take(weighted) for c in (subject, weights))
    if how.domain is not None:
        decisions = _chosen(table, how, how.domain)
    else:
        names = [None if column is None else column.name for column in (subject, weights)]
        decisions = _decided(table, how._replace(subject=names[0], row_weights=names[1]))
    sheet, notes = replace(table, columns=[*decisions.columns]), [*decisions.notes]
    counts: IntArray | None = None
    if subject is not None and decisions.counts is not None:
        raise DomainError(
            f"rows that are counted by {decisions.counts.name!r} have no subjects; leave out "
            "--subject"
        )
    if decisions.counts is not None:
        counts = check_counts(decisions.counts, table)
        sheet, counts = sheet.take(counts > 0), counts[counts > 0]
    edges = _cut(sheet, decisions, counts, notes)
    sheet.columns.extend(c for c in (subject, weights) if c is not None)  # rows drop from all
    if decisions.missing == "drop" and any(column.missing for column in sheet.columns):
        complete = _complete(sheet, notes)
        left_out["incomplete"] = int((~complete).sum())
        sheet, counts = sheet.take(complete), None if counts is None else counts[complete]
    weights = None if weights is None else sheet.columns.pop()
    subjects = None if subject is None else sheet.columns.pop().codes
    if decisions.missing == "state":
        notes += _state_note(sheet)
        sheet.columns[:] = map(_with_missing_state, sheet.columns)
    if decisions.counts is not None and counts is not None:
        text = f"{plural(int(counts.sum()), 'row')} counted by {decisions.counts.name!r}"
        notes.append(Note(text, "decision", decisions.counts.name, "--counts"))
    domain, stored = how.domain, dict[str, Any]()
    if domain is None:
        domain = _inferred(sheet)
        notes += _added_note(sheet, domain)
        stored = _stored_decisions(decisions, how, edges, how.counts or table.counts)
    stored |= {"subject": subject and subject.name, "row_weights": weights and weights.name}
    stored |= _stored_orders(sheet, how, domain)
    return Data(
        domain,
        _encoded(sheet, domain),
        counts,
        tuple(notes),
        {key: value for key, value in stored.items() if value},
        subjects,
        None if weights is None else weights.numbers[weights.codes],
        left_out,
    )


def _cut(
    sheet: Sheet, decisions: Decisions, counts: IntArray | None, notes: list[Note]
) -> dict[str, list[float]]:
    """Cut the columns that have bins, note it, and return the edges."""
    edges: dict[str, list[float]] = {}
    for k, column in enumerate(sheet.columns):
        name, bins = column.name, decisions.bins.get(column.name)
        if bins is not None:
            sheet.columns[k], edges[name] = binned(column, bins, counts)
            text = edges_note(name, edges[name])
            notes.append(Note(text, "decision", name, f"--bins {name}=N"))
    return edges


def _stored_decisions(
    decisions: Decisions, how: RowOptions, edges: dict[str, list[float]], counts: str | None
) -> dict[str, Any]:
    """Return the decisions that later rows repeat."""
    return {
        "dropped": decisions.dropped,
        "bins": edges,
        "missing": None if how.missing == "error" else how.missing,
        "na": list(how.na),
        "merge": list(how.merge),
        "decimal": _decimals(decisions.columns),
        "counts": counts,
    }


def _stored_orders(sheet: Sheet, how: RowOptions, domain: Domain) -> dict[str, Any]:
    """Return the variables that are ordered: asked for, and declared by the source."""
    learned = how.learned or {}
    declared = {column.name for column in sheet.columns if column.in_order}
    declared = declared or set(learned.get("in_order", ()))
    return {
        "ordered": _ordered(how.ordered or learned.get("ordered", ()), domain),
        "in_order": [name for name in domain.names if name in declared],
    }


def _column_of(table: Sheet, how: RowOptions, option: str) -> Column | None:
    """Return the column of the subjects or of the survey weights, if there is one."""
    learned = (how.learned or {}).get(option)
    name = getattr(how, option) or (learned if learned in table.names else None)
    if name is None:
        return None
    name = find_name(name, table.names, option)
    plain = how._replace(domain=None)  # the column is no variable
    column = without_missing(table.only([name]), plain, table.names)[0].column(name)
    if lost := int((column.codes < 0).sum()):
        raise DomainError(
            f"--{option.replace('_', '-')}: {name!r} is missing in {plural(lost, 'row')}; drop "
            "these rows first"
        )
    return column


def checked_weights(column: Column) -> npt.NDArray[np.float64]:
    """Return the survey weights of rows; raise unless they are numbers >= 0, not all 0."""
    if not len(column.labels) or not column.is_numeric:
        raise DomainError(f"--row-weights: {column.name!r} is not made of numbers; choose another")
    values = column.numbers[column.codes]
    if (values < 0).any():
        k = int(np.flatnonzero(values < 0)[0])
        raise DomainError(
            f"--row-weights: {column.name!r} is {column.labels[column.codes[k]]} in row {k + 1}; "
            "weights must be >= 0, so correct it or choose another column"
        )
    if not values.any():
        raise DomainError(
            f"--row-weights: {column.name!r} is 0 in every row; choose another column, or none"
        )
    return np.asarray(values, dtype=np.float64)


def _ordered(texts: Sequence[str], domain: Domain) -> list[str]:
    """Return the columns that are ordered: a name, or ``name=low|mid|high``."""
    chosen = []
    for text in texts:
        whole = text if text in domain.names else text.partition("=")[0]
        parts = [text] if whole in domain.names else [part.strip() for part in text.split(",")]
        for part in parts:
            domain.position(part if part in domain.names else part.partition("=")[0])
        chosen += parts
    return chosen


def _decided(table: Sheet, how: RowOptions) -> Decisions:
    summary, decisions = judge(table, how)
    if summary.obstacle or summary.unclear:
        raise UnclearData(summary)
    return decisions


def _chosen(table: Sheet, how: RowOptions, domain: Domain) -> Decisions:
    """Choose the columns of a domain; others are ignored, unless they look like counts."""
    lacking = [name for name in domain.names if name not in table.names]
    if lacking:
        raise DomainError(f"the data has no column for {listed(lacking)}")
    learned = how.learned or {}
    counts = how.counts or table.counts
    if counts is not None:
        counts = find_name(counts, table.names, "counts")
    elif learned.get("counts") in table.names:
        counts = learned["counts"]
    wanted, _ = without_missing(table.only(domain.names), how)
    if counts is None:
        _refuse_counts(table, wanted)
    missing = how.missing or learned.get("missing")
    return Decisions(
        wanted.columns,
        None if counts is None else table.column(counts),
        bins={},
        missing="drop" if missing == "drop" else "error",  # the domain may have the state
        dropped=[],
        notes=table.notes,
    )


def _complete(sheet: Sheet, notes: list[Note]) -> BoolArray:
    """Find the rows without missing values, and note how many have some."""
    cost = {column.name: column.missing for column in sheet.columns if column.missing}
    most = sorted(cost.items(), key=lambda entry: -entry[1])[:5]
    complete: BoolArray = np.logical_and.reduce([c.codes >= 0 for c in sheet.columns])
    left = int(complete.sum())
    if not left:
        shown = ", ".join(f"{name} ({lost:,})" for name, lost in most)
        raise DomainError(
            f"every row has a missing value; drop columns with many of them ({shown}), or use "
            "--missing state"
        )
    shown = ", ".join(f"{name!r} {lost:,}" for name, lost in most)
    text = (
        f"{plural(len(complete) - left, 'row')} with missing values dropped, {left:,} rows left "
        f"(missing in {shown}); this biases results unless values are missing at random"
    )
    notes.append(Note(text, "dropped", option="--missing state"))
    return complete


def _state_note(sheet: Sheet) -> list[Note]:
    """Say of which columns missing values are a state."""
    columns = sorted((c for c in sheet.columns if c.missing), key=lambda c: -c.missing)
    if not columns:
        return []
    complete = np.logical_and.reduce([c.codes >= 0 for c in columns])
    shown = ", ".join(f"{c.name!r} ({c.missing:,})" for c in columns[:5]) + ", …" * (
        len(columns) > 5
    )
    text = (
        f"missing values are a state of {shown}, so results may be about who has a value; "
        f"--missing drop leaves {int(complete.sum()):,} of {plural(sheet.rows, 'row')}"
    )
    many = tuple(c.name for c in columns if 5 * c.missing > sheet.rows)
    if 0 < len(many) <= MOST_TO_DROP:
        text += f"; or leave out the columns that lack most: {RowOptions(drop=many).command()}"
    elif many:
        text += f"; {len(many)} columns lack more than a fifth"
    return [Note(text, "decision", option="--missing drop")]


def _with_missing_state(column: Column) -> Column:
    if not column.missing:
        return column
    labels = [*column.labels, MISSING_STATE]
    codes = np.where(column.codes < 0, len(column.labels), column.codes)
    declared = None if column.declared is None else (*column.declared, MISSING_STATE)
    return replace(column, declared=declared).mapped(labels, codes)


# -- from columns to positions of states -----------------------------------------------------------


def _inferred(sheet: Sheet) -> Domain:
    """Infer the states of each column: those that it declares, or else those that occur."""
    variables: dict[str, Sequence[str]] = {}
    for column in sheet.columns:
        stated = [label for label in column.labels if label != MISSING_STATE]
        if column.declared is not None:
            states = [*column.declared, *(x for x in column.labels if x not in column.declared)]
        else:
            states = _codes(column, stated) if sheet.is_array else _sorted(stated)
            states += [MISSING_STATE] * (len(stated) < len(column.labels))
        variables[column.name] = states or ["0"]
    return Domain(variables)


def _sorted(stated: Sequence[str]) -> list[str]:
    """Sort labels, numbers by their values; ``1`` and ``1.0`` become one label."""
    numbers = numbers_of(stated)
    ordered = sorted(stated)
    if len(stated) and not np.isnan(numbers).any():
        ordered = [stated[k] for k in np.argsort(numbers, kind="stable")]
    return list(dict.fromkeys(_plain_number(label) for label in ordered))


def _codes(column: Column, stated: Sequence[str]) -> list[str]:
    """Return the states 0 to the largest code of a column of an array; sorted if it has others."""
    if not stated or not all(re.fullmatch(r"-?(0|[1-9]\d*)", label) for label in stated):
        return _sorted(stated)
    codes = numbers_of(stated)
    if codes.min() < 0 or codes.max() > LARGEST_STATE_CODE:
        bad = codes.min() if codes.min() < 0 else codes.max()
        raise DomainError(
            f"{bad:.0f} is not a code of {column.name!r} (codes are 0 to {LARGEST_STATE_CODE:,}); "
            "pass the domain, or bin the values first"
        )
    return list(map(str, range(int(codes.max()) + 1)))


def _added_note(sheet: Sheet, domain: Domain) -> list[Note]:
    """Say how many states of an array do not occur in it."""
    added = sum(
        len(states) - len(column.labels)
        for column, states in zip(sheet.columns, domain.states, strict=True)
        if column.declared is None and column.labels
    )
    if not sheet.is_array or added <= 0:
        return []
    states = plural(added, "state")
    text = f"codes count from 0, which adds {states} without rows; pass a domain to change that"
    return [Note(text)]


def _plain_number(label: str) -> str:
    """Write a whole number as a frame would: ``1.0`` is ``1``. Keep ``2.50``, ``1.00``, ``007``."""
    return label[:-2] if re.fullmatch(r"-?(0|[1-9]\d{0,14})\.0", label) else label


def _encoded(sheet: Sheet, domain: Domain) -> IntArray:
    """Look up the position of every cell."""
    count = len(sheet.columns[0].codes) if sheet.columns else 0
    rows = np.empty((count, len(domain)), dtype=np.int64)
    for variable, column in enumerate(sheet.columns):
        states = domain.states[variable]
        known, edges = domain.state_positions[variable], upper_edges(states)
        if edges is not None and column.is_unclear:
            reason, *ways = unclear_decimals(column)
            options = ", or ".join(row_options(decimal=text).command() for _, text in ways)
            raise DomainError(f"{column.name!r}: {reason}: {options}")
        # An empty cell has code -1, which picks the extra entry at the end.
        positions = np.full(len(column.labels) + 1, known.get(MISSING_STATE, -1))
        for k, label in enumerate(column.labels):
            place = next((known[text] for text in _spellings(label) if text in known), -1)
            # NaN, the number of a text, is not equal to itself.
            if place < 0 and edges is not None and column.numbers[k] == column.numbers[k]:
                place = int(np.searchsorted(edges, column.numbers[k]))
            positions[k] = place
        rows[:, variable] = positions[column.codes]
        for row in np.flatnonzero(rows[:, variable] < 0)[:1].tolist():
            code = int(column.codes[row])
            cell = None if code < 0 else column.labels[code]
            raise sheet.error(row, _problem(cell, variable, domain, sheet.file is not None))
    return rows


def _spellings(label: str) -> list[str]:
    """Return the states that a label can mean; a bool may be called ``True``, ``true`` or ``1``."""
    if label in ("True", "False"):
        return [label, label.lower(), label.upper(), str(int(label == "True"))]
    return [label, label.strip(), _plain_number(label.strip())]


def _problem(cell: str | None, variable: int, domain: Domain, in_file: bool) -> str:
    name = domain.names[variable]
    if cell is None:
        return (
            f"the value of {name!r} is missing; drop such rows (--missing drop; in Python "
            "missing='drop'), or fill them in"
        )
    if in_file and not variable and "|" in cell:
        return (
            f"{cell!r} looks like a row with a weight (weight|…), which is not supported; put "
            "whole numbers into a column of their own (--counts)"
        )
    states = listed(domain.states[variable])
    return f"variable {name!r} has no state {cell!r}; its states are {states}"


def _refuse_counts(table: Sheet, wanted: Sheet) -> None:
    """Raise if a column that is not used looks like counts of the others."""
    for column in table.columns:
        others = [c.codes for c in wanted.columns]
        if column.name in wanted.names or column.name.lower() not in COUNT_NAMES or not others:
            continue
        repeats = len(np.unique(np.column_stack(others), axis=0)) < table.rows
        if not repeats and table.rows > 1 and (column.numbers % 1 == 0).all():
            reason = "looks like counts of the other columns"
            remedies = ("counts", column.name), ("columns", ",".join(wanted.names))
            summary = ColumnSummary(
                column.name, "counts", len(column.labels), 0, (), ((reason, remedies),)
            )
            remedy = RowOptions(counts=column.name)
            source = table.file or "the data"
            raise UnclearData(DataSummary(source, table.rows, (summary,), remedy=remedy))


def format_rows(rows: npt.NDArray[Any], names: Sequence[str] | None = None) -> str:
    """Write rows as CSV, with a header of names if given; Libra's ``.data`` has none."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if names is not None:
        writer.writerow(names)
    writer.writerows(rows.tolist())
    return text.getvalue()


def by_position(model: M) -> M:
    """Return the model with codes for labels, to use with rows of codes."""
    plain = Domain.of_cardinalities(model.domain.cardinalities)
    return model.aligned_to(plain, align="position")


def _aligned(data: Data, domain: Domain) -> Data:
    """Return the rows over another domain, matched by names and labels."""
    rows = np.empty((len(data.rows), len(domain)), dtype=np.int64)
    for variable, name in enumerate(domain.names):
        source = data.domain.position(name)
        places = np.zeros(data.domain.cardinalities[source], dtype=np.int64)
        for code in np.unique(data.rows[:, source]).tolist():
            places[code] = domain.state_position(variable, data.domain.states[source][code])
        rows[:, variable] = places[data.rows[:, source]]
    return replace(data, domain=domain, rows=rows)
