"""Show parts as plain text for a terminal, or their tables as LaTeX for a paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from textwrap import fill

from contextwise.report.parts import Measures, Note, Part, Section, Table
from contextwise.support.formatting import columns

WIDTH = 100
"""The width of the lines of a note."""
UNTITLED = ("confusion", "guesses", "matrix", "scores")
"""Tables that a terminal shows without a title."""
TRANSPOSED = ("scores",)
"""Tables of few rows and more columns than fit into a terminal."""
LATEX = {
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


def as_text(parts: Iterable[Part]) -> str:
    """Return parts as text, with empty lines between them and without pictures.

    >>> print(as_text([Note("nothing", "No pair differs.")]))
    No pair differs.
    """
    return "\n\n".join(block for part in parts for block in _blocks(part))


def _blocks(part: Part) -> Iterator[str]:
    match part:
        case Note():
            lines = part.text.splitlines()
            yield "\n".join(fill(line, WIDTH, break_on_hyphens=False) for line in lines)
        case Measures():
            groups = [[(m.label, m.text()) for m in group] for group in part.groups]
            rows = zip_longest(*groups, fillvalue=("", ""))
            yield columns([sum(row, ()) for row in rows], "<" * 2 * len(groups))
        case Table():
            yield table_text(part)
        case Section():
            blocks = (block for inner in part.parts for block in _blocks(inner))
            yield "\n".join([f"{part.title}:", *blocks])


def table_text(table: Table) -> str:
    """Return a table in straight columns, numbers to the right.

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
    if table.key in TRANSPOSED:
        lines, sides = list(map(list, zip(*lines, strict=True))), "<" + ">" * len(table.rows)
    text = columns(lines, sides)
    return text if table.key in UNTITLED or not table.title else f"{table.title}:\n{text}"


def as_latex(parts: Iterable[Part]) -> str:
    """Return the tables of parts as ``tabular`` with rules of booktabs; notes become comments.

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


def _latex_blocks(part: Part) -> Iterator[str]:
    match part:
        case Table():
            sides = "".join("r" if column.is_number else "l" for column in part.columns)
            lines = [f"% {part.title}"] if part.title else []
            lines += [f"\\begin{{tabular}}{{{sides}}}", "\\toprule"]
            lines += [_latex_row(column.title for column in part.columns), "\\midrule"]
            lines += map(_latex_row, part.texts())
            yield "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])
        case Note():
            yield "".join(f"% {line}\n" for line in part.text.splitlines())
        case Section():
            yield from (block for inner in part.parts for block in _latex_blocks(inner))


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(map(escaped, cells)) + r" \\"


def escaped(text: str) -> str:
    """Escape a text for LaTeX.

    >>> print(escaped("100 % of a_1"))
    100 \\% of a\\_1
    """
    return "".join(LATEX.get(sign, sign) for sign in text)
