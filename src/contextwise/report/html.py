"""HTML texts: what is not marked as ready is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from contextwise.comparison.confusion import Number
from contextwise.models.notation import printable
from contextwise.models.numbers import is_readable
from contextwise.models.numbers import number as rounded


class Html(str):
    """A text that is HTML already."""

    __slots__ = ()


def html(value: object) -> Html:
    """A value as HTML: what is HTML already stays, all else is escaped, on one line.

    >>> html("a < b"), html(Html("<b>bold</b>"))
    ('a &lt; b', '<b>bold</b>')
    """
    return value if isinstance(value, Html) else Html(escape(printable(str(value))))


def number(value: Number) -> Html:
    """An exact number; one that is too long to read is rounded, with its digits in a tip.

    >>> number(1234), number(10**16)
    ('1,234', '<span title="10000000000000000">1.000e16</span>')
    """
    if is_readable(value):
        return html(rounded(value))
    return Html(f'<span title="{value}">{rounded(value)}</span>')


def joined(parts: Iterable[object]) -> Html:
    """Several values one after the other."""
    return Html("".join(map(html, parts)))


def element(name: str, *content: object, **attributes: str) -> Html:
    """An element with its content; ``class_`` is the attribute ``class``.

    >>> element("p", "a & b", class_="note")
    '<p class="note">a &amp; b</p>'
    """
    words = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
    )
    return Html(f"<{name}{words}>{joined(content)}</{name}>")


def table(
    head: Sequence[object], rows: Iterable[Sequence[object]], *, caption: str = "", kind: str = ""
) -> Html:
    """A table whose first column names the rows; it scrolls by itself where it is too wide."""
    header = element("tr", *(element("th", cell, scope="col") for cell in head))
    body = (
        element("tr", element("th", first, scope="row"), *(element("td", cell) for cell in rest))
        for first, *rest in rows
    )
    parts = [element("thead", header), element("tbody", *body)]
    if caption:
        parts.insert(0, element("caption", caption))
    return element("div", element("table", *parts, class_=kind or "plain"), class_="scroll")
