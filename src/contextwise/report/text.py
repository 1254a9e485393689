"""Show parts as plain text or LaTeX, and any result as text or as HTML for notebooks.

`str(result)` and the HTML view in notebooks come from here; see `contextwise.support.formatting`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from textwrap import fill

from contextwise.report.parts import (
    TOP,
    Card,
    Entries,
    Note,
    Part,
    Section,
    Table,
    Verdicts,
    cell_text,
    parts_of,
    table,
)
from contextwise.support.formatting import columns

WIDTH = 100  # the width of the lines of a note
UNTITLED = ("confusion", "guesses", "matrix", "scores")
"""Tables that a terminal shows without a title."""
TRANSPOSED = ("scores",)  # tables of few rows and more columns than fit into a terminal
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
    "…": r"\ldots{}",
    "−": "$-$",
    "×": r"$\times$",
    "→": r"$\to$",
    "⫫": r"$\perp\!\!\!\perp$",
    "≠": r"$\neq$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "<": r"$<$",
    ">": r"$>$",
}


def as_text(parts: Iterable[Part]) -> str:
    """Return parts as text, with empty lines between them and without pictures."""
    return "\n\n".join(block for part in parts for block in _blocks(part))


def _blocks(part: Part) -> Iterator[str]:
    match part:
        case Note():
            filled = (fill(s, WIDTH, break_on_hyphens=False) for s in part.text.splitlines())
            yield "\n".join(filled)
        case Entries():
            groups = [
                [(m.label, cell_text(m.value, m.style)) for m in group] for group in part.groups
            ]
            rows = zip_longest(*groups, fillvalue=("", ""))
            yield columns([sum(row, ()) for row in rows], "<" * 2 * len(groups))
        case Verdicts():
            yield str(part)
        case Card():
            yield f"{part.title} ({part.test}): {part.sentence}"
        case Table():
            part = part.as_words
            sides = "".join(">" if column.is_number else "<" for column in part.columns)
            head = [column.title for column in part.columns]
            lines = [head, *part.texts()] if any(head) else part.texts()
            if part.key in TRANSPOSED:
                lines, sides = list(map(list, zip(*lines, strict=True))), "<" + ">" * len(part.rows)
            text = columns(lines, sides)
            untitled = part.key in UNTITLED or not part.title
            yield text if untitled else f"{part.title}:\n{text}"
        case Section():
            blocks = (block for inner in part.parts for block in _blocks(inner))
            yield "\n".join([f"{part.title}:", *blocks])


def as_latex(parts: Iterable[Part]) -> str:
    """Return tables and numbers as ``tabular`` with rules of booktabs, and notes as comments."""
    return "\n".join(block for part in parts for block in _latex_blocks(part))


def _latex_blocks(part: Part) -> Iterator[str]:
    match part:
        case Table():
            part = part.as_words
            sides = "".join("r" if column.is_number else "l" for column in part.columns)
            lines = [f"% {part.title}"] if part.title else []
            lines += [f"\\begin{{tabular}}{{{sides}}}", "\\toprule"]
            lines += [_latex_row(column.title for column in part.columns), "\\midrule"]
            lines += map(_latex_row, part.texts())
            yield "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])
        case Entries():
            entries = [(m.label, cell_text(m.value, m.style)) for g in part.groups for m in g]
            yield from _latex_blocks(table("", {"measure": "text", "value": "text"}, entries))
        case Card():
            yield from _latex_blocks(part.numbers)
        case Note():
            yield "".join(f"% {line}\n" for line in part.text.splitlines())
        case Section():
            yield from (block for inner in part.parts for block in _latex_blocks(inner))


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(map(escaped, cells)) + r" \\"


def escaped(text: str) -> str:
    """Return text as LaTeX reads it, with a minus in front of negative numbers.

    >>> print(escaped("-7.1 % to 3 % for A_1"))
    $-$7.1 \\% to 3 \\% for A\\_1
    """
    text = re.sub(r"(?<![\w.-])-(?=\d)", "−", text)
    return "".join(LATEX.get(sign, sign) for sign in text)


# -- any result ------------------------------------------------------------------------------------


def text_of(result: object, **options: int) -> str:
    """Return any result as text; ``top`` limits its lists."""
    return as_text(parts_of(result, **options))


def verdict_of(result: object) -> str:
    """Return the sentences that the text of a result starts with."""
    verdict = parts_of(result, top=0)[0]
    assert isinstance(verdict, Note)
    return verdict.text


def html_of(result: object) -> str:
    from contextwise.report.html import notebook_html

    return notebook_html(parts_of(result, top=TOP))
