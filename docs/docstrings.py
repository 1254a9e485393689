"""How the reference shows docstrings: parameters and attributes as a list, in the words they have.

Our sections say ``name : a type, or some words`` and go on in the lines below. Napoleon would take
the first line for a type, break a sentence where the line ends, and split a list of names; so these
two sections are made into lists before it looks, and the rest is left to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from textwrap import dedent
from typing import Any

HEADS = ("Parameters", "Attributes")
_kept: dict[str, list[str]] = {}


def connect(app: Any) -> None:
    """Work on each docstring before napoleon does, and after it on those of properties."""
    app.connect("autodoc-process-docstring", _before, priority=400)
    app.connect("autodoc-process-docstring", _after, priority=600)
    app.connect("autodoc-process-signature", _show_result)


def _before(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = list(sections_as_lists(lines))
    _kept[name] = [*lines]


def _after(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Napoleon takes what stands before a colon in the text of a property for its type."""
    kept = _kept.pop(name, lines)
    if what == "property" and not any(_is_head(kept, k) for k in range(len(kept))):
        lines[:] = kept


def _show_result(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str | None, returned: str
) -> tuple[str, str] | None:
    """Show what a method returns behind its signature, where its docstring has no such section."""
    told = getattr(obj, "__annotations__", {}).get("return")
    in_words = re.search(r"(Returns|Yields)\n", obj.__doc__ or "")
    return None if signature is None or told in (None, "None") or in_words else (signature, told)


def _is_head(lines: list[str], k: int) -> bool:
    """Whether a section begins at a line: a head, and a line of dashes below it."""
    below = lines[k + 1] if k + 1 < len(lines) else ""
    return bool(re.fullmatch(r"\w[\w ]*", lines[k]) and re.fullmatch(r"-{3,}", below))


def sections_as_lists(lines: list[str]) -> Iterator[str]:
    """The lines, with the sections of `HEADS` as fields that hold a list."""
    k = 0
    while k < len(lines):
        if lines[k] not in HEADS or not _is_head(lines, k):
            yield lines[k]
            k += 1
            continue
        head, k = lines[k], k + 2
        numbers = takewhile(lambda n: not _is_head(lines, n), range(k, len(lines)))
        body = [lines[n] for n in numbers]
        k += len(body)
        yield f":{head}:"
        for item in _items(body):
            yield from ["    * " + item[0], *("      " + line for line in item[1:])]
        yield ""


def _items(body: list[str]) -> Iterator[list[str]]:
    """The entries of a section: the names in bold, and all that is said of them."""
    starts = [k for k, line in enumerate(body) if line and line[0] != " "]
    for start, end in zip(starts, [*starts[1:], len(body)], strict=True):
        names, _, told = body[start].partition(" : ")
        more = dedent("\n".join(body[start + 1 : end])).strip("\n").split("\n")
        bold = "**" + names.replace("*", r"\*") + "**"
        yield [f"{bold} – {told}{_join(told, more[0])}{more[0]}".rstrip(" –"), *more[1:]]


def _join(told: str, more: str) -> str:
    """Between a first line and the next: a full stop, unless the sentence goes on."""
    if not told or not more:
        return ""
    return " " if more[0].islower() or told[-1] in ".,:;" else ". "
