"""Recognise the cells that stand for missing values."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

import numpy as np

from contextwise.data.notation import numbers_of
from contextwise.data.options import RowOptions, find_values
from contextwise.data.table import Sheet
from contextwise.data.text import DOUBTFUL, TOKENS


def without_missing(
    table: Sheet, how: RowOptions, names: Sequence[str] | None = None
) -> tuple[Sheet, dict[str, list[str]]]:
    """Return the table with missing values as empty cells, and which tokens were missing.

    ``names`` are the columns that ``--na`` may name, if the table has only some of them.
    """
    stored = [(text, text.rpartition("=")[0]) for text in (how.learned or {}).get("na", ())]
    texts = [*how.na, *(text for text, name in stored if not name or name in table.names)]
    tokens: dict[str | None, set[str]] = {}
    for name, token in find_values(texts, names or table.names, "na"):
        tokens.setdefault(name, set()).add(token)
    doubtful = _doubtful(table)
    columns, missing_of = [], {}
    for column in table.columns:
        states, doubted = set(column.declared or ()), doubtful
        if how.domain is not None:
            states = set(how.domain.states[how.domain.position(column.name)])
            doubted = DOUBTFUL
        stated = tokens.get(None, set()) | tokens.get(column.name, set())
        missing = ((TOKENS | doubted) - states) | stated
        plain = column.labels if how.domain else [label.strip() for label in column.labels]
        labels = [None if label in missing else label for label in plain]
        if stated:
            same = np.isin(column.numbers, numbers_of([*stated]))
            labels = [None if gone else x for x, gone in zip(labels, same.tolist(), strict=True)]
        gone = [label for label, kept in zip(plain, labels, strict=True) if kept is None]
        if labels != list(column.labels):
            column = column.mapped(labels)
        if (column.codes < 0).any():
            missing_of[column.name] = gone
        columns.append(column)
    return replace(table, columns=columns), missing_of


def _doubtful(table: Sheet) -> Set[str]:
    """Return the doubtful tokens that occur among numbers: they are missing in the whole file."""
    doubtful: set[str] = set()
    for column in table.columns:
        tokens = DOUBTFUL.intersection(column.labels)
        if tokens and column.declared is None:
            others = [x for x in column.labels if x not in DOUBTFUL and x not in TOKENS]
            if len(others) > 1 and not np.isnan(numbers_of(others)).any():
                doubtful |= tokens
    return doubtful
