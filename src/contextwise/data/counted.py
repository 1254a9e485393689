"""Recognise tables of counts: one column of counts, a wide table of them, or weights instead.

Each function takes `Candidates` and decides by itself; `columns.judge` asks them in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log2, prod

import numpy as np

from contextwise.data.kinds import (
    BINS,
    MOST_FRACTIONS,
    MOST_LABELS,
    MOST_WHOLE,
    is_in_order,
)
from contextwise.data.notation import readings
from contextwise.data.options import RowOptions
from contextwise.data.table import Column, Sheet
from contextwise.data.text import SEPARATORS
from contextwise.errors import DomainError
from contextwise.support.arrays import IntArray
from contextwise.support.formatting import plural

COUNT_NAMES = frozenset({"freq", "frequency", "count", "counts", "n"})
WEIGHT_NAMES = COUNT_NAMES | {"weight", "weights", "proportion", "share", "percent"}
FEWEST_CELLS = 4
"""A table of fewer rows has counts only in a column of such a name."""
FEW_CELLS = 12
"""A table of more cells has counts only if the largest is ten times the smallest."""
LARGEST_COUNT = 10**12
"""Sums of larger counts may not be exact."""


@dataclass(frozen=True)
class Candidates:
    """The columns among which counts are looked for."""

    rows: int
    used: Sequence[Column]  #: without labels of rows
    unused: Sequence[Column]  #: left out by the user; rows differ in them, too
    offered: Sequence[Column]  #: those of them that the user did not name to be left out
    settled: frozenset[str]  #: categories and measurements, says the user

    @cached_property
    def whole(self) -> list[Column]:
        """The columns that may be counts."""
        return [c for c in (*self.used, *self.offered) if self._is_count(c)]

    def _is_count(self, column: Column) -> bool:
        numbers = column.numbers
        if column.is_unclear and column.name.lower() in COUNT_NAMES:
            numbers = next((n for n in readings(column.labels)[1:] if not (n % 1).any()), numbers)
        is_whole = len(column.labels) > 1 and bool((numbers % 1 == 0).all())
        varies = is_whole and numbers.min() >= 0 and numbers.max() > 1
        return bool(varies) and column.name not in self.settled and not column.missing

    def labels(self, name: str) -> list[Column]:
        """Return the other columns, and categories that were left out."""
        left_out = [c for c in self.unused if c.name != name and self.may_be_category(c)]
        return [*(c for c in self.used if c.name != name), *left_out]

    def never_repeat(self, columns: Sequence[Column]) -> bool:
        if not columns or self.rows < 2:
            return False
        cells = np.column_stack([column.codes for column in columns])
        return len(np.unique(cells, axis=0)) == self.rows

    def fill_half(self, columns: Sequence[Column]) -> bool:
        """Check for categories whose combinations never repeat and are mostly there."""
        if not columns or not all(map(self.may_be_category, columns)):
            return False
        states = prod(len(column.labels) for column in columns)
        return 2 * self.rows >= states and self.never_repeat(columns)

    def may_be_category(self, column: Column) -> bool:
        if np.isnan(column.numbers).any():
            return len(column.labels) <= max(MOST_LABELS, self.rows / 10)
        most = MOST_FRACTIONS if column.has_fractions else MOST_WHOLE
        return len(column.labels) <= most and not is_in_order(column, self.rows)


def counts_by_name(among: Candidates) -> Column | None:
    """Find counts by their name, next to columns that never repeat."""
    named = (c for c in among.whole if c.name.lower() in COUNT_NAMES)
    return next((c for c in named if among.never_repeat(among.labels(c.name))), None)


def weights_by_name(among: Candidates) -> Column | None:
    """Find shares or weights next to categories that fill a table."""
    named = (
        c
        for c in (*among.used, *among.offered)
        if c.name.lower() in WEIGHT_NAMES and c.has_fractions and not c.is_unclear
    )
    return next((c for c in named if among.fill_half(among.labels(c.name))), None)


def counts_by_values(among: Candidates) -> Column | None:
    """Find counts under another name: uneven numbers next to categories that fill a table."""
    for column in _next_to_few(among) if among.rows >= FEWEST_CELLS else ():
        others, most = among.labels(column.name), column.numbers.max()
        is_labelled = len(others) > 1 or np.isnan(others[0].numbers).any() if others else False
        uneven = among.rows <= FEW_CELLS or most > 10 * column.numbers.min()
        varied = 3 * len(column.labels) >= among.rows and most > 5
        if is_labelled and uneven and varied and among.fill_half(others):
            return column
    return None


def _next_to_few(among: Candidates) -> Iterator[Column]:
    """Yield what may count: rows cannot fill half of the combinations of many columns."""
    sizes = {c.name: log2(max(1, len(c.labels))) for c in among.used}
    bad = {c.name for c in among.used if not among.may_be_category(c)}
    size = sum(sizes.values())
    for column in among.whole:
        left = size - sizes.get(column.name, 0.0)
        if bad <= {column.name} and left <= log2(2 * among.rows) + 1e-6:
            yield column


def wide_table(among: Candidates, row_labels: Column | None) -> tuple[list[str], list[str]] | None:
    """Find several columns of large counts next to labels that never repeat; return both."""
    labels = [c for c in among.used if np.isnan(c.numbers).any()]
    if not labels and row_labels is not None and np.isnan(row_labels.numbers).any():
        labels = [row_labels]  # a matrix: its rows have labels, and no other column is text
    numbers = [c for c in among.used if c not in labels and not _numbers(c, among.rows)]
    whole = {c.name for c in among.whole}
    large = sum(c.numbers.max() > MOST_WHOLE for c in numbers if c.name in whole)
    are_counts = all(c.name in whole for c in numbers) and 2 * large >= len(numbers)
    if len(numbers) < 2 or among.rows < FEWEST_CELLS or not are_counts:
        return None
    return (
        ([c.name for c in labels], [c.name for c in numbers]) if among.fill_half(labels) else None
    )


def _numbers(column: Column, rows: int) -> bool:
    """Check for years, or numbers of the rows."""
    whole = column.is_numeric and not column.has_fractions
    are_years = whole and column.numbers.min() > 1500 and column.numbers.max() < 2100
    return are_years or (whole and is_in_order(column, rows))


def weights_obstacle(name: str) -> str:
    return (
        f"{name!r} looks like weights of the other columns. Only whole counts can be used, because "
        "tests and scores count rows; multiply shares by the number of observations and use "
        f"{RowOptions(counts=name).command()}"
    )


def wide_obstacle(labels: Sequence[str], names: Sequence[str], table: Sheet) -> str:
    ids = [name or "Unnamed: 0" for name in labels]  # as pandas calls it
    shown = ", ".join(names[:5]) + ", …" * (len(names) > 5)
    return (
        f"this looks like a wide table of counts: {plural(len(names), 'column')} of counts "
        f"({shown}) next to labels that never repeat. Melt it into one column of counts with "
        "pandas:\n"
        f"  long = {_in_pandas(table)}.melt({(ids[0] if len(ids) == 1 else ids)!r}, "
        f"{list(names)!r}, 'column', 'Freq')\n"
        "  long.to_csv('long.csv', index=False)   # then: --counts Freq\n"
        "If one column is the total of others, leave it out. If each row is one observation "
        f"instead, use --bins {BINS}"
    )


def _in_pandas(table: Sheet) -> str:
    """Write how pandas reads a source."""
    if table.lines is None or any(note.kind == "source" for note in table.notes):
        return "frame"
    words = {note for note in table.notes if note.kind == "separator"}
    sign = next((s for s, word in SEPARATORS.items() if word in words), ",")
    separator = r"\s+" if sign == " " else sign
    return f"pandas.read_csv({table.file!r}{'' if sign == ',' else f', sep={separator!r}'})"


def check_counts(column: Column, table: Sheet) -> IntArray:
    """Return how often each row occurs; raise unless all are whole numbers >= 0."""
    values = column.numbers[column.codes] if len(column.labels) else np.full(table.rows, np.nan)
    values = np.where(column.codes < 0, np.nan, values)
    bad = ~(values >= 0) | (values % 1 != 0) | (values > LARGEST_COUNT)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        cell = (column.codes[row] >= 0 and column.labels[column.codes[row]]) or "empty"
        raise table.error(
            row,
            f"counts must be whole numbers from 0 to {LARGEST_COUNT:,}, but {column.name!r} is "
            f"{cell}; weights such as those of surveys are no counts: give them with --row-weights",
        )
    if not values.any():
        raise DomainError(f"every row occurs 0 times by {column.name!r}")
    counts: IntArray = values.astype(np.int64)
    return counts
