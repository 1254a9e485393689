"""Parts as plain text for a terminal: straight columns, one block after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from textwrap import fill

from contextwise.report.parts import Measures, Note, Part, Section, Table
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

    >>> from contextwise.report.parts import Column, PairName
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


SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "≠": r"$\neq$",
    "<": r"$<$",
    ">": r"$>$",
}


def as_latex(parts: Iterable[Part]) -> str:
    """The tables of these parts, one after the other; notes become comments.

    Parameters
    ----------
    parts : tables, notes and sections; others are left out

    Returns
    -------
    str

    Examples
    --------
    >>> from contextwise.report.parts import Column
    >>> head = Column("group", "name"), Column("errors", "count")
    >>> print(as_latex([Table("Errors", head, (("a_1", 7),))]))
    % Errors
    \\begin{tabular}{lr}
    \\toprule
    group & errors \\\\
    \\midrule
    a\\_1 & 7 \\\\
    \\bottomrule
    \\end{tabular}
    <BLANKLINE>
    """
    return "\n".join(block for part in parts for block in _latex_blocks(part))


def _latex_blocks(part: Part) -> Iterable[str]:
    if isinstance(part, Table):
        yield _tabular(part)
    elif isinstance(part, Note):
        yield "".join(f"% {line}\n" for line in part.text.splitlines())
    elif isinstance(part, Section):
        yield from (block for inner in part.parts for block in _latex_blocks(inner))


def _tabular(table: Table) -> str:
    sides = "".join("r" if column.is_number else "l" for column in table.columns)
    lines = [f"% {table.title}"] if table.title else []
    lines += [f"\\begin{{tabular}}{{{sides}}}", "\\toprule"]
    lines += [_row(column.title for column in table.columns), "\\midrule"]
    lines += [_row(cells) for cells in table.texts()]
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])


def _row(cells: Iterable[str]) -> str:
    return " & ".join(escaped(cell) for cell in cells) + r" \\"


def escaped(text: str) -> str:
    """A text whose signs mean themselves in LaTeX.

    >>> print(escaped("100 % of a_1"))
    100 \\% of a\\_1
    """
    return "".join(SPECIAL.get(sign, sign) for sign in text)
