"""Tables as LaTeX, for papers: ``tabular`` with rules of the package booktabs."""

from __future__ import annotations

from collections.abc import Iterable

from contextwise.report.elements import Note, Part, Section, Table

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
    >>> from contextwise.report.elements import Column
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
    return "\n".join(block for part in parts for block in _blocks(part))


def _blocks(part: Part) -> Iterable[str]:
    if isinstance(part, Table):
        yield _tabular(part)
    elif isinstance(part, Note):
        yield "".join(f"% {line}\n" for line in part.text.splitlines())
    elif isinstance(part, Section):
        yield from (block for inner in part.parts for block in _blocks(inner))


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
