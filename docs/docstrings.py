"""Turn the sections Parameters and Attributes of docstrings into lists for the reference.

Our sections have lines ``name : a type, or some words``, continued below. Napoleon would treat the
words as a type, break sentences at line ends, and split lists of names. So this module converts the
two sections first and leaves the other sections to napoleon.
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
    """Run before napoleon on each docstring, and after it on those of properties."""
    app.connect("autodoc-process-docstring", _before, priority=400)
    app.connect("autodoc-process-docstring", _after, priority=600)
    app.connect("autodoc-process-signature", _show_result)


def _before(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = list(sections_as_lists(lines))
    _kept[name] = [*lines]


def _after(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Restore the text of properties: napoleon treats the words before a colon as a type."""
    kept = _kept.pop(name, lines)
    if what == "property" and not any(_is_head(kept, k) for k in range(len(kept))):
        lines[:] = kept


def _show_result(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str | None, returned: str
) -> tuple[str, str] | None:
    """Show the return type in the signature if the docstring has no Returns section."""
    returns = getattr(obj, "__annotations__", {}).get("return")
    in_words = re.search(r"(Returns|Yields)\n", obj.__doc__ or "")
    if signature is None or returns in (None, "None") or in_words:
        return None
    return signature, returns


def _is_head(lines: list[str], k: int) -> bool:
    """Return whether a section begins at line k: a head with dashes below it."""
    below = lines[k + 1] if k + 1 < len(lines) else ""
    return bool(re.fullmatch(r"\w[\w ]*", lines[k]) and re.fullmatch(r"-{3,}", below))


def sections_as_lists(lines: list[str]) -> Iterator[str]:
    """Yield the lines, with the sections of `HEADS` as fields that contain a list."""
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
    """Yield the entries of a section: names in bold, then their description."""
    starts = [k for k, line in enumerate(body) if line and line[0] != " "]
    for start, end in zip(starts, [*starts[1:], len(body)], strict=True):
        names, _, kind = body[start].partition(" : ")
        more = dedent("\n".join(body[start + 1 : end])).strip("\n").split("\n")
        bold = "**" + names.replace("*", r"\*") + "**"
        yield [f"{bold} – {kind}{_join(kind, more[0])}{more[0]}".rstrip(" –"), *more[1:]]


def _join(first: str, more: str) -> str:
    """Return a space if the second line continues the sentence, else a full stop and a space."""
    if not first or not more:
        return ""
    return " " if more[0].islower() or first[-1] in ".,:;" else ". "
