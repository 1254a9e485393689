"""Parts as plain text for a terminal: straight columns, one block after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from textwrap import fill

from contextwise.report.elements import Measures, Note, Part, Section, Table
from contextwise.support.formatting import columns

WIDTH = 100
"""Where the lines of a note end."""
UNTITLED = ("confusion", "guesses", "matrix", "scores")
"""Tables that a terminal shows without a title, because what they show is clear there."""
ON_THEIR_SIDE = ("scores",)
"""Tables of few rows and more columns than fit into a terminal: their rows stand there upright."""


def as_text(parts: Iterable[Part]) -> str:
    """The parts as text, with an empty line between each two; pictures are left out.

    Parameters
    ----------
    parts : tables, measures, notes and sections

    Returns
    -------
    str

    Examples
    --------
    >>> print(as_text([Note("nothing", "No pair differs.")]))
    No pair differs.
    """
    return "\n\n".join(block for part in parts for block in _blocks(part))


def _blocks(part: Part) -> Iterator[str]:
    if isinstance(part, Note):
        yield note_text(part)
    elif isinstance(part, Measures):
        yield _measures_text(part)
    elif isinstance(part, Table):
        yield table_text(part)
    elif isinstance(part, Section):
        yield "\n".join([f"{part.title}:", *(b for inner in part.parts for b in _blocks(inner))])


def note_text(note: Note) -> str:
    """A note in lines of a terminal's width; line breaks of its own stay."""
    return "\n".join(fill(line, WIDTH, break_on_hyphens=False) for line in note.text.splitlines())


def table_text(table: Table) -> str:
    """A table in straight columns; numbers stand to the right.

    >>> from contextwise.report.elements import Column, PairName
    >>> head = Column("pair", "name"), Column("errors", "count")
    >>> print(table_text(Table("The worst", head, ((PairName("A", "B"), 7),))))
    The worst:
    pair   errors
    A – B       7
    """
    sides = "".join(">" if column.is_number else "<" for column in table.columns)
    head = [column.title for column in table.columns]
    lines = [head, *table.texts()] if any(head) else table.texts()
    if table.key in ON_THEIR_SIDE:
        lines, sides = list(map(list, zip(*lines, strict=True))), "<" + ">" * len(table.rows)
    text = columns(lines, sides)
    return text if table.key in UNTITLED or not table.title else f"{table.title}:\n{text}"


def _measures_text(measures: Measures) -> str:
    """The groups side by side, each a column of names and one of values."""
    groups = [[(m.label, m.text()) for m in group] for group in measures.groups]
    lines = [
        [cell for entry in line for cell in entry]
        for line in zip_longest(*groups, fillvalue=("", ""))
    ]
    return columns(lines, "<" * 2 * len(groups))
